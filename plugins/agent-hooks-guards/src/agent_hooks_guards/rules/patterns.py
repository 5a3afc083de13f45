"""Regular expressions that no text can stall.

Python's ``re`` backtracks: adjacent repeats can take polynomial time, nested repeats exponential time. So the ways to
match are counted when a pattern is compiled, and only short enough texts are searched. A project's patterns are
searched by RE2, as everywhere in agent_hooks.
"""

from __future__ import annotations

import re
import warnings
from re import _parser  # type: ignore[attr-defined] # the parser of `re` itself; its public name is deprecated

from agent_hooks import RegistrationError
from agent_hooks.model.policy import TIGHTENING_ONLY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

# The most steps of one search, about a second.
MAX_STEPS = 1 << 28
# Lengths of text, longest first; a pattern that takes too long on the shortest is of no use.
LENGTHS = tuple(1 << power for power in range(20, 6, -1))
_ENDLESS = 1 << 64


class SafePattern:
    """A regular expression, searched anywhere in a text.

    ``limit``: the length of the longest text that is searched: 1,048,576 characters without varying repeats (``*``,
    ``+``, ``{2,}``), about 16,384 with one, 1,024 with two adjacent ones, 256 with three. For a ``source`` that may
    only tighten, RE2 searches up to 1,048,576 characters; where it is not installed, back references are refused.
    Raises ``RegistrationError`` if it does not compile, or could take more than about a second for 128 characters.
    """

    def __init__(self, text: str, source: str = "code") -> None:
        self.text = text
        compiled = _compile(text)
        parsed = _parser.parse(text)
        if source in TIGHTENING_ONLY:
            search = _re2(text, source)
            if search is not None:
                self._search, self.limit, self._literal = search, LENGTHS[0], ""
                return
            if "GROUPREF" in repr(parsed):
                raise RegistrationError(
                    f"The pattern {text!r} refers back to what a group has matched, which a {source} may not use: it "
                    "can take very long. Spell out what is looked for."
                )
        limit = next((length for length in LENGTHS if length * _effort(parsed, length)[1] <= MAX_STEPS), None)
        if limit is None:
            raise RegistrationError(
                f"The pattern {text!r} repeats too much inside or beside other repeats and alternatives, which can "
                "take exponential time: split it into several rules, or make repeats possessive, as in \\w++."
            )
        self.limit = limit
        self._search = compiled.search
        self._literal = _literal(parsed, compiled.flags)

    def found_in(self, text: str) -> bool | None:
        """Return whether it is found in ``text``; None if ``text`` is longer than ``limit`` and may match."""
        if self._literal not in text:
            return False
        # A longer text is not searched in part: padding must not hide a match.
        return self._search(text) is not None if len(text) <= self.limit else None


def _re2(text: str, source: str) -> Callable[[str], Any] | None:
    """Return a search by RE2, None where it is not installed. Raises ``RegistrationError`` for unsupported syntax."""
    from importlib.util import find_spec

    if find_spec("re2") is None:
        return None
    from agent_hooks.engine.expressions import bounded_search

    search, _ = bounded_search(text, f"The pattern {text!r}", source, is_quick=False)
    # RE2 takes UTF-8, which has no halves of characters.
    return lambda searched: search(searched.encode("utf-8", "replace").decode("utf-8"))


def _compile(text: str) -> re.Pattern[str]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return re.compile(text)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        raise RegistrationError(f"The pattern {text!r} is not a regular expression: {error}.") from error


def _parts(argument: Any) -> list[Any]:
    """Return the patterns directly inside an operation's argument."""
    if isinstance(argument, _parser.SubPattern):
        return [argument]
    if isinstance(argument, (tuple, list)):
        return [part for item in argument for part in _parts(item)]
    return []


def _effort(pattern: Any, length: int) -> tuple[int, int]:
    """Return upper bounds of the ways to match at one position of a text of ``length``, and of the steps to try all."""
    ways = steps = 1
    for operation, argument in pattern:
        inner = [_effort(part, length) for part in _parts(argument)]
        name = str(operation)
        if name.startswith("GROUPREF"):  # compares as much as the group has matched
            steps = min(steps + ways * length, _ENDLESS)
        if not inner:
            continue
        # Of alternatives; of anything else there is one.
        inner_ways, inner_steps = sum(each[0] for each in inner), sum(each[1] for each in inner)
        if name.endswith("_REPEAT"):
            # Repeats side by side share the text: with up to three of them that makes a third of it for each.
            low, high = argument[0], min(argument[1], max(argument[0], length // 3))
            inner_steps *= high
            if inner_ways == 1:
                inner_ways = high - low + 1
            else:
                inner_ways = (inner_ways + 1) ** min(high, 64)
                inner_steps *= inner_ways
        steps = min(steps + ways * inner_steps, _ENDLESS)
        if name not in ("ATOMIC_GROUP", "POSSESSIVE_REPEAT", "ASSERT", "ASSERT_NOT"):
            ways = min(ways * inner_ways, _ENDLESS)
    return ways, steps


def _literal(pattern: Any, flags: int) -> str:
    """Return the longest literal at the top level, which every match contains."""
    if flags & re.IGNORECASE:
        return ""
    characters = (chr(argument) if str(operation) == "LITERAL" else "\0\0" for operation, argument in pattern)
    return max("".join(characters).split("\0\0"), key=len)
