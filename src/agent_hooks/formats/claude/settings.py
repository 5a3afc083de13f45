"""Parser of Claude Code's settings files and of the `hooks.json` of its plugins.

Source: https://code.claude.com/docs/en/hooks
"""

from __future__ import annotations

import os
from functools import cache

from agent_hooks.engine.matchers import WEAKLY
from agent_hooks.errors import BadJSONError, RegistrationError, did_you_mean
from agent_hooks.formats.entry import HookEntry, Permits
from agent_hooks.formats.event_keys import all_of, at_host_event, event_names
from agent_hooks.formats.findings import OWN_COMMAND
from agent_hooks.formats.read_file import ReadFile
from agent_hooks.formats.reader import Reader, WrongError, is_misspelt, kind_of, letters
from agent_hooks.model.events import find_event
from agent_hooks.model.policy import NEVER_PASSED_OVER
from agent_hooks.system.strict_json import read_json

from .conditions import claude_if
from .event_names import ALWAYS_OPEN, ANY_TYPE, EVENTS, IF_EVENTS, default_timeout
from .fields import FIELDS, is_ours, is_text, is_texts, taken_apart, unknown_key, wrong_field
from .matcher_rules import claude_match, exact_names, misspelt_tool, permission_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agent_hooks.engine.matchers import Predicate
    from agent_hooks.formats.reader import Place

# The keys of a file that have a meaning here, with the name of the setting.
_LISTS = {"allowedHttpHookUrls": "allowed_http_hook_urls", "httpHookAllowedEnvVars": "http_hook_allowed_env_vars"}
_FLAGS = {"disableAllHooks": "disable_all_hooks", "allowManagedHooksOnly": "allow_managed_hooks_only"}
_MEANINGFUL = frozenset({"hooks", "modules", *_LISTS, *_FLAGS})

_BOM = b"\xef\xbb\xbf"
# The difflib ratio above which an unknown event is a misspelt one, whose gate must not be lost.
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
    """Return the hooks of a ``settings.json``, ``settings.local.json`` or a plugin's ``hooks.json``.

    ``directory``: the base of relative paths (default: the project, else the file's folder). ``plugin_root``: the
    folder of its plugin. Entries that cannot be honoured become findings with a line, which block in place of a gate;
    nothing is raised. ``settings`` holds ``disable_all_hooks``, ``allow_managed_hooks_only``,
    ``allowed_http_hook_urls`` and ``http_hook_allowed_env_vars`` if they are set.
    """
    common = {
        "form": "claude",
        "path": path,
        "source": source,
        "directory": directory or project_dir or os.path.dirname(path),
        "project_dir": project_dir,
        "plugin_root": plugin_root,
        "permits": permits,
        "mode": "transform" if source in NEVER_PASSED_OVER else "gate",
    }
    return _Reader(common).file(data)


