"""Words of a shell command, as bash reads them: quotes, escapes, parameters, substitutions.

``reader`` puts commands together out of them. Nothing is expanded here and nothing is run.
Rules: the Bash Reference Manual, "Quoting", "Shell Parameter Expansion", "Here Documents".
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN

from .syntax import Arithmetic, Bare, Parameter, ProcessSubstitution, Substitution

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .syntax import Node, Part, Word

# Deeper than any honest command, and shallow enough for Python's own stack.
DEEPEST = 100
_MOST_WASTED = 64 * 1024

# A backslash before a new line is as if neither were there, also inside of names and operators.
JOIN = r"(?:\\\n)*"
_RUN = re.compile(r"[^ \t\n|&;()<>'\"\\$`]+").match
_NAME = re.compile(r"[A-Za-z_](?:[A-Za-z0-9_]|\\\n)*").match
_DIGITS = re.compile(r"[0-9](?:[0-9]|\\\n)*").match
_JOINS = re.compile(JOIN).match
_QUOTE_AFTER_DOLLAR = re.compile(rf"\${JOIN}(['\"])").match
_IN_DOUBLE_QUOTES = re.compile(r'[^"\\$`]+').match
_IN_HERE_DOCUMENT = re.compile(r"[^\\$`]+").match
_IN_BACKQUOTES = re.compile(r"(?:[^\\`]|\\[\s\S])*").match
_IN_ANSI_QUOTES = re.compile(r"(?:[^\\']|\\[\s\S])*").match
_IN_BRACKETS = re.compile(r"[A-Za-z0-9_ \t\n.,;=+*-]+").match
_OPERATOR = re.compile(r":[-=?+]|[-=?+]|##?|%%?|//|/#|/%|/|\^\^?|,,?|~~?|@[A-Za-z]|:").match
_SPECIAL = frozenset("@*#?-$!_")
_PLAIN_ARGUMENT = frozenset((":-", "-", ":=", "=", ":?", "?", ":+", "+", ":"))


class NotReadableError(ValueError):
    """The text ends inside of a quote or a bracket, or nests too deep. ``at``: where, in characters."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


def join(parts: Word, part: Part) -> None:
    """Adds a part to a word; text next to text of its kind becomes one."""
    if parts:
        last = parts[-1]
        if type(part) is str and type(last) is str:
            parts[-1] = last + part
            return
        if type(part) is Bare and type(last) is Bare:
            parts[-1] = Bare(last.text + part.text)
            return
    parts.append(part)


