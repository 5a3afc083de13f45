"""State of one session across processes: the rounds that hooks forced, and the notes that were shown.

Not every host has a cap of its own; without one, a hook that always continues never lets the agent stop.
"""

from __future__ import annotations

from agent_hooks.errors import AgentHooksError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import HookOutcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_hooks.model.context import HookContext


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
