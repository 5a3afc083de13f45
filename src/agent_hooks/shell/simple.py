"""Parses simple commands: assignments, words, redirections and here-documents.

Rules: the Bash Reference Manual, "Simple Commands", "Redirections" and "Arrays".
"""

from __future__ import annotations

from .lexer import JOIN, Lexer
from .patterns import Pattern
from .syntax import Assignment, Bare, Redirect, Simple, append_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .syntax import Node, Word

SAFE = r"[^\s|&;()<>'\"\\$`#][^\s|&;()<>'\"\\$`]*+"
# Words without quotes and expansions, up to blanks or the end of the command.
_RUN = Pattern(rf"(?:{SAFE}[ \t]++)*+(?:{SAFE}(?=[\n;|&)]|\Z))?+")
_QUOTED = Pattern(r"(?:'([^']*+)'|\"([^\"\\$`]*+)\")(?=[ \t\n;|&)]|\Z)")
_PATTERN = Pattern(r"[{~\[*?]")
_AFTER_AMPERSAND = frozenset(["", "&", " ", "\n"])  # after an ``&`` that does not redirect
_BLANKS = Pattern(r"(?:[ \t]|\\\n)*")
_REDIRECT = Pattern(
    rf"([0-9](?:[0-9]|\\\n)*|\{{[A-Za-z_][A-Za-z0-9_]*(?:\[[^\]\n]*\])?\}})?"
    rf"(<{JOIN}<{JOIN}[<-]|<{JOIN}[<>&]|<(?!{JOIN}\()|>{JOIN}[>|&]|>(?!{JOIN}\()|&{JOIN}>(?:{JOIN}>)?)"
)
_MAY_REDIRECT = frozenset("<>&0123456789{")
_ASSIGNMENT = Pattern(r"([A-Za-z_](?:[A-Za-z0-9_]|\\\n)*)(\+?)=")
_SUBSCRIPT = Pattern(r"[A-Za-z_][A-Za-z0-9_]*\[")
_QUOTES = Pattern(r"\\([\s\S])|'([^']*)'|\"([^\"]*)\"")


