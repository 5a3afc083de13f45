"""The search for a project's files: in all of its folders, or on the way to some paths."""

from __future__ import annotations

import os
import stat

from agent_hooks.system.paths import is_below, real_path

from .project_files import CLAUDE, HOOKCONF, NAMES, PYPROJECT, TOML, is_users_claude, kind_of, relative_to

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Note = Callable[[str, str, str, str], None]  # a finding: its kind, path, message and remedy

MAX_FOLDERS = 100_000

# Folders without files of the project itself: version control, installed packages, caches.
LEFT_OUT = frozenset(
    {".git", ".hg", ".svn", ".jj", "node_modules", "site-packages", "__pycache__", "__pypackages__", ".tox", ".nox"}
    | {".eggs", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis"}
)
# A folder with one of these is an environment, or a project of its own.
_NOT_OURS = ("pyvenv.cfg", "conda-meta", ".git")

# Names of our files by their spelling in lower case.
_SPELLINGS = {name.rpartition("/")[2].lower(): name for name in (TOML, *CLAUDE, HOOKCONF)}


class Search:
    """One search through the project at ``root``. ``known``: the paths of earlier manifests."""

    def __init__(self, root: str, known: Iterable[str], note: Note) -> None:
        self._root = root
        self._known_folders = {folder for path in known if kind_of(path) for folder in _folders_of(path)}
        self._note = note
        self._names: dict[str, frozenset[str]] = {}

    def everywhere(self) -> list[str]:
        """Return the relative paths of all files of ours in the tree."""
        found: list[str] = []
        waiting = [self._root]
        for searched, folder in enumerate(waiting):  # the loop appends to it, so outer folders come first
            if searched == MAX_FOLDERS:
                message = f"It has more than {MAX_FOLDERS} folders; hooks in the innermost are not found."
                self._note(
                    "unreadable", self._root, message, "Work in the project itself, not in a folder of projects."
                )
                break
            inside, ours, names = self._listed(folder)
            if self._is_own(relative_to(self._root, folder), names.__contains__):
                waiting += inside
                found += self._ours_among(folder, ours)
        return found

    def _listed(self, folder: str) -> tuple[list[str], list[str], set[str]]:
        """Return the folders in ``folder`` to search, the names that may be ours, and all names."""
        try:
            with os.scandir(folder) as listing:
                entries = list(listing)
        except OSError as error:
            message = f"The folder cannot be searched for hooks: {error.strerror or error}."
            self._note("unreadable", folder, message, "Make it readable, or ignore this if there are none.")
            # A folder that cannot be listed may still be entered.
            there = [name for name in (*NAMES, *_NOT_OURS) if os.path.lexists(os.path.join(folder, name))]
            return [], there, set(there)
        inside: list[str] = []
        ours: list[str] = []
        for entry in entries:
            name = entry.name
            if entry.is_dir(follow_symlinks=False):
                if name not in LEFT_OUT:
                    inside.append(entry.path)
            elif name.lower() in _SPELLINGS or name.endswith((".md", PYPROJECT)):
                ours.append(name)
            elif name == ".claude":  # a link, whose target is not searched
                ours += [each for each in CLAUDE if os.path.lexists(os.path.join(folder, each))]
        return inside, ours, {entry.name for entry in entries}

    def _is_own(self, folder: str, has: Callable[[str], bool]) -> bool:
        """Whether a relative folder belongs to the project itself. ``has``: tests for a name in the folder."""
        name = folder.rpartition("/")[2]
        if name in LEFT_OUT:
            return False
        # Claude Code reads the settings of a folder even inside an environment.
        return not folder or name == ".claude" or folder in self._known_folders or not any(map(has, _NOT_OURS))

    def is_users(self, path: str) -> bool:
        """Whether a relative path is in the user's own folder of Claude Code."""
        above, claude, _ = f"/{path}".partition("/.claude/")
        return bool(claude) and is_users_claude(os.path.join(self._root, above[1:], ".claude"))

    def _ours_among(self, folder: str, names: list[str]) -> Iterator[str]:
        for name in names:
            path = os.path.join(folder, name)
            relative = relative_to(self._root, path)
            if kind_of(relative):
                yield relative
            elif name != (meant := _SPELLINGS.get(name.lower(), name)) and kind_of(self._spelt(relative, meant)):
                self._misspelt(path, meant)

    @staticmethod
    def _spelt(path: str, name: str) -> str:
        """Return ``path`` in the spelling of ``name``, an empty string if the names differ otherwise."""
        depth = name.count("/") + 1
        is_alike = path.lower().split("/")[-depth:] == name.split("/")
        return "/".join((*path.split("/")[:-depth], name)) if is_alike else ""

    def _misspelt(self, path: str, name: str) -> None:
        message = f"It is not read, because its name is not written {name}."
        self._note("misspelt", path, message, f"Rename it to {name}, or to something else.")

    def on_the_way(self, paths: Iterable[str]) -> list[str]:
        """Return the relative paths of files of ours in the folders on the way to ``paths``."""
        folders: dict[str, bool] = {"": True}
        found: dict[str, None] = {}
        for path in paths:
            given = os.path.join(self._root, path)
            for each in {os.path.normpath(given), real_path(given)}:
                if not is_below(each, self._root) or each == self._root:
                    continue
                folder = ""
                for part in relative_to(self._root, each).split("/"):
                    folder = f"{folder}/{part}" if folder else part
                    if folder not in folders:
                        folders[folder] = self._is_own_folder(folder)
                    if not folders[folder]:
                        if kind_of(folder):
                            found[folder] = None
                        break
        for folder in (folder for folder, is_ours in folders.items() if is_ours):
            for name in NAMES:
                found[f"{folder}/{name}" if folder else name] = None
        return [path for path in found if self._is_there(path)]

    def _is_own_folder(self, folder: str) -> bool:
        """Whether a relative path is an existing folder of the project itself."""
        path = os.path.join(self._root, folder)
        try:
            is_folder = stat.S_ISDIR(os.lstat(path).st_mode)
        except (OSError, ValueError):  # not a valid path on this system
            return False
        return is_folder and self._is_own(folder, lambda name: os.path.lexists(os.path.join(path, name)))

    def _is_there(self, path: str) -> bool:
        """Whether a file exists under exactly this name; some file systems ignore case."""
        absolute = os.path.join(self._root, path)
        try:
            if stat.S_ISDIR(os.lstat(absolute).st_mode):
                return False
        except OSError:
            return False
        folder = self._root
        for part in path.split("/"):
            if folder not in self._names:
                try:
                    self._names[folder] = frozenset(os.listdir(folder))
                except OSError:  # it can be entered, but not listed
                    self._names[folder] = frozenset({part})
            is_listed = part in self._names[folder]
            folder = os.path.join(folder, part)
            if not is_listed:
                if folder == absolute:
                    self._misspelt(absolute, part)
                return False
        return True


def _folders_of(path: str) -> Iterator[str]:
    """Yield the folders around a path with slashes, inner ones first."""
    while path := path.rpartition("/")[0]:
        yield path
