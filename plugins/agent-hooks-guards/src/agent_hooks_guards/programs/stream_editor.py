"""What ``sed`` makes of known text, for scripts of ``s y a i c d p q =`` with addresses.

Rules: POSIX, "sed", and the manual of GNU sed. None comes back for all else.
"""

from __future__ import annotations

import re
from functools import partial

from agent_hooks_guards.model.values import UNKNOWN

from .expressions import compiled
from .filters import lines_of
from .formats import LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    _Make = Callable[..., re.Pattern[str] | None]

_MAX_COMMANDS = 16
_LONGEST_LINE = 80
_CASES = "LUElu"
# What a command of sed puts in: `1i text`, `$a\\ text`, `s/x/text/`, whatever separates its parts.
_PUTS_IN = re.compile(
    r"(?:^|[;{\n])[ \t]*(?:[0-9$]+|/(?:[^/\\\n]|\\.){0,200}/)?[ \t]*"
    r"(?:[iac](?:\\\n|\\?[ \t]+|\\(?=[^\n]))(?P<text>[^\n]+)"
    r"|s(?P<mark>[^\w\s\\])(?P<old>(?:(?!(?P=mark))[^\\\n]|\\.){0,400})(?P=mark)"
    r"(?P<replacement>(?:(?!(?P=mark))[^\\\n]|\\.){0,400})(?P=mark))"
).finditer
_LONGEST_SCRIPT = 4096  # characters


class _Edit:
    """One command of a script: ``first`` and ``last`` are its addresses, "" for none."""

    __slots__ = ("change", "first", "flags", "last", "letter", "negated", "text", "within")

    def __init__(
        self, letter: str, first: str | re.Pattern[str], last: str | re.Pattern[str], *, negated: bool
    ) -> None:
        self.letter = letter
        self.first = first
        self.last = last
        self.negated = negated
        self.flags = ""
        self.text = ""  # of a, i and c
        self.change: Callable[[str], str | None] | None = None
        self.within = False  # between the first address and the last

    def applies(self, line: str, number: int, *, is_last: bool) -> bool:
        """Whether the command is for this line; keeps whether it stands in its range."""
        return self._chosen(line, number, is_last=is_last) is not self.negated

    def _chosen(self, line: str, number: int, *, is_last: bool) -> bool:
        if not self.first:
            return True
        if not self.last:
            return _is_at(self.first, line, number, is_last=is_last)
        if self.within:
            past = isinstance(self.last, str) and self.last.isdecimal() and number >= int(self.last)
            if past or _is_at(self.last, line, number, is_last=is_last):
                self.within = False
            return True
        if not self._begins(line, number, is_last=is_last):
            return False
        self.within = not (isinstance(self.last, str) and self.last.isdecimal() and number >= int(self.last))
        return True

    def _begins(self, line: str, number: int, *, is_last: bool) -> bool:
        """Whether a range begins here: one of line numbers also late, if other commands kept it from its first line."""
        first, last = self.first, self.last
        if isinstance(first, str) and first.isdecimal() and isinstance(last, str) and last.isdecimal():
            return number == int(first) or int(first) < number <= int(last)
        return _is_at(first, line, number, is_last=is_last)


def _is_at(address: str | re.Pattern[str], line: str, number: int, *, is_last: bool) -> bool:
    if isinstance(address, str):
        return is_last if address == "$" else number == int(address)
    return address.search(line) is not None


