"""``loads`` and ``dumps`` of ``json``, by CPython's C functions alone.

The package ``json`` imports ``re`` and ``enum``, which takes longer than all else in an event without hooks. Whatever
these functions cannot do, errors included, is left to it.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_BLANKS = " \t\n\r"


class _Decoder:
    """The attributes of a ``json.JSONDecoder`` that its scanner in C reads."""

    strict = True
    object_hook = None
    parse_int = int

    def __init__(self, hooks: dict[str, Any]) -> None:
        self.object_pairs_hook = hooks.get("object_pairs_hook")
        self.parse_float = hooks.get("parse_float", float)
        self.parse_constant = hooks.get("parse_constant", float)


def loads(text: str, **hooks: Callable[[Any], Any]) -> Any:
    """Return the value of a JSON text; ``hooks``: ``object_pairs_hook``, ``parse_float``, ``parse_constant``."""
    try:
        from _json import make_scanner

        value, end = make_scanner(_Decoder(hooks))(  # type: ignore[arg-type]
            text, len(text) - len(text.lstrip(_BLANKS))
        )
        if not text[end:].strip(_BLANKS):
            return value
    except (ImportError, AttributeError, StopIteration, SystemError, ValueError):  # that of C if `json` is not imported
        pass
    import json

    return json.loads(text, **hooks)  # type: ignore[arg-type]  # each is passed on under its own name


def dumps(value: Any, *, ensure_ascii: bool = True, allow_nan: bool = True, compact: bool = False) -> str:
    """Return ``value`` as JSON; ``compact``: without blanks after commas and colons."""
    separators = (":", ",") if compact else (": ", ", ")
    try:
        from _json import encode_basestring, encode_basestring_ascii, make_encoder

        text = encode_basestring_ascii if ensure_ascii else encode_basestring
        return "".join(make_encoder({}, _refuse, text, None, *separators, False, False, allow_nan)(value, 0))
    except (ImportError, TypeError, ValueError):
        import json

        return json.dumps(value, ensure_ascii=ensure_ascii, allow_nan=allow_nan, separators=separators[::-1])


def _refuse(value: Any) -> Any:
    raise TypeError(f"{type(value).__name__} has no JSON form")
