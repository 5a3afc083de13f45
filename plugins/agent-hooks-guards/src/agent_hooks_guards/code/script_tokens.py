"""Tokens of JavaScript, Perl, Ruby, PHP and Lua, nested by their brackets.

One regular expression per language finds the next token; a second one is used where a value ended, because ``/``, ``%``
and ``<<`` are operators there. A string with code in it becomes a ``template``, ``qw(a b)`` a list, a backquoted
command a call of the name "`".
"""

from __future__ import annotations

import os
import re
from functools import cache
from string import ascii_lowercase

from agent_hooks.shell.patterns import Pattern
from agent_hooks.shell.syntax import Record
from agent_hooks_guards.model.tables import load_tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_TOKENS = 20_000
_REST = (
    r"(?P<number>0[xX][0-9a-fA-F]+|\d[\d_]*(?:\.\d+)?)|(?P<operator>===|!==|\*\*=|<<=|>>=|&&=|\|\|=|\?\?=|//=|<=>|"
    r"\.\.\.|\.\.=|\?->|=>|->|::|==|!=|=~|!~|<=|>=|&&|\|\||\?\?|\?\.|&\.|\+\+|--|[-+*/%|&^.]=|~=|\.\.|<<|>>|.)"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v", "\n": ""}
_ESCAPE = Pattern(r"\\(?:[xu]\{?([0-9a-fA-F]{1,6})\}?|([0-7]{1,3}|\d{1,3})|(.))", re.DOTALL)
# A slash behind these words begins a pattern.
_BEFORE_VALUE = frozenset(
    "return and or not if unless while until when then elsif else case in of typeof delete do print puts split grep"
    " map join x lt gt le ge eq ne cmp await yield throw new say".split()
)
# The quotes that ``q()``, ``%Q()`` … stand for.
_MARKS = {"q": "'", "qq": '"', "Q": '"', "qx": "`", "x": "`"}
_RUBY_LOOPS = ("while", "until", "for")


def _inside(opening: str, closing: str) -> str:
    """Return a pattern of the text between brackets that contain further ones."""
    body = other = rf"\\.|[^\\\{opening}\{closing}]"
    for _ in range(5):
        body = rf"{other}|\{opening}(?:{body})*+\{closing}"
    return f"(?:{body})*+"


_DELIMITED = Pattern(
    "".join(rf"\{pair[0]}({_inside(*pair)})(?:\{pair[1]}|\Z)|" for pair in ("()", "[]", "{}", "<>"))
    + r"(.)((?:\\.|(?!\5).)*+)(?:\5|\Z)",
    re.DOTALL,
)


class Token(Record):
    """A token: its ``kind`` (``name``, ``variable``, ``number``, ``string``, ``template``, ``pattern``, ``replace``,
    ``group``, ``operator``), the tokens inside it, and whether blanks or a line end precede it. The text of a ``group``
    is the bracket or word that opens it; strings and patterns have a ``value`` and no text, so that none is taken for
    an operator. Inside ``replace`` are the replacement, the flags, and code that it runs.
    """

    __slots__ = ("items", "kind", "newline", "spaced", "text", "value")

    def __init__(self, kind: str, text: str, items: list[Token] | None = None) -> None:
        self.kind = kind
        self.text = "" if kind in ("string", "pattern", "replace") else text
        self.value = text
        self.items = [] if items is None else items
        self.spaced = self.newline = False


_COMMA, _END = Token("operator", ","), Token("operator", ";")


class Cursor:
    """A position in a list of tokens, behind which a semicolon stands."""

    __slots__ = ("at", "tokens")

    def __init__(self, tokens: list[Token]) -> None:
        self.tokens = tokens
        self.at = 0

    def peek(self, offset: int = 0) -> Token:
        """Return the token at the cursor, or so many behind it."""
        at = self.at + offset
        return self.tokens[at] if 0 <= at < len(self.tokens) else _END

    def take(self) -> Token:
        """Return the token at the cursor, and go to the next."""
        self.at += 1
        return self.peek(-1)

    def skip(self, text: str) -> bool:
        """Go behind the token at the cursor if it is ``text``; return whether it is."""
        is_there = self.peek().text == text
        self.at += is_there
        return is_there

    def until(self, *texts: str, is_line: bool = False) -> list[Token]:
        """Go to the next token with one of ``texts``, or to the next line; return the tokens in front of it."""
        start = self.at
        for token in self.tokens[start:]:
            if token.text in texts or (is_line and token.newline):
                break
            self.at += 1
        return self.tokens[start : self.at]


def unescape(text: str, language: str) -> str:
    """Resolve the escapes of a double-quoted string."""

    def replace(match: re.Match[str]) -> str:
        point, digits, other = match.groups()
        if other:
            return _ESCAPES.get(other, f"\\{other}" if language == "php" and other not in "\\$\"'`{" else str(other))
        code = int(point, 16) if point else int(digits, 10 if language == "lua" or digits.strip("01234567") else 8)
        return chr(code) if code < 0x110000 else "?"

    return _ESCAPE.sub(replace, text) if "\\" in text else text


@cache
def load_language(name: str) -> dict[str, Any]:
    """Return the table of a language in ``scripts.toml``."""
    table: dict[str, Any] = load_tables(os.path.dirname(__file__))["scripts"][name]
    return table


@cache
def _patterns(language: str) -> list[re.Pattern[str]]:
    """Return the patterns of a token where a value is expected and behind one, and that of code in strings."""
    table = load_language(language)
    insert = table["insert"].replace("INSIDE", _inside("{", "}"))
    # No group may capture inside a possessive repetition: some versions of Python fail.
    plain, back = r"\\.|[^\\%s]", re.sub(r"\((?!\?)", "(?:", insert) + "|"
    double = back * (language != "node")
    string = "|".join(rf"{q}(?:{code}{plain % q})*+(?:{q}|\Z)" for q, code in (('"', double), ("`", back), ("'", "")))
    first = rf"(?P<space>\s+)|(?P<comment>{table['comment']})|(?P<string>{string})|"
    last = rf"(?P<variable>{table['variable']})|(?P<name>{table['name']})|{_REST}"
    always, values = (
        "".join(f"(?P<{kind}>{table[key][kind]})|" for kind in table[key]) for key in ("quotes", "value_quotes")
    )
    texts = (first + always + values + last, first + always + last, insert)
    return [re.compile(each, re.DOTALL | re.MULTILINE) for each in texts]


class Lexer:
    """The tokens of a code, in ``root``. Raises RecursionError where there are too many."""

    def __init__(self, text: str, language: str) -> None:
        if language == "php" and "<?" in text:
            inside = re.findall(r"<\?(?:php\b|(=))?(.*?)(?:\?>|\Z)", text, re.DOTALL)
            text = ";\n".join(("echo " if shows else "") + code for shows, code in inside)
        self.text = text
        self.language = language
        self.root = Token("group", "")
        self.stack = [self.root]
        self.at = self.count = 0
        self.spaced = self.newline = False
        self.value, self.operator, self.insert = _patterns(language)
        self.blocks = load_language(language)["blocks"]
        while self.at < len(self.text):
            self._next()

    def add(self, kind: str, text: str, items: list[Token] | None = None) -> None:
        """Append a token to the open group."""
        token = Token(kind, text, items)
        token.spaced, token.newline = self.spaced, self.newline
        self.stack[-1].items.append(token)
        self.spaced = self.newline = False
        self.count += 1
        if self.count > _MOST_TOKENS:
            raise RecursionError

    def _next(self) -> None:
        match = (self.operator if self.follows_value else self.value).match(self.text, self.at)
        assert match is not None
        kind, text, self.at = match.lastgroup or "", match[0], match.end()
        if kind in ("space", "comment"):
            self.spaced = True
            self.newline = self.newline or "\n" in text
        elif kind == "string":
            self._string(text[0], text[1 : -1 if text[-1] == text[0] and len(text) > 1 else None])
        elif kind in ("quote", "pattern"):
            self._quote(text.strip().lstrip("%") or ("Q" if text else "m"))
        elif kind == "heredoc":
            self._heredoc(match)
        elif kind in ("symbol", "long"):
            self.add("string", match[f"{kind}_text"])
        elif kind == "variable":
            self.add(kind, "$" + text.lstrip("$#@%:"))
        elif text in ("(", "[", "{"):
            self._open(text)
        elif text in (")", "]", "}"):
            depth = next((at for at in range(len(self.stack) - 1, -1, -1) if self.stack[at].text in ("(", "[", "{")), 0)
            del self.stack[depth or len(self.stack) :]
        else:
            self._word(kind, text)

    def _word(self, kind: str, text: str) -> None:
        items = self.stack[-1].items
        if kind != "name" or (items and items[-1].text in (".", "->", "?.", "&.")):
            self.add(kind, text)
        elif text == "end" and self.stack[-1].text in self.blocks:
            self.stack.pop()
        elif text in self.blocks and self._is_block(text):
            self._open(text)
        else:
            self.add(kind, (text.rpartition("\\")[2] or text).replace("::", "."))

    def _open(self, text: str) -> None:
        self.add("group", text)
        self.stack.append(self.stack[-1].items[-1])

    def _is_block(self, word: str) -> bool:
        group = self.stack[-1]
        if self.language == "ruby" and word == "do":  # that of `while x do` belongs to the loop
            return group.text not in _RUBY_LOOPS or any(token.newline for token in group.items)
        is_start = not group.items or self.newline or group.items[-1].text in (";", "=", "then", "else", "|")
        return is_start or self.language == "lua"

    @property
    def follows_value(self) -> bool:
        """Whether an operator, not an operand, is expected here."""
        items = self.stack[-1].items
        if not items or items[-1].kind == "operator":
            return False
        if items[-1].kind != "name":
            return True
        # `split /,/` and `puts %w(a)`: a space in front and none behind.
        is_bare = (
            self.spaced and self.language in ("perl", "ruby") and not self.text[self.at + 1 : self.at + 2].isspace()
        )
        return items[-1].text not in _BEFORE_VALUE and not is_bare

    def _string(self, mark: str, body: str) -> None:
        """Add a text in single or double quotes, or a command in backquotes."""
        if mark == "`" and self.language != "node":
            self.add("name", "`")
            self._open("(")
            self._interpolated(body)
            self.stack.pop()
        elif mark == "'" and self.language not in ("node", "lua"):
            self.add("string", re.sub(r"\\([\\'()\[\]{}<>|/!])", r"\1", body))
        elif mark == "`" or self.language != "node":
            self._interpolated(body, is_template=mark == "`")
        else:
            self.add("string", unescape(body, self.language))

    def _interpolated(self, body: str, *, is_template: bool = False) -> None:
        """Add a string, or a template if code is inserted into it."""
        items: list[Token] = []
        start = 0
        for match in self.insert.finditer(body):
            code = next(filter(None, match.groups()), "")
            if self.language in ("perl", "php") and re.fullmatch(r"\w+", code):
                code = f"${code}"  # ${name}
            before = body[start : match.start()]
            if (len(before) - len(before.rstrip("\\"))) % 2 == 0 and code:
                items += [Token("string", unescape(before, self.language)), self._nested(code)]
                start = match.end()
        last = Token("string", unescape(body[start:], self.language))
        if items or is_template:
            self.add("template", "", [*items, last])
        else:
            self.add("string", last.value)

    def _nested(self, code: str) -> Token:
        return Token("group", "(", Lexer(code, self.language).root.items)

    def _delimited(self) -> str:
        """Go behind a delimited text; return it."""
        match = _DELIMITED.match(self.text, self.at)
        if match is None:
            return ""
        self.at = match.end()
        return match[match.lastindex or 0]

    def _quote(self, name: str) -> None:
        """Add the token of ``q()``, ``%w()``, ``s///`` …, whose delimiter comes next."""
        is_bracket = self.text[self.at : self.at + 1] in "([{<"
        body = self._delimited()
        if name in _MARKS:
            self._string(_MARKS[name], body)
        elif name in ("qw", "w", "W", "i", "I"):
            self.add("group", "[", [token for word in body.split() for token in (Token("string", word), _COMMA)])
        else:
            items = []
            if name in ("s", "tr", "y"):
                rest = self.text[self.at :]
                self.at += len(rest) - len(rest.lstrip()) if is_bracket else -1
                items = [Token("string", self._delimited())]
            rest = self.text[self.at :]
            flags = rest[: len(rest) - len(rest.lstrip(ascii_lowercase))]
            self.at += len(flags)
            items += [
                Token("string", name[0] + flags),
                *([self._nested(items[0].value)] if items and "e" in flags else []),
            ]
            self.add("replace" if name in ("s", "tr", "y") else "pattern", body, items)

    def _heredoc(self, match: re.Match[str]) -> None:
        """Add the text of a here-document, and take it out of the code."""
        start = self.text.find("\n", match.end()) + 1 or len(self.text)
        end = match["double"] or match["single"] or match["bare"]
        stop = re.compile(rf"^[ \t]*{re.escape(end)}\b|\Z", re.MULTILINE).search(self.text, start)
        assert stop is not None
        body = self.text[start : stop.start()]
        self.text = self.text[:start] + self.text[stop.end() :]
        self._string("'" if match["single"] else '"', body)
