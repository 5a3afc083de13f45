"""From live hooks and the table of a host to its entries: which events are wired, and with which command lines."""

from __future__ import annotations

import os
import re
import subprocess
import sys

from agent_hooks.cli.isolated import ending_of
from agent_hooks.errors import SettingsError
from agent_hooks.formats.claude.fields import FALLBACK, OR_REFUSE
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import find_event
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.system.quick_json import loads
from agent_hooks.trust.gate.locations import read_text
from agent_hooks.wire import get_host
from agent_hooks_core import FOLDER

from .hosts import AHEAD, LONG, USUAL

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from agent_hooks.wire.host import Host

    from .hosts import Wiring

# Events of a host that are wired only if they are named: a hook on `WorktreeCreate` has to make the worktree itself.
_REPLACED = frozenset({"WorktreeCreate"})
# There, a refusal means another round, or another try, without end.
_CONTINUING = frozenset({"TaskCompleted", "TodoCompleted", "TeammateIdle"})
# What a host reports by the event of something else.
_ALSO = {
    ("gemini", "AfterTool"): "on_tool_error",
    ("codex", "PostToolUse"): "on_tool_error",
    ("cursor", "stop"): "on_error",
    # What a person types may have lines of shell.
    ("claude-code", "UserPromptExpansion"): "before_tool_use",
}
_STOPS = frozenset({"on_stop", "after_subagent"})
# Since this version, Claude Code heeds `onFailure`.
_ON_FAILURE_SINCE = (2, 1, 295)


class Listeners:
    """The events that live hooks listen to: those of plugins, of the files of the machine and the user, of the project
    here, and of all trusted projects, because the user's wiring is for these as well.

    ``broken``: the plugins and files of which nobody knows which events they need, once ``events`` was asked.
    ``can_load``: whether it is known that no plugin ends or holds up the process that loads it.
    """

    def __init__(self, directory: str, *, can_load: bool = False) -> None:
        self._directory = directory
        self._ending: str | None = "" if can_load else None
        self.broken: frozenset[str] = frozenset()
        self._found: dict[bool, frozenset[str]] = {}

    def events(self, *, claude_settings: bool) -> frozenset[str]:
        """Return the names of the events; ``claude_settings``: hooks in Claude Code's own files count. Raises
        ``SettingsError`` where a plugin ends or holds up the process that loads it.
        """
        if claude_settings not in self._found:
            from agent_hooks.sources.loader import HookConfigLoader

            if self._ending is None:
                self._ending = ending_of(lambda: HookConfigLoader(self._directory).load())
            if self._ending:
                raise SettingsError(f"The process that loads the hooks {self._ending}.")
            loader = HookConfigLoader(self._directory, claude_settings=claude_settings)
            manager = loader.load()
            self.broken |= {info.name for info in manager.plugins() if info.status == "broken"} | loader.stand_ins
            names = {str(hook.event) for hook in manager.all_hooks() if hook.plugin_name not in self.broken}
            known = {source.project.root for source in loader.projects}
            for root in {*_trusted_roots()} - known:
                names.update(_events_of(root, claude_settings=claude_settings))
            self._found[claude_settings] = frozenset(names)
        return self._found[claude_settings]


def _trusted_roots() -> Iterator[str]:
    """Yield the roots of the projects that were ever trusted, as their records say."""
    from agent_hooks.system.folders import config_dirs

    for folder in (os.path.join(each, "trust") for each in config_dirs()):
        for name in os.listdir(folder) if os.path.isdir(folder) else ():
            try:
                with open(os.path.join(folder, name), "rb") as file:
                    root = loads(file.readline().decode())["root"]
            except (OSError, ValueError, TypeError, KeyError):
                continue
            if isinstance(root, str) and os.path.isdir(root):
                yield root


