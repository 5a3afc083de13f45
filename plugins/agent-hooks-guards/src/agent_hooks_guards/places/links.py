"""The folders of an event, and the targets of symbolic links."""

from __future__ import annotations

import os

from agent_hooks.system import paths
from agent_hooks_guards.model.values import UNKNOWN

from .paths import Simplified, absolute

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks import HookContext

    from .paths import Place

# Kinds that follow from the location of a path, not from its names.
_BY_LOCATION = frozenset("root system home user temp outside device kernel log".split())
# Kinds that a link into the workspace does not loosen.
_GUARDED = frozenset("root system home device kernel log secret startup accounts agent".split())
# Files that a glob matches, and of which links are followed.
_MAX_LISTED = 4096
# Each process has its own of these.
_OF_PROCESS = ("/dev/fd/", "/dev/std", "/proc/self/", "/proc/thread-self/")


def real_path(path: str) -> str:
    """Return ``path`` with symbolic links resolved; streams and folders of "this process" stay, because the process
    that opens ``path`` has others.
    """
    if path.startswith(_OF_PROCESS):
        return path
    real, own = paths.real_path(path), f"/proc/{os.getpid()}/"
    return f"/proc/self/{real[len(own) :]}" if real.startswith(own) else real


def folders_of(ctx: HookContext, home: str) -> tuple[str, str]:
    """Return the working directory and the workspace of an event, absolute; relative ones start at this process's."""
    cwd = _absolute(ctx.cwd, home)
    return cwd, _absolute(ctx.project_dir, home) if ctx.project_dir else cwd


def _absolute(folder: str, home: str) -> str:
    return absolute(folder or ".", "" if folder[:1] == "/" else os.getcwd(), home)


def linked_kinds(path: str, place: Place, host: str = "") -> frozenset[str]:
    """Return ``kinds`` of ``path``, by its target if that lies in the workspace and ``path`` itself does not.

    Guarded kinds stay. The last segment is not resolved: deleting a link does not delete its target.
    """
    from .kinds import kinds

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
    return (found - _BY_LOCATION) | kinds(place.project + real[len(workspace) :], place)


def real_paths(path: str, *, is_deleted: bool) -> list[str]:
    """Return the targets of the absolute ``path`` by the links that exist now.

    That is one path; more for a glob that matches links, and for a ``Simplified`` path, which programs may simplify or
    not; none if it is no path of this system. If ``is_deleted``, a last segment that is a link stays the link.
    """
    if isinstance(path, Simplified):
        return [*real_paths(str(path), is_deleted=is_deleted), *real_paths(path.written, is_deleted=is_deleted)]
    folder, _, name = path.rpartition("/")
    is_link = is_deleted and name not in ("", ".", "..")
    try:
        found = _matches(folder or "/", name) if is_link else _matches(path)
        found = [real_path(each) for each in found]
    except (OSError, ValueError):
        return []
    return [os.path.join(each, name) for each in found] if is_link else found


def _matches(path: str, last: str = "") -> list[str]:
    """Return ``path``, and the files that its globs match through a link; with ``last``, those that hold that name."""
    known, unknown, _ = path.partition(UNKNOWN)
    known = os.path.dirname(known) if unknown else known.rstrip("/")
    if frozenset("*?[").isdisjoint(known):
        return [path]
    from glob import iglob
    from itertools import islice

    from .place_names import is_wild

    rest = path[len(known) :]
    is_any = not last or bool(unknown) or is_wild(last)
    return [
        path,
        *(
            each + rest
            for each in islice(iglob(known), _MAX_LISTED)
            if each != real_path(each) and (is_any or os.path.lexists(f"{each}/{last}"))
        ),
    ]
