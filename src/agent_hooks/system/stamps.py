"""Stamps: what tells whether files that something was made from have changed since, without reading them.

While ``watching``, whoever looks at a file or a folder that can change an answer notes it here, before looking. The
stamp of a file has its identity, size, owner, mode and both its times: an edit in place changes one of them even if the
size and the time of modification are put back.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from typing import Any

    # By kind of look, what was seen by path; and the names that matter in a folder. Only data that can be marshalled.
    Seen = dict[str, Any]

# A change within so many nanoseconds of another may leave a file with the same times.
_YOUNG_NS = 2_000_000_000
_seen: Seen | None = None
# What was found out about files of the plan that this process uses, None without one.
_facts: set[str] | None = None


def watching(look: Callable[[], Any], telling: Iterable[str]) -> tuple[Any, Seen]:
    """Return the answer of ``look``, and what was noted meanwhile.

    ``telling``: the names, in lower case, that matter in a folder.
    """
    global _seen, _telling  # noqa: PLW0603 - of the process, like the files
    before, _seen = _seen, {"telling": tuple(telling), **{kind: {} for kind in _LOOKS}}
    _telling = frozenset(_seen["telling"])
    try:
        return look(), _seen
    finally:
        _seen = before


def note(kind: str, *paths: str) -> None:
    """Note what ``paths`` are now, if anybody is watching; ``kind`` is one of those that follow.

    ``file``: whatever differs after a change of it, None if it is missing; a folder's differ when entries come and go.
    ``later``: the same of a file that has not been read yet, and changes nothing until it is.
    ``owner``: whose it is and who may write it. ``link``: whether there is anything. ``real``: where it leads to.
    ``names``: which of the telling names a folder has.
    """
    if _seen is not None:
        for path in paths:
            if kind != "later" or path not in _seen["file"]:
                _seen[kind].setdefault(path, _LOOKS[kind](path))


def changed(seen: Seen, *kinds: str) -> Iterator[str]:
    """Yield the paths that are no longer as they were seen; ``kinds``: all but ``later``, unless they are given."""
    global _telling  # noqa: PLW0603
    _telling = frozenset(seen["telling"])
    for kind in kinds or _FIRST:
        look = _LOOKS[kind]
        yield from (path for path, found in seen[kind].items() if look(path) != found)


def hold(facts: Iterable[str] | None) -> None:
    """Take over what processes found out about the files of a plan that holds here too; None: there is no plan."""
    global _facts  # noqa: PLW0603 - of the process, like the files
    _facts = None if facts is None else {*facts}


def facts() -> frozenset[str]:
    """Return what is known of the plan's files, with what this process has added."""
    return frozenset(_facts or ())


def is_known(fact: str) -> bool:
    """Whether ``fact``, which follows from installed files alone, was found to be true since they changed last."""
    return _facts is not None and fact in _facts


def learn(fact: str) -> None:
    """Note that ``fact`` is true, for as long as the plan holds."""
    if _facts is not None:
        _facts.add(fact)


def is_young(seen: Seen, now_ns: int) -> bool:
    """Whether a file has changed so recently, or after ``now_ns``, that another change might not show."""
    stamps = (*seen["file"].values(), *seen["later"].values())
    times = (time for found in stamps if isinstance(found, tuple) for time in found[-2:])
    return any(time > now_ns - _YOUNG_NS for time in times)


def files_below(folder: str, *, but: Sequence[str] = ("__pycache__",)) -> Iterator[str]:
    """Yield a package's folders and files, except ``but``: byte code, which Python checks itself."""
    yield folder
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if entry.name not in but:
                    yield from files_below(entry.path, but=but)
            else:
                yield entry.path


def _file(path: str) -> Any:
    try:
        found = os.stat(path)
    except OSError as error:
        return error.errno if error.errno not in _ABSENT else None
    except ValueError as error:  # no path at all, or none that this process can spell
        return str(error)
    identity = (found.st_dev, found.st_ino, found.st_mode, found.st_uid, found.st_size)
    return (*identity, found.st_mtime_ns, found.st_ctime_ns)


def _owner(path: str) -> Any:
    found = _file(path)
    return found[:4] if isinstance(found, tuple) else found


def _real(path: str) -> str:
    return os.path.realpath(path)  # found at each call: a resident process replaces it for an event


# -- names of files that may bring hooks -------------------------------------------------------------------------------

_telling: frozenset[str] = frozenset()


def _names(folder: str) -> Any:
    try:
        return tuple(sorted(name for name in os.listdir(folder) if name.lower() in _telling))
    except OSError as error:
        return error.errno if error.errno not in _ABSENT else None


_ABSENT = (2, 20)  # no such file, and a file in place of a folder above it
_LOOKS: dict[str, Callable[[str], Any]] = {
    "file": _file,
    "later": _file,
    "owner": _owner,
    "link": os.path.lexists,
    "real": _real,
    "names": _names,
}
_FIRST = tuple(kind for kind in _LOOKS if kind != "later")
