"""Decodes ANSI-C quotes, ``$'…'``."""

from __future__ import annotations

from .patterns import Pattern
from .syntax import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re

_ESCAPE = Pattern(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x\{([0-9a-fA-F]*)\}?|x([0-9a-fA-F]{1,2})"
    r"|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(\\\\|[\s\S]))"
)
_BYTES = Pattern("[\udc80-\udcff]+")
_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def decode_ansi(text: str) -> str:
    """Return the string that ``$'text'`` denotes. It ends at a NUL; bytes that form UTF-8 become characters."""
    if "\\" not in text:
        return text
    decoded = _ESCAPE.sub(_decode_escape, text).partition("\0")[0]
    return _BYTES.sub(
        lambda found: found[0].encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape"), decoded
    )


def _decode_escape(match: re.Match[str]) -> str:
    letter, octal, braced, hexadecimal, short, wide, control = match.groups()
    if letter:
        return _LETTERS[letter]
    if control:
        return chr(ord(control[0]) & 0x1F) if control != "?" else "\x7f"
    if short or wide:
        code = int(short or wide, 16)
        return chr(code) if code < 0x110000 else UNKNOWN
    code = (int(octal, 8) if octal else int(braced or hexadecimal or "0", 16)) & 0xFF
    return chr(code) if code < 0x80 else chr(0xDC00 + code)
