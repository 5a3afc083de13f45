"""Paths that are no files: connections that bash opens, and files that are open already."""

from __future__ import annotations

from agent_hooks_guards.model.values import NETWORK, UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .frames import Frame

_MAX_DIGITS = 9


def is_socket(path: str) -> bool:
    """Whether bash opens a connection for it."""
    return path.startswith(("/dev/tcp/", "/dev/udp/"))


def url_of_socket(path: str) -> str:
    """Return where the connection goes."""
    _, _, protocol, host, *port = path.split("/")
    return f"{protocol}://{host}:{'/'.join(port)}"


def is_terminal(path: str) -> bool:
    """Whether somebody may type what is read from it."""
    return path.startswith(("/dev/tty", "/dev/pts/")) or descriptor_of(path) == 0


def descriptor_of(path: str) -> int | None:
    """Return the number of the open file that a path stands for; None for a file."""
    folder, _, number = path.rpartition("/")
    if number.isdecimal() and len(number) < _MAX_DIGITS:
        if folder in ("/dev/fd", "/proc/self/fd"):
            return int(number)
        # A shell's own, where its number is not known.
        if folder.startswith("/proc/") and folder.endswith("/fd") and UNKNOWN in folder:
            return int(number)
    return {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2}.get(path)


def descriptor_data(path: str, frame: Frame) -> Data | None:
    """Return the content of an open file descriptor; None if ``path`` is none."""
    number = descriptor_of(path)
    known = frame.state.descriptors.get(number) if number is not None else None
    if isinstance(known, str):
        return Data(UNKNOWN, frozenset((NETWORK,))) if is_socket(known) else frame.state.file(known)
    if known is None and number == 0:
        return frame.stdin
    return known
