"""A JSON parser that accepts only unambiguous texts of a limited depth."""

from __future__ import annotations

from .quick_json import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.errors import BadJSONError

MAX_DEPTH = 64


def read_json(data: bytes | str, *, max_depth: int | None = MAX_DEPTH, lone_surrogates: bool = False) -> Any:
    r"""Return the JSON value in ``data``.

    Strict, so that no two parsers disagree about one text: UTF-8 only, no duplicate keys, no NaN, infinity or number
    out of range, at most ``max_depth`` levels of objects and lists (None: any depth that the parser reaches).
    ``lone_surrogates``: whether ``\ud83d`` alone may stand for half of a character. Raises ``BadJSONError``, whose
    message never contains the text itself.
    """
    try:
        text = (data if isinstance(data, bytes) else data.encode("utf-8")).decode("utf-8")
        value = loads(text, object_pairs_hook=_unique, parse_constant=refuse_constant, parse_float=_finite)
        if "\\u" in text and not lone_surrogates:
            dumps(value, ensure_ascii=False).encode("utf-8")
    except UnicodeDecodeError as error:
        raise _bad(f"is not UTF-8: {error.reason} at byte {error.start}") from error
    except UnicodeEncodeError as error:
        raise _bad("has half of a character (a lone surrogate)") from error
    except RecursionError as error:
        raise _bad("is nested too deeply") from error
    except ValueError as error:
        raise _bad(f"is not JSON: {error}") from error
    if max_depth is not None and _is_deeper(value, max_depth):
        raise _bad("is nested too deeply")
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same key twice")
    return found


def refuse_constant(name: str) -> Any:
    """Raise ``ValueError`` for NaN and infinity: a ``parse_constant`` of ``json.loads``."""
    raise ValueError(f"{name} is no JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0:
        raise ValueError("a number is too large")
    return number


def _is_deeper(value: Any, levels: int) -> bool:
    """Whether more than ``levels`` objects and lists are in each other."""
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deeper(each, levels - 1) for each in inner if isinstance(each, (dict, list)))


def _bad(problem: str) -> BadJSONError:
    from agent_hooks.errors import BadJSONError

    return BadJSONError(problem)
