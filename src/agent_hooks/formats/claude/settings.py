"""Parser of Claude Code's settings files and of the `hooks.json` of its plugins.

Source: https://code.claude.com/docs/en/hooks
"""

from __future__ import annotations

import os
from functools import cache

from agent_hooks.errors import BadJSONError
from agent_hooks.formats.event_keys import EventKey, event_names
from agent_hooks.formats.findings import OWN_COMMAND
from agent_hooks.formats.read_file import ReadFile
from agent_hooks.formats.reader import is_misspelt, kind_of, letters
from agent_hooks.model.events import find_event
from agent_hooks.model.policy import NEVER_PASSED_OVER
from agent_hooks.system.strict_json import read_json

from .event_names import ALWAYS_OPEN, ANY_TYPE, EVENTS, default_timeout
from .fields import is_ours, is_texts
from .groups import GroupReader
from .matcher_rules import exact_names, misspelt_tool, permission_rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

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
        "mode": "transform" if source in NEVER_PASSED_OVER else "gate",
    }
    return _Reader(common).file(data)


class _Reader(GroupReader):
    """Parses one file."""

    def file(self, data: bytes) -> ReadFile:
        """Parse the file."""
        from agent_hooks.formats.positions import lines_of, repeated_key

        text = data.removeprefix(_BOM)
        if not text.strip():  # an empty file counts as none
            return ReadFile(**self.same)
        try:
            top = read_json(text)
            if not isinstance(top, dict):
                raise BadJSONError("is no object")
        except BadJSONError as error:
            line, remedy = 0, "Repair it: nothing of it counts before."
            if str(error).endswith("twice") and (twice := repeated_key(text.decode("utf-8"))):
                line, remedy = twice[1], f"It is {twice[0][:80]!r}; leave one of them."
            return ReadFile.unreadable(f"The file {error}.", remedy, line, part=data, **self.same)
        meaning = {key: value for key, value in top.items() if key in _MEANINGFUL or _is_meant(key, value)}
        if not meaning:
            return ReadFile(**self.same)
        self.lines = lines_of(text.decode("utf-8"))
        settings = self._settings(meaning)
        if "modules" in meaning:
            problem = "`modules` are JavaScript that runs inside of Claude Code alone, so they are left out."
            self.find("not-honoured", ("modules",), problem, "Write what must also hold elsewhere as hooks.")
        hooks = meaning.get("hooks", {})
        if isinstance(hooks, dict):
            self.read_events(hooks)
        else:
            problem = f"hooks must be an object, not {kind_of(hooks)}, so none of them counts."
            self.find("not-honoured", ("hooks",), problem, _REPAIR, blocks=True)
        self.find_misspelt(meaning)
        for key in meaning:
            if name := _events_by_letters().get(letters(key)):
                problem = f"{key[:80]!r} stands at the top of the file, where no hooks are read: they are left out."
                self.find("not-honoured", (key,), problem, _where_to_put(name), **_missed(name))
        return self.result(settings, meaning)

    # -- beside the hooks ----------------------------------------------------------------------------------------------

    def _settings(self, meaning: Mapping[str, Any]) -> dict[str, Any]:
        settings: dict[str, Any] = {}
        for key in filter(_FLAGS.get, meaning):
            if not isinstance(meaning[key], bool):
                self.find("not-honoured", (key,), f"{key} must be true or false, so it does not count.", _REPAIR)
            elif key == "allowManagedHooksOnly" and self.common["source"] != "managed":
                problem = f"{key} does not count here: only who manages the machine may say it."
                self.find("not-allowed", (key,), problem, "Remove it.")
            else:
                settings[_FLAGS[key]] = meaning[key]
        for key in filter(_LISTS.get, meaning):
            settings[_LISTS[key]] = tuple(meaning[key]) if is_texts(meaning[key]) else ()
            if not is_texts(meaning[key]):
                self.find("not-honoured", (key,), f"{key} must be a list of texts, so it allows nothing.", _REPAIR)
        return settings

    # -- hooks ---------------------------------------------------------------------------------------------------------

    def event(self, name: str, place: Place) -> EventKey | None:
        """Return the event of Claude Code with this name."""
        if name in EVENTS:
            return EventKey(name=name, event=EVENTS[name].event, is_claudes=True)
        from difflib import get_close_matches

        known = {letters(each): each for each in EVENTS}
        near = get_close_matches(letters(name), known, n=1, cutoff=_NEAR)
        meant = known[near[0]] if near else ""
        problem = f"Claude Code has no event {name[:80]!r}, so its hooks are left out."
        remedy = f"Did you mean {meant!r}?" if meant else "https://code.claude.com/docs/en/hooks lists the events."
        self.find("unknown-event", place, problem, remedy, **_missed(meant or name))
        return None

    def matcher(self, key: EventKey, group: Mapping[str, Any], place: Place) -> str | None:
        """Return the matcher if it has an effect on this event."""
        matcher, event = super().matcher(key, group, place), key.name
        place = (*place, "matcher")
        subject = EVENTS[event].subject
        if matcher in (None, "", "*"):
            return None
        if not subject:
            problem = f"{event} knows no matchers, so its hooks are asked whatever `matcher` says."
            self.find("ignored", place, problem, "Remove the matcher.")
            return None
        if subject != "tool":
            return matcher
        names = exact_names(matcher, event) or ()
        server = next((name for name in names if name.startswith("mcp__") and name.count("__") == 1), "")
        if server:
            problem = f"The matcher {server!r} names a server and none of its tools, so it never matches."
            self.find("never-runs", place, problem, f"Write {server + '__.*'!r} for all of them.")
        for name in names:
            if meant := misspelt_tool(name):
                problem = f"The matcher {name!r} is no name of a tool of Claude Code, where case counts."
                self.find("never-runs", place, problem, f"Did you mean {meant!r}?")
        if rule := permission_rule(matcher):
            problem = f"The matcher {matcher[:80]!r} is a permission rule, and as an expression it matches no tool."
            self.find("never-runs", place, problem, f'Write "matcher": "{rule}", and the rule as `if` of each hook.')
        return matcher

    def settle(self, key: EventKey, handler: Mapping[str, Any], facts: dict[str, Any], place: Place) -> bool:
        """Complete a handler by Claude Code's rules for its event."""
        event, kind = key.name, handler["type"]
        if kind in ANY_TYPE - EVENTS[event].types:
            problem = f"Claude Code runs no {kind} hooks on {event}, so this one does not run here either."
            self.find("never-runs", place, problem, _REPAIR)
            return False
        if kind == "command" and is_ours(handler):
            problem = f"This hook on {event} is our own command, which would ask itself, so it is left out."
            self.find(OWN_COMMAND, place, problem, "Leave it: Claude Code itself needs it.")
            return False
        if facts["is_async"] and handler.get("asyncRewake"):
            problem = f"asyncRewake on {event} starts the command as `async` does; it cannot wake the model."
            self.find("not-honoured", (*place, "asyncRewake"), problem, "Use a hook that is waited for.")
        if handler.get("onFailure") == "block" and event in ALWAYS_OPEN:
            facts["on_failure"] = None
            problem = f"onFailure has no effect on {event}, in Claude Code as here: a hook that fails blocks nothing."
            self.find("not-honoured", (*place, "onFailure"), problem, "Remove it.")
        seconds = default_timeout(event, kind)
        if seconds is not None:
            facts["config"].setdefault("timeout", seconds)
        return True


