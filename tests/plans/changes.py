"""A table of changes: each with what was there before, and what the answer to the event contains after it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import World

    # Makes the change, and returns words of the answer after it; an empty string for an event that goes on in silence.
    Change = Callable[[World], str]
    Prepare = Callable[[World], object]

# By name: what prepares the world, and the change.
CHANGES: dict[str, tuple[Prepare | None, Change]] = {}


def change(prepare: Prepare | None = None) -> Callable[[Change], Change]:
    """Add a change to the table."""

    def add(made: Change) -> Change:
        assert made.__name__ not in CHANGES
        CHANGES[made.__name__] = (prepare, made)
        return made

    return add


def edit(path: Path, old: str, new: str) -> None:
    """Replace a text in place, so that only the time of the change of its status tells: same file, size and times."""
    before, text = path.stat(), path.read_text()
    assert len(old) == len(new)
    assert old in text
    with path.open("r+") as file:
        file.write(text.replace(old, new))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert path.stat().st_mtime_ns == before.st_mtime_ns


def put(path: Path, text: str, mode: int = 0o644) -> Path:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def saying(reason: str) -> str:
    """Return the source of a plugin that denies every shell command."""
    return f'@hookimpl(match="shell")\ndef before_tool_use(tool_call):\n    return HookOutcome.deny("{reason}")\n'
