"""Claude Code's settings files and the `hooks.json` of its plugins, read as they are.

Source: https://code.claude.com/docs/en/hooks
"""

from __future__ import annotations

import os

from agent_hooks.errors import BadJSONError, RegistrationError, did_you_mean
from agent_hooks.events import find_event
from agent_hooks.handlers.entry import HookEntry, Permits
from agent_hooks.matchers import WEAKLY
from agent_hooks.policy import NEVER_PASSED_OVER
from agent_hooks.strict_json import read_json

from .claude_events import ANY_TYPE, EVENTS, IF_EVENTS, default_timeout
from .claude_fields import FIELDS, is_ours, is_text, is_texts, taken_apart, unknown_key, wrong_field
from .claude_if import claude_if
from .claude_matchers import claude_match, exact_names
from .event_keys import all_of, at_host_event
from .findings import OWN_COMMAND, ConfigFinding
from .source import ReadFile
from .words import kind_of, letters

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agent_hooks.matchers import Predicate

    from .positions import Place

# The keys of a file that mean something here, with the setting that each becomes.
_LISTS = {"allowedHttpHookUrls": "allowed_http_hook_urls", "httpHookAllowedEnvVars": "http_hook_allowed_env_vars"}
_FLAGS = {"disableAllHooks": "disable_all_hooks", "allowManagedHooksOnly": "allow_managed_hooks_only"}
_MEANINGFUL = frozenset({"hooks", "modules", *_LISTS, *_FLAGS})

_BOM = b"\xef\xbb\xbf"
# A typing mistake in the name of a gate's event: nobody would miss the gate before it is needed.
_NEAR = 0.8
_REPAIR = "Repair or remove it."


def read_claude(
    data: bytes,
    *,
    path: str,
    source: str,
    project_dir: str = "",
    directory: str = "",
    plugin_root: str = "",
    permits: Permits = Permits(),  # noqa: B008 - a value never changes
) -> ReadFile:
    """Return the hooks of a ``settings.json``, ``settings.local.json`` or a plugin's ``hooks.json``; nothing is run.

    ``directory``: where relative paths in it start (default: the project, else its own folder). ``plugin_root``: the
    folder of the plugin that it belongs to. What cannot be honoured is a finding with its line, which blocks where a
    gate would be missed; nothing is raised. ``settings``: ``disable_all_hooks``, ``allow_managed_hooks_only``,
    ``allowed_http_hook_urls`` and ``http_hook_allowed_env_vars``, those that are set.
    """
    place = {
        "form": "claude",
        "path": path,
        "source": source,
        "directory": directory or project_dir or os.path.dirname(path),
        "project_dir": project_dir,
        "plugin_root": plugin_root,
        "permits": permits,
        "mode": "transform" if source in NEVER_PASSED_OVER else "gate",
    }
    return _Reader(place).file(data)


class _WrongError(Exception):
    """Raised for a part of a file that cannot be honoured. ``place``: where it stands."""

    def __init__(self, place: Place, problem: str, remedy: str = _REPAIR) -> None:
        super().__init__(problem)
        self.place = place
        self.problem = problem
        self.remedy = remedy


