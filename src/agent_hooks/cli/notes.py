"""Notes for people, each told once in a session: remembered across the processes that answer its events."""

from __future__ import annotations

from agent_hooks.errors import AgentHooksError
from agent_hooks.model.events import HookEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_hooks.model.context import HookContext


def untold(notes: Sequence[str], ctx: HookContext, *, is_shown: bool) -> tuple[str, ...]:
    """Return those of ``notes`` that the session of ``ctx`` has not been told yet, all where it begins or has no id.

    They count as told if the host shows them to people at this event (``is_shown``). Where that cannot be remembered,
    they are told each time.
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