class SimpleParser(Lexer):
    """Parses simple commands. ``found``: all of them so far, for when the rest is not grammatical; ``closer``: the
    token that ends the commands being parsed; ``pending``: the here-documents whose bodies follow at the next newline,
    with their delimiter, whether that is quoted, and whether leading tabs are removed.
    """

    __slots__ = ("closer", "found", "pending")

    def __init__(self, text: str, base: int = 0, depth: int = 0) -> None:
        super().__init__(text, base, depth)
        self.closer = ""
        self.found: list[Node] = []
        self.pending: list[tuple[Redirect, str, bool, bool]] = []

    def plain(self, words: list[str], start: int, end: int) -> Simple:
        """Parse the rest of a simple command after ``words``, which are neither quoted nor expanded."""
        text = self.text
        at = self.at
        is_whole = (
            at >= len(text) or text[at] in "\n;|)" or (text[at] == "&" and text[at + 1 : at + 2] in _AFTER_AMPERSAND)
        )
        if not is_whole or _PATTERN.search(text, start, end):
            return self.simple([[Bare(word)] for word in words], words, start, end)
        node = Simple([], [], [], self.base + start, self.base + end, words)
        self.found.append(node)
        return node

    def simple(self, words: list[Word], raw: list[str], start: int, end: int) -> Simple:
        """Parse the rest of a simple command after ``words``, which stand from ``start`` to ``end``."""
        assignments: list[Assignment] = []
        redirects: list[Redirect] = []
        text = self.text
        size = len(text)
        while (at := self.at) < size:
            char = text[at]
            if char in "\n;|)#":
                break
            if char in " \t\\" and self.blanks():
                continue
            if char in _MAY_REDIRECT and self.redirected(redirects):
                end = self.at
                continue
            if char in "&(":
                break
            if words:
                run = _RUN.match(text, at)
                if run and run.end() > at:
                    plain = run[0].split()
                    words += [[Bare(word)] for word in plain]
                    raw += plain
                    end = at + len(run[0].rstrip())
                    self.at = run.end()
                    continue
            elif self.assigned(assignments):
                end = self.at
                continue
            if not self.operand(words, raw, assignments):
                break
            end = self.at
        node = Simple(assignments, words, redirects, self.base + start, self.base + end, None, raw)
        self.found.append(node)
        return node

    def operand(self, words: list[Word], raw: list[str], assignments: list[Assignment]) -> bool:
        """Parse a word; False, with nothing parsed, if there is none."""
        text, at = self.text, self.at
        quoted = _QUOTED.match(text, at)
        if quoted is not None:
            self.at = quoted.end()
            words.append([quoted[1] or quoted[2] or ""])
        else:
            word = self.word()
            if self.at == at:
                return False
            if text.startswith("(", self.at) and (array := self.array(word)) is not None:
                assignments.append(array)
                return True
            if not word:
                return True
            words.append(word)
        raw.append(text[at : self.at])
        return True

    def assigned(self, assignments: list[Assignment]) -> bool:
        """Parse ``name=…`` or ``name[…]=…``; False, with nothing parsed, if there is none."""
        text = self.text
        start = self.at
        index: Word | None = None
        match = _SUBSCRIPT.match(text, start)
        if match is not None:
            self.at = match.end()
            index = []
            self.bracketed("]", index, opener="[")
            append = text.startswith("+", self.at)
            if not text.startswith("=", self.at + append):
                self.at = start
                return False
            name = text[start : match.end() - 1]
            self.at += 1 + append
        else:
            match = _ASSIGNMENT.match(text, start)
            if match is None:
                return False
            name = match[1].replace("\\\n", "")
            append = bool(match[2])
            self.at = match.end()
        items = self.items() if text.startswith("(", self.at) else None
        value = self.word() if items is None else []
        assignments.append(Assignment(name, value, append, index, items))
        return True

    def array(self, word: Word) -> Assignment | None:
        """Parse the ``(…)`` after ``name=`` in an operand of ``declare`` and its like."""
        if len(word) != 1 or type(part := word[0]) is not Bare:
            return None
        match = _ASSIGNMENT.match(part.text)
        if match is None or match.end() < len(part.text):
            return None
        return Assignment(match[1], [], bool(match[2]), None, self.items())

    def items(self) -> list[Word]:
        """Parse the elements of an array with its brackets."""
        start = self.at
        self.at += 1
        items: list[Word] = []
        while True:
            self.skip_lines()
            if self.text.startswith(")", self.at):
                self.at += 1
                return items
            at = self.at
            word: Word = []
            if self.text.startswith("[", at):
                self.at += 1
                word.append(Bare("["))
                self.bracketed("]", word, opener="[")
                append_part(word, Bare("]"))
            for part in self.word():
                append_part(word, part)
            if self.at == at:
                raise self.error(") is missing", start)
            items.append(word)

    def is_redirect(self) -> bool:
        """Whether a redirection starts here."""
        return self.text[self.at] in _MAY_REDIRECT and _REDIRECT.match(self.text, self.at) is not None

    def starts_assignment(self) -> bool:
        """Whether an assignment starts here."""
        if _SUBSCRIPT.match(self.text, self.at) is None:
            return _ASSIGNMENT.match(self.text, self.at) is not None
        at = self.at
        is_assignment = self.assigned([])
        self.at = at
        return is_assignment

    def redirected(self, redirects: list[Redirect]) -> bool:
        """Parse a redirection; False, with nothing parsed, if there is none."""
        text = self.text
        match = _REDIRECT.match(text, self.at)
        if match is None:
            return False
        operator = match[2].replace("\\\n", "")
        self.at = match.end()
        self.blanks()
        fd: int | str | None = None
        if match[1]:
            descriptor = match[1].replace("\\\n", "")
            fd = descriptor[1:-1] if descriptor[0] == "{" else int(descriptor[:9])
        start = self.at
        target = self.word()
        if self.at == start:
            raise self.error(f"{operator} has no target", start)
        redirect = Redirect(operator, target, fd)
        if operator in ("<<", "<<-"):
            delimiter, is_quoted = _delimiter(target, text[start : self.at])
            redirect.operator, redirect.target = "<<", []
            self.pending.append((redirect, delimiter, is_quoted, operator == "<<-"))
        redirects.append(redirect)
        return True

    def blanks(self) -> bool:
        """Skip blanks and joined lines; return whether there were any."""
        if self.text[self.at : self.at + 1] not in (" ", "\t", "\\"):  # nearly always
            return False
        match = _BLANKS.match(self.text, self.at)
        before, self.at = self.at, match.end() if match else self.at
        return self.at > before

    def skip_lines(self) -> None:
        """Skip blanks, comments, newlines and the bodies of here-documents."""
        text = self.text
        while True:
            char = text[self.at : self.at + 1]
            if char in (" ", "\t", "\\"):
                if not self.blanks():
                    return
            elif char == "#":
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif char == "\n":
                self.at += 1
                if self.pending:
                    self.bodies()
            else:
                return

    def bodies(self) -> None:
        """Parse the bodies of the here-documents that the line before announced."""
        pending, self.pending = self.pending, []
        for redirect, delimiter, is_quoted, strips in pending:
            start = self.at
            body = self.body(delimiter, is_quoted=is_quoted, strips=strips)
            is_literal = is_quoted or not ("$" in body or "`" in body or "\\" in body)
            redirect.target = [body] if is_literal else self.expandable(body, start)

    def body(self, delimiter: str, *, is_quoted: bool, strips: bool) -> str:
        """Scan lines up to and past the delimiter."""
        lines: list[str] = []
        while self.at < len(self.text):
            start = self.at
            line = self.line()
            if strips:
                stripped = line.lstrip("\t")
                start += len(line) - len(stripped)
                line = stripped
            while not is_quoted and _is_joined(line):
                following = self.line()
                line = line[:-2] + following
                start = -1
                if not following:
                    break
            if line.rstrip("\n") == delimiter:
                break
            if self.closer and start >= 0 and line.startswith(delimiter) and self.closer in line[len(delimiter) :]:
                self.at = start + len(delimiter)  # bash accepts `E)` as the end in `$(cat <<E`
                break
            lines.append(line)
        return "".join(lines)

    def line(self) -> str:
        """Scan a line with its newline."""
        end = self.text.find("\n", self.at) + 1 or len(self.text)
        line = self.text[self.at : end]
        self.at = end
        return line

    def name(self) -> Word:
        """Scan the name of a command. In a subscript, blanks are text."""
        match = _SUBSCRIPT.match(self.text, self.at)
        if match is None:
            return self.word(bang=True)
        word: Word = [Bare(match[0])]
        self.at = match.end()
        self.bracketed("]", word, opener="[")
        for part in (Bare("]"), *self.word()):
            append_part(word, part)
        return word


def _is_joined(line: str) -> bool:
    """Whether an odd number of backslashes precedes the newline."""
    return line.endswith("\\\n") and (len(line) - len(line[:-1].rstrip("\\"))) % 2 == 0


def _delimiter(target: Word, raw: str) -> tuple[str, bool]:
    """Return the line that ends a here-document, and whether the delimiter is quoted."""
    if all(type(part) is Bare for part in target) and "\\" not in raw:
        return raw, False
    if all(isinstance(part, (str, Bare)) for part in target):
        return unquoted(target), any(isinstance(part, str) for part in target)
    # Nothing is expanded: `<<$(a)` ends at the line `$(a)`. Quotes are removed.
    is_quoted = any(char in raw for char in "'\"\\")
    return _QUOTES.sub(lambda match: match[match.lastindex or 0], raw), is_quoted


def unquoted(word: Word) -> str:
    """Return the literal text of a word."""
    return "".join(part if isinstance(part, str) else part.text for part in word if isinstance(part, (str, Bare)))
