"""The part of ``agent-hooks run`` in a decision: the host's own limits as hooks, and the state of a session across
processes: the rounds that hooks forced, and the notes that were shown.

As hooks, because observers then see the outcome that the host gets, not one that it cannot apply. Not every host has a
cap of its own on rounds; without one, a hook that always continues never lets the agent stop.
"""

from __future__ import annotations

from agent_hooks.engine.markers import hookimpl
from agent_hooks.errors import AgentHooksError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import HookOutcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Generator, Sequence

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


def capped(outcome: HookOutcome, ctx: HookContext, limit: int) -> tuple[HookOutcome, tuple[str, ...]]:
    """Return ``outcome``, which makes the agent continue, or one that lets it stop after ``limit`` forced rounds in a
    row; and notes on that.

    A row ends only when the host reports (``stop_hook_active``) that no hook made the agent continue; without such
    reports, the session is one row. Where counting is not possible, no second round in a row is forced.
    """
    is_first = ctx._fields.get("stop_hook_active") is False
    agent = ctx.agent_id or (ctx.payload or {}).get("teammate_name", "")
    scope = f"forced continuations|{ctx.host}|{ctx.session_id}|{ctx.host_event}|{agent}"
    try:
        from agent_hooks.system.store import Store

        store = Store()
        if is_first:
            store.reset(scope)
        if store.increment(scope, "rounds", limit=limit) <= limit:
            return outcome, ()
        why = f"hooks have made it go on {limit} times in a row"
    except (AgentHooksError, ImportError) as error:
        if is_first:
            return outcome, ()
        why = f"hooks have made it go on before, and how often cannot be counted: {error}"
    kept = {name: value for name, value in outcome._fields.items() if name not in ("decision", "reason", "hook")}
    note = f"agent_hooks: the agent may stop although {outcome.hook} wants it to go on, because {why}"
    return HookOutcome._of(kept), (f"{note.removesuffix('.')}. It said: {outcome.reason}",)


def unseen(notes: Sequence[str], ctx: HookContext, *, is_shown: bool) -> tuple[str, ...]:
    """Return the ``notes`` that are new to the session of ``ctx``, all of them where it begins or has no id.

    They count as shown if the host shows them to people at this event (``is_shown``). Where that cannot be stored, they
    are shown each time.
    """
    if not notes or not ctx.session_id:
        return tuple(notes)
    scope = f"notes|{ctx.host}|{ctx.session_id}"
    try:
        from agent_hooks.system.store import Store

        store = Store()
        if ctx.event is HookEvent.SESSION_START:
            store.reset(scope)
        return tuple(note for note in notes if store.increment(scope, note, limit=int(is_shown)) == 1)
    except (AgentHooksError, ImportError):
        return tuple(notes)
