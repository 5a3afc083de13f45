"""Paths of no files: the sockets of bash, and open descriptors."""

from __future__ import annotations

from agent_hooks_guards.model.values import NETWORK, UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .frames import Frame

_MAX_DIGITS = 9
FROM_NETWORK = Data(UNKNOWN, frozenset((NETWORK,)))


def is_socket(path: str) -> bool:
    """Whether bash opens a connection for this path."""
    return path.startswith(("/dev/tcp/", "/dev/udp/"))


def url_of_socket(path: str) -> str:
    """Return the address of a socket's path as a URL."""
    _, _, protocol, host, *port = path.split("/")
    return f"{protocol}://{host}:{'/'.join(port)}"


def is_terminal(path: str) -> bool:
    """Whether a person may type the input from this path."""
    return path.startswith(("/dev/tty", "/dev/pts/")) or descriptor_of(path) == 0


def descriptor_of(path: str) -> int | None:
    """Return the number of the descriptor that ``path`` names; None for a file."""
    folder, _, number = path.rpartition("/")
    if number.isdecimal() and len(number) < _MAX_DIGITS:
        if folder in ("/dev/fd", "/proc/self/fd"):
            return int(number)
        # /proc/$$/fd, where $$ is unknown
        if folder.startswith("/proc/") and folder.endswith("/fd") and UNKNOWN in folder:
            return int(number)
    return {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}.get(path)


def descriptor_data(path: str, frame: Frame) -> Data | None:
    """Return the content of the open descriptor that ``path`` names; None for a file."""
    number = descriptor_of(path)
    known = frame.state.descriptors.get(number) if number is not None else None
    if isinstance(known, str):
        return FROM_NETWORK if is_socket(known) else frame.state.file(known)
    if known is None and number == 0:
        return frame.stdin
    return known
