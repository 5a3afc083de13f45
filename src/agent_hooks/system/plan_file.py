"""The files of compiled plans: what a decision was made from, kept so that the next one need not look for it again.

They lie in the cache of the process's account, wherever the environment points: a project must not be able to name
another folder. Only data are in them, in Python's own ``marshal`` format, whose reader needs no import.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CACHE = ("Library", "Caches") if sys.platform == "darwin" else (".cache",)
# How many plans are kept: one for each folder, host and environment.
_KEPT = 64
_MAX_BYTES = 16 * 1024 * 1024


def plans_dir() -> str:
    """Return the folder of the plans, an empty string where there are none: without accounts, as on Windows."""
    return account_folder(*_CACHE, "agent-hooks", "plans")


def account_folder(*names: str) -> str:
    """Return a folder below the home of the account, wherever the environment points; empty if it has none."""
    try:
        from pwd import getpwuid

        home = getpwuid(os.geteuid()).pw_dir
    except (ImportError, KeyError):  # Windows; an account without an entry
        return ""
    return os.path.join(home, *names) if os.path.isabs(home) else ""


def read_plan(key: tuple[Any, ...]) -> dict[str, Any] | None:
    """Return the plan of ``key``, None if there is none that only this user can have written."""
    path = _path_of(key)
    if not path or not _is_ours(os.path.dirname(path)):
        return None
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if status.st_mode != 0o100600 or status.st_uid != os.geteuid() or status.st_size > _MAX_BYTES:
            return None
        data = b""
        while part := os.read(descriptor, status.st_size + 1):
            data += part
        kept, plan = marshal.loads(data)  # noqa: S302 - of a file that only this user can have written
    except (OSError, ValueError, TypeError, EOFError):
        return None
    finally:
        os.close(descriptor)
    return plan if kept == key and isinstance(plan, dict) else None


def write_plan(key: tuple[Any, ...], plan: dict[str, Any]) -> bool:
    """Keep ``plan`` for ``key`` and return whether that was possible. Old plans are removed."""
    path = _path_of(key)
    if not path:
        return False
    folder = os.path.dirname(path)
    temporary = f"{path}.{os.getpid()}"
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        if not _is_ours(folder):
            return False
        _remove_old(folder)
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        try:
            with open(descriptor, "wb") as file:
                file.write(marshal.dumps((key, plan)))
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
    except (OSError, ValueError):  # a full or read-only disk, or a value that is no plain data
        return False
    return True


def _path_of(key: tuple[Any, ...]) -> str:
    folder = plans_dir()
    # A name is no more than a place to look; the file repeats the key.
    name = int.from_bytes(marshal.dumps(key, 2), "big") % (2**127 - 1)
    return os.path.join(folder, f"{name:032x}") if folder else ""


def _is_ours(folder: str) -> bool:
    """Whether nobody else could have put a file into ``folder``."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    return status.st_mode & 0o170077 == 0o040000 and status.st_uid == os.geteuid()


def _remove_old(folder: str) -> None:
    with os.scandir(folder) as entries:
        files = sorted((entry.stat(follow_symlinks=False).st_mtime_ns, entry.path) for entry in entries)
    for _, path in files[: max(0, len(files) - _KEPT + 1)]:
        try:
            os.unlink(path)
        except OSError:  # it is gone, or no file
            continue
