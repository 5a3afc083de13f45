"""The host's side of an event: wait for the process of the hooks, give it up when it is late, pass its answer on.

That process is a child of this one (``supervised``) or of the warm process (``warm_client``). The second is the usual
way, so nothing heavy is imported here.
"""

from __future__ import annotations

import os
from time import monotonic

from agent_hooks.system.quick_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from typing import Any, NoReturn

    # Its stdout, its stderr, its exit code.
    Given = tuple[str, str, int]
else:
    import _signal as signal  # `signal` imports enum

# The signals that ask a process to end, by number: from a host, from a terminal that is closed, from a limit on
# computing time.
_NAMES = ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU")
ENDING = {int(getattr(signal, name)): name for name in _NAMES if hasattr(signal, name)}
MAX_NOISE = 64 * 1024
# How often to check whether the child has ended: a process that it started may hold its pipes open.
_LOOK_SECONDS = 0.1
# Seconds for work after the answer: the host waits for it.
AFTER_ANSWER_SECONDS = 10.0
CUT_SHORT = b"agent-hooks: the observers were still at work after the answer, and were ended.\n"
TOO_LATE = "did not answer in time"
LONGER = "Make it faster, or give it and the command of the host a longer timeout"
# How long after its deadline a hook is killed from here, if its own process has not ended it.
_STALLED_SECONDS = 3.0


class NoAnswerError(Exception):
    """Raised when the hooks gave no answer; the message says why."""


class Terminated(BaseException):
    """Raised when the host asks this process to end."""


class Marks:
    """The last report of the hooks' process, in memory that it shares with this one.

    ``descriptor``: of an open file of ``SIZE`` bytes that both have; without one, the memory is that of a later fork.
    """

    SIZE = 1000

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = descriptor
        self._memory: Any = None
        if descriptor is None:
            self.mark("", 0.0)

    def _mapped(self) -> Any:
        if self._memory is None:
            import mmap

            self._memory = memoryview(mmap.mmap(-1 if self._descriptor is None else self._descriptor, self.SIZE))
        return self._memory

    def mark(self, name: str, end: float) -> None:
        """Report the next activity and its deadline, as a ``time.monotonic()``; 0: it has none."""
        memory = self._mapped()
        memory[:8].cast("d")[0] = end
        text = name.replace("\n", " ").encode("utf-8", "replace")
        memory[8:] = text[: self.SIZE - 8].ljust(self.SIZE - 8, b"\0")

    def name(self) -> str:
        """Return the name of the last activity, empty if there is none."""
        return bytes(self._mapped()[8:]).rstrip(b"\0").decode("utf-8", "replace")

    def is_stalled(self) -> bool:
        """Whether the last activity is overdue."""
        end = self._mapped()[:8].cast("d")[0]
        return bool(end) and monotonic() >= end + _STALLED_SECONDS


class Child:
    """The process of the hooks, a child of this one.

    ``token``: what the environment of each process has that it starts.
    """

    def __init__(self, pid: int, token: str) -> None:
        self.pid = pid
        self._token = token
        self._status: int | None = None

    def has_ended(self) -> bool:
        """Whether it has ended, though its pipes may be open."""
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = status if pid else None
        return self._status is not None

    def exit_code(self, sent: bytes = b"") -> int:  # noqa: ARG002 - for a child that is another process's
        """Return its exit code, or minus a signal. One that has closed its pipe ends at once, or is killed."""
        self.kill()
        if self._status is None:
            self._status = os.waitpid(self.pid, 0)[1]
        return os.waitstatus_to_exitcode(self._status)

    def kill(self) -> None:
        """Kill it without waiting."""
        if self._status is None:
            os.kill(self.pid, 9)

    def kill_all(self) -> None:
        """Kill its group, and the commands of hooks, which have groups of their own."""
        from agent_hooks.handlers.escaped import end_all

        try:  # noqa: SIM105 - contextlib imports collections
            os.killpg(self.pid, 9)
        except (ProcessLookupError, PermissionError):  # no process of it is left
            pass
        end_all(self._token)


