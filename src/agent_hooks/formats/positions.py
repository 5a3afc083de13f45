"""The lines of the values in a JSON text, which JSON parsers do not report."""

from __future__ import annotations

import re
from json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Place = tuple[str | int, ...]

_PART = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},:]|[^\s"\[\]{},:]+|\n')


def lines_of(text: str) -> dict[Place, int]:
    """Return the line of each JSON value by its path; of a repeated key, the first value counts."""
    lines: dict[Place, int] = {}
    for place, line in _values(text):
        lines.setdefault(place, line)
    return lines


def repeated_key(text: str) -> tuple[str, int] | None:
    """Return the first repeated key of an object in a JSON text, and the line of its second value."""
    seen: set[Place] = set()
    for place, line in _values(text):
        if place in seen:
            return str(place[-1]), line
        seen.add(place)
    return None


def _values(text: str) -> Iterator[tuple[Place, int]]:
    """Yield the path and the line of each value, in the order of the text."""
    line = 1
    place: list[str | int] = []  # the current key of each open object, the index of each open array
    awaits_key = False
    for part in _PART.findall(text):
        if part == "\n":
            line += 1
        elif part in "]}":
            place.pop()
            awaits_key = False
        elif part == ",":
            key = place[-1]
            awaits_key = isinstance(key, str)
            if isinstance(key, int):
                place[-1] = key + 1
        elif awaits_key and part != ":":
            place[-1] = str(loads(part)) if "\\" in part else part[1:-1]
            awaits_key = False
        elif part != ":":
            yield tuple(place), line
            if part in "[{":
                awaits_key = part == "{"
                place.append("" if awaits_key else 0)
