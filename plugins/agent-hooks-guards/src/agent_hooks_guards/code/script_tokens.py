"""Tokens of JavaScript, Perl, Ruby, PHP and Lua.

The lexer knows where strings, patterns, comments and here-documents begin and end. Interpolated strings become
parenthesised concatenations of their parts, ``qw(a b)`` becomes a list, a backquoted command becomes a call of the
name "`". It never fails: anything else becomes an operator.
"""

from __future__ import annotations

import re
from functools import cache

from agent_hooks.shell.syntax import Record
from agent_hooks_guards.model.values import UNKNOWN

MOST_TOKENS = 20_000
_DEEPEST = 20  # code in strings of code in strings
# Tokens that no source text can contain: brackets around the parts of an interpolated string, and between them.
GROUP, GROUP_END, JOIN = "\0(", "\0)", "\0+"

_COMMENTS = {
    "node": r"//[^\n]*|/\*.*?(?:\*/|\Z)|\A#![^\n]*",
    "perl": r"#[^\n]*|^=[a-z].*?(?:^=cut[^\n]*|\Z)|^__(?:END|DATA)__$.*",
    "ruby": r"#[^\n]*|^=begin.*?(?:^=end[^\n]*|\Z)|^__END__$.*",
    "php": r"//[^\n]*|#(?!\[)[^\n]*|/\*.*?(?:\*/|\Z)",
    "lua": r"--\[(=*)\[.*?(?:\]\1\]|\Z)|--[^\n]*",
}
_NAMES = {"node": r"(?:[^\W\d]|\$)[\w$]*", "ruby": r"[^\W\d]\w*(?:[?!](?!=))?"}
_VARIABLES = {
    "perl": r"(?:\$\#?|@)(?:::)?[^\W\d]\w*(?:::\w+)*|\$\d+|\$[!@/\\,;.&0|]|%[^\W\d]\w*(?:::\w+)*",
    "ruby": r"\$[^\W\d]\w*|\$[\d!@/\\,;.~?:$*]|@@?[^\W\d]\w*",
    "php": r"\$[^\W\d]\w*",
}
# Code within a double-quoted string: an opening brace (then up to its end), or a variable.
_INSERTS = {
    "node": r"\$(?=\{)",
    "ruby": r"\#(?=\{)|\#(?=[$@]\w)([$@]+\w+)",
    "php": r"(?=\{\$)|\$(?=\{)|(\$[^\W\d]\w*(?:\[[^\]\n]*\]|->[^\W\d]\w*)?)",
    "perl": r"([$@])(?=\{)|([$@](?:::)?[^\W\d]\w*(?:::\w+)*(?:(?:->)?(?:\[[^\]\n]*\]|\{[^}\n]*\}))*|\$[\d&])",
}
_OPERATORS = re.compile(
    r"===|!==|\*\*=|<<=|>>=|&&=|\|\|=|\?\?=|//=|<=>|\.\.\.|\.\.=|\?->|=>|->|::|==|!=|=~|!~|<=|>=|&&|\|\||\?\?|\?\."
    r"|&\.|\+\+|--|[-+*/%|&^.]=|~=|\.\.|<<|>>|.",
    re.DOTALL,
)
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d[\d_]*(?:\.\d+)?")
_HEREDOCS = {
    "perl": re.compile(r"<<(~?)(?:\"([^\"\n]+)\"|'([^'\n]+)'|([A-Za-z_]\w*))"),
    "ruby": re.compile(r"<<([~-]?)(?:\"([^\"\n]+)\"|'([^'\n]+)'|([A-Z_]\w*))"),
    "php": re.compile(r"<<<([ \t]*)(?:\"(\w+)\"|'(\w+)'|(\w+))"),
}
_PERL_QUOTE = re.compile(r"(qq|qw|qx|qr|q|m|s|tr|y)(?![\w=])\s*(?!=>|[\w\s,;)=])(?=\S)")
_RUBY_QUOTE = re.compile(r"%([qQwWiIxr]?)(?=[(\[{<|!/])")
_LONG_STRING = re.compile(r"\[(=*)\[\n?(.*?)(?:\]\1\]|\Z)", re.DOTALL)
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "e": "\x1b", "f": "\f", "v": "\v", "\n": ""}
_ESCAPE = re.compile(r"\\(?:x\{?([0-9a-fA-F]{1,6})\}?|u\{?([0-9a-fA-F]{1,6})\}?|([0-9]{1,3})|(.))", re.DOTALL)
# A slash behind these words begins a pattern.
_BEFORE_VALUE = frozenset(
    "return and or not if unless while until when then elsif else case in of typeof delete do print puts split grep"
    " map join x lt gt le ge eq ne cmp await yield throw new say".split()
)


