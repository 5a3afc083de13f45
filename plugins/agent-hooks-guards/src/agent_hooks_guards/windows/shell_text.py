"""Code for a Unix shell, which the walk analyses."""

from __future__ import annotations

from typing import NamedTuple

from agent_hooks_guards.model.values import UNKNOWN

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


class NotUnderstoodError(Exception):
    """Raised where a translation ends: with the reason, as the end of a sentence."""


class Statement(NamedTuple):
    """A statement as code for a shell, and as it was written; the reason for a doubt, as the end of a sentence."""

    code: str
    fragment: str
    problem: str = ""
