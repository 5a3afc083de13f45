"""Python code as a syntax tree, and its values as far as they are known without running it."""

from __future__ import annotations

import ast
import operator
import posixpath
import re
import warnings
from itertools import islice
from textwrap import dedent

from agent_hooks.shell.patterns import Pattern
from agent_hooks.shell.syntax import Record
from agent_hooks_guards.model.values import ENVIRONMENT, NO_LABELS, UNKNOWN
from agent_hooks_guards.places.credentials import variable_labels

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agent_hooks_guards.model.values import Data

# The name in the place of a part of the code that is not known.
PLACEHOLDER = "unknown_text_"
_MOST_ITEMS = 1024
_LONGEST_TEXT = 65_536
# The largest product of the sizes of operands: `"a" * 10**9`, `x.replace("a", y)`.
_MOST_WORK = 1 << 22
_WIDE = Pattern(r"\d{4}")
_DEFAULTS = {"HOME": "~", "USERPROFILE": "~", "PWD": ".", "TMPDIR": "/tmp", "TEMP": "/tmp"}  # noqa: S108 - the code's
# Methods that work on each part of a text, so that other parts may be unknown.
_OF_PARTS = frozenset("strip lstrip rstrip lower upper split splitlines replace encode decode".split())
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.BitOr: operator.or_,
    ast.BitXor: operator.xor, ast.Mod: operator.mod,
}  # fmt: skip


class Value(Record):
    """A value, as far as it is known.

    ``it``: a constant, in text ``UNKNOWN`` for each part that is not known; a list, tuple or dict of values. With a
    ``type`` it is an object: ``name`` (an item of a module, ``it`` is the dotted name), ``method`` (of ``owner``),
    ``function`` (``it`` is its node, ``owner`` its scope), or a type of python.toml (``it`` is its path, its address,
    its command line). ``labels``: its origins.
    """

    __slots__ = ("it", "labels", "owner", "type")

    def __init__(
        self, it: Any = UNKNOWN, labels: frozenset[str] = NO_LABELS, kind: str = "", owner: Any = None
    ) -> None:
        self.it = it
        self.labels = labels
        self.type = kind
        self.owner = owner


def parse(text: str) -> ast.Module | None:
    """Return the syntax tree of a text; None if it cannot be parsed."""
    named = re.sub(rf"\w*{UNKNOWN}[\w{UNKNOWN}]*", PLACEHOLDER, text) if UNKNOWN in text else text
    for each in dict.fromkeys((text, named, dedent(named.replace("\r\n", "\n")).lstrip().replace("\x00", ""))):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return ast.parse(each)
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError):
            continue
    return None


def wrap(it: Any, labels: frozenset[str] = NO_LABELS) -> Value:
    """Return the value of a Python object; text that is too long is not known."""
    if isinstance(it, Value):
        return it
    if isinstance(it, (str, bytes)):
        return Value(it if len(it) <= _LONGEST_TEXT else UNKNOWN, labels)
    if isinstance(it, dict):
        return Value({key: wrap(each, labels) for key, each in it.items()}, labels)
    if isinstance(it, bytearray) or not hasattr(it, "__iter__"):
        return Value(bytes(it) if isinstance(it, bytearray) else it, labels)
    items = [wrap(each, labels) for each in islice(it, _MOST_ITEMS)]
    return Value(tuple(items) if isinstance(it, tuple) else items, labels)


def native(value: Value) -> Any:
    """Return the Python object, with ``UNKNOWN`` for each part that is not known."""
    it = value.it
    if value.type:
        return it if value.type == "path" else UNKNOWN
    if isinstance(it, (list, tuple)):
        return type(it)(map(native, it))
    return {key: native(each) for key, each in it.items()} if isinstance(it, dict) else it


def is_exact(value: Value) -> bool:
    """Whether no part of it is unknown. An empty list may have been filled in a way that is not followed."""
    if isinstance(value.it, (list, tuple, dict)):
        return bool(value.it or isinstance(value.it, tuple)) and all(map(is_exact, _parts(value)))
    return value.type in ("", "path") and UNKNOWN not in (text_of(value) if is_text(value) else "")


def is_text(value: Value) -> bool:
    """Whether it is text, bytes or a path."""
    return isinstance(value.it, (str, bytes)) and value.type in ("", "path")


def text_of(value: Value) -> str:
    """Return it as text."""
    if is_text(value):
        return value.it.decode("utf-8", "replace") if isinstance(value.it, bytes) else str(value.it)
    return str(native(value))[:_LONGEST_TEXT] if is_exact(value) else UNKNOWN


def labels_of(*values: Value) -> frozenset[str]:
    """Return the origins of values, with everything in them."""
    found = NO_LABELS
    for value in values:
        found |= value.labels.union(*map(labels_of, _parts(value)))
        if value.type == "name" and value.it == "os.environ":
            found |= {ENVIRONMENT}
    return found


def _parts(value: Value) -> list[Value]:
    if value.type or not isinstance(value.it, (list, tuple, dict)):
        return []
    return list(value.it.values() if isinstance(value.it, dict) else value.it)


