"""The client of the resident process (``agent-hooks serve``): it asks there first, and is as right without an answer.

The resident process is an opt-in that only saves time. If it is missing, stale, slow, broken or another user's, the
caller decides by itself: every failure here means exactly that. Nothing heavy is imported: ``socket`` alone takes half
as long as starting Python.
"""

from __future__ import annotations

import os
import sys
from time import monotonic

from agent_hooks.system.sockets import (
    LENGTH,
    BrokenFrameError,
    address_of,
    has_socket,
    identity,
    open_folder,
    pack,
    peer_of,
    size_of,
    socket_folder,
    socket_name,
    unpack,
)
from agent_hooks_core import FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

# The kinds of requests, and of answers.
EVENT, STATUS, STOP = b"event", b"status", b"stop"
ANSWERED, DECLINED, NO_ANSWER = b"answered", b"declined", b"no answer"
# Sent as soon as the resident process has read a request; the microseconds within which it answers follow.
TAKEN = b"T"
# Seconds until the resident process must have taken a request.
TAKEN_SECONDS = 0.05
# A larger payload is decided where it is.
_MAX_PAYLOAD = 8 * 1024 * 1024
VERSION = sys.modules["agent_hooks"].__version__


class Call:
    """A request that the resident process has taken."""

    def __init__(self, connection: Any, seconds: float) -> None:
        self._connection = connection
        self._deadline = monotonic() + seconds
        self._received = bytearray()

    def answer(self, seconds: float = float("inf")) -> list[bytes] | None:
        """Return the fields of the answer, its kind first, None if there is none.

        Raises ``TimeoutError`` if there is none within ``seconds``, but may be one later.
        """
        until = monotonic() + seconds
        try:
            while not self._is_whole():
                left = min(until, self._deadline) - monotonic()
                if left <= 0 and until < self._deadline:
                    raise TimeoutError
                self._connection.settimeout(max(left, 0.001))
                try:
                    part = self._connection.recv(64 * 1024)
                except TimeoutError:
                    if until < self._deadline:
                        raise
                    part = b""
                if not part:
                    raise BrokenFrameError("there is no whole answer in time")
                self._received += part
            fields = unpack(self._received)
        except TimeoutError:
            raise
        except (OSError, BrokenFrameError):
            fields = []
        self._connection.close()
        return fields if _is_right(fields) else None

    def _is_whole(self) -> bool:
        size = size_of(self._received)
        if size and len(self._received) > size:
            raise BrokenFrameError("there is more than an answer")
        return bool(size) and len(self._received) == size


def call(arguments: Sequence[str], options: dict[str, str], name: object, parts: Sequence[bytes], begun: float) -> Any:
    """Ask the resident process about an event, and return the ``Call``; None if it does not take it.

    ``arguments``: those of ``agent-hooks run``, and ``options`` these by name. ``name``: that of the event. ``parts``:
    the payload. ``begun``: when the command began, as a ``time.monotonic()``.
    """
    payload = b"".join(parts)
    if len(payload) > _MAX_PAYLOAD or not isinstance(name, str) or options.get("--event", name) != name:
        return None
    umask = os.umask(0o077)
    os.umask(umask)
    variables = b"\0".join(b"%s=%s" % pair for pair in os.environb.items())
    texts = (part.encode("utf-8", "surrogatepass") for part in (name, "\0".join(arguments)))
    try:
        since = b"%d" % ((monotonic() - begun) * 1_000_000)
        facts = (identity(FOLDER, VERSION), os.getcwdb(), variables, b"%d" % umask, *texts, payload)
        left = float(options.get("--timeout", "inf")) - (monotonic() - begun)
        return _called(pack(EVENT, since, *facts), most=left - min(2.0, left / 4))  # the rest is for deciding here
    except (OSError, BrokenFrameError, ValueError):
        return None


def ask_for(kind: bytes) -> list[bytes] | None:
    """Return the answer of the resident process to a request of ``kind``, None if there is none."""
    try:
        taken = _called(pack(kind, identity(FOLDER, VERSION)), 1.0)
        return taken.answer() if taken is not None else None
    except (OSError, BrokenFrameError):
        return None


def _called(request: bytes, seconds: float = 0.0, most: float = float("inf")) -> Call | None:
    """Return a call with this request, answered within ``most`` seconds whatever the resident process says, None
    without one. Raises ``OSError``, ``BrokenFrameError``.
    """
    connection = _connection(seconds or TAKEN_SECONDS)
    if connection is None:
        return None
    try:
        connection.sendall(request)
        reply = b""
        while len(reply) < len(TAKEN) + LENGTH:
            part = connection.recv(len(TAKEN) + LENGTH - len(reply))
            if not part or not (reply + part).startswith(TAKEN):
                raise BrokenFrameError("the request was not taken")
            reply += part
        return Call(connection, min(most, int.from_bytes(reply[len(TAKEN) :], "big") / 1_000_000))
    except BaseException:
        connection.close()
        raise


def _connection(seconds: float) -> Any:
    """Return a connection to the resident process of this account, None if there is none. Raises ``OSError``."""
    if not has_socket(FOLDER):
        return None
    import _socket

    folder, name = socket_folder(), socket_name(FOLDER)
    descriptor = open_folder(folder)
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(seconds)
        connection.connect(address_of(descriptor, folder, name))
        if peer_of(connection)[1] != os.geteuid():
            raise PermissionError("the socket is another user's")
    except BaseException:
        connection.close()
        raise
    finally:
        os.close(descriptor)
    return connection


def _is_right(fields: list[bytes]) -> bool:
    """Whether these are the fields of an answer that counts."""
    kind, *rest = fields or [b""]
    if kind == ANSWERED:
        return len(rest) == 3 and rest[2] in (b"0", b"2")
    return kind in (NO_ANSWER, STATUS, STOP) and len(rest) == 1
