"""Run hooks in isolation, so that the host gets an answer in every case.

The hooks run in a child process without the host's stdout and stderr. A hook may print, even from C or from a process
of its own, may end its process, crash it, or hang in code that no Python thread can interrupt: the parent still has the
host's streams, a clock and its signals, and answers exactly once.
"""

from __future__ import annotations

import os
import sys
from time import monotonic

from agent_hooks.system.quick_json import dumps
from agent_hooks.wire.answer import Answer

from .supervisor import AFTER_ANSWER_SECONDS, ENDING, TOO_LATE, Child, Marks, NoAnswerError, supervise

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from typing import NoReturn

    Send = Callable[[Answer], None]
    Work = Callable[[Send, Marks], None]
else:
    import _signal as signal  # `signal` imports enum

# The variable in every process that a command of a hook starts, `handlers.escaped.RUN`.
RUN = "AGENT_HOOKS_RUN"


def supervised(work: Work, deadline: float, *, keep_from: tuple[int, ...] = ()) -> tuple[Answer, bytes]:
    """Run ``work`` and return the first answer that it sends, and at most some 64 KiB of its output.

    ``work`` is called with a function that sends the answer, and with the marks by which it reports its next activity;
    the rest is as in ``supervise``. ``keep_from``: descriptors that the hooks must not have. Raises ``NoAnswerError``
    without an answer by ``deadline``. If this process is killed, the hooks are killed too. Without ``fork`` (Windows)
    the hooks run in a thread: their output is dropped, and no answer is possible after a hook that ends or blocks the
    whole process.
    """
    if not hasattr(os, "fork"):
        return _in_thread(work, deadline), b""
    answers, answers_in = os.pipe()
    noises, noises_in = os.pipe()
    marks = Marks()
    token = os.urandom(8).hex()
    child = Child(os.fork(), token)
    if child.pid == 0:
        os.setpgid(0, 0)
        for descriptor in keep_from:
            os.close(descriptor)
        be_the_child(work, token, answers_in, noises_in, marks, lambda: os.close(answers_in))
    guard = None
    try:
        os.close(answers_in)
        os.close(noises_in)
        guard = _start_guard(child, keep_from)
        given, noise = supervise(child, answers, noises, deadline, marks)
    finally:
        if guard is None:
            child.kill_all()
        else:
            os.kill(guard[0], 9)
            os.close(guard[1])
        os.close(answers)  # this process may go on, and have its next hooks inherit them
        os.close(noises)
    stdout, stderr, exit_code = given
    return Answer(stdout=stdout, stderr=stderr, exit_code=exit_code), noise


def _start_guard(child: Child, keep_from: tuple[int, ...]) -> tuple[int, int]:
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


def be_the_child(work: Work, token: str, answers: int, noises: int, marks: Marks, end: Callable[[], None]) -> NoReturn:
    """Be the process of the hooks: do ``work``, and end.

    ``token``: for the environment of what it starts. ``answers``, ``noises``: where its answer and its output go.
    ``end``: tells the other end of ``answers`` that the work is done.
    """
    try:
        for number in ENDING:
            signal.signal(number, signal.SIG_DFL)
        os.environ[RUN] = ":".join(filter(None, (os.environ.get(RUN), token)))
        os.dup2(noises, 1)
        os.dup2(noises, 2)
        os.close(noises)

        def send(answer: Answer) -> None:
            _flush()
            rest = (dumps([answer.stdout, answer.stderr, answer.exit_code]) + "\n").encode()
            while rest:
                rest = rest[os.write(answers, rest) :]

        work(send, marks)
        _finish()
        end()  # while the system takes this process apart, the host has its answer
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
