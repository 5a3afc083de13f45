"""Where the values of a JSON text stand, which its readers do not say."""

from __future__ import annotations

import re

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
    """Return the first key that is there twice in an object of a JSON text, and the line of its second value."""
    seen: set[Place] = set()
    for place, line in _values(text):
        if place in seen:
            return str(place[-1]), line
        seen.add(place)
    return None


def _values(text: str) -> Iterator[tuple[Place, int]]:
    """Yield the place and the line of each value, in the order of the text."""
    line = 1
    place: list[str | int] = []  # of each open object the key that is being read, of each open array the index
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
            place[-1] = _key(part)
            awaits_key = False
        elif part != ":":
            yield tuple(place), line
            if part in "[{":
                awaits_key = part == "{"
                place.append("" if awaits_key else 0)


def _key(part: str) -> str:
    from json import loads

    return str(loads(part)) if "\\" in part else part[1:-1]
