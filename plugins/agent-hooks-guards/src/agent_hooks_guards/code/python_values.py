"""Values of Python code as far as they are known without running it: constants, text with holes, lists, objects."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Iterable, Mapping
from itertools import islice

from agent_hooks.shell.syntax import Record
from agent_hooks_guards.model.values import ENVIRONMENT, NO_LABELS, UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

MOST_ITEMS = 1024
LONGEST_TEXT = 65_536
# The largest product of the sizes of operands: `"a" * 10**9`, `x.replace("a", y)`.
_MOST_WORK = 1 << 22
_MOST_BITS = 4096
_WIDE = re.compile(r"\d{4}")
# A field of `%` or `format`.
_FIELD = re.compile(r"%(?:\(\w*\))?[^%a-zA-Z()]*[a-zA-Z]|\{[^{}]*\}")


class Value(Record):
    """A value, as far as it is known.

    ``it``: a constant, in text ``UNKNOWN`` for each part that is not known; a list, tuple or dict of values. With a
    ``type`` it is an object: ``name`` (an item of a module, ``it`` is the dotted name), ``method`` (of ``owner``),
    ``function`` (``it`` is its node, ``owner`` its scope), ``class`` (``it`` is its name), or a type of python.toml
    (``it`` is its path, its address, its command line). ``labels``: its origins.
    """

    __slots__ = ("it", "labels", "owner", "type")

    def __init__(
        self, it: Any = UNKNOWN, labels: frozenset[str] = NO_LABELS, kind: str = "", owner: Any = None
    ) -> None:
        self.it = it
        self.labels = labels
        self.type = kind
        self.owner = owner


def wrap(it: object, labels: frozenset[str] = NO_LABELS) -> Value:
    """Return the value of a Python object; text that is too long is not known."""
    if isinstance(it, Value):
        return it
    if isinstance(it, (str, bytes, bytearray)):
        is_long = len(it) > LONGEST_TEXT
        return Value(UNKNOWN if is_long else bytes(it) if isinstance(it, bytearray) else it, labels)
    if isinstance(it, Mapping):
        return Value({key: wrap(each, labels) for key, each in it.items()}, labels)
    if isinstance(it, Iterable):
        items = [wrap(each, labels) for each in islice(it, MOST_ITEMS)]
        return Value(tuple(items) if isinstance(it, tuple) else items, labels)
    return Value(UNKNOWN if isinstance(it, int) and it.bit_length() > _MOST_BITS else it, labels)


def native(value: Value) -> Any:
    """Return the Python object, with ``UNKNOWN`` for each part that is not known."""
    it = value.it
    if value.type:
        return it if value.type == "path" else UNKNOWN
    if isinstance(it, (list, tuple)):
        return type(it)(map(native, it))
    return {key: native(each) for key, each in it.items()} if isinstance(it, dict) else it


def is_exact(value: Value) -> bool:
    """Whether no part of it is unknown."""
    it = value.it
    if value.type not in ("", "path"):
        return False
    if isinstance(it, tuple):
        return all(map(is_exact, it))
    if isinstance(it, (list, dict)):
        # An empty one may have been filled in a way that is not followed.
        return bool(it) and all(map(is_exact, it.values() if isinstance(it, dict) else it))
    return not isinstance(it, (str, bytes)) or UNKNOWN not in text_of(value)


def is_text(value: Value) -> bool:
    """Whether it is text, bytes or a path."""
    return isinstance(value.it, (str, bytes)) and value.type in ("", "path")


def text_of(value: Value) -> str:
    """Return it as text."""
    if is_text(value):
        return value.it.decode("utf-8", "replace") if isinstance(value.it, bytes) else str(value.it)
    return str(native(value))[:LONGEST_TEXT] if is_exact(value) else UNKNOWN


def labels_of(*values: Value) -> frozenset[str]:
    """Return where values come from, with everything in them."""
    found = NO_LABELS
    for value in values:
        found |= value.labels
        if not value.type and isinstance(value.it, (list, tuple, dict)):
            found |= labels_of(*(value.it.values() if isinstance(value.it, dict) else value.it))
        elif value.type == "name" and value.it == "os.environ":
            found |= {ENVIRONMENT}
    return found


def items_of(value: Value) -> list[Value] | None:
    """Return the items that iteration over it gives; None if they are not known."""
    if value.type:
        return None
    if isinstance(value.it, (list, tuple)):
        return list(value.it)
    if isinstance(value.it, dict) or (isinstance(value.it, (str, bytes)) and is_exact(value)):
        return [wrap(each, value.labels) for each in islice(value.it, MOST_ITEMS)]
    return None


def truth(value: Value) -> bool | None:
    """Whether it counts as true; None if that is not known."""
    if value.type:
        return True if value.type in ("function", "class") else None
    return bool(value.it) if is_exact(value) else None


_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.BitAnd: operator.and_, ast.BitXor: operator.xor,
    ast.BitOr: operator.or_, ast.RShift: operator.rshift, ast.Eq: operator.eq, ast.NotEq: operator.ne,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Is: operator.eq,
    ast.IsNot: operator.ne, ast.In: lambda one, other: one in other, ast.NotIn: lambda one, other: one not in other,
}  # fmt: skip


def binary(sign: type, left: Value, right: Value) -> Value:
    """Return the result of an operator, named by its class in ``ast``."""
    labels = labels_of(left, right)
    if sign is ast.Div and "path" in (left.type, right.type):
        return Value(join_paths(text_of(left), text_of(right)), labels, "path")
    if sign is ast.Mod and is_text(left):
        made = None if _WIDE.search(text_of(left)) else computed(operator.mod, [left.it, native(right)], {}, labels)
        return made or wrap(_FIELD.sub(UNKNOWN, text_of(left)), labels)
    if sign is ast.Add and (isinstance(left.it, (list, tuple)) or isinstance(right.it, (list, tuple))):
        return Value([*(items_of(left) or [left]), *(items_of(right) or [right])][:MOST_ITEMS])
    if not is_exact(left) or not is_exact(right) or sign not in _OPERATORS:
        is_joined = sign is ast.Add and (is_text(left) or is_text(right))
        return wrap(text_of(left) + text_of(right) if is_joined else UNKNOWN, labels)
    return computed(_OPERATORS[sign], [native(left), native(right)], {}, labels) or Value(UNKNOWN, labels)


def computed(
    function: Callable[..., object], arguments: list[object], keywords: dict[str, object], labels: frozenset[str]
) -> Value | None:
    """Call a function of Python; None where the code itself would fail, or where it takes too long."""
    work = 1
    for each in (*arguments, *keywords.values()):
        work *= max(1, _size(each))
    try:
        return wrap(function(*arguments, **keywords), labels) if work <= _MOST_WORK else None
    except Exception:  # noqa: BLE001 - the code itself would fail here
        return None


def _size(it: object) -> int:
    if isinstance(it, int):
        return abs(it)
    if isinstance(it, (list, tuple, dict)):
        return len(it) + sum(map(_size, it.values() if isinstance(it, dict) else it))
    return len(it) if isinstance(it, (str, bytes)) else 1


def join_paths(*parts: str) -> str:
    """Join paths as ``os.path.join`` does, without ``./``."""
    joined = ""
    for part in parts:
        is_start = not joined or part.startswith(("/", "~/"))
        joined = part if is_start else f"{joined.rstrip('/')}/{part.removeprefix('./')}"
    return joined


def subscript(value: Value, index: object) -> Value:
    """Return an item or a slice."""
    it, labels = value.it, labels_of(value)
    is_reversal = isinstance(index, slice) and index.start is index.stop is None and is_text(value)
    if value.type or not (isinstance(it, (list, tuple, dict)) or is_exact(value) or is_reversal):
        return Value(UNKNOWN, labels)
    if isinstance(index, slice) and isinstance(it, list) and not is_exact(value):
        return value
    try:
        return wrap(it[index], labels)
    except Exception:  # noqa: BLE001 - the code itself would fail here, or the index is not known
        return Value(UNKNOWN, labels)


# Methods that work on each part of a text, so that other parts may be unknown.
_OF_PARTS = frozenset(
    "strip lstrip rstrip lower upper split splitlines replace format encode decode removeprefix removesuffix".split()
)


def call_constant(owner: Value, method: str, arguments: list[Value], keywords: dict[str, Value]) -> Value | None:
    """Return the result of a method of a constant, a list or a dict; None if it is not known."""
    it, labels = owner.it, labels_of(owner, *arguments, *keywords.values())
    first = arguments[0] if arguments else Value(None)
    if isinstance(it, list):
        return _call_list(it, method, first)
    if isinstance(it, dict):
        return _call_dict(it, method, first, arguments)
    if not isinstance(it, (str, bytes, int)) or method.startswith("_"):
        return None
    if method == "join":
        items = items_of(first)
        if items is None or isinstance(it, int) or len(items) * len(it) > _MOST_WORK:
            return None
        joined = text_of(owner).join(map(text_of, items))
        return wrap(joined.encode() if isinstance(it, bytes) else joined, labels)
    is_format = method == "format"
    if method not in _OF_PARTS and not (is_exact(owner) and all(map(is_exact, arguments))):
        return None
    given, named = [native(each) for each in arguments], {key: native(each) for key, each in keywords.items()}
    made = None
    if not (is_format and _WIDE.search(text_of(owner))):
        made = computed(lambda text, *rest, **names: getattr(text, method)(*rest, **names), [it, *given], named, labels)
    return wrap(_FIELD.sub(UNKNOWN, text_of(owner)), labels) if made is None and is_format else made


def _call_list(items: list[Value], method: str, first: Value) -> Value | None:
    if method in ("append", "add", "extend", "update") and len(items) < MOST_ITEMS:
        items += [first] if method in ("append", "add") else items_of(first) or [first]
        return Value(None)
    items += [Value()] if method in ("insert", "pop", "reverse", "sort", "remove", "clear") else []
    return None


def _call_dict(known: dict[object, Value], method: str, first: Value, arguments: list[Value]) -> Value | None:
    if method in ("get", "pop", "setdefault") and is_exact(first) and not isinstance(first.it, (list, dict)):
        return known.get(native(first)) or (arguments[1] if len(arguments) > 1 else None)
    if method == "items":
        return Value([Value((wrap(key), each)) for key, each in known.items()])
    return Value(list(known.values())) if method == "values" else wrap(list(known)) if method == "keys" else None
