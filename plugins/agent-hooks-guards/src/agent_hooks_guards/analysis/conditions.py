"""Whether a test is true, as far as its words tell: ``[ … ]`` and ``[[ … ]]``."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import ANYTHING, UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_MAX_WAYS = 2_000_000
_REPEATS = frozenset("*+?{")
_CLASSES = {
    "[:alnum:]": "A-Za-z0-9", "[:alpha:]": "A-Za-z", "[:digit:]": "0-9", "[:lower:]": "a-z", "[:upper:]": "A-Z",
    "[:space:]": r"\s", "[:blank:]": r" \t", "[:xdigit:]": "0-9A-Fa-f", "[:punct:]": r"!-/:-@\[-`{-~",
}  # fmt: skip
_COMPARE: dict[str, Callable[[int, int], bool]] = {
    "-eq": int.__eq__, "-ne": int.__ne__, "-lt": int.__lt__, "-le": int.__le__, "-gt": int.__gt__, "-ge": int.__ge__,
}  # fmt: skip
_GLOBS = frozenset("*?[")


def holds(words: Sequence[str]) -> bool | None:
    """Return whether the test with these words is true, None if that is not known."""
    if any(UNKNOWN in word for word in words):
        return None
    if words[:1] == ["!"] and len(words) > 1:
        found = holds(words[1:])
        return None if found is None else not found
    if len(words) == 1:
        return bool(words[0])
    if len(words) == 2:
        return {"-n": bool(words[1]), "-z": not words[1]}.get(words[0])
    if len(words) != 3:
        return None
    left, operator, right = words
    if operator in ("=", "==", "!="):
        return None if not _GLOBS.isdisjoint(right) else (left == right) == (operator != "!=")
    compare = _COMPARE.get(operator)
    if compare is None or not (_is_number(left) and _is_number(right)):
        return None
    return compare(int(left), int(right))


def matched(text: str, patterns: Sequence[str]) -> list[Data]:
    """Return what ``BASH_REMATCH`` holds after ``[[ text =~ pattern ]]``: unknown texts if it cannot be told."""
    pattern = "".join(patterns)
    if UNKNOWN in text or UNKNOWN in pattern or not _is_quick(text, pattern):
        return [ANYTHING] * (pattern.count("(") + 1)
    for name, meaning in _CLASSES.items():
        pattern = pattern.replace(name, meaning)
    try:
        found = re.search(pattern, text)
    except (re.error, OverflowError, RecursionError):
        return [ANYTHING] * (pattern.count("(") + 1)
    return [Data(each or "") for each in (found[0], *found.groups())] if found else []


def _is_quick(text: str, pattern: str) -> bool:
    """Whether a search ends soon: nothing that repeats is repeated, and few things are."""
    repeats = sum(char in _REPEATS for char in pattern)
    nested = any(char == ")" and pattern[at + 1 : at + 2] in _REPEATS for at, char in enumerate(pattern[:-1]))
    return not nested and "(?" not in pattern and (len(text) + 1) ** (repeats + 1) <= _MAX_WAYS


def _is_number(text: str) -> bool:
    return text.lstrip("-").isdecimal() and len(text) <= 18
