"""What the methods and formats of Python's texts give, computed for real as far as the texts are known."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN

from .python_values import (
    LONGEST_TEXT,
    Value,
    constant,
    is_exact,
    is_text,
    items_of,
    labels_of,
    plain,
    subscript,
    text_of,
    unknown,
    wrap,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PERCENT = re.compile(r"%(?:\((\w+)\))?[#0\- +]*(?:\*|\d*)(?:\.\d+)?[hlL]?([diouxXeEfFgGcrsab%])")
_WIDE = re.compile(r"\d{5,}")


def percent(left: Value, right: Value) -> Value:
    """Return ``left % right`` of a text."""
    labels = labels_of(left, right)
    text = text_of(left)
    arguments = iter(right.it if right.kind == "tuple" else [right])

    def put(found: re.Match[str]) -> str:
        if found[2] == "%":
            return "%"
        if found[1] is not None:
            value = subscript(right, constant(found[1]))
            spec = found[0].replace(f"({found[1]})", "", 1)
        else:
            value, spec = next(arguments, unknown()), found[0]
        if value.kind == "constant" and is_exact(value) and not _WIDE.search(spec) and "*" not in spec:
            try:
                it = (
                    value.it.decode("utf-8", "replace") if isinstance(value.it, bytes) and found[2] != "r" else value.it
                )
                return str(spec % it)
            except Exception:  # noqa: BLE001 - the code itself would fail here
                return UNKNOWN
        return text_of(value)

    made = _PERCENT.sub(put, text)
    return constant(made.encode("utf-8", "replace") if isinstance(left.it, bytes) else made, labels)


def formatted(value: Value, spec: str) -> str:
    """Return ``format(value, spec)`` as a text."""
    if spec and value.kind == "constant" and is_exact(value) and not _WIDE.search(spec):
        try:
            return format(value.it, spec)
        except Exception:  # noqa: BLE001 - the code itself would fail here
            return UNKNOWN
    return text_of(value)


def _format(text: str, arguments: list[Value], keywords: dict[str, Value]) -> str:
    """Return ``text.format(…)``."""
    from string import Formatter

    made = []
    at = 0
    try:
        fields = list(Formatter().parse(text))
    except ValueError:
        return UNKNOWN
    for literal, field, spec, conversion in fields:
        made.append(literal)
        if field is None:
            continue
        first = re.split(r"[.\[]", field, maxsplit=1)[0]
        if first == "":
            first, at = str(at), at + 1
        if first.isdigit():
            value = arguments[int(first)] if len(first) < 5 and int(first) < len(arguments) else unknown()
        else:
            value = keywords.get(first, unknown())
        for _, key in re.findall(r"(\[)([^\]]*)\]", field):
            value = subscript(value, constant(int(key) if key.isdigit() and len(key) < 5 else key))
        if "." in field:
            value = unknown(labels_of(value))
        if spec and "{" in spec:
            spec = _format(spec, arguments[at:], keywords) if spec.count("{") < 5 else ""
        if conversion == "r" and value.kind == "constant":
            value = constant(repr(value.it))
        made.append(formatted(value, spec or ""))
        if sum(map(len, made)) > LONGEST_TEXT:
            return UNKNOWN
    return "".join(made)


CODECS = frozenset(
    "utf-8 utf8 utf_8 utf-8-sig ascii us-ascii latin-1 latin1 latin_1 iso-8859-1 iso8859-1 cp1252 cp437 "
    "utf-16 utf16 utf-16le utf-16-le utf-16be utf-16-be utf-32 utf32 utf-7 utf7 unicode_escape "
    "unicode-escape raw_unicode_escape raw-unicode-escape idna cp037 cp500".split()
)
# These may be asked of a text that is known in part, and what they give is right for the part that is known.
_OF_PARTS = frozenset(
    "replace strip lstrip rstrip lower upper casefold title capitalize swapcase split rsplit splitlines "
    "partition rpartition removeprefix removesuffix encode decode translate expandtabs".split()
)
_OF_WHOLE = frozenset(
    "startswith endswith find rfind index rindex count isdigit isalpha isalnum isupper islower isspace "
    "isidentifier isnumeric isdecimal zfill ljust rjust center hex tobytes __len__ __contains__ __getitem__ "
    "__add__ __mul__ __mod__ __str__".split()
)


def text_method(value: Value, method: str, arguments: list[Value], keywords: dict[str, Value]) -> Value:
    """Return what a method of a text gives."""
    labels = labels_of(value, *arguments, *keywords.values())
    text = value.it
    if method == "join":
        return _joined(value, arguments, labels)
    if method == "format" and isinstance(text, str):
        return constant(_format(text, arguments, keywords), labels)
    if method == "format_map" and isinstance(text, str):
        known = arguments[0].it if arguments and arguments[0].kind == "dict" else {}
        return constant(_format(text, [], known), labels)
    if method not in _OF_PARTS and not (method in _OF_WHOLE and is_exact(value)):
        return unknown(labels)
    try:
        given = [plain(each) for each in arguments]
        named = {key: plain(each) for key, each in keywords.items()}
        if not _is_bounded(text, method, given, named):
            return unknown(labels)
        found = getattr(text, method)(*given, **named)
    except Exception:  # noqa: BLE001 - the code itself would fail here, or nothing is known
        return (
            constant(text_of(value), labels) if method in ("encode", "decode") and is_text(value) else unknown(labels)
        )
    return wrap(found, labels)


def _is_bounded(text: str | bytes, method: str, given: list[Any], named: dict[str, Any]) -> bool:
    if method in ("encode", "decode"):
        codec = given[0] if given else named.get("encoding", "utf-8")
        return isinstance(codec, str) and codec.lower() in CODECS
    if method == "replace":
        return len(given) > 1 and text.count(given[0]) * len(given[1]) + len(text) <= LONGEST_TEXT * 2
    if method == "translate":
        table = given[0].values() if isinstance(given[0], dict) else ()
        widest = max((len(each) for each in table if isinstance(each, str)), default=1)
        return len(text) * widest <= LONGEST_TEXT * 2
    if method in ("zfill", "ljust", "rjust", "center", "expandtabs", "__mul__"):
        # Each letter may become as many as the number says.
        numbers = [each for each in (*given, *named.values()) if isinstance(each, int)]
        return all(abs(each) * (len(text) + 1) <= LONGEST_TEXT * 16 for each in numbers)
    return method != "__mod__"


def _joined(value: Value, arguments: list[Value], labels: frozenset[str]) -> Value:
    items = items_of(arguments[0]) if arguments else None
    if items is None:
        return unknown(labels)
    if isinstance(value.it, bytes):
        parts = [each.it if isinstance(each.it, bytes) else text_of(each).encode("utf-8", "replace") for each in items]
        return constant(value.it.join(parts), labels)
    if (
        sum(len(each.it) if isinstance(each.it, str) else 8 for each in items) + len(value.it) * len(items)
        > LONGEST_TEXT
    ):
        return unknown(labels)
    return constant(value.it.join(map(text_of, items)), labels)