def _events_of(root: str, *, claude_settings: bool) -> Iterator[str]:
    """Yield the events of a trusted project's hooks, by their names where they are Python: nothing is run."""
    from agent_hooks.sources.files import ProjectSource

    source = ProjectSource(root, claude_settings=claude_settings)
    yield from (str(entry.event) for read in source.load() for entry in read.entries)
    for conf in source.project.confs if source.is_trusted else ():
        modules = (f"{os.path.join(conf.directory, *name.split('.'))}.py" for name in conf.modules)
        for text in (conf.code.decode("utf-8", "replace"), *map(read_text, modules)):
            for names in re.findall(r"\bdef (\w+)|\bspecname\s*=\s*[\"'](\w+)|\bhookimpl\.(\w+)", text):
                yield from (str(event) for name in names if (event := find_event(name)) is not None)


def events_of(wiring: Wiring) -> dict[str, str]:
    """Return the host's events with ours. Of two names for the same moment, it is the one that has all that the other
    has. Raises ``WireError`` for a host that is not known in this version.
    """
    found: dict[str, str] = {}
    for host in hosts_of(wiring):
        names = [name for name in host.rows if name not in host.repeats]
        # Copilot has each event a second time in lower case, with a payload that does not say which one it is.
        names = [name for name in names if name[0].isupper()] or names
        found = {name: str(host.rows[name].event) for name in names} | found
    return found


def hosts_of(wiring: Wiring) -> tuple[Host, ...]:
    """Return the hosts that read the file. Raises ``WireError``."""
    return tuple(get_host(name) for name in wiring.readers or (wiring.name,))


def wanted(wiring: Wiring, listeners: Listeners) -> tuple[str, ...]:
    """Return the host's events that a live hook listens to, in the order of its table. Raises ``WireError``."""
    listened = listeners.events(claude_settings=not get_host(wiring.name).runs_claude_settings)
    return tuple(
        name
        for name, event in events_of(wiring).items()
        if name not in _REPLACED and not listened.isdisjoint((event, _ALSO.get((wiring.name, name), event)))
    )


def checked_events(wiring: Wiring, names: Iterable[str]) -> tuple[str, ...]:
    """Return events by the host's own names or by ours. Raises ``SettingsError`` for others."""
    known = events_of(wiring)
    found: list[str] = []
    for name in names:
        same = [each for each, event in known.items() if name in (each, event)]
        if not same:
            raise SettingsError(f"{wiring.title} has no event {name!r}. It has {', '.join(known)}.")
        found += same
    return tuple(each for each in known if each in found)


# -- entries -----------------------------------------------------------------------------------------------------------


def entries_of(wiring: Wiring, path: str, events: Iterable[str], *, or_refuse: bool = False) -> dict[str, Any]:
    """Return the entry of each event in the file ``path``. ``or_refuse``: a gate's exit code refuses too, for a host
    without its field.
    """
    return {event: _entry(wiring, path, event, or_refuse=or_refuse) for event in events}


def _entry(wiring: Wiring, path: str, event: str, *, or_refuse: bool) -> dict[str, Any]:
    handler = dict(wiring.fields)
    seconds = seconds_of(wiring, event)
    is_closed = is_gate(wiring, event)
    by_exit = is_closed and (or_refuse or wiring.closing is None) and os.name != "nt"
    words = [*map(_quoted, command(wiring)), "--event", event, "--timeout", str(seconds - AHEAD)]
    replacing = "exec " * (wiring.in_shell and not by_exit and os.name != "nt")
    handler["command"] = _fallback(wiring, path, event) + replacing + " ".join(words) + OR_REFUSE * by_exit
    handler["timeout"] = seconds * wiring.timeout
    if is_closed and wiring.closing is not None and not or_refuse:  # an old Claude Code removes the field
        handler[wiring.closing[0]] = wiring.closing[1]
    return {"hooks": [handler]} if wiring.shape == "groups" else handler


