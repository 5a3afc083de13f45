"""Decoders and filters of known text: ``base64 -d``, ``xxd -r``, ``tr``."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN

LIMIT = 65_536  # characters
_ALPHABETS = {"base64": r"[^A-Za-z0-9+/]", "base64url": r"[^\w-]", "base32": r"[^A-Z2-7]", "base16": r"[^0-9A-F]"}
_BITS = {"base64": 6, "base64url": 6, "base32": 5, "base16": 4}
_OFFSET = re.compile(r"^[0-9a-fA-F]+:((?: ?[0-9a-fA-F]{2,4})+).*$", re.MULTILINE)
_CLASSES = {
    "[:alpha:]": "A-Za-z",
    "[:upper:]": "A-Z",
    "[:lower:]": "a-z",
    "[:digit:]": "0-9",
    "[:alnum:]": "0-9A-Za-z",
    "[:space:]": " \t\n\r\v\f",
    "[:blank:]": " \t",
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_LONGEST_SET = 200


def to_text(data: bytes) -> str:
    """Return bytes as text; those that are not UTF-8 are kept as ``surrogateescape`` does."""
    text = data.decode("utf-8", "surrogateescape")
    return text if len(text) <= LIMIT else text[:LIMIT] + UNKNOWN


def decode_base(text: str, kind: str = "base64", *, ignores_garbage: bool = False) -> str:
    """Decode one of the alphabets of ``basenc``; text that is not valid is unknown."""
    import base64

    digits = "".join(text.split()).rstrip("=")
    garbage = re.compile(_ALPHABETS[kind])
    if ignores_garbage:
        digits = garbage.sub("", digits)
    elif garbage.search(digits):
        return UNKNOWN
    size = len(digits) * _BITS[kind] // 8
    decode = {"base64": base64.b64decode, "base64url": base64.urlsafe_b64decode, "base32": base64.b32decode}
    padded = digits + "A" * (-len(digits) % 8)
    return to_text(decode.get(kind, base64.b16decode)(padded)[:size])


def decode_hexadecimal(text: str, *, is_plain: bool) -> str:
    """Decode as ``xxd -r`` does; ``is_plain``: digits without offsets, ``-p``."""
    if not is_plain:
        text = "".join(_OFFSET.findall(text))
    try:
        return to_text(bytes.fromhex("".join(text.split())))
    except ValueError:
        return UNKNOWN


def _character_set(text: str) -> str | None:
    """Return the characters of a set of ``tr``: ranges, classes, escapes; None for others."""
    for name, members in _CLASSES.items():
        text = text.replace(name, members)
    if UNKNOWN in text or "[" in text or not text.isascii() or len(text) > _LONGEST_SET:
        return None
    octal = re.compile(r"\\([0-7]{1,3})")
    text = re.sub(
        r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), octal.sub(lambda m: chr(int(m[1], 8)), text)
    )
    return re.sub(
        r"(.)-(.)", lambda match: "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1))), text, flags=re.DOTALL
    )


def translate(text: str, sets: list[str], *, deletes: bool) -> str:
    """Return ``text`` as ``tr`` prints it for literal sets."""
    chars = [_character_set(each) for each in sets]
    first, second = [*chars, None, None][:2]
    if first is None or (second is None) is not deletes or len(sets) > 2:
        return UNKNOWN
    if deletes:
        return text.translate(dict.fromkeys(map(ord, first)))
    if not second:
        return UNKNOWN
    second = second.ljust(len(first), second[-1])
    return text.translate({ord(char): second[at] for at, char in enumerate(first)})
