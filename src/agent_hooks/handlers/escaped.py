"""Processes that have left the group of the command that started them: found by a mark in their environment."""

from __future__ import annotations

import os
import signal
import sys
from time import monotonic, sleep

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


# After SIGTERM, and after the command's end for what is still in its pipes.
GRACE_SECONDS = 0.3


# How long to look for what has got away, and to wait for what was killed. Both are over at once but for a fork bomb, or
# a process that hangs in the kernel.
SWEEP_SECONDS = 2.0


# Every process that a command starts inherits it: `RUN` and a word for each command that it descends from.
RUN = "AGENT_HOOKS_RUN"


def end_all(word: str, since: int = 0, began: float = 0.0) -> set[int]:
    """Kill every process that has ``word`` in what ``RUN`` was when it began, and return which; on Linux, else nothing.

    ``since``: look only at processes that began after this one did, at ``began`` (a ``time.monotonic()``).
    """
    killed: set[int] = set()
    if sys.platform != "linux":
        return killed
    mark = word.encode()
    until = monotonic() + SWEEP_SECONDS
    after, unclear = since, 0
    while monotonic() < until:
        last = _last_begun()
        is_sure = after != since or monotonic() - began < 10
        states = {pid: _is_marked(pid, mark) for pid in _begun_between(after, last, is_sure=is_sure)}
        found = {pid for pid, is_marked in states.items() if is_marked}
        killed |= found
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        # A process that is about to become another program has no environment for a moment.
        unclear = unclear + 1 if None in states.values() else 0
        if found or 0 < unclear <= 5:
            after = since
            sleep(0.002)
        elif _last_begun() == last:
            break
        else:  # what has begun meanwhile may have been begun by one that had ended when it was looked at
            after = last
    return killed


def reap_orphans(pid: int) -> None:
    """Reap killed orphans if they fall to this process, as PID 1 of a container. ``pid`` is waitpid's."""
    until = monotonic() + GRACE_SECONDS
    try:
        while monotonic() < until:
            if not os.waitpid(pid, os.WNOHANG)[0]:
                sleep(0.001)
    except ChildProcessError:
        return


def _last_begun() -> int:
    """Return the number of the process or thread that was begun last, 0 if it is not known."""
    try:
        with open("/proc/loadavg", "rb") as file:
            return int(file.read().split()[-1])
    except (OSError, ValueError):
        return 0


def _begun_between(first: int, last: int, *, is_sure: bool) -> Iterable[int]:
    """Return the ids begun after ``first``, all if uncertain. ``is_sure``: no number was reused since."""
    if first and is_sure and 0 <= last - first <= 1000:
        return range(first + 1, last + 1)
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]
    except OSError:
        return ()


def _is_marked(pid: int, mark: bytes) -> bool | None:
    """Whether the process has the mark in its environment; None if it has no environment and yet may get one."""
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
