"""A plugin that records the hooks that ran, their outcomes and durations."""

from __future__ import annotations

from agent_hooks.engine.markers import hookimpl
from agent_hooks.model.outcome import SUBJECTS, Decision, HookOutcome
from agent_hooks.model.values import Value
from agent_hooks.sources.loader import PROTECTION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent


_CHANGES = SUBJECTS | {"state", "context", "messages", "metadata", "signals"}


class Ran(Value):
    """One call of one hook. ``decision`` is ``failed`` for a failure, empty for no opinion."""

    event: str
    hook: str
    plugin: str
    decision: str = ""
    reason: str = ""
    changed: tuple[str, ...] = ()
    milliseconds: float = 0.0
    walk: int = 1
    shadow: bool = False


class Watcher:
    """Records the calls of hooks and the duration of the dispatch."""

    def __init__(self) -> None:
        self.ran: list[Ran] = []
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
        """Record one hook; of our own gate only its decisions."""
        if plugin_name == PROTECTION and outcome is None and error is None:
            return
        why = "" if outcome is None else outcome.reason
        if error is not None:
            why = f"{type(error).__name__}: {error}"
        self.ran.append(
            Ran(
                event=str(event),
                hook=hook_name,
                plugin=plugin_name,
                decision="failed" if error is not None else decision_name(outcome),
                reason=why,
                changed=() if outcome is None else tuple(sorted(outcome._fields.keys() & _CHANGES)),
                milliseconds=duration * 1000,
                walk=walk,
                shadow=shadow,
            )
        )

    @hookimpl
    def agent_hooks_dispatched(self, duration: float) -> None:
        """Keep the duration; the dispatch of a nested question ends before its outer one."""
        self.milliseconds = duration * 1000

    def take(self) -> tuple[list[Ran], float]:
        """Return the hooks recorded since the last call, and the milliseconds of the dispatch."""
        taken = self.ran, self.milliseconds
        self.ran, self.milliseconds = [], 0.0
        return taken


def decision_name(outcome: HookOutcome | None) -> str:
    """Return the name of an outcome's decision or change; an empty string for no opinion."""
    if outcome is None:
        return ""
    if outcome.decision is not Decision.PROCEED:
        return str(outcome.decision)
    if outcome._fields.keys() & SUBJECTS:
        return "rewrite"
    return "context" if outcome.context else "change" if outcome._fields else ""


def new_subject(outcome: HookOutcome, ctx: HookContext) -> Any:
    """Return the subject that the outcome brought, None if it left it alone."""
    return outcome._fields.get(ctx.event.subject or "")
