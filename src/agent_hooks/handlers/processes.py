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
from time import monotonic, sleep

from agent_hooks.model.values import Value

from .escaped import GRACE_SECONDS, RUN, SWEEP_SECONDS, end_all, reap_orphans

TYPE_CHECKING = False
if TYPE_CHECKING:
    import asyncio
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
_CLOSED_LOOK_SECONDS = 0.001
_LONGEST_LOOK = 3600.0  # poll() takes no more than some weeks
_CHUNK = 64 * 1024


class Finished(Value):
    """How a command ended.

    ``problem``: an empty string if it ended by itself, else ``late``, ``flooded``, ``cancelled``, ``lost`` (other code
    in this process took its exit code), ``signal N (NAME)`` or ``not started: REASON``; ``exit_code`` is then
    meaningless, and ``stdout`` and ``stderr`` hold the output so far. Both are cut at their limits; ``is_cut``: whether
    ``stdout`` was.
    """

    exit_code: int = -1
    stdout: bytes = b""
    stderr: bytes = b""
    problem: str = ""
    is_cut: bool = False


class Cancellation:
    """A request to end a command that runs in another thread. It has a descriptor to wait for."""

    def __init__(self) -> None:
        self.is_set = False
        self._read_end, self._write_end = os.pipe()

    def fileno(self) -> int:
        """Return the descriptor that is readable once this is set."""
        return self._read_end

    def set(self) -> None:
        """Request the end."""
        self.is_set = True
        os.write(self._write_end, b"x")

    def close(self) -> None:
        """Close the descriptors."""
        os.close(self._read_end)
        os.close(self._write_end)


def run_process(
    argv: Sequence[str],
    *,
    input: bytes = b"",  # noqa: A002 - subprocess calls it so
    env: Mapping[str, str],
    cwd: str | None = None,
    timeout: float,
    max_stdout: int = MAX_STDOUT,
    max_stderr: int = MAX_STDERR,
    descriptors: Sequence[int] = (),
    cancelled: Cancellation | None = None,
) -> Finished:
    """Run ``argv`` with ``input`` on its stdin and ``env`` as its environment, and return how it ended.

    ``descriptors``: further ones that the command inherits, under the same numbers; none on Windows. ``timeout``: in
    seconds; it includes the wait for one of the 32 slots. Never raises for anything that the command does.
    """
    deadline = monotonic() + timeout
    slots = _commands.slots
    if not _take_slot(slots, deadline, cancelled):
        is_cancelled = cancelled is not None and cancelled.is_set
        return Finished(problem="cancelled" if is_cancelled else f"not started: {MAX_AT_ONCE} others are running")
    try:
        token = os.urandom(16).hex()
        environment = {**env, RUN: ":".join(filter(None, (env.get(RUN), token)))}
        try:
            process = _started(argv, environment, cwd, descriptors)
        except (OSError, ValueError) as error:
            return Finished(problem=f"not started: {error}")
        if sys.platform == "win32":
            return _run_on_windows(process, input, deadline, (max_stdout, max_stderr), cancelled)
        return _Run(process, input, max_stdout, max_stderr, token).finished(deadline, cancelled)
    finally:
        slots.release()


async def in_thread_cancellable(work: Callable[[Cancellation], Result]) -> Result:
    """Run ``work`` in a thread; on cancellation its command is killed before the cancellation is raised."""
    import asyncio

    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()
    cancellation = Cancellation()

    def run() -> None:
        result, problem = None, None
        try:
            result = work(cancellation)
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            problem = error
        try:
            loop.call_soon_threadsafe(_settle, done, result, problem)
        except RuntimeError:  # the loop was closed meanwhile
            return

    thread = threading.Thread(target=run, daemon=True, name="agent_hooks command")
    interrupted: asyncio.CancelledError | None = None
    try:
        _commands.in_threads[thread] = cancellation
        thread.start()
        while not done.done():
            try:
                await asyncio.wait((done,))
            except asyncio.CancelledError as error:
                interrupted = error
                cancellation.set()
    finally:
        if not done.done():
            cancellation.set()
        if thread.ident is not None:
            thread.join()
        _commands.in_threads.pop(thread, None)
        cancellation.close()
    if interrupted is not None:
        done.exception()
        raise interrupted
    return done.result()


