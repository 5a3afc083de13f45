"""PowerShell, translated statement by statement to text for a Unix shell.

Files, programs, downloads and code that is run are translated; reading cmdlets, by a list in ``powershell.toml``, come
to nothing. Of control structures only the conditions and the blocks count, which may run or not. Everything else is a
problem of its statement, which becomes a doubt.
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN

from .cmdlets import TABLES, translate_cmdlet, translate_member, word_list
from .shell_text import ITEM, NotUnderstoodError, Scanner, Statement, Word, either, joined, quote

_DEEPEST = 30
_ENDS = ";\n|&)}"  # of a command
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", **dict.fromkeys("0abfve", "")}
_COMMENT = r"`\r?\n|<\#.*?(?:\#>|\Z)|(?<![^\s;|&(){},])\#[^\n]*"
_CHAR = r"(?:`.|[^\s;|&(){}\"'$,<>`])"
_NAME = r"\$(?:\{[^}]*\}|(?:\w+:)?\w+|[?^$])"


def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.DOTALL | re.IGNORECASE)


_BLANK = _compile(rf"(?:[ \t\r]|{_COMMENT})*")
_SPACE = _compile(rf"(?:\s|{_COMMENT})*")
_SEPARATOR = _compile(rf"(?:[\s;]|{_COMMENT})*")
_JOB = _compile(r"&(?!&)")
_SIGN = _compile(rf"{_BLANK.pattern}(&&|\|\||[,|]){_SPACE.pattern}")
_REDIRECTION = _compile(r"(?:(?<=\s)[\d*])?(>>?|<)(&\d)?")
_CALL = _compile(r"[&.](?=[\s$({\"'])[ \t]*(?=[^\s;|)}])|&(?=[^\s;|&)}])")
# A variable, or the key in a table.
_ASSIGNMENT = _compile(
    rf"(?:\[[^]\n]*\]+\s*)?(?:({_NAME})((?:\.\w+|\[[^]\n]*\])*)|[\w-]+|'[^']*'|\"[^\"]*\")[ \t]*"
    rf"((?:[-+*/%]|\?\?)?=)(?!=){_SPACE.pattern}"
)
_VALUE = _compile(r"""['"$({\[\d]|@['"({]""")
# Of an argument, a part that is no plain text.
_QUOTED = _compile(r"""['"$({]|@['"({]""")
_PLAIN = _compile(f"{_CHAR}+")
_ANY = _compile(f"{_CHAR}+|.")
# The value of a switch does not matter: `-Recurse:$true`.
_PARAMETER = _compile(rf"[-\u2013\u2014\u2015]([a-z]\w*)(?::\$(?:true|false)|:|(?!{_CHAR}))")
_TYPE = _compile(r"(?:\[[^]\n]*\]+[ \t]*)*\[([^]\n]*)\]+")
_LITERAL = _compile(r"'((?:[^']|'')*)'|@'[^\n]*\n(.*?)\n'@")
_STRING = _compile(r'"|@"[^\n]*(?=\n)')
_TEXT = _compile(r"""`(.)|"(")|[^`"$\n]+|.""")
_VARIABLE = _compile(_NAME)
_GROUP = _compile(r"[@$]?[({]")
_MEMBER = _compile(r"(?:\?\.|\.|::)(\w+)(\()?|\[[^]\n]*\]+")
_EACH = _compile(rf"foreach\s*\(\s*({_NAME})\s+in\s+")
# Keywords in front of a condition or a block; the first ones also behind one.
_KEYWORD = _compile(
    r"(?:(?:(else|elseif|catch|finally|while|until)|if|for|do|try|process|begin|end|param|(?:function|filter)\s+[\w:-]+)"
    rf"(?:\s*\[[^]\n]*\]+)*{_SPACE.pattern}(?=[({{])|(?:return|throw|exit|break|continue)\b)+"
)
_REFUSED = _compile(r"(?:switch|trap|using|class|data|enum|workflow|configuration)(?![\w-])")


