"""Walks over a syntax tree."""

from __future__ import annotations

from .syntax import Bare, Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .syntax import Word


def nodes(root: object) -> Iterator[Record]:
    """Yield ``root`` and all nodes and word parts below it, those of substitutions included, in no particular order."""
    waiting = [root]
    while waiting:
        each = waiting.pop()
        if isinstance(each, Record):
            yield each
            waiting += each.by_name().values()
        elif isinstance(each, (list, tuple)):
            waiting += each


def literal(word: Word) -> str | None:
    """Return the text of a word in which nothing is expanded; globs, tildes and braces are kept as they are."""
    text = ""
    for part in word:
        if isinstance(part, str):
            text += part
        elif isinstance(part, Bare):
            text += part.text
        else:
            return None
    return text