class _Reader:
    """Reads one file. ``common``: what all its entries have in common."""

    def __init__(self, common: dict[str, Any]) -> None:
        self._common = common
        self._entries: list[HookEntry] = []
        self._findings: list[ConfigFinding] = []
        self._lines: dict[Place, int] = {}

    def file(self, data: bytes) -> ReadFile:
        """Return what it says."""
        from json import dumps

        from .positions import lines_of

        text = data.removeprefix(_BOM)
        if not text.strip():  # as good as no file
            return self._read()
        try:
            top = read_json(text)
            if not isinstance(top, dict):
                raise BadJSONError("is no object")
        except BadJSONError as error:
            return self._unreadable(data, f"The file {error}")
        meaning = {key: top[key] for key in top if key in _MEANINGFUL}
        if not meaning:
            return self._read()
        self._lines = lines_of(text.decode("utf-8"))
        settings = self._settings(meaning)
        self._modules(meaning)
        self._hooks(meaning.get("hooks", {}))
        return self._read(
            entries=tuple(self._entries),
            settings=settings,
            findings=tuple(self._findings),
            part=dumps(meaning, sort_keys=True, separators=(",", ":")).encode(),
        )

    def _unreadable(self, data: bytes, problem: str) -> ReadFile:
        from .positions import repeated_key

        line, remedy = 0, "Repair it: nothing of it counts before."
        twice = repeated_key(data.removeprefix(_BOM).decode("utf-8")) if problem.endswith("twice") else None
        if twice is not None:
            line = twice[1]
            remedy = f"It is {twice[0][:80]!r}; leave one of them."
        path = self._common["path"]
        finding = ConfigFinding(
            kind="unreadable", path=path, line=line, message=f"{problem}.", remedy=remedy, blocks=True
        )
        return self._read(findings=(finding,), part=data)

    def _read(self, **found: Any) -> ReadFile:
        same = {name: self._common[name] for name in ("path", "source", "form", "project_dir", "plugin_root")}
        return ReadFile(**same, **found)

    # -- beside the hooks ----------------------------------------------------------------------------------------------

    def _settings(self, meaning: Mapping[str, Any]) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        for key, name in _FLAGS.items():
            if key not in meaning:
                continue
            if not isinstance(meaning[key], bool):
                self._find("not-honoured", (key,), f"{key} must be true or false, so it does not count.", _REPAIR)
            elif key == "allowManagedHooksOnly" and self._common["source"] != "managed":
                problem = f"{key} does not count here: only who manages the machine may say it."
                self._find("not-allowed", (key,), problem, "Remove it.")
            else:
                settings[name] = meaning[key]
        for key, name in _LISTS.items():
            if key not in meaning:
                continue
            settings[name] = tuple(meaning[key]) if is_texts(meaning[key]) else ()
            if not is_texts(meaning[key]):
                self._find("not-honoured", (key,), f"{key} must be a list of texts, so it allows nothing.", _REPAIR)
        return settings

    def _modules(self, meaning: Mapping[str, Any]) -> None:
        if "modules" in meaning:
            problem = "`modules` are JavaScript that runs inside of Claude Code alone, so they are left out."
            self._find("not-honoured", ("modules",), problem, "Write what must also hold elsewhere as hooks.")

    # -- hooks ---------------------------------------------------------------------------------------------------------

    def _hooks(self, hooks: Any) -> None:
        if not isinstance(hooks, dict):
            problem = f"hooks must be an object, not {kind_of(hooks)}, so none of them counts."
            self._find("not-honoured", ("hooks",), problem, _REPAIR, blocks=True)
            return
        for name, groups in hooks.items():
            if name not in EVENTS:
                self._unknown_event(name)
                continue
            try:
                for number, group in enumerate(_list(groups, ("hooks", name), name)):
                    self._group(name, group, ("hooks", name, number))
            except _WrongError as error:
                self._refuse(name, error)

    def _unknown_event(self, name: str) -> None:
        from difflib import get_close_matches

        known = {letters(each): each for each in EVENTS}
        near = get_close_matches(letters(name), known, n=1, cutoff=_NEAR)
        meant = known[near[0]] if near else ""
        ours = find_event(name)
        facts: dict[str, Any] = {}
        if meant and EVENTS[meant].gate:
            facts = self._gate(meant)
        elif not meant and ours is not None and ours.closed in ("deny", "stop"):
            facts = {"event": str(ours), "blocks": True}
        problem = f"Claude Code has no event {name[:80]!r}, so its hooks are left out."
        remedy = f"Did you mean {meant!r}?" if meant else "https://code.claude.com/docs/en/hooks lists the events."
        self._find("unknown-event", ("hooks", name), problem, remedy, **facts)

    def _group(self, event: str, group: Any, place: Place) -> None:
        matcher: str | None = None
        try:
            if not isinstance(group, dict):
                raise _WrongError(place, f"An item of {event} must be an object, not {kind_of(group)}.")
            self._unknown_keys(event, group, place)
            matcher = self._matcher(event, group, place)
            match = claude_match(matcher, event, self._common["source"]) if matcher else None
            handlers = _list(group.get("hooks"), (*place, "hooks"), f"`hooks` of {event}")
        except _WrongError as error:
            self._refuse(event, error, matcher)
            return
        except RegistrationError as error:
            self._refuse(event, _WrongError((*place, "matcher"), str(error), "Repair the matcher."))
            return
        for number, handler in enumerate(handlers):
            try:
                self._handler(event, handler, (*place, "hooks", number), matcher, match)
            except _WrongError as error:
                self._refuse(event, error, matcher)

    def _matcher(self, event: str, group: Mapping[str, Any], place: Place) -> str | None:
        """Return the matcher if it has an effect at this event."""
        if "matcher" not in group:
            return None
        matcher, place = group["matcher"], (*place, "matcher")
        if not isinstance(matcher, str):
            raise _WrongError(place, f"`matcher` of {event} must be a text, not {kind_of(matcher)}.")
        subject = EVENTS[event].subject
        if matcher in ("", "*"):
            return None
        if not subject:
            problem = f"{event} knows no matchers, so its hooks are asked whatever `matcher` says."
            self._find("ignored", place, problem, "Remove the matcher.")
            return None
        names = exact_names(matcher, event) or ()
        servers = [name for name in names if name.startswith("mcp__") and name.count("__") == 1]
        if subject == "tool" and servers:
            problem = f"The matcher {servers[0]!r} names a server and none of its tools, so it never matches."
            self._find("never-runs", place, problem, f"Write {servers[0] + '__.*'!r} for all of them.")
        return matcher

    def _handler(self, event: str, handler: Any, place: Place, matcher: str | None, match: Predicate | None) -> None:
        if not isinstance(handler, dict):
            raise _WrongError(place, f"A hook on {event} must be an object, not {kind_of(handler)}.")
        kind: Any = handler.get("type")
        if not is_text(kind):
            raise _WrongError(place, f"A hook on {event} has no type.", 'Write "type": "command" into it.')
        wrong = wrong_field(kind, handler)
        if wrong is not None:
            raise _WrongError((*place, wrong[0]), f"A {kind} hook on {event} {wrong[1]}.")
        config, facts, unknown = taken_apart(kind, handler)
        for key in unknown:
            self._find("unknown-key", (*place, key), *unknown_key(key, kind, event))
        if kind in ANY_TYPE - EVENTS[event].types:
            self._never_runs(
                place, f"Claude Code runs no {kind} hooks on {event}, so this one does not run here either."
            )
            return
        if "if" in handler and event not in IF_EVENTS:
            self._never_runs((*place, "if"), f"A hook with `if` never runs on {event}, which is about no tool call.")
            return
        if kind == "command" and is_ours(handler):
            problem = f"This hook on {event} is our own command, which would ask itself, so it is left out."
            self._find(OWN_COMMAND, place, problem, "Leave it: Claude Code itself needs it.")
            return
        if facts["is_async"] and handler.get("asyncRewake"):
            problem = f"asyncRewake on {event} starts the command as `async` does; it cannot wake the model."
            self._find("not-honoured", (*place, "asyncRewake"), problem, "Use a hook that is waited for.")
        claude_event = EVENTS[event]
        host_event = event if claude_event.event == "on_host_event" else ""
        seconds = default_timeout(event, kind)
        if seconds is not None:
            config.setdefault("timeout", seconds)
        self._entries.append(
            HookEntry(
                event=claude_event.event,
                config=config,
                matcher=matcher,
                match=all_of(at_host_event(host_event), match, self._if(event, handler, place)),
                line=self._line(place),
                host_event=host_event,
                is_gate=claude_event.gate,
                **facts,
                **self._common,
            )
        )

    def _if(self, event: str, handler: Mapping[str, Any], place: Place) -> Predicate | None:
        if "if" not in handler:
            return None
        try:
            return claude_if(handler["if"], self._common["project_dir"] or self._common["directory"])
        except RegistrationError as error:
            problem = f"`if` of a hook on {event} cannot be read, so the hook runs whatever it says: {error}"
            self._find("not-honoured", (*place, "if"), problem, "Repair it.")
            return lambda _: WEAKLY

    # -- findings ------------------------------------------------------------------------------------------------------

    def _refuse(self, event: str, error: _WrongError, matcher: str | None = None) -> None:
        facts: dict[str, Any] = {"event": str(EVENTS[event].event), "matcher": matcher}
        if EVENTS[event].gate:
            facts = self._gate(event, matcher)
        self._find("not-honoured", error.place, error.problem, error.remedy, **facts)

    @staticmethod
    def _gate(event: str, matcher: str | None = None) -> dict[str, Any]:
        """Return the facts of a finding that blocks at Claude Code's event ``event``."""
        found = EVENTS[event]
        if found.event == "on_host_event":
            matcher = event
        elif found.subject != "tool" or (matcher is not None and exact_names(matcher, event) is None):
            matcher = None  # it cannot be said in a match text of ours
        return {"event": str(found.event), "matcher": matcher, "blocks": True}

    def _unknown_keys(self, event: str, group: Mapping[str, Any], place: Place) -> None:
        known = ("matcher", "hooks")
        for key in group:
            if key not in known:
                hint = "Move it into each of the hooks." if key in FIELDS else did_you_mean(key, known, "Remove it.")
                problem = f"The key {key[:80]!r} means nothing in {event}, so it is ignored."
                self._find("unknown-key", (*place, key), problem, hint)

    def _never_runs(self, place: Place, problem: str) -> None:
        self._find("never-runs", place, problem, _REPAIR)

    def _find(self, kind: str, place: Place, message: str, remedy: str, **facts: Any) -> None:
        finding = ConfigFinding(
            kind=kind, path=self._common["path"], line=self._line(place), message=message, remedy=remedy, **facts
        )
        self._findings.append(finding)

    def _line(self, place: Place) -> int:
        while place not in self._lines:
            place = place[:-1]
        return self._lines[place]


def _list(value: Any, place: Place, what: str) -> list[Any]:
    if not isinstance(value, list):
        raise _WrongError(place, f"{what} must be a list, not {kind_of(value)}.")
    return value
