"""Whether any of some hundred files has changed, asked at each event: files are held open, not found by their paths.

A look at an open file takes a third of the time. That its path still leads to it follows from the folder around it,
whose time changes when an entry comes, goes or is replaced. The outermost folders, links, and files that cannot be
opened are looked at by their paths.
"""

from __future__ import annotations

import os
from os import fstat, stat
from time import time_ns

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Stamp = tuple[int, int, int]

MISSING = (0, 0, 0)
# A folder that changed this recently may change again without another time.
_YOUNG_NS = 2_000_000_000
# Files are held open only where a process may have many times their number of descriptors.
_PER_FILE = 3
_FLAGS = getattr(os, "O_PATH", os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))


def stamp_of(path: str | int) -> Stamp:
    """Return the stamp that every change of a file changes. Its ctime, unlike its mtime, cannot
    be set.
    """
    try:
        status = stat(path)
    except OSError:
        return MISSING
    return (status.st_ino, status.st_size, status.st_ctime_ns)


def first_changed(stamps: Mapping[str, Stamp]) -> str:
    """Return the first path whose stamp is another now, an empty string for none."""
    for path, stamp in stamps.items():  # at every event, so nothing is called but the system
        try:
            status = stat(path)
        except OSError:
            if stamp != MISSING:
                return path
            continue
        if (status.st_ino, status.st_size, status.st_ctime_ns) != stamp:
            return path
    return ""


class HeldFiles:
    """Files with the ``stamps`` that they had, and the folders around them; ``folders``: more, with their stamps."""

    def __init__(self, stamps: Mapping[str, Stamp], folders: Mapping[str, Stamp]) -> None:
        self._by_path: dict[str, Stamp] = {}
        self._open: dict[int, Stamp] = {}
        if not _has_room(len(stamps)):
            return
        # Folders first: whatever is replaced in one from now on changes its stamp.
        around = {folder: stamp_of(folder) for folder in {os.path.dirname(path) for path in stamps}} | {**folders}
        settled_ns = time_ns() - _YOUNG_NS
        if any(changed_ns > settled_ns for *_, changed_ns in around.values()):
            return
        for path, stamp in (around | {**stamps}).items():
            is_told_of = os.path.dirname(path) in around  # by the folder that it is in
            descriptor = _opened(path) if is_told_of else -1
            if descriptor >= 0 and stamp_of(descriptor) == stamp:
                self._open[descriptor] = stamp
                continue
            if descriptor >= 0:
                os.close(descriptor)
            if not is_told_of or stamp_of(path) != MISSING or stamp != MISSING:
                self._by_path[path] = stamp

    def are_same(self) -> bool:
        """Whether nothing has changed, as far as that can be told."""
        for descriptor, stamp in self._open.items():
            status = fstat(descriptor)
            if (status.st_ino, status.st_size, status.st_ctime_ns) != stamp:
                return False
        return bool(self._open) and not first_changed(self._by_path)

    def close(self) -> None:
        """Close the files."""
        for descriptor in self._open:
            os.close(descriptor)
        self._open.clear()


def _has_room(number: int) -> bool:
    """Whether this process may have many more descriptors than so many."""
    try:
        from resource import RLIMIT_NOFILE, getrlimit
    except ImportError:  # Windows
        return False
    limit = getrlimit(RLIMIT_NOFILE)[0]
    return limit < 0 or limit >= _PER_FILE * number


def _opened(path: str) -> int:
    try:
        return os.open(path, _FLAGS | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return -1
