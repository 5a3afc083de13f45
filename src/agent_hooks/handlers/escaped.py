"""Processes that have left the group of the command that started them: found by a mark in their environment."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from time import monotonic, sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# After SIGTERM, and after the command's end for the rest of its output.
GRACE_SECONDS = 0.3
# The limit for finding escaped processes, and for waiting for killed ones. Only a fork bomb, or a process that hangs in
# the kernel, takes longer than a moment.
SWEEP_SECONDS = 2.0
# A variable that every process of a command inherits: one token for each command that it descends from.
RUN = "AGENT_HOOKS_RUN"


def end_all(token: str, since: int = 0) -> set[int]:
    """Kill every process with ``token`` in ``RUN``, on Linux, and return their ids. ``since``: only those above it."""
    killed: set[int] = set()
    if sys.platform != "linux":
        return killed
    mark = token.encode()
    until = monotonic() + SWEEP_SECONDS
    after, unclear = since, 0
    while monotonic() < until:
        newest = _newest_id()
        states = {pid: _is_marked(pid, mark) for pid in _ids_between(after, newest)}
        found = [pid for pid, is_marked in states.items() if is_marked]
        killed.update(found)
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        # A process has no environment for a moment while it executes another program.
        unclear = unclear + 1 if None in states.values() else 0
        if found or 0 < unclear <= 5:
            after = since
            sleep(0.002)
        elif _newest_id() == newest:
            break
        else:  # a process that had ended before it was examined may have started new ones
            after = newest
    return killed


def reap_orphans(pid: int) -> None:
    """Reap killed orphans that this process inherits, as PID 1 of a container does. ``pid`` is waitpid's."""
    until = monotonic() + GRACE_SECONDS
    with suppress(ChildProcessError):
        while monotonic() < until:
            if not os.waitpid(pid, os.WNOHANG)[0]:
                sleep(0.001)


def _newest_id() -> int:
    """Return the id of the newest process or thread, 0 if it is not known."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[-1])
    except (OSError, ValueError):
        return 0


def _ids_between(first: int, last: int) -> Iterable[int]:
    """Return the ids after ``first``, all ids if these are not few: ids start anew at some number."""
    if first and 0 <= last - first <= 1000:
        return range(first + 1, last + 1)
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return []


def _is_marked(pid: int, mark: bytes) -> bool | None:
    """Whether the process has the mark in its environment; None if it has no environment yet."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            environment = file.read()
        if environment:
            return any(mark in entry for entry in environment.split(b"\0") if entry.startswith(RUN.encode() + b"="))
        with open(f"/proc/{pid}/stat", "rb") as file:
            state = file.read().rpartition(b")")[2].split()[0]
        return None if state not in b"ZX" and os.stat(f"/proc/{pid}/exe") else False
    except OSError:  # it has ended, or is another user's, or the kernel's
        return False
