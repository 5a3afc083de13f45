"""Parses compound commands. Rules: the Bash Reference Manual, "Compound Commands"."""

from __future__ import annotations

from .simple import unquoted
from .syntax import Bare, Case, For, Group, If, Test, While

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .parser import Parser
    from .syntax import Node, Word

_IN = [Bare("in")]
_ESAC = [Bare("esac")]


class GrammarError(Exception):
    """A token that the grammar does not allow here. Quotes and brackets are intact, so the parser can recover."""


def parse_bracket(parser: Parser, at: int) -> Node:
    """Parse ``((…))`` or a subshell."""
    words = parser.arithmetic(at)
    if words is not None:
        node = Test([words], parser.base + at, parser.base + parser.at)
        parser.found.append(node)
        return node
    parser.at += 1
    parser.brackets += 1
    body = parser.block(")")
    parser.brackets -= 1
    return Group(body, [], subshell=True)


def _parse_if(parser: Parser, _at: int) -> If:
    branches: list[tuple[Node, Node]] = []
    while True:
        condition = parser.block("then")
        branches.append((condition, parser.block("elif", "else", "fi")))
        if parser.terminator != "elif":
            return If(branches, parser.block("fi") if parser.terminator == "else" else None)


def _parse_while(parser: Parser, at: int) -> While:
    is_until = parser.text.startswith("u", at)
    condition = parser.block("do")
    return While(condition, parser.block("done"), is_until)


def _parse_for(parser: Parser, at: int) -> Node:
    head = parse_loop_head(parser)
    parser.skip_lines()
    parser.at += parser.text.startswith(";", parser.at)
    parser.skip_lines()
    start = parser.at
    name = bare(parser.word())
    if name not in ("do", "{"):
        raise GrammarError(f"{shown(parser.text, start)} is not expected")
    body = parser.block("done" if name == "do" else "}")
    if isinstance(head, tuple):
        return For(*head, body)
    return While(Test([head], parser.base + at), body)


def parse_loop_head(parser: Parser) -> tuple[str, list[Word] | None] | Word:
    """Parse the variable and the words of a loop, or the expressions of an arithmetic one."""
    parser.blanks()
    expressions = parser.arithmetic(parser.at)
    if expressions is not None:
        return expressions
    name = unquoted(parser.word())
    parser.skip_lines()
    before = parser.at
    if parser.word() != _IN:
        parser.at = before
        return name, None
    words: list[Word] = []
    parser.blanks()
    while word := parser.word():
        words.append(word)
        parser.blanks()
    return name, words


def _parse_case(parser: Parser, _at: int) -> Case:
    parser.blanks()
    word = parser.word()
    parser.skip_lines()
    at = parser.at
    if not word or parser.word() != _IN:
        parser.at = at
        raise GrammarError("`in` is missing after `case`")
    branches: list[tuple[list[Word], Node]] = []
    while (patterns := _parse_patterns(parser)) is not None:
        branches.append((patterns, parser.list_()))
        if parser.terminator == "esac":
            break
        if parser.terminator != ";;":
            raise parser.unexpected()
    return Case(word, branches)


def _parse_patterns(parser: Parser) -> list[Word] | None:
    """Parse patterns up to and past their ``)``; None for ``esac``."""
    text = parser.text
    parser.skip_lines()
    patterns: list[Word] = []
    has_bracket = text.startswith("(", parser.at)
    parser.at += has_bracket
    while True:
        parser.skip_lines()
        word = parser.word()
        if word == _ESAC and not has_bracket and not patterns:
            return None
        patterns.append(word)
        parser.skip_lines()
        if not text.startswith("|", parser.at):
            break
        parser.at += 1
    if not text.startswith(")", parser.at):
        raise GrammarError(") is missing after a pattern")
    parser.at += 1
    return patterns


def _parse_test(parser: Parser, at: int) -> Test:
    text = parser.text
    words: list[Word] = []
    operator = ""
    while True:
        parser.skip_lines()
        start = parser.at
        word = parser.word(regex=operator == "=~")
        if parser.at > start:
            operator = bare(word)
            if operator == "]]":
                break
            words.append(word)
            continue
        operator = ""
        if text[start : start + 1] in ("", ";", "`"):
            raise parser.error("]] is missing", at)
        parser.at += 1
    node = Test(words, parser.base + at, parser.base + parser.at)
    parser.found.append(node)
    return node


# Parsers by reserved word. Each starts after the word, whose offset is its second argument.
COMPOUNDS: dict[str, Callable[[Parser, int], Node]] = {
    "{": lambda parser, _at: Group(parser.block("}"), []),
    "if": _parse_if,
    "while": _parse_while,
    "until": _parse_while,
    "for": _parse_for,
    "select": _parse_for,
    "case": _parse_case,
    "[[": _parse_test,
}


def bare(word: Word) -> str:
    """Return a word that is neither quoted nor expanded, "" for any other."""
    part = word[0] if len(word) == 1 else ""
    return part.text if isinstance(part, Bare) else ""


def shown(text: str, at: int) -> str:
    """Return the token at an offset, for a message."""
    tokens = text[at : at + 30].split(None, 1)
    return f"`{tokens[0]}`" if tokens else "the end"
