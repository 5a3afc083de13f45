"""Functions that scripts apply to literals: base64, joins, replacements."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import DECODED, NO_LABELS, UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# One value, or the items of a list.
Value = Data | list[Data]


def labels_of(values: Iterable[Data]) -> frozenset[str]:
    """Return the labels of all ``values``."""
    return NO_LABELS.union(*(value.labels for value in values))


def joined(value: Value, separator: str) -> Data:
    """Return ``value`` as one text."""
    if isinstance(value, Data):
        return value
    return Data(separator.join(item.text for item in value), labels_of(value))


def decode(name: str, data: Data) -> Data:
    """Apply the decoder ``name``; the result is unknown, and labelled so, where that fails."""
    try:
        if data.is_known and name in DECODERS:
            return Data(DECODERS[name](data.text), data.labels)
    except ValueError:
        pass
    return Data(UNKNOWN, data.labels | {DECODED})


def transform(kind: str, value: Value, settings: list[Data]) -> Value:
    """Apply a function of the kind ``kind`` of ``scripts.toml`` to a value, with its further arguments."""
    first = settings[0].text if settings else ""
    data = joined(value, first if kind == "join" else "")
    if kind == "join":
        return data
    if kind in ("replace", "translate") and len(settings) > 1 and settings[0].is_known and data.is_known:
        if kind == "translate":
            return replaced(data, first, settings[1].text, "t")
        return Data(data.text.replace(first, settings[1].text), data.labels)
    if kind == "same" and first in ("base64", "base64url", "hex") and data.is_known:
        return decode(first.removesuffix("url"), data)
    if kind == "reverse" and isinstance(value, list):
        return value[::-1]
    if kind in ("decoder", *DECODERS):
        return decode(kind, data)
    return value if kind == "same" else Data(UNKNOWN, data.labels)


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

    plain = "".join(text.split()).replace("-", "+").replace("_", "/").rstrip("=")
    return _as_text(base64.b64decode(plain + "=" * (-len(plain) % 4)))


def _as_text(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


DECODERS: dict[str, Callable[[str], str]] = {
    "base64": _base64,
    "hex": lambda text: _as_text(bytes.fromhex(text)),
    "reverse": lambda text: text[::-1],
}
