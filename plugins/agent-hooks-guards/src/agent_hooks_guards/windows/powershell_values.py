"""Values of PowerShell, as far as they are known without running anything."""

from __future__ import annotations

from agent_hooks_guards.model.record import Record
from agent_hooks_guards.model.values import NO_LABELS, NOTHING, UNKNOWN, Data

LONGEST = 200_000  # characters of a text that is put together

Value = object  # Data, int, list, dict, Block, Object or None


class Block(Record):
    """A script block: ``{ … }``."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


class Object(Record):
    """Something of .NET: a type or what was made of one."""

    __slots__ = ("labels", "name", "values")

    def __init__(self, name: str, labels: frozenset[str] = NO_LABELS, values: list[Value] | None = None) -> None:
        self.name = name
        self.labels = labels
        self.values: list[Value] = [] if values is None else values


class Parameter(Data):
    """A word that begins with a dash and is not quoted: a parameter's name."""

    __slots__ = ()


class Deep(Data):
    """Paths that were listed with all that is below them."""

    __slots__ = ()


def text_of(value: Value) -> Data:
    """``value`` as a text."""
    if isinstance(value, Data):
        return value
    if value is None:
        return NOTHING
    if isinstance(value, bool):
        return Data("True" if value else "False")
    if isinstance(value, int):
        return Data(str(value))
    if isinstance(value, list):
        parts = [text_of(item) for item in value[:5000]]
        labels = NO_LABELS.union(*(part.labels for part in parts)) if parts else NO_LABELS
        return Data(" ".join(part.text for part in parts), labels)
    if isinstance(value, Object):
        return Data(UNKNOWN, value.labels)
    if isinstance(value, dict):
        return Data(UNKNOWN, text_of(list(value.values())).labels)
    if isinstance(value, Block):
        return Data(value.text)
    return Data(UNKNOWN)


def labels_of(value: Value) -> frozenset[str]:
    """Where a value comes from."""
    return text_of(value).labels if value is not None else NO_LABELS


def known(value: Value) -> str | None:
    """A text if all of it is known."""
    if isinstance(value, (Data, int)):
        text = text_of(value).text
        return text if UNKNOWN not in text else None
    return None


def number(value: Value) -> int | None:
    """A whole number, if that is known."""
    if isinstance(value, int):
        return int(value)
    text = known(value)
    if text is None:
        return None
    text = text.strip()
    try:
        if text[:2].lower() == "0x" and len(text) < 18:
            return int(text, 16)
        return int(text) if text.lstrip("-").isdecimal() and len(text) < 18 else None
    except ValueError:
        return None


def add(left: Value, right: Value) -> Value:
    """`left + right`: numbers, lists or texts."""
    if isinstance(left, list):
        return [*left, *(right if isinstance(right, list) else [right])]
    if isinstance(left, int) and not isinstance(left, bool):
        second = number(right)
        return left + second if second is not None else Data(UNKNOWN, labels_of(right))
    first, other = text_of(left), text_of(right)
    if len(first.text) + len(other.text) > LONGEST:
        return Data(UNKNOWN, first.labels | other.labels)
    return Data(first.text + other.text, first.labels | other.labels)


def joined(items: list[Value], separator: str) -> Data:
    """Texts with a separator between them."""
    texts = [text_of(item) for item in items[:5000]]
    labels = NO_LABELS.union(*(text.labels for text in texts)) if texts else NO_LABELS
    return Data(separator.join(text.text for text in texts), labels)


def character(value: Value) -> Data:
    """The character with a number."""
    code = number(value)
    if code is not None and 0 <= code < 0x110000:
        return Data(chr(code))
    text = known(value)
    return Data(text) if text is not None and len(text) == 1 else Data(UNKNOWN, labels_of(value))


def formatted(template: Value, values: list[Value]) -> Data:
    """`template -f values`."""
    text = text_of(template)
    out = text.text
    labels = text.labels
    for at, value in enumerate(values[:200]):
        data = text_of(value)
        out = out.replace("{" + str(at) + "}", data.text)
        labels |= data.labels
        if len(out) > LONGEST:
            return Data(UNKNOWN, labels)
    return Data(out, labels)


def replaced(value: Value, old: Value, new: Value) -> Data:
    """`value -replace old, new` for patterns that are plain texts."""
    text, mark, put = known(value), known(old), known(new)
    if text is None or mark is None or put is None or not mark:
        return Data(UNKNOWN, labels_of(value))
    plain = mark.replace("\\", "")
    if any(char in mark for char in "[]()*+?^$.|") and plain == mark:
        return Data(UNKNOWN, labels_of(value))
    out = text.replace(plain, put)
    if plain.lower() != plain or plain.upper() != plain:
        out = out.replace(plain.lower(), put).replace(plain.upper(), put)
    return Data(out[:LONGEST], labels_of(value))


def item_of(value: Value, key: Value) -> Value:
    """`value[key]`."""
    if isinstance(key, list):
        return [item_of(value, item) for item in key[:5000]]
    if isinstance(value, dict):
        name = known(key)
        return value.get(name.lower(), Data(UNKNOWN)) if name is not None else Data(UNKNOWN)
    at = number(key)
    if at is None:
        return Data(UNKNOWN, labels_of(value))
    if isinstance(value, list):
        return value[at] if -len(value) <= at < len(value) else None
    text = known(value)
    if text is None:
        return Data(UNKNOWN, labels_of(value))
    return Data(text[at]) if -len(text) <= at < len(text) else None
