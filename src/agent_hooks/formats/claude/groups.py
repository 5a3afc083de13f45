"""The common base of parsers of ``hooks`` as Claude Code has them: event → groups of a matcher and its handlers."""

from __future__ import annotations

from agent_hooks.errors import RegistrationError, did_you_mean
from agent_hooks.formats.entry import HookEntry
from agent_hooks.formats.entry_matches import all_of, condition
from agent_hooks.formats.read_file import ReadFile
from agent_hooks.formats.reader import Reader, WrongError, kind_of

from .fields import ALL_FIELDS, is_text, taken_apart, unknown_key, wrong_field

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agent_hooks.formats.entry_matches import EntryMatch
    from agent_hooks.formats.event_keys import EventKey
    from agent_hooks.formats.reader import Place


class GroupReader(Reader):
    """Parses the groups of one file. ``common``: the fields that all its entries share."""

    takes_lists = False  # as commands
    group_keys: tuple[str, ...] = ("matcher", "hooks")

    def __init__(self, common: dict[str, Any]) -> None:
        super().__init__(common["path"])
        self.common = common
        # The fields that the file has in common with its entries.
        names = ("path", "source", "form", "project_dir", "plugin_root")
        self.same = {name: common[name] for name in names if name in common}

    # -- what differs by format ----------------------------------------------------------------------------------------

    def event(self, name: str, place: Place) -> EventKey | None:
        """Return the event of a key under ``hooks``; None for an unknown one, which becomes a finding."""
        raise NotImplementedError

    def matcher(self, key: EventKey, group: Mapping[str, Any], place: Place) -> str | None:
        """Return the matcher if it has an effect on this event. Raises ``WrongError``."""
        matcher = group.get("matcher")
        if not isinstance(matcher, (str, type(None))):
            raise WrongError((*place, "matcher"), f"`matcher` of {key.name} must be a text, not {kind_of(matcher)}.")
        return matcher

    def condition(self, key: EventKey, group: Mapping[str, Any], place: Place) -> EntryMatch | None:
        """Return the condition of a group besides its matcher. Raises ``WrongError``."""

    def takes_entry_fields(self, kind: str) -> bool:  # noqa: ARG002 - an argument of overriding methods
        """Whether `if`, `once`, … of a handler of this type are fields of the entry, and not of the type."""
        return True

    def settle(self, key: EventKey, handler: Mapping[str, Any], facts: dict[str, Any], place: Place) -> bool:
        """Complete the facts of a handler, and return whether it runs on this event."""
        raise NotImplementedError

    # -- reading -------------------------------------------------------------------------------------------------------

    def result(self, settings: Mapping[str, Any], meaning: Mapping[str, Any]) -> ReadFile:
        """Return the parsed file. ``meaning``: the part of its content that takes effect."""
        from json import dumps

        return ReadFile(
            **self.same,
            entries=tuple(self.entries),
            settings=settings,
            findings=tuple(self.findings),
            part=dumps(meaning, sort_keys=True, separators=(",", ":")).encode(),
        )

    def read_events(self, hooks: Mapping[str, Any]) -> None:
        """Parse the groups of each event."""
        for name, groups in hooks.items():
            key = self.event(name, ("hooks", name))
            if key is None:
                continue
            try:
                for number, group in enumerate(_list(groups, ("hooks", name), name)):
                    self._group(key, group, ("hooks", name, number))
            except WrongError as error:
                self._refuse(error, key)

    def _group(self, key: EventKey, group: Any, place: Place) -> None:
        matcher: str | None = None
        try:
            if not isinstance(group, dict):
                raise WrongError(place, f"An item of {key.name} must be an object, not {kind_of(group)}.")
            for name in group.keys() - set(self.group_keys):
                problem = f"The key {name[:80]!r} means nothing in {key.name}, so it is ignored."
                hint = did_you_mean(name, self.group_keys, "Remove it.")
                hint = "Move it into each of the hooks." if name in ALL_FIELDS else hint
                self.find("unknown-key", (*place, name), problem, hint)
            matcher = self.matcher(key, group, place)
            match = all_of(key.match(matcher, self.common["source"]), self.condition(key, group, place))
            handlers = _list(group.get("hooks"), (*place, "hooks"), f"`hooks` of {key.name}")
        except WrongError as error:
            self._refuse(error, key, matcher)
            return
        except RegistrationError as error:
            self._refuse(WrongError((*place, "matcher"), str(error), "Repair the matcher."), key)
            return
        for number, handler in enumerate(handlers):
            try:
                self._handler(key, handler, (*place, "hooks", number), matcher, match)
            except WrongError as error:
                self._refuse(error, key, matcher)

    def _handler(
        self, key: EventKey, handler: Any, place: Place, matcher: str | None, match: EntryMatch | None
    ) -> None:
        if not isinstance(handler, dict):
            raise WrongError(place, f"A hook on {key.name} must be an object, not {kind_of(handler)}.")
        kind: Any = handler.get("type")
        if not is_text(kind):
            raise WrongError(place, f"A hook on {key.name} has no type.", "Give it the type `command`.")
        if not self.takes_entry_fields(kind):
            config = {name: value for name, value in handler.items() if name != "type"}
            self._add(key, {"type": kind, "config": config}, place, matcher, match)
            return
        wrong = wrong_field(kind, handler, takes_lists=self.takes_lists)
        if wrong is not None:
            raise WrongError((*place, wrong[0]), f"A {kind} hook on {key.name} {wrong[1]}.")
        config, facts, unknown = taken_apart(kind, handler)
        for name in unknown:
            self.find("unknown-key", (*place, name), *unknown_key(name, kind, key.name))
        facts["config"] = config
        if "if" in handler and not key.knows_if:
            problem = f"A hook with `if` never runs on {key.name}, which is about no tool call."
            self.find("never-runs", (*place, "if"), problem, "Repair or remove it.")
            return
        if self.settle(key, handler, facts, place):
            self._add(key, facts, place, matcher, all_of(match, self._if(key, handler, place)))

    def _add(
        self, key: EventKey, facts: Mapping[str, Any], place: Place, matcher: str | None, match: EntryMatch | None
    ) -> None:
        self.entries.append(
            HookEntry(
                event=key.event,
                matcher=matcher,
                match=match,
                line=self.line(place),
                host_event=key.host_event,
                is_gate=key.is_gate,
                **facts,
                **self.common,
            )
        )

    def _if(self, key: EventKey, handler: Mapping[str, Any], place: Place) -> EntryMatch | None:
        if "if" not in handler:
            return None
        try:
            return condition("if", handler["if"], self.common["project_dir"] or self.common["directory"])
        except RegistrationError as error:
            problem = f"`if` of a hook on {key.name} cannot be read, so the hook runs whatever it says: {error}"
            self.find("not-honoured", (*place, "if"), problem, "Repair it.")
            return condition("unclear")

    def _refuse(self, error: WrongError, key: EventKey, matcher: str | None = None) -> None:
        self.find("not-honoured", error.place, error.problem, error.remedy, **key.about(matcher))


def _list(value: Any, place: Place, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise WrongError(place, f"{key[:80]} must be a list, not {kind_of(value)}.")
    return value
