"""Parser of the hooks of skills and agents, in the frontmatter of their Markdown files."""

from __future__ import annotations

import json
import os

from agent_hooks.errors import RegistrationError, did_you_mean
from agent_hooks.model.events import HookEvent, find_event

from .claude.event_names import ALWAYS_OPEN, ANY_TYPE
from .claude.fields import taken_apart, unknown_key, wrong_on_entry
from .entry import HookEntry, Permits
from .event_keys import EventKey, all_of, event_key, event_names
from .frontmatter import FrontmatterError, has_hooks, read_frontmatter
from .read_file import ReadFile
from .reader import Reader, WrongError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, Literal

    from agent_hooks.engine.matchers import Predicate

    from .reader import Place

    Kind = Literal["skill", "agent"]

SKILL_FILE = "SKILL.md"
_GROUP_KEYS = ("matcher", "hooks", "scope")
# Claude Code's type `agent` is called `subagent` here.
_SETS_ENTRY = ANY_TYPE | {"subagent"}
_MAX_NAME = 200


# -- reading -----------------------------------------------------------------------------------------------------------


def read_skill(
    data: bytes,
    *,
    path: str,
    source: str = "skill",
    project_dir: str = "",
    directory: str = "",
    permits: Permits = Permits(),  # noqa: B008 - a value never changes
    strict_events: bool = False,
    kind: Kind = "skill",
) -> ReadFile:
    """Return the hooks of a ``SKILL.md``: ``hooks`` of its frontmatter, event → groups of ``matcher`` and ``hooks``.

    ``directory``: the base of relative paths (default: the file's folder). ``settings["name"]`` is the skill's name.
    ``scope: skill``, in a group or for the whole file, limits hooks to calls of the skill itself. Neither our runtime
    nor any host sets ``ctx.skill`` yet, so such hooks run only if the caller that dispatches an event sets it. An
    unknown event is a finding, which blocks with ``strict_events``. Problems are findings; nothing is raised.

    ``kind="agent"``: the file is an agent's definition, whose hooks see only the events of that agent. Its ``Stop`` is
    the end of the agent as a subagent, as in Claude Code.
    """
    common = {
        "form": "skill",
        "path": path,
        "source": source,
        "directory": directory or os.path.dirname(path),
        "project_dir": project_dir,
        "permits": permits,
    }
    return _Reader(kind, common, strict_events).file(data)


def _name_in(values: Mapping[str, Any], path: str) -> str:
    """Return the name in the frontmatter, else that of the skill's folder or the agent's file."""
    name = values.get("name")
    given = "" if name is None or isinstance(name, (dict, list)) else str(name).strip()
    if given and given.isprintable() and len(given) <= _MAX_NAME:
        return given
    folder, file = os.path.split(os.path.abspath(path))
    return os.path.basename(folder) if file == SKILL_FILE else os.path.splitext(file)[0]


