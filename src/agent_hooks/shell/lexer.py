"""Scans words: quotes, escapes, parameters and substitutions.

Rules: the Bash Reference Manual, "Quoting", "Command Substitution" and "Arithmetic Expansion"; bash 5.2 where it is
silent.
"""

from __future__ import annotations

import re

from .patterns import Pattern
from .syntax import Arithmetic, Bare, Parameter, ProcessSubstitution, Substitution, append_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .syntax import Node, Word

# Deeper than any honest command, and shallow enough for Python's stack.
MAX_DEPTH = 100
_MAX_WASTED = 64 * 1024

# A backslash and a newline vanish, also inside names and operators.
JOIN = r"(?:\\\n)*"
_RUN = Pattern(r"[^ \t\n|&;()<>'\"\\$`]+")
_NAME = Pattern(r"[A-Za-z_](?:[A-Za-z0-9_]|\\\n)*")
_IN_DOUBLE_QUOTES = Pattern(r'[^"\\$`]+')
_IN_HERE_DOCUMENT = Pattern(r"[^\\$`]+")
_IN_BACKQUOTES = Pattern(r"(?:[^\\`]|\\[\s\S])*")
_IN_ANSI_QUOTES = Pattern(r"(?:[^\\']|\\[\s\S])*")
_IN_BRACKETS = Pattern(r"[A-Za-z0-9_ \t\n.,;=+*-]+")
_SPECIAL_PARAMETERS = frozenset("@*#?-$!_0123456789")


