"""Tools that only read, and only below one folder."""

from __future__ import annotations

import os
import stat
from fnmatch import fnmatchcase
from time import monotonic
from typing import TYPE_CHECKING

from agent_hooks import RunError, Tool
from agent_hooks_guards.rules.patterns import SafePattern

if TYPE_CHECKING:
    from collections.abc import Callable

MAX_FILE_BYTES = 2 * 1024 * 1024
MAX_OUTPUT = 32_000  # characters
MAX_LINES = 2_000
MAX_LINE = 500  # characters
MAX_FOUND = 200
MAX_ENTRIES = 20_000  # of folders that one search looks at
MAX_SEARCHED_LINE = 1_000  # characters
MAX_GLOB = 500  # characters
MAX_SECONDS = 5.0  # for one search
NOT_ALL = "(There is more than this: search for something narrower, or in a folder below.)"
# Nothing of these is a project's own, and they are large.
_LEFT_OUT = frozenset({".git", ".hg", ".svn", ".jj", "node_modules", "__pycache__", ".venv", ".tox", ".nox"})


def read_only_tools(folder: str) -> tuple[Tool, ...]:
    """Return the tools ``Read``, ``Grep`` and ``Glob`` for ``folder`` and what is below it.

    Symbolic links are resolved first, and what they lead to outside of the folder is not read. Only ordinary files are,
    up to 2 MiB; what the tools return is cut to about 32,000 characters, and says so. Raises ``RunError`` if the folder
    is none.
    """
    reading = _Reading(folder)
    return (
        Tool(reading.read, name="Read", in_thread=True),
        Tool(reading.grep, name="Grep", in_thread=True),
        Tool(reading.glob, name="Glob", in_thread=True),
    )


class _Reading:
    def __init__(self, folder: str) -> None:
        self.root = os.path.realpath(folder)
        if not folder or not os.path.isdir(self.root):
            raise RunError(f"There is no folder {folder!r} to read in.")

    # -- the tools -----------------------------------------------------------------------------------------------------

    def read(self, file_path: str, offset: int = 1, limit: int = MAX_LINES) -> str:
        """Read a text file, with the numbers of its lines. `offset` is the first line, counted from 1."""
        lines = self._text(self._inside(file_path)).splitlines()
        first = max(offset, 1) - 1
        end = min(first + max(limit, 0), first + MAX_LINES)
        found = [f"{number}\t{_short(line)}" for number, line in enumerate(lines[first:end], first + 1)]
        rest = len(lines) - min(end, len(lines))
        return _bounded(found, f"({rest} more lines)" if rest else "")

    def grep(self, pattern: str, path: str = ".", glob: str = "*") -> str:
        """Search the files at or below `path` whose name matches `glob` for a regular expression, line by line.

        Files that are no text or larger than 2 MiB are passed over, and so is the rest of a very long line.
        """
        expression, is_named = SafePattern(pattern), _named(glob)
        reach = min(expression.limit, MAX_SEARCHED_LINE)
        files, is_cut = self._files(self._inside(path))
        until = monotonic() + MAX_SECONDS
        found: list[str] = []
        for file in files:
            name = os.path.relpath(file, self.root)
            for number, line in enumerate(self._lines(file) if is_named(name) else (), 1):
                if expression.found_in(line[:reach]):
                    found.append(f"{_shown(name)}:{number}: {_short(line.strip())}")
                if len(found) > MAX_FOUND or monotonic() > until:
                    return _bounded(found[:MAX_FOUND], NOT_ALL)
        return _bounded(found, NOT_ALL if is_cut else "") or "Nothing found."

    def glob(self, pattern: str, path: str = ".") -> str:
        """List the files at or below `path` whose name, or path below it, matches a glob such as `*.py`, `src/*.py`."""
        top, is_named = self._inside(path), _named(pattern)
        files, is_cut = self._files(top)
        found = [_shown(os.path.relpath(file, self.root)) for file in files if is_named(os.path.relpath(file, top))]
        is_cut = is_cut or len(found) > MAX_FOUND
        return _bounded(found[:MAX_FOUND], NOT_ALL if is_cut else "") or "Nothing found."

    # -- files ---------------------------------------------------------------------------------------------------------

    def _inside(self, path: str) -> str:
        """Return the real path. Raises ``RunError`` if it leads out of the folder."""
        try:
            real = os.path.realpath(os.path.join(self.root, path))
        except ValueError as error:  # a null character
            raise RunError(f"{path!r} is no path.") from error
        if real != self.root and not real.startswith(os.path.join(self.root, "")):
            raise RunError(f"{path!r} is outside of {self.root}, and only what is inside can be read.")
        return real

    def _text(self, path: str) -> str:
        """Return the text of an ordinary file. Raises ``RunError`` for anything else."""
        name = os.path.relpath(path, self.root)
        try:
            # The path is real already: a link that is there now was put there meanwhile. A pipe must not block.
            flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
            descriptor = os.open(path, flags)
        except OSError as error:
            raise RunError(f"{name} cannot be read: {error.strerror}.") from error
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise RunError(f"{name} is no ordinary file.")
            with open(descriptor, "rb", closefd=False) as file:
                data = file.read(MAX_FILE_BYTES + 1)
        finally:
            os.close(descriptor)
        if len(data) > MAX_FILE_BYTES:
            raise RunError(f"{name} is larger than {MAX_FILE_BYTES // 1024} KiB.")
        if b"\0" in data:
            raise RunError(f"{name} is no text.")
        return data.decode("utf-8", "replace")

    def _lines(self, path: str) -> list[str]:
        """Return the lines of a file, none if it is not to be read."""
        try:
            return self._text(path).splitlines()
        except RunError:
            return []

    def _files(self, top: str) -> tuple[list[str], bool]:
        """Return the files at or below ``top``, in order, without those that links lead to; and whether there are more
        than can be looked at.
        """
        if not os.path.isdir(top):
            return [top], False
        found: list[str] = []
        seen = 0
        for folder, folders, files in os.walk(top):
            folders[:] = sorted(name for name in folders if name not in _LEFT_OUT)
            seen += len(folders) + len(files)
            if seen > MAX_ENTRIES:
                return found, True
            paths = (os.path.join(folder, name) for name in sorted(files))
            found += [path for path in paths if not os.path.islink(path)]
        return found, False


def _named(glob: str) -> Callable[[str], bool]:
    """Return the test whether a path, or its last part, matches the glob, in which ``*`` also stands for folders.

    Raises ``RunError`` for a glob that would take long.
    """
    if len(glob) > MAX_GLOB:
        raise RunError(f"A glob has at most {MAX_GLOB} characters.")
    plain = glob.replace("**/", "")
    return lambda path: fnmatchcase(path, plain) or fnmatchcase(os.path.basename(path), plain)


def _shown(name: str) -> str:
    """Return a name as it can be written in one line: what cannot be printed, or is no text, is escaped."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in name)


def _short(line: str) -> str:
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}... ({len(line) - MAX_LINE} more characters)"


def _bounded(lines: list[str], more: str = "") -> str:
    """Return the lines as a text of bounded length, which says what is not there."""
    found: list[str] = []
    length = 0
    for number, line in enumerate(lines):
        length += len(line) + 1
        if length > MAX_OUTPUT:
            more = f"({len(lines) - number} more lines)"
            break
        found.append(line)
    return "\n".join([*found, more] if more else found)
