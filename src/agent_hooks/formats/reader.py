"""The common base of the parsers: lines of values, and findings."""

from __future__ import annotations

from .findings import ConfigFinding

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .entry import HookEntry

    Place = tuple[str | int, ...]


class WrongError(Exception):
    """Raised for a part of a file that cannot be honoured. ``place``: its path in the document."""

    def __init__(self, place: Place, problem: str, remedy: str = "Repair or remove it.") -> None:
        super().__init__(problem)
        self.place = place
        self.problem = problem
        self.remedy = remedy


class Reader:
    """The entries and findings of the file ``path``. ``lines``: the line of each value by its path."""

    def __init__(self, path: str, lines: Mapping[Place, int] | None = None) -> None:
        self.path = path
        self.lines = lines or {}
        self.entries: list[HookEntry] = []
        self.findings: list[ConfigFinding] = []

    def find(self, kind: str, place: Place, message: str, remedy: str, **facts: Any) -> None:
        """Add a finding about the value at ``place``."""
        line = self.line(place)
        self.findings.append(
            ConfigFinding(kind=kind, path=self.path, line=line, message=message, remedy=remedy, **facts)
        )

    def line(self, place: Place) -> int:
        """Return the line of the value at ``place``, or of the nearest enclosing value."""
        while place and place not in self.lines:
            place = place[:-1]
        return self.lines.get(place, 0)

    def find_misspelt(self, top: Mapping[str, Any]) -> None:
        """Add findings about keys of ``top`` that misspell ``hooks``."""
        for key, value in top.items():
            if is_misspelt(key, value):
                self.find(
                    "not-honoured", (key,), f"The key {key!r} has no meaning.", "Did you mean 'hooks'?", blocks=True
                )


def is_misspelt(key: str, value: Any) -> bool:
    """Whether an unknown key misspells ``hooks``."""
    return key != "hooks" and key.casefold() in ("hooks", "hook") and isinstance(value, dict)


def kind_of(value: Any, *, mapping: str = "an object") -> str:
    """Name the type of a value, never the value itself, which may be a secret. ``mapping``: the name for a dict."""
    if value == "":
        return "an empty text"
    words = {dict: mapping, list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    number = "a number" if isinstance(value, (int, float)) else "a date or time"  # only TOML has these
    return words.get(type(value), number)


def letters(name: str) -> str:
    """Return the letters and digits of ``name`` in lower case, to compare spellings."""
    return "".join(filter(str.isalnum, name.casefold()))
