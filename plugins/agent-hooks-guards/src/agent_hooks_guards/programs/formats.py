"""Texts that are known without running anything: ``echo``, ``printf``, escapes, ``base64 -d``, ``xxd -r``, ``tr``.

Rules: the Bash Reference Manual, "Shell Builtin Commands" and "ANSI-C Quoting". Bytes that are not UTF-8 are kept as
``surrogateescape`` does.
"""

from __future__ import annotations

import re
from functools import partial

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.values import UNKNOWN

_LIMIT = 65_536  # characters
_LONGEST_FORM = 6  # the flags, width and precision of a conversion
# The readers of escapes.
_ECHO = "echo -e"
_FORMAT = "printf's format"
_ARGUMENT = "printf's %b"
_QUOTE = "$'…'"
# Stands for `\c`, which ends the output.
_END = "\ufdd0"
_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\",
}  # fmt: skip
_ESCAPE = Pattern(
    r"\\(?:(?P<letter>[abeEfnrtv\\])|x(?P<byte>[0-9a-fA-F]{1,2})"
    r"|u(?P<short>[0-9a-fA-F]{1,4})|U(?P<long>[0-9a-fA-F]{1,8})|(?P<zero>0[0-7]{0,3})|(?P<octal>[1-7][0-7]{0,2})"
    r"|(?P<control>c)|(?P<quote>['\"?]))",
)
_CONVERSION = Pattern(r"%(?:%|([-+ #0]*)(\*|\d*)(\.(?:\*|\d*))?[hlLjzt]*([a-zA-Z]))")
_OFFSET = Pattern(r"^[0-9a-fA-F]+:((?: ?[0-9a-fA-F]{2,4})+).*$", re.MULTILINE)
# The digits of the alphabets of `basenc`, and the bits of one.
_BASES = {
    "base64": (r"[A-Za-z0-9+/]*", 6),
    "base32": (r"[A-Z2-7]*", 5),
}
_CLASSES = {
    "[:upper:]": "A-Z",
    "[:lower:]": "a-z",
    "[:digit:]": "0-9",
    "[:space:]": "\t\n\v\f\r ",
    "[:blank:]": "\t ",
}
_RANGE = Pattern(r"(.)-(.)", re.DOTALL)
_TR_ESCAPE = Pattern(r"\\([0-7]{1,3}|.)", re.DOTALL)
_LONGEST_SET = 200


def bounded(text: str) -> str:
    """Return ``text``, cut and followed by ``UNKNOWN`` if it is too long to be analysed."""
    return text if len(text) <= _LIMIT else text[:_LIMIT] + UNKNOWN


def unescaped(text: str, reader: str = _QUOTE) -> str:
    """Return ``text`` with its backslash escapes resolved, as ``reader`` does it."""
    return _joined(_ESCAPE.sub(partial(_resolved, reader=reader), text)) if "\\" in text else text


