"""Code for a Unix shell, which the walk analyses."""

from __future__ import annotations

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


def unknown(*words: str) -> str:
    """Return a word with an unknown value and the origins of ``words``."""
    return UNKNOWN + "".join(words)


def program_name(text: str) -> str:
    """Return the name of a program with slashes, and below the working directory if its ending says it is a file."""
    name = text.replace("\\", "/")
    return f"./{name}" if "/" not in name and name[-4:].lower() in _ENDINGS else name


def either(code: str) -> str:
    """Return ``code`` as something that may run or not."""
    return f'if [ "{UNKNOWN}" ]; then {code or ":"}; fi'


class NotUnderstoodError(Exception):
    """Raised where a translation ends: with the reason, as the end of a sentence."""


class Statement:
    """A statement as code for a shell.

    ``fragment``: the statement as it was written. ``problem``: the reason for a doubt, as the end of a sentence.
    """

    __slots__ = ("code", "fragment", "problem")

    def __init__(self, code: str, fragment: str, problem: str = "") -> None:
        self.code = code
        self.fragment = fragment[:500]
        self.problem = problem
