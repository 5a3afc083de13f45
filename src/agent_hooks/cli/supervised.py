"""Run hooks in isolation, so that the host gets an answer in every case.

The hooks run in a child process without the host's stdout and stderr. A hook may print, even from C or from a process
of its own, may end its process, crash it, or hang in code that no Python thread can interrupt: the parent still has the
host's streams, a clock and its signals, and answers exactly once.
"""

from __future__ import annotations

import mmap
import os
import sys
from time import monotonic

from agent_hooks.system.quick_json import dumps, loads
from agent_hooks.wire.answer import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from typing import NoReturn

    Send = Callable[[Answer], None]
    Work = Callable[[Send, "Marks"], None]
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
# The variable in every process that a command of a hook starts, `handlers.escaped.RUN`.
RUN = "AGENT_HOOKS_RUN"
CUT_SHORT = b"agent-hooks: the observers were still at work after the answer, and were ended.\n"
TOO_LATE = "did not answer in time"
LONGER = "Make it faster, or give it and the command of the host a longer timeout"
# How long after its deadline a hook is killed from here, if its own process has not ended it.
_STALLED_SECONDS = 3.0


class NoAnswerError(Exception):
    """Raised when the hooks gave no answer; the message says why."""


class Marks:
    """The last report of the hooks' process, in memory that it shares with this one."""

    _LENGTH = 1000

    def __init__(self) -> None:
        shared = memoryview(mmap.mmap(-1, 8 + self._LENGTH))
        self._end = shared[:8].cast("d")
        self._name = shared[8:]
        self.mark("", float("inf"))

    def mark(self, name: str, end: float) -> None:
        """Report the next activity and its deadline, as a ``time.monotonic()``."""
        text = name.replace("\n", " ").encode("utf-8", "replace")
        self._end[0] = end
        self._name[:] = text[: self._LENGTH].ljust(self._LENGTH, b"\0")

    def name(self) -> str:
        """Return the name of the last activity, empty if there is none."""
        return bytes(self._name).rstrip(b"\0").decode("utf-8", "replace")

    def is_stalled(self) -> bool:
        """Whether the last activity is overdue."""
        return monotonic() >= self._end[0] + _STALLED_SECONDS


def supervised(work: Work, deadline: float, *, keep_from: tuple[int, ...] = ()) -> tuple[Answer, bytes]:
    """Run ``work`` and return the first answer that it sends, and at most some 64 KiB of its output.

    ``work`` is called with a function that sends the answer, and with the marks by which it reports its next activity.
    Soon after the deadline of that ``work`` is ended, and the activity is named if there is no answer. After the
    answer, ``work`` may run for 10 seconds, but not beyond ``deadline`` (a ``time.monotonic()``), without an effect on
    the result. ``keep_from``: descriptors that the hooks must not have. Raises ``NoAnswerError`` without an answer by
    then. If this process is killed, the hooks are killed too. Without ``fork`` (Windows) the hooks run in a thread:
    their output is dropped, and no answer is possible after a hook that ends or blocks the whole process.
    """
    if not hasattr(os, "fork"):
        return _in_thread(work, deadline), b""
    answers, answers_in = os.pipe()
    noises, noises_in = os.pipe()
    marks = Marks()
    token = os.urandom(8).hex()
    os.environ[RUN] = ":".join(filter(None, (os.environ.get(RUN), token)))
    child = _Child(os.fork(), token)
    if child.pid == 0:
        os.setpgid(0, 0)
        _be_the_child(work, answers_in, noises_in, marks, keep_from)
    sent, noise = bytearray(), bytearray()
    is_over, guard = False, None
    try:
        os.close(answers_in)
        os.close(noises_in)
        guard = _start_guard(child, keep_from)
        try:
            is_over = _listen(child, {answers: sent, noises: noise}, deadline, marks)
            if not is_over:
                noise += CUT_SHORT
        except BaseException:
            if b"\n" not in sent:  # a complete answer stays valid after any later failure
                raise
        if b"\n" not in sent:
            name = marks.name()
            if monotonic() >= deadline or marks.is_stalled():
                raise NoAnswerError(f"{name} {TOO_LATE}. {LONGER}" if name else f"the hooks {TOO_LATE}")
            ending = f"the process of the hooks {child.ending()} before it answered"
            raise NoAnswerError(f"{ending}, while {name} was running; repair it" if name else ending)
    finally:
        if not is_over or b"\n" not in sent:
            child.kill_all()
        child.kill()
        if guard is not None:
            os.kill(guard[0], 9)
            os.close(guard[1])
        os.close(answers)  # this process may go on, and have its next hooks inherit them
        os.close(noises)
    stdout, stderr, exit_code, record = loads(sent.partition(b"\n")[0].decode())
    return Answer(stdout=stdout, stderr=stderr, exit_code=exit_code, record=record), bytes(noise)