def edited(text: str, scripts: list[str], *, extended: bool, quiet: bool) -> str | None:
    """Return what ``sed`` prints of ``text``; None if that is not known."""
    if UNKNOWN in text or any(UNKNOWN in script for script in scripts):
        return None
    lines = lines_of(text)
    longest = max(_LONGEST_LINE, *map(len, lines)) if lines else _LONGEST_LINE
    make = partial(compiled, extended=extended, longest=longest, total=len(text))
    commands = _parsed("\n".join(scripts), make)
    if commands is None:
        return None
    made: list[str] = []

    def show(text: str) -> None:
        # The end that a last line lacks comes only with what is printed behind it.
        if made and not made[-1].endswith("\n"):
            made.append("\n")
        made.append(text)

    length = 0
    for at, line in enumerate(lines):
        end = "\n" if line.endswith("\n") else ""
        space = line.removesuffix("\n")
        deleted = stopped = False
        behind: list[str] = []
        for command in commands:
            if not command.applies(space, at + 1, is_last=at == len(lines) - 1):
                continue
            if command.letter == "d":
                deleted = True
                break
            if command.letter == "p":
                show(space + end)
            elif command.letter == "i":
                show(command.text)
            elif command.letter == "a":
                behind.append(command.text)
            elif command.letter == "c":
                show(command.text)
                deleted = True
                break
            elif command.letter == "=":
                show(f"{at + 1}\n")
            elif command.letter in "qQ":
                stopped = True
                deleted = command.letter == "Q"
                break
            elif command.change is not None:
                changed = command.change(space)
                if changed is None:
                    continue
                if len(changed) > longest:
                    return None  # the expressions were made for shorter lines
                if "p" in command.flags:
                    show(changed + end)
                space = changed
        if not deleted and not quiet:
            # A last line that lacks its end gets it from ``q``.
            show(space + ("\n" if stopped else end))
        for added in behind:
            show(added)
        length += len(space)
        if stopped or length > LIMIT:
            break
    return "".join(made) + (UNKNOWN if length > LIMIT else "")


def put_in(scripts: list[str], *, whole_lines: bool = False) -> str:
    """Return a text of which nothing is known but what the scripts put into it; if so wanted, only whole lines."""
    put = [
        (match["text"] or match["replacement"]).replace("\\/", "/")
        for script in scripts
        for match in _PUTS_IN(script[:_LONGEST_SCRIPT])
        if match["text"] or not whole_lines or match["old"].strip("^$") == ".*"
    ]
    return "\n".join((UNKNOWN, *put, UNKNOWN)) if put else UNKNOWN


def _parsed(script: str, make: _Make) -> list[_Edit] | None:
    commands: list[_Edit] = []
    at = 0
    while True:
        while at < len(script) and script[at] in " \t\n;":
            at += 1
        if at >= len(script):
            return commands
        if script[at] == "#" or len(commands) >= _MAX_COMMANDS:
            return None
        addresses: list[str | re.Pattern[str]] = ["", ""]
        for which in range(2):
            found, at = _address(script, at, make)
            if found is None:
                return None
            addresses[which] = found
            if not found or not script.startswith(",", at):
                break
            if which == 0:
                at += 1
        while script[at : at + 1] == " ":
            at += 1
        negated = script.startswith("!", at)
        while script[at : at + 1] in ("!", " "):
            at += 1
        letter = script[at : at + 1]
        command = _Edit(letter, addresses[0], addresses[1], negated=negated)
        at += 1
        if letter in ("s", "y"):
            end = _change(command, script, at, make)
            if end is None:
                return None
            at = end
        elif letter in ("a", "i", "c") and not addresses[1]:
            line, _, _ = script[at:].lstrip(" \t").removeprefix("\\").lstrip(" \t\n").partition("\n")
            if not line or "\\" in line:
                return None
            command.text = f"{line}\n"
            at = script.index(line, at) + len(line)
        elif letter not in ("d", "p", "q", "Q", "="):
            return None
        while script[at : at + 1] in (" ", "\t"):
            at += 1
        if at < len(script) and script[at] not in "\n;":
            return None
        commands.append(command)


def _address(script: str, at: int, make: _Make) -> tuple[str | re.Pattern[str] | None, int]:
    """The address at ``at``, "" if there is none, None if it is not known, and where it ends."""
    while script[at : at + 1] == " ":
        at += 1
    if script[at : at + 1] == "$":
        return "$", at + 1
    end = at
    while end < len(script) and script[end] in "0123456789":
        end += 1
    if end > at:
        number = script[at:end]
        return (None if script[end : end + 1] in ("~", "+") or int(number) == 0 or len(number) > 9 else number), end
    if script[at : at + 1] in ("/", "\\"):
        at += script[at] == "\\"
        parts = _delimited(script, at, 1)
        if parts is None:
            return None, at
        (pattern,), end = parts
        if script[end : end + 1] in ("I", "M") or not pattern:
            return None, end
        return make(pattern), end
    return "", at