class PowerShell(Scanner):
    """A translation of one text. ``depth``: of statements; ``problem``: of the present statement."""

    depth = 0
    problem = ""

    def translate(self) -> list[Statement]:
        """Return the statements of the whole text."""
        found: list[Statement] = []
        begun = 0
        try:
            while self._next(_SEPARATOR):
                begun, self.problem = self.at, ""
                code = _command(self._statement())
                found.append(Statement(code, self.text[begun : self.at].strip(), self.problem))
        except NotUnderstoodError as error:
            found.append(Statement("", self.text[begun:], str(error)))
        return found

    def _sees(self, pattern: re.Pattern[str]) -> bool:
        return pattern.match(self.text, self.at) is not None

    def _next(self, skipped: re.Pattern[str] = _BLANK) -> str:
        """Return the next character behind blanks, "" at the end."""
        self.take(skipped)
        return self.text[self.at : self.at + 1]

    def _sign(self, *signs: str) -> str:
        """Move behind an operator if it is one of ``signs``, and return it."""
        match = _SIGN.match(self.text, self.at)
        if match is None or match[1] not in signs:
            return ""
        self.at = match.end()
        return match[1]

    # -- statements ----------------------------------------------------------------------------------------------------

    def _statements(self, closing: str) -> list[Word]:
        """Translate the statements up to a bracket, and move behind it."""
        found: list[Word] = []
        while self._next(_SEPARATOR) != closing:
            found.append(self._statement())
        self.at += 1
        return found

    def _statement(self) -> Word:
        """Translate pipelines, and the operators, conditions and blocks between them."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotUnderstoodError("it is nested too deeply")
        if self._next() in ")}":
            raise NotUnderstoodError("a bracket or a string is not closed")
        if match := self.take(_REFUSED):
            raise NotUnderstoodError(f"`{match[0]}` is not understood")
        is_structure = self.take(_KEYWORD) is not None
        word = self._pipeline()
        while True:
            if sign := self._sign("&&", "||"):
                word = Word(f"{_command(word)} {sign} {_command(self._pipeline())}", runs=True)
            elif is_structure and self._has_more_blocks():
                word = Word(f"{_command(word)}; {_command(self._pipeline())}", runs=True)
            elif not self._next() or not self.take(_JOB):
                self.depth -= 1
                return word

    def _has_more_blocks(self) -> bool:
        if self._next(_SPACE) == "{":
            return True
        match = _KEYWORD.match(self.text, self.at)
        return match is not None and match[1] is not None and self.take(_KEYWORD) is not None

    def _pipeline(self) -> Word:
        """Translate an assignment, or commands and values with ``|`` between them."""
        if match := self.take(_ASSIGNMENT):
            word = _value(self._statement())
            if match[1] is None:
                # As headers are written: a credential may go out as `Authorization`.
                return word if word.is_list else Word(quote(match[0].strip(" \t\r\n='\"") + ": ") + word.code)
            code = f"({word.code})" if word.is_list else word.code
            if match[2] or match[3] != "=":
                code = UNKNOWN + (word.code.replace(" ", "") if word.is_list else word.code)
            name = match[1].strip("${}")
            if name.lower().startswith("env:"):
                return Word(f"export {name[4:].upper()}={code}", runs=True)
            self.assigned.add(_variable_name(name))
            return Word(f"{_variable_name(name)}={code}", runs=True)
        word = self._element("")
        while self._sign("|"):
            word = self._element(_command(word))
        return word

    def _element(self, piped: str) -> Word:
        """Translate a command, a block or a value behind ``piped``, the pipeline so far."""
        if self._next() in _ENDS and not self._sees(_CALL):
            return Word(piped or ":", runs=True)
        if match := self.take(_EACH):
            self.assigned.add(name := _variable_name(match[1]))
            items = _value(self._statement()).code
            self._statements(")")
            body = _command(self._statement()) if self._next(_SPACE) == "{" else ":"
            return Word(f"for {name} in {items}; do {body}; done", runs=True)
        if self._next() == "{":
            self.at += 1
            return Word(either(_commands(self._statements("}"))), runs=True)
        if self.take(_CALL) or not (self._sees(_VALUE) or self._next() in "!,+-"):
            return self._call(piped)
        word = self._expression()
        redirections = self._redirections()
        if not piped and not redirections:
            return word
        code = _command(word)
        return Word((f"{piped} | {{ cat; {code}; }}" if piped else code) + redirections, runs=True)

    def _call(self, piped: str) -> Word:
        """Translate a command behind the pipeline ``piped``."""
        name, redirections = self._argument(), self._redirections()
        arguments: list[Word] = []
        while self._next() not in _ENDS:
            items = [self._argument()]
            while self._sign(","):
                items.append(self._argument())
            arguments.append(word_list(items))
            redirections += self._redirections()
        code, problem = translate_cmdlet(name, arguments, piped)
        self.problem = self.problem or problem
        return Word(code + redirections, runs=True)

    def _redirections(self) -> str:
        code = ""
        while self._next() and (match := self.take(_REDIRECTION)):
            if not match[2] and self._next() not in _ENDS:
                target = self._argument()
                code += f" {match[1]} {target.code}" if target.text != "/dev/null" and match[1] != "<" else ""
        return code

    def _argument(self) -> Word:
        """Translate a parameter, or words, strings and variables without a blank between them."""
        self.take(_BLANK)
        if match := self.take(_PARAMETER):
            name = match[1].lower()
            return Word(quote("-" + match[1]), "-" + match[1], name, source=match[0].lower()[len(name) + 1 :])
        parts: list[Word] = []
        while True:
            if self._sees(_QUOTED) and not (parts and self.text[self.at] in "({"):
                parts.append(self._operand())
            elif match := self.take(_PLAIN):
                parts.append(Word("", re.sub(r"`(.)", r"\1", match[0])))
            else:
                break
        if not parts and self._next() not in _ENDS:
            self.take(_ANY)
        word = parts[0] if len(parts) == 1 and parts[0].code else joined(parts)
        text = word.text or ""
        return Word(UNKNOWN) if text[:1] == "@" and text[1:].isidentifier() else word  # splatting

    # -- values --------------------------------------------------------------------------------------------------------

    def _expression(self, ends: str = _ENDS) -> Word:
        """Translate an expression: a list, or an unknown value if there are other operators than commas."""
        words: list[Word] = []
        is_list = True
        while self._next() not in ends and not self._sees(_REDIRECTION) and not (words and self._next() == "{"):
            if self._sees(_VALUE):
                words.append(self._operand())
            elif not self._sign(","):
                is_list = False
                self.take(_ANY)
        return word_list(words) if is_list and words else Word(UNKNOWN + "".join(each.code for each in words))

    def _operand(self) -> Word:
        """Translate a value with its members and indexes."""
        kind = ""
        if match := self.take(_TYPE):
            kind, word = match[1].lower().removeprefix("system."), Word(UNKNOWN)
            if not self.text.startswith("::", self.at):  # a cast
                return self._operand() if self._next() and self._sees(_VALUE) else word
        elif match := self.take(_LITERAL):
            text = match[1].replace("''", "'") if match[2] is None else match[2]
            word = Word(quote(text), text)
        elif match := self.take(_STRING):
            word = self._string('"' if match[0] == '"' else '\n"@')
        elif match := self.take(_VARIABLE):
            word = self._variable(match[0])
        elif match := self.take(_GROUP):
            word = self._group(match[0])
        elif match := self.take(_PLAIN):
            word = Word(quote(match[0]), match[0])
        else:
            raise NotUnderstoodError("a bracket or a string is not closed")
        while match := self.take(_MEMBER):
            if match[2]:
                arguments: list[Word] = []
                while self._next(_SPACE) not in ("", ")"):
                    arguments.append(self._expression(_ENDS + ","))
                    if self._next() != ")":
                        self.take(_ANY)
                self._statements(")")
                word, problem = translate_member(kind, match[1].lower(), word, arguments)
                self.problem, kind = self.problem or problem, ""
            elif (match[1] or "").lower() not in ("content", "fullname", "value"):
                word = Word(UNKNOWN + word.code)
        return word

    def _group(self, opening: str) -> Word:
        """Translate brackets: an expression is its value, commands are their output, a block is a script."""
        begun = self.at
        words = self._statements(")" if opening[-1] == "(" else "}")
        if opening == "@{":
            return Word("".join(_value(each).code for each in words) + UNKNOWN)
        if opening == "{":
            return Word(UNKNOWN, block=_commands(words), source=self.text[begun : self.at - 1])
        if not any(each.runs for each in words):
            return word_list(words) if words else Word("''", "")
        return Word(f'"$({_commands(words)})"')

    def _string(self, mark: str) -> Word:
        """Translate a string with variables up to ``mark``."""
        parts: list[Word] = []
        while not self.text.startswith(mark, self.at) or (mark == '"' and self.text.startswith('""', self.at)):
            if self.text.startswith("$(", self.at):
                self.at += 2
                parts.append(self._group("$("))
            elif match := self.take(_VARIABLE):
                parts.append(self._variable(match[0]))
            elif match := self.take(_TEXT):
                parts.append(Word("", _ESCAPES.get(match[1], match[1]) if match[1] else match[2] or match[0]))
            else:
                raise NotUnderstoodError("a bracket or a string is not closed")
        self.at += len(mark)
        return joined(parts)

    def _variable(self, written: str) -> Word:
        name = written.strip("${}").lower()
        if name in ("_", "psitem"):
            return Word(f'"${{{ITEM}}}"')
        if name in TABLES["variables"]:
            code = TABLES["variables"][name]
            return Word(code, None if "$" in code else code.strip("'"))
        if name.startswith("env:"):
            return Word(f'"${{{name[4:].upper()}}}"')
        name = _variable_name(name)
        return Word(f'"${{{name}[@]}}"' if name in self.assigned else UNKNOWN)


def _command(word: Word) -> str:
    """Return a statement as a command of a shell, which prints a value."""
    return word.code if word.runs else f"printf '%s\\n' {word.code}"


def _commands(words: list[Word]) -> str:
    return "; ".join(map(_command, words))


def _value(word: Word) -> Word:
    """Return the value of a statement, of commands their output."""
    return Word(f'"$({word.code})"') if word.runs else word


def _variable_name(name: str) -> str:
    """Return the name of a shell's variable for one of PowerShell."""
    return re.sub(r"\W", "_", name.strip("${}").rpartition(":")[2].lower(), flags=re.ASCII)