def _where_to_put(name: str) -> str:
    """Return the remedy for a misplaced event."""
    event = find_event(name)
    names = [name] if name in EVENTS else [each for each, known in EVENTS.items() if known.event is event]
    if not names:
        return f"Claude Code has no event {name}: put it below `hooks` of an agent-hooks.toml."
    return f'Put it below `hooks`: {{"hooks": {{"{names[0]}": …}}}}.'


def _missed(name: str) -> dict[str, Any]:
    """Return the facts of a finding about hooks on an event, Claude Code's or ours, that are left out."""
    if name in EVENTS:
        key = EventKey(name=name, event=EVENTS[name].event, is_claudes=True)
        return key.about() if key.is_gate else {"event": str(key.event)}
    event = find_event(name)
    return {} if event is None else {"event": str(event), "blocks": event.closed in ("deny", "stop")}


def _is_meant(key: str, value: Any) -> bool:
    """Whether an unknown key at the top misspells `hooks`, or is the name of an event."""
    is_event = letters(key) in _events_by_letters() and bool(value)
    return is_misspelt(key, value) or (is_event and (key in EVENTS or isinstance(value, (list, dict))))


@cache
def _events_by_letters() -> dict[str, str]:
    """Return all names of events by their letters. Claude Code's names take precedence."""
    return {letters(name): name for name in (*event_names(), *EVENTS)}
