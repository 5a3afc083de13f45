"""The values that the reading of Python code works with, and what is computed of them for real."""

from __future__ import annotations

import operator

from agent_hooks_guards.model.values import ENVIRONMENT, NO_LABELS, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any

# In a text: the folder of who runs the code, whatever its name is.
HOME = "\ue001"

# The longest text that is computed, the most items that a list is known to have.
LONGEST_TEXT = 64 * 1024
MOST_ITEMS = 4096
_MOST_CHOICES = 8


class NotKnownError(Exception):
    """A value is not known far enough to compute with it."""


class Value:
    """What an expression is known to be.

    ``kind`` tells what ``it`` is: ``constant`` (text, bytes, number, None; a text may hold ``UNKNOWN``), ``list``,
    ``tuple``, ``set`` (a list of values), ``dict`` (values by constants), ``path`` (of pathlib, its text), ``name``
    (something of a module: ``os.system``), ``method`` (a name, of the value ``parts``), ``function`` and ``class``
    (their nodes), ``partial`` (a callable value), ``instance`` (the value of its class), ``any`` (one of a list of
    values), ``file`` and ``socket`` (a path or address), ``process`` (its words), ``unknown``. ``labels``: where it
    comes from.
    """

    __slots__ = ("it", "kind", "labels", "parts")

    def __init__(self, kind: str, it: Any = None, labels: frozenset[str] = NO_LABELS, parts: Any = None) -> None:
        self.kind = kind
        self.it = it
        self.labels = labels
        self.parts = parts


def constant(it: object, labels: frozenset[str] = NO_LABELS) -> Value:
    """Return a constant; a text that is too long is not known."""
    if isinstance(it, (str, bytes)) and len(it) > LONGEST_TEXT:
        return Value("unknown", None, labels)
    return Value("constant", it, labels)


def unknown(labels: frozenset[str] = NO_LABELS) -> Value:
    """Return something that nothing is known of but where it comes from."""
    return Value("unknown", None, labels)


def name(dotted: str) -> Value:
    """Return something of a module."""
    return Value("name", dotted)


def one_of(values: Iterable[Value]) -> Value:
    """Return a value that is any of ``values``."""
    found: list[Value] = []
    for value in values:
        for each in value.it if value.kind == "any" else (value,):
            if not any(_is_same(each, other) for other in found):
                found.append(each)
    if len(found) == 1:
        return found[0]
    if not found:
        return unknown()
    return Value("any", found[:_MOST_CHOICES])


def _is_same(left: Value, right: Value) -> bool:
    if left is right:
        return True
    if left.kind != right.kind or left.labels != right.labels:
        return False
    if left.kind in ("constant", "name", "path"):
        return type(left.it) is type(right.it) and bool(left.it == right.it)
    return left.kind == "unknown"


def labels_of(*values: Value) -> frozenset[str]:
    """Return where values come from, with all that is in them."""
    found: set[str] = set()
    left = list(values)
    for _ in range(MOST_ITEMS):
        if not left:
            break
        value = left.pop()
        found.update(value.labels)
        if value.kind == "name" and value.it == "os.environ":
            found.add(ENVIRONMENT)
        if value.kind in ("list", "tuple", "set", "any"):
            left += value.it
        elif value.kind == "dict":
            left += value.it.values()
    return frozenset(found) if found else NO_LABELS


def is_text(value: Value) -> bool:
    """Whether it is a text or bytes."""
    return value.kind == "constant" and isinstance(value.it, (str, bytes))


def is_exact(value: Value) -> bool:
    """Whether nothing of it is unknown, and it is not too much to look at."""
    left = [value]
    for _ in range(MOST_ITEMS * 2):
        if not left:
            return True
        each = left.pop()
        if each.kind == "constant":
            if isinstance(each.it, str) and (UNKNOWN in each.it or HOME in each.it):
                return False
        elif each.kind in ("list", "tuple", "set"):
            left += each.it
        elif each.kind == "dict":
            left += each.it.values()
        else:
            return False
    return False


def text_of(value: Value) -> str:
    """Return it as a text."""
    if value.kind == "constant":
        if isinstance(value.it, bytes):
            return value.it.decode("utf-8", "replace")
        if isinstance(value.it, int) and value.it.bit_length() > 4096:
            return UNKNOWN
        return str(value.it)
    if value.kind == "path":
        return str(value.it)
    if value.kind == "any":
        return text_of(value.it[0])
    if is_exact(value):
        return str(plain(value))[:LONGEST_TEXT]
    return UNKNOWN


