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
# The variables that decide where settings and programs are looked for, beside those of agent_hooks.
_MOVING = frozenset(
    """
    HOME USERPROFILE APPDATA LOCALAPPDATA XDG_CONFIG_HOME XDG_STATE_HOME CLAUDE_CONFIG_DIR CODEX_HOME PATH
    PYTHONPATH PYTHONHOME PYTHONUSERBASE PYTHONSAFEPATH PYTHONSTARTUP LD_PRELOAD LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES
    """.split()
)


def settings_findings(roots: Iterable[str]) -> Iterator[ConfigFinding]:
    """Yield a finding for each settings file of Claude Code that repeats a command of another host's hook file, and for
    each of the projects ``roots`` whose ``env`` moves the user's settings. Nothing is run.
    """
    own = claude_dir()
    settings = {os.path.join(root, name): True for root in roots for name in CLAUDE}
    settings |= {os.path.join(own, CLAUDE_FILE): False} if own else {}
    others = dict(_files_of_hosts(roots))
    theirs = {path: set(_commands_in(_parsed(path))) for path in others}
    for path, is_projects in settings.items():
        parsed = _parsed(path)
        commands = set(_commands_in(parsed))
        for other, host in others.items():
            if both := sorted(commands & theirs[other]):
                named = " and ".join(f"`{command[:80]}`" for command in both)
                yield ConfigFinding(
                    kind="runs-twice",
                    path=path,
                    message=f"{host} runs this file and {other}, so what is in both runs twice: {named}.",
                    remedy="Keep it in one of them.",
                )
        env = parsed.get("env") if isinstance(parsed, dict) and is_projects else None
        names = env if isinstance(env, dict) else ()
        moving = sorted(name for name in names if name.upper() in _MOVING or name.upper().startswith("AGENT_HOOKS_"))
        if moving:
            yield ConfigFinding(
                kind="moves-settings",
                path=path,
                message=f"Its env sets {', '.join(moving)}, which decides where settings and programs are looked for.",
                remedy="Remove that from the file of the project; set it in your own environment if you need it.",
            )


def _files_of_hosts(roots: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield the hook files of other hosts with their hosts."""
    for host, in_project, in_home in _HOSTS:
        folders = [(root, in_project) for root in roots] + [(os.path.expanduser("~"), in_home)]
        for folder, pattern in folders:
            yield from ((path, host) for path in sorted(glob.glob(os.path.join(glob.escape(folder), *pattern))))


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
