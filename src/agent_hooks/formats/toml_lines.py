"""The line of each table and key in a TOML file, which ``tomllib`` does not report."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    Place = tuple[str | int, ...]

# Tokens of valid TOML. Line ends, brackets and equals signs in strings and comments are part of longer tokens.
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

    The dict's keys are paths through the document: ``("hooks", "setup", 0, "matcher")``. Items of an inline table or a
    list have no line of their own.
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
    """Yield the line, the number of brackets (0 for a key with a value) and the key of each statement."""
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

    # Quoted keys may contain dots and escapes, so the TOML parser splits them.
    names: list[str] = []
    table: Any = loads(f"{key} = 0")
    while isinstance(table, dict):
        ((name, table),) = table.items()
        names.append(name)
    return tuple(names)


def _resolved(names: tuple[str, ...], counts: dict[Place, int]) -> Place:
    """Return the path of a header: through the last table of every list of tables."""
    place: Place = ()
    for name in names:
        place = (*place, name)
        if place in counts:
            place = (*place, counts[place] - 1)
    return place
