"""The search for a project's files: in all of its folders, or on the way to some paths."""

from __future__ import annotations

import os

from agent_hooks.system.paths import folders_above, is_below, real_path

from .project_files import CLAUDE, NAMES, PYPROJECT, SKILL, is_users_claude, kind_of, relative_to

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

_SPELLINGS = frozenset(name.rpartition("/")[2].lower() for name in NAMES)


class Search:
    """One search through the project at ``root``. ``known``: the paths of earlier manifests."""

    def __init__(self, root: str, known: Iterable[str], note: Note) -> None:
        self._root = root
        self._known_folders = {folder for path in known if kind_of(path) for folder in folders_above(path)}
        self._note = note

    def everywhere(self) -> list[str]:
        """Return the relative paths of all files of ours in the tree."""
        found: list[str] = []
        waiting = [self._root]
        for number, folder in enumerate(waiting):  # the loop appends to it, so outer folders come first
            if number == MAX_FOLDERS:
                message = f"It has more than {MAX_FOLDERS} folders; hooks in the innermost are not found."
                self._note(
                    "unreadable", self._root, message, "Work in the project itself, not in a folder of projects."
                )
                break
            if searched := self._search(folder):
                waiting += searched[0]
                found += searched[1]
        return found

    def _search(self, folder: str) -> tuple[list[str], list[str]] | None:
        """Return the folders in ``folder`` to search and the relative paths of files of ours; None for a folder that is
        not the project's own.
        """
        inside: list[str] = []
        ours: list[str] = []
        try:
            with os.scandir(folder) as entries:
                names = set()
                for entry in entries:
                    names.add(entry.name)
                    if entry.is_dir(follow_symlinks=False):
                        inside += [entry.path] if entry.name not in LEFT_OUT else []
                    elif entry.name.lower() in _SPELLINGS or entry.name.endswith(".md"):
                        ours.append(entry.name)
                    elif entry.name == ".claude":  # a link, whose target is not searched
                        ours += [each for each in CLAUDE if os.path.lexists(os.path.join(folder, each))]
        except OSError as error:
            message = f"The folder cannot be searched for hooks: {error.strerror or error}."
            self._note("unreadable", folder, message, "Make it readable, or ignore this if there are none.")
            # A folder that cannot be listed may still be entered.
            ours = [name for name in (*NAMES, *_NOT_OURS) if os.path.lexists(os.path.join(folder, name))]
            names = set(ours)
        relative = relative_to(self._root, folder)
        name = relative.rpartition("/")[2]
        # Claude Code reads the settings of a folder even inside an environment.
        is_own = not relative or name == ".claude" or relative in self._known_folders or names.isdisjoint(_NOT_OURS)
        return (inside, list(self._ours_among(folder, ours))) if is_own and name not in LEFT_OUT else None

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
                continue
            meant = next((each for each in NAMES if f"/{relative.lower()}".endswith(f"/{each.lower()}")), PYPROJECT)
            if meant not in (PYPROJECT, SKILL):
                message = f"It is not read, because its name is not written {meant}."
                self._note("misspelt", path, message, f"Rename it to {meant}, or to something else.")

    def on_the_way(self, paths: Iterable[str]) -> list[str]:
        """Return the relative paths of files of ours in the folders on the way to ``paths``."""
        found: dict[str, list[str] | None] = {}
        for path in ("", *paths):
            given = os.path.join(self._root, path)
            for each in {os.path.normpath(given), real_path(given)}:
                if not is_below(each, self._root):
                    continue
                folder = ""
                for name in (
                    "",
                    *relative_to(self._root, each).split("/"),
                ):  # the first that is no folder ends it, however long the path
                    folder = f"{folder}/{name}" if folder else name
                    if folder not in found:
                        found[folder] = self._files_in(folder)
                    if found[folder] is None:  # no folder, which ends even a very long path
                        break
                    if (claude := os.path.join(folder, ".claude")) not in found:
                        found[claude] = self._files_in(claude)
        return list(dict.fromkeys(path for files in found.values() for path in files or ()))

    def _files_in(self, folder: str) -> list[str] | None:
        """Return the relative paths of files of ours in a folder of the project itself, None for any other path."""
        path = os.path.join(self._root, folder)
        searched = self._search(path) if os.path.isdir(path) and not os.path.islink(path) else None
        return searched and searched[1]
