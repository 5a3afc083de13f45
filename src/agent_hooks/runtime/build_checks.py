"""Checks of ``build``: matches that no tool meets, and priorities that two plugins share."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.known_tools import name_problems
from agent_hooks.engine.matchers import CompositeMatcher, ToolNameMatcher, compile_match, text_test
from agent_hooks.errors import PriorityConflictError, RegistrationError
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.tool_names import exact_names
from agent_hooks.model.tools import CLAUDE_NAMES, KINDS
from agent_hooks.system.visible import logger_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.engine.plan import Hook

    from .python_tools import Tool

# Names of arguments that suggest a kind.
_KIND_HINTS = {"command": "shell", "cmd": "shell", "path": 'read" or kind="write', "url": "fetch"}
_KIND_NAMES = frozenset((*KINDS, *(name for names in CLAUDE_NAMES.values() for name in names)))


def check_matches(manager: HookManager, tools: Iterable[Tool]) -> None:
    """Log matches that meet no tool, and tools without a kind. Raises ``RegistrationError`` for misspelt names."""
    calls = [(tool, ToolCall(tool.name, kind=tool.kind, aliases=tool.aliases)) for tool in tools]
    warned: list[str] = []
    kinds: set[str] = set()
    for hook in manager.all_hooks():
        match = hook.options.match
        if match is None or hook.event.matched_by != "tool":
            continue
        problems = [problem for problem in name_problems(hook, manager.known_tools) if problem.kind == "unknown-tool"]
        for problem in problems:
            if problem.is_error and hook.source == "code":
                raise RegistrationError(str(problem))
        kinds.update(_kinds_in(match))
        if problems:
            warned += map(str, problems)
        elif hook.source == "code" and not any(_may_meet(match, hook, call) for _, call in calls):
            names = ", ".join(call.name for _, call in calls) or "it has none"
            shown = match if isinstance(match, str) else repr(match)
            warned.append(
                f"The hook {hook.name} is never asked: its match {shown!r} meets no tool of this agent ({names})."
            )
    for tool, _ in calls:
        hint = next((name for name in tool.parameters.get("properties", ()) if name in _KIND_HINTS), None)
        if hint is not None and kinds and tool.kind == "other":
            warned.append(
                f"The tool {tool.name} takes {hint!r} but has no kind, so hooks that match {', '.join(sorted(kinds))} "
                f'are not asked about it: declare one, such as kind="{_KIND_HINTS[hint]}".'
            )
    for text in dict.fromkeys(warned):
        logger_of().warning("%s", text)


def _may_meet(match: Any, hook: Hook, call: ToolCall) -> bool:
    """Whether a tool call may meet ``match``, judged by its names; one that looks at more than a name may."""
    if isinstance(match, CompositeMatcher):
        found = [_may_meet(each, hook, call) for each in match.matchers]
        return all(found) if match.require_all else any(found)
    if not isinstance(match, (str, ToolNameMatcher)) and not hasattr(match, "search"):
        return True
    test = compile_match(match, "tool", hook.source)
    return test is None or bool(test(HookContext(hook.event, tool_call=call)))


def _kinds_in(match: Any) -> set[str]:
    if isinstance(match, CompositeMatcher):
        return set().union(*map(_kinds_in, match.matchers))
    text = getattr(match, "match_text", match)
    return set(_KIND_NAMES.intersection(exact_names(text) or ())) if isinstance(text, str) else set()


def check_priorities(manager: HookManager) -> None:
    """Raise ``PriorityConflictError`` if two deciding hooks of different plugins share an event, a priority and a
    match: their order would depend on the order of registration. Two gates do not conflict, because a deny of either
    holds in any order. Matches by exact names conflict only if they share a name.
    """
    for event in HookEvent.all():
        chain = manager.compile(event)
        for first, second in combinations(chain.deciders if chain is not None else (), 2):
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
