"""What filters print of their input or of files."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import ANYTHING, NO_LABELS, NOTHING, UNKNOWN, Data

from . import filters
from .credentials import variable_labels
from .noting import OUTPUTS, inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .printing import Printing


# A paragraph's end, an indent, a sentence's end: what `fmt` is particular about.
_LAID_OUT = re.compile(r"\n\n|\n[^\S\n]|\s\s|[\t]|[.?!:][\"')\]]*\n").search
_MOST_DIGITS = 100
_WIDEST = 69  # of a line of `fmt` that it leaves alone


def _cat(printing: Printing) -> Data:
    data = printing.input()
    if printing.options.has("-n|--number") and len(printing.options.given) == 1:
        return printing.filtered(_numbered(data.text, 6, "\t"), data)
    if printing.options.has("-n|-b|-v|-e|-E|-t|-T|-A|-s|--number*|--show*|--squeeze-blank") and data.text:
        return Data(UNKNOWN, data.labels)
    return data


def _bat(printing: Printing) -> Data:
    # Into a pipe, it prints as cat does.
    return printing.input()


def _tee(printing: Printing) -> Data:
    return printing.stdin()


def _dd(printing: Printing) -> Data:
    options = printing.options
    if options.value("of") and options.value("of") not in OUTPUTS:
        return NOTHING
    source = options.value("if")
    data = printing.file(source) if source else printing.stdin()
    if all(name in ("if", "of", "status", "bs", "ibs", "obs") for name, _ in options.given):
        return data
    changed = options.value("conv")
    if changed in ("lcase", "ucase") and all(name in ("if", "status", "conv") for name, _ in options.given):
        return Data(data.text.lower() if changed == "lcase" else data.text.upper(), data.labels)
    if (
        all(name in ("if", "status", "bs", "count", "skip") for name, _ in options.given)
        and data.is_known
        and data.text.isascii()
    ):
        size, count, skip = (options.value(name) for name in ("bs", "count", "skip"))
        if all(value is None or (value.isdecimal() and len(value) < 7) for value in (size, count, skip)):
            unit = int(size or 512)
            start = int(skip or 0) * unit
            return Data(data.text[start : start + int(count) * unit] if count else data.text[start:], data.labels)
    return Data(UNKNOWN, data.labels)


def _tac(printing: Printing) -> Data:
    data = printing.input()
    if printing.options.given:
        return Data(UNKNOWN, data.labels)
    return printing.filtered("".join(reversed(filters.lines_of(data.text))), data)


def _rev(printing: Printing) -> Data:
    data = printing.input()
    return printing.filtered(filters.each_line(data.text, lambda line: line[::-1]), data)


def _head(printing: Printing) -> Data:
    return _end(printing, filters.head)


def _tail(printing: Printing) -> Data:
    return _end(printing, filters.tail)


def _end(printing: Printing, cut: Callable[..., str | None]) -> Data:
    options = printing.options
    data = printing.input()
    if len(options.operands) > 1 and not options.has("-q|--quiet|--silent"):
        return Data(UNKNOWN, data.labels)  # with names of files in it
    if options.has("-v|--verbose|-z|--zero-terminated|-r"):
        return Data(UNKNOWN, data.labels)
    size = options.value("-c|--bytes")
    count = size if size is not None else options.value("-n|--lines") or "10"
    return printing.filtered(cut(data.text, count, counts_bytes=size is not None), data)


def _tr(printing: Printing) -> Data:
    data = printing.stdin()
    options = printing.options
    made = filters.translated(
        data.text,
        printing.operands(),
        deletes=options.has("-d|--delete"),
        squeezes=options.has("-s|--squeeze-repeats"),
        complements=options.has("-c|-C|--complement"),
        truncates=options.has("-t|--truncate-set1"),
    )
    return printing.filtered(made, data)


def _cut(printing: Printing) -> Data:
    options = printing.options
    data = printing.input()
    chars = options.value("-c|-b|--characters|--bytes")
    fields = options.value("-f|--fields")
    ranges = filters.numbers(chars or fields or "")
    if (
        ranges is None
        or options.has("-z|--zero-terminated|-w")
        or (chars and not data.text.replace(UNKNOWN, "").isascii())
    ):
        return Data(UNKNOWN, data.labels)
    complement = options.has("--complement")
    delimiter = options.value("-d|--delimiter")
    delimiter = "\t" if delimiter is None else delimiter
    joint = options.value("--output-delimiter")
    only = options.has("-s|--only-delimited")
    if chars and joint is not None:
        return Data(UNKNOWN, data.labels)

    def cut(line: str) -> str | None:
        if chars:
            return "".join(line[at] for at in filters.chosen(len(line), ranges, complement=complement))
        parts = line.split(delimiter) if delimiter else [line]
        if len(parts) == 1:
            return None if only else line
        kept = filters.chosen(len(parts), ranges, complement=complement)
        return (delimiter if joint is None else joint).join(parts[at] for at in kept)

    return printing.filtered(filters.each_whole_line(data.text, cut), data)


def _perl(printing: Printing) -> Data:
    """``perl -pe``: a filter."""
    options = printing.options
    return Data(UNKNOWN, printing.input().labels) if options.has("-e|-E") and not options.has("-i") else ANYTHING


def _sed(printing: Printing) -> Data:
    options = printing.options
    first = 0 if options.has("-e|--expression|-f|--file") else 1
    return NOTHING if options.has("-i|--in-place") else Data(UNKNOWN, printing.input(first).labels)


def _grep(printing: Printing) -> Data:
    options = printing.options
    first = 0 if options.has("-e|--regexp|-f|--file") else 1
    if options.has("-q|--quiet|--silent"):
        return NOTHING
    if options.has("-l|--files-with-matches|-L|--files-without-match"):
        end = "\0" if options.has("-Z|--null|-0") else "\n"
        return Data("".join(inside(word) + end for word in printing.operands(first) or ["."]))
    if options.has("-c|--count"):
        return ANYTHING
    looks_around = printing.command.program == "rg" or options.has("-r|-R|--recursive")
    if looks_around and printing.command.stdin is None and len(options.operands) <= first:
        return ANYTHING
    return Data(UNKNOWN, printing.input(first).labels)


def _sorted(printing: Printing) -> Data:
    data = printing.input()
    if printing.options.has("-o|--output"):
        return NOTHING
    if data.is_known and data.text.count("\n", 0, -1) == 0:
        return Data(data.text if data.text.endswith("\n") or not data.text else f"{data.text}\n", data.labels)
    return Data(UNKNOWN, data.labels)


def _uniq(printing: Printing) -> Data:
    data = printing.input() if len(printing.options.operands) < 2 else printing.file(printing.operands()[0])
    made = None if printing.options.given else filters.unique(data.text)
    return NOTHING if len(printing.options.operands) > 1 else printing.filtered(made, data)


def _fold(printing: Printing) -> Data:
    data = printing.input()
    width = printing.options.value("-w|--width") or "80"
    if (
        not width.isdecimal()
        or not int(width[:9]) > 0
        or printing.options.has("-s|--spaces|-b|--bytes")
        or "\t" in data.text
        or not data.text.replace(UNKNOWN, "").isascii()
    ):
        return Data(UNKNOWN, data.labels)
    return printing.filtered(filters.folded(data.text, int(width[:9])), data)


def _paste(printing: Printing) -> Data:
    delimiters = printing.options.value("-d|--delimiters")
    words = printing.operands()
    if len(words) > 1 and not printing.options.has("-s|--serial"):
        files = [printing.file(word) for word in words]
        made = filters.beside([each.text for each in files], "\t" if delimiters is None else delimiters)
        return printing.filtered(made, Data("", NO_LABELS.union(*(each.labels for each in files))))
    data = printing.input()
    if not printing.options.has("-s|--serial") or len(words) > 1:
        return data if not printing.options.given and len(words) < 2 else Data(UNKNOWN, data.labels)
    return printing.filtered(filters.pasted(data.text, "\t" if delimiters is None else delimiters), data)


def _column(printing: Printing) -> Data:
    """``column -t``; without options, one line stays as it is."""
    options = printing.options
    data = printing.input()
    lines = data.text.splitlines()
    if not data.is_known or any(name not in ("-t", "-s") for name, _ in options.given):
        return Data(UNKNOWN, data.labels)
    if not options.has("-t"):
        return printing.filtered(f"{lines[0]}\n" if len(lines) == 1 and lines[0].strip() else None, data)
    marks = options.value("-s")
    rows = [line.split() if marks is None else _parted(line, marks) for line in lines]
    if len(set(map(len, rows))) != 1 or not all(line.strip() for line in lines):
        return Data(UNKNOWN, data.labels)
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    widths[-1] = 0
    made = ["  ".join(map(str.ljust, row, widths)) for row in rows]
    return printing.filtered("".join(f"{line}\n" for line in made), data)


def _parted(line: str, marks: str) -> list[str]:
    for mark in marks[1:]:
        line = line.replace(mark, marks[0])
    return line.split(marks[0]) if marks else [line]


def _fmt(printing: Printing) -> Data:
    """One paragraph that is no wider than a line."""
    data = printing.input()
    text = data.text
    line = " ".join(text.split())
    is_plain = not _LAID_OUT(text) and not text[:1].isspace() and data.is_known
    if printing.options.given or not is_plain:
        return Data(UNKNOWN, data.labels)
    return printing.filtered(f"{line}\n" if len(line) <= _WIDEST and line else None, data)


def _nl(printing: Printing) -> Data:
    options = printing.options
    data = printing.input()
    width, joint = options.value("-w") or "6", options.value("-s")
    text = data.text if data.text.endswith("\n") or not data.text else f"{data.text}\n"
    # Without -ba, empty lines have no number; `\\:` begins a page.
    is_plain = options.value("-b") in ("a", None) and (options.value("-b") or not text.startswith("\n"))
    if (
        any(name not in ("-b", "-w", "-s") for name, _ in options.given)
        or not (width.isdecimal() and 0 < int(width[:4]) < _MOST_DIGITS)
        or not is_plain
        or ("\n\n" in text and not options.value("-b"))
        or "\\:" in text
    ):
        return Data(UNKNOWN, data.labels)
    return printing.filtered(_numbered(text, int(width), "\t" if joint is None else joint), data)


def _numbered(text: str, width: int, joint: str) -> str | None:
    if UNKNOWN in text:
        return None
    return "".join(f"{number:>{width}}{joint}{line}" for number, line in enumerate(filters.lines_of(text), 1))


def _strings(printing: Printing) -> Data:
    """Lines that can be read stay, if they are long enough."""
    data = printing.input()
    if printing.options.given or not data.text.replace("\n", "").isprintable() or not data.text.isascii():
        return Data(UNKNOWN, data.labels)
    return printing.filtered(filters.each_whole_line(data.text, lambda line: line if len(line) > 3 else None), data)


def _pr(printing: Printing) -> Data:
    """``pr -t``: without heads and feet."""
    data = printing.input()
    names = [name for name, _ in printing.options.given]
    if names not in (["-t"], ["--omit-header"]) or not data.text.replace("\n", "").isprintable():
        return Data(UNKNOWN, data.labels)
    return printing.filtered(filters.each_whole_line(data.text, str), data)


def _unchanged_without(marks: str) -> Callable[[Printing], Data]:
    """A filter that changes nothing in a text without ``marks``."""

    def tell(printing: Printing) -> Data:
        data = printing.input() if printing.command.program != "envsubst" else printing.stdin()
        return Data(UNKNOWN, data.labels) if any(mark in data.text for mark in marks) else data

    return tell


def _awk(printing: Printing) -> Data:
    options = printing.options
    words = printing.operands()
    if options.has("-f|--file") or not words:
        return Data(UNKNOWN, printing.input().labels | printing.command.labels_of())
    labels = printing.input(1).labels | printing.command.labels_of()
    return Data(UNKNOWN, labels.union(*map(variable_labels, _ENVIRON(words[0]))))


# A variable that an awk program reads from its environment.
_ENVIRON = re.compile(r"ENVIRON\[\"(\w+)").findall


FILTERS: dict[str, Callable[[Printing], Data]] = {
    "cat": _cat,
    "bat": _bat,
    "batcat": _bat,
    "less": _bat,
    "more": _bat,
    "tee": _tee,
    "pv": _bat,
    "dd": _dd,
    "tac": _tac,
    "rev": _rev,
    "head": _head,
    "tail": _tail,
    "tr": _tr,
    "cut": _cut,
    "sed": _sed,
    "perl": _perl,
    "ruby": _perl,
    "grep": _grep,
    "rg": _grep,
    "egrep": _grep,
    "fgrep": _grep,
    "sort": _sorted,
    "shuf": _sorted,
    "uniq": _uniq,
    "fold": _fold,
    "paste": _paste,
    "column": _column,
    "fmt": _fmt,
    "nl": _nl,
    "pr": _pr,
    "strings": _strings,
    "expand": _unchanged_without("\t" + UNKNOWN),
    "unexpand": _unchanged_without(" \t" + UNKNOWN),
    "dos2unix": _unchanged_without("\r" + UNKNOWN),
    "envsubst": _unchanged_without("$" + UNKNOWN),
    "awk": _awk,
}