def plain(value: Value) -> Any:
    """Return the Python object. Raises NotKnownError, also for what is too much; a text may hold ``UNKNOWN`` all the
    same.
    """
    return _plain(value, iter(range(MOST_ITEMS * 2)))


def _plain(value: Value, counter: Iterator[int]) -> Any:
    if next(counter, None) is None:
        raise NotKnownError
    if value.kind in ("constant", "path"):
        return value.it
    if value.kind in ("list", "set"):
        return [_plain(each, counter) for each in value.it]
    if value.kind == "tuple":
        return tuple([_plain(each, counter) for each in value.it])
    if value.kind == "dict":
        return {key: _plain(each, counter) for key, each in value.it.items()}
    raise NotKnownError


def wrap(it: object, labels: frozenset[str] = NO_LABELS) -> Value:
    """Return a value for a Python object."""
    if it is None or isinstance(it, (str, bytes, int, float, complex)):
        return constant(it, labels)
    if isinstance(it, bytearray):
        return constant(bytes(it), labels)
    if isinstance(it, (list, tuple, set, frozenset)):
        kind = "tuple" if isinstance(it, tuple) else "list" if isinstance(it, list) else "set"
        return Value(kind, [wrap(each, labels) for each in list(it)[:MOST_ITEMS]])
    if isinstance(it, dict):
        return Value("dict", {key: wrap(each, labels) for key, each in it.items()}, labels)
    return unknown(labels)


def truth(value: Value) -> bool | None:
    """Whether it counts as true; None if that is not known."""
    if value.kind == "constant":
        return bool(value.it) if is_exact(value) else None
    if value.kind in ("list", "tuple", "set", "dict"):
        return bool(value.it)
    return True if value.kind in ("function", "class") else None


def items_of(value: Value) -> list[Value] | None:
    """Return what iterating over it gives; None if that is not known."""
    if value.kind in ("list", "tuple", "set"):
        return list(value.it)
    if value.kind == "dict":
        return [wrap(key) for key in value.it]
    if value.kind == "constant" and isinstance(value.it, (str, bytes)) and is_exact(value):
        return [constant(each, value.labels) for each in value.it[:MOST_ITEMS]]
    if value.kind == "any":
        found: list[Value] = []
        for each in value.it:
            found += items_of(each) or [unknown(labels_of(each))]
        return found
    if value.kind == "file":
        return [unknown(value.labels)]
    return None


# -- operators ---------------------------------------------------------------------------------------------------------

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Sub": operator.sub,
    "Div": operator.truediv,
    "FloorDiv": operator.floordiv,
    "Mod": operator.mod,
    "RShift": operator.rshift,
    "BitAnd": operator.and_,
    "BitXor": operator.xor,
    "BitOr": operator.or_,
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Is": operator.eq,
    "IsNot": operator.ne,
    "In": lambda left, right: left in right,
    "NotIn": lambda left, right: left not in right,
}


def binary(sign: str, left: Value, right: Value) -> Value:
    """Return what an operator gives, by the name of its class in ``ast``."""
    labels = labels_of(left, right)
    if sign == "Mod" and is_text(left):
        from .python_texts import percent

        return percent(left, right)
    if sign == "Div" and "path" in (left.kind, right.kind):
        return Value("path", join_paths(text_of(left), text_of(right)), labels)
    if sign == "Add":
        return _add(left, right, labels)
    if sign == "Mult":
        return _times(left, right, labels)
    if sign == "BitOr" and left.kind == right.kind == "dict":
        return Value("dict", {**left.it, **right.it}, labels)
    if left.kind == right.kind == "constant" and is_exact(left) and is_exact(right):
        one, other = left.it, right.it
        if sign in ("LShift", "Pow"):
            return _power(sign, one, other, labels)
        try:
            return wrap(_OPERATORS[sign](one, other), labels)
        except Exception:  # noqa: BLE001 - the code itself would fail here
            return unknown(labels)
    if sign in ("In", "NotIn", "Eq", "NotEq") and is_exact(left) and is_exact(right):
        try:
            return wrap(_OPERATORS[sign](plain(left), plain(right)), labels)
        except Exception:  # noqa: BLE001 - the code itself would fail here
            return unknown(labels)
    return unknown(labels)