class Token(Record):
    """A token: its ``kind`` (``name``, ``variable``, ``number``, ``string``, ``pattern``, ``replace``, ``operator``),
    whether blanks or a line end precede it, and the index of the bracket that closes it. ``parts``: replacement and
    flags of ``replace``.
    """

    __slots__ = ("close", "kind", "newline", "parts", "spaced", "text")

    def __init__(self, kind: str, text: str, spaced: bool = False, newline: bool = False) -> None:
        self.kind = kind
        self.text = text
        self.spaced = spaced
        self.newline = newline
        self.close = -1
        self.parts: tuple[str, str] = ("", "")


def tokens(text: str, language: str) -> list[Token]:
    """Return the tokens of ``text``."""
    if language == "php" and "<?" in text:
        inside = re.findall(r"<\?(?:php\b|(=))?(.*?)(?:\?>|\Z)", text, re.DOTALL)
        text = ";\n".join(("echo " if shows else "") + code for shows, code in inside)
    lexer = _Lexer(text, language)
    lexer.run()
    match_brackets(lexer.tokens)
    return lexer.tokens


def match_brackets(found: list[Token], start: int = 0) -> None:
    """Set ``close`` of every opening bracket from ``start`` on; an unclosed one ends with the code."""
    stack: list[int] = []
    for at in range(start, len(found)):
        token = found[at]
        if token.kind != "operator":
            continue
        if token.text in ("(", "[", "{", GROUP):
            token.close = len(found)
            stack.append(at)
        elif token.text in (")", "]", "}", GROUP_END) and stack:
            found[stack.pop()].close = at


def unescape(text: str, language: str) -> str:
    """Resolve the escapes of a double-quoted string."""

    def replace(match: re.Match[str]) -> str:
        hexadecimal, point, digits, other = match.groups()
        if hexadecimal or point:
            return _character(int(hexadecimal or point, 16))
        if digits:
            return _character(int(digits, 10)) if language == "lua" else _octal(digits)
        return _ESCAPES.get(other, f"\\{other}" if language == "php" and other not in "\\$\"'`{" else str(other))

    return _ESCAPE.sub(replace, text) if "\\" in text else text


def _octal(digits: str) -> str:
    octal = re.match(r"[0-7]*", digits)
    length = octal.end() if octal is not None else 0
    return (_character(int(digits[:length], 8)) if length else "") + digits[length:]


def _character(code: int) -> str:
    return chr(code) if code < 0x110000 else "?"


