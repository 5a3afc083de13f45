"""The tokens of a script: one tokeniser for JavaScript, Perl, Ruby, PHP, Lua, Groovy, R and Julia.

It knows what a checker must not get wrong: where strings, patterns, comments and here-documents begin and end, and what
is put into a string when it runs. It reads any text and never fails: what no grammar allows becomes an operator.
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.record import Record


class Insert(Record):
    """Code inside of a string whose value is put there."""

    __slots__ = ("code",)

    def __init__(self, code: str) -> None:
        self.code = code


class Token(Record):
    """A piece of a script.

    ``kind``: ``name``, ``variable`` (with its sigil), ``number``, ``string``, ``shell`` (backquotes and the like),
    ``words`` (``qw``), ``regex``, ``replace`` (``s///``), ``translate`` (``tr///``), ``input`` (``<STDIN>``) or
    ``operator``. ``parts``: of strings; of ``replace`` and ``translate`` what is put in place of ``text``. ``flags``:
    of patterns. ``spaced``, ``newline``: whether blanks, or a line's end, stand before it.
    """

    __slots__ = ("flags", "kind", "newline", "parts", "spaced", "text")

    def __init__(
        self, kind: str, text: str, parts: list[str | Insert], flags: str, spaced: bool, newline: bool
    ) -> None:
        self.kind = kind
        self.text = text
        self.parts = parts
        self.flags = flags
        self.spaced = spaced
        self.newline = newline


# Patterns are compiled when a script needs them: `re` keeps them.
_NUMBER = r"0[xX][0-9a-fA-F_]+n?|0[bB][01_]+n?|0[oO][0-7_]+n?|\d[\d_]*(?:\.\d[\d_]*)?(?:[eE][+-]?\d+)?[nL]?"
_NAME = r"[^\W\d]\w*"
_NAMES = {
    "node": (r"(?:[^\W\d]|\$|\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]+\})(?:[\w$]|\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]+\})*"),
    "perl": (r"[^\W\d]\w*(?:::\w+)*"),
    "ruby": (r"[^\W\d]\w*(?:[?!](?![=~]))?"),
    "php": (r"\\?[^\W\d]\w*(?:\\[^\W\d]\w*)*"),
    "r": (r"(?:[^\W\d]|\.(?!\d))[\w.]*"),
    "julia": (r"[^\W\d]\w*!?"),
    "vim": (r"(?:[bgtwslav]:)?[^\W\d][\w#]*"),
}
_UNICODE_ESCAPE = r"\\u\{([0-9a-fA-F]+)\}|\\u([0-9a-fA-F]{4})"
_VARIABLES = {
    "perl": (
        r"\$#?(?:::)?[^\W\d]\w*(?:::\w+)*|\$\d+|\$#?\{\^?\w+(?:::\w+)*\}|\$\^\w|\$[!@/\\,;.&<>()\[\]~+\-\"'`0?|=:]|\$\$(?![\w{$])"
        r"|[@%&](?:::)?[^\W\d]\w*(?:::\w+)*|[@%]\{\w+(?:::\w+)*\}|%[+!]|@[-+]"
    ),
    "ruby": (r"\$[^\W\d]\w*|\$\d+|\$[!@/\\,;.&<>~+\"'`0?:$*]|@@?[^\W\d]\w*"),
    "php": (r"\$[^\W\d]\w*"),
}
_IN_STRING = {
    "perl": (
        r"\$\{\s*\w+(?:::\w+)*\s*\}|@\{\s*\w+\s*\}|\$+(?:::)?[^\W\d]\w*(?:::\w+)*|\$\d+|\$[&!@0,;.$]|@(?:::)?[^\W\d]\w*(?:::\w+)*"
    ),
    "php": (r"\$[^\W\d]\w*(?:\[[^\]\n]*\]|->[^\W\d]\w*)?|\$\{\w+\}"),
    "groovy": (r"\$[^\W\d]\w*(?:\.[^\W\d]\w*)*"),
    "julia": (r"\$[^\W\d]\w*"),
}
_OPERATORS = {
    4: frozenset((">>>=",)),
    3: frozenset("=== !== **= <<= >>= &&= ||= ??= <=> ... >>> ?->".split()),
    2: frozenset("=> -> :: == != <= >= && || ?? ?. ++ -- += -= *= /= %= |= &= ^= << >> ** &.".split()),
}
_OWN_OPERATORS = {
    "perl": frozenset("=~ !~ // //= .= .. x= ||= \\".split()),
    "ruby": frozenset("=~ !~ ..".split()),
    "php": frozenset(".= ...".split()),
    "lua": frozenset(".. ~= //".split()),
    "groovy": frozenset("=~ ..".split()),
    "r": frozenset("<- <<- |> %>% %in%".split()),
    "julia": frozenset("|> .. ^".split()),
    "vim": frozenset(".= .. ..= =~ !~".split()),
    "awk": frozenset("!~ |& ^=".split()),
}
_LINE_COMMENTS: dict[str, tuple[str, ...]] = {
    "node": ("//",),
    "php": ("//", "#"),
    "groovy": ("//",),
    "lua": ("--",),
    "vim": (),
}
_BLOCK_COMMENTS = {"node": ("/*", "*/"), "php": ("/*", "*/"), "groovy": ("/*", "*/"), "julia": ("#=", "=#")}
_CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
# Behind these words comes a value, so that a slash is a pattern and a percent sign a name's.
_BEFORE_VALUE = frozenset(
    (
        "return and or not if unless while until when then else elsif case in of typeof void delete do push "
        "print puts split"
        "grep map join x lt gt le ge eq ne cmp keys values each scalar await yield throw instanceof new say "
        "delete exists"
    ).split()
)
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "f": "\f",
    "v": "\v",
    "\n": "",
    "s": " ",
}
_HEREDOC = r"<<([~-]?)(?:(\")([^\"\n]*)\"|(')([^'\n]*)'|([A-Za-z_]\w*))"
_PHP_HEREDOC = r"<<<[ \t]*([\"']?)(\w+)\1\r?\n"
_LONG_BRACKET = r"\[(=*)\[\n?"
_QUOTE_WORDS = {"perl": frozenset("q qq qw qx m qr s tr y".split()), "ruby": frozenset("q Q w W i I x r s".split())}
_INPUT = r"<(\$?\w*|[\w./*~?$-]+)>"
MOST_TOKENS = 20_000


def skip_balanced(text: str, at: int, end: int) -> int:
    """The position behind the bracket that closes the one at ``at``; strings between them are passed over."""
    opening = text[at]
    closing = _CLOSING[opening]
    depth = 0
    quote = ""
    while at < end:
        char = text[at]
        if char == "\\":
            at += 2
            continue
        if quote:
            if char == quote:
                quote = ""
        elif char in "\"'`":
            quote = char
        elif char == opening:
            depth += 1
        elif char == closing:
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return end


def unescape(text: str, language: str) -> str:
    """``text`` with the escapes of a double-quoted string resolved."""
    if "\\" not in text:
        return text
    out: list[str] = []
    at = 0
    size = len(text)
    while at < size:
        stop = text.find("\\", at)
        if stop < 0 or stop + 1 >= size:
            out.append(text[at:])
            break
        out.append(text[at:stop])
        char = text[stop + 1]
        at = stop + 2
        if char == "x":
            at = _character(text, at, 2, 16, out)
        elif char in "uU" and language != "perl":
            at = _character(text, at, 4 if char == "u" else 8, 16, out)
        elif char == "N" and text.startswith("{U+", at):
            close = text.find("}", at)
            at = _code(text[at + 3 : close], 16, out, close + 1) if close > 0 else at
        elif char == "o" and text.startswith("{", at):
            close = text.find("}", at)
            at = _code(text[at + 1 : close], 8, out, close + 1) if close > 0 else at
        elif language == "lua" and char.isdigit():
            digits = char
            while len(digits) < 3 and at < size and text[at].isdigit():
                digits += text[at]
                at += 1
            _code(digits, 10, out, at)
        elif language == "lua" and char == "z":
            while at < size and text[at].isspace():
                at += 1
        elif char in "01234567":
            digits = char
            while len(digits) < 3 and at < size and text[at] in "01234567":
                digits += text[at]
                at += 1
            _code(digits, 8, out, at)
        elif char == "c" and language in ("perl", "ruby") and at < size:
            out.append(chr(ord(text[at].upper()) ^ 64 & 0x7F) if ord(text[at]) < 128 else text[at])
            at += 1
        elif char in _ESCAPES and (char != "s" or language == "ruby"):
            out.append(_ESCAPES[char])
        elif language == "php" and char not in "\\$\"'`":
            out.append("\\" + char)
        else:
            out.append(char)
    return "".join(out)


def _character(text: str, at: int, most: int, base: int, out: list[str]) -> int:
    if text.startswith("{", at):
        close = text.find("}", at)
        if close > 0:
            for code in text[at + 1 : close].split():
                _code(code, base, out, 0)
            return close + 1
    stop = at
    while stop < len(text) and stop - at < most and text[stop] in "0123456789abcdefABCDEF":
        stop += 1
    return _code(text[at:stop], base, out, stop)


def _code(digits: str, base: int, out: list[str], after: int) -> int:
    try:
        out.append(chr(int(digits, base)))
    except (ValueError, OverflowError):
        out.append(digits)
    return after


def number(text: str) -> int | float:
    """The value of a number's token."""
    plain = text.replace("_", "").rstrip("nL")
    try:
        if plain[:2] in ("0x", "0X", "0b", "0B", "0o", "0O"):
            return int(plain, 0)
        if plain.isdigit():
            return int(plain, 8) if plain[0] == "0" and len(plain) > 1 and len(plain) < 12 else int(plain[:300])
        return float(plain)
    except ValueError:
        return 0


def tokens(text: str, language: str) -> list[Token]:
    """The first ``MOST_TOKENS`` tokens of ``text``, a script in ``language``: ``node``, ``perl``, ``ruby``, ``php``,
    ``lua``, ``groovy``, ``r``, ``julia`` or ``awk``.
    """
    return _Tokeniser(text, language).run()


class _Tokeniser:
    def __init__(self, text: str, language: str) -> None:
        self.text = text
        self.size = len(text)
        self.language = language
        self.at = 0
        self.found: list[Token] = []
        self.waiting: list[tuple[Token, str, bool, bool]] = []  # here-documents whose text begins on the next line
        self.spaced = False
        self.newline = True
        self.line_comments = _LINE_COMMENTS.get(language, ("#",))
        self.block_comment = _BLOCK_COMMENTS.get(language)
        self.name = re.compile(_NAMES.get(language, _NAME))
        self.variable = re.compile(_VARIABLES[language]) if language in _VARIABLES else None
        self.own_operators = _OWN_OPERATORS.get(language, frozenset())
        self.quote_words = _QUOTE_WORDS.get(language, frozenset())

    def run(self) -> list[Token]:
        if self.language == "php" and ("<?php" in self.text.lower() or "<?=" in self.text):
            self.markup()
        if self.language in ("perl", "ruby") and self.text[:1] == "=" and self.text[1:2].isalpha():
            self.documentation()
        while self.at < self.size and len(self.found) < MOST_TOKENS:
            self.step()
        return self.found

    def add(self, kind: str, text: str, parts: list[str | Insert] | None = None, flags: str = "") -> Token:
        token = Token(kind, text, parts if parts is not None else [], flags, self.spaced, self.newline)
        self.found.append(token)
        self.spaced = self.newline = False
        return token

    def expects_value(self) -> bool:
        """Whether a value, not an operator, comes next."""
        if not self.found:
            return True
        last = self.found[-1]
        if last.kind == "operator":
            return last.text not in (")", "]", "}", "++", "--")
        return last.kind == "name" and last.text in _BEFORE_VALUE

    def markup(self) -> None:
        """Pass over what stands outside of PHP's tags."""
        start = self.text.find("<?", self.at)
        if start < 0:
            self.at = self.size
            return
        self.at = start + (
            3 if self.text.startswith("<?=", start) else 5 if self.text[start : start + 5].lower() == "<?php" else 2
        )
        if self.text.startswith("<?=", start):
            self.add("name", "echo")

    def step(self) -> None:
        text, at, language = self.text, self.at, self.language
        char = text[at]
        if char == "\n":
            self.newline = self.spaced = True
            self.at += 1
            if self.waiting:
                self.heredocs()
            if (
                language in ("perl", "ruby")
                and text.startswith("=", self.at)
                and text[self.at + 1 : self.at + 2].isalpha()
            ):
                self.documentation()
            return
        if char.isspace():
            self.spaced = True
            self.at += 1
            return
        if self.comment():
            return
        if language == "php" and text.startswith("?>", at):
            self.add("operator", ";")
            self.at += 2
            self.markup()
            return
        if char in "\"'":
            self.quoted(char)
            return
        if char == "`":
            self.backquoted()
            return
        if char.isdigit():
            match = re.compile(_NUMBER).match(text, at)
            if match is not None:
                self.at = match.end()
                self.add("number", match.group())
                return
        if self.variable is not None and char in "$@%&" and self.sigil(char):
            return
        if language == "ruby" and char == "%" and self.percent():
            return
        if language == "ruby" and char == ":" and self.symbol():
            return
        if language == "lua" and char == "[":
            bracket = re.compile(_LONG_BRACKET).match(text, at)
            if bracket is not None:
                self.long_string(bracket, "string")
                return
        if char == "/" and language in ("node", "perl", "ruby", "groovy", "awk") and self.is_pattern():
            self.pattern("/", "regex", at)
            return
        if char == "<" and self.angle():
            return
        if char == "_" or char.isalpha() or char in "$\\." or ord(char) > 127:
            match = self.name.match(text, at)
            if match is not None:
                self.word(match.group(), match.end())
                return
        self.operator()

    def comment(self) -> bool:
        text, at = self.text, self.at
        if self.block_comment is not None and text.startswith(self.block_comment[0], at):
            end = text.find(self.block_comment[1], at + 2)
            self.at = end + 2 if end >= 0 else self.size
            self.spaced = True
            return True
        for mark in self.line_comments:
            if not text.startswith(mark, at):
                continue
            if mark == "--":
                bracket = re.compile(_LONG_BRACKET).match(text, at + 2)
                if bracket is not None:
                    end = text.find("]" + bracket.group(1) + "]", bracket.end())
                    self.at = end + 2 + len(bracket.group(1)) if end >= 0 else self.size
                    return True
            if self.language == "php":
                if text.startswith("#[", at):
                    return False
                closing = text.find("?>", at)
            else:
                closing = -1
            end = text.find("\n", at)
            end = self.size if end < 0 else end
            self.at = closing if 0 <= closing < end else end
            return True
        return False

    def documentation(self) -> None:
        end = self.text.find("\n=cut" if self.language == "perl" else "\n=end", self.at)
        stop = self.text.find("\n", end + 1) if end >= 0 else -1
        self.at = stop if stop >= 0 else self.size

    def operator(self) -> None:
        text, at = self.text, self.at
        for length in (4, 3, 2):
            piece = text[at : at + length]
            if piece in self.own_operators or (piece in _OPERATORS.get(length, ()) and self.is_operator(piece)):
                self.at += length
                self.add("operator", piece)
                return
        self.at += 1
        self.add("operator", text[at])

    def is_operator(self, piece: str) -> bool:
        if piece == "?.":
            return not self.text[self.at + 2 : self.at + 3].isdigit() and self.language in ("node", "groovy")
        if piece == "&.":
            return self.language == "ruby"
        if piece in ("->", "::"):
            return self.language != "node" and (self.language != "lua" or piece == "::")
        return piece not in ("--", "++") or self.language not in ("lua", "ruby", "r")

    def until(self, quote: str, at: int) -> int:
        """The position of the ``quote`` that ends a string which begins at ``at``; brackets nest."""
        text = self.text
        closing = _CLOSING.get(quote)
        if closing is None:
            while True:
                end = text.find(quote, at)
                if end < 0:
                    return self.size
                escape = text.find("\\", at, end)
                if escape < 0:
                    return end
                at = escape + 2
        depth = 1
        while at < self.size:
            char = text[at]
            if char == "\\":
                at += 1
            elif char == quote:
                depth += 1
            elif char == closing:
                depth -= 1
                if not depth:
                    return at
            at += 1
        return self.size

    def quoted(self, quote: str) -> None:
        text, at, language = self.text, self.at, self.language
        if language in ("groovy", "julia") and text.startswith(quote * 3, at):
            end = text.find(quote * 3, at + 3)
            end = self.size if end < 0 else end
            self.at = end + 3
            body = text[at + 3 : end]
        else:
            end = self.until(quote, at + 1)
            self.at = end + 1
            body = text[at + 1 : end]
        self.add(
            "string",
            quote,
            self.double(body) if quote == '"' or language in ("node", "lua", "r") else self.single(body),
        )

    def backquoted(self) -> None:
        language = self.language
        if language == "node":
            at = self.at + 1
            while at < self.size and self.text[at] != "`":
                if self.text[at] == "\\":
                    at += 2
                elif self.text.startswith("${", at):
                    at = skip_balanced(self.text, at + 1, self.size)
                else:
                    at += 1
            body = self.text[self.at + 1 : at]
            self.at = at + 1
            self.add("string", "`", self.inserted(body, "${", 1))
            return
        end = self.until("`", self.at + 1)
        body = self.text[self.at + 1 : end]
        self.at = end + 1
        if language == "r":
            self.add("name", body)
        else:
            self.add("shell", "`", self.double(body))

    def single(self, body: str) -> list[str | Insert]:
        if self.language == "vim":
            return [body]
        if "\\" in body:
            body = body.replace("\\\\", "\0").replace("\\'", "'").replace("\0", "\\")
        return [body]

    def double(self, body: str) -> list[str | Insert]:
        """The parts of a string in which escapes and variables mean something."""
        language = self.language
        if language == "ruby" and "#" in body:
            return self.inserted(body, "#{", 1)
        if language in _IN_STRING and ("$" in body or "@" in body):
            return self.interpolated(body)
        return [unescape(body, language)]

    def inserted(self, body: str, mark: str, offset: int) -> list[str | Insert]:
        parts: list[str | Insert] = []
        at = start = 0
        while True:
            at = body.find(mark, at)
            if at < 0:
                break
            if _is_escaped(body, at):
                at += 1
                continue
            end = skip_balanced(body, at + offset, len(body))
            if at > start:
                parts.append(unescape(body[start:at], self.language))
            parts.append(Insert(body[at + offset + 1 : end - 1]))
            at = start = end
        if start < len(body) or not parts:
            parts.append(unescape(body[start:], self.language))
        return parts

    def interpolated(self, body: str) -> list[str | Insert]:
        parts: list[str | Insert] = []
        language = self.language
        pattern = re.compile(_IN_STRING[language])
        at = start = 0
        size = len(body)
        while at < size:
            char = body[at]
            if char == "\\":
                at += 2
                continue
            code = ""
            end = at
            if char == "{" and language == "php" and body.startswith("{$", at):
                end = skip_balanced(body, at, size)
                code = body[at + 1 : end - 1]
            elif char in "$@":
                match = pattern.match(body, at)
                if match is not None:
                    code, end = match.group(), match.end()
                    if language == "perl":
                        code = code.replace("{", "").replace("}", "").replace(" ", "")
                        while end < size and (
                            body[end] == "{"
                            or (body[end] == "[" and body[end + 1 : end + 2] in "$-0123456789")
                            or body.startswith(("->[", "->{"), end)
                        ):
                            stop = skip_balanced(body, end + (2 if body[end] == "-" else 0), size)
                            code += body[end:stop]
                            end = stop
                    elif language == "php":
                        code = code.replace("${", "$").replace("}", "")
                        if "[" in code and code[code.index("[") + 1] not in "$'\"0123456789-":
                            code = code.replace("[", "['", 1).replace("]", "']")
                    elif language in ("groovy", "julia"):
                        code = code[1:]
                elif body[at + 1 : at + 2] == "{" or (language == "julia" and body[at + 1 : at + 2] == "("):
                    end = skip_balanced(body, at + 1, size)
                    code = body[at:end] if language in ("perl", "php") else body[at + 2 : end - 1]
            if not code:
                at += 1
                continue
            if at > start:
                parts.append(unescape(body[start:at], language))
            parts.append(Insert(code))
            at = start = max(end, at + 1)
        if start < size or not parts:
            parts.append(unescape(body[start:], language))
        return parts

    def sigil(self, char: str) -> bool:
        if char in "%&" and (self.language != "perl" or not self.expects_variable()):
            return False
        match = self.variable.match(self.text, self.at) if self.variable is not None else None
        if match is None:
            return False
        self.at = match.end()
        self.add("variable", match.group().replace("{", "").replace("}", ""))
        return True

    def expects_variable(self) -> bool:
        if self.expects_value():
            return True
        following = self.text[self.at + 1 : self.at + 2]
        return self.found[-1].kind == "name" and self.spaced and (following.isalpha() or following in "_{$+")

    def is_pattern(self) -> bool:
        if self.expects_value():
            return True
        last = self.found[-1]
        following = self.text[self.at + 1 : self.at + 2]
        # `puts /x/`: a name, a blank, and none behind the slash.
        return (
            self.language in ("perl", "ruby")
            and last.kind == "name"
            and self.spaced
            and not following.isspace()
            and following != "="
        )

    def pattern(self, quote: str, kind: str, at: int) -> None:
        """A pattern whose opening ``quote`` stands at ``at``; its closing one and the flags too."""
        text = self.text
        if quote == "/":
            end = at + 1
            in_class = False
            while end < self.size and text[end] != "\n":
                if text[end] == "\\":
                    end += 1
                elif text[end] == "[" and self.language == "node":
                    in_class = True
                elif text[end] == "]":
                    in_class = False
                elif text[end] == "/" and not in_class:
                    break
                end += 1
            if end >= self.size or text[end] != "/":  # no pattern after all
                end = self.until(quote, at + 1) if self.language == "perl" and kind != "regex" else -1
                if end < 0:
                    self.at = at + 1
                    self.add("operator", "/")
                    return
        else:
            end = self.until(quote, at + 1)
        body = text[at + 1 : end]
        parts: list[str | Insert] = []
        if kind in ("replace", "translate"):
            start = end + 1
            if quote in _CLOSING:
                while start < self.size and text[start].isspace():
                    start += 1
                second = text[start : start + 1] or quote
                start += 1
            else:
                second = quote
            end = self.until(second, start)
            put = text[start:end]
            parts = [put] if kind == "translate" else self.double(put)
            raw = put
        else:
            raw = ""
        end += 1
        start = end
        while end < self.size and text[end].isalpha() and end - start < 12:
            end += 1
        flags = text[start:end]
        if kind == "replace" and "e" in flags:
            parts = [Insert(raw)]
        self.at = end
        self.add(kind, body, parts, flags)

    def percent(self) -> bool:
        """Ruby's ``%x(…)`` and friends."""
        text = self.text
        kind = text[self.at + 1 : self.at + 2]
        at = self.at + 1
        last_is_name = bool(self.found) and self.found[-1].kind == "name"
        if not self.expects_value() and not (last_is_name and self.spaced):
            return False
        if kind in self.quote_words:
            at += 1
        elif kind in _CLOSING and kind:
            kind = "Q"
        else:
            return False
        quote = text[at : at + 1]
        if not quote or quote.isalnum() or quote.isspace():
            return False
        if kind == "r":
            self.pattern(quote, "regex", at) if quote != "/" else self.pattern("/", "regex", at)
            return True
        end = self.until(quote, at + 1)
        body = text[at + 1 : end]
        self.at = end + 1
        self.quote_word(kind, body)
        return True

    def quote_word(self, kind: str, body: str) -> None:
        if kind in ("w", "W", "i", "I", "qw"):
            self.add("words", "", [piece for piece in body.split()])  # noqa: C416
        elif kind in ("q", "s"):
            self.add("string", "'", self.single(body))
        elif kind in ("x", "qx"):
            self.add("shell", "`", self.double(body))
        else:
            self.add("string", '"', self.double(body))

    def symbol(self) -> bool:
        text, at = self.text, self.at
        following = text[at + 1 : at + 2]
        if text.startswith("::", at) or (
            self.found and not self.spaced and self.found[-1].kind in ("string", "number")
        ):
            return False
        if following in ('"', "'"):
            if not self.expects_value() and not self.spaced:
                return False
            end = self.until(following, at + 2)
            self.at = end + 1
            self.add("string", ":", self.double(text[at + 2 : end]))
            return True
        match = self.name.match(text, at + 1)
        if match is None or (self.found and not self.spaced and not self.expects_value()):
            return False
        self.at = match.end()
        self.add("string", ":", [match.group()])
        return True

    def long_string(self, bracket: re.Match[str], kind: str) -> None:
        end = self.text.find("]" + bracket.group(1) + "]", bracket.end())
        end = self.size if end < 0 else end
        self.at = end + 2 + len(bracket.group(1))
        self.add(kind, "[", [self.text[bracket.end() : end]])

    def angle(self) -> bool:
        """A here-document or, in Perl, a line of input."""
        text, at, language = self.text, self.at, self.language
        if language == "php" and text.startswith("<<<", at):
            match = re.compile(_PHP_HEREDOC).match(text, at)
            if match is None:
                return False
            mark = match.group(2)
            end = re.compile(r"\n[ \t]*" + mark + r"\b").search(text, match.end() - 1)
            stop, self.at = (end.start(), end.end()) if end is not None else (self.size, self.size)
            body = text[match.end() : max(stop, match.end())]
            self.add("string", '"', [body] if match.group(1) == "'" else self.double(body))
            return True
        if language not in ("perl", "ruby"):
            return False
        if text.startswith("<<", at):
            match = re.compile(_HEREDOC).match(text, at)
            if match is None:
                return False
            mark = match.group(3) or match.group(5) or match.group(6) or ""
            if not self.expects_value() and not (
                self.spaced and self.found[-1].kind == "name" and (match.group(1) or mark.isupper())
            ):
                return False
            self.at = match.end()
            self.waiting.append((self.add("string", '"'), mark, match.group(4) is not None, bool(match.group(1))))
            return True
        if language == "perl" and (self.expects_value() or self.found[-1].kind == "name"):
            match = re.compile(_INPUT).match(text, at)
            if match is not None:
                self.at = match.end()
                self.add("input", match.group(1))
                return True
        return False

    def heredocs(self) -> None:
        for token, mark, is_raw, is_indented in self.waiting:
            start = at = self.at
            while at < self.size:
                end = self.text.find("\n", at)
                end = self.size if end < 0 else end
                line = self.text[at:end]
                if (line.strip() if is_indented else line.rstrip("\r")) == mark:
                    break
                at = end + 1
            body = self.text[start : min(at, self.size)]
            newline = self.text.find("\n", at)
            self.at = newline if newline >= 0 else self.size
            token.parts = [body] if is_raw else self.double(body)
        self.waiting.clear()

    def word(self, word: str, end: int) -> None:
        text, language = self.text, self.language
        if word in self.quote_words and language == "perl" and self.quote_operator(word, end):
            return
        if word in ("__END__", "__DATA__") and language in ("perl", "ruby"):
            self.at = self.size
            return
        if language == "r" and word in ("r", "R") and text[end : end + 1] in ('"', "'"):
            opening = text.find("(", end)
            if opening > 0:
                stop = text.find(")" + text[end + 1 : opening] + text[end], opening)
                stop = self.size if stop < 0 else stop
                self.at = stop + opening - end + 1
                self.add("string", "'", [text[opening + 1 : stop]])
                return
        if "\\" in word:
            word = (
                re.sub(
                    _UNICODE_ESCAPE, lambda found: chr(min(int(found.group(1) or found.group(2), 16), 0x10FFFF)), word
                )
                if language == "node"
                else word.lstrip("\\")
            )
        self.at = end
        self.add("name", word)

    def quote_operator(self, word: str, at: int) -> bool:
        """Perl's ``q``, ``qq``, ``qw``, ``qx``, ``m``, ``qr``, ``s``, ``tr``, ``y``."""
        text = self.text
        last = self.found[-1] if self.found else None
        if (
            last is not None
            and last.kind == "operator"
            and last.text in ("->", "{")
            and text[at : at + 1] in ("}", "(")
        ):
            return False
        if last is not None and last.kind == "operator" and last.text == "->":
            return False
        if last is not None and last.kind == "name" and last.text == "sub":
            return False
        start = at
        while start < self.size and text[start].isspace():
            start += 1
        quote = text[start : start + 1]
        if not quote or quote in ",;)" or text.startswith("=>", start) or (quote == "=" and start > at):
            return False
        if (
            (quote.isalnum() or quote == "_")
            or (quote == "#" and start > at)
            or (quote == "}" and last is not None and last.text == "{")
        ):
            return False
        if word in ("m", "qr"):
            self.pattern(quote, "regex", start)
        elif word == "s":
            self.pattern(quote, "replace", start)
        elif word in ("tr", "y"):
            self.pattern(quote, "translate", start)
        else:
            end = self.until(quote, start + 1)
            self.at = end + 1
            if word == "qx" and quote == "'":
                self.add("shell", "`", [text[start + 1 : end]])
            else:
                self.quote_word(word, text[start + 1 : end])
        return True


def _is_escaped(text: str, at: int) -> bool:
    count = 0
    while at > count and text[at - count - 1] == "\\":
        count += 1
    return count % 2 == 1
