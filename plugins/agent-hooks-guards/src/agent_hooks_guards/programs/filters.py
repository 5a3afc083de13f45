"""What filters make of known text: ``tr``, ``cut``, ``head``, ``tail``, ``rev``, ``fold``, ``paste``, ``uniq``.

A line with ``UNKNOWN`` in it becomes ``UNKNOWN``: it may be many lines. None comes back for what is not known at all.
"""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CLASSES = {
    "alpha": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
    "upper": "ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "lower": "abcdefghijklmnopqrstuvwxyz",
    "digit": "0123456789",
    "xdigit": "0123456789ABCDEFabcdef",
    "space": "\t\n\v\f\r ",
    "blank": "\t ",
    "punct": "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~",
    "cntrl": "".join(map(chr, (*range(32), 127))),
    "print": "".join(map(chr, range(32, 127))),
    "graph": "".join(map(chr, range(33, 127))),
}
_CLASSES["alnum"] = _CLASSES["digit"] + _CLASSES["alpha"]
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "\\": "\\"}
_LONGEST_SET = 4096


def lines_of(text: str) -> list[str]:
    """The lines of ``text`` with their ends; a new line is the only one."""
    lines = [f"{line}\n" for line in text.split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def each_line(text: str, change: Callable[[str], str | None]) -> str:
    """``text`` with each line, given without its end, changed; a line for which None comes back is left out."""
    made = []
    for line in lines_of(text):
        if UNKNOWN in line:
            made.append(UNKNOWN)
            continue
        end = "\n" if line.endswith("\n") else ""
        changed = change(line.removesuffix("\n"))
        if changed is not None:
            made.append(changed + end)
    return "".join(made)


def each_whole_line(text: str, change: Callable[[str], str | None]) -> str:
    """The same, for a program that ends the last line where its input does not."""
    return each_line(text if not text or text.endswith(("\n", UNKNOWN)) else f"{text}\n", change)


def character_set(text: str, length: int = 0) -> str | None:
    """A set of characters as ``tr`` takes it; ``length``: to which ``[x*]`` fills. None for what is not known."""
    if UNKNOWN in text or not text.isascii():
        return None
    # Each character, and whether it was escaped.
    chars: list[tuple[str, bool]] = []
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char != "\\" or at == len(text):
            chars.append((char, False))
            continue
        end = at
        while end < len(text) and end - at < 3 and text[end] in "01234567":
            end += 1
        if end > at:
            number = int(text[at:end], 8)
            if number > 127:
                return None
            chars.append((chr(number), True))
            at = end
        else:
            chars.append((_ESCAPES.get(text[at], text[at]), True))
            at += 1
    made: list[str] = []
    fill: tuple[int, str] | None = None
    at = 0
    plain = "".join("\0" if escaped else char for char, escaped in chars)
    while at < len(chars):
        if plain.startswith("[:", at):
            end = plain.find(":]", at + 2)
            if end > 0 and plain[at + 2 : end] in _CLASSES:
                made.append(_CLASSES[plain[at + 2 : end]])
                at = end + 2
                continue
        if plain.startswith("[=", at) and plain[at + 3 : at + 5] == "=]":
            made.append(chars[at + 2][0])
            at += 5
            continue
        if plain.startswith("[", at) and plain[at + 2 : at + 3] == "*":
            end = plain.find("]", at + 3)
            digits = plain[at + 3 : end] if end > 0 else "x"
            if not digits.strip("0123456789"):
                count = int(digits, 8 if digits.startswith("0") else 10) if digits else 0
                if count > _LONGEST_SET:
                    return None
                if count:
                    made.append(chars[at + 1][0] * count)
                else:
                    fill = (len(made), chars[at + 1][0])
                at = end + 1
                continue
        if plain[at + 1 : at + 2] == "-" and at + 2 < len(chars):
            first, last = ord(chars[at][0]), ord(chars[at + 2][0])
            if first > last:
                return None
            made.append("".join(map(chr, range(first, last + 1))))
            at += 3
            continue
        made.append(chars[at][0])
        at += 1
    if fill is not None:
        lacking = length - sum(map(len, made))
        made.insert(fill[0], fill[1] * max(0, lacking))
    return "".join(made)


def translated(
    text: str, sets: list[str], *, deletes: bool, squeezes: bool, complements: bool, truncates: bool
) -> str | None:
    """``text`` as ``tr`` makes it."""
    if not sets or len(sets) > 2:
        return None
    first = character_set(sets[0])
    if first is None:
        return None
    # The complement is of all bytes, each once.
    length = 256 - len(set(first)) if complements else len(first)
    second = character_set(sets[1], length) if len(sets) > 1 else ""
    if second is None or (complements and not text.replace(UNKNOWN, "").isascii()):
        return None
    if complements:
        chosen = frozenset(first)
        first = "".join(char for char in map(chr, range(128)) if char not in chosen)
        if second and not deletes and len(sets) > 1:
            second = second.ljust(len(first), second[-1])
    if deletes:
        text = text.translate(dict.fromkeys(map(ord, first)))
        return squeezed(text, frozenset(second)) if squeezes and second else text
    if len(sets) > 1:
        if not second:
            return None
        if truncates:
            first = first[: len(second)]
        second = second.ljust(len(first), second[-1])
        # The last one counts where a character stands twice.
        text = text.translate({ord(char): second[at] for at, char in enumerate(first)})
        return squeezed(text, frozenset(second)) if squeezes else text
    return squeezed(text, frozenset(first)) if squeezes else None


def squeezed(text: str, chars: frozenset[str]) -> str:
    """``text`` with repetitions of ``chars`` made one."""
    return "".join(char for at, char in enumerate(text) if not at or char not in chars or text[at - 1] != char)


def numbers(text: str) -> list[tuple[int, int]] | None:
    """A list of ``cut``: ``1,3-5,7-`` as pairs, the end 0 if it is open. None if it is not one."""
    found = []
    for part in text.replace(" ", ",").split(","):
        first, dash, last = part.partition("-")
        if (first and not _is_number(first)) or (last and not _is_number(last)) or not (first or last):
            return None
        found.append((int(first or 1), int(last or 0) if dash else int(first)))
    return found


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) < 10 and int(text) > 0


