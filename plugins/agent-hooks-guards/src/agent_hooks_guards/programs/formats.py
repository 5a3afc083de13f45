"""The stdout of ``echo`` and ``printf``, and backslash escapes as these and ``$'…'`` read them.

Rules: the Bash Reference Manual, "Shell Builtin Commands" and "ANSI-C Quoting". Bytes that are not UTF-8 are kept as
``surrogateescape`` does.
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN

from .decoding import LIMIT

# The readers of escapes.
ECHO = "echo -e"
FORMAT = "printf's format"
ARGUMENT = "printf's %b"
QUOTE = "$'…'"

_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\",
}  # fmt: skip
_ESCAPE = re.compile(
    r"\\(?:(?P<letter>[abeEfnrtv\\])|x(?P<byte>[0-9a-fA-F]{1,2})"
    r"|u(?P<short>[0-9a-fA-F]{1,4})|U(?P<long>[0-9a-fA-F]{1,8})|(?P<zero>0[0-7]{0,3})|(?P<octal>[1-7][0-7]{0,2})"
    r"|c(?P<control>\\\\|.)?|(?P<quote>['\"?]))",
    re.DOTALL,
)
_CONVERSION = re.compile(r"%(?:%|([-+ #0]*)(\*|\d*)(?:\.(\*|\d*))?[hlLjzt]*([a-zA-Z]))")
_SAFE = re.compile(r"([^\w@%+=:,./-])")


def bounded(text: str) -> str:
    """Return ``text``, cut and followed by ``UNKNOWN`` if it is too long to be analysed."""
    return text if len(text) <= LIMIT else text[:LIMIT] + UNKNOWN


def _byte(number: int) -> str:
    return chr(number & 0xFF) if number & 0xFF < 0x80 else chr(0xDC00 + (number & 0xFF))


def unescaped(text: str, reader: str = QUOTE) -> str:
    """Return ``text`` with its backslash escapes resolved, as ``reader`` does it."""
    return _unescaped(text, reader)[0]


def _unescaped(text: str, reader: str) -> tuple[str, bool]:
    """Also return whether an escape ended the output."""
    if "\\" not in text:
        return text, False
    ends = reader in (ECHO, ARGUMENT)
    made: list[str] = []
    at = 0
    while (match := _ESCAPE.search(text, at)) is not None:
        made.append(text[at : match.start()])
        at = match.end()
        if match[0][1] == "c" and ends:
            return _joined("".join(made)), True
        if match[0][1] == "c" and reader == FORMAT:
            made.append("\\c")
            at = match.start() + 2
        else:
            made.append(_resolved(match, reader))
    made.append(text[at:])
    return _joined("".join(made)), False


def _joined(text: str) -> str:
    """Return ``text`` with the bytes in it that make up characters as those."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text


def _resolved(match: re.Match[str], reader: str) -> str:
    whole = match[0]
    if match["letter"]:
        return _LETTERS[match["letter"]]
    if match["byte"]:
        return _byte(int(match["byte"], 16))
    code = match["short"] or match["long"]
    if code:
        number = int(code, 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else UNKNOWN
    if match["zero"] or match["octal"]:
        if reader == ECHO and match["octal"]:
            return whole
        # Behind a leading zero, echo and %b read three digits.
        size = 4 if match["zero"] and reader in (ECHO, ARGUMENT) else 3
        return _byte(int(whole[1 : size + 1], 8)) + whole[size + 1 :]
    if match["control"] and reader == QUOTE:
        char = match["control"][0]
        return UNKNOWN if not char.isascii() else "\x7f" if char == "?" else chr(ord(char.upper()) & 0x1F)
    if match["quote"] and (reader in (QUOTE, FORMAT) or (reader == ARGUMENT and whole == "\\'")):
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
    text = " ".join(words[first:])
    if escapes:
        text, ended = _unescaped(text, ECHO)
        newline = "" if ended else newline
    return bounded(text + newline)


def printf(words: list[str]) -> str:
    """Return the stdout of ``printf``: the first word is the format, the others are its arguments."""
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        return ""
    form, *arguments = words
    if UNKNOWN in form and arguments:
        return UNKNOWN
    left = list(reversed(arguments))
    made: list[str] = []
    before, length = -1, 0
    while before != len(left) and (left or before < 0) and length <= LIMIT:
        before, first, at = len(left), len(made), 0
        for match in _CONVERSION.finditer(form):
            made += [unescaped(form[at : match.start()], FORMAT), "%" if match[4] is None else _converted(match, left)]
            at = match.end()
        made.append(unescaped(form[at:], FORMAT))
        length += sum(map(len, made[first:]))
    return bounded(_joined("".join(made)))


def _converted(match: re.Match[str], left: list[str]) -> str:
    """Return one conversion of the next of the arguments that are ``left``."""
    flags, width, precision, letter = match.groups()
    width, precision = ((left.pop() if left else "0") if each == "*" else each for each in (width, precision))
    argument = left.pop() if left else ""
    if any(each and not (each.isdecimal() and int(each) < LIMIT) for each in (width, precision)):
        return UNKNOWN
    form = f"%{flags}{width}" + ("" if precision is None else f".{precision}")
    if letter in ("s", "b", "q", "c"):
        text = unescaped(argument, ARGUMENT) if letter == "b" else argument
        text = _SAFE.sub(r"\\\1", text) if letter == "q" else (text[:1] or "\0") if letter == "c" else text
        if form == "%" and (letter != "c" or text.isascii()):
            return text
        # bash counts bytes here.
        return f"{form.replace('0', '', flags.count('0'))}s" % text if text.isascii() and letter != "q" else UNKNOWN
    number = _number(argument)
    if (
        number is None
        or letter not in "diuoxX"
        or (number == 0 and precision is not None)
        or ("#" in flags and letter == "o")
    ):
        return UNKNOWN
    return f"{form}{'d' if letter in 'iu' else letter}" % (
        number + 2**64 if number < 0 and letter in "uoxX" else number
    )


def _number(text: str) -> int | None:
    if text[:1] in ("'", '"'):
        return ord(text[1]) if len(text) > 1 else 0
    digits = text.strip().lower() or "0"
    unsigned = digits.lstrip("+-")
    try:
        number = int(digits, 16 if unsigned[:2] == "0x" else 8 if unsigned[:1] == "0" else 10)
    except ValueError:
        return None
    return number if "_" not in digits and abs(number) < 2**63 else None
