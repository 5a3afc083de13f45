"""pluggy's monitoring of hook calls, told of dispatches."""

from __future__ import annotations

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
    """Return an observer that calls ``before`` and ``after`` with the arguments of pluggy's monitoring.

    ``result(value, exception)`` makes the first argument of ``after``.
    """

    def started(event: HookEvent, ctx: HookContext) -> Callable[..., None]:
        name, impls = str(event), getattr(manager.hook, event).get_hookimpls()
        given = {each: ctx if each == "ctx" else getattr(ctx, each) for each in manager.arguments_of(event)}
        before(name, impls, given)

        def ended(_ctx: HookContext, outcome: HookOutcome | None, _duration: float) -> None:
            after(result(outcome, _cancelled() if outcome is None else None), name, impls, given)

        return ended

    def tolerate(error: BaseException) -> None:
        manager.tolerate("a monitor of hook calls", "the dispatch", error)

    return started, started, tolerate


def _cancelled() -> BaseException:
    from asyncio import CancelledError

    return CancelledError("The dispatch was cancelled.")
