"""Trees of the shell's parser, and their outlines in tables of cases."""

from __future__ import annotations

from typing import Any

from agent_hooks.shell import parser
from agent_hooks.shell.syntax import Assignment, Bare, Item, Record, Redirect, Sequence, Simple

_ONE_WORD = ("index", "value", "word")
_NONE_IS_NOT_EMPTY = ("index", "items", "words")


def parse(text: str) -> Any:
    """Parse a command line; without the types of nodes, because a test says by what it reads which one it expects."""
    return parser.parse(text)


def outline(tree: object) -> Any:
    """Return a tree in values of TOML, without positions and reasons.

    Unquoted text stands for itself, quoted text has ``'`` before it, and a word of one part is that part. A command
    that consists of unquoted words alone is one text, a list of commands a list of their outlines, with what joins
    them, a redirection a list of its operator, target and descriptor, and any other node a table of its fields.
    """
    match tree:
        case str():
            return f"'{tree}"
        case Bare():
            return tree.text
        case list() | tuple():
            return [_word(part) if isinstance(part, list) else outline(part) for part in tree]
        case Sequence():
            return outline(tree.items)
        case Item():
            joint = tree.operator.replace(";", "") + "&" * tree.background
            return {joint: outline(tree.node)} if joint else outline(tree.node)
        case Redirect():
            return [tree.operator, _word(tree.target), *([] if tree.fd is None else [tree.fd])]
        case Simple() if not tree.assignments and not tree.redirects and all(map(_is_plain, tree.words)):
            return " ".join(word[0].text for word in tree.words)  # type: ignore[union-attr]
        case Assignment():
            return _fields(tree)
        case Record():
            return {type(tree).__name__: _fields(tree)}
    return tree


def _word(parts: list[Any]) -> Any:
    return outline(parts[0]) if len(parts) == 1 and not isinstance(parts[0], list) else outline(parts)


def _is_plain(word: list[Any]) -> bool:
    return len(word) == 1 and isinstance(word[0], Bare) and not set(word[0].text) & set(" \n")


def _fields(node: Record) -> dict[str, Any]:
    """Return the fields that have a value."""
    fields = {name: value for name, value in node.by_name().items() if name not in ("start", "end", "reason")}
    return {
        name: value if isinstance(value, str) else _word(value) if name in _ONE_WORD else outline(value)  # type: ignore[arg-type]
        for name, value in fields.items()
        if value or (value == [] and name in _NONE_IS_NOT_EMPTY)
    }
