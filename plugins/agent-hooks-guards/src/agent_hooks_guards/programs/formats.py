"""What ``echo`` and ``printf`` print, and the escapes that they and ``$'…'`` know.

Rules: the Bash Reference Manual, "Bourne Shell Builtins", "Bash Builtins", "ANSI-C Quoting". Bytes that are no UTF-8
are kept as ``surrogateescape`` does.
"""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN

LIMIT = 65_536  # characters

_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\",
}  # fmt: skip
_OCTAL = "01234567"
_HEXADECIMAL = "0123456789abcdefABCDEF"

# Who reads the escapes.
ECHO = "echo -e"
FORMAT = "printf's format"
ARGUMENT = "printf's %b"
QUOTE = "$'…'"


def bounded(text: str) -> str:
    """``text``, unless it is longer than is looked at: then its beginning, and that there is more."""
    return text if len(text) <= LIMIT else text[:LIMIT] + UNKNOWN


def joined(text: str) -> str:
    """``text`` with the bytes in it that make characters together as those characters."""
    if text.isascii():
        return text
    try:
        return text.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text


def _byte(number: int) -> str:
    number &= 0xFF
    return chr(number) if number < 0x80 else chr(0xDC00 + number)


def _digits(text: str, start: int, allowed: str, most: int) -> int:
    end = start
    while end < len(text) and end - start < most and text[end] in allowed:
        end += 1
    return end


def _escape(text: str, at: int, reader: str) -> tuple[str | None, int]:
    """What the escape at ``at`` means, and where it ends; None if nothing is printed any more."""
    letter = text[at + 1 : at + 2]
    start = at + 2
    if letter == UNKNOWN:
        return UNKNOWN, start
    if letter in _OCTAL and letter:
        if reader == ECHO and letter != "0":
            return "\\", at + 1
        # A leading zero is beside the three digits where the digits need one.
        first = start if letter == "0" and reader in (ECHO, ARGUMENT) else at + 1
        end = _digits(text, first, _OCTAL, 3)
        return _byte(int(text[first:end] or "0", 8)), end
    if letter == "x":
        end = _digits(text, start, _HEXADECIMAL, 2)
        return (_byte(int(text[start:end], 16)), end) if end > start else ("\\x", start)
    if letter in ("u", "U"):
        end = _digits(text, start, _HEXADECIMAL, 4 if letter == "u" else 8)
        if end == start:
            return f"\\{letter}", start
        number = int(text[start:end], 16)
        return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else UNKNOWN, end
    if letter == "c":
        if reader in (ECHO, ARGUMENT):
            return None, start
        if reader == QUOTE and start < len(text):
            if not text[start].isascii():
                return UNKNOWN, start + 1
            # A backslash is escaped here, too.
            end = start + 2 if text.startswith("\\\\", start) else start + 1
            return _byte(0x7F if text[start] == "?" else ord(text[start].upper()) & 0x1F), end
    if letter in _LETTERS:
        return _LETTERS[letter], start
    if letter and (
        (letter in "'\"?" and reader == QUOTE)
        or (letter in "'\"?" and reader == FORMAT)
        or (letter == "'" and reader == ARGUMENT)
    ):
        return letter, start
    return "\\", at + 1


def unescaped(text: str, reader: str = QUOTE) -> str:
    """Return ``text`` with its backslash escapes resolved, as ``reader`` does it."""
    return _unescaped(text, reader)[0]


def _unescaped(text: str, reader: str) -> tuple[str, bool]:
    """Also tells whether an escape ended all printing."""
    at = text.find("\\")
    if at < 0:
        return text, False
    made = [text[:at]]
    while at >= 0:
        part, end = _escape(text, at, reader)
        if part is None:
            return joined("".join(made)), True
        made.append(part)
        at = text.find("\\", end)
        made.append(text[end:at] if at >= 0 else text[end:])
    return joined("".join(made)), False


def echo(words: list[str]) -> str:
    """Return what ``echo`` prints of ``words``, its options among them."""
    newline, escapes = "\n", False
    first = 0
    for word in words:
        if len(word) < 2 or word[0] != "-" or word[1:].strip("neE"):
            break
        first += 1
        for letter in word[1:]:
            if letter == "n":
                newline = ""
            else:
                escapes = letter == "e"
    text = " ".join(words[first:])
    if escapes:
        text, ended = _unescaped(text, ECHO)
        if ended:
            newline = ""
    return bounded(text + newline)


def printf(words: list[str]) -> str:
    """Return what ``printf`` prints: the first word is the format, the others its arguments."""
    if words[:1] == ["--"]:
        words = words[1:]
    if not words:
        return ""
    form, *arguments = words
    if UNKNOWN in form and arguments:
        return UNKNOWN
    if "%" not in form:
        return bounded(_unescaped(form, FORMAT)[0])
    pieces = _pieces(form)
    made: list[str] = []
    length = 0
    left = list(reversed(arguments))
    while True:
        before = len(left)
        for piece in pieces:
            if isinstance(piece, str):
                text, ended = piece, False
            else:
                text, ended = _converted(piece, left)
            made.append(text)
            length += len(text)
            if ended or length > LIMIT:
                return bounded(joined("".join(made)))
        if not left or len(left) == before:
            return bounded(joined("".join(made)))