def supervise(child: Child, answers: int, noises: int, deadline: float, marks: Marks) -> tuple[Given, bytes]:
    """Return the first answer that the process of the hooks sends, and at most some 64 KiB of its output.

    Soon after ``deadline`` (a ``time.monotonic()``) it is killed, with all that it started, and its last activity is
    named if there is no answer. After the answer, it may run for 10 seconds, but not beyond ``deadline``, without an
    effect on the result. Raises ``NoAnswerError``.
    """
    sent, noise = bytearray(), bytearray()
    is_over = False
    try:
        try:
            is_over = _listen(child, {answers: sent, noises: noise}, deadline, marks)
            if not is_over:
                noise += CUT_SHORT
        except BaseException:
            _take_sent(answers, sent)
            if b"\n" not in sent:  # a complete answer stays valid after any later failure
                raise
        if b"\n" not in sent:
            name = marks.name()
            if monotonic() >= deadline or marks.is_stalled():
                raise NoAnswerError(f"{name} {TOO_LATE}. {LONGER}" if name else f"the hooks {TOO_LATE}")
            code = child.exit_code(bytes(sent))
            ending = f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"
            ending = f"the process of the hooks {ending} before it answered"
            raise NoAnswerError(f"{ending}, while {name} was running; repair it" if name else ending)
    finally:
        if not is_over or b"\n" not in sent:
            child.kill_all()
        child.kill()
    stdout, stderr, exit_code = loads(sent.partition(b"\n")[0].decode())
    return (stdout, stderr, exit_code), bytes(noise)


def _take_sent(answers: int, sent: bytearray) -> None:
    """Take what lies in the pipe already: this process may have been asked to end before it came to read it."""
    from select import POLLIN, poll

    polled = poll()
    polled.register(answers, POLLIN)
    while b"\n" not in sent and polled.poll(0) and (data := os.read(answers, 64 * 1024)):
        sent += data


def _listen(child: Child, output: dict[int, bytearray], deadline: float, marks: Marks) -> bool:
    """Collect the two pipes in ``output``, answers and noise, until the child closes the first pipe, ends, or runs out
    of time: at ``deadline``, at that of a hook, or some time after the answer. Return whether it has done its work.
    """
    from select import POLLIN, poll

    answers, noises = output
    polled = poll()
    is_open = dict.fromkeys(output, True)
    for descriptor in output:
        polled.register(descriptor, POLLIN)
    while is_open[answers] and (left := deadline - monotonic()) > 0:
        has_ended = child.has_ended()  # before it is looked for what it has written
        ready = polled.poll(0 if has_ended else 1000 * min(left, _LOOK_SECONDS))
        if not ready and (has_ended or (not output[answers] and marks.is_stalled())):
            break
        for descriptor, _ in ready:
            data = os.read(descriptor, 64 * 1024)
            output[descriptor] += data
            if not data:
                polled.unregister(descriptor)
                is_open[descriptor] = False
            elif descriptor == answers and b"\n" in data:
                deadline = min(deadline, monotonic() + AFTER_ANSWER_SECONDS)
        del output[noises][MAX_NOISE:]
    return not is_open[answers] or child.has_ended()


# -- this process ------------------------------------------------------------------------------------------------------


def mind_signals(*, is_ignored: bool = False) -> None:
    """Raise ``Terminated`` at a signal that asks this process to end, or ignore it, except those that its parent made
    it ignore (``nohup``).
    """
    for number in ENDING:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, signal.SIG_IGN if is_ignored else _terminate)


def _terminate(number: int, _frame: object) -> NoReturn:
    raise Terminated(f"this process was asked to end ({ENDING[number]})")


def pass_on(given: Given, noise: bytes, stdout: int = 1, stderr: int = 2) -> int:
    """Write an answer, and the output of the hooks, to the host; return the exit code."""
    said, why, exit_code = given
    _write(stdout, said.encode("utf-8", "backslashreplace"))
    _write(stderr, why.encode("utf-8", "backslashreplace"))
    if exit_code == 0:  # with 2, stderr goes to the model: only the reason belongs there
        _write(stderr, b"\n" + noise if noise and why else noise)
    return exit_code


def _write(descriptor: int, data: bytes) -> None:
    try:
        while data:
            data = data[os.write(descriptor, data) :]
    except OSError:
        return  # the host has closed the pipe; the exit code still counts
