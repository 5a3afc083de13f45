"""The client of the warm process: it hands its event over, and is as right without an answer.

The warm process (``agent-hooks serve``) only saves imports. If it is missing, stale, slow, broken or another user's,
the command decides by itself: every failure here means exactly that. Nothing heavy is imported: ``socket`` alone takes
half as long as starting Python.
"""

from __future__ import annotations

import os
import sys
from time import time

from agent_hooks.system.sockets import address_of, open_folder, peer_of, receive, send, socket_folder, socket_name
from agent_hooks_core import FOLDER

from .supervisor import Child, Marks, NoAnswerError, mind_signals, supervise

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any

    from .supervisor import Given
else:
    import _signal as signal  # `signal` imports enum

# The kinds of requests.
EVENT, STATUS, STOP = "event", "status", "stop"
VARIABLE = "AGENT_HOOKS_SERVE"
# Seconds until the warm process must have taken an event.
TAKEN_SECONDS = 0.5
# Seconds after which a warm process that did not start, or was killed, is started again.
_RETRY_SECONDS = 300.0
# What the client says once it will wait for the answer, and once it needs the process of the hooks no more.
GO, DONE = b"G", b"D"
# What comes before the exit code of a process of hooks, in place of an answer.
ENDED = b"\0"


def is_isolated() -> bool:
    """Whether Python was started as ``install`` wires it, with ``-I -S``: the warm process is, too."""
    return bool(sys.flags.isolated and sys.flags.no_site)


def facts() -> tuple[object, ...]:
    """Return what a client and the warm process must have in common, besides files and variables."""
    flags = (sys.flags.debug, sys.flags.optimize, sys.flags.bytes_warning, sys.flags.dev_mode)
    options = tuple(sorted((key, value) for key, value in sys._xoptions.items() if key != "utf8"))
    return (sys.hexversion, flags, tuple(sys.warnoptions), options, sys.getfilesystemencoding())


def socket_path(ending: str = "") -> str:
    """Return the path of the socket of this environment, or of a file beside it; empty where there are none."""
    folder = socket_folder()
    return folder and os.path.join(folder, socket_name(FOLDER) + ending)


def hand_over(arguments: list[str], payload: bytes, at: float) -> tuple[Given, bytes] | None:
    """Return what the warm process answers to an event, and the output of its hooks; None if it does not take it.

    ``arguments``: those of ``agent-hooks run``. ``at``: when the command began, as a ``time.monotonic()``. Raises
    ``NoAnswerError`` and ``Terminated`` if no answer came of an event that it took.
    """
    is_taken, opened = False, list[int]()
    connection: Any = None
    try:
        connection = connected() if is_isolated() else None
        if connection is None:
            return None
        noises, noises_in = os.pipe()
        opened += noises, noises_in, _shared_memory(), os.open(".", getattr(os, "O_PATH", 0) | os.O_DIRECTORY)
        send(connection, (EVENT, facts(), at, arguments, {**os.environb}, process_state(), payload), (0, *opened[1:]))
        os.close(opened.pop(1))
        pid, token, deadline = receive(connection)[0]
        mind_signals()
        connection.sendall(GO)  # from here on the hooks may be asked
        is_taken = True
        connection.setblocking(True)
        child = _ServedChild(pid, token, connection)
        return supervise(child, connection.fileno(), noises, deadline, Marks(opened[1]))
    except (OSError, ValueError) as error:
        if is_taken:
            raise NoAnswerError(f"the warm process failed: {error}") from error
        if connection is not None:
            connection.close()
        return None
    finally:
        for descriptor in opened:
            os.close(descriptor)


def process_state() -> tuple[int, list[int], list[int], list[int]]:
    """Return what a process inherits besides: its umask, its processors, the signals that are ignored and blocked."""
    umask = os.umask(0o077)
    os.umask(umask)
    processors = [*os.sched_getaffinity(0)] if hasattr(os, "sched_getaffinity") else []
    ignored = [int(number) for number in signal.valid_signals() if signal.getsignal(number) is signal.SIG_IGN]
    return umask, processors, ignored, [*map(int, signal.pthread_sigmask(signal.SIG_BLOCK, ()))]


