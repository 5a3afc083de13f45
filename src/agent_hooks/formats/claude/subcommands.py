"""The commands that a shell command line consists of, as far as its text says.

For matching, not for safety: what a shell makes of variables, aliases and `eval` cannot be known from a text.
"""

from __future__ import annotations

import re

from agent_hooks.model.values import Value

_MAX_DEPTH = 20
_MAX_LENGTH = 10_000  # characters; Claude Code reads no longer ones either
_REDIRECTION = re.compile(r"&>>?|<<<|<<-?|[<>]&|>>|>\||<>|[<>]")
_DESCRIPTOR = re.compile(r"\d+|\{[A-Za-z_][A-Za-z_0-9]*\}")  # the 2 of 2>&1, the {log} of {log}>file
_VARIABLE = re.compile(r"\$[A-Za-z_0-9@*#?!$-]")


class CommandLine(Value):
    """A command line, taken apart.

    ``commands``: the words of each command, as they are written, quotes included, without redirections; those in
    ``$()``, backticks and subshells are commands of their own. ``expands``: whether there are variables or
    substitutions. ``is_clear``: whether all of it could be read.
    """

    commands: tuple[tuple[str, ...], ...] = ()
    expands: bool = False
    is_clear: bool = True


def read_command_line(text: str) -> CommandLine:
    """Return the commands of ``text``, in the order in which they end; what cannot be read, or is
    longer than 10,000 characters, makes it unclear.
    """
    if len(text) > _MAX_LENGTH:
        return CommandLine(is_clear=False)
    reader = _Reader(text)
    try:
        reader.commands("")
        reader.heredoc_bodies()
    except _UnclearError:
        reader.is_clear = False
    return CommandLine(commands=tuple(reader.found), expands=reader.expands, is_clear=reader.is_clear)


class _UnclearError(Exception):
    """Raised where the text ends in the middle of something, or is nested too deeply."""


class _Reader:
    """Reads a text once, from its beginning to its end."""

    def __init__(self, text: str, depth: int = 0) -> None:
        self.text = text
        self.at = 0
        self.depth = depth
        self.found: list[tuple[str, ...]] = []
        self.expands = False
        self.is_clear = True
        self.heredocs: list[tuple[str, bool, bool]] = []  # the last line, whether its body is literal, and indented

    def commands(self, end: str) -> None:
        """Read commands up to ``end``, a bracket or a backtick, or to the end of the text."""
        words: list[str] = []
        while self.at < len(self.text):
            char = self.text[self.at]
            if end and char == end:
                self.at += 1
                self._finish(words)
                return
            if char in " \t\r":
                self.at += 1
            elif self.text.startswith("\\\n", self.at):
                self.at += 2
            elif char == "#":
                line_end = self.text.find("\n", self.at)
                self.at = len(self.text) if line_end < 0 else line_end
            elif char == "\n":
                self.at += 1
                self._finish(words)
                self.heredoc_bodies()
            elif self._is_redirection():
                self._redirection()
            elif char in ";&|)":
                self.at += 1
                self._finish(words)
            elif char == "(":
                self.at += 1
                self._finish(words)
                self._inside(")")
            else:
                word = self._word(end)
                if not (self._is_redirection() and _DESCRIPTOR.fullmatch(word)):
                    words.append(word)
        if end:
            raise _UnclearError
        self._finish(words)

    def heredoc_bodies(self) -> None:
        """Read the here-documents that the line before has announced."""
        for last_line, is_literal, is_indented in self.heredocs:
            body: list[str] = []
            while True:
                if self.at >= len(self.text):
                    raise _UnclearError
                line_end = self.text.find("\n", self.at)
                line_end = len(self.text) if line_end < 0 else line_end
                line = self.text[self.at : line_end].rstrip("\r")
                self.at = line_end + 1
                if (line.lstrip("\t") if is_indented else line) == last_line:
                    break
                body.append(line)
            if not is_literal:
                inner = _Reader("\n".join(body), self.depth)
                inner.expansions("")
                self.found += inner.found
                self.expands = self.expands or inner.expands
        self.heredocs = []

    def expansions(self, end: str) -> None:
        """Read text in which only ``$``, backticks and backslashes mean something, up to ``end`` or the end."""
        while self.at < len(self.text):
            char = self.text[self.at]
            if end and char == end:
                self.at += 1
                return
            if char == "\\":
                self.at += 2
            elif char == "$":
                self._dollar(in_quotes=True)
            elif char == "`":
                self._backtick()
            else:
                self.at += 1
        if end:
            raise _UnclearError

    def _finish(self, words: list[str]) -> None:
        if words:
            self.found.append(tuple(words))
            words.clear()

    def _inside(self, end: str) -> None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise _UnclearError
        self.commands(end)
        self.depth -= 1

    def _is_redirection(self) -> bool:
        is_substitution = self.text.startswith(("<(", ">("), self.at)
        return not is_substitution and _REDIRECTION.match(self.text, self.at) is not None

    def _redirection(self) -> None:
        operator = _REDIRECTION.match(self.text, self.at)
        assert operator is not None
        self.at = operator.end()
        while self.text.startswith((" ", "\t"), self.at):
            self.at += 1
        target = self._word("")
        if operator.group() in ("<<", "<<-"):
            plain = target.replace("'", "").replace('"', "").replace("\\", "")
            self.heredocs.append((plain, plain != target, operator.group() == "<<-"))

    def _word(self, end: str) -> str:
        start = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if self.text.startswith(("<(", ">("), self.at):
                self.at += 2
                self._inside(")")
            elif char == end or char in " \t\r\n;&|()<>":
                break
            elif char == "\\":
                self.at += 2
            elif char == "'":
                self._quoted("'")
            elif char == '"':
                self.at += 1
                self.expansions('"')
            elif char == "`":
                self._backtick()
            elif char == "$":
                self._dollar()
            else:
                self.at += 1
        return self.text[start : self.at].replace("\\\n", "")

    def _quoted(self, quote: str) -> None:
        close = self.text.find(quote, self.at + 1)
        if close < 0:
            raise _UnclearError
        self.at = close + 1

    def _backtick(self) -> None:
        self.at += 1
        self.expands = True
        self._inside("`")

    def _dollar(self, *, in_quotes: bool = False) -> None:
        if self.text.startswith("$((", self.at):
            self._arithmetic()
        elif self.text.startswith("$(", self.at):
            self.at += 2
            self.expands = True
            self._inside(")")
        elif self.text.startswith("${", self.at):
            self.at += 2
            self.expands = True
            self.depth += 1
            if self.depth > _MAX_DEPTH:
                raise _UnclearError
            self.expansions("}")
            self.depth -= 1
        elif self.text.startswith("$'", self.at) and not in_quotes:
            self.at += 2
            while not self.text.startswith("'", self.at):
                if self.at >= len(self.text):
                    raise _UnclearError
                self.at += 2 if self.text.startswith("\\", self.at) else 1
            self.at += 1
        elif _VARIABLE.match(self.text, self.at):
            self.at += 2
            self.expands = True
        else:
            self.at += 1

    def _arithmetic(self) -> None:
        """Skip ``$((…))``: numbers are no commands. A substitution in it makes the rest unclear."""
        self.expands = True
        end = self.text.find("))", self.at)
        if end < 0 or "$(" in self.text[self.at + 3 : end] or "`" in self.text[self.at : end]:
            raise _UnclearError
        self.at = end + 2