def _fallback(wiring: Wiring, path: str, event: str) -> str:
    """Return the beginning of a line that answers by itself where our environment is gone: a gate refuses, a prompt
    goes on, because the person who has to mend that could type nothing more.
    """
    if not wiring.in_shell or os.name == "nt":
        return ""
    python, *_, script = launcher()
    host = next(each for each in hosts_of(wiring) if event in each.rows)
    option = "" if path == wiring.path() else " --project"
    text = (
        f"agent-hooks: {python} or {script} is gone, so no hook can be asked. {path} runs it. Remedy: install "
        f"agent-hooks-core again and type: agent-hooks install{option} {wiring.name}; or take it out of that file."
    )
    if is_gate(wiring, event) and not stays_open(wiring, event):
        answer = host.failure(event, text)
    else:
        ctx = HookContext(host.rows[event].event, host=host.name, host_event=event)
        answer = host.write(HookOutcome.proceed(), ctx, notes=[text])
    tests = FALLBACK.format(_quoted(python), _quoted(script))
    return f"{tests}{_quoted(answer.stdout)} {_quoted(answer.stderr)} {answer.exit_code}; "


def stays_open(wiring: Wiring, event: str) -> bool:
    """Whether the line of this event lets it go on where our environment is gone: a prompt."""
    return wiring.in_shell and os.name != "nt" and events_of(wiring)[event] == "user_input"


def is_gate(wiring: Wiring, event: str, *, in_all: bool = False) -> bool:
    """Whether a host that runs this file refuses this event where the command cannot start, each of them if ``in_all``;
    never where an agent wants to stop.
    """
    hosts = [host for host in hosts_of(wiring) if event in host.rows]
    rows = [host.rows[event] for host in hosts]
    if event in _CONTINUING or any(row.refuse == "go_on" or row.event in _STOPS for row in rows):
        return False
    answers = [host.failure(event, "no answer") for host in hosts]
    closes = (answer.exit_code == 2 or (wiring.closing is not None and bool(answer.stdout)) for answer in answers)
    return all(closes) if in_all else any(closes)


def seconds_of(wiring: Wiring, event: str) -> int:
    """Return the seconds that the host waits for the entry of an event."""
    usual = LONG if events_of(wiring)[event] in _STOPS else USUAL
    return min(usual, wiring.limits.get(event, usual))


def command(wiring: Wiring) -> list[str]:
    """Return the words of the command that answers a host, up to its name."""
    return [*launcher(), "run", "--agent", wiring.agent or wiring.name]


def launcher() -> list[str]:
    """Return the interpreter, as it is called in its environment, and how it runs our file.

    None of it changes with a version of ours. Raises ``SettingsError`` for a path that no command line can hold.
    """
    python = sys.executable
    plain = os.path.join(os.path.dirname(python), "python")
    if sys.prefix != sys.base_prefix and os.path.isfile(plain) and os.path.samefile(plain, python):
        python = plain  # an environment's other links have the version of Python in their names
    script = os.path.join(FOLDER, "agent_hooks_core.py")
    for path in (python, script):
        if not os.path.isabs(path) or not path.isprintable():
            raise SettingsError(f"A coding agent cannot be told to run {path!r}: install agent-hooks-core elsewhere.")
    return [python, "-I", "-S", script]


def _quoted(path: str) -> str:
    if os.name == "nt":  # Git's bash and cmd.exe take slashes and double quotes alike
        path = path.replace("\\", "/")
        return f'"{path}"' if " " in path else path
    from shlex import quote

    return quote(path)


def heeds_on_failure(version: str) -> bool:
    """Whether Claude Code of this version heeds ``onFailure``; an unknown one does."""
    found = re.search(r"(\d+)\.(\d+)\.(\d+)", version)
    return found is None or tuple(map(int, found.groups())) >= _ON_FAILURE_SINCE


def version_of(program: str) -> str:
    """Return what a host says for its version, an empty string if it says nothing in time."""
    try:
        line = [program, "--version"]
        done = subprocess.run(line, capture_output=True, text=True, timeout=10, stdin=subprocess.DEVNULL, check=False)  # noqa: S603 - as found on PATH
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
