"""Hooks that ``agent-hooks run`` adds to the installed ones: the host's own limits, as a part of the decision.

So observers see the outcome that the host gets, not one that it cannot apply.
"""

from __future__ import annotations

from agent_hooks.engine.markers import hookimpl
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import HookOutcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator

    from agent_hooks.engine.hooks import Ask, Hooks
    from agent_hooks.engine.manager import HookManager
    from agent_hooks.model.context import HookContext
    from agent_hooks.wire import Host


def add_host_hooks(manager: HookManager, host: Host, ctx: HookContext, ask: Ask) -> None:
    """Register those that ``ctx`` needs, if any hook is installed."""
    if ctx.event is not HookEvent.BEFORE_TOOL_USE or ctx.tool_call is None:
        return
    hooks = manager.hooks(ask=ask)
    starts_subagent = ctx.tool_call.kind == "subagent" and hooks.listens(HookEvent.BEFORE_SUBAGENT)
    if starts_subagent or hooks.listens(ctx.event):
        manager.register(HostLimits(host), "agent-hooks run", source="user")
    if starts_subagent:
        manager.register(SubagentGate(host, hooks), "agent-hooks run: subagent", source="managed")


class HostLimits:
    """Asks about, or denies, new arguments that the host would not apply as they are. The outermost wrapper."""

    def __init__(self, host: Host) -> None:
        self._host = host

    @hookimpl(wrapper=True, tryfirst=True, name="agent_hooks.host_limits")
    def before_tool_use(self, ctx: HookContext) -> Generator[None, HookOutcome, HookOutcome | None]:
        """Return the outcome that the host applies, if that is stricter."""
        outcome = yield
        return self._host.limited(outcome, ctx)


class SubagentGate:
    """Asks the hooks of ``before_subagent`` when a tool call would start one: later, the host accepts no refusal."""

    def __init__(self, host: Host, hooks: Hooks) -> None:
        self._host = host
        self._hooks = hooks

    # The timeout of all its hooks together; each has its own, and the command answers before.
    @hookimpl(wrapper=True, tryfirst=True, timeout=600.0, name="agent_hooks.before_subagent")
    async def before_tool_use(self, ctx: HookContext) -> AsyncGenerator[HookOutcome | None, HookOutcome]:
        """Return the hooks' objection to the subagent that the call would start."""
        outcome = yield None
        if outcome.decision.is_blocking:
            return
        args = ctx.tool_args if outcome.tool_args is None else outcome.tool_args
        inner = await self._hooks.dispatch(self._host.subagent(ctx, args))
        if inner.blocks:
            yield HookOutcome(decision=inner.decision, reason=inner.reason, failed=inner.failed, context=inner.context)
        elif inner.task is not None:
            yield HookOutcome.deny(self._host.instead(inner.task))
