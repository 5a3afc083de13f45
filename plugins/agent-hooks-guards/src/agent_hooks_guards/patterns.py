"""Regular expressions that a model's text cannot stall: what they may be, and how much text they are tried on.

Python's ``re`` backtracks: a repeat inside a repeat can take exponential time, so such a pattern is refused when it is
compiled. A pattern that repeats side by side can still take a power of the text's length, so the text it is tried on is
short.
"""

from __future__ import annotations

from agent_hooks import RegistrationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from re import Pattern
    from typing import Any

# Characters of text that are searched; longer text is not searched at all, because padding must not hide a match.
MAX_TEXT = 4096
MAX_TEXT_WITHOUT_REPEATS = 1_048_576


class SafePattern:
    """A regular expression, searched anywhere in a text.

    ``limit``: how many characters of text it is tried on, 1,048,576 if nothing in it repeats a varying number of times
    (``*``, ``+``, ``{2,}``), else 4,096. Raises ``RegistrationError`` if it does not compile, or if a repeat holds
    another repeat or alternatives.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._compiled = _compile(text)
        self.limit = MAX_TEXT if _has_repeats(_parsed(text)) else MAX_TEXT_WITHOUT_REPEATS

    def found_in(self, text: str) -> bool | None:
        """Return whether it is found in ``text``; None if the text is longer than ``limit``."""
        return self._compiled.search(text) is not None if len(text) <= self.limit else None


def _compile(text: str) -> Pattern[str]:
    import re
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            compiled = re.compile(text)
    except (re.error, RecursionError, OverflowError, Warning) as error:
        raise RegistrationError(f"The pattern {text!r} is not a regular expression: {error}.") from error
    if _nests(_parsed(text)):
        raise RegistrationError(
            f"The pattern {text!r} repeats something that itself repeats or has alternatives, which can take "
            "exponential time: rewrite it without that, or make the inner part atomic, as in (?:(?>-\\w+\\s+))*."
        )
    return compiled


def _parsed(text: str) -> Any:
    # The only reader of the syntax that agrees with `re` to the letter; its own public name is deprecated.
    from re import _parser  # type: ignore[attr-defined]

    return _parser.parse(text)


def _parts(argument: Any) -> list[Any]:
    """Return the patterns directly inside an operation's argument."""
    from re import _parser  # type: ignore[attr-defined]

    if isinstance(argument, _parser.SubPattern):
        return [argument]
    if isinstance(argument, (tuple, list)):
        return [part for item in argument for part in _parts(item)]
    return []


def _varies(operation: str, argument: Any) -> bool:
    """Whether it repeats a number of times that depends on the text."""
    return operation.endswith("_REPEAT") and argument[1] > 1 and argument[0] != argument[1]


def _has_repeats(pattern: Any) -> bool:
    return any(
        _varies(str(operation), argument) or any(_has_repeats(part) for part in _parts(argument))
        for operation, argument in pattern
    )


def _nests(pattern: Any) -> bool:
    return any(
        (_varies(str(operation), argument) and any(_has_choices(part) for part in _parts(argument)))
        or any(_nests(part) for part in _parts(argument))
        for operation, argument in pattern
    )


def _has_choices(pattern: Any) -> bool:
    """Whether there is more than one way to match it at a place."""
    return any(
        str(operation) in ("BRANCH", "GROUPREF_EXISTS")
        or (str(operation).endswith("_REPEAT") and argument[0] != argument[1] and str(operation) != "POSSESSIVE_REPEAT")
        or (str(operation) != "ATOMIC_GROUP" and any(_has_choices(part) for part in _parts(argument)))
        for operation, argument in pattern
    )