def chosen(count: int, ranges: list[tuple[int, int]], *, complement: bool) -> list[int]:
    """Positions, from 0, of ``count`` that the ranges name."""
    marks = [complement] * count
    for first, last in ranges:
        for at in range(first - 1, min(last or count, count)):
            marks[at] = not complement
    return [at for at, is_chosen in enumerate(marks) if is_chosen]


def head(text: str, count: str, *, counts_bytes: bool) -> str | None:
    """The beginning of ``text`` as ``head`` prints it; ``-5``: all but the last five."""
    amount = _amount(count)
    if amount is None:
        return None
    is_rest = count.startswith("-")
    units = list(text) if counts_bytes else lines_of(text)
    if counts_bytes and not text.replace(UNKNOWN, "").isascii():
        return None
    if is_rest:
        kept = units[: max(0, len(units) - amount)]
        # Of what ends in the unknown, nobody knows where the last ones begin.
        return "".join(kept) if not any(UNKNOWN in unit for unit in units) else None
    return _until_unknown(units, amount)


def _until_unknown(units: list[str], amount: int) -> str:
    made = []
    for unit in units[:amount]:
        if UNKNOWN in unit:
            made.append(unit[: unit.index(UNKNOWN)] + UNKNOWN)
            return "".join(made)
        made.append(unit)
    return "".join(made)


def tail(text: str, count: str, *, counts_bytes: bool) -> str | None:
    """The end of ``text`` as ``tail`` prints it; ``+5``: from the fifth on."""
    amount = _amount(count)
    if amount is None:
        return None
    if counts_bytes and not text.replace(UNKNOWN, "").isascii():
        return None
    units = list(text) if counts_bytes else lines_of(text)
    if count.startswith("+"):
        skipped = units[: max(0, amount - 1)]
        return None if any(UNKNOWN in unit for unit in skipped) else "".join(units[max(0, amount - 1) :])
    if not amount:
        return ""
    kept = units[-amount:]
    return None if any(UNKNOWN in unit for unit in kept) else "".join(kept)


_UNITS = {"": 1, "b": 512, "k": 1024, "K": 1024, "kB": 1000, "KB": 1000, "M": 2**20, "G": 2**30}


def _amount(count: str) -> int | None:
    digits = count.lstrip("+-")
    number = digits.rstrip("bkKBMG")
    unit = _UNITS.get(digits[len(number) :])
    return None if unit is None or not number.isdecimal() or len(number) > 12 else int(number) * unit


def folded(text: str, width: int) -> str:
    """``text`` in lines of at most ``width`` characters, as ``fold`` breaks it."""

    def fold(line: str) -> str:
        return "\n".join(line[at : at + width] for at in range(0, len(line), width)) if line else ""

    return each_line(text, fold)


def pasted(text: str, delimiters: str) -> str | None:
    """The lines of ``text`` in one, as ``paste -s`` joins them."""
    marks = character_set(delimiters.replace("\\0", "")) if delimiters else ""
    if marks is None or UNKNOWN in text:
        return None
    lines = [line.removesuffix("\n") for line in lines_of(text)]
    made = [lines[0]] if lines else []
    for at, line in enumerate(lines[1:]):
        made.append(marks[at % len(marks)] if marks else "")
        made.append(line)
    return "".join(made) + "\n"


def unique(text: str) -> str | None:
    """``text`` without lines that are as the one before them."""
    if UNKNOWN in text:
        return None
    lines = [line.removesuffix("\n") for line in lines_of(text)]
    return "".join(f"{line}\n" for at, line in enumerate(lines) if not at or lines[at - 1] != line)


def beside(texts: list[str], delimiters: str) -> str | None:
    """Lines of several texts beside each other, as ``paste`` puts them; None if they are not known."""
    if any(UNKNOWN in text for text in texts) or len(delimiters) > 1:
        return None
    columns = [text.removesuffix("\n").split("\n") for text in texts]
    rows = range(max(map(len, columns)))
    return "".join(delimiters.join(column[at] if at < len(column) else "" for column in columns) + "\n" for at in rows)
