"""The limit of the time that a run takes, by a clock that only goes forward."""

from __future__ import annotations

from collections import OrderedDict
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
# A run that is cancelled, or waits for ever, never says that it has ended: the starts of those that were not heard of
# for longest are forgotten.
MAX_RUNS = 10_000


class Starts:
    """When each run began, by its execution id, else by its session; seconds by ``clock``.

    One object may serve many runs at once, in several threads. It remembers the ``MAX_RUNS`` runs it last heard of.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._starts: OrderedDict[str, float] = OrderedDict()
        self._lock = Lock()

    def note(self, ctx: HookContext) -> None:
        """The run of ``ctx`` begins now."""
        self.forget(ctx)
        self.elapsed(ctx)

    def elapsed(self, ctx: HookContext) -> float:
        """Return the seconds since the run of ``ctx`` began, or since it was first heard of."""
        now, run = self._clock(), _run(ctx)
        with self._lock:
            start = self._starts.setdefault(run, now)
            self._starts.move_to_end(run)
            if len(self._starts) > MAX_RUNS:
                self._starts.popitem(last=False)
        return now - start

    def forget(self, ctx: HookContext) -> None:
        """The run of ``ctx`` has ended."""
        with self._lock:
            self._starts.pop(_run(ctx), None)


def _run(ctx: HookContext) -> str:
    return ctx.execution_id or (ctx.state.execution_id if ctx.state is not None else "") or ctx.session_id


class TimeLimit(Limit):
    """Stops a run that has taken ``max_seconds``, by the clock on the wall and not by the work done.

    It is looked at before each step, so a step that has begun is not cut short. A run begins with its
    ``before_execution``; where that was not seen (a run that is resumed in another process), when it is first heard of.
    The time that a paused run waits counts, within one process. ``clock``: seconds that only go up, default
    ``time.monotonic``. ``starts``: when runs began, to share it with other limits, in place of ``clock``. Raises
    ``RegistrationError`` for a limit that is no number from 0.
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
        """Return the stop signal ``time_limit`` once the time is up; note where a run begins and ends."""
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
        """Note when the run begins."""
        return self.handle(ctx)

    @hookimpl(priority=GUARD, mode="observe")
    def after_execution(self, ctx: HookContext) -> None:
        """Forget when the run began."""
        self.handle(ctx)