def _joined(text: str) -> str:
    """Return ``text`` with the bytes in it that make up characters as those."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text


def _byte(number: int) -> str:
    return chr(number & 0xFF) if number & 0xFF < 0x80 else chr(0xDC00 + (number & 0xFF))


def _resolved(match: re.Match[str], reader: str) -> str:
    whole = match[0]
    if match["letter"]:
        return _LETTERS[match["letter"]]
    if match["byte"]:
        return _byte(int(match["byte"], 16))
    if code := match["short"] or match["long"]:
        number = int(code, 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else UNKNOWN
    if match["zero"] or (match["octal"] and reader != _ECHO):
        # Behind a leading zero, echo and %b read three digits.
        size = 4 if match["zero"] and reader in (_ECHO, _ARGUMENT) else 3
        return _byte(int(whole[1 : size + 1], 8)) + whole[size + 1 :]
    if match["control"]:
        return whole if reader == _FORMAT else UNKNOWN if reader == _QUOTE else _END
    if match["quote"] and (reader in (_QUOTE, _FORMAT) or (reader == _ARGUMENT and whole == "\\'")):
        return match["quote"]
    return whole


def echo(words: list[str]) -> str:
    """Return the stdout of ``echo``; ``words`` are its options and operands."""
    newline, escapes, first = "\n", False, 0
    for word in words:
        if len(word) < 2 or word[0] != "-" or word[1:].strip("neE"):
            break
        first += 1
        newline = "" if "n" in word else newline
        escapes = {"e": True, "E": False}.get(word[1:].strip("n")[-1:], escapes)
    text = " ".join(words[first:]) + newline
    return bounded(unescaped(text, _ECHO).partition(_END)[0] if escapes else text)


def printf(words: list[str]) -> str:
    """Return the stdout of ``printf``: the first word is the format, the others are its arguments."""
    form, *arguments = words[words[:1] == ["--"] :] or [""]
    if UNKNOWN in form and arguments:
        return UNKNOWN
    left = list(reversed(arguments))
    made: list[str] = []
    before, length = -1, 0
    while before != len(left) and (left or before < 0) and length <= _LIMIT:
        before, first, at = len(left), len(made), 0
        for match in _CONVERSION.finditer(form):
            made += [unescaped(form[at : match.start()], _FORMAT), "%" if match[4] is None else _converted(match, left)]
            at = match.end()
        made.append(unescaped(form[at:], _FORMAT))
        length += sum(map(len, made[first:]))
    return bounded(_joined("".join(made)).partition(_END)[0])


def _converted(match: re.Match[str], left: list[str]) -> str:
    """Return one conversion of the next of the arguments that are ``left``."""
    flags, width, precision, letter = match.groups(default="")
    for _ in range((width + precision).count("*")):
        del left[-1:]
    argument = left.pop() if left else ""
    form = flags + width + precision
    if len(form) > _LONGEST_FORM:
        return UNKNOWN
    if letter in "sbc":
        text = {"s": argument, "c": argument[:1] or "\0"}.get(letter) or unescaped(argument, _ARGUMENT)
        if form or letter == "c":  # bash counts bytes here
            return f"%{form}s" % text if text.isascii() and "*" not in form and "0" not in flags else UNKNOWN
        return text
    number = _number(argument)
    if number is None or letter not in "diuoxX" or precision or "*" in form or "#" in flags:
        return UNKNOWN
    return UNKNOWN if number < 0 and letter in "uoxX" else f"%{form}{'d' if letter in 'iu' else letter}" % number


def _number(text: str) -> int | None:
    if text[:1] in ("'", '"'):
        return ord(text[1]) if len(text) > 1 else 0
    plain = text.strip()
    is_plain = plain.isascii() and plain.lstrip("+-").isdecimal() and plain.lstrip("+-0") == plain.lstrip("+-")
    return int(plain) if is_plain and len(plain) < 19 else None


def decode_base(text: str, kind: str = "base64") -> str:
    """Decode one of the alphabets of ``basenc``; text that is not valid is unknown."""
    import base64

    digits = "".join(text.split()).rstrip("=")
    alphabet, bits = _BASES[kind]
    if not digits.isascii() or re.fullmatch(alphabet, digits) is None:
        return UNKNOWN
    decode = base64.b32decode if kind == "base32" else base64.b64decode
    return _text(decode(digits + "A" * (-len(digits) % 8))[: len(digits) * bits // 8])


def decode_hexadecimal(text: str, *, is_plain: bool) -> str:
    """Decode as ``xxd -r`` does; ``is_plain``: digits without offsets, ``-p``."""
    try:
        return _text(bytes.fromhex("".join((text if is_plain else "".join(_OFFSET.findall(text))).split())))
    except ValueError:
        return UNKNOWN


def _text(data: bytes) -> str:
    return bounded(data.decode("utf-8", "surrogateescape"))


def translate(text: str, sets: list[str], *, deletes: bool) -> str:
    """Return ``text`` as ``tr`` prints it for literal sets."""
    chars = [_character_set(each) for each in sets]
    if len(chars) != (1 if deletes else 2) or None in chars or not chars[-1]:
        return UNKNOWN
    if deletes:
        return text.translate(dict.fromkeys(map(ord, chars[0] or "")))
    first, second = (each or "" for each in chars)
    return text.translate(dict(zip(map(ord, first), second.ljust(len(first), second[-1]), strict=False)))


def _character_set(text: str) -> str | None:
    """Return the characters of a set of ``tr``: ranges, classes, escapes; None for others."""
    for name, members in _CLASSES.items():
        text = text.replace(name, members)
    if UNKNOWN in text or "[" in text or not text.isascii() or len(text) > _LONGEST_SET:
        return None
    text = _TR_ESCAPE.sub(_tr_escape, text)
    return _RANGE.sub(lambda match: "".join(map(chr, range(ord(match[1]), ord(match[2]) + 1))), text)


def _tr_escape(match: re.Match[str]) -> str:
    return chr(int(match[1], 8)) if match[1][0] in "01234567" else _LETTERS.get(match[1], match[1])
