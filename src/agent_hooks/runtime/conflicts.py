"""Hooks whose order would be an accident: found before an agent is built, if its author asks for it."""

from __future__ import annotations

from agent_hooks.engine.matchers import text_test
from agent_hooks.errors import PriorityConflictError
from agent_hooks.model.events import HookEvent

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.engine.manager import HookManager


def check_priorities(manager: HookManager) -> None:
    """Raise ``PriorityConflictError`` if two deciding hooks of different plugins share an event, a priority and a
    match, and are not both gates: a deny of either stands, whichever is asked first.

    Their order would then depend on which was registered first. Matches that are texts of exact names conflict only if
    they share a name.
    """
    for event in HookEvent.all():
        chain = manager.compile(event)
        deciders = chain.deciders if chain is not None else ()
        for number, first in enumerate(deciders):
            for second in deciders[number + 1 :]:
                alike = first.order[:2] == second.order[:2] and first.plugin_name != second.plugin_name
                are_gates = first.mode == second.mode == "gate"
                if alike and not are_gates and _may_overlap(first.options.match, second.options.match):
                    raise PriorityConflictError(
                        f"{first.name} and {second.name} both run on {event!s} with priority "
                        f"{first.options.priority}: give one of them another."
                    )


def _may_overlap(first: Any, second: Any) -> bool:
    if not isinstance(first, str) or not isinstance(second, str):
        return True
    tests = text_test(first), text_test(second)
    names = {name.strip() for text in (first, second) for name in text.replace("|", ",").split(",")}
    return None in tests or any(tests[0](name) and tests[1](name) for name in names if tests[0] and tests[1])
