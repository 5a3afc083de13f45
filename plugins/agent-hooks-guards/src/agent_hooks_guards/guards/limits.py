"""Limits of a run by its state: steps, tokens, and how the model's last answer ended."""

from __future__ import annotations

from agent_hooks import CLEANUP, GUARD, StopReason, hookimpl

from .base import RunGuard, whole_number

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_hooks import AgentState, HookContext, HookOutcome, StopSignal

MAX_STEPS = 20
MAX_TOKENS = 32768


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
