"""How commands hang together: lists and pipelines, and the compound commands that tree-sitter-bash reads.

It is not given the command but a skeleton of it: each simple command is a single ``w``, each operator a ``;``, and the
separators that bash does without are written. Of the command itself it reads too much otherwise than bash: it drops or
splits parts of words without the sign of an error, and takes ``a | { b; } | c && d`` for ``a | ({ b; } | c && d)``.
"""

from __future__ import annotations

import threading

from .syntax import (
    Bare,
    Case,
    Coprocess,
    For,
    Function,
    Group,
    If,
    Item,
    Pipeline,
    Redirect,
    Sequence,
    Simple,
    Test,
    While,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from tree_sitter import Node as Branch
    from tree_sitter import Parser

    from .syntax import Node, Word

CONDITIONS = frozenset(["&&", "||"])
PIPES = frozenset(["|", "|&"])
_COMMANDS = frozenset(
    """
    command subshell compound_statement if_statement while_statement for_statement case_statement function_definition
    """.split()
)

_local = threading.local()


class Piece:
    """A part of a skeleton: how it is written there, where it was read, and what it stands for. ``redirects``: those
    behind it, which tree-sitter would give to more than the command that it ends.
    """

    __slots__ = ("content", "end", "redirects", "start", "text")

    def __init__(self, text: str, start: int, end: int, content: object = None) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.content = content
        self.redirects: list[Redirect] = []


def listed(pieces: list[Node | Piece | str]) -> Sequence:
    """Simple commands with operators between them, as a tree."""
    items: list[Item] = []
    before = ";"
    first = 0
    for piece in pieces:
        if isinstance(piece, str):
            before = piece
            if piece == ";":
                first = len(items)
            elif piece == "&":
                _send_to_background(items, first)
                first = len(items)
        elif isinstance(piece, Piece):
            continue
        elif before in PIPES:
            item = items[-1]
            parts: list[Node] = item.node.parts if isinstance(item.node, Pipeline) else [item.node]
            if before == "|&":
                parts[-1] = _with_errors(parts[-1])
            parts.append(piece)
            if len(parts) == 2:
                item.node = Pipeline(parts, parts[0].start)
            item.node.end = piece.end
        else:
            items.append(Item(piece, before if before in CONDITIONS else ";"))
    return Sequence(items)


def _send_to_background(items: list[Item], first: int) -> None:
    """Makes one of the items from ``first`` on, which ``&&`` and ``||`` join, and puts it in the background."""
    if len(items) - first > 1:
        inner = Sequence(items[first:], items[first].node.start, items[-1].node.end)
        items[first:] = [Item(inner)]
    items[-1].background = True


def _with_errors(node: Node) -> Node:
    """A command before ``|&``, which stands for ``2>&1 |``."""
    both = Redirect(">&", [Bare("1")], 2)
    if isinstance(node, (Simple, Group)):
        node.redirects.append(both)
        return node
    return Group(node, [both], start=node.start, end=node.end)


class Tree:
    """Turns tree-sitter's tree of a skeleton into ours."""

    def __init__(self, pieces: list[Node | Piece | str]) -> None:
        self.contents: dict[int, Any] = {}  # of the skeleton's pieces, by where they begin in it
        self.starts: dict[int, int] = {}  # where in the text they were read
        self.ends: dict[int, int] = {}
        self.redirects: dict[int, list[Redirect]] = {}  # by where the command before them ends in the skeleton
        self.coprocesses: dict[int, str] = {}  # their names
        texts: list[str] = []
        size = 0
        for piece in pieces:
            text = "w"
            if isinstance(piece, str):
                text = ";"
                self.contents[size] = piece
            elif isinstance(piece, Piece):
                text = piece.text
                if not text:
                    self.coprocesses[size] = str(piece.content)
                    continue
                self.contents[size] = piece.content
                self.starts[size] = piece.start
                self.ends[size + len(text)] = piece.end
                self.redirects[size + len(text)] = piece.redirects
            else:
                self.contents[size] = piece
                self.starts[size], self.ends[size + 1] = piece.start, piece.end
            texts.append(text)
            size += len(text) + 1
        self.skeleton = " ".join(texts)

    def read(self) -> Sequence | None:
        """The commands; None if the grammar does not allow them so."""
        root = _parser().parse(self.skeleton.encode()).root_node
        if root.has_error:
            return None
        try:
            return self.sequence(root.children)
        except (KeyError, ValueError, IndexError, AttributeError):  # another tree than the skeleton was written for
            return None

    def sequence(self, children: list[Branch]) -> Sequence:
        """A list of commands."""
        pieces: list[Node | Piece | str] = []
        for child in children:
            kind = child.type
            if kind == ";":
                pieces.append(self.contents[child.start_byte])
            elif kind in _COMMANDS:
                pieces.append(self.node(child))
        node = listed(pieces)
        if node.items:
            node.start, node.end = node.items[0].node.start, node.items[-1].node.end
        return node

    def node(self, branch: Branch) -> Node:
        """A command."""
        kind = branch.type
        first = branch.start_byte
        node: Node
        if kind == "command":
            node = self.contents[first]
            if node is None:
                raise ValueError(node)  # a reserved word that it takes for a command's name
        else:
            node = getattr(self, f"_{kind}")(branch.children)
            node.start = self.starts[first]
            node.end = self.ends[branch.end_byte]
            redirects = self.redirects.pop(branch.end_byte, None)
            if redirects:
                group = node if isinstance(node, Group) else Group(node, [], start=node.start, end=node.end)
                group.redirects += redirects
                node = group
        if first in self.coprocesses:
            node = Coprocess(node, node.start, node.end, self.coprocesses.pop(first))
        return node

    def _compound_statement(self, children: list[Branch]) -> Group:
        return Group(self.sequence(children), [])

    def _subshell(self, children: list[Branch]) -> Group:
        return Group(self.sequence(children), [], subshell=True)

    def _if_statement(self, children: list[Branch]) -> If:
        branches: list[tuple[Node, Node]] = [self.branch(children)]
        otherwise: Node | None = None
        for child in children:
            if child.type == "elif_clause":
                branches.append(self.branch(child.children))
            elif child.type == "else_clause":
                otherwise = self.sequence(child.children)
        return If(branches, otherwise)

    def branch(self, children: list[Branch]) -> tuple[Node, Node]:
        """A condition and what stands behind its ``then``."""
        then = [child.type for child in children].index("then")
        return self.sequence(children[:then]), self.sequence(children[then:])

    def _while_statement(self, children: list[Branch]) -> While:
        return While(self.sequence(children[:-1]), self.sequence(children[-1].children), children[0].type == "until")

    def _for_statement(self, children: list[Branch]) -> For | While:
        start = children[0].start_byte
        content = self.contents[start]
        body = self.sequence(children[-1].children)
        if isinstance(content, tuple):
            name, words = content
            return For(name, words, body)
        return While(Test([content], self.starts[start]), body)

    def _case_statement(self, children: list[Branch]) -> Case:
        items = [child for child in children if child.type == "case_item"]
        branches: list[tuple[list[Word], Node]] = [
            (self.contents[item.start_byte], self.sequence(item.children[1:])) for item in items
        ]
        return Case(self.contents[children[0].start_byte], branches)

    def _function_definition(self, children: list[Branch]) -> Function:
        return Function(self.contents[children[0].start_byte], self.node(children[-1]))


def _parser() -> Parser:
    """The thread's own parser: one must not be shared."""
    parser: Parser | None = getattr(_local, "parser", None)
    if parser is None:
        import tree_sitter
        import tree_sitter_bash

        parser = _local.parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    return parser
