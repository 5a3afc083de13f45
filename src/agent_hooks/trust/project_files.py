"""The root of a project, and the kinds of its files by path."""

from __future__ import annotations

import os
import stat

from agent_hooks.errors import SettingsError
from agent_hooks.system.digests import sha256_hex
from agent_hooks.system.folders import claude_dir
from agent_hooks.system.paths import folders_above, is_below

HOOKCONF = "hookconf.py"
TOML = "agent-hooks.toml"
PYPROJECT = "pyproject.toml"
SKILL = "SKILL.md"
CLAUDE = (".claude/settings.json", ".claude/settings.local.json")
# Names to find in every folder.
NAMES = (TOML, PYPROJECT, *CLAUDE, HOOKCONF, SKILL)
_AGENTS = (".claude", "agents")

# Markers of a project's root; the first group takes precedence.
_MARKS = ((".git",), (TOML, HOOKCONF, PYPROJECT, *CLAUDE))


def project_root(directory: str | os.PathLike[str]) -> str:
    """Return the real path of the root of the project that contains ``directory``.

    It is the nearest folder with ``.git``, else the nearest with one of our files or a ``pyproject.toml``, else
    ``directory`` itself. The home folder, its parents, ``/`` and world-writable folders such as ``/tmp`` are roots only
    if they are ``directory``.
    """
    start = os.path.realpath(directory)
    home = os.path.realpath(os.path.expanduser("~"))
    folders = [start]
    for folder in folders_above(start) if start != home else ():
        if folder == home or os.path.dirname(folder) == folder:
            break
        if not _is_world_writable(folder):
            folders.append(folder)
    for names in _MARKS:
        for folder in folders:
            if any(_is_mark(folder, name) for name in names):
                return folder
    return start


def is_marked(folder: str) -> bool:
    """Whether ``folder`` contains a marker of a project other than the user's own ``.claude``."""
    return any(_is_mark(folder, name) for names in _MARKS for name in names)


def _is_mark(folder: str, name: str) -> bool:
    path = os.path.join(folder, name)
    return os.path.lexists(path) and not (name in CLAUDE and is_users_claude(os.path.dirname(path)))


def is_users_claude(folder: str) -> bool:
    """Whether a ``.claude`` is the folder of the user's own settings, which another source reads."""
    try:
        users = claude_dir()
    except SettingsError:  # that source reports it
        return False
    return bool(users) and os.path.realpath(folder) == os.path.realpath(users)


def _is_world_writable(folder: str) -> bool:
    try:
        mode = os.stat(folder).st_mode
    except OSError:
        return False
    return bool(mode & stat.S_ISVTX and mode & stat.S_IWOTH)


def kind_of(path: str) -> str:
    """Return the kind of a path: ``settings``, ``hookconf``, ``skill`` or empty."""
    folders, _, name = path.rpartition("/")
    if name == HOOKCONF:
        return "hookconf"
    if name in (TOML, PYPROJECT) or f"/{path}".endswith(tuple(f"/{each}" for each in CLAUDE)):
        return "settings"
    is_agent = name.endswith(".md") and tuple(folders.split("/")[-2:]) == _AGENTS
    return "skill" if name == SKILL or is_agent else ""


def record_name(root: str) -> str:
    """Return the name of the file in which the trust store keeps its record of the project at a real path."""
    return f"{sha256_hex(os.fsencode(root))}.jsonl"


def relative_to(root: str, path: str) -> str:
    """Return ``path`` relative to the root of its project, with slashes; unchanged if it is outside."""
    if not is_below(path, root):
        return path
    return path[len(os.path.join(root, "")) :].replace(os.sep, "/")
