"""Settings that were found right once, so that the next process need not check them again.

Checking takes pydantic and a TOML parser, ten times as long as all the rest, and a coding agent starts a process for
every event.
"""

from __future__ import annotations

import os

from agent_hooks.store import state_dir

from . import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def recall(path: str, data: str) -> dict[str, Any] | None:
    """Return the tables that were found in the settings file ``path`` when it was exactly ``data``; None if unknown."""
    from json import load

    try:
        with open(_place(path), encoding="utf-8") as file:
            kept = load(file)
        tables = kept["tables"] if kept["about"] == _about(path, data) else None
    except (OSError, ValueError, LookupError, TypeError):  # not there, or not ours: the settings are checked, as ever
        return None
    return tables if isinstance(tables, dict) else None


def remember(path: str, data: str, tables: dict[str, Any]) -> None:
    """Keep the tables for other processes. Where nothing can be written they check for themselves."""
    from json import dumps

    place = _place(path)
    draft = f"{place}.{os.getpid()}"
    try:
        os.makedirs(state_dir(), mode=0o700, exist_ok=True)
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with open(file, "w", encoding="utf-8") as draft_file:
            draft_file.write(dumps({"about": _about(path, data), "tables": tables}))
        os.replace(draft, place)
    except OSError:
        return


def _about(path: str, data: str) -> list[str]:
    # Another version may see it otherwise.
    return [path, data, __version__]


def _place(path: str) -> str:
    from zlib import crc32

    return os.path.join(state_dir(), "guards", f"{crc32(path.encode(errors='surrogateescape')):08x}.json")
