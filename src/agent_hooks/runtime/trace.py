"""Debug mode: every hook that runs, in the log. No values of events, which may hold secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.engine.markers import hookimpl
from agent_hooks.system.visible import logger_of

if TYPE_CHECKING:
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent
    from agent_hooks.model.outcome import HookOutcome

logger = logger_of("agent_hooks.trace")


class Trace:
    """Logs to ``agent_hooks.trace``: each dispatch at its end, and each hook with its decision, at level DEBUG."""

    @hookimpl
    def agent_hooks_executed(
        self,
        event: HookEvent,
        ctx: HookContext,
        hook_name: str,
        outcome: HookOutcome | None,
        error: BaseException | None,
        duration: float,
    ) -> None:
        """Log one hook: event, subject, name, decision, milliseconds."""
        decision = outcome.decision if outcome is not None else "no opinion"
        result = f"failed ({type(error).__name__}), {decision}" if error is not None else str(decision)
        # repr(): the model chooses the name, and must not be able to add lines to the log.
        about = f" {ctx.tool_name!r}" if ctx.tool_name else ""
        logger.debug("step %d %s%s: %s: %s (%.3f ms)", ctx.step_index, event, about, hook_name, result, duration * 1000)

    @hookimpl
    def agent_hooks_dispatched(self, event: HookEvent, ctx: HookContext, outcome: HookOutcome, duration: float) -> None:
        """Log the outcome of a dispatch."""
        by = f" by {outcome.hook}" if outcome.hook else ""
        logger.debug("step %d %s: %s%s (%.3f ms)", ctx.step_index, event, outcome.decision, by, duration * 1000)
