"""The socket of the resident process: where it is, who is at its other end, and the frames that pass through it.

Every event of a coding agent imports this module, so it imports nothing heavy: the client uses ``_socket``, because the
module ``socket`` takes half as long as starting Python.
"""

from __future__ import annotations

import os
import stat
import sys

from .plan_file import account_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STATE = ("Library", "Application Support") if sys.platform == "darwin" else (".local", "state")
_FOLDER = (*_STATE, "agent-hooks", "serve")
# The longest path of a socket, with a little room: 104 bytes on macOS, 108 on Linux.
_MAX_ADDRESS = 100
_MAGIC = b"AHS1"
LENGTH = 8  # bytes of a length
_MAX_FRAME = 128 * 1024 * 1024
# Variables that the interpreter, its libraries or modules read only when they start: the resident process started with
# its own, so an event with other values is decided elsewhere.
_AT_START = ("PYTHON", "LC_", "LANG", "LD_", "DYLD_", "PYDANTIC_", "MALLOC_", "GLIBC_", "OPENSSL_", "SSL_")
_AT_START_NAMES = frozenset(("TZ", "VIRTUAL_ENV", "__PYVENV_LAUNCHER__"))
_PEER_CREDENTIALS_OF_MACOS = 1  # LOCAL_PEERCRED at the level SOL_LOCAL, which is 0
_SIZE_OF_XUCRED = 76


def socket_folder() -> str:
    """Return the folder of the sockets, an empty string where there are none.

    It is below the home folder of the account, whatever the environment says: a variable could name a folder that
    others, or an agent, can write to.
    """
    return account_folder(*_FOLDER) if hasattr(os, "fork") else ""


def open_folder(folder: str, *, create: bool = False) -> int:
    """Return a descriptor of ``folder``. Raises ``OSError`` if it is not the account's own alone, or a link."""
    if create:
        os.makedirs(os.path.dirname(folder), mode=0o700, exist_ok=True)
        if not os.path.lexists(folder):
            os.mkdir(folder, 0o700)
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid() or os.getuid() != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        os.close(descriptor)
        raise PermissionError(f"{folder} must belong to this account, with the mode 0700")
    return descriptor


def socket_name(packages: str) -> str:
    """Return the name of the socket for the installation in the folder ``packages`` and this environment."""
    number = 0xCBF29CE484222325  # FNV-1a: nothing depends on collisions, and hashlib takes 2 ms to import
    for byte in os.fsencode(f"{packages}\0{sys.executable}\0{sys.hexversion}"):
        number = (number ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{number:016x}"


def has_socket(packages: str) -> bool:
    """Whether there is a socket for this installation; nobody may be behind it any more."""
    folder = socket_folder()
    return folder != "" and os.path.lexists(os.path.join(folder, socket_name(packages)))


def address_of(descriptor: int, folder: str, name: str) -> str:
    """Return the address of a socket in an open folder. Raises ``OSError`` if its path is too long."""
    path = os.path.join(folder, name)
    if len(os.fsencode(path)) <= _MAX_ADDRESS:
        return path
    if sys.platform != "linux":
        raise OSError(f"The path of the socket is too long for this system: {path}")
    return f"/proc/self/fd/{descriptor}/{name}"


def identity(packages: str, version: str) -> bytes:
    """Return what a client and the resident process must have in common: version, folder, interpreter, encoding."""
    status = os.stat(os.path.join(packages, "agent_hooks"))
    stamps = (status.st_dev, status.st_ino)
    # Not the prefix: without `site`, it is that of the interpreter outside of the environment.
    python = (sys.executable, sys.hexversion, sys.getfilesystemencoding(), sys.flags.optimize, sys.flags.isolated)
    facts = (version, packages, python, stamps)
    return repr(facts).encode("utf-8", "backslashreplace")


def variables_at_start(environment: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the variables of ``environment`` that count only when a process starts."""
    return {name: value for name, value in environment.items() if _counts_at_start(os.fsdecode(name))}


def _counts_at_start(name: str) -> bool:
    return name.startswith(_AT_START) or name in _AT_START_NAMES


def peer_of(connection: Any) -> tuple[int, int]:
    """Return the process id, 0 if unknown, and the user id at the other end. Raises ``OSError``."""
    import _socket

    peer_credentials = getattr(_socket, "SO_PEERCRED", None)
    if peer_credentials is not None:  # Linux
        found = connection.getsockopt(_socket.SOL_SOCKET, peer_credentials, 12)
        return int.from_bytes(found[:4], sys.byteorder), int.from_bytes(found[4:8], sys.byteorder)
    found = connection.getsockopt(0, _PEER_CREDENTIALS_OF_MACOS, _SIZE_OF_XUCRED)
    if len(found) < 8:
        raise OSError("The system does not say who is at the other end of the socket.")
    return 0, int.from_bytes(found[4:8], sys.byteorder)


# -- frames ------------------------------------------------------------------------------------------------------------


class BrokenFrameError(Exception):
    """Raised for bytes that are no frame, or only a part of one."""


def pack(*fields: bytes) -> bytes:
    """Return a frame of ``fields``."""
    body = b"".join(part for field in fields for part in (len(field).to_bytes(LENGTH, "big"), field))
    return b"".join((_MAGIC, len(body).to_bytes(LENGTH, "big"), body))


def size_of(data: bytes | bytearray) -> int:
    """Return the size of the frame that ``data`` begins, 0 while that is not known. Raises ``BrokenFrameError``."""
    if data[: len(_MAGIC)] != _MAGIC[: len(data)]:
        raise BrokenFrameError("the other side sent something else than an answer")
    head = len(_MAGIC) + LENGTH
    if len(data) < head:
        return 0
    size = head + int.from_bytes(data[len(_MAGIC) : head], "big")
    if size > _MAX_FRAME:
        raise BrokenFrameError("the frame is too long")
    return size


def unpack(frame: bytes | bytearray) -> list[bytes]:
    """Return the fields of a whole frame. Raises ``BrokenFrameError``."""
    fields: list[bytes] = []
    at = len(_MAGIC) + LENGTH
    while at < len(frame):
        start = at + LENGTH
        at = start + int.from_bytes(frame[at:start], "big")
        if at > len(frame):
            raise BrokenFrameError("a field of the frame is cut short")
        fields.append(bytes(frame[start:at]))
    return fields
