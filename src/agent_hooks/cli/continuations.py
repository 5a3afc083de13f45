"""The cap on rounds that hooks force: counted across processes, because a host starts one for each stop.

Not every host has a cap of its own; without one, a hook that always says "go on" never lets the agent stop.
"""

from __future__ import annotations

from agent_hooks.errors import AgentHooksError
from agent_hooks.events import HookEvent
from agent_hooks.outcome import Decision, HookOutcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.context import HookContext


def capped(outcome: HookOutcome, ctx: HookContext, limit: int) -> tuple[HookOutcome, tuple[str, ...]]:
    """Return ``outcome``, made to let the agent stop if hooks have forced ``limit`` rounds in a row, and notes on that.

    A row ends when the host says that no hook made the agent go on, or when an outcome lets it stop. Where counting is
    not possible, no second round in a row is forced.
    """
    if ctx.event is not HookEvent.ON_STOP:
        return outcome, ()
    goes_on = outcome.decision is Decision.FORCE_CONTINUE and not outcome.failed
    if not goes_on and not ctx.stop_hook_active:
        return outcome, ()
    scope = f"forced continuations|{ctx.host}|{ctx.session_id}|{ctx.agent_id}"
    try:
        from agent_hooks.store import Store

        store = Store()
        if not goes_on or not ctx.stop_hook_active:
            store.reset(scope)
        if not goes_on or store.increment(scope, "rounds", limit=limit) <= limit:
            return outcome, ()
        why = f"hooks have made it go on {limit} times in a row"
    except (AgentHooksError, ImportError) as error:
        if not goes_on or not ctx.stop_hook_active:
            return outcome, ()
        why = f"hooks have made it go on before, and how often cannot be counted: {error}"
    kept = {name: value for name, value in outcome._fields.items() if name not in ("decision", "reason", "hook")}
    note = f"agent_hooks: the agent may stop although {outcome.hook} wants it to go on, because {why}"
    return HookOutcome._of(kept), (f"{note.removesuffix('.')}. It said: {outcome.reason}",)
