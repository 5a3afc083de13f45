"""Calling a hook: directly, under a timer, in a thread; and telling failures from cancellation."""

from __future__ import annotations

import sys

from agent_hooks.errors import HookMisuseError, HookTimeoutError, InvalidOutcomeError
from agent_hooks.system.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Generator
    from typing import Any, TypeVar

    from agent_hooks.model.context import HookContext

    from .plan import Hook

    Result = TypeVar("Result")

_ASYNC_LIBRARIES = frozenset({"asyncio", "anyio", "sniffio", "trio"})
WAITS = (
    "it waits, and this is a sync call: use `await hooks.dispatch(ctx)`, "
    "or `hooks.run_sync(ctx)`, which starts an event loop."
)


def drive(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine that never waits to its end."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    coroutine.close()
    raise HookMisuseError(WAITS)


async def complete(coroutine: Any, timeout: float | None, *, sync: bool) -> Any:
    """Run a coroutine in the caller's task. ``timeout`` (seconds) starts when it first waits; see ``WAITS``."""
    if timeout is None and not sync:
        return await coroutine
    try:
        is_done, result = begin(coroutine)
    except (RuntimeError, AttributeError) as error:
        if sync and _wants_event_loop(error):
            raise HookMisuseError(WAITS) from error
        raise
    if is_done:
        return result
    if sync:
        coroutine.close()
        raise HookMisuseError(WAITS)
    return await _within(timeout or 0.0, Rest(coroutine, result))


def in_event_loop() -> bool:
    """Whether an event loop of asyncio runs here."""
    asyncio = sys.modules.get("asyncio")
    return asyncio is not None and asyncio._get_running_loop() is not None


def _wants_event_loop(error: BaseException) -> bool:
    """Whether a coroutine that was driven by hand failed because no event loop runs, as far as that can be told."""
    if in_event_loop():
        return False
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    raised_by = frame.tb_frame.f_globals.get("__name__", "") if frame is not None else ""
    # asyncio's locks and queues use the loop that they believe to have.
    return str(error) == "no running event loop" or raised_by.partition(".")[0] in _ASYNC_LIBRARIES


def begin(coroutine: Any) -> tuple[bool, Any]:
    """Run a coroutine until it ends or waits; return whether it ended, and its result or awaitable."""
    try:
        return False, coroutine.send(None)
    except StopIteration as done:
        return True, done.value


class TimeLimit:
    """The limit, in ``seconds``, of one hook that has begun to wait; to be made in its task, and stopped after it."""

    __slots__ = ("cancelled", "has_expired", "seconds", "task", "timer")

    def __init__(self, seconds: float) -> None:
        import asyncio

        task = asyncio.current_task()
        if task is None:
            raise RuntimeError("A hook with a time limit must run in a task.")
        self.seconds = seconds
        self.task = task
        self.cancelled = task.cancelling()
        self.has_expired = False
        self.timer = asyncio.get_running_loop().call_later(seconds, self._expire)

    def _expire(self) -> None:
        self.has_expired = True
        self.task.cancel()

    def stop(self) -> None:
        """Stop the timer."""
        self.timer.cancel()

    def check_answer(self) -> None:
        """Raise ``CancelledError`` if the hook was cancelled, and answered all the same."""
        import asyncio

        if self.has_expired or self.task.cancelling() > self.cancelled:
            raise asyncio.CancelledError

    def ended(self, error: BaseException) -> BaseException:
        """Return the error that counts, after the hook ended with ``error``. The caller's cancellation stands."""
        import asyncio

        if not self.has_expired:
            return error
        self.has_expired = False
        is_own = self.task.uncancel() <= self.cancelled
        is_late = is_own and isinstance(error, asyncio.CancelledError)
        return HookTimeoutError(f"no answer after {self.seconds:g} s.") if is_late else error


class LaneTimer:
    """The time limit of the hook that a fast lane waits for. The lane finds it in ``interrupted`` after the hook was
    cancelled, by the timer or by the caller.
    """

    def __init__(self, lane: Coroutine[Any, Any, Any], interrupted: list[TimeLimit]) -> None:
        self.lane: Any = lane
        self.interrupted = interrupted
        self.hook: Hook | None = None
        self.limit: TimeLimit | None = None

    def wait(self) -> None:
        """Start the limit of the hook at work, if it has one and waits for the first time."""
        hook = self.lane.cr_frame.f_locals["hook"]  # the lane keeps no account of it, which would take time
        if hook is self.hook:
            return
        self.stop()
        self.interrupted.clear()
        self.hook, self.limit = hook, None
        if hook is not None and hook.timeout is not None:
            self.limit = TimeLimit(hook.timeout)

    def interrupt(self) -> None:
        """Let the lane know that its hook is about to be thrown an error."""
        if self.limit is not None and not self.interrupted:
            self.interrupted.append(self.limit)

    def stop(self) -> None:
        """Stop the limit of the last hook."""
        if self.limit is not None:
            self.limit.stop()


class Rest:
    """The rest of a coroutine that has already been started and waits for something."""

    def __init__(self, coroutine: Any, waiting_for: Any, timer: LaneTimer | None = None) -> None:
        self.coroutine = coroutine
        self.waiting_for = waiting_for
        self.timer = timer

    def __await__(self) -> Generator[Any, Any, Any]:
        coroutine, waiting_for, timer = self.coroutine, self.waiting_for, self.timer
        try:
            while True:
                try:
                    if timer is not None:
                        timer.wait()
                    value = yield waiting_for
                except BaseException as error:
                    if timer is not None:
                        timer.interrupt()
                    resume, value = coroutine.throw, error
                else:
                    resume = coroutine.send
                try:
                    waiting_for = resume(value)
                except StopIteration as done:
                    return done.value
        finally:
            if timer is not None:
                timer.stop()


async def _within(timeout: float, awaitable: Any) -> Any:
    limit = TimeLimit(timeout)
    try:
        result = await awaitable
        # A hook may catch its cancellation: an answer that comes too late is dropped.
        limit.check_answer()
    except BaseException as error:
        counting = limit.ended(error)
        if counting is error:
            raise
        raise counting from error
    finally:
        limit.stop()
    return result


async def in_thread(call: Callable[[HookContext], Any], ctx: HookContext, timeout: float, *, sync: bool) -> Any:
    """Run a plain function in a daemon thread. After ``timeout`` seconds it goes on, its result dropped."""
    import contextvars
    import threading

    answer: list[tuple[Any, BaseException | None]] = []
    finished = threading.Event()
    wake: Callable[[], object] = finished.set
    waiting: Any = finished
    if not sync:
        import asyncio

        loop = asyncio.get_running_loop()
        waiting = asyncio.Event()
        wake = lambda: loop.call_soon_threadsafe(waiting.set)  # noqa: E731 - one of two ways to say the same

    def work() -> None:
        try:
            given = variables.run(call, ctx)
            answer.append((variables.run(given.at_once) if type(given) is InTurns else given, None))
        except BaseException as error:
            answer.append((None, error))
        try:
            wake()
        except RuntimeError:  # the loop was closed while a late hook was still at work
            return

    variables = contextvars.copy_context()
    threading.Thread(target=work, daemon=True, name="agent_hooks timed hook").start()
    if sync:
        if not finished.wait(timeout):
            raise HookTimeoutError(
                f"no answer after {timeout:g} s; its thread goes on, and what it answers is dropped."
            )
    else:
        await _within(timeout, waiting.wait())
    result, error = answer[0]
    if error is not None:
        raise error
    return result


def is_failure(error: BaseException) -> bool:
    """Whether ``error`` is the hook's own failure, and not a cancellation of the caller or an interrupt."""
    if isinstance(error, (Exception, SystemExit)):
        return True
    asyncio = sys.modules.get("asyncio")
    if asyncio is None or not isinstance(error, asyncio.CancelledError):
        return False
    try:
        task = asyncio.current_task()
    except RuntimeError:  # no loop runs, so nobody can have cancelled us
        return True
    return task is None or not task.cancelling()


async def throw_into(generator: Any, error: BaseException) -> None:
    """Let a wrapper hear of a cancellation. Whatever it does about it, the caller raises ``error`` again."""
    try:
        if hasattr(generator, "athrow"):
            await generator.athrow(error)
        else:
            generator.throw(error)
    except KeyboardInterrupt:
        raise
    except BaseException:
        return


def explained(error: BaseException) -> str:
    """Describe an error by class and message; some errors cannot be printed."""
    try:
        message = str(error) or "no message"
    except Exception:
        message = "its message cannot be read"
    return (
        message if isinstance(error, (InvalidOutcomeError, HookMisuseError)) else f"{type(error).__name__}: {message}"
    )


class MissingCallError(HookMisuseError):
    """Raised where a caller dispatches an event about a tool call without that call."""


def describe_failure(hook: Hook, error: BaseException, *, with_advice: bool = False) -> str:
    """Return the sentence that says how a hook failed."""
    if isinstance(error, MissingCallError):
        return f"Not the hook {visible(hook.name)} failed, but its caller: {error}"
    advice = getattr(error, "advice", "") if with_advice else ""
    return f"The hook {visible(hook.name)} failed: {explained(error)}{f': {advice}' if advice else ''}"


class InTurns:
    """The answer of a plain function with much to do: a generator that yields where other tasks may have their turn,
    which they have in an event loop, and that returns the answer.
    """

    __slots__ = ("_work",)

    def __init__(self, work: Generator[None, None, Any]) -> None:
        self._work = work

    def at_once(self) -> Any:
        """Return the answer."""
        while True:
            try:
                next(self._work)
            except StopIteration as done:
                return done.value

    def __await__(self) -> Generator[None, None, Any]:
        return (yield from self._work) if in_event_loop() else self.at_once()


async def awaited(hook: Hook, answer: Any, *, sync: bool) -> Any:
    """Return the answer of ``hook``, where its call only promised it."""
    if not hasattr(answer, "__await__"):
        return answer
    if sync and type(answer) is InTurns:
        return answer.at_once()
    coroutine = answer if hasattr(answer, "send") else awaiting(answer)
    return await complete(coroutine, hook.timeout, sync=sync)


async def awaiting(awaitable: Any) -> Any:
    """Wait for any awaitable."""
    return await awaitable


def matches(hook: Hook, ctx: HookContext) -> Any:
    """Return whether the hook is to be asked. Raises ``MissingCallError`` without the call that it is to judge."""
    event = hook.event
    if ctx.tool_call is None and event.matched_by == "tool" and event.closed is not None:
        # A hook without a match can still judge a result.
        needs_call = event.subject == "tool_args" or (hook.match is not None and isinstance(hook.options.match, str))
        if needs_call:
            raise MissingCallError(f"{event!s} came without a tool call: give the context tool_call=ToolCall(name).")
    return True if hook.match is None else hook.match(ctx)