def items_of(value: Value) -> list[Value] | None:
    """Return the items that iteration over it gives; None if they are not known."""
    is_known = isinstance(value.it, (list, tuple, dict)) or (isinstance(value.it, (str, bytes)) and is_exact(value))
    return [wrap(each, value.labels) for each in islice(value.it, _MOST_ITEMS)] if is_known and not value.type else None


def either(values: list[Value]) -> Value:
    """Return one value for several of which any may hold: one of several texts is not known, of objects any will do."""
    found = [each for each in values if each.it is not None] or values
    objects = [each for each in found if each.type not in ("", "path")]
    if objects or all(each is found[0] or (not each.type and each == found[0]) for each in found):
        return objects[-1] if objects else found[0]
    return Value(UNKNOWN, labels_of(*found), "path" if all(each.type == "path" for each in found) else "")


def computed(function: Callable[..., object], arguments: list[Value]) -> Value | None:
    """Call a function of Python; None where the code itself would fail, or where it takes too long."""
    work, given = 1, list(map(native, arguments))
    for each in given:
        work *= max(1, abs(each) if isinstance(each, int) else len(str(each)))
    try:
        return wrap(function(*given), labels_of(*arguments)) if work <= _MOST_WORK else None
    except Exception:  # noqa: BLE001 - the code itself would fail here
        return None


def binary(sign: type, left: Value, right: Value) -> Value:
    """Return the result of an operator, named by its class in ``ast``."""
    nothing = Value(UNKNOWN, labels_of(left, right))
    if sign is ast.Div and "path" in (left.type, right.type):
        return Value(posixpath.join(text_of(left), text_of(right)), nothing.labels, "path")
    if sign is ast.Mod and is_text(left):
        return _format(operator.mod, left, [right])
    if sign is ast.Add and (isinstance(left.it, (list, tuple)) or isinstance(right.it, (list, tuple))):
        return Value([*(items_of(left) or [left]), *(items_of(right) or [right])][:_MOST_ITEMS])
    # Other parts of a text that is put together may be unknown.
    is_known = sign is ast.Add or (is_exact(left) and is_exact(right))
    return (computed(_OPERATORS[sign], [left, right]) if is_known and sign in _OPERATORS else None) or nothing


def _format(function: Callable[..., object], text: Value, arguments: list[Value]) -> Value:
    """Fill in the fields of a text, not known if that fails."""
    made = None if _WIDE.search(text_of(text)) else computed(function, [text, *arguments])
    return made or Value(UNKNOWN, labels_of(text, *arguments))


def subscript(value: Value, index: object) -> Value:
    """Return an item or a slice."""
    is_known = isinstance(value.it, (list, tuple, dict)) or is_exact(value) or index == slice(None, None, -1)
    try:
        if is_known and not value.type:
            return wrap(value.it[index], labels_of(value))
    except Exception:  # noqa: BLE001, S110 - the code itself would fail here, or the index is not known
        pass
    return Value(UNKNOWN, labels_of(value))


def call_constant(owner: Value, method: str, arguments: list[Value], keywords: dict[str, Value]) -> Value | None:
    """Return the result of a method of a constant, a list or a dict; None if it is not known."""
    it, first = owner.it, arguments[0] if arguments else Value(None)
    if isinstance(it, list):
        # Other methods may change it in a way that is not followed.
        items = [first] if method in ("append", "add") else items_of(first) if method in ("extend", "update") else None
        it += (items or [Value()])[: _MOST_ITEMS - len(it)]
    elif isinstance(it, dict) and method == "get" and is_exact(first):
        return it.get(native(first)) or Value()
    elif isinstance(it, dict) and method in ("items", "keys", "values") and it:
        return wrap(list(getattr(it, method)()))
    elif isinstance(it, (str, bytes)) and method == "join":
        items = items_of(first) or [Value(UNKNOWN, labels_of(first))]
        joined = text_of(owner).join(map(text_of, items)) if len(items) * len(it) < _MOST_WORK else UNKNOWN
        return wrap(joined.encode() if isinstance(it, bytes) else joined, labels_of(owner, first))
    elif isinstance(it, str) and method == "format" and not keywords:
        return _format(str.format, owner, arguments)
    elif isinstance(it, (str, bytes, int)) and (method in _OF_PARTS or all(map(is_exact, (owner, *arguments)))):
        return computed(getattr(type(it), method), [owner, *arguments]) if method in dir(it) and not keywords else None
    return None


def variable_of(variables: dict[str, Data], name: str) -> Value:
    """Return a variable of the environment."""
    if name in variables:
        return Value(variables[name].text, variables[name].labels)
    return Value(_DEFAULTS[name]) if name in _DEFAULTS else Value(UNKNOWN, variable_labels(name))


def expand_variables(variables: dict[str, Data], value: Value) -> Value:
    """Return the value of a text with its variables, ``$HOME`` and ``${HOME}``, expanded."""
    known = {name: variable_of(variables, name) for name in re.findall(r"\$\{?(\w+)", text_of(value))}
    text = re.sub(r"\$\{?(\w+)\}?", lambda match: text_of(known[match[1]]), text_of(value))
    return Value(text, labels_of(value, *known.values()))
