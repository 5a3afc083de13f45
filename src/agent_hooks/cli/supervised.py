"""Run hooks in isolation, so that the host gets an answer in every case.

The hooks run in a child process without the host's stdout and stderr. A hook may print, even from C or from a process
of its own, may end its process, crash it, or hang in code that no Python thread can interrupt: the parent still has the
host's streams, a clock and its signals, and answers exactly once.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from time import monotonic, sleep

from agent_hooks.wire.answer import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    Send = Callable[[Answer], None]
    Mark = Callable[[str, float], None]
    Work = Callable[[Send, Mark], None]

# The signals that ask a process to end: from a host, from a terminal that is closed, from a limit on computing time.
ENDING = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP", "SIGQUIT", "SIGXCPU") if hasattr(signal, name))
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
_MAX_MARK = 1000


class NoAnswerError(Exception):
    """Raised when the hooks gave no answer; the message says why."""


def supervised(work: Work, deadline: float, *, keep_from: tuple[int, ...] = ()) -> tuple[Answer, bytes]:
    """Run ``work`` and return the first answer that it sends, and at most some 64 KiB of its output.

    ``work`` is called with two functions: one sends the answer; the other reports the next activity, by name, and its
    deadline as a ``time.monotonic()``. Soon after that deadline ``work`` is ended, and the activity is named if there
    is no answer. After the answer, ``work`` may run for 10 seconds, but not beyond ``deadline`` (a
    ``time.monotonic()``), without an effect on the result. ``keep_from``: descriptors that the hooks must not have.
    Raises ``NoAnswerError`` without an answer by then. If this process is killed, the hooks are killed too. Without
    ``fork`` (Windows) the hooks run in a thread: their output is dropped, and no answer is possible after a hook that
    ends or blocks the whole process.
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
    guard = None
    try:
        os.close(answers_in)
        os.close(noises_in)
        guard = _start_guard(child, keep_from)
        try:
            if _listen(child, {answers: sent, noises: noise}, deadline, marks) and sent:
                child.kill(and_its_own=True)
                noise += CUT_SHORT
        except BaseException:
            if b"\n" not in sent:  # a complete answer stays valid after any later failure
                raise
        line, newline, _ = sent.partition(b"\n")
        if not newline:
            name, _ = marks.last()
            if monotonic() >= deadline or marks.is_stalled():
                child.kill(and_its_own=True)
                raise NoAnswerError(f"{name} {TOO_LATE}. {LONGER}" if name else f"the hooks {TOO_LATE}")
            ending = f"the process of the hooks {child.ending()} before it answered"
            child.kill(and_its_own=True)
            raise NoAnswerError(f"{ending}, while {name} was running; repair it" if name else ending)
    finally:
        child.kill()
        if guard is not None:
            os.kill(guard, 9)
    stdout, stderr, exit_code = json.loads(line)
    return Answer(stdout=stdout, stderr=stderr, exit_code=exit_code), bytes(noise)


def _start_guard(child: _Child, keep_from: tuple[int, ...]) -> int:
    """Start a process that kills the hooks and their children once this process is gone; return its id."""
    alive, alive_here = os.pipe()  # never written to; it closes when this process ends
    guard = os.fork()
    if guard:
        os.close(alive)
        return guard
    try:
        os.setpgid(0, 0)  # a host may kill its whole process group
        for descriptor in (0, alive_here, *keep_from):
            os.close(descriptor)
        os.read(alive, 1)
        child.kill(and_its_own=True)
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
        """Return how the child ended, killing it unless it ends by itself at once."""
        for _ in range(20):
            if self.has_ended():
                break
            sleep(0.01)
        else:
            self.kill()
            _, self._status = os.waitpid(self.pid, 0)
        code = os.waitstatus_to_exitcode(self._status or 0)
        return f"was ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def kill(self, *, and_its_own: bool = False) -> None:
        """Kill the child, and with ``and_its_own`` its group and its commands, without waiting."""
        if and_its_own:
            from agent_hooks.handlers.escaped import end_all

            with contextlib.suppress(ProcessLookupError, PermissionError):  # no process of it is left
                os.killpg(self.pid, 9)
            end_all(self._token)  # commands of hooks have groups of their own
        if self._status is None:
            os.kill(self.pid, 9)


class Marks:
    """The child's last report: a pipe that is only read when the answer is missing."""

    def __init__(self) -> None:
        self._read_end, self._write_end = os.pipe()
        os.set_blocking(self._read_end, False)
        os.set_blocking(self._write_end, False)
        self._last = ("", float("inf"))

    def mark(self, name: str, end: float) -> None:
        """Report the next activity and its deadline: called in the child."""
        data = f"{end!r} {name[:_MAX_MARK]}".replace("\n", " ").encode("utf-8", "replace") + b"\n"
        try:
            os.write(self._write_end, data)
        except BlockingIOError:  # only the last ones count
            os.read(self._read_end, 1024 * 1024)
            os.write(self._write_end, data)

    def last(self) -> tuple[str, float]:
        """Return the last report, an empty name if there is none."""
        try:
            lines = os.read(self._read_end, 1024 * 1024).splitlines()
        except BlockingIOError:
            return self._last
        if lines:
            end, _, name = lines[-1].decode("utf-8", "replace").partition(" ")
            self._last = (name, float(end))
        return self._last

    def is_stalled(self) -> bool:
        """Whether the activity reported last is overdue."""
        return monotonic() >= self.last()[1] + _STALLED_SECONDS


def _listen(child: _Child, output: dict[int, bytearray], deadline: float, marks: Marks) -> bool:
    """Collect the two pipes in ``output``, answers and noise, until the child closes the first pipe, ends, or runs out
    of time: at ``deadline``, at that of a hook, or some time after the answer. Return whether it still works then.
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
    return is_open[answers] and not child.has_ended()


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
            rest = (json.dumps([answer.stdout, answer.stderr, answer.exit_code]) + "\n").encode()
            while rest:
                rest = rest[os.write(answers, rest) :]

        work(send, marks.mark)
        _finish()
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
    import threading
    from queue import Empty, SimpleQueue

    answers: SimpleQueue[Answer | None] = SimpleQueue()

    def run_work() -> None:
        try:
            work(answers.put, lambda *_: None)
            _finish()
        finally:
            answers.put(None)

    def wait_for_answer(until: float) -> Answer | None:
        try:
            return answers.get(timeout=max(0.0, until - monotonic()))
        except Empty:
            return None

    threading.Thread(target=run_work, daemon=True, name="agent_hooks run").start()
    answer = wait_for_answer(deadline)
    if answer is None:
        is_late = monotonic() >= deadline
        raise NoAnswerError(f"the hooks {TOO_LATE}" if is_late else "the thread of the hooks ended before it answered")
    while wait_for_answer(min(deadline, monotonic() + AFTER_ANSWER_SECONDS)) is not None:
        pass  # a later answer changes nothing
    return answer