class ParseError(ValueError):
    """The source ends inside a quote or a bracket, or nests too deep. ``at``: the offset in characters."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class Lexer:
    """Scans words of ``text``; ``at``: the next character, ``base``: the offset of ``text`` in the whole source."""

    __slots__ = ("at", "base", "depth", "no_arithmetic", "text", "wasted")

    def __init__(self, text: str, base: int = 0, depth: int = 0) -> None:
        self.text = text
        self.at = 0
        self.base = base
        self.depth = depth
        self.no_arithmetic: set[int] = set()  # offsets of `((` that are not arithmetic: each is tried once
        self.wasted = 0  # characters scanned in such attempts

    def commands(self, closer: str) -> Node:
        """Parse commands up to and past ``closer``."""
        raise NotImplementedError

    def inner_commands(self, text: str, at: int) -> Node:
        """Parse commands in ``text``, which was found at ``at`` and unescaped."""
        raise NotImplementedError

    def expandable(self, text: str, at: int) -> Word:
        """Parse the expansions in ``text``, which was found at ``at`` and in which quotes are not special."""
        raise NotImplementedError

    def error(self, message: str, at: int) -> ParseError:
        """Return an error at an offset of ``text``."""
        return ParseError(message, self.base + at)

    def enter(self) -> None:
        """Count a level of nesting."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error("nested too deep", self.at)

    def word(self, *, bang: bool = False, regex: bool = False) -> Word:
        """Scan a word up to a blank or an operator. ``bang``: ``!(`` is a negation, not a pattern. ``regex``: it is
        the right operand of ``=~``, in which brackets and ``|`` are text.
        """
        text = self.text
        size = len(text)
        parts: Word = []
        level = 0  # of brackets in a regular expression
        while self.at < size:
            run = _RUN.match(text, self.at)
            if run is not None:
                append_part(parts, Bare(run[0]))
                self.at = run.end()
                if self.at >= size:
                    break
            char = text[self.at]
            if char in "'\"\\$`":
                self.quoted_or_expanded(parts)
            elif char in "<>" and text.startswith("(", self.at + 1):
                parts.append(self.process_substitution())
            elif regex and (char in "(|" or (level and char in ") \t\n<>;&")):
                level += (char == "(") - (char == ")")
                append_part(parts, Bare(char))
                self.at += 1
            elif char == "(" and parts and type(last := parts[-1]) is Bare and last.text[-1] in "?*+@!":
                is_negation = bang and last.text == "!"
                if is_negation or text.startswith("()", self.at):  # the latter defines a function
                    break
                append_part(parts, Bare("("))  # an extended pattern
                self.at += 1
                self.bracketed(")", parts, opener="(")
                append_part(parts, Bare(")"))
            else:
                break
        return parts

    def quoted_or_expanded(self, parts: Word) -> None:
        """Scan a quote, a backslash, a dollar or a backquote outside double quotes."""
        text = self.text
        at = self.at
        char = text[at]
        if char == "'":
            end = text.find("'", at + 1)
            if end < 0:
                raise self.error("a single quote is not closed", at)
            append_part(parts, text[at + 1 : end])
            self.at = end + 1
        elif char == '"':
            self.at = at + 1
            self.double_quoted(parts)
        elif char == "\\":
            following = text[at + 1 : at + 2]
            if following != "\n":
                append_part(parts, following or char)
            self.at = at + 1 + len(following)
        elif char == "$":
            self.dollar(parts, quoted=False)
        else:
            parts.append(self.backquoted(quoted=False))

    def double_quoted(self, parts: Word, *, in_braces: bool = False) -> None:
        """Scan from after the opening quote to after the closing one. ``in_braces``: it is part of a quoted ``${…}``,
        where a backslash escapes any character.
        """
        text = self.text
        start = self.at
        if text.startswith(('"', "\\\n"), start):  # an empty word is a word
            append_part(parts, "")
        while True:
            run = _IN_DOUBLE_QUOTES.match(text, self.at)
            if run is not None:
                append_part(parts, run[0])
                self.at = run.end()
            if self.at >= len(text):
                raise self.error("a double quote is not closed", start)
            char = text[self.at]
            if char == '"':
                self.at += 1
                return
            if in_braces and char == "\\":
                self.quoted_or_expanded(parts)
            else:
                self.expanded(parts, '$`"\\')

    def expanded(self, parts: Word, escapable: str) -> None:
        """Scan a backslash, a dollar or a backquote where quotes are text."""
        char = self.text[self.at]
        if char == "\\":
            following = self.text[self.at + 1 : self.at + 2]
            if following and following in escapable:
                append_part(parts, following)
            elif following != "\n":
                append_part(parts, "\\" + following)
            self.at += 1 + len(following)
        elif char == "$":
            self.dollar(parts, quoted=True)
        else:
            parts.append(self.backquoted(quoted='"' in escapable, in_text='"' not in escapable))

    def here_document(self) -> Word:
        """Scan the whole text as the body of a here-document with an unquoted delimiter."""
        text = self.text
        parts: Word = []
        while self.at < len(text):
            run = _IN_HERE_DOCUMENT.match(text, self.at)
            if run is not None:
                append_part(parts, run[0])
                self.at = run.end()
            else:
                self.expanded(parts, "$`\\")
        return parts

    def dollar(self, parts: Word, *, quoted: bool) -> None:
        """Scan an expansion, or a dollar that is text."""
        text = self.text
        start = self.at
        at = start + 1
        while text.startswith("\\\n", at):
            at += 2
        char = text[at : at + 1]
        name = _NAME.match(text, at)
        if name is not None:
            self.at = name.end()
            parts.append(Parameter(name[0].replace("\\\n", ""), quoted=quoted))
        elif char == "(":
            self.substituted(parts, at, quoted=quoted)
        elif char == "{":
            from .parameters import parse_braces

            self.at = at + 1
            parse_braces(self, parts, quoted=quoted)
        elif char == "'" and not quoted:
            inside = _IN_ANSI_QUOTES.match(text, at + 1)
            end = inside.end() if inside else at + 1
            if not text.startswith("'", end):
                raise self.error("a single quote is not closed", start)
            from .quoting import decode_ansi

            append_part(parts, decode_ansi(text[at + 1 : end]))
            self.at = end + 1
        elif char == '"' and not quoted:
            self.at = at + 1
            self.double_quoted(parts)
        elif char == "[":
            self.at = at + 1
            inner: Word = []
            self.bracketed("]", inner, opener="[", quoted=True)
            parts.append(Arithmetic(inner, quoted))
        elif char in _SPECIAL_PARAMETERS:
            self.at = at + 1
            parts.append(Parameter(char, quoted=quoted))
        else:
            append_part(parts, "$" if quoted else Bare("$"))
            self.at = start + 1

    def substituted(self, parts: Word, at: int, *, quoted: bool) -> None:
        """Scan ``$((…))`` or ``$(…)``; ``at``: the offset of the first bracket."""
        inner = self.arithmetic(at)
        if inner is not None:
            parts.append(Arithmetic(inner, quoted))
            return
        self.at = at + 1
        body = self.commands(")")
        parts.append(Substitution(body, quoted, self.text[at + 1 : self.at - 1]))

    def arithmetic(self, at: int) -> Word | None:
        """Scan ``((…))`` at offset ``at``; return None, with nothing scanned, if these are nested brackets."""
        text = self.text
        if not text.startswith("((", at) or at in self.no_arithmetic:
            return None
        before, depth = self.at, self.depth
        self.at = at + 2
        parts: Word = []
        try:
            self.bracketed(")", parts, opener="(", quoted=True)
            if text.startswith(")", self.at):
                self.at += 1
                return parts
        except ParseError:
            pass
        self.wasted += self.at - at
        if self.wasted > _MAX_WASTED + len(text):
            raise self.error("too many brackets", at)
        self.at, self.depth = before, depth
        self.no_arithmetic.add(at)
        return None

    def process_substitution(self) -> ProcessSubstitution:
        """Scan ``<(…)`` or ``>(…)``."""
        direction = self.text[self.at]
        self.at += 2
        start = self.at
        body = self.commands(")")
        return ProcessSubstitution(body, direction, self.text[start : self.at - 1])

    def backquoted(self, *, quoted: bool, in_text: bool = False) -> Substitution:
        """Scan up to the next backquote and parse the unescaped text between the two as commands."""
        start = self.at
        inside = _IN_BACKQUOTES.match(self.text, start + 1)
        end = inside.end() if inside else start + 1
        if not self.text.startswith("`", end):
            raise self.error("a backquote is not closed", start)
        source = self.text[start + 1 : end]
        if "\\" in source:
            source = re.sub(r'\\([$`"\\])' if quoted else r"\\([$`\\])", r"\1", source)
        self.at = end + 1
        return Substitution(self.inner_commands(source, start + 1), quoted or in_text, source)

    def bracketed(self, closer: str, parts: Word, *, opener: str = "", quoted: bool = False, stop: str = "") -> str:
        """Scan up to and past ``closer`` or one of ``stop``, and return it. ``opener``: nests in it. ``quoted``: blanks
        and globs are text.
        """
        self.enter()
        text = self.text
        start = self.at
        level = 0
        run = ""
        while self.at < len(text):
            plain = _IN_BRACKETS.match(text, self.at)
            if plain is not None:
                run += plain[0]
                self.at = plain.end()
                continue
            char = text[self.at]
            is_process = not quoted and char in "<>" and text.startswith("(", self.at + 1)
            if is_process or char in "'\"\\$`":
                if run:
                    append_part(parts, run if quoted else Bare(run))
                    run = ""
                self.nested(parts, char, quoted=quoted)
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
            raise self.error(f"{closer} is missing", start)
        if run:
            append_part(parts, run if quoted else Bare(run))
        self.depth -= 1
        return char

    def nested(self, parts: Word, char: str, *, quoted: bool) -> None:
        """Scan a quote or an expansion inside brackets."""
        if char in "<>":
            parts.append(self.process_substitution())
        elif quoted and char == "$":
            self.dollar(parts, quoted=True)
        elif quoted and char == "`":
            parts.append(self.backquoted(quoted=True))
        else:
            self.quoted_or_expanded(parts)

    def skip_joins(self) -> None:
        """Skip joined lines."""
        while self.text.startswith("\\\n", self.at):
            self.at += 2
