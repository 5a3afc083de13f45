"""Values of a script's expressions, and the functions that compute them: joins, replacements, decoders."""

from __future__ import annotations

import re
from binascii import a2b_base64

from agent_hooks_guards.model.values import DECODED, ENVIRONMENT, NO_LABELS, UNKNOWN, Data

from . import LONGEST_CODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .script_tokens import Token

# Kinds of calls that only compute a value.
VALUES = frozenset("same list join path replace decoder home base64 hex reverse".split())
# All variables of the environment.
ALL_VARIABLES = Data(UNKNOWN, frozenset((ENVIRONMENT,)))


def labels_of(values: Iterable[Data]) -> frozenset[str]:
    """Return the labels of all ``values``."""
    return NO_LABELS.union(*(value.labels for value in values))


class List(Data):
    """A list, whose text is that of its items, or a table or a group of options, whose values have names."""

    __slots__ = ("items", "named")

    def __init__(self, items: list[Data], named: dict[str, Data] | None = None) -> None:
        self.items = items
        self.named = named or {}
        text = " ".join(item.text for item in items) if named is None else UNKNOWN
        super().__init__(text, labels_of([*items, *self.named.values()]))


class Choice(List):
    """One of several values; which one is not known."""

    __slots__ = ()


class Function(Data):
    """A function of the script: the names of its parameters, and its body."""

    __slots__ = ("body", "names")

    def __init__(self, names: list[str], body: list[Token]) -> None:
        super().__init__(UNKNOWN)
        self.names = names
        self.body = body


class Reference(Data):
    """A module, a class or a function that the script does not define: its dotted name, and the value it belongs to."""

    __slots__ = ("name", "receiver")

    def __init__(self, name: str, receiver: Data | None = None) -> None:
        super().__init__(UNKNOWN, NO_LABELS if receiver is None else receiver.labels)
        self.name = name
        self.receiver = receiver


def names_of(value: Data) -> dict[str, Data]:
    """Return the values that have names in a value."""
    return value.named if isinstance(value, List) else {}


def flat(values: Iterable[Data]) -> list[Data]:
    """Return ``values`` with the items of lists and tables in their places."""
    found: list[Data] = []
    for value in values:
        found += flat([*value.items, *value.named.values()]) if isinstance(value, List) else [value]
    return found


def items_of(value: Data) -> list[tuple[str, Data]]:
    """Return what a loop over a value gives: each item with its key; the value itself, if it is no known list."""
    items = value.items if isinstance(value, List) else [value]
    return [*names_of(value).items(), *(("", item) for item in items)] or [("", value)]


def joined(values: list[Data], separator: str = "") -> Data:
    """Return ``values`` as one text; what gets very long is not known."""
    text = separator.join(value.text for value in values)
    return Data(text if len(text) <= LONGEST_CODE else UNKNOWN, labels_of(values))


def compute(kind: str, operands: list[Data], language: str) -> Data:
    """Return the result of a function of one of the kinds in ``VALUES``."""
    if not operands:
        return Data("~" if kind == "home" else UNKNOWN)
    value, *others = operands
    first, second = [*(each.text for each in others), "", ""][:2]
    if kind == "path":
        return joined([Data(item.text.rstrip("/"), item.labels) for item in flat(operands)], "/")
    if kind == "join" and language in ("perl", "php"):  # the separator comes first
        return joined(flat(others), value.text)
    if kind == "join":
        return joined(flat([value]), first if others or language != "node" else ",")
    if kind == "list":
        return List(operands)
    if kind == "same" and first not in ("base64", "hex"):
        return value
    if kind == "replace":
        return replaced(value, re.escape(first), second)
    decode = _DECODERS.get(first if kind == "same" else kind)
    try:
        text = UNKNOWN if decode is None or not value.is_known or isinstance(value, List) else decode(value.text)
    except ValueError:
        text = UNKNOWN
    return Data(text, value.labels | ({DECODED} if text == UNKNOWN else NO_LABELS))


def replaced(data: Data, pattern: str, replacement: str, count: int = 0) -> Data:
    """Replace what a regular expression matches in every line by a text."""
    if not data.is_known or UNKNOWN in pattern + replacement or {"$", "\\"} & set(replacement):
        return data if not data.is_known else Data(UNKNOWN, data.labels)
    try:
        lines = [re.sub(pattern, replacement, line, count=count) for line in data.text.split("\n")]
    except re.error:
        return Data(UNKNOWN, data.labels)
    return Data("\n".join(lines), data.labels)


_DECODERS: dict[str, Callable[[str], str]] = {
    "base64": lambda text: a2b_base64(text + "==").decode("utf-8"),
    "hex": lambda text: bytes.fromhex(text).decode("utf-8"),
    "reverse": lambda text: text[::-1],
}
