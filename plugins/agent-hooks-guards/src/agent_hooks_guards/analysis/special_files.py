"""Paths that are no files: connections that bash opens, and files that are open already."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN

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