def _add(left: Value, right: Value, labels: frozenset[str]) -> Value:
    if left.kind in ("list", "tuple") or right.kind in ("list", "tuple"):
        kind = left.kind if left.kind in ("list", "tuple") else right.kind
        items = [*(items_of(left) or [unknown(left.labels)]), *(items_of(right) or [unknown(right.labels)])]
        return Value(kind, items[:MOST_ITEMS])
    if is_text(left) or is_text(right):
        if is_text(left) and is_text(right):
            if type(left.it) is type(right.it):
                return constant(left.it + right.it, labels)
            return unknown(labels)
        if "constant" in (left.kind, right.kind) and left.kind == right.kind:
            return unknown(labels)
        if isinstance((left if is_text(left) else right).it, bytes):
            return constant((text_of(left) + text_of(right)).encode("utf-8", "replace"), labels)
        return constant(text_of(left) + text_of(right), labels)
    if left.kind == right.kind == "constant":
        try:
            return wrap(left.it + right.it, labels)
        except Exception:  # noqa: BLE001 - the code itself would fail here
            return unknown(labels)
    return unknown(labels)


def _times(left: Value, right: Value, labels: frozenset[str]) -> Value:
    if right.kind != "constant" or not isinstance(right.it, int):
        left, right = right, left
    if right.kind != "constant" or not isinstance(right.it, (int, float)):
        return unknown(labels)
    if left.kind in ("list", "tuple"):
        if isinstance(right.it, int) and len(left.it) * right.it <= MOST_ITEMS:
            return Value(left.kind, left.it * right.it)
        return Value(left.kind, left.it)
    if left.kind != "constant" or left.it is None:
        return unknown(labels)
    if isinstance(left.it, (str, bytes)):
        if not isinstance(right.it, int) or len(left.it) * right.it > LONGEST_TEXT:
            return unknown(labels)
    elif any(isinstance(each.it, int) and each.it.bit_length() > LONGEST_TEXT for each in (left, right)):
        return unknown(labels)
    try:
        return wrap(left.it * right.it, labels)
    except Exception:  # noqa: BLE001 - the code itself would fail here, or nothing is known
        return unknown(labels)


def _power(sign: str, one: Any, other: Any, labels: frozenset[str]) -> Value:
    if not isinstance(one, int) or not isinstance(other, int) or not 0 <= other <= LONGEST_TEXT:
        return unknown(labels)
    if sign == "LShift":
        return wrap(one << other, labels) if one.bit_length() < LONGEST_TEXT else unknown(labels)
    return wrap(one**other, labels) if one.bit_length() * other <= LONGEST_TEXT else unknown(labels)


def join_paths(*parts: str) -> str:
    """Join paths as ``os.path.join`` does; the home begins anew too."""
    joined = ""
    for part in parts:
        if part.startswith(("/", HOME, "~/")) or not joined:
            joined = part
        else:
            part = part.removeprefix("./")
            joined = joined + part if joined.endswith("/") else f"{joined}/{part}"
    return joined


def subscript(value: Value, index: Value) -> Value:
    """Return an item or a slice."""
    labels = labels_of(value)
    if index.kind == "slice":
        return _sliced(value, index, labels)
    if index.kind == "constant" and is_exact(index):
        try:
            if value.kind in ("list", "tuple"):
                # A list that is known in part has more than is known of it.
                is_there = isinstance(index.it, int) and -len(value.it) <= index.it < len(value.it)
                return one_of(value.it[index.it : index.it + 1 or None] if is_there else value.it)
            if value.kind == "dict":
                if index.it in value.it:
                    return one_of([value.it[index.it]])
                return unknown(labels)
            if is_text(value) and is_exact(value):
                return wrap(value.it[index.it], labels)
        except Exception:  # noqa: BLE001 - the code itself would fail here
            return unknown(labels)
    elif value.kind in ("list", "tuple") and value.it:
        return one_of(value.it)
    elif value.kind == "dict" and value.it:
        return one_of(value.it.values())
    return unknown(labels)


def _sliced(value: Value, index: Value, labels: frozenset[str]) -> Value:
    bounds = [each.it if each.kind == "constant" else NotKnownError for each in index.it]
    if NotKnownError in bounds or not (is_text(value) or value.kind in ("list", "tuple")):
        return value if value.kind in ("list", "tuple") else unknown(labels)
    if is_text(value) and not is_exact(value) and bounds[:2] != [None, None]:
        return unknown(labels)
    try:
        part = value.it[slice(*bounds)]
    except Exception:  # noqa: BLE001 - the code itself would fail here, or nothing is known
        return unknown(labels)
    return Value(value.kind, part) if value.kind in ("list", "tuple") else wrap(part, labels)
