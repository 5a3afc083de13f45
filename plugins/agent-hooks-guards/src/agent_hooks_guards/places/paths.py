"""Absolute paths by their text: no file is opened."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN

_WINDOWS_HOME = "C:/Users/user"  # for a process whose own home is not on Windows
# A last segment that is a folder, never a link to one.
_FOLDER_SEGMENTS = ("", ".", "..")


class Place:
    """Where a command or a tool runs: its working directory, its user's home, and the workspace, by default ``cwd``.

    All are absolute and without ``..``; "" or ``UNKNOWN`` if not known.
    """

    __slots__ = ("_key", "cwd", "home", "project")

    def __init__(self, cwd: str, home: str, project: str = "") -> None:
        self.cwd = cwd
        self.home = home.rstrip("/")
        self.project = (project or cwd or UNKNOWN).rstrip("/") or "/"
        self._key = hash((self.home, self.project))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Place):
            return NotImplemented
        return (self.cwd, self.home, self.project) == (other.cwd, other.home, other.project)

    def __hash__(self) -> int:
        return self._key


class Simplified(str):
    """A path that was simplified by its text alone.

    ``written``: the original, which leads elsewhere if a segment before ``..`` or before a final slash is a link.
    """

    __slots__ = ("written",)
    written: str


def absolute(path: str, cwd: str, home: str) -> str:
    """Return ``path`` absolute, without ``.``, ``..``, ``~`` and doubled slashes; globs and ``UNKNOWN`` stay.

    ``link/..`` becomes the folder that holds the link, as a ``Simplified``. The result starts with ``UNKNOWN`` if
    ``path`` does, or if it is relative to a folder that is not known. Windows paths get slashes: ``C:/Windows``.
    """
    first = path[:1]
    if path[:11] == "/proc/self/":
        path = _from_process(path, cwd)
    elif first == "~":
        path = _from_home(path, cwd, home)
    elif "\\" in path or path[1:3] in (":/", ":", ":$") or first in ("%", "$"):
        path = _from_windows(path, home)
    if path[:1] not in ("/", UNKNOWN) and not _is_drive(path):
        path = f"{cwd.written if isinstance(cwd, Simplified) else cwd or UNKNOWN}/{path}"
    if "/." not in path and "//" not in path and path[-1:] != "/":
        return path
    segments = path.split("/")
    top = segments[0]
    kept: list[str] = []
    for segment in segments[1:]:
        if segment == "..":
            if kept and kept[-1] != "..":
                kept.pop()
            elif UNKNOWN in top:
                kept.append(segment)
        elif segment not in ("", "."):
            kept.append(segment)
    if not top and (segments[-1] in _FOLDER_SEGMENTS or ".." in segments):
        found = Simplified("/" + "/".join(kept))
        found.written = path
        return found
    return f"{top}/{'/'.join(kept)}" if kept or not top or top[1:2] == ":" else top


def _from_home(path: str, cwd: str, home: str) -> str:
    user, slash, rest = path[1:].replace("\\", "/").partition("/")
    if user == "":
        return (home or UNKNOWN) + slash + rest
    if user == "+":
        return (cwd or UNKNOWN) + slash + rest
    if user == "-":
        return UNKNOWN + slash + rest
    if user == "root":
        return f"/root{slash}{rest}"
    return f"{'/Users' if home.startswith('/Users/') else '/home'}/{user}{slash}{rest}"


def _from_process(path: str, cwd: str) -> str:
    """Resolve the root and the working directory of the process that opens ``path``."""
    name, _, rest = path[11:].partition("/")
    return f"/{rest}" if name == "root" else f"{cwd or UNKNOWN}/{rest}" if name == "cwd" else path


def _is_drive(path: str) -> bool:
    return path[1:3] in (":/", ":") and path[0].isascii() and path[0].isalpha()


def _from_windows(path: str, home: str) -> str:
    """Return ``path`` with slashes if it is a Windows path, else as it is."""
    name = mark = rest = ""
    if path[0] == "%":
        name, mark, rest = path[1:].partition("%")
    elif path[:5].casefold() == "$env:":
        name, mark, rest = path[5:].replace("\\", "/").partition("/")
        mark, rest = "/", mark + rest
    if mark:
        from .place_names import TABLES

        folder = TABLES["windows"].get(name.casefold())
        if folder is not None:
            own = home if home[1:2] == ":" else _WINDOWS_HOME
            found: str = (folder.replace("~", own) + rest).replace("\\", "/")
            return found
    if _is_drive(path[:2]):
        rest = path[2:].replace("\\", "/").lstrip("/")
        return f"{path[0].upper()}:/{rest}"
    # Elsewhere a backslash is an ordinary character; after one of these it is a separator.
    return path.replace("\\", "/") if path.startswith(("\\\\", ".\\", "..\\", "\\")) else path
