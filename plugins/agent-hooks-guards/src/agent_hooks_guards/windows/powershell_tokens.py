"""The tokens of PowerShell: words, variables, strings, and groups in brackets with the tokens in them."""

from __future__ import annotations

import re
from typing import NamedTuple

from .shell_text import NotUnderstoodError

_DEEPEST = 30
_TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+|`\r?\n|<\#.*?(?:\#>|\Z)|(?<![^\s;|&(){},])\#[^\n]*)
    |(?P<here>@(?:'[^\n]*\n.*?\n'|"[^\n]*\n.*?\n")@)
    |(?P<single>'(?:[^']|'')*')
    |(?P<double>")
    |(?P<variable>\$(?:\{[^}]*\}|(?:\w+:)?\w+|[?^$]))
    |(?P<group>[@$]?[({])
    |(?P<close>[)}])
    |(?P<end>[;\n])
    |(?P<redirect>(?:(?<=\s)[\d*])?>>?(?:&\d)?|<)
    |(?P<operator>\|\||&&|[|&,])
    |(?P<assign>(?:[-+*/%]|\?\?)?=(?==)?)
    |(?P<type>\[[^]\n]*\]+)
    |(?P<word>(?:`.|[^\s;|&(){}"'$,<>`=])(?:`.|[^\s;|&(){}"'$,<>`])*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", **dict.fromkeys("0abfve", "")}
RETURNS = frozenset(("return", "throw", "exit", "break", "continue"))
_CLOSING = {"(": ")", "{": "}"}


class Token(NamedTuple):
    """A token. ``spaced``: whether a blank stands in front of it. ``items``: the tokens in a group, the parts of a
    string. ``text``: of a word without its escapes, of a group its opening bracket.
    """

    kind: str
    text: str
    spaced: bool
    start: int
    end: int
    items: list[Token]


class Lexer:
    """A position in a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = self.depth = 0

    def tokens(self, closing: str = "") -> list[Token]:
        """Return the tokens up to the bracket ``closing``, which is consumed, or to the end."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotUnderstoodError("it is nested too deeply")
        found: list[Token] = []
        spaced = True
        while match := _TOKEN.match(self.text, self.at):
            kind, text, start = str(match.lastgroup), match[0], self.at
            self.at = match.end()
            items: list[Token] = []
            if text == closing and kind == "close":
                self.depth -= 1
                return found
            if kind == "close" or text in ("'", "@'", '@"'):
                raise NotUnderstoodError("a bracket or a string is not closed")
            if kind in ("single", "here", "double"):
                items, kind = self._literal(text), "string"
            elif kind == "group":
                items = self.tokens(_CLOSING[text[-1]])
            elif kind == "word":
                text = re.sub(r"`(.)", r"\1", text)
            elif text == "&" and found and found[-1].kind not in ("operator", "assign", "end"):
                # Behind a command, it starts a job.
                kind, text = ("end", ";") if found[-1].text.lower() not in RETURNS else (kind, text)
            elif text == "\n" and found and found[-1].kind in ("operator", "assign"):
                kind = "blank"
            if kind != "blank":
                found.append(Token(kind, text, spaced, start, self.at, items))
            spaced = kind in ("blank", "end", "operator", "assign", "redirect")
        if closing:
            raise NotUnderstoodError("a bracket or a string is not closed")
        return found

    def _literal(self, text: str) -> list[Token]:
        """Return the parts of the string that begins with ``text``, or is it."""
        if text == '"':
            return self.parts('"')
        inside = text.partition("\n")[2][:-3] if text[0] == "@" else text[1:-1].replace("''", "'")
        return Lexer(inside).parts("") if text[:2] == '@"' else [_token("text", inside)]

    def parts(self, mark: str) -> list[Token]:
        """Return the texts, variables and ``$(…)`` up to ``mark``, to the end without one."""
        found: list[Token] = []
        text = self.text
        while (char := text[self.at : self.at + 1]) and (char != mark or text.startswith(mark * 2, self.at)):
            match = _TOKEN.match(text, self.at) if char == "$" else None
            if match is not None and (match.lastgroup == "variable" or match[0] == "$("):
                self.at = match.end()
                items = self.tokens(")") if match[0] == "$(" else []
                found.append(_token(str(match.lastgroup), match[0], items))
                continue
            self.at += 1 + (char in ("`", mark))
            plain = text[self.at - 1 : self.at]
            found.append(_token("text", _ESCAPES.get(plain, plain) if char == "`" else plain))
        if not char and mark:
            raise NotUnderstoodError("a bracket or a string is not closed")
        self.at += 1
        return found


def _token(kind: str, text: str, items: list[Token] | None = None) -> Token:
    return Token(kind, text, False, 0, 0, items or [])
