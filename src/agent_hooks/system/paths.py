"""Paths as the system resolves them, for any string, even one that no file can have for a name."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


def expanded(path: str) -> str:
    """Return ``path`` with the home folder for a leading ``~``; unchanged if there is no such user."""
    try:
        return os.path.expanduser(path)
    except ValueError:  # no name of a user
        return path


def real_path(path: str) -> str:
    """Return ``path`` with links resolved; normalised as text if no file can have that name."""
    longest = 32_767 if os.name == "nt" else 4096
    shortened = os.path.abspath(path)
    for each in (path, shortened):  # a tool may normalise the path before it opens the file
        if len(each) <= longest:
            try:
                return os.path.realpath(each)
            except ValueError:  # NUL, or half a character
                continue
    return shortened


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders around ``path``, inner ones first."""
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above


def places_of(path: str) -> Iterator[str]:
    """Yield ``path``, the folders around it, and those of each link on the way: whoever can change one of them decides
    about the content of ``path``.
    """
    seen: set[str] = set()
    waiting = [path]
    for place in waiting:  # the loop appends to it
        if place not in seen:
            seen.add(place)
            yield place
            folder = os.path.dirname(place)
            waiting += [os.path.join(folder, os.readlink(place)), folder] if os.path.islink(place) else [folder]


def is_below(path: str, folder: str) -> bool:
    """Whether ``path`` is ``folder`` or in it, both absolute."""
    return path == folder or path.startswith(os.path.join(folder, ""))
