"""A plugin that records the hooks that ran, their outcomes and durations."""

from __future__ import annotations

from agent_hooks.engine.markers import hookimpl
from agent_hooks.model.outcome import SUBJECTS, Decision
from agent_hooks.sources.loader import PROTECTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent
    from agent_hooks.model.outcome import HookOutcome


_CHANGES = SUBJECTS | {"state", "context", "messages", "metadata", "signals"}


class Watcher:
    """Records the calls of hooks, as JSON types, and the duration of the dispatch."""

    def __init__(self) -> None:
        self.ran: list[dict[str, Any]] = []
        self.milliseconds = 0.0

    @hookimpl
    def agent_hooks_executed(
        self,
        event: HookEvent,
        hook_name: str,
        plugin_name: str,
        outcome: HookOutcome | None,
        error: BaseException | None,
        duration: float,
        walk: int,
        shadow: bool,
    ) -> None:
        """Record one hook; of our own gate only its decisions. The decision is empty for no opinion."""
        if plugin_name == PROTECTION and outcome is None and error is None:
            return
        self.ran.append(
            {
                "event": str(event),
                "hook": hook_name,
                "plugin": plugin_name,
                "decision": decision_name(outcome) if error is None else "failed",
                "reason": reason_of(outcome) if error is None else f"{type(error).__name__}: {error}",
                "changed": [] if outcome is None else sorted(outcome._fields.keys() & _CHANGES),
                "milliseconds": duration * 1000,
                "walk": walk,
                "shadow": shadow,
            }
        )

    @hookimpl
    def agent_hooks_dispatched(self, duration: float) -> None:
        """Keep the duration; the dispatch of a nested question ends before its outer one."""
        self.milliseconds = duration * 1000


def decision_name(outcome: HookOutcome | None) -> str:
    """Return the name of an outcome's decision or change; an empty string for no opinion."""
    if outcome is None:
        return ""
    if outcome.decision is not Decision.PROCEED:
        return str(outcome.decision)
    if _ends_run(outcome):
        return "stop"
    if outcome._fields.keys() & SUBJECTS:
        return "rewrite"
    return "context" if outcome.context else "change" if outcome._fields else ""


def reason_of(outcome: HookOutcome | None) -> str:
    """Return the reason of an outcome, or of the signal by which it ends the run."""
    if outcome is None:
        return ""
    is_signal = outcome.decision is Decision.PROCEED and _ends_run(outcome)
    return outcome.stop_signal.message if is_signal and outcome.stop_signal is not None else outcome.reason


def _ends_run(outcome: HookOutcome) -> bool:
    return outcome.stop_signal is not None and outcome.stop_signal.reason.was_force_stopped


def new_subject(outcome: HookOutcome, ctx: HookContext) -> Any:
    """Return the subject that the outcome brought, None if it left it alone."""
    return outcome._fields.get(ctx.event.subject or "")
