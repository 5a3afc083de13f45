"""What stops a run: the signals that decisions and errors leave, and which of them a hook may override."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.policy import RANKS
from agent_hooks.state import StopReason, StopSignal

if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.errors import StopRunError
    from agent_hooks.events import HookEvent
    from agent_hooks.outcome import HookOutcome
    from agent_hooks.state import AgentState

SOFT = frozenset({StopReason.COMPLETED, StopReason.FINISH_REASON, StopReason.UNKNOWN})


# Nobody says who left a signal of its own, or who wants another round in a state that was brought: the one is taken for
# the application's, the other for the least of all.
_SIGNALLED, _UNSAID = "code", "skill"


def decided(event: HookEvent, outcome: HookOutcome) -> StopSignal:
    """Return the signal that stands for a hook's decision to stop."""
    context: dict[str, Any] = {"event": str(event), "hook_source": outcome.source or _SIGNALLED}
    if outcome.failed:
        context["failed"] = True
    return StopSignal(
        reason=StopReason.STOP_REQUESTED,
        message=outcome.reason or "Stop hook forced termination",
        context=context,
        source=outcome.hook or "",
    )


def wished(error: StopRunError, source: str) -> StopSignal:
    """Return the signal that stands for the wish of a tool or a driver to stop."""
    return StopSignal(reason=StopReason.STOP_REQUESTED, message=str(error), context=error.context, source=source)


def may_be_overridden(signal: StopSignal, source: str) -> bool:
    """Whether a hook of this source may make the run go on in spite of the signal: never of a limit, an error, a
    person's wish, a failed gate or a hook of a higher source.
    """
    if signal.reason in SOFT:
        return True
    if signal.reason != StopReason.STOP_REQUESTED or signal.context.get("failed"):
        return False
    return RANKS[signal.context.get("hook_source", _SIGNALLED)] <= RANKS[source or _UNSAID]


def final_status(state: AgentState) -> str:
    """Return what the status of a run that ends so is: failed after any error, stopped if it was made to, else
    completed.
    """
    signal = state.stop_signal
    if state.status == "failed" or any(step.errors for step in state.steps):
        return "failed"
    return "stopped" if signal is not None and signal.reason.was_force_stopped else "completed"
