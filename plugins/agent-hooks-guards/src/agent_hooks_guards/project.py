"""The guards of a project: ``[tool.agent_hooks.guards]`` of the nearest pyproject.toml that has it."""

from __future__ import annotations

import os

from agent_hooks import SettingsError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks import HookContext

    from .build import ProjectGuards


# By path: the file's time and size when it was read, and what was in it.
_read: dict[str, tuple[tuple[int, int], ProjectGuards | None]] = {}


def project_guards(ctx: HookContext) -> ProjectGuards | None:
    """Return the guards of the project that ``ctx`` belongs to, None if it has none.

    Looked for in the event's project directory, else its working directory, else this process's, and upwards to the
    file system's root. A file is read again when its time or size changes. Raises ``SettingsError`` naming the file and
    what is wrong in it.
    """
    folder = os.path.abspath(ctx.project_dir or ctx.cwd or os.getcwd())
    while True:
        found = _guards_in(os.path.join(folder, "pyproject.toml"))
        parent = os.path.dirname(folder)
        if found is not None or parent == folder:
            return found
        folder = parent


def _guards_in(path: str) -> ProjectGuards | None:
    try:
        status = os.stat(path)
        stamp = (status.st_mtime_ns, status.st_size)
        known = _read.get(path)
        if known is not None and known[0] == stamp:
            return known[1]
        with open(path, "rb") as file:
            data = file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read, so it is not known which guards it asks for: {error}.") from error
    guards = _guards_from(path, data)
    _read[path] = (stamp, guards)
    return guards


def _guards_from(path: str, data: bytes) -> ProjectGuards | None:
    # Most files have nothing for us.
    if b"agent_hooks" not in data:
        return None
    from .build import build
    from .remembered import recall, remember

    try:
        text = data.decode()
        tables = recall(path, text)
        if tables is None:
            tables = _checked(path, text)
            remember(path, text, tables)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is not TOML, so it is not known which guards it asks for: {error}.") from error
    return build(tables) if tables else None


def _checked(path: str, text: str) -> dict[str, Any]:
    """Return the tables of the guards, empty if the file has none for them."""
    from tomllib import loads

    found: Any = loads(text)
    for key in ("tool", "agent_hooks", "guards"):
        if not isinstance(found, dict) or key not in found:
            return {}
        found = found[key]
    from .settings import read_settings

    return read_settings(path, found).model_dump()
