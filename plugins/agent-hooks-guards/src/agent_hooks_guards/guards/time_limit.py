"""The limit of a run's duration, by a monotonic clock."""

from __future__ import annotations

from threading import Lock
from time import monotonic

from agent_hooks import GUARD, RegistrationError, StopReason, hookimpl

from .limits import Limit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agent_hooks import HookContext, HookOutcome, StopSignal

MAX_SECONDS = 300.0
# Cancelled runs never report their end: the starts of the least recently seen runs are dropped.
MAX_RUNS = 10_000


class Starts:
    """The start of each run, by its execution id, else by its session, in seconds of ``clock``. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._starts: dict[str, float] = {}
        self._lock = Lock()

    def note(self, ctx: HookContext) -> None:
        """Record that the run of ``ctx`` begins now."""
        self.forget(ctx)
        self.elapsed(ctx)

    def elapsed(self, ctx: HookContext) -> float:
        """Return the seconds since the run of ``ctx`` began, or was first seen."""
        now, run = self._clock(), _run(ctx)
        with self._lock:
            start = self._starts[run] = self._starts.pop(run, now)  # the last seen is the last
            if len(self._starts) > MAX_RUNS:
                del self._starts[next(iter(self._starts))]
        return now - start

    def forget(self, ctx: HookContext) -> None:
        """Record that the run of ``ctx`` has ended."""
        with self._lock:
            self._starts.pop(_run(ctx), None)


def _run(ctx: HookContext) -> str:
    return ctx.execution_id or (ctx.state.execution_id if ctx.state is not None else "") or ctx.session_id


class TimeLimit(Limit):
    """Stops a run after ``max_seconds`` of elapsed time, before its next step.

    A run begins with its ``before_execution``; a run resumed in another process, when it is first seen. Waiting counts
    within one process. ``clock``: monotonic seconds, default ``time.monotonic``. ``starts``: the starts of runs, to be
    shared with other limits, in place of ``clock``. Raises ``RegistrationError`` unless the limit is a number from 0.
    """

    name = "guard:time_limit"
    events = ("before_execution", "before_step", "after_execution")

    def __init__(
        self,
        max_seconds: float = MAX_SECONDS,
        *,
        clock: Callable[[], float] = monotonic,
        starts: Starts | None = None,
    ) -> None:
        given: Any = max_seconds
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not given >= 0:
            raise RegistrationError(f"max_seconds must be a number of seconds from 0, not {max_seconds!r}.")
        self._max_seconds = max_seconds
        self._starts = Starts(clock) if starts is None else starts

    def signal(self, ctx: HookContext) -> StopSignal | None:
        """Return the stop signal ``time_limit`` when the time is up; record the start and end of a run."""
        if ctx.event == "before_execution":
            self._starts.note(ctx)
            return None
        if ctx.event == "after_execution":
            self._starts.forget(ctx)
            return None
        elapsed, most = self._starts.elapsed(ctx), self._max_seconds
        if elapsed < most:
            return None
        message = f"Execution time limit reached: {elapsed:.2f}s/{most:.2f}s"
        return self.stop(StopReason.TIME_LIMIT, message, elapsedSeconds=elapsed, maxSeconds=most)

    @hookimpl(priority=GUARD, mode="gate", on_failure="closed")
    def before_execution(self, ctx: HookContext) -> HookOutcome | None:
        """Record when the run begins."""
        return self.handle(ctx)

    @hookimpl(priority=GUARD, mode="observe")
    def after_execution(self, ctx: HookContext) -> None:
        """Forget when the run began."""
        self.handle(ctx)
