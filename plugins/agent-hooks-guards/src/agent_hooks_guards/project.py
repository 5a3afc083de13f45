"""The guards that settings files ask for: those of every project that an event is in, the user's and the machine's."""

from __future__ import annotations

import os
import stat
from functools import lru_cache

from agent_hooks import SettingsError
from agent_hooks.folders import config_dir, managed_dir
from agent_hooks.paths import real_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeAlias

    from agent_hooks import HookContext

    from .build import ProjectGuards

    # The guards, and what is wrong with the first file that cannot be honoured.
    Found: TypeAlias = tuple[list[ProjectGuards], SettingsError | None]

# The file of a project, of the user and of who manages the machine.
OWN_FILE = "agent-hooks.toml"
# Where the settings are in each of a project's files.
TABLES = {"pyproject.toml": "tool.agent_hooks.guards", OWN_FILE: "guards"}
# How alike two keys are that are taken for one and the same (difflib's ratio): "gaurds" and "guards" are.
_ALIKE = 0.82

# By path: the file's identity, time and size when it was read, and what was in it.
_read: dict[str, tuple[tuple[int, ...], ProjectGuards | None]] = {}
# What was found last, by the dispatch that it was for, until another hook of that one has taken it.
_found: dict[object, Found] = {}


def project_guards(ctx: HookContext) -> Found:
    """Return the guards of every project that ``ctx`` is in, the nearest first, then those of the user and of who
    manages the machine; and what is wrong with the first file that cannot be honoured.

    Looked for in the event's working directory (if it has neither, this process's) and its project directory, as
    written and with symbolic links resolved, and upwards to the file system's root; and in the folders of the user's
    configuration and of the machine's. A file is read again when its time or size changes.
    """
    found: dict[tuple[int, ...], ProjectGuards] = {}
    wrong: SettingsError | None = None
    files = _files(ctx)
    try:
        files[os.path.join(config_dir(), OWN_FILE)] = None
    except SettingsError as error:
        # Where there is no home folder there are no settings in it; a variable that names none was meant to.
        wrong = error if os.environ.get("AGENT_HOOKS_CONFIG_DIR") else None
    files[os.path.join(managed_dir(), OWN_FILE)] = None
    for path in files:
        try:
            status = os.stat(path)
        except (FileNotFoundError, NotADirectoryError, ValueError):  # or no path of this system
            continue
        except OSError as error:
            wrong = wrong or _unreadable(path, error)
            continue
        try:
            guards = _guards_in(path, status)
        except SettingsError as error:
            wrong = wrong or error
        else:
            if guards is not None:  # the same file counts once, by whichever way it was reached
                found.setdefault((status.st_dev, status.st_ino), guards)
    _found.clear()
    _found[_dispatch(ctx)] = result = [*found.values()], wrong
    return result


def project_guards_again(ctx: HookContext) -> Found:
    """Return what ``project_guards`` found for an earlier hook of this very dispatch; where there was none, look."""
    return _found.pop(_dispatch(ctx), None) or project_guards(ctx)


def _dispatch(ctx: HookContext) -> object:
    """What the contexts of one dispatch have in common, and those of two have not."""
    return ctx.event, ctx.created_at, ctx.cwd, ctx.project_dir


def _files(ctx: HookContext) -> dict[str, None]:
    """Where a project's settings may be: in every folder that the event is in, each once."""
    starts = [each for each in (ctx.cwd, ctx.project_dir) if each] or [os.getcwd()]
    files: dict[str, None] = {}
    for start in starts:
        folder = os.path.abspath(start)
        files |= _files_upwards(folder)
        if folder != start or not _is_real(folder):
            files |= _files_upwards(real_path(start))
    return files


@lru_cache(maxsize=64)
def _files_upwards(folder: str) -> dict[str, None]:
    return {os.path.join(each, name): None for each in _upwards(folder) for name in TABLES}


