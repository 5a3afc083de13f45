"""Ask the hooks about one context, in an event loop only if its chain needs one."""

from __future__ import annotations

from agent_hooks.model.events import HookEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.engine.hooks import Hooks
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome


def needs_loop(hooks: Hooks, event: HookEvent) -> bool:
    """Whether a hook that would be asked about ``event`` is async, those of the permission request included."""
    chains = (hooks.chain(event), hooks.chain(HookEvent.PERMISSION_REQUEST))
    hooks_of = (hook for chain in chains if chain for hook in (*chain.wrappers, *chain.deciders, *chain.observers))
    return any(hook.is_async for hook in hooks_of)


def ask(hooks: Hooks, ctx: HookContext) -> HookOutcome:
    """Return the settled outcome of ``ctx``, background observers joined."""
    if needs_loop(hooks, ctx.event):
        return hooks.run_sync(ctx)
    outcome = hooks.dispatch_sync(ctx)
    hooks.join_sync()
    return outcome
