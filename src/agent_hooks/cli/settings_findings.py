"""Findings about settings of hosts: commands that run twice, and projects that move the user's settings."""

from __future__ import annotations

import glob
import os

from agent_hooks.errors import BadJSONError
from agent_hooks.formats.claude.fields import is_ours, is_text, is_texts
from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.sources.files import CLAUDE_FILE
from agent_hooks.system.folders import claude_dir, read_regular
from agent_hooks.system.strict_json import read_json
from agent_hooks.trust.discovery import MAX_BYTES
from agent_hooks.trust.project_files import CLAUDE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

# The hook files of other hosts that also run Claude Code's settings: in a project, and in the home folder.
# Sources: docs.github.com (Copilot's hooks reference), code.visualstudio.com/docs and cursor.com/docs, each on hooks.
_HOSTS = (
    ("Copilot or VS Code", (".github", "hooks", "*.json"), (".copilot", "hooks", "*.json")),
    ("Cursor", (".cursor", "hooks.json"), (".cursor", "hooks.json")),
)
# The keys of commands in these files.
_KEYS = ("command", "bash", "powershell", "windows", "linux", "osx")
_OURS = "agent-hooks run"


def run_twice(roots: Iterable[str]) -> Iterator[ConfigFinding]:
    """Yield a finding for each file that repeats a command of Claude Code's settings; nothing is run."""
    home = os.path.expanduser("~")
    own = claude_dir()
    settings = {os.path.join(own, CLAUDE_FILE): None} if own else {}
    others: dict[str, str] = {}
    for root in roots:
        settings |= dict.fromkeys(os.path.join(root, name) for name in CLAUDE)
        for host, in_project, in_home in _HOSTS:
            patterns = os.path.join(glob.escape(root), *in_project), os.path.join(glob.escape(home), *in_home)
            others |= {path: host for pattern in patterns for path in sorted(glob.glob(pattern))}
    theirs = {path: set(_commands_in(_parsed(path))) for path in others}
    for path in settings:
        commands = set(_commands_in(_parsed(path)))
        for other, host in others.items():
            both = sorted(commands & theirs[other])
            if both:
                yield ConfigFinding(
                    kind="runs-twice",
                    path=path,
                    message=f"{host} runs this file and {other}, so what is in both runs twice: {_named(both)}.",
                    remedy="Keep it in one of them.",
                )


def _named(commands: list[str]) -> str:
    return " and ".join(f"`{command[:80]}`" for command in commands)


def _parsed(path: str) -> Any:
    """Return the JSON value of a file, None if it has none: the parser of its hooks reports that."""
    try:
        return read_json(read_regular(path, MAX_BYTES))
    except (OSError, BadJSONError):
        return None


def _commands_in(value: Any) -> Iterator[str]:
    """Yield the commands of a parsed hook file, each of ours as the same text."""
    if isinstance(value, dict):
        args = {"args": value["args"]} if is_texts(value.get("args")) else {}
        for command in (value[key] for key in _KEYS if is_text(value.get(key))):
            tokens = (command.strip(), *args.get("args", ()))
            yield _OURS if is_ours({"command": command, **args}) else " ".join(tokens)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for each in inner:
        yield from _commands_in(each)


_VARIABLES = frozenset(
    """
    HOME USERPROFILE APPDATA LOCALAPPDATA XDG_CONFIG_HOME XDG_STATE_HOME CLAUDE_CONFIG_DIR CODEX_HOME PATH
    PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONSAFEPATH PYTHONSTARTUP LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES
    """.split()
)


def moved_by_projects(roots: Iterable[str]) -> Iterator[ConfigFinding]:
    """Yield a finding for each Claude Code settings file below ``roots`` whose ``env`` moves the user's settings."""
    for path in (os.path.join(root, name) for root in roots for name in CLAUDE):
        settings = _parsed(path)
        env = settings.get("env") if isinstance(settings, dict) else None
        names = sorted(name for name in env if _moves(name)) if isinstance(env, dict) else []
        if names:
            yield ConfigFinding(
                kind="moves-settings",
                path=path,
                message=f"Its env sets {', '.join(names)}, which decides where settings and programs are looked for.",
                remedy="Remove that from the file of the project; set it in your own environment if you need it.",
            )


def _moves(name: str) -> bool:
    return name.upper() in _VARIABLES or name.upper().startswith("AGENT_HOOKS_")