def _start_guard(child: _Child, keep_from: tuple[int, ...]) -> tuple[int, int]:
    """Start a process that kills the hooks and their children once this process is gone; return its id, and the
    descriptor whose end it waits for.
    """
    alive, alive_here = os.pipe()  # never written to; it closes when this process ends
    guard = os.fork()
    if guard:
        os.close(alive)
        return guard, alive_here
    try:
        os.setpgid(0, 0)  # a host may kill its whole process group
        for descriptor in (0, alive_here, *keep_from):
            os.close(descriptor)
        os.read(alive, 1)
        child.kill_all()
    finally:
        os._exit(0)


class _Child:
    """The child process, and how it ended once it has."""

    def __init__(self, pid: int, token: str) -> None:
        self.pid = pid
        self._token = token
        self._status: int | None = None

    def has_ended(self) -> bool:
        if self._status is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            self._status = status if pid else None
        return self._status is not None

    def ending(self) -> str:
        """Return how the child ended. One that has closed its pipe ends at once, or is killed."""
        self.kill()
        if self._status is None:
            self._status = os.waitpid(self.pid, 0)[1]
        code = os.waitstatus_to_exitcode(self._status)
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def kill(self) -> None:
        """Kill the child without waiting."""
        if self._status is None:
            os.kill(self.pid, 9)

    def kill_all(self) -> None:
        """Kill the group of the child, and the commands of hooks, which have groups of their own."""
        from agent_hooks.handlers.escaped import end_all

        try:  # noqa: SIM105 - contextlib imports collections
            os.killpg(self.pid, 9)
        except (ProcessLookupError, PermissionError):  # no process of it is left
            pass
        end_all(self._token)


def _listen(child: _Child, output: dict[int, bytearray], deadline: float, marks: Marks) -> bool:
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
        ready = polled.poll(1000 * min(left, _LOOK_SECONDS))
        if not ready and (child.has_ended() or (not output[answers] and marks.is_stalled())):
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


def _be_the_child(work: Work, answers: int, noises: int, marks: Marks, keep_from: tuple[int, ...]) -> NoReturn:
    try:
        for number in ENDING:
            signal.signal(number, signal.SIG_DFL)
        for descriptor in keep_from:
            os.close(descriptor)
        os.dup2(noises, 1)
        os.dup2(noises, 2)
        os.close(noises)

        def send(answer: Answer) -> None:
            _flush()
            rest = (dumps([answer.stdout, answer.stderr, answer.exit_code, answer.record]) + "\n").encode()
            while rest:
                rest = rest[os.write(answers, rest) :]

        work(send, marks)
        _finish()
        os.close(answers)  # while the system takes this process apart, the host has its answer
    finally:
        os._exit(0)


def _finish() -> None:
    """Run the exit functions that ``os._exit`` leaves out: a hook's exporter may count on them."""
    import atexit

    atexit._run_exitfuncs()
    _flush()


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None and not stream.closed:
            stream.flush()


def _in_thread(work: Work, deadline: float) -> Answer:
    from queue import Empty, SimpleQueue
    from threading import Thread

    answers: SimpleQueue[Answer | None] = SimpleQueue()

    def run_work() -> None:
        try:
            work(answers.put, Marks())
            _finish()
        finally:
            answers.put(None)

    thread = Thread(target=run_work, daemon=True, name="agent_hooks run")
    thread.start()
    try:
        answer = answers.get(timeout=max(0.0, deadline - monotonic()))
    except Empty:
        answer = None
    if answer is None:
        raise NoAnswerError(f"the hooks {TOO_LATE}")
    thread.join(max(0.0, min(deadline - monotonic(), AFTER_ANSWER_SECONDS)))
    return answer
