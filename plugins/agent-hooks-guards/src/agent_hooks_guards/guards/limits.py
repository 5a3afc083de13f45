"""Limits of a run: its steps, tokens, time and cost, and how the model's last answer ended."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from threading import Lock
from time import monotonic

from agent_hooks import CLEANUP, GUARD, RegistrationError, SettingsError, StopReason, hookimpl

from .base import RunGuard, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agent_hooks import AgentState, HookContext, HookOutcome, StopSignal, Usage

    Money = Decimal | float | str

MAX_STEPS = 20
MAX_TOKENS = 32768
MAX_SECONDS = 300.0
# Cancelled runs never report their end: the starts of the least recently seen runs are dropped.
MAX_RUNS = 10_000
_MILLION = 1_000_000
# Fewer decimals would round away what a step costs.
_DECIMALS = 4


class Limit(RunGuard):
    """A limit that is checked before each step, so that a step is never cut short.

    As an action on ``should_continue`` it judges the same; a run that ends by itself exactly at the limit then counts
    as stopped by it.
    """

    @hookimpl(priority=GUARD, mode="gate", on_failure="closed")
    def before_step(self, ctx: HookContext) -> HookOutcome | None:
        """Leave a stop signal if the limit is reached."""
        return self.handle(ctx)


class StepsLimit(Limit):
    """Stops a run after exactly ``max_steps`` steps.

    ``step_counter``: counts the steps in the state; default: the completed steps of this run. Without a state there is
    no limit. Raises ``RegistrationError`` unless the limit is a whole number from 0.
    """

    name = "guard:steps_limit"

    def __init__(self, max_steps: int = MAX_STEPS, step_counter: Callable[[AgentState], int] | None = None) -> None:
        self._max_steps = whole_number("max_steps", max_steps)
        self._step_counter = step_counter

    def signal(self, ctx: HookContext) -> StopSignal | None:
        """Return the stop signal ``steps_limit`` after the last step."""
        state, most = ctx.state, self._max_steps
        if state is None:
            return None
        made = state.step_count if self._step_counter is None else self._step_counter(state)
        if made < most:
            return None
        message = f"Step limit reached: {made}/{most}"
        return self.stop(StopReason.STEPS_LIMIT, message, currentSteps=made, maxSteps=most)


class TokenLimit(Limit):
    """Stops a run whose model calls have used ``max_total_tokens``, input and output together.

    The last step may go beyond the limit: its usage is not known before. Without a state there is no limit. Raises
    ``RegistrationError`` unless the limit is a whole number from 0.
    """

    name = "guard:token_limit"

    def __init__(self, max_total_tokens: int = MAX_TOKENS) -> None:
        self._max_total_tokens = whole_number("max_total_tokens", max_total_tokens)

    def signal(self, ctx: HookContext) -> StopSignal | None:
        """Return the stop signal ``token_limit`` when the tokens are used."""
        if ctx.state is None:
            return None
        # Usage by model includes refused answers; some hosts report only the sum.
        by_model = sum(usage.total for usage in ctx.state.model_usage.values())
        total, most = max(ctx.state.usage.total, by_model), self._max_total_tokens
        if total < most:
            return None
        message = f"Token limit reached: {total}/{most}"
        return self.stop(StopReason.TOKEN_LIMIT, message, totalTokens=total, maxTotalTokens=most)


class Starts:
    """The start of each run, by its execution id, else by its session, in seconds of ``clock``. Thread-safe."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._starts: dict[str, float] = {}
        self._lock = Lock()

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
        given: object = max_seconds
        if isinstance(given, bool) or not isinstance(given, (int, float)) or not given >= 0:
            raise RegistrationError(f"max_seconds must be a number of seconds from 0, not {max_seconds!r}.")
        self._max_seconds = max_seconds
        self._starts = Starts(clock) if starts is None else starts

    def signal(self, ctx: HookContext) -> StopSignal | None:
        """Return the stop signal ``time_limit`` when the time is up; record the start and end of a run."""
        if ctx.event in ("before_execution", "after_execution"):
            self._starts.forget(ctx)
        if ctx.event == "after_execution":
            return None
        elapsed, most = self._starts.elapsed(ctx), self._max_seconds
        if elapsed < most or ctx.event == "before_execution":
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


@dataclass(frozen=True)
class Price:
    """The price of a million tokens, in any one currency: numbers or numeric strings.

    ``cached``: input from the provider's cache, default ``input``; ``reasoning``: output that is not shown, default
    ``output``. Raises ``RegistrationError`` unless each is an amount from 0.
    """

    input: Money
    output: Money
    cached: Money | None = None
    reasoning: Money | None = None

    def __post_init__(self) -> None:
        for kind in ("input", "output", "cached", "reasoning"):
            given = getattr(self, kind)
            if given is not None:
                object.__setattr__(self, kind, amount(f"The price of {kind} tokens", given))

    def of(self, usage: Usage) -> Decimal:
        """Return the cost of ``usage``, whose input includes cached tokens, and whose output reasoning."""
        plain_input = max(usage.input_tokens - usage.cached_tokens, 0)
        plain_output = max(usage.output_tokens - usage.reasoning_tokens, 0)
        cached = self.input if self.cached is None else self.cached
        reasoning = self.output if self.reasoning is None else self.reasoning
        parts = (
            (plain_input, self.input),
            (usage.cached_tokens, cached),
            (plain_output, self.output),
            (usage.reasoning_tokens, reasoning),
        )
        return sum((tokens * Decimal(price) for tokens, price in parts), Decimal()) / _MILLION


