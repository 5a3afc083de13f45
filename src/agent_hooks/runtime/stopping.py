"""Stop signals of decisions and errors, and requests to go on, which may override some."""

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

# A wish for another round answers these, whoever left them.
SOFT = frozenset({StopReason.COMPLETED, StopReason.FINISH_REASON, StopReason.UNKNOWN})


class ContinuationRequest:
    """A hook's request for another round: the hook's source, if known, and the text for the model."""

    __slots__ = ("reason", "source")

    def __init__(self, source: str = "", reason: str = "") -> None:
        self.source = source
        self.reason = reason

    def may_override(self, signal: StopSignal, *, is_shown: bool) -> bool:
        """Whether it makes the run go on in spite of the signal: never of a limit, an error, a person's wish, a failed
        gate or a hook of a higher source; of a decision to stop only where the hook was shown it, on ``on_stop``.
        """
        if signal.reason in SOFT:
            return True
        if not is_shown or signal.reason != StopReason.STOP_REQUESTED:
            return False
        # A signal that is nobody's decision is taken for the application's, a wish of nobody's for the least.
        theirs, mine = RANKS.get(signal.decided_by or "code"), RANKS[self.source or "skill"]
        return theirs is not None and theirs <= mine and not signal.context.get("failed")


def decided(event: HookEvent, outcome: HookOutcome) -> StopSignal:
    """Return the signal that stands for a hook's decision to stop."""
    return StopSignal(
        reason=StopReason.STOP_REQUESTED,
        message=outcome.reason or "Stop hook forced termination",
        context={"event": str(event), "failed": True} if outcome.failed else {"event": str(event)},
        source=outcome.hook or "",
        decided_by=outcome.source or "code",
    )


def wished(error: StopRunError, source: str) -> StopSignal:
    """Return the signal that stands for the wish of a tool or a driver to stop."""
    source = error.source or source
    return StopSignal(reason=StopReason.STOP_REQUESTED, message=str(error), context=error.context, source=source)


def all_errors(state: AgentState) -> tuple[ErrorInfo, ...]:
    """Return the errors of the steps, in order, and those that are in the state alone."""
    of_steps = [error for step in state.steps for error in step.errors]
    return (*of_steps, *(error for error in state.errors if error not in of_steps))


def final_status(state: AgentState) -> str:
    """Return the final status: ``failed`` after any error, ``stopped`` if forced, else ``completed``."""
    signal = state.stop_signal
    if state.status == "failed" or any(step.errors for step in state.steps):
        return "failed"
    return "stopped" if signal is not None and signal.reason.was_force_stopped else "completed"
