"""Run one command so that none of its processes is left behind.

A command gets a session of its own. Its answer is complete when the command itself ends, not when the last pipe is
closed: its children may hold the pipes for ever. Then all its processes are killed: its process group, and on Linux
also those that left the group, found by a token in their environment. A daemon that clears its environment first
escapes; on other systems any daemon does. On Windows only the descendants that remain at the end of its time are ended,
and the limits of output apply only after the command has ended.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from contextlib import suppress
from time import monotonic, sleep

from agent_hooks.model.values import Value

from .escaped import GRACE_SECONDS, RUN, SWEEP_SECONDS, end_all, reap_orphans

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from subprocess import Popen
    from typing import Any, TypeVar

    Result = TypeVar("Result")

MAX_STDOUT = 1024 * 1024
MAX_STDERR = 256 * 1024
MAX_READ = 64 * 1024 * 1024  # of both; output beyond the limits above is discarded, and beyond this a flood
MAX_AT_ONCE = 32
DRAIN_SECONDS = 0.1
# How often to look whether the command has ended, on systems without a descriptor for that.
_LOOK_SECONDS = 0.01
_CANCEL_SECONDS = 0.05  # how often to look for a cancellation
_CHUNK = 64 * 1024


class Finished(Value):
    """How a command ended.

    ``problem``: an empty string if it ended by itself, else ``late``, ``flooded``, ``cancelled``, ``lost`` (other code
    in this process took its exit code), ``signal N (DESCRIPTION)`` or ``not started: REASON``; ``exit_code`` is then
    meaningless, and ``stdout`` and ``stderr`` hold the output so far. Both are cut at their limits; ``is_cut``: whether
    ``stdout`` was.
    """

    exit_code: int = -1
    stdout: bytes = b""
    stderr: bytes = b""
    problem: str = ""
    is_cut: bool = False


def run_process(
    argv: Sequence[str],
    *,
    input: bytes = b"",  # noqa: A002 - subprocess calls it so
    env: Mapping[str, str],
    cwd: str | None = None,
    timeout: float,
    descriptors: Sequence[int] = (),
    cancelled: threading.Event | None = None,
) -> Finished:
    """Run ``argv`` with ``input`` on its stdin and ``env`` as its environment, and return how it ended.

    ``descriptors``: further ones that the command inherits, under the same numbers; none on Windows. ``timeout``: in
    seconds; it includes the wait for one of the 32 slots. Never raises for anything that the command does.
    """
    deadline = monotonic() + timeout
    slots = _commands.slots
    while not slots.acquire(timeout=max(0.0, min(deadline - monotonic(), 0.05))):
        if problem := _overdue(deadline, cancelled):
            return Finished(problem=f"not started: {MAX_AT_ONCE} others are running" if problem == "late" else problem)
    try:
        token = os.urandom(16).hex()
        environment = {**env, RUN: ":".join(filter(None, (env.get(RUN), token)))}
        try:
            process = _start(argv, environment, cwd, descriptors)
        except (OSError, ValueError) as error:
            return Finished(problem=f"not started: {error}")
        if sys.platform == "win32":
            return _finish_on_windows(process, input, deadline, cancelled)
        return _Run(process, input, token).finish(deadline, cancelled)
    finally:
        slots.release()


def _overdue(deadline: float, cancelled: threading.Event | None) -> str:
    """Return ``cancelled``, ``late``, or an empty string while there is time."""
    if cancelled is not None and cancelled.is_set():
        return "cancelled"
    return "late" if monotonic() >= deadline else ""


async def in_thread_cancellable(work: Callable[[threading.Event], Result]) -> Result:
    """Run ``work`` in a thread. On cancellation the event that it gets is set, and its end awaited."""
    from asyncio import wrap_future
    from concurrent.futures import Future

    cancelled = threading.Event()
    done: Future[Result] = Future()
    done.set_running_or_notify_cancel()  # the thread always sets a result

    def run() -> None:
        try:
            done.set_result(work(cancelled))
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            done.set_exception(error)

    thread = threading.Thread(target=run, daemon=True, name="agent_hooks command")
    try:
        _commands.in_threads[thread] = cancelled
        thread.start()
        return await wrap_future(done)
    finally:
        cancelled.set()
        if thread.ident is not None:
            thread.join()
        _commands.in_threads.pop(thread, None)


class _Commands:
    """The commands of this process: the slots for them, and the cancellations of those in threads."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all commands: a new process has none of its parent's threads."""
        self.slots = threading.BoundedSemaphore(MAX_AT_ONCE)
        self.in_threads: dict[threading.Thread, threading.Event] = {}

    def end(self) -> None:
        """End the commands in threads, whose event loop has stopped."""
        for thread, cancelled in tuple(self.in_threads.items()):
            cancelled.set()
            thread.join()