class _Reader(Reader):
    """Parses the frontmatter of one file. ``common``: the fields that all its entries share."""

    def __init__(self, kind: Kind, common: dict[str, Any], strict_events: bool) -> None:
        super().__init__(common["path"])
        self._kind = kind
        self._common = common
        self._strict_events = strict_events
        self._name = ""

    def file(self, data: bytes) -> ReadFile:
        """Parse the file."""
        same = {name: self._common[name] for name in ("path", "source", "form", "project_dir")}
        try:
            values, self.lines, _ = read_frontmatter(data)
        except FrontmatterError as error:
            if not has_hooks(data):
                return ReadFile(**same)
            return ReadFile.unreadable(error.problem, error.remedy, error.line, part=data, **same)
        self._name = _name_in(values, self.path)
        settings = {"name": self._name}
        self.find_misspelt(values)
        if not values.get("hooks"):
            return ReadFile(**same, settings=settings, findings=tuple(self.findings))
        self._read(values["hooks"], values.get("scope") == "skill")
        meaning = {"name": self._name, "hooks": values["hooks"], "scope": values.get("scope")}
        return ReadFile(
            **same,
            entries=tuple(self.entries),
            settings=settings,
            findings=tuple(self.findings),
            part=json.dumps(meaning, sort_keys=True, separators=(",", ":")).encode(),
        )

    def _read(self, hooks: Any, is_narrowed: bool) -> None:
        if not isinstance(hooks, dict):
            shape = "hooks has no events under it."
            self.find("not-honoured", ("hooks",), shape, "Write `PreToolUse:` under it, and a list.", blocks=True)
            return
        for name, groups in hooks.items():
            place: Place = ("hooks", name)
            key = event_key(name)
            if key is None:
                self._unknown_event(name, place)
                continue
            if self._kind == "agent" and key.event is HookEvent.ON_STOP:
                key = key.replace(event=HookEvent.AFTER_SUBAGENT)
            try:
                for number, group in enumerate(_list(groups, place, name)):
                    self._read_group(key, group, (*place, number), is_narrowed)
            except WrongError as error:
                self._refuse(error, key)

    def _read_group(self, key: EventKey, group: Any, place: Place, is_narrowed: bool) -> None:
        matcher: str | None = None
        try:
            if not isinstance(group, dict):
                raise WrongError(place, f"An item of {key.name} is no mapping.", _SHAPE)
            condition = self._condition(key, group, place, is_narrowed)
            matcher = group.get("matcher")
            handlers = _list(group.get("hooks"), (*place, "hooks"), f"hooks under {key.name}")
        except WrongError as error:
            self._refuse(error, key, matcher)
            return
        for number, handler in enumerate(handlers):
            try:
                self._read_handler(key, handler, (*place, "hooks", number), matcher, condition)
            except WrongError as error:
                self._refuse(error, key, matcher)

    def _condition(self, key: EventKey, group: Mapping[str, Any], place: Place, is_narrowed: bool) -> Predicate | None:
        """Return the condition of a group for its handlers."""
        known = _GROUP_KEYS if self._kind == "skill" else _GROUP_KEYS[:2]
        self._unknown_keys(group, known, place)
        matcher = group.get("matcher")
        if matcher is not None and not isinstance(matcher, str):
            raise WrongError((*place, "matcher"), "matcher is no text.", "Put it in quotes.")
        try:
            matches = key.match(matcher, self._common["source"])
        except RegistrationError as error:
            raise WrongError((*place, "matcher"), str(error), "Repair the matcher.") from error
        if self._kind == "agent":
            field = "name" if find_event(key.name) is HookEvent.ON_STOP else "agent_name"
            return all_of(matches, lambda ctx: ctx.get(field) == self._name)
        scope = group.get("scope")
        if scope not in (None, "skill"):
            raise WrongError((*place, "scope"), "scope is not skill.", "Write `scope: skill`, or remove it.")
        if scope is None and not is_narrowed:
            return matches
        return all_of(matches, lambda ctx: ctx.skill == self._name)

    def _read_handler(
        self, key: EventKey, handler: Any, place: Place, matcher: str | None, condition: Predicate | None
    ) -> None:
        if not isinstance(handler, dict) or not isinstance(handler.get("type"), str):
            raise WrongError(place, f"A hook on {key.name} has no type.", "Write `type: command` into it.")
        kind = handler["type"]
        config = {name: value for name, value in handler.items() if name != "type"}
        facts: dict[str, Any] = {"type": kind}
        if kind in _SETS_ENTRY:
            wrong = wrong_on_entry(kind, handler)
            if wrong is not None:
                raise WrongError((*place, wrong[0]), f"A {kind} hook on {key.name} {wrong[1]}.", "Repair it.")
            config, facts, unknown = taken_apart(kind, handler)
            for name in unknown:
                self.find("unknown-key", (*place, name), *unknown_key(name, kind, key.name))
            if facts["condition"]:
                if not key.knows_if:
                    remedy = "Remove the `if`, or move the hook to a tool's event."
                    self.find("never-runs", (*place, "if"), f"A hook with `if` never runs on {key.name}.", remedy)
                    return
                condition = all_of(condition, self._if(facts["condition"], place))
            facts["once"] = self._once(handler, place)
            if key.name in ALWAYS_OPEN:
                facts["on_failure"] = None
        self.entries.append(
            HookEntry(
                event=key.event,
                config=config,
                matcher=matcher,
                match=condition,
                host_event=key.host_event,
                is_gate=key.is_gate,
                line=self.line(place),
                **self._common,
                **facts,
            )
        )

    def _if(self, rule: str, place: Place) -> Predicate:
        from .claude.conditions import claude_if

        try:
            return claude_if(rule, self._common["project_dir"])
        except RegistrationError as error:
            raise WrongError((*place, "if"), str(error), "Repair the rule.") from error

    def _once(self, handler: Mapping[str, Any], place: Place) -> bool:
        is_once = handler.get("once") is True
        if is_once and self._kind == "agent":
            self.find("not-honoured", (*place, "once"), "once has no effect in the file of an agent.", "Remove it.")
        return is_once and self._kind == "skill"

    # -- findings ------------------------------------------------------------------------------------------------------

    def _unknown_event(self, name: str, place: Place) -> None:
        hint = did_you_mean(name, event_names(), "`agent-hooks events` lists them all.", cutoff=0.7)
        problem = f"There is no event {name[:80]!r}, so its hooks are left out."
        self.find("unknown-event", place, problem, hint, blocks=self._strict_events)

    def _unknown_keys(self, group: Mapping[str, Any], known: Iterable[str], place: Place) -> None:
        for key in sorted(group.keys() - set(known)):
            problem = f"The key {key[:80]!r} has no meaning beside a matcher."
            self.find("unknown-key", (*place, key), problem, did_you_mean(key, known, "Remove it."))

    def _refuse(self, error: WrongError, key: EventKey, matcher: str | None = None) -> None:
        self.find("not-honoured", error.place, error.problem, error.remedy, **key.about(matcher))


_SHAPE = "Write `- matcher: …` and `hooks:` with a list under it."


def _list(value: Any, place: Place, key: str) -> list[Any]:
    if not isinstance(value, list) or not value:
        raise WrongError(place, f"{key[:80]} is no list with something in it.", _SHAPE)
    return value