def _shared_memory() -> int:
    """Return a file in memory, which another process can have, too."""
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("marks")
    else:
        path = socket_path(f".{os.getpid()}")
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        os.unlink(path)
    os.ftruncate(descriptor, Marks.SIZE)
    return descriptor


class _ServedChild(Child):
    """The process of the hooks, a child of the warm process, which kills it if this process ends before it is done."""

    def __init__(self, pid: int, token: str, connection: Any) -> None:
        super().__init__(pid, token)
        self._connection = connection

    def has_ended(self) -> bool:
        """Whether it has ended: the warm process says so, and closes the connection."""
        return False

    def exit_code(self, sent: bytes = b"") -> int:
        """Return what the warm process says, or 0 if that has ended, too."""
        return int(sent.rpartition(ENDED)[2] or 0)

    def kill(self) -> None:
        """Leave it to the warm process, after its answer or after `kill_all`."""
        try:  # noqa: SIM105 - contextlib imports collections
            self._connection.send(DONE)
        except OSError:  # the warm process has ended, too
            pass
        self._connection.close()


def connected() -> Any:
    """Return a connection to the warm process of this environment, None where there can be none. Raises ``OSError``."""
    path = socket_path()
    if not path:
        return None
    import _socket

    folder, name = os.path.split(path)
    descriptor = open_folder(folder)
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(TAKEN_SECONDS)
        connection.connect(address_of(descriptor, folder, name))
        pid, user = peer_of(connection)
        if user != os.geteuid() or not _is_started_alike(pid):
            raise PermissionError("the socket is another program's")
    except BaseException:
        connection.close()
        raise
    finally:
        os.close(descriptor)
    return connection


def _is_started_alike(pid: int) -> bool:
    """Whether a process runs this interpreter with this script and these libraries, where the system tells. Raises
    ``OSError``.
    """
    if sys.platform != "linux":
        return True
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        words = file.read().split(b"\0")
    with open(f"/proc/{pid}/environ", "rb") as file:
        loaded = sorted(entry for entry in file.read().split(b"\0") if entry.startswith(b"LD_"))
    if loaded != sorted(b"=".join(each) for each in os.environb.items() if each[0].startswith(b"LD_")):
        return False
    is_alike = words[1:3] == [b"-I", b"-S"] and words[4:5] == [b"serve"]
    return (
        is_alike
        and os.path.samefile(f"/proc/{pid}/exe", "/proc/self/exe")
        and os.path.samefile(words[3], serve_command()[3])
    )


def serve_command() -> list[str]:
    """Return the words that start ``agent-hooks serve`` as ``install`` wires events."""
    path = os.path.abspath(sys.argv[0]) if is_isolated() else os.path.join(FOLDER, "agent_hooks_core.py")
    return [sys.executable, "-I", "-S", path, "serve"]


def ask_for(kind: str) -> tuple[str, bool] | None:
    """Return what the warm process says, and whether it serves this process; None if none runs.

    ``kind``: ``STATUS``, or ``STOP``, which asks it to leave.
    """
    try:
        connection = connected()
        if connection is None:
            return None
        connection.settimeout(5.0)
        send(connection, (kind, facts()))
        status, is_alike = receive(connection)[0]
        connection.close()
    except (OSError, ValueError):
        return None
    return status, is_alike


def start_missing() -> None:
    """Start the warm process for the next event, detached; not where that was tried a short time ago."""
    path = socket_path(".tried")
    if sys.platform != "linux" or not (path and is_isolated()) or not _is_wanted(path):
        return
    try:
        os.close(open_folder(os.path.dirname(path), create=True))
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600))
        os.utime(path)
        os.posix_spawn(
            sys.executable,
            [*serve_command(), "--detached"],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)],
            setsid=True,
            setsigmask=(),
            setsigdef=signal.valid_signals(),
        )
    except OSError:  # a full or read-only disk, or too many processes
        return


def _is_wanted(path: str) -> bool:
    if os.environ.get("CI") or os.environ.get(VARIABLE) == "0" or any(name.startswith("LD_") for name in os.environ):
        return False  # with libraries of its own, nobody else's event would be answered
    if os.geteuid() == 0 and os.stat(FOLDER).st_uid != 0:  # of another user, as with `sudo`
        return False
    try:
        return time() - os.stat(path).st_mtime > _RETRY_SECONDS
    except OSError:
        return True