class Words:
    """Reads words from ``text``; ``at``: the next character, ``base``: where the text stands in the whole."""

    __slots__ = ("at", "base", "depth", "no_arithmetic", "text", "wasted")

    def __init__(self, text: str, base: int = 0, depth: int = 0) -> None:
        self.text = text
        self.at = 0
        self.base = base
        self.depth = depth
        self.no_arithmetic: set[int] = set()  # where `((` was tried as arithmetic in vain: each is tried once
        self.wasted = 0  # characters that were read so in vain

    def commands(self, closer: str) -> Node:
        """Reads commands up to ``closer``, and past it."""
        raise NotImplementedError

    def inner(self, text: str, at: int) -> Node:
        """Reads commands from a text that stood at ``at`` and lost its escapes. What cannot be read in it does not keep
        bash from running what is around it.
        """
        raise NotImplementedError

    def expanded(self, text: str, at: int) -> Word:
        """Reads what is expanded in a text that stood at ``at`` and in which quotes mean nothing."""
        raise NotImplementedError

    def word(self, *, bang: bool = False, regex: bool = False) -> Word:
        """Reads a word up to a blank or an operator. ``bang``: whether ``!(`` is a negation and not a pattern.
        ``regex``: whether it is the pattern behind ``=~``, in which brackets and ``|`` are text.
        """
        text = self.text
        size = len(text)
        parts: Word = []
        level = 0  # of brackets in a regular expression
        while self.at < size:
            run = _RUN(text, self.at)
            if run is not None:
                join(parts, Bare(run[0]))
                self.at = run.end()
                if self.at >= size:
                    break
            char = text[self.at]
            if char in "'\"\\$`":
                self.quoted_or_expanded(parts)
            elif char in "<>" and text.startswith("(", self.at + 1):
                join(parts, self.process_substitution())
            elif regex and (char in "(|" or (level and char in ") \t\n<>;&")):
                level += (char == "(") - (char == ")")
                join(parts, Bare(char))
                self.at += 1
            elif char == "(" and parts and type(last := parts[-1]) is Bare and last.text[-1] in "?*+@!":
                if bang and last.text == "!":
                    break
                if text.startswith("()", self.at):  # a function
                    break
                self.extended_pattern(parts)
            else:
                break
        return parts

    def extended_pattern(self, parts: Word) -> None:
        """Reads ``(…)`` behind one of ``?*+@!``, as text of the word."""
        join(parts, Bare("("))
        self.at += 1
        self.inside(")", parts, opener="(")
        join(parts, Bare(")"))

    def quoted_or_expanded(self, parts: Word) -> None:
        """Reads what a quote, a backslash, a dollar or a backquote begins, outside of double quotes."""
        text = self.text
        at = self.at
        char = text[at]
        if char == "'":
            end = text.find("'", at + 1)
            if end < 0:
                raise NotReadableError("a single quote is not closed", self.base + at)
            join(parts, text[at + 1 : end])
            self.at = end + 1
        elif char == '"':
            self.at = at + 1
            self.double_quoted(parts)
        elif char == "\\":
            following = text[at + 1 : at + 2]
            if following != "\n":
                join(parts, following or char)
            self.at = at + 1 + len(following)
        elif char == "$":
            self.dollar(parts, quoted=False)
        else:
            join(parts, self.backquoted(quoted=False))

    def double_quoted(self, parts: Word, *, in_quotes: bool = False) -> None:
        """Reads from behind the opening quote to behind the closing one. ``in_quotes``: whether it stands in a ``${…}``
        that is quoted itself; there a backslash protects any character.
        """
        text = self.text
        start = self.at
        if text.startswith(('"', "\\\n"), start):  # a word, if an empty one
            join(parts, "")
        while True:
            run = _IN_DOUBLE_QUOTES(text, self.at)
            if run is not None:
                join(parts, run[0])
                self.at = run.end()
            if self.at >= len(text):
                raise NotReadableError("a double quote is not closed", self.base + start)
            char = text[self.at]
            if char == '"':
                self.at += 1
                return
            if in_quotes and char == "\\":
                self.quoted_or_expanded(parts)
            else:
                self.expanded_in_quotes(parts, '$`"\\')

    def expanded_in_quotes(self, parts: Word, escapable: str) -> None:
        """Reads a backslash, a dollar or a backquote where only those are special."""
        char = self.text[self.at]
        if char == "\\":
            following = self.text[self.at + 1 : self.at + 2]
            if following == "\n":
                pass
            elif following and following in escapable:
                join(parts, following)
            else:
                join(parts, "\\" + following)
            self.at += 1 + len(following)
        elif char == "$":
            self.dollar(parts, quoted=True)
        else:
            join(parts, self.backquoted(quoted='"' in escapable, in_text='"' not in escapable))

    def here_document(self) -> Word:
        """Reads the whole text as the body of a here-document whose delimiter was not quoted."""
        text = self.text
        parts: Word = []
        while self.at < len(text):
            run = _IN_HERE_DOCUMENT(text, self.at)
            if run is not None:
                join(parts, run[0])
                self.at = run.end()
            else:
                self.expanded_in_quotes(parts, "$`\\")
        return parts

    def dollar(self, parts: Word, *, quoted: bool) -> None:
        """Reads what a dollar begins."""
        text = self.text
        start = self.at
        joins = _JOINS(text, start + 1)
        at = joins.end() if joins else start + 1
        char = text[at : at + 1]
        name = _NAME(text, at)
        if name is not None:
            self.at = name.end()
            parts.append(Parameter(_joined(name[0]), quoted=quoted))
        elif char == "(":
            self.substituted(parts, at, quoted=quoted)
        elif char == "{":
            self.at = at + 1
            self.braced(parts, quoted=quoted)
        elif char == "'" and not quoted:
            inside = _IN_ANSI_QUOTES(text, at + 1)
            end = inside.end() if inside else at + 1
            if not text.startswith("'", end):
                raise NotReadableError("a single quote is not closed", self.base + start)
            join(parts, ansi(text[at + 1 : end]))
            self.at = end + 1
        elif char == '"' and not quoted:
            self.at = at + 1
            self.double_quoted(parts)
        elif char == "[":
            self.at = at + 1
            inner: Word = []
            self.inside("]", inner, opener="[", quoted=True)
            parts.append(Arithmetic(inner, quoted))
        elif char and (char in _SPECIAL or char in "0123456789"):
            self.at = at + 1
            parts.append(Parameter(char, quoted=quoted))
        else:
            join(parts, "$" if quoted else Bare("$"))
            self.at = start + 1

    def substituted(self, parts: Word, at: int, *, quoted: bool) -> None:
        """Reads ``$((…))`` or ``$(…)``; ``at`` is the first bracket."""
        inner = self.arithmetic(at)
        if inner is not None:
            parts.append(Arithmetic(inner, quoted))
            return
        self.at = at + 1
        body = self.commands(")")
        parts.append(Substitution(body, quoted, self.text[at + 1 : self.at - 1]))

    def arithmetic(self, at: int) -> Word | None:
        """Reads ``((…))`` from ``at`` on; None, with nothing read, if it is no arithmetic but brackets in brackets."""
        text = self.text
        if not text.startswith("((", at) or at in self.no_arithmetic:
            return None
        before, depth = self.at, self.depth
        self.at = at + 2
        parts: Word = []
        try:
            self.inside(")", parts, opener="(", quoted=True)
            if text.startswith(")", self.at):
                self.at += 1
                return parts
        except NotReadableError:
            pass
        self.wasted += self.at - at
        if self.wasted > _MOST_WASTED + len(text):
            raise NotReadableError("too many brackets", self.base + at)
        self.at, self.depth = before, depth
        self.no_arithmetic.add(at)
        return None

    def process_substitution(self) -> ProcessSubstitution:
        """Reads ``<(…)`` or ``>(…)``."""
        direction = self.text[self.at]
        self.at += 2
        return ProcessSubstitution(self.commands(")"), direction)

    def backquoted(self, *, quoted: bool, in_text: bool = False) -> Substitution:
        """Reads from one backquote to the next; the text between them, without its escapes, is read as commands."""
        start = self.at
        inside = _IN_BACKQUOTES(self.text, start + 1)
        end = inside.end() if inside else start + 1
        if not self.text.startswith("`", end):
            raise NotReadableError("a backquote is not closed", self.base + start)
        raw = self.text[start + 1 : end]
        if "\\" in raw:
            raw = re.sub(r'\\([$`"\\])' if quoted else r"\\([$`\\])", r"\1", raw)
        self.at = end + 1
        body = self.inner(raw, start + 1)
        return Substitution(body, quoted or in_text, raw)

    def inside(self, closer: str, parts: Word, *, opener: str = "", quoted: bool = False, stop: str = "") -> str:
        """Reads text up to ``closer`` or one of ``stop``, and past it: says which it was. ``opener``: what nests in it.
        ``quoted``: whether it is text in which blanks and globs mean nothing.
        """
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotReadableError("nested too deep", self.base + self.at)
        text = self.text
        start = self.at
        level = 0
        run = ""
        while self.at < len(text):
            plain = _IN_BRACKETS(text, self.at)
            if plain is not None:
                run += plain[0]
                self.at = plain.end()
                continue
            char = text[self.at]
            if char in "'\"\\$`" or (char in "<>" and not quoted and text.startswith("(", self.at + 1)):
                if run:
                    join(parts, run if quoted else Bare(run))
                    run = ""
                if char in "<>":
                    parts.append(self.process_substitution())
                elif quoted and char == "$":
                    self.dollar(parts, quoted=True)
                elif quoted and char == "`":
                    join(parts, self.backquoted(quoted=True))
                else:
                    self.quoted_or_expanded(parts)
                continue
            self.at += 1
            if char == closer:
                if not level:
                    break
                level -= 1
            elif char == opener:
                level += 1
            elif not level and char in stop:
                break
            run += char
        else:
            raise NotReadableError(f"{closer} is missing", self.base + start)
        if run:
            join(parts, run if quoted else Bare(run))
        self.depth -= 1
        return char

    def braced(self, parts: Word, *, quoted: bool) -> None:
        """Reads from behind ``${`` to behind its ``}``."""
        text = self.text
        start = self.at
        if text[start : start + 1] in (" ", "\t", "\n", "|"):  # `${ command; }`: bash 5.3, ksh, mksh
            self.at = start + (text[start] == "|")
            body = self.commands("}")
            parts.append(Substitution(body, quoted, text[start : self.at - 1]))
            return
        parameter = self.named(quoted=quoted)
        if parameter is not None:
            parts.append(parameter)
            return
        # Another shell's: what it gives cannot be known, what runs inside is kept.
        self.at = start
        inner: Word = []
        self.argument(inner, "", quoted=quoted)
        join(parts, UNKNOWN if quoted else Bare(UNKNOWN))
        parts += [part for part in inner if type(part) is not str and type(part) is not Bare]

    def named(self, *, quoted: bool) -> Parameter | None:
        """Reads a parameter with what is done to it, up to behind the ``}``; None if bash knows no such thing."""
        text = self.text
        prefix = ""
        self.skip_joins()
        if text.startswith("#", self.at):
            following = text[self.at + 1 : self.at + 2]
            after = text[self.at + 2 : self.at + 3]
            if (
                _NAME(text, self.at + 1)
                or following.isdigit()
                or (following in _SPECIAL and following and after == "}")
            ):
                prefix = "length"
                self.at += 1
        elif text.startswith("!", self.at):
            following = text[self.at + 1 : self.at + 2]
            if _NAME(text, self.at + 1) or following.isdigit() or (following and following in "@*#?$!"):
                prefix = "indirect"
                self.at += 1
        match = _NAME(text, self.at) or _DIGITS(text, self.at)
        if match is not None:
            name = _joined(match[0])
            self.at = match.end()
        elif text[self.at : self.at + 1] in _SPECIAL:
            name = text[self.at]
            self.at += 1
        else:
            return None
        parameter = Parameter(name, prefix, quoted=quoted)
        self.skip_joins()
        if text.startswith("[", self.at):
            self.at += 1
            parameter.index = []
            self.inside("]", parameter.index, opener="[")
            if prefix == "indirect" and parameter.index in ([Bare("@")], [Bare("*")]):
                parameter.operator = prefix = "keys"
            self.skip_joins()
        if text.startswith("}", self.at):
            self.at += 1
            return parameter
        if prefix == "indirect" and text[self.at : self.at + 2] in ("@}", "*}"):
            parameter.operator = "names"
            self.at += 2
            return parameter
        if prefix in ("length", "keys"):
            return None
        match = _OPERATOR(text, self.at)
        if match is None:
            return None
        self.at = match.end()
        operator = match[0]
        if not prefix:
            parameter.operator = operator
        if operator[0] == "@":
            if not text.startswith("}", self.at):
                return None
            self.at += 1
            return parameter
        stop = operator[0] if operator[0] == "/" or operator == ":" else ""
        while True:
            argument: Word = []
            ended = self.argument(argument, operator, quoted=quoted, stop=stop)
            parameter.arguments.append(argument)
            if ended == "}":
                return parameter
            stop = ""

    def argument(self, parts: Word, operator: str, *, quoted: bool, stop: str = "") -> str:
        """Reads a word inside of ``${…}``, up to behind the ``}`` or ``stop``: says which it was."""
        if not quoted:
            return self.inside("}", parts, stop=stop)
        # In double quotes single quotes are quotes in patterns only. Elsewhere they are text, but no `}` between two of
        # them is the end.
        self.depth += 1
        if self.depth > DEEPEST:
            raise NotReadableError("nested too deep", self.base + self.at)
        text = self.text
        start = self.at
        text_until = -1
        while self.at < len(text):
            char = text[self.at]
            is_text = self.at < text_until
            if not is_text and (char == "}" or char in stop):
                self.at += 1
                self.depth -= 1
                return char
            if char == '"':
                self.at += 1
                if not is_text:
                    self.double_quoted(parts, in_quotes=True)
            elif char == "'" and operator not in _PLAIN_ARGUMENT:
                self.quoted_or_expanded(parts)
            elif char == "'":
                if self.at != text_until:
                    text_until = text.find("'", self.at + 1)
                    if text_until < 0:
                        break
                join(parts, char)
                self.at += 1
            elif char == "$" and not is_text and (quote := _QUOTE_AFTER_DOLLAR(text, self.at)):
                at = self.at
                if quote[1] == '"':
                    self.at = quote.end() - 1
                    continue
                resolved: Word = []
                self.dollar(resolved, quoted=False)
                if operator in _PLAIN_ARGUMENT:  # bash expands what comes out of it once more
                    resolved = self.expanded("".join(part for part in resolved if isinstance(part, str)), at)
                for part in resolved:
                    join(parts, part)
            elif char in "\\$`":
                self.expanded_in_quotes(parts, '$`"\\}')
            else:
                join(parts, char)
                self.at += 1
        raise NotReadableError("} is missing", self.base + start)

    def skip_joins(self) -> None:
        """Goes past joined lines."""
        while self.text.startswith("\\\n", self.at):
            self.at += 2


