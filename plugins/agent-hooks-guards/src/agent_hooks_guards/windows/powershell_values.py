"""Values of PowerShell as words of a Unix shell: strings, variables, members, brackets."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN

from .cmdlets import Word, table, translate_member, word_list
from .shell_text import ITEM, NotUnderstoodError, behind, quote, unknown

_DEEPEST = 30
BLANKS = " \t\r"
LINES = BLANKS + "\n"
_WORD_ENDS = " \t\r\n;|&(){}\"'$,<>"
_VARIABLE = re.compile(r"\$(?:\{([^}]*)\}|((?:\w+:)?\w+|[?^$]))")
_OPERATOR = re.compile(r"-[a-zA-Z]+(?![\w-])|\.\.|\+\+|--|[-+*/%!=,?:]+")
_NUMBER = re.compile(r"\d[\w.]*")
_TYPE = re.compile(r"\[([\w.]+)[^\]]*\]+")
_MEMBER = re.compile(r"(?:\?\.|\.|::)(\w+)|\[")
_SINGLE = re.compile(r"'((?:[^']|'')*)'?")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", **dict.fromkeys("0abfve", "")}


class Values:
    """A position in a text, and the values that stand there. ``problem``: of the present statement."""

    def __init__(self, text: str, assigned: set[str] | None = None) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.problem = ""
        self.assigned: set[str] = set() if assigned is None else assigned

    def translate_statements(self, closing: str) -> str:
        """Translate up to the bracket ``closing``, which is consumed."""
        raise NotImplementedError

    def translate_pipeline(self) -> str:
        """Translate a pipeline."""
        raise NotImplementedError

    def skip(self, blanks: str = BLANKS) -> str:
        """Skip blanks and comments; return the next character, "" at the end."""
        text = self.text
        while self.at < len(text):
            char = text[self.at]
            if char in blanks:
                self.at += 1
            elif char == "`" and text[self.at + 1 : self.at + 2] in ("\n", "\r"):
                self.at += 2
            elif text.startswith("<#", self.at) or char == "#":
                end = text.find("#>" if char == "<" else "\n", self.at)
                self.at = len(text) if end < 0 else end + 2 * (char == "<")
            else:
                return char
        return ""

    def enter(self) -> None:
        """Count a bracket that opens."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotUnderstoodError("it is nested too deeply")

    def is_value(self) -> bool:
        """Whether a value stands here, and not the name of a command."""
        char = self.skip()
        return bool(char) and (char in "$'\"([@{!,+-" or char.isdigit())

    def value(self) -> Word:
        """Translate operands and operators up to the end of the expression."""
        words = self._operands()
        return word_list(words) if words else Word(UNKNOWN)

    def _operands(self) -> list[Word]:
        """Return the items of a list, or one word with an unknown value if there are other operators than commas."""
        words: list[Word] = []
        is_list = True
        while (char := self.skip()) and char not in ";|)}]\n&<>":
            if match := _OPERATOR.match(self.text, self.at):
                self.at = match.end()
                is_list = is_list and match[0] == ","
                self.skip(BLANKS if match[0] in ("++", "--") else LINES)
                continue
            begun = self.at
            words.append(self.operand())
            if self.at == begun:
                self.bareword()
                self.at = max(self.at, begun + 1)
                is_list = False
        return words if is_list else [Word(unknown(*(each.code for each in words)))]

    def operand(self) -> Word:
        """Translate a value with its members and indexes."""
        char = self.skip()
        following = self.text[self.at + 1 : self.at + 2]
        kind = ""
        if char == "'" and (match := _SINGLE.match(self.text, self.at)):
            self.at = match.end()
            text = match[1].replace("''", "'")
            word = Word(quote(text), text)
        elif char == '"':
            word = self._string('"')
        elif char == "@" and following in ("'", '"'):
            word = self._here_string(following)
        elif char == "@" and following == "{":
            word = self._hashtable()
        elif char == "(" or (char and char in "@$" and following == "("):
            self.at += 1 if char == "(" else 2
            word = self._group()
        elif char == "{":
            begun = self.at = self.at + 1
            word = Word(UNKNOWN, block=self.translate_statements("}"))
            word.source = self.text[begun : self.at - 1]
        elif match := _TYPE.match(self.text, self.at):
            self.at = match.end()
            kind = match[1].lower().removeprefix("system.")
            if not self.text.startswith("::", self.at):  # a cast
                return self.operand() if self.is_value() else Word(UNKNOWN)
            word = Word(UNKNOWN)
        elif char == "$":
            word = self._variable()
        elif match := _NUMBER.match(self.text, self.at):
            self.at = match.end()
            word = Word(quote(match[0]), match[0])
        else:
            return Word(UNKNOWN)
        return self._with_members(word, kind)

    def _with_members(self, word: Word, kind: str) -> Word:
        while match := _MEMBER.match(self.text, self.at):
            self.at = match.end()
            if not match[1]:
                word = Word(unknown(word.code, self.value().code))
                self.at += 1
                continue
            arguments = None
            if self.text.startswith("(", self.at):
                self.at += 1
                self.skip(LINES)
                arguments = self._operands()
                self.skip(LINES)
                self.at += 1
            word, problem = translate_member(kind, match[1].lower(), word, arguments)
            self.problem = self.problem or problem
            kind = "" if arguments is not None else kind
        return word

    def _group(self) -> Word:
        """Translate the inside of brackets: an expression is its value, commands are their output."""
        begun, problem = self.at, self.problem
        if self.skip(LINES) == ")":
            self.at += 1
            return Word("''", "")
        if self.is_value():
            self.enter()
            word = self.value()
            self.depth -= 1
            if self.skip(LINES) == ")":
                self.at += 1
                return word
            self.at, self.problem = begun, problem
        return Word(f'"$({self.translate_statements(")")})"')

    def _hashtable(self) -> Word:
        """Translate a table, as headers are written: a credential may go out as ``Authorization``."""
        pairs = []
        self.at += 2
        while (char := self.skip(LINES + ";")) and char != "}":
            equals = self.text.find("=", self.at)
            if equals < 0:
                break
            key = self.text[self.at : equals].strip(LINES + "'\"")
            self.at = equals + 1
            value = self.value() if self.is_value() else Word(f'"$({self.translate_pipeline()})"')
            pairs.append(value.code if value.is_list else quote(f"{key}: ") + value.code)
        self.at += 1
        return Word("".join(pairs) + UNKNOWN)

    def _here_string(self, mark: str) -> Word:
        end = self.text.find(f"\n{mark}@", self.at)
        start = self.text.find("\n", self.at) + 1
        if end < 0:
            raise NotUnderstoodError("a string is not closed")
        inside = self.text[start : max(start, end)]
        self.at = end + 3
        if mark == "'":
            return Word(quote(inside), inside)
        inner = type(self)(inside, self.assigned)
        word = inner._string("")
        self.problem = self.problem or inner.problem
        return word

    def _string(self, mark: str) -> Word:
        """Translate a string in which variables and ``$(…)`` are replaced, up to ``mark``."""
        self.at += len(mark)
        text = self.text
        code, plain = "", ""
        while self.at < len(text):
            char = text[self.at]
            if char == mark:
                if not text.startswith(mark, self.at + 1):
                    break
                self.at += 1
            elif char == "`":
                self.at += 1
                char = text[self.at : self.at + 1]
                char = _ESCAPES.get(char, char)
            elif char == "$" and (text.startswith("(", self.at + 1) or _VARIABLE.match(text, self.at)):
                code = behind(code, plain) + self._embedded()
                plain = ""
                continue
            plain += char
            self.at += 1
        self.at += 1
        return Word(behind(code, plain), None if code else plain)

    def _embedded(self) -> str:
        if not self.text.startswith("(", self.at + 1):
            return self._variable().code
        self.at += 2
        return self._group().code

    def _variable(self) -> Word:
        match = _VARIABLE.match(self.text, self.at)
        if match is None:
            self.at += 1
            return Word(UNKNOWN)
        self.at = match.end()
        name = (match[1] or match[2]).lower()
        if name in ("_", "psitem"):
            return Word(f'"${{{ITEM}}}"')
        if name in table("variables"):
            code = table("variables")[name]
            return Word(code, None if "$" in code else code.strip("'"))
        if name.startswith("env:"):
            return Word(f'"${{{name[4:].upper()}}}"')
        name = variable_name(name)
        return Word(f'"${{{name}}}"' if name in self.assigned else UNKNOWN)

    def bareword(self) -> str:
        """Consume and return a word without quotes."""
        found = ""
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "`":
                self.at += 1
                char = self.text[self.at : self.at + 1]
            elif char in _WORD_ENDS:
                break
            found += char
            self.at += 1
        return found


def variable_name(name: str) -> str:
    """Return the name of a shell's variable for one of PowerShell."""
    return re.sub(r"\W", "_", name.rpartition(":")[2].lower(), flags=re.ASCII)
