"""Values of a script's expressions, and the functions that compute them: joins, replacements, decoders."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import DECODED, ENVIRONMENT, NO_LABELS, UNKNOWN, Data

from . import LONGEST_CODE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from .script_tokens import Token

# Kinds of calls that only compute a value.
VALUES = frozenset("same join path replace translate decoder home base64 hex reverse chr".split())
# All variables of the environment.
ALL_VARIABLES = Data(UNKNOWN, frozenset((ENVIRONMENT,)))


def labels_of(values: Iterable[Data]) -> frozenset[str]:
    """Return the labels of all ``values``."""
    return NO_LABELS.union(*(value.labels for value in values))


class List(Data):
    """A list; its text is that of its items."""

    __slots__ = ("items",)

    def __init__(self, items: list[Data], separator: str = " ") -> None:
        super().__init__(separator.join(item.text for item in items), labels_of(items))
        self.items = items


class Table(Data):
    """A table or a group of options."""

    __slots__ = ("items",)

    def __init__(self, items: dict[str, Data]) -> None:
        super().__init__(UNKNOWN, labels_of(items.values()))
        self.items = items


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


def flat(values: Iterable[Data]) -> list[Data]:
    """Return ``values`` with the items of lists and tables in their places."""
    found: list[Data] = []
    for value in values:
        if isinstance(value, List | Table):
            found += flat(value.items if isinstance(value, List) else value.items.values())
        else:
            found.append(value)
    return found


def joined(values: Iterable[Data], separator: str = "") -> Data:
    """Return ``values`` as one text; what gets very long is not known."""
    items = flat(values)
    text = separator.join(item.text for item in items)
    return Data(text if len(text) <= LONGEST_CODE else UNKNOWN, labels_of(items))


def compute(kind: str, operands: list[Data], language: str) -> Data:
    """Return the result of a function of one of the kinds in ``VALUES``."""
    if not operands:
        return Data("~" if kind == "home" else UNKNOWN)
    value, *others = operands
    first, second = [*(each.text for each in others), "", ""][:2]
    data = joined([value])
    if kind == "path":
        return joined([Data(item.text.rstrip("/"), item.labels) for item in flat(operands)], "/")
    if kind == "join" and language in ("perl", "php"):  # the separator comes first
        return joined(others, value.text)
    if kind == "join":
        return joined([value], first if others or language != "node" else ",")
    if kind == "same" and first not in ("base64", "hex"):
        return value
    if kind == "translate":
        return replaced(data, first, second, "t")
    if kind == "replace":
        return Data(data.text.replace(first, second) if UNKNOWN not in first + second else UNKNOWN, data.labels)
    try:
        if data.is_known and not isinstance(value, List):
            return Data(_DECODERS[first if kind == "same" else kind](data.text), data.labels)
    except (KeyError, ValueError):
        pass
    return Data(UNKNOWN, data.labels | {DECODED})


def replaced(data: Data, pattern: str, replacement: str, flags: str) -> Data:
    """Apply Perl's ``s/pattern/replacement/`` or ``tr/source/target/`` to every line of a text."""
    if not data.is_known:
        return data
    if flags[0] in "ty":
        first, second = _spread(pattern), _spread(replacement)
        second += second[-1:] * (len(first) - len(second))
        return Data(data.text.translate(str.maketrans(first[: len(second)], second[: len(first)])), data.labels)
    try:
        if "e" in flags[1:] or "$" in replacement or "\\" in replacement:
            return Data(UNKNOWN, data.labels)
        expression = re.compile(pattern)
        lines = [expression.sub(replacement, line, count="g" not in flags) for line in data.text.split("\n")]
    except re.error:
        return Data(UNKNOWN, data.labels)
    return Data("\n".join(lines), data.labels)


def _spread(letters: str) -> str:
    """Return the letters of a list such as ``a-z0-9``."""
    return re.sub(r"(.)-(.)", lambda match: "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1))), letters)


def _base64(text: str) -> str:
    import base64

    return base64.b64decode("".join(text.split()) + "==").decode("utf-8")


_DECODERS: dict[str, Callable[[str], str]] = {
    "base64": _base64,
    "hex": lambda text: bytes.fromhex(text).decode("utf-8"),
    "reverse": lambda text: text[::-1],
}
