"""Code for a Unix shell, which the walk analyses."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_hooks_guards.model.values import UNKNOWN

if TYPE_CHECKING:
    import re

# The input of a command that reads a pipeline's items, one in a line.
ITEM = "item"
_ENDINGS = frozenset((".bat", ".cmd", ".com", ".exe", ".msi", ".ps1", ".vbs"))


def quote(text: str) -> str:
    """Return ``text`` as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"


def behind(code: str, text: str) -> str:
    """Return the word ``code`` with ``text`` behind it, in which a backslash separates folders if there is a value."""
    return code + quote(text.replace("\\", "/") if "$" in code else text)


def program_name(text: str) -> str:
    """Return the name of a program with slashes, and below the working directory if its ending says it is a file."""
    name = text.replace("\\", "/")
    return f"./{name}" if "/" not in name and name[-4:].lower() in _ENDINGS else name


def either(code: str) -> str:
    """Return ``code`` as something that may run or not."""
    return f'if [ "{UNKNOWN}" ]; then {code or ":"}; fi'


class Word(NamedTuple):
    """A word of a shell. ``code``: as text for a shell; ``text``: its value, None if that is not known.

    ``parameter``: its name, if it is one, ``source``: the value that is attached, with the colon. ``block``: the
    translated code of a script block, ``source``: its text.
    ``is_list``: several words. ``runs``: ``code`` is a command and no word.
    """

    code: str
    text: str | None = None
    parameter: str = ""
    block: str | None = None
    source: str = ""
    is_list: bool = False
    runs: bool = False


def joined(parts: list[Word]) -> Word:
    """Return words without a blank between them as one."""
    code = text = ""
    for each in parts:
        code, text = code + each.code if each.text is None else behind(code, each.text), text + (each.text or "")
    return Word(code or "''", None if any(each.text is None for each in parts) else text)


class Scanner:
    """A position in a text. ``assigned``: the variables that it sets."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.assigned: set[str] = set()

    def take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match a pattern here and move behind it."""
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match


class NotUnderstoodError(Exception):
    """Raised where a translation ends: with the reason, as the end of a sentence."""


class Statement(NamedTuple):
    """A statement as code for a shell, and as it was written; the reason for a doubt, as the end of a sentence."""

    code: str
    fragment: str
    problem: str = ""