def _delimited(script: str, at: int, count: int) -> tuple[list[str], int] | None:
    """``count`` texts between delimiters, the first of which stands at ``at``, and where the last one ends."""
    mark = script[at : at + 1]
    if not mark or mark in "\\\n":
        return None
    parts: list[str] = []
    at += 1
    in_brackets = False
    part: list[str] = []
    while at < len(script):
        char = script[at]
        if char == "\\" and at + 1 < len(script):
            following = script[at + 1]
            # An escaped delimiter is itself, unless it means something escaped.
            part.append(following if following == mark and mark not in "&123456789nt(){}|+?" else char + following)
            if following == mark and mark in "()|+?{}&123456789nt.*^$[]":
                return None
            at += 2
            continue
        if char == "[" and not in_brackets and not parts:
            in_brackets = True
        elif char == "]" and in_brackets and script[at - 1] not in ("[", "^"):
            in_brackets = False
        elif char == mark and not in_brackets:
            parts.append("".join(part))
            part = []
            at += 1
            if len(parts) == count:
                return parts, at
            continue
        part.append(char)
        at += 1
    return None


def _change(command: _Edit, script: str, at: int, make: _Make) -> int | None:
    """Read ``s`` or ``y``; return where it ends, None if it is not known."""
    parts = _delimited(script, at, 2)
    if parts is None:
        return None
    (first, second), at = parts
    if command.letter == "y":
        sources, targets = (text.replace("\\\\", "\\").replace("\\n", "\n") for text in (first, second))
        if len(sources) != len(targets) or "\\" in first + second:
            return None
        table = {ord(source): target for source, target in reversed(list(zip(sources, targets, strict=True)))}
        command.change = lambda line: line.translate(table)
        return at
    end = at
    while end < len(script) and script[end] in "gpIi0123456789":
        end += 1
    flags = script[at:end]
    command.flags = flags
    if script[end : end + 1] in ("e", "w", "m", "M") or not first:
        return None
    pattern = make(first, ignores_case="i" in flags.lower())
    pieces = _replacement(second)
    if pattern is None or pieces is None or any(isinstance(each, int) and each > pattern.groups for each in pieces):
        return None
    digits = "".join(char for char in flags if char.isdecimal())
    command.change = _Substitution(pattern, pieces, int(digits[:6] or "1"), is_global="g" in flags)
    return end


class _Substitution:
    """``s``: the matches from the ``first`` on, or it alone, give way to the replacement."""

    __slots__ = ("first", "is_global", "pattern", "pieces")

    def __init__(self, pattern: re.Pattern[str], pieces: list[str | int], first: int, *, is_global: bool) -> None:
        self.pattern = pattern
        self.pieces = pieces
        self.first = first
        self.is_global = is_global

    def __call__(self, line: str) -> str | None:
        """The line with what matches replaced, None if nothing does."""
        made = []
        done = 0
        count = 0
        for match in self.pattern.finditer(line):
            # An empty match right behind another one is none to sed.
            if match.start() == match.end() == done and count:
                continue
            count += 1
            if count >= self.first:
                made.append(line[done : match.start()])
                made += [piece if isinstance(piece, str) else match[piece] or "" for piece in self.pieces]
            else:
                made.append(line[done : match.end()])
            done = match.end()
            if count >= self.first and not self.is_global:
                break
        made.append(line[done:])
        return "".join(made) if count >= self.first else None


def _replacement(text: str) -> list[str | int] | None:
    """A replacement as texts and numbers of groups."""
    pieces: list[str | int] = []
    at = 0
    while at < len(text):
        char = text[at]
        at += 1
        if char == "&":
            pieces.append(0)
        elif char != "\\":
            pieces.append(char)
        else:
            following = text[at : at + 1]
            at += 1
            if following.isdecimal():
                pieces.append(int(following))
            elif following in _CASES and following:
                return None
            elif following.isalpha():
                if following not in "nt":
                    return None
                pieces.append("\n" if following == "n" else "\t")
            else:
                pieces.append(following)
    return pieces
