"""Where the folders of an event are, and what a path is where a symbolic link leads into the workspace."""

from __future__ import annotations

import os

from agent_hooks.paths import real_path

from .places import absolute, kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks import HookContext

    from .places import Place

# What is told by where a path is, and not by the names in it.
_PLACES = frozenset("root system home user temp outside device kernel log".split())
# What is guarded wherever a link to it leads.
_GUARDED = frozenset("root system home device kernel log secret startup accounts agent".split())


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
