"""Stop signals of decisions and errors, and requests to continue, which may override some of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.model.policy import RANKS
from agent_hooks.model.state import StopReason, StopSignal

if TYPE_CHECKING:
    from agent_hooks.errors import StopRunError
    from agent_hooks.model.events import HookEvent
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import AgentState
    from agent_hooks.model.tool_call import ErrorInfo

# A request for another round overrides these, whatever their source.
SOFT = frozenset({StopReason.COMPLETED, StopReason.FINISH_REASON, StopReason.UNKNOWN})


class ContinuationRequest:
    """A hook's request for another round: the hook's source, if known, and the text for the model."""

    __slots__ = ("reason", "source")

    def __init__(self, source: str = "", reason: str = "") -> None:
        self.source = source
        self.reason = reason

    def may_override(self, signal: StopSignal, *, is_shown: bool) -> bool:
        """Whether the run continues in spite of the signal. Never overridden: a limit, an error, a person's request, a
        failed gate, a hook of a higher source. A decision to stop is overridden only from ``on_stop``, which shows it.
        """
        if signal.reason in SOFT:
            return True
        if not is_shown or signal.reason != StopReason.STOP_REQUESTED:
            return False
        # Without a source, the signal counts as the application's, and the request ranks lowest.
        theirs, mine = RANKS.get(signal.decided_by or "code"), RANKS[self.source or "skill"]
        return theirs is not None and theirs <= mine and not signal.context.get("failed")


def decision_signal(event: HookEvent, outcome: HookOutcome) -> StopSignal:
    """Return the stop signal for a hook's decision to stop."""
    return StopSignal(
        reason=StopReason.STOP_REQUESTED,
        message=outcome.reason or "Stop hook forced termination",
        context={"event": str(event), "failed": True} if outcome.failed else {"event": str(event)},
        source=outcome.hook or "",
        decided_by=outcome.source or "code",
    )


def request_signal(error: StopRunError, source: str) -> StopSignal:
    """Return the stop signal for a tool or driver that requests a stop."""
    source = error.source or source
    return StopSignal(reason=StopReason.STOP_REQUESTED, message=str(error), context=error.context, source=source)


def all_errors(state: AgentState) -> tuple[ErrorInfo, ...]:
    """Return the errors of the steps, in order, then those recorded in the state only."""
    of_steps = [error for step in state.steps for error in step.errors]
    return (*of_steps, *(error for error in state.errors if error not in of_steps))


def final_status(state: AgentState) -> str:
    """Return the final status: ``failed`` after any error, ``stopped`` if forced, else ``completed``."""
    signal = state.stop_signal
    if state.status == "failed" or any(step.errors for step in state.steps):
        return "failed"
    return "stopped" if signal is not None and signal.reason.was_force_stopped else "completed"