@cache
def _patterns(language: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    never = r"(?!)"
    return (
        re.compile(_COMMENTS[language], re.DOTALL | re.MULTILINE),
        re.compile(_NAMES.get(language, r"[^\W\d]\w*")),
        re.compile(_VARIABLES.get(language, never)),
        re.compile(_INSERTS.get(language, never)),
    )


class _Lexer:
    def __init__(self, text: str, language: str, depth: int = 0) -> None:
        self.text = text
        self.language = language
        self.depth = depth
        self.tokens: list[Token] = []
        self.at = 0
        self.spaced = self.newline = False
        self.comment, self.name, self.variable, self.insert = _patterns(language)
        self.line_end = self.body_end = -1  # of the line with a here-document, and of the document

    def add(self, kind: str, text: str) -> Token:
        token = Token(kind, text, self.spaced, self.newline)
        self.tokens.append(token)
        self.spaced = self.newline = False
        return token

    def run(self) -> None:
        text, size = self.text, len(self.text)
        while self.at < size and len(self.tokens) < MOST_TOKENS:
            char = text[self.at]
            if char.isspace():
                self.spaced = True
                self.newline = self.newline or char == "\n"
                self.at = self.body_end if self.at == self.line_end else self.at + 1
                continue
            comment = self.comment.match(text, self.at) if char in "/#-=_" else None
            if comment is not None and comment.end() > self.at and not self._is_sigil():
                self.at, self.spaced = comment.end(), True
                continue
            if not (self._string(char) or self._special(char)):
                self._plain()

    def _is_sigil(self) -> bool:
        """Whether a ``#`` belongs to a variable such as ``$#``."""
        return self.language == "perl" and self.text[self.at - 1 : self.at] == "$"

    def _plain(self) -> None:
        for kind, pattern in (("variable", self.variable), ("name", self.name), ("number", _NUMBER)):
            match = pattern.match(self.text, self.at)
            if match is None or (kind == "variable" and match[0][0] == "%" and self.follows_value):
                continue
            self.at = match.end()
            self.add(kind, match[0])
            return
        operator = _OPERATORS.match(self.text, self.at)
        self.at = operator.end() if operator is not None else self.at + 1
        self.add("operator", operator[0] if operator is not None else "")

    @property
    def follows_value(self) -> bool:
        """Whether an operator, not an operand, is expected here."""
        if not self.tokens:
            return False
        last = self.tokens[-1]
        if last.kind == "operator":
            return last.text in (")", "]", "}", GROUP_END)
        if last.kind != "name" or last.text not in _BEFORE_VALUE:
            # `split /,/` and `puts %w(a)`: a space in front and none behind.
            is_bare = last.kind == "name" and self.spaced and self.language in ("perl", "ruby")
            return not (is_bare and not self.text[self.at + 1 : self.at + 2].isspace())
        return False

    def _string(self, char: str) -> bool:
        """Read a quoted string."""
        if char not in "\"'`":
            return False
        language = self.language
        if char == "`" and language == "lua":
            return False
        body, self.at = self._delimited(self.at)
        if char == "'" and language not in ("node", "lua"):
            self.add("string", re.sub(r"\\([\\'])", r"\1", body))
        elif char == "`" and language != "node":
            self._command(body)
        else:
            self._interpolated(body, inserts=char != "'" and (language != "node" or char == "`"))
        return True

    def _command(self, body: str) -> None:
        self.add("name", "`")
        self.add("operator", "(")
        self._interpolated(body)
        self.add("operator", ")")

    def _delimited(self, at: int) -> tuple[str, int]:
        """Return the text between the delimiter at ``at`` and the one that closes it, and where to go on."""
        text, opening = self.text, self.text[at]
        closing = _CLOSING.get(opening, opening)
        depth, start = 1, at + 1
        at = start
        while at < len(text):
            char = text[at]
            if char == "\\":
                at += 2
                continue
            if char == closing:
                depth -= 1
                if not depth:
                    return text[start:at], at + 1
            elif char == opening:
                depth += 1
            elif char in "#$@{" and opening != "'":
                insert = self.insert.match(text, at)
                if insert is not None and text[insert.end() : insert.end() + 1] == "{" and opening in '"`':
                    at = self._delimited(insert.end())[1]
                    continue
            at += 1
        return text[start:], len(text)

    def _interpolated(self, body: str, *, inserts: bool = True) -> None:
        """Add a string, or the concatenation of its parts if code is inserted into it."""
        pieces: list[tuple[str, str]] = []
        at = start = 0
        while inserts and at < len(body):
            match = None if body[at] == "\\" else self.insert.match(body, at)
            if match is None:
                at += 2 if body[at] == "\\" else 1
                continue
            pieces.append(("string", body[start:at]))
            at = match.end()
            code = match[match.lastindex] if match.lastindex else ""
            if body[at : at + 1] == "{":
                inner, length = _Lexer(body[at:], self.language)._delimited(0)
                code = inner.strip().removeprefix("[").removesuffix("]") if code == "@" else code + inner
                if match[0] in ("$", "@") and self.language != "node" and re.fullmatch(r"\w+", inner):
                    code = match[0] + inner  # ${name}
                at += length
            pieces.append(("code", code))
            start = at
        if not pieces:
            self.add("string", unescape(body, self.language))
            return
        self.add("operator", GROUP)
        for kind, piece in [*pieces, ("string", body[start:])]:
            if kind == "string":
                self.add("string", unescape(piece, self.language))
            else:
                self._nested(piece)
            self.add("operator", JOIN)
        self.tokens[-1].text = GROUP_END

    def _nested(self, code: str) -> None:
        if self.depth >= _DEEPEST:  # whatever it does, it counts as unknown code
            self.tokens += [Token("name", "eval"), Token("operator", "("), Token("string", UNKNOWN)]
            self.add("operator", ")")
        elif len(self.tokens) < MOST_TOKENS:
            inner = _Lexer(code, self.language, self.depth + 1)
            inner.run()
            self.add("operator", GROUP)
            self.tokens.extend(inner.tokens)
            self.add("operator", GROUP_END)

    def _special(self, char: str) -> bool:
        """Read a pattern, a here-document or a quote that begins with a letter or a percent sign."""
        language = self.language
        if char == "<" and language in _HEREDOCS:
            return self._heredoc()
        if char == "[" and language == "lua":
            match = _LONG_STRING.match(self.text, self.at)
            if match is not None:
                self.add("string", match[2])
                self.at = match.end()
            return match is not None
        if char == "/" and language in ("node", "perl", "ruby") and not self.follows_value:
            self._pattern()
            return True
        if char == "%" and language == "ruby" and not self.follows_value:
            quote = _RUBY_QUOTE.match(self.text, self.at)
            return quote is not None and self._quote(quote[1] or "Q", quote.end())
        if language == "perl" and char in "qmsty":
            last = self.tokens[-1].text if self.tokens else ""
            quote = _PERL_QUOTE.match(self.text, self.at)
            is_key = last in ("->", "{") and self.text[self.at + 1 : self.at + 2] == "}"
            return quote is not None and not is_key and last != "->" and self._quote(quote[1], quote.end())
        if char == ":" and language == "ruby":
            symbol = re.compile(r":([^\W\d]\w*[?!]?)").match(self.text, self.at)
            if (
                symbol is not None
                and self.text[self.at - 1 : self.at] != ":"
                and not (self.follows_value and not self.spaced)
            ):
                self.at = symbol.end()
                self.add("string", symbol[1])
                return True
        return False

    def _pattern(self) -> None:
        start = self.at
        _, self.at = self._delimited(self.at)
        flags = re.compile(r"[a-z]*").match(self.text, self.at)
        self.at = flags.end() if flags is not None else self.at
        self.add("pattern", self.text[start : self.at])

    def _quote(self, name: str, at: int) -> bool:
        body, self.at = self._delimited(at)
        if name in ("q", "qq", "Q"):
            if name == "q":
                self.add("string", re.sub(r"\\(\W)", r"\1", body))
            else:
                self._interpolated(body)
        elif name in ("qw", "w", "W", "i", "I"):
            brackets = ("(", ")") if name == "qw" else ("[", "]")
            self.add("operator", brackets[0])
            for word in body.split():
                self.add("string", word)
                self.add("operator", ",")
            self.add("operator", brackets[1])
        elif name in ("qx", "x"):
            self._command(body)
        elif name in ("s", "tr", "y"):
            self._replace(name, body, at)
        else:
            self.add("pattern", body)
        return True

    def _replace(self, name: str, pattern: str, at: int) -> None:
        if self.text[at] in _CLOSING:
            while self.text[self.at : self.at + 1].isspace():
                self.at += 1
            body, self.at = self._delimited(self.at) if self.at < len(self.text) else ("", self.at)
        else:
            body, self.at = self._delimited(self.at - 1)
        flags = re.compile(r"[a-z]*").match(self.text, self.at)
        self.at = flags.end() if flags is not None else self.at
        self.add("replace", pattern).parts = (body, name[0] + (flags[0] if flags is not None else ""))
        if name == "s" and flags is not None and "e" in flags[0]:
            self.add("operator", ";")
            self._nested(body)

    def _heredoc(self) -> bool:
        if self.language == "perl" and (stream := re.compile(r"<(?:STDIN)?>").match(self.text, self.at)):
            self.at = stream.end()
            self.add("name", "<STDIN>")
            return True
        match = _HEREDOCS[self.language].match(self.text, self.at)
        if match is None or (self.language != "php" and self.follows_value and not self.spaced):
            return False
        end = match[2] or match[3] or match[4]
        self.at = match.end()
        if not self.at <= self.line_end:
            newline = self.text.find("\n", self.at)
            self.line_end = self.body_end = newline if newline >= 0 else len(self.text)
        start = self.body_end + 1
        stop = re.compile(rf"^[ \t]*{re.escape(end)}\b", re.MULTILINE).search(self.text, start)
        body = self.text[start : stop.start() if stop is not None else len(self.text)]
        self.body_end = stop.end() if stop is not None else len(self.text)
        if match[1] == "~":
            from textwrap import dedent

            body = dedent(body)
        if match[3]:
            self.add("string", body)
        else:
            self._interpolated(body)
        return True
