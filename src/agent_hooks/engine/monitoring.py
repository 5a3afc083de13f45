"""pluggy's monitoring of hook calls, told of dispatches."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent
    from agent_hooks.model.outcome import HookOutcome

    from .manager import HookManager
    from .watching import Observer


def monitor(
    manager: HookManager, before: Callable[..., None], after: Callable[..., None], result: Callable[..., Any]
) -> Observer:
    """Return an observer that calls ``before`` and ``after`` as pluggy's monitoring does, with a ``result``."""
    from asyncio import CancelledError

    def started(event: HookEvent, ctx: HookContext) -> Callable[..., None]:
        name, impls = str(event), getattr(manager.hook, event).get_hookimpls()
        given = {each: ctx if each == "ctx" else getattr(ctx, each) for each in manager.arguments_of(event)}
        before(name, impls, given)

        def ended(_ctx: HookContext, outcome: HookOutcome | None, _duration: float) -> None:
            error = CancelledError("The dispatch was cancelled.") if outcome is None else None
            after(result(outcome, error), name, impls, given)

        return ended

    return started, started, partial(manager.tolerate, "a monitor of hook calls", "the dispatch")
