"""The values of tests with known arguments, ``[ … ]`` and ``[[ … ]]``, and properties of loops."""

from __future__ import annotations

import re

from agent_hooks.shell import syntax
from agent_hooks_guards.model.values import ANYTHING, UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "-eq": int.__eq__, "-ne": int.__ne__, "-lt": int.__lt__, "-le": int.__le__, "-gt": int.__gt__, "-ge": int.__ge__,
}  # fmt: skip
# At most two repetitions of single characters, in a short text: a search ends soon.
_PATTERN = re.compile(r"(?:[^*+?{\[]|\.[*+]){0,80}")
_LONGEST = 200  # characters
# Commands that wait, or end the loop.
_WAITING = frozenset(("sleep", "wait", "read", "break", "exit", "return", "inotifywait"))


def holds(arguments: Sequence[str]) -> bool | None:
    """Return whether the test with these arguments is true, None if that is unknown."""
    if any(UNKNOWN in argument for argument in arguments) or not 1 < len(arguments) < 4:
        return None
    if len(arguments) == 2:
        return {"-n": bool(arguments[1]), "-z": not arguments[1]}.get(arguments[0])
    left, sign, right = arguments
    if sign in ("=", "==", "!="):
        return None if any(mark in right for mark in "*?[") else (left == right) == (sign != "!=")
    is_number = all(each.lstrip("-").isdecimal() and len(each) <= 18 for each in (left, right))
    return _COMPARE[sign](int(left), int(right)) if sign in _COMPARE and is_number else None


def matched(text: str, patterns: Sequence[str]) -> list[Data]:
    """Return the value of ``BASH_REMATCH`` after ``[[ text =~ pattern ]]``; of a complex pattern it is unknown."""
    pattern = "".join(patterns)
    unknown = [ANYTHING] * (pattern.count("(") + 1)
    is_simple = len(text) <= _LONGEST and _PATTERN.fullmatch(pattern) is not None and pattern.count(".") < 3
    if not is_simple or UNKNOWN in text + pattern or "(?" in pattern:
        return unknown
    try:
        found = re.search(pattern, text)
    except re.error:
        return unknown
    return [Data(each or "") for each in (found[0], *found.groups())] if found else []


def reads_input(node: syntax.Node) -> bool:
    """Whether a condition is met as long as there is input."""
    while type(node) is syntax.Sequence and len(node.items) == 1:
        node = node.items[0].node
    return type(node) is syntax.Simple and node.words[:1] == [[syntax.Bare("read")]]


def waits(body: syntax.Node) -> bool:
    """Whether a loop's body waits for something, or ends the loop."""
    waiting: list[Any] = [(body, False)]
    while waiting:
        node, is_background = waiting.pop()
        if isinstance(node, syntax.Sequence):
            waiting += [(item.node, item.background) for item in node.items]
        elif isinstance(node, syntax.Pipeline):
            waiting += [(part, is_background) for part in node.parts]
        elif isinstance(node, syntax.Group):
            waiting.append((node.body, is_background))
        elif isinstance(node, syntax.If):
            waiting += [(branch, is_background) for _, branch in node.branches]
        elif isinstance(node, syntax.Simple) and node.words and not is_background:
            first = node.words[0]
            if len(first) == 1 and type(first[0]) is syntax.Bare and first[0].text in _WAITING:
                return True
    return False