def _settle(done: asyncio.Future[Any], result: Any, problem: BaseException | None) -> None:
    if done.cancelled():
        return
    if problem is not None:
        done.set_exception(problem)
    else:
        done.set_result(result)


class _Commands:
    """The commands of this process: the slots for them, and the cancellations of those in threads."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Forget all commands: a new process has none of its parent's threads."""
        self.slots = threading.BoundedSemaphore(MAX_AT_ONCE)
        self.in_threads: dict[threading.Thread, Cancellation] = {}

    def end(self) -> None:
        """End the commands in threads, whose event loop has stopped."""
        for thread, cancellation in tuple(self.in_threads.items()):
            cancellation.set()
            thread.join()


_commands = _Commands()
atexit.register(_commands.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_commands.reset)


def _take_slot(slots: threading.BoundedSemaphore, deadline: float, cancelled: Cancellation | None) -> bool:
    if slots.acquire(blocking=False):
        return True
    while (left := deadline - monotonic()) > 0 and not (cancelled is not None and cancelled.is_set):
        if slots.acquire(timeout=min(left, 0.05)):
            return True
    return False


def _started(argv: Sequence[str], env: Mapping[str, str], cwd: str | None, descriptors: Sequence[int]) -> Popen[bytes]:
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

    def __init__(self, process: Popen[bytes], given: bytes, max_stdout: int, max_stderr: int, token: str) -> None:
        from select import poll

        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        self.process = process
        self.pid = process.pid
        self.token = token
        self.began = monotonic()
        self.left = memoryview(given)
        self.stdin, self.stdout, self.stderr = (
            pipe.fileno() for pipe in (process.stdin, process.stdout, process.stderr)
        )
        self.output = {self.stdout: bytearray(), self.stderr: bytearray()}
        self.total = 0
        self.cut: set[int] = set()
        self.limits = {self.stdout: max_stdout, self.stderr: max_stderr}
        self.open = set(self.output)
        self.poll = poll()
        self.end: int | None = None
        self.has_ended = False

    def finished(self, deadline: float, cancelled: Cancellation | None) -> Finished:
        """Return how the command ended, once none of its processes is left."""
        problem = "cancelled"  # also for an exception here, such as a KeyboardInterrupt
        try:
            self._register_pipes()
            problem = self._listen(deadline, cancelled)
            if not problem:
                self._drain(DRAIN_SECONDS)
        finally:
            exit_code, ending = self._clean_up(is_over=not problem)
        stdout, stderr = (bytes(self.output[pipe]) for pipe in (self.stdout, self.stderr))
        is_cut = self.stdout in self.cut
        return Finished(exit_code=exit_code, stdout=stdout, stderr=stderr, problem=problem or ending, is_cut=is_cut)

    # -- input and output --------------------------------------------------------------------------------------------

    def _register_pipes(self) -> None:
        from select import POLLIN, POLLOUT

        for pipe in (self.stdin, *self.output):
            os.set_blocking(pipe, False)
        self.poll.register(self.stdin, POLLOUT)
        for pipe in self.output:
            self.poll.register(pipe, POLLIN)
        if hasattr(os, "pidfd_open"):
            try:
                self.end = os.pidfd_open(self.pid)
            except OSError:  # an older kernel, or no descriptor left: poll for the end instead
                return

    def _listen(self, deadline: float, cancelled: Cancellation | None) -> str:
        """Exchange input and output until the command has ended; return the first problem, if any."""
        from select import POLLIN

        signs = [sign for sign in (self.end, cancelled and cancelled.fileno()) if sign is not None]
        for sign in signs:
            self.poll.register(sign, POLLIN)
        try:
            while True:
                left = deadline - monotonic()
                if left <= 0:
                    return "" if self._looks_ended() else "late"
                look = _LONGEST_LOOK if self.end is not None else _LOOK_SECONDS if self.open else _CLOSED_LOOK_SECONDS
                ready = self._exchange(min(left, look))
                if self.total > MAX_READ:
                    return "flooded"
                if cancelled is not None and cancelled.is_set:
                    return "cancelled"
                if (self.end is None or self.end in ready) and self._looks_ended():
                    return ""
        finally:
            for sign in signs:
                self.poll.unregister(sign)

    def _drain(self, seconds: float) -> None:
        """Read the pipes until they are closed or ``seconds`` are over."""
        until = monotonic() + seconds
        while self.open and (left := until - monotonic()) > 0:
            self._exchange(left)

    def _exchange(self, seconds: float) -> set[int]:
        """Write and read for at most ``seconds``; return the descriptors that were ready."""
        ready = {descriptor for descriptor, _ in self.poll.poll(1000 * seconds)}
        if self.stdin in ready:
            self._write()
        for pipe in ready & self.open:
            data = os.read(pipe, _CHUNK)
            free = self.limits[pipe] - len(self.output[pipe])
            self.output[pipe] += data[:free]
            self.total += len(data)
            if len(data) > free:
                self.cut.add(pipe)
            if not data:
                self.poll.unregister(pipe)
                self.open.discard(pipe)
        return ready

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
            assert self.process.stdin is not None
            self.process.stdin.close()

    # -- ending ------------------------------------------------------------------------------------------------------

    def _looks_ended(self) -> bool:
        """Whether the command has ended. It is not reaped yet, so that its id cannot become another process's."""
        if not self.has_ended:
            try:
                if hasattr(os, "waitid"):
                    self.has_ended = os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
                else:
                    self.has_ended = self._is_reaped()
            except ChildProcessError:  # other code has reaped it
                self.has_ended = True
        return self.has_ended

    def _is_reaped(self) -> bool:
        """Whether it has ended, and keep its exit code. Not ``Popen.poll``: that slots a lost exit code into a 0."""
        if self.process.returncode is None:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
        return self.process.returncode is not None

    def _clean_up(self, *, is_over: bool) -> tuple[int, str]:
        """Kill the command and its descendants; return its exit code and the problem."""
        try:
            if not is_over:
                self._signal(signal.SIGTERM)
                self._wait_for_end()
            self._signal(signal.SIGKILL)
            until = monotonic() + SWEEP_SECONDS
            while not self._looks_ended() and monotonic() < until:
                sleep(0.001)
            ending = self._reap()
            for orphan in (-self.pid, *end_all(self.token, self.pid, self.began)):
                reap_orphans(orphan)
        finally:
            for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
                assert pipe is not None
                pipe.close()
            if self.end is not None:
                os.close(self.end)
        return ending

    def _signal(self, number: int) -> None:
        try:
            os.killpg(self.pid, number)
        except (ProcessLookupError, PermissionError):  # none is left; macOS raises the second for a dead leader
            return

    def _wait_for_end(self) -> None:
        """Give the command and its children a moment to end by themselves; read their output."""
        until = monotonic() + GRACE_SECONDS
        while (left := until - monotonic()) > 0 and not (self._looks_ended() and not self.open):
            self._exchange(min(left, _LOOK_SECONDS))

    def _reap(self) -> tuple[int, str]:
        try:
            if not self._is_reaped():  # it hangs in the kernel: a later Popen of this process reaps it
                return -1, "late"
        except ChildProcessError:
            self.process.returncode = -1
            return -1, "lost"
        code = self.process.returncode
        return code, f"signal {-code} ({_signal_name(-code)})" if code < 0 else ""


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return "a real-time signal"


# -- Windows ---------------------------------------------------------------------------------------------------------


def _run_on_windows(
    process: Popen[bytes], given: bytes, deadline: float, limits: tuple[int, int], cancelled: Cancellation | None
) -> Finished:
    from subprocess import DEVNULL, TimeoutExpired, run

    left: bytes | None = given
    problem, stdout, stderr = "", b"", b""
    while not problem:
        try:
            stdout, stderr = process.communicate(left, timeout=min(0.05, max(0.0, deadline - monotonic())))
            break
        except TimeoutExpired:
            left = None
        if cancelled is not None and cancelled.is_set:
            problem = "cancelled"
        elif monotonic() >= deadline:
            problem = "late"
    if problem:
        ending = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
        run(ending, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, check=False)  # noqa: S603
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            assert pipe is not None
            pipe.close()
    elif len(stdout) + len(stderr) > MAX_READ:
        problem = "flooded"
    return Finished(
        exit_code=process.returncode,
        stdout=stdout[: limits[0]],
        stderr=stderr[: limits[1]],
        problem=problem,
        is_cut=len(stdout) > limits[0],
    )