_commands = _Commands()
atexit.register(_commands.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_commands.reset)


def _start(argv: Sequence[str], env: Mapping[str, str], cwd: str | None, descriptors: Sequence[int]) -> Popen[bytes]:
    import subprocess
    from subprocess import PIPE, Popen

    options: dict[str, Any] = {"start_new_session": True, "pass_fds": descriptors}
    if sys.platform == "win32":
        options = {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return Popen(  # noqa: S603 - the command that the user configured
        argv, bufsize=0, stdin=PIPE, stdout=PIPE, stderr=PIPE, cwd=cwd or None, env=env, **options
    )


class _Run:
    """One running command and its output."""

    def __init__(self, process: Popen[bytes], given: bytes, token: str) -> None:
        from select import poll

        self.process = process
        self.token = token
        self.left = memoryview(given)
        self.pipes = [pipe for pipe in (process.stdin, process.stdout, process.stderr) if pipe is not None]
        self.stdin, self.stdout, self.stderr = (pipe.fileno() for pipe in self.pipes)
        self.limits = {self.stdout: MAX_STDOUT, self.stderr: MAX_STDERR}
        self.output = {pipe: bytearray() for pipe in self.limits}
        self.sizes = dict.fromkeys(self.limits, 0)
        self.open = set(self.limits)
        self.poll = poll()
        self.end: int | None = None  # a descriptor that is readable once the command has ended
        self.is_lost = False

    def finish(self, deadline: float, cancelled: threading.Event | None) -> Finished:
        """Return how the command ended, once none of its processes is left."""
        problem = "cancelled"  # also for an exception here, such as a KeyboardInterrupt
        try:
            problem = self._listen(deadline, cancelled)
            until = monotonic() + DRAIN_SECONDS
            while not problem and self.open and (left := until - monotonic()) > 0:
                self._exchange(left)
        finally:
            self._clean_up(is_over=not problem)
        code = self.process.returncode
        if not problem and (self.is_lost or code is None):
            problem = "lost" if self.is_lost else "late"  # or it hangs in the kernel: a later Popen reaps it
        elif not problem and code < 0:
            problem = f"signal {-code} ({signal.strsignal(-code)})"
        return Finished(
            exit_code=-1 if code is None else code,
            stdout=bytes(self.output[self.stdout]),
            stderr=bytes(self.output[self.stderr]),
            problem=problem,
            is_cut=self.sizes[self.stdout] > MAX_STDOUT,
        )

    def _listen(self, deadline: float, cancelled: threading.Event | None) -> str:
        """Exchange input and output until the command has ended; return the first problem, if any."""
        from select import POLLIN, POLLOUT

        self.poll.register(self.stdin, POLLOUT)
        os.set_blocking(self.stdin, False)
        for pipe in self.open:
            self.poll.register(pipe, POLLIN)
        if hasattr(os, "pidfd_open"):
            with suppress(OSError):  # an older kernel, or no descriptor left
                self.end = os.pidfd_open(self.process.pid)
                self.poll.register(self.end, POLLIN)
        look = _CANCEL_SECONDS if self.end is not None else _LOOK_SECONDS
        problem = ""
        while not problem and not self._has_ended():
            problem = _overdue(deadline, cancelled)
            self._exchange(max(0.0, min(deadline - monotonic(), look)))
            if sum(self.sizes.values()) > MAX_READ:
                problem = "flooded"
        if self.end is not None:
            self.poll.unregister(self.end)
        return problem

    def _exchange(self, seconds: float) -> None:
        """Write and read for at most ``seconds``."""
        ready = {descriptor for descriptor, _ in self.poll.poll(1000 * seconds)}
        if self.stdin in ready:
            self._write()
        for pipe in ready & self.open:
            data = os.read(pipe, _CHUNK)
            self.output[pipe] += data[: self.limits[pipe] - len(self.output[pipe])]
            self.sizes[pipe] += len(data)
            if not data:
                self.poll.unregister(pipe)
                self.open.discard(pipe)

    def _write(self) -> None:
        try:
            written = os.write(self.stdin, self.left[:_CHUNK]) if self.left else 0
        except BlockingIOError:
            return
        except BrokenPipeError:  # the command has closed its stdin
            written = len(self.left)
        self.left = self.left[written:]
        if not self.left:
            self.poll.unregister(self.stdin)
            self.pipes[0].close()

    def _has_ended(self, *, reap: bool = False) -> bool:
        """Whether the command has ended. Not ``Popen.poll``: that turns a lost exit code into a 0. Where the system can
        tell without it, the command is not reaped before its group is killed: another group could get its id.
        """
        if self.process.returncode is None:
            try:
                if not reap and hasattr(os, "waitid"):
                    how = os.WEXITED | os.WNOHANG | os.WNOWAIT
                    return os.waitid(os.P_PID, self.process.pid, how) is not None
                pid, status = os.waitpid(self.process.pid, os.WNOHANG)
            except ChildProcessError:  # other code has reaped it
                self.is_lost, self.process.returncode = True, -1
            else:
                self.process.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.process.returncode is not None

    def _clean_up(self, *, is_over: bool) -> None:
        """Kill the command and its descendants. Unless it is over, they get a moment to end by themselves."""
        try:
            if not is_over:
                self._signal(signal.SIGTERM)
                until = monotonic() + GRACE_SECONDS
                while (left := until - monotonic()) > 0 and not (self._has_ended() and not self.open):
                    self._exchange(min(left, _LOOK_SECONDS))
            self._signal(signal.SIGKILL)
            until = monotonic() + SWEEP_SECONDS
            while not self._has_ended(reap=True) and monotonic() < until:
                sleep(0.001)
            for orphan in (-self.process.pid, *end_all(self.token, self.process.pid)):
                reap_orphans(orphan)
        finally:
            for pipe in self.pipes:
                pipe.close()
            if self.end is not None:
                os.close(self.end)

    def _signal(self, number: int) -> None:
        with suppress(ProcessLookupError, PermissionError):  # none is left; macOS raises the second for a dead leader
            os.killpg(self.process.pid, number)


def _finish_on_windows(
    process: Popen[bytes], given: bytes, deadline: float, cancelled: threading.Event | None
) -> Finished:
    from subprocess import TimeoutExpired, run

    left: bytes | None = given
    problem, stdout, stderr = "", b"", b""
    while not problem:
        try:
            stdout, stderr = process.communicate(left, timeout=0.05)
            break
        except TimeoutExpired:
            left, problem = None, _overdue(deadline, cancelled)
    if problem:
        run(["taskkill", "/F", "/T", "/PID", str(process.pid)], capture_output=True, check=False)  # noqa: S603, S607
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
    elif len(stdout) + len(stderr) > MAX_READ:
        problem = "flooded"
    return Finished(
        exit_code=process.returncode,
        stdout=stdout[:MAX_STDOUT],
        stderr=stderr[:MAX_STDERR],
        problem=problem,
        is_cut=len(stdout) > MAX_STDOUT,
    )
