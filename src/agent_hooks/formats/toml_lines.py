"""In which line of a TOML file each of its tables and keys is written, which ``tomllib`` does not say."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Place = tuple[str | int, ...]

# Of a text that is known to be TOML: what may contain a line's end, a bracket or an equals sign without meaning it.
_PIECE = re.compile(
    r'"""(?:[^"\\]|\\.|"{1,2}(?!"))*+"{3,5}'
    r"|'''(?:[^']|'{1,2}(?!'))*+'{3,5}"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'[^'\n]*+'"
    r"|\#[^\n]*+"
    r"|[^\"'\#\[\]{}=\n]++"
    r"|.",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")


def lines_of(text: str) -> dict[Place, int]:
    """Return the line, counted from 1, of every table and key in ``text``, which must be TOML.

    A key's place is the way to it through the document: ``("hooks", "setup", 0, "matcher")``. What is inside a value
    (an inline table, a list) has no line of its own.
    """
    lines: dict[Place, int] = {}
    counts: dict[Place, int] = {}
    table: Place = ()
    for line, brackets, key in _statements(text):
        names = _names(key)
        if brackets == 0:
            place = (*table, *names)
        else:
            place = _resolved(names[:-1], counts)
            place = (*place, names[-1])
            if brackets == 2:
                counts[place] = counts.get(place, 0) + 1
                lines.setdefault(place, line)
                place = (*place, counts[place] - 1)
            table = place
        for length in range(1, len(place) + 1):  # a.b.c also writes a and a.b, where they are not written before
            lines.setdefault(place[:length], line)
    return lines


def _statements(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield each statement as its line, how many brackets it is in (0: it is a key and its value), and its key."""
    line = began = 1
    depth = 0
    brackets = 0
    key: list[str] = []
    is_value = False
    for found in _PIECE.finditer(text):
        piece = found.group()
        if piece == "\n" and depth == 0:
            if "".join(key).strip():
                yield began, brackets, "".join(key).strip()
            key, brackets, is_value, began = [], 0, False, line + 1
        elif piece in ("[", "{"):
            depth += 1
            brackets = max(brackets, depth) if not is_value else brackets
        elif piece in ("]", "}"):
            depth -= 1
        elif piece == "=" and depth == 0:
            is_value = True
        elif not is_value and not piece.startswith("#"):
            key.append(piece)
        line += piece.count("\n")
    if "".join(key).strip():
        yield began, brackets, "".join(key).strip()


def _names(key: str) -> tuple[str, ...]:
    parts = [part.strip() for part in key.split(".")]
    if all(map(_BARE_KEY.fullmatch, parts)):
        return tuple(parts)
    from tomllib import loads

    # With quotes, dots and escapes in it: TOML itself knows best.
    names: list[str] = []
    table: Any = loads(f"{key} = 0")
    while isinstance(table, dict):
        ((name, table),) = table.items()
        names.append(name)
    return tuple(names)


def _resolved(names: tuple[str, ...], counts: dict[Place, int]) -> Place:
    """Return the place that a header's names lead to: through the last table of every list of tables."""
    place: Place = ()
    for name in names:
        place = (*place, name)
        if place in counts:
            place = (*place, counts[place] - 1)
    return place
