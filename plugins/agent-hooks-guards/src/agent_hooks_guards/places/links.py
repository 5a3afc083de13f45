"""Where the folders of an event are, and where paths lead by symbolic links."""

from __future__ import annotations

import os

from agent_hooks.system import paths
from agent_hooks_guards.model.values import UNKNOWN

from .paths import Simplified, absolute, kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks import HookContext

    from .paths import Place

# What is told by where a path is, and not by the names in it.
_PLACES = frozenset("root system home user temp outside device kernel log".split())
# What is guarded wherever a link to it leads.
_GUARDED = frozenset("root system home device kernel log secret startup accounts agent".split())
# How many files of a folder are looked at for those that a glob names, and how many of these are followed.
_MAX_LISTED = 4096
_MAX_FOUND = 64


# Of these, each process has its own.
_OF_PROCESS = ("/dev/fd/", "/dev/std", "/proc/self/", "/proc/thread-self/")
_MAX_LINKS = 40


def real_path(path: str) -> str:
    """Return what ``paths.real_path`` does; but a stream or a folder of the process that uses ``path`` stays that, as
    this process has others.
    """
    real = paths.real_path(path)
    return real if real == path else _of_process(path) or real


def _of_process(path: str) -> str:
    """Return the stream, or what else each process has of its own, that a path leads to; "" for none."""
    own = f"/proc/{os.getpid()}/"
    for _ in range(_MAX_LINKS):
        if path.startswith(_OF_PROCESS):
            return path
        folder, name = os.path.split(path)
        try:
            folder = os.path.realpath(folder)
            if folder.startswith(own):
                return f"/proc/self/{folder[len(own) :]}/{name}"
            path = os.path.join(folder, os.readlink(os.path.join(folder, name)))
        except (OSError, ValueError):
            break
    return ""


def folders_of(ctx: HookContext, home: str) -> tuple[str, str]:
    """Return the working folder of an event and its workspace, both absolute: a relative one is in this process's."""
    cwd = _absolute(ctx.cwd, home)
    return cwd, _absolute(ctx.project_dir, home) if ctx.project_dir else cwd


def _absolute(folder: str, home: str) -> str:
    return absolute(folder or ".", "" if folder[:1] == "/" else os.getcwd(), home)


def linked_kinds(path: str, place: Place, host: str = "") -> frozenset[str]:
    """Return what ``kinds`` does; but what by its text is outside of the workspace, and by a link in it, is in it;
    what is guarded more than that stays what it is.

    The last name is taken as it is: who deletes a link does not delete what it leads to.
    """
    found = kinds(path, place, host)
    if "outside" not in found or host or not found.isdisjoint(_GUARDED):
        return found
    folder, _, name = path.rpartition("/")
    if name in ("", ".", "..") or path[0] != "/" or place.project[:1] != "/":
        return found
    real, workspace = real_path(folder or "/"), real_path(place.project)
    real = f"{real.rstrip('/')}/{name}"
    is_same = real == path and workspace == place.project
    if is_same or workspace == "/" or not f"{real}/".startswith(f"{workspace}/"):
        return found
    return (found - _PLACES) | kinds(place.project + real[len(workspace) :], place)


def real_paths(path: str, *, is_deleted: bool) -> list[str]:
    """Return where the absolute ``path`` leads by the links that there are now: one path, but for a glob that names
    several links, and for what was simplified, which some programs do, too. None if it is no path of this system.

    A link that ``is_deleted`` is the link itself, unless a slash follows it.
    """
    if isinstance(path, Simplified):
        return [*real_paths(str(path), is_deleted=is_deleted), *real_paths(path.written, is_deleted=is_deleted)]
    folder, _, name = path.rpartition("/")
    is_link = is_deleted and name not in ("", ".", "..")
    try:
        named = _named(folder or "/", name) if is_link else _named(path)
        found = [real_path(each) for each in named]
    except (OSError, ValueError):
        return []
    return [os.path.join(each, name) for each in found] if is_link else found


def _named(path: str, last: str = "") -> list[str]:
    """``path``, and the files that the globs in it name by a link. ``last``: what must be in them, if it is no glob."""
    if not _is_glob(path):
        return [path]
    from fnmatch import fnmatchcase
    from itertools import islice

    found = [""]
    for part in path.rstrip("/").split("/")[1:]:
        if not _is_glob(part):
            found = [f"{each}/{part}" for each in found]
            continue
        entries = []
        for each in found:
            try:
                with os.scandir(each or "/") as listed:
                    entries += [
                        entry
                        for entry in islice(listed, _MAX_LISTED)
                        if fnmatchcase(entry.name, part) and (entry.name[0] != "." or part[0] == ".")
                    ]
            except OSError:  # no folder
                continue
        entries.sort(key=os.DirEntry.is_symlink, reverse=True)
        found = [entry.path for entry in entries[:_MAX_FOUND]]
    last = "" if _is_glob(last) else last
    return [path, *(each for each in found if each != real_path(each) and _may_be(f"{each}/{last}"))]


def _is_glob(text: str) -> bool:
    return "*" in text or "?" in text or "[" in text


def _may_be(path: str) -> bool:
    """Whether a glob may name it, which names no file that is not there."""
    return UNKNOWN in path or os.path.lexists(path.rstrip("/"))
