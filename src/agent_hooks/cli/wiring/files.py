"""The files that are edited: read, replaced and removed so that nothing else about them changes."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

from agent_hooks.errors import SettingsError
from agent_hooks.system.folders import read_regular, write_whole

# More than any settings file needs.
_MAX_BYTES = 4 * 1024 * 1024


def read(path: str) -> bytes | None:
    """Return the content of a file, None if there is none. Raises ``SettingsError`` for what is no readable file."""
    try:
        return read_regular(path, _MAX_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror or error}. Make it a file of yours.") from error


def replace(path: str, data: bytes) -> None:
    """Replace a file atomically, where a symbolic link leads to, with its mode and its owner; its folders are made.

    Raises ``SettingsError`` for a file that is not this user's to write.
    """
    real = os.path.realpath(path)
    made: list[str] = []
    try:
        status = os.stat(real) if os.path.lexists(real) else None
        if status is not None:
            _check_own(path, real, status)
        for folder in missing_folders(os.path.dirname(real)):
            os.mkdir(folder)
            made.append(folder)
        write_whole(real, data, stat.S_IMODE(status.st_mode) if status is not None else 0o600)
        if status is not None and os.name != "nt" and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            os.chown(real, status.st_uid, status.st_gid)
    except OSError as error:
        remove_folders(made)
        raise SettingsError(f"{path} cannot be written: {error.strerror or error}. It was left as it is.") from error


def remove(path: str) -> None:
    """Remove a file that we made. Raises ``SettingsError``."""
    try:
        with suppress(FileNotFoundError):
            os.unlink(os.path.realpath(path))
    except OSError as error:
        raise SettingsError(f"{path} cannot be removed: {error.strerror or error}. Remove it yourself.") from error


def remove_folders(folders: list[str]) -> None:
    """Remove the folders that we made, as far as they are empty."""
    for folder in reversed(folders):
        with suppress(OSError):  # it is in use, or gone
            os.rmdir(folder)


def _check_own(path: str, real: str, status: os.stat_result) -> None:
    if not stat.S_ISREG(status.st_mode):
        raise SettingsError(f"{path} is no file. Move it away.")
    if os.name != "nt" and os.geteuid() not in (0, status.st_uid):
        raise SettingsError(f"{path} belongs to somebody else (user {status.st_uid}): its owner has to do this.")
    if not os.access(real, os.W_OK):
        remedy = "If a program writes it, as some managers of dotfiles do, add the entries there; --dry-run shows them."
        raise SettingsError(f"{path} is read-only. {remedy}")


def missing_folders(folder: str) -> list[str]:
    """Return the folders on the way to ``folder`` that do not exist, outer ones first."""
    missing: list[str] = []
    while not os.path.isdir(folder):
        missing.insert(0, folder)
        folder = os.path.dirname(folder)
    return missing
