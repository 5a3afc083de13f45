"""The line of each table and key in a TOML file, which ``tomllib`` does not report; for messages only."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

Place = tuple[str | int, ...]

_NAME = r"""(?:[\w-]+|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')"""
_NAMES = rf"{_NAME}(?:[ \t]*\.[ \t]*{_NAME})*"
_STATEMENT = re.compile(rf"[ \t]*(?:(\[\[?)[ \t]*({_NAMES})[ \t]*\]\]?[ \t\r]*(?:\#.*)?$|({_NAMES})[ \t]*=)", re.ASCII)


def lines_of(text: str) -> dict[Place, int]:
    """Return the line, counted from 1, of every table and key in ``text``, which must be TOML.

    The dict's keys are paths through the document: ``("hooks", "setup", 0, "matcher")``. Items of an inline table or a
    list have no line of their own. Strange layouts, such as quotes of several lines in a comment, may shift lines.
    """
    lines: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    quotes = ""  # those of an open string of several lines
    for line, source in enumerate(text.split("\n"), 1):
        statement = None if quotes else _STATEMENT.match(source)
        for found in re.findall(r"""\\.|"{3}|'{3}""", source):
            if found[0] == "\\":
                continue
            quotes = "" if found == quotes else quotes or found
        if statement is None:
            continue
        brackets, header, key = statement.groups()
        place = (*table, *_split(key)) if key else _resolved(_split(header), counts)
        if brackets == "[[":
            counts[place] = counts.get(place, 0) + 1
            lines.setdefault(place, line)
            place = (*place, counts[place] - 1)
        table = table if key else place
        for length in range(1, len(place) + 1):  # a.b.c also writes a and a.b, where they are not written before
            lines.setdefault(place[:length], line)
    return lines


def written_key(place: Iterable[str | int]) -> str:
    """Format a path as a TOML key with quotes where needed: ``hooks.before_tool_use[0].matcher``."""
    key = ""
    for part in place:
        if isinstance(part, int):
            key += f"[{part}]"
        else:
            key += f".{part}" if re.fullmatch(r"[\w-]+", part, re.ASCII) else f".{part!r}"
    return key.removeprefix(".")


def _split(names: str) -> Place:
    """Return the parts of a dotted key, without their quotes."""
    return tuple(name[1:-1] if name[0] in "'\"" else name for name in re.findall(_NAME, names, re.ASCII))


def _resolved(names: Place, counts: dict[Place, int]) -> Place:
    """Return the path of a header: through the last table of every list of tables above it."""
    place: Place = ()
    for number, name in enumerate(names, 1):
        place = (*place, name)
        if place in counts and number < len(names):
            place = (*place, counts[place] - 1)
    return place