def _joined(text: str) -> str:
    return text.replace("\\\n", "") if "\\" in text else text


_ANSI = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x\{([0-9a-fA-F]*)\}?|x([0-9a-fA-F]{1,2})"
    r"|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(\\\\|[\s\S]))"
)
_BYTES = re.compile("[\udc80-\udcff]+")
_ANSI_LETTERS = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def ansi(text: str) -> str:
    """The text that ``$'…'`` stands for. A NUL ends it, and bytes that are UTF-8 together become characters."""
    if "\\" not in text:
        return text
    has_bytes = False

    def resolved(match: re.Match[str]) -> str:
        nonlocal has_bytes
        letter, octal, long_hexadecimal, hexadecimal, unicode, wide, control = match.groups()
        if letter:
            return _ANSI_LETTERS[letter]
        if control:
            return chr(ord(control[0]) & 0x1F) if control != "?" else "\x7f"
        if unicode or wide:
            code = int(unicode or wide, 16)
            return chr(code) if code < 0x110000 else UNKNOWN
        code = int(octal, 8) if octal else int(hexadecimal or long_hexadecimal or "0", 16)
        code &= 0xFF
        if code < 0x80:
            return chr(code)
        has_bytes = True
        return chr(0xDC00 + code)

    resolved_text = _ANSI.sub(resolved, text)
    resolved_text = resolved_text.partition("\0")[0]
    if has_bytes:
        return _BYTES.sub(_decoded, resolved_text)
    return resolved_text


def _decoded(match: re.Match[str]) -> str:
    return match[0].encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