class _Reader(Reader):
    """Parses one file. ``common``: the fields that all its entries share."""

    def __init__(self, common: dict[str, Any]) -> None:
        super().__init__(common["path"])
        self._common = common

    def file(self, data: bytes) -> ReadFile:
        """Parse the file."""
        from json import dumps

        from agent_hooks.formats.positions import lines_of

        text = data.removeprefix(_BOM)
        if not text.strip():  # an empty file counts as none
            return ReadFile(**self._same())
        try:
            top = read_json(text)
            if not isinstance(top, dict):
                raise BadJSONError("is no object")
        except BadJSONError as error:
            return self._unreadable(data, f"The file {error}")
        meaning = {key: value for key, value in top.items() if key in _MEANINGFUL or _is_meant(key, value)}
        if not meaning:
            return ReadFile(**self._same())
        self.lines = lines_of(text.decode("utf-8"))
        settings = self._settings(meaning)
        if "modules" in meaning:
            problem = "`modules` are JavaScript that runs inside of Claude Code alone, so they are left out."
            self.find("not-honoured", ("modules",), problem, "Write what must also hold elsewhere as hooks.")
        self._hooks(meaning.get("hooks", {}))
        self.find_misspelt(meaning)
        self._misplaced(meaning)
        return ReadFile(
            **self._same(),
            entries=tuple(self.entries),
            settings=settings,
            findings=tuple(self.findings),
            part=dumps(meaning, sort_keys=True, separators=(",", ":")).encode(),
        )

    def _unreadable(self, data: bytes, problem: str) -> ReadFile:
        from agent_hooks.formats.positions import repeated_key

        line, remedy = 0, "Repair it: nothing of it counts before."
        twice = repeated_key(data.removeprefix(_BOM).decode("utf-8")) if problem.endswith("twice") else None
        if twice is not None:
            line = twice[1]
            remedy = f"It is {twice[0][:80]!r}; leave one of them."
        return ReadFile.unreadable(f"{problem}.", remedy, line, part=data, **self._same())

    def _same(self) -> dict[str, Any]:
        """Return the fields that the file has in common with its entries."""
        return {name: self._common[name] for name in ("path", "source", "form", "project_dir", "plugin_root")}

    # -- beside the hooks ----------------------------------------------------------------------------------------------

    def _settings(self, meaning: Mapping[str, Any]) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        for key, name in _FLAGS.items():
            if key not in meaning:
                continue
            if not isinstance(meaning[key], bool):
                self.find("not-honoured", (key,), f"{key} must be true or false, so it does not count.", _REPAIR)
            elif key == "allowManagedHooksOnly" and self._common["source"] != "managed":
                problem = f"{key} does not count here: only who manages the machine may say it."
                self.find("not-allowed", (key,), problem, "Remove it.")
            else:
                settings[name] = meaning[key]
        for key, name in _LISTS.items():
            if key not in meaning:
                continue
            settings[name] = tuple(meaning[key]) if is_texts(meaning[key]) else ()
            if not is_texts(meaning[key]):
                self.find("not-honoured", (key,), f"{key} must be a list of texts, so it allows nothing.", _REPAIR)
        return settings

    # -- hooks ---------------------------------------------------------------------------------------------------------

    def _hooks(self, hooks: Any) -> None:
        if not isinstance(hooks, dict):
            problem = f"hooks must be an object, not {kind_of(hooks)}, so none of them counts."
            self.find("not-honoured", ("hooks",), problem, _REPAIR, blocks=True)
            return
        for name, groups in hooks.items():
            if name not in EVENTS:
                self._unknown_event(name)
                continue
            try:
                for number, group in enumerate(_list(groups, ("hooks", name), name)):
                    self._group(name, group, ("hooks", name, number))
            except WrongError as error:
                self._refuse(name, error)

    def _unknown_event(self, name: str) -> None:
        from difflib import get_close_matches

        known = {letters(each): each for each in EVENTS}
        near = get_close_matches(letters(name), known, n=1, cutoff=_NEAR)
        meant = known[near[0]] if near else ""
        problem = f"Claude Code has no event {name[:80]!r}, so its hooks are left out."
        remedy = f"Did you mean {meant!r}?" if meant else "https://code.claude.com/docs/en/hooks lists the events."
        self.find("unknown-event", ("hooks", name), problem, remedy, **self._missed(meant or name))

    def _misplaced(self, meaning: Mapping[str, Any]) -> None:
        """Add findings about events at the top of the file."""
        for key in meaning:
            name = _events_by_letters().get(letters(key), "")
            if name:
                problem = (
                    f"{key[:80]!r} stands at the top of the file, where nobody looks for hooks: they are left out."
                )
                self.find("not-honoured", (key,), problem, _where_to_put(name), **self._missed(name))

    def _group(self, event: str, group: Any, place: Place) -> None:
        matcher: str | None = None
        try:
            if not isinstance(group, dict):
                raise WrongError(place, f"An item of {event} must be an object, not {kind_of(group)}.")
            self._unknown_keys(event, group, place)
            matcher = self._matcher(event, group, place)
            match = claude_match(matcher, event, self._common["source"]) if matcher else None
            handlers = _list(group.get("hooks"), (*place, "hooks"), f"`hooks` of {event}")
        except WrongError as error:
            self._refuse(event, error, matcher)
            return
        except RegistrationError as error:
            self._refuse(event, WrongError((*place, "matcher"), str(error), "Repair the matcher."))
            return
        for number, handler in enumerate(handlers):
            try:
                self._handler(event, handler, (*place, "hooks", number), matcher, match)
            except WrongError as error:
                self._refuse(event, error, matcher)

    def _matcher(self, event: str, group: Mapping[str, Any], place: Place) -> str | None:
        """Return the matcher if it has an effect on this event."""
        if "matcher" not in group:
            return None
        matcher, place = group["matcher"], (*place, "matcher")
        if not isinstance(matcher, str):
            raise WrongError(place, f"`matcher` of {event} must be a text, not {kind_of(matcher)}.")
        subject = EVENTS[event].subject
        if matcher in ("", "*"):
            return None
        if not subject:
            problem = f"{event} knows no matchers, so its hooks are asked whatever `matcher` says."
            self.find("ignored", place, problem, "Remove the matcher.")
            return None
        names = exact_names(matcher, event) or ()
        servers = [name for name in names if name.startswith("mcp__") and name.count("__") == 1]
        if subject == "tool" and servers:
            problem = f"The matcher {servers[0]!r} names a server and none of its tools, so it never matches."
            self.find("never-runs", place, problem, f"Write {servers[0] + '__.*'!r} for all of them.")
        for name in names if subject == "tool" else ():
            meant = misspelt_tool(name)
            if meant:
                problem = f"The matcher {name!r} is no name of a tool of Claude Code, where case counts."
                self.find("never-runs", place, problem, f"Did you mean {meant!r}?")
        rule = permission_rule(matcher) if subject == "tool" else ""
        if rule:
            problem = f"The matcher {matcher[:80]!r} is a permission rule, and as an expression it matches no tool."
            self.find("never-runs", place, problem, f'Write "matcher": "{rule}", and the rule as `if` of each hook.')
        return matcher

    def _handler(self, event: str, handler: Any, place: Place, matcher: str | None, match: Predicate | None) -> None:
        if not isinstance(handler, dict):
            raise WrongError(place, f"A hook on {event} must be an object, not {kind_of(handler)}.")
        kind: Any = handler.get("type")
        if not is_text(kind):
            raise WrongError(place, f"A hook on {event} has no type.", 'Write "type": "command" into it.')
        wrong = wrong_field(kind, handler)
        if wrong is not None:
            raise WrongError((*place, wrong[0]), f"A {kind} hook on {event} {wrong[1]}.")
        config, facts, unknown = taken_apart(kind, handler)
        for key in unknown:
            self.find("unknown-key", (*place, key), *unknown_key(key, kind, event))
        if kind in ANY_TYPE - EVENTS[event].types:
            problem = f"Claude Code runs no {kind} hooks on {event}, so this one does not run here either."
            self.find("never-runs", place, problem, _REPAIR)
            return
        if "if" in handler and event not in IF_EVENTS:
            problem = f"A hook with `if` never runs on {event}, which is about no tool call."
            self.find("never-runs", (*place, "if"), problem, _REPAIR)
            return
        if kind == "command" and is_ours(handler):
            problem = f"This hook on {event} is our own command, which would ask itself, so it is left out."
            self.find(OWN_COMMAND, place, problem, "Leave it: Claude Code itself needs it.")
            return
        if facts["is_async"] and handler.get("asyncRewake"):
            problem = f"asyncRewake on {event} starts the command as `async` does; it cannot wake the model."
            self.find("not-honoured", (*place, "asyncRewake"), problem, "Use a hook that is waited for.")
        if handler.get("onFailure") == "block" and event in ALWAYS_OPEN:
            facts["on_failure"] = None
            problem = f"onFailure has no effect on {event}, in Claude Code as here: a hook that fails blocks nothing."
            self.find("not-honoured", (*place, "onFailure"), problem, "Remove it.")
        claude_event = EVENTS[event]
        host_event = event if claude_event.event == "on_host_event" else ""
        seconds = default_timeout(event, kind)
        if seconds is not None:
            config.setdefault("timeout", seconds)
        self.entries.append(
            HookEntry(
                event=claude_event.event,
                config=config,
                matcher=matcher,
                match=all_of(at_host_event(host_event), match, self._if(event, handler, place)),
                line=self.line(place),
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
            self.find("not-honoured", (*place, "if"), problem, "Repair it.")
            return lambda _: WEAKLY

    # -- findings ------------------------------------------------------------------------------------------------------

    def _refuse(self, event: str, error: WrongError, matcher: str | None = None) -> None:
        facts: dict[str, Any] = {"event": str(EVENTS[event].event), "matcher": matcher}
        if EVENTS[event].gate:
            facts = self._gate(event, matcher)
        self.find("not-honoured", error.place, error.problem, error.remedy, **facts)

    def _missed(self, name: str) -> dict[str, Any]:
        """Return the facts of a finding about hooks on an event, Claude Code's or ours, that are left out."""
        if name in EVENTS:
            return self._gate(name) if EVENTS[name].gate else {"event": str(EVENTS[name].event)}
        event = find_event(name)
        return {} if event is None else {"event": str(event), "blocks": event.closed in ("deny", "stop")}

    @staticmethod
    def _gate(event: str, matcher: str | None = None) -> dict[str, Any]:
        """Return the facts of a finding that blocks at Claude Code's event ``event``."""
        found = EVENTS[event]
        if found.event == "on_host_event":
            matcher = event
        elif found.subject != "tool" or (matcher is not None and exact_names(matcher, event) is None):
            matcher = None  # our match texts cannot express it
        return {"event": str(found.event), "matcher": matcher, "blocks": True}

    def _unknown_keys(self, event: str, group: Mapping[str, Any], place: Place) -> None:
        known = ("matcher", "hooks")
        for key in group:
            if key not in known:
                hint = "Move it into each of the hooks." if key in FIELDS else did_you_mean(key, known, "Remove it.")
                problem = f"The key {key[:80]!r} means nothing in {event}, so it is ignored."
                self.find("unknown-key", (*place, key), problem, hint)


def _is_meant(key: str, value: Any) -> bool:
    """Whether an unknown key at the top misspells `hooks` or the name of an event."""
    if is_misspelt(key, value):
        return True
    is_event = letters(key) in _events_by_letters()
    return is_event and bool(value) and (key in EVENTS or isinstance(value, (list, dict)))


def _where_to_put(name: str) -> str:
    """Return the remedy for a misplaced event."""
    event = find_event(name)
    names = [name] if name in EVENTS else [each for each, known in EVENTS.items() if known.event is event]
    if not names:
        return f"Claude Code has no event {name}: put it below `hooks` of an agent-hooks.toml."
    return f'Put it below `hooks`: {{"hooks": {{"{names[0]}": …}}}}.'


@cache
def _events_by_letters() -> dict[str, str]:
    """Return all names of events by their letters. Claude Code's names take precedence."""
    return {letters(name): name for name in (*event_names(), *EVENTS)}


def _list(value: Any, place: Place, key: str) -> list[Any]:
    if not isinstance(value, list):
        raise WrongError(place, f"{key} must be a list, not {kind_of(value)}.")
    return value