def amount(name: str, given: Money) -> Decimal:
    """Return ``given`` as a decimal, a float as written. Raises ``RegistrationError`` unless it is an amount from 0."""
    try:
        value = Decimal(str(given))
        if value.is_finite() and value >= 0:
            return value
    except InvalidOperation:  # a bool, too
        pass
    raise RegistrationError(f"{name} must be an amount from 0, not {given!r}.")


class CostLimit(Limit):
    """Stops a run whose model calls, refused answers included, have cost ``max_cost``, in the currency of ``prices``.

    ``prices``: a ``Price`` by the name of a model or its beginning (``claude-opus``); the longest match counts, and
    ``*`` is any model. A used model without a price stops the run. The last step may go beyond the limit: its cost is
    not known before. Without a state there is no limit. Raises ``RegistrationError`` for an invalid amount, and without
    prices.
    """

    name = "guard:cost_limit"

    def __init__(self, max_cost: Money, prices: Mapping[str, Price]) -> None:
        self._max_cost = amount("max_cost", max_cost)
        if not prices or not all(model.strip() and isinstance(price, Price) for model, price in prices.items()):
            raise RegistrationError(
                "prices must give a Price(input, output) for each model's name or its beginning, or for '*', not "
                f"{prices!r}."
            )
        # Longest first, so that the first match counts; "" is the beginning of every name.
        known = {"" if model == "*" else model: price for model, price in prices.items()}
        self._prices = sorted(known.items(), key=lambda item: len(item[0]), reverse=True)

    def cost_of(self, state: AgentState) -> Decimal:
        """Return the cost of ``state.model_usage``. Raises ``SettingsError`` for a model without a price."""
        used = [(model, usage) for model, usage in state.model_usage.items() if usage.total]
        return sum((self._price(model).of(usage) for model, usage in used), Decimal())

    def signal(self, ctx: HookContext) -> StopSignal | None:
        """Return the stop signal ``token_limit`` when the money is spent, or the cost is unknown."""
        if ctx.state is None:
            return None
        most = self._max_cost
        try:
            total = self.cost_of(ctx.state)
        except SettingsError as error:
            return self.stop(StopReason.TOKEN_LIMIT, str(error), maxCost=f"{most:f}")
        if total < most:
            return None
        decimals = max(_DECIMALS, -int(most.as_tuple().exponent))
        message = f"Cost limit reached: {total:.{decimals}f}/{most:f}"
        return self.stop(StopReason.TOKEN_LIMIT, message, totalCost=f"{total:f}", maxCost=f"{most:f}")

    def _price(self, model: str) -> Price:
        for beginning, price in self._prices:
            if model.startswith(beginning):
                return price
        named = f"the model {model!r}" if model else "a model that gave no name"
        remedy = f"give one for {model!r}, or for '*'" if model else "give one for '*'"
        raise SettingsError(f"Cost limit: there is no price for {named}, so its cost is not known: {remedy}.")


class FinishReasonLimit(RunGuard):
    """Stops a run after a step in which the model ended for one of ``stop_reasons``, in the words of its provider.

    ``finish_reason_resolver``: finds the reason in the state; default: the step's ``finish_reason``. It runs after the
    other hooks of the step.
    """

    name = "guard:finish_reason"
    events = ("after_step",)
    priority = CLEANUP

    def __init__(
        self,
        stop_reasons: str | Iterable[str],
        finish_reason_resolver: Callable[[AgentState], str | None] | None = None,
    ) -> None:
        self._stop_reasons = (stop_reasons,) if isinstance(stop_reasons, str) else tuple(stop_reasons)
        self._resolver = finish_reason_resolver

    def signal(self, ctx: HookContext) -> StopSignal | None:
        """Return the stop signal ``finish_reason`` if the model ended for one of the reasons."""
        found = self._finish_reason(ctx) if self._stop_reasons else None
        if not found or found not in self._stop_reasons:
            return None
        message = f'Finish reason "{found}" matched stop condition'
        return self.stop(StopReason.FINISH_REASON, message, finishReason=found, stopReasons=[*self._stop_reasons])

    def _finish_reason(self, ctx: HookContext) -> str | None:
        if self._resolver is not None:
            return None if ctx.state is None else self._resolver(ctx.state)
        step = ctx.step
        if step is None and ctx.state is not None:
            step = ctx.state.current_step
        return None if step is None else step.finish_reason

    @hookimpl(priority=CLEANUP, mode="gate")
    def after_step(self, ctx: HookContext) -> HookOutcome | None:
        """Leave a stop signal if the model ended for one of the reasons."""
        return self.handle(ctx)
