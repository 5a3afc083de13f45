"""The distributions that count as installed, in the command ``agent-hooks`` above all, and elsewhere.

A host starts that command in a project. There, metadata in the working directory or on ``PYTHONPATH`` would make any
file of the project an installed plugin, which may allow.
"""

from __future__ import annotations

import os
import sys

from .paths import is_below
from .visible import logger_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

_sites: frozenset[str] | None = None
_projects: tuple[str, ...] = ()
_left_out: tuple[str, ...] = ()


def restrict(projects: Iterable[str]) -> None:
    """From now on, count only distributions in the site folders of this interpreter's environment as installed, and
    import nothing else from ``projects``, the real paths of their roots. For this process.
    """
    global _sites, _projects, _left_out  # noqa: PLW0603 - of the process, like its path
    _projects = tuple(projects)
    _sites = _site_folders()
    named = os.environ.get("PYTHONPATH", os.devnull).split(os.pathsep)
    given = {*map(os.path.realpath, named)}
    kept: list[str] = []
    left_out: list[str] = []
    for entry in sys.path:
        path = os.path.realpath(entry)
        is_given = path in given and _is_below_project(path) and not _is_environments(path)
        is_foreign = not os.path.isabs(entry) or (is_given and not _is_named_by_a_site(path))
        (left_out if is_foreign else kept).append(entry)
    sys.path[:] = kept
    _left_out = tuple(left_out)


def _site_folders() -> frozenset[str]:
    import site

    folders = site.getsitepackages()
    if site.ENABLE_USER_SITE and not os.environ.get("PYTHONUSERBASE"):
        folders.append(site.getusersitepackages())
    prefix, real = os.path.realpath(sys.prefix), map(os.path.realpath, folders)
    ours = os.path.realpath(os.path.join(os.path.dirname(__file__), os.pardir, os.pardir))  # where our package lies
    return frozenset((ours, *(each for each in real if is_below(each, prefix) or not _is_below_project(each))))


def stray_folder(file: str, levels: int) -> str:
    """Return the folder of the import path in which a module was found, if it is no part of the environment, such as
    the working directory; else an empty string. ``levels``: how far its ``file`` is below that folder.
    """
    folder = os.path.realpath(file)
    for _ in range(levels):
        folder = os.path.dirname(folder)
    if not file or folder not in map(os.path.realpath, sys.path):  # another finder's
        return ""
    is_own = folder in (_sites or _site_folders()) or is_below(folder, os.path.dirname(os.path.realpath(os.__file__)))
    return "" if is_own or _is_named_by_a_site(folder) else folder


def _is_named_by_a_site(path: str) -> bool:
    """Whether a ``.pth`` file of the environment puts a folder on the path, as for an editable install."""
    from glob import escape, iglob

    for file in (each for folder in _sites or _site_folders() for each in iglob(os.path.join(escape(folder), "*.pth"))):
        try:
            with open(file, encoding="utf-8") as lines:
                if any(os.path.realpath(line.strip()) == path for line in lines if line.strip()):
                    return True
        except (OSError, ValueError):
            continue
    return False


def search_path() -> list[str]:
    """Return the folders to search for distributions, those outside the import path included, to report them."""
    return [*sys.path, *_left_out]


def path_stamps() -> tuple[object, ...]:
    """Return what changes when a distribution is installed or removed: the path, and when its folders changed."""
    # Once it is restricted, the working directory has no say in what counts as installed.
    found: list[object] = [_sites, _working_directory() if _sites is None else None]
    for folder in search_path():
        try:
            status = os.stat(folder or os.curdir)
        except OSError:
            found.append(folder)
        else:
            found.append((folder, status.st_dev, status.st_ino, status.st_mtime_ns))
    return tuple(found)


def is_installed(given: str) -> bool:
    """Whether a folder with the metadata of a distribution is a site folder; in a program of others, whose path may
    have more, whether it is elsewhere than below the working directory, which may be a project, or a relative entry.
    """
    folder, here = os.path.realpath(given), _working_directory()
    is_foreign = not os.path.isabs(given) or (here != os.path.dirname(here) and is_below(folder, here))
    if _sites is not None:
        return folder in _sites
    if not is_foreign or folder in _site_folders() or _is_named_by_a_site(folder):
        return True
    logger_of().warning("agent_hooks: the metadata in %s do not count as installed: it is no site folder.", folder)
    return False


def _working_directory() -> str:
    try:
        return os.path.realpath(os.getcwd())
    except OSError:  # it is gone
        return ""


def lies_in_project(*files: str | None) -> bool:
    """Whether one of these files of a plugin is a project's own, as in an editable install."""
    if _sites is None:
        return False
    real = [os.path.realpath(file) for file in files if file]
    return any(_is_below_project(file) and not _is_environments(file) for file in real)


def _is_environments(path: str) -> bool:
    return any(is_below(path, folder) for folder in (*(_sites or ()), os.path.realpath(sys.base_prefix)))


def _is_below_project(path: str) -> bool:
    return any(is_below(path, project) for project in _projects)