@lru_cache(maxsize=64)
def _upwards(folder: str) -> tuple[str, ...]:
    """The folder and all above it, by their names alone."""
    folders = [folder]
    while (above := os.path.dirname(folder)) != folder:
        folders.append(above)
        folder = above
    return tuple(folders)


def _is_real(folder: str) -> bool:
    """Whether nothing on the way to ``folder`` is a symbolic link, as far as that is quickly told."""
    if os.name == "nt":  # it has other links too
        return False
    try:
        here = os.getcwd()  # which the system names without them
        for each in _upwards(folder):
            if each == here:
                return True
            if stat.S_ISLNK(os.lstat(each).st_mode):
                return False
    except (OSError, ValueError):
        return False
    return True


def _unreadable(path: str, error: Exception | str) -> SettingsError:
    return SettingsError(f"{path} cannot be read, so it is not known which guards it asks for: {error}.")


def _guards_in(path: str, status: os.stat_result) -> ProjectGuards | None:
    stamp = (status.st_dev, status.st_ino, status.st_mtime_ns, status.st_size)
    known = _read.get(path)
    if known is not None and known[0] == stamp:
        return known[1]
    if not stat.S_ISREG(status.st_mode):
        raise _unreadable(path, "it is not an ordinary file")
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise _unreadable(path, error) from error
    guards = _guards_from(path, data)
    _read[path] = (stamp, guards)
    return guards


def _guards_from(path: str, data: bytes) -> ProjectGuards | None:
    # Most files have nothing for us. What is left of UTF-16 and UTF-32 without its NULs is plain; a letter of a key may
    # be written as an escape.
    is_own = os.path.basename(path) == OWN_FILE
    plain = data.replace(b"\0", b"").lower()
    if not is_own and not any(mark in plain for mark in (b"agent", b"\\u", b"\\x")):
        return None
    from tomllib import loads

    try:
        document = loads(data.decode())
    except (ValueError, RecursionError) as error:
        if not is_own and b"agenthook" not in plain.replace(b"_", b"").replace(b"-", b""):
            return None  # somebody else's, and theirs to mend
        raise SettingsError(
            f"{path} is not TOML in UTF-8, so it is not known which guards it asks for: {error}."
        ) from error
    if is_own and "tool" in document:
        raise SettingsError(f"{path}: 'tool' is not a setting here: what [tool.agent_hooks] holds is at the top.")
    at = TABLES[os.path.basename(path)]
    table = _table(path, document, at)
    if table is None:
        return None
    from .build import build
    from .settings import read_settings

    return build(path, read_settings(path, table, at), _rank(path), at)


def _rank(path: str) -> str:
    """Whose file it is."""
    if os.path.basename(path) == OWN_FILE:
        folder = os.path.dirname(path)
        if folder == managed_dir():
            return "managed"
        try:
            if folder == config_dir():
                return "user"
        except SettingsError:  # there is no home folder, and so nothing of the user's
            return "project"
    return "project"


def _table(path: str, document: Any, at: str) -> Any:
    """Return what is at the place ``at``, None if nothing is. Raises ``SettingsError`` for what was meant to be."""
    found, where = document, ""
    for key in at.split("."):
        if not isinstance(found, dict):
            raise SettingsError(f"{path}: {where} must be a table, not {found!r}.")
        where = f"{where}.{key}" if where else key
        for other in () if key == "tool" else found:  # beside that key, everything is somebody else's
            if other != key and _is_alike(other, key):
                raise SettingsError(f"{path}: {other!r} is not a setting: did you mean {where}?")
        if key not in found:
            return None
        found = found[key]
    return found


def _is_alike(key: str, meant: str) -> bool:
    from difflib import SequenceMatcher

    letters, wanted = ("".join(filter(str.isalnum, text.casefold())) for text in (key, meant))
    # The name of this distribution comes to mind as well.
    return letters == "agenthooksguards" or SequenceMatcher(None, letters, wanted).ratio() >= _ALIKE