# Flags, width, precision and letter of one conversion.
_Conversion = tuple[str, str, str | None, str]


def _pieces(form: str) -> list[str | _Conversion]:
    """A format as texts and conversions."""
    pieces: list[str | _Conversion] = []
    at = 0
    while at < len(form):
        sign = form.find("%", at)
        text = form[at:] if sign < 0 else form[at:sign]
        if text:
            shown, ended = _unescaped(text, FORMAT)
            pieces.append(shown)
            if ended:
                break
        if sign < 0:
            break
        at = sign + 1
        if form[at : at + 1] == "%":
            pieces.append("%")
            at += 1
            continue
        end = at
        while end < len(form) and form[end] in "-+ #0'":
            end += 1
        flags = form[at:end]
        at = end
        end = at + 1 if form[at : at + 1] == "*" else _digits(form, at, "0123456789", 10)
        width = form[at:end]
        precision: str | None = None
        if form[end : end + 1] == ".":
            at = end + 1
            end = at + 1 if form[at : at + 1] == "*" else _digits(form, at, "0123456789", 10)
            precision = form[at:end]
        while end < len(form) and form[end] in "hlLjzt":
            end += 1
        letter = form[end : end + 1]
        if letter == "(":
            close = form.find(")T", end)
            letter = "T"
            end = close + 1 if close > 0 else len(form)
        pieces.append((flags, width, precision, letter))
        at = end + 1
    return pieces


def _converted(piece: _Conversion, left: list[str]) -> tuple[str, bool]:
    """One conversion of the next of the arguments that are ``left``; True if all printing ends with it."""
    flags, width, precision, letter = piece
    if width == "*":
        width = left.pop() if left else "0"
        if width.startswith("-"):
            flags, width = f"{flags}-", width[1:]
    if precision == "*":
        precision = left.pop() if left else "0"
    has_argument = bool(left)
    argument = left.pop() if left else ""
    if not (width or "0").isdecimal() or not (precision or "0").isdecimal():
        return UNKNOWN, False
    places = int(width or 0)
    most = None if precision is None else int(precision or 0)
    if places > LIMIT or (most or 0) > LIMIT or letter == "T" or (UNKNOWN in argument and letter not in "sb"):
        return UNKNOWN, False
    ended = False
    if letter in ("s", "b", "q", "c"):
        text = argument
        if letter == "b":
            text, ended = _unescaped(argument, ARGUMENT)
        elif letter == "q":
            text = _quoted(argument)
        elif letter == "c":
            text = argument[:1] or "\0"
        if most is not None and letter in "sb":
            text = UNKNOWN if UNKNOWN in text[:most] else text[:most]
    elif letter in ("d", "i", "u", "o", "x", "X"):
        text = _number(argument if has_argument else "0", flags, most, letter)
    elif letter in ("e", "E", "f", "F", "g", "G", "a", "A") and letter:
        return UNKNOWN, False
    else:
        return "", True  # not a conversion: printf complains and stops
    if UNKNOWN in text:
        return text, ended
    if (places or most is not None or letter == "c") and not text.isascii():
        return UNKNOWN, ended  # bash counts bytes here and characters there
    if "-" in flags:
        return text.ljust(places), ended
    if "0" in flags and most is None and letter in "diuoxX":
        sign = text[:1] if text[:1] in ("-", "+", " ") else ""
        return sign + text[len(sign) :].rjust(places - len(sign), "0"), ended
    return text.rjust(places), ended


def _number(argument: str, flags: str, most: int | None, letter: str) -> str:
    text = argument.strip()
    number: int | None
    if text[:1] in ("'", '"'):
        number = ord(text[1]) if len(text) > 1 else 0
    else:
        sign = text[:1] if text[:1] in ("-", "+") else ""
        digits = text[len(sign) :].lower()
        base, allowed = 10, "0123456789"
        if digits.startswith("0x"):
            base, allowed, digits = 16, _HEXADECIMAL, digits[2:]
        elif digits.startswith("0"):
            base, allowed = 8, _OCTAL
        end = _digits(digits, 0, allowed, 20)
        number = int(digits[:end] or "0", base) * (-1 if sign == "-" else 1)
    if not -(2**63) <= number < 2**63:
        return UNKNOWN
    if letter in "uoxX" and number < 0:
        number += 2**64
    shown = f"{abs(number):{'d' if letter in 'diu' else letter}}"
    if most is not None:
        shown = shown.rjust(most, "0") if number or most else ""
    if "#" in flags and number:
        shown = {"x": "0x", "X": "0X", "o": "0"}.get(letter, "") + shown
    if letter in "di":
        shown = ("-" if number < 0 else "+" if "+" in flags else " " if " " in flags else "") + shown
    return shown


def _quoted(argument: str) -> str:
    if not argument:
        return "''"
    if not argument.isprintable():
        return UNKNOWN
    return "".join(char if char.isalnum() or char in "_-./:=@%+,]" else f"\\{char}" for char in argument)
