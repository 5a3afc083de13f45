"""The socket of the warm process: where it is, who is at its other end, and the messages that pass through it.

Every event of a coding agent imports this module, so it imports nothing heavy: the client uses ``_socket``, because the
module ``socket`` takes half as long as starting Python.
"""

from __future__ import annotations

import marshal
import os
import stat
import sys

from .account import account_folder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_STATE = ("Library", "Application Support") if sys.platform == "darwin" else (".local", "state")
_FOLDER = (*_STATE, "agent-hooks", "serve")
# The longest path of a socket, with a little room: 104 bytes on macOS, 108 on Linux.
_MAX_ADDRESS = 100
_LENGTH = 8  # bytes of the length of a message
_MAX_MESSAGE = 128 * 1024 * 1024
_MAX_DESCRIPTORS = 4
# Variables that the interpreter, which is isolated, and its libraries read only when they start: the warm process
# started with its own, so an event with other values is decided elsewhere.
_AT_START = ("LD_", "DYLD_", "MALLOC_", "GLIBC_", "OPENSSL_")
_AT_START_NAMES = frozenset(
    "LANG LANGUAGE LC_ALL LC_COLLATE LC_CTYPE LC_MESSAGES LC_MONETARY LC_NUMERIC LC_TIME TZ".split()
)
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
        try:  # noqa: SIM105 - contextlib imports collections
            os.mkdir(folder, 0o700)
        except FileExistsError:  # or another process has just made it
            pass
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    status = os.fstat(descriptor)
    if status.st_uid != os.geteuid() or os.getuid() != os.geteuid() or stat.S_IMODE(status.st_mode) & 0o077:
        os.close(descriptor)
        raise PermissionError(f"{folder} must belong to this account, with the mode 0700")
    return descriptor


def socket_name(packages: str) -> str:
    """Return the name of the socket for the installation in the folder ``packages`` and this environment.

    An environment is its own real folder and that of its interpreter, however they are spelled or called.
    """
    folder = os.path.dirname(sys.executable)
    environment = f"{os.path.realpath(folder)}\0{os.path.realpath(os.path.dirname(folder))}"
    number = 0xCBF29CE484222325  # FNV-1a: nothing depends on collisions, and hashlib takes 2 ms to import
    for byte in os.fsencode(f"{os.path.realpath(packages)}\0{environment}\0{sys.hexversion}"):
        number = (number ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{number:016x}"


def address_of(descriptor: int, folder: str, name: str) -> str:
    """Return the address of a socket in an open folder. Raises ``OSError`` if its path is too long."""
    path = os.path.join(folder, name)
    if len(os.fsencode(path)) <= _MAX_ADDRESS:
        return path
    if sys.platform != "linux":
        raise OSError(f"The path of the socket is too long for this system: {path}")
    return f"/proc/self/fd/{descriptor}/{name}"


def counts_at_start(name: str) -> bool:
    """Whether a variable of the environment counts only when a process starts."""
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


# -- messages ----------------------------------------------------------------------------------------------------------


def send(connection: Any, message: Any, descriptors: tuple[int, ...] = ()) -> None:
    """Send plain data, and open files with it. Raises ``OSError``."""
    import _socket

    data = marshal.dumps(message)
    data = len(data).to_bytes(_LENGTH, "big") + data
    passed = b"".join(descriptor.to_bytes(4, sys.byteorder) for descriptor in descriptors)
    sent = connection.sendmsg([data], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, passed)] if passed else [])
    if sent < len(data):
        connection.sendall(memoryview(data)[sent:])


def receive(connection: Any) -> tuple[Any, list[int]]:
    """Return a message, and the open files that came with it. Raises ``OSError``; ``ValueError`` for a part of one.

    Both ends are the same version of Python, as the name of the socket says.
    """
    import _socket

    data, passed, _, _ = connection.recvmsg(64 * 1024, _socket.CMSG_SPACE(4 * _MAX_DESCRIPTORS))
    numbers = passed[0][2] if passed else b""
    descriptors = [int.from_bytes(numbers[at : at + 4], sys.byteorder) for at in range(0, len(numbers), 4)]
    size = _LENGTH + int.from_bytes(data[:_LENGTH], "big")
    parts, length = [data], len(data)
    while data and length < size <= _MAX_MESSAGE:
        data = connection.recv(min(1024 * 1024, size - length))
        parts.append(data)
        length += len(data)
    if length != size:
        raise ValueError("there is no whole message")
    return marshal.loads(b"".join(parts)[_LENGTH:]), descriptors  # noqa: S302 - of a process of this user
