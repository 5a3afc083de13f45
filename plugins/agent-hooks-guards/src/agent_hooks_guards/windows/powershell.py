"""PowerShell, translated statement by statement to text for a Unix shell.

Files, programs, downloads and code that is run are translated; reading cmdlets, by a list in ``powershell.toml``, come
to nothing. Everything else is a problem of its statement, which becomes a doubt.
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN

from .cmdlets import Word, translate_cmdlet, word_list
from .powershell_values import LINES, Values, variable_name
from .shell_text import NotUnderstoodError, Statement, behind, either, quote, unknown

_KEYWORD = re.compile(r"[a-zA-Z]+(?![\w-])")
_CONDITIONS = frozenset(("if", "elseif", "while", "until", "for"))
_BLOCKS = frozenset(("else", "do", "try", "catch", "finally", "begin", "process", "end"))
_RETURNS = frozenset(("return", "throw", "exit", "break", "continue"))
_REFUSED = frozenset(("switch", "trap", "using", "class", "data", "enum", "workflow", "configuration"))
_FOREACH = re.compile(r"\(\s*\$(\w+)\s+in\b", re.IGNORECASE)
_ASSIGNMENT = re.compile(r"(?:\[[\w.\[\]]+\]\s*)?\$(?:\{([^}]*)\}|((?:\w+:)?\w+))\s*([-+*/%]|\?\?)?=(?!=)")
_REDIRECTION = re.compile(r"[\d*]?(>>?)(&\d)?")
_PARAMETER = re.compile(r"[-\u2013\u2014\u2015]([a-zA-Z]\w*)(:|(?![^\s;|)},'\"$(]))")


class PowerShell(Values):
    """A translation of one text. ``functions``: those that it defines."""

    functions: set[str]

    def translate(self) -> list[Statement]:
        """Return the statements of the whole text."""
        self.functions = set()
        found = []
        while self.skip(LINES + ";"):
            begun, self.problem = self.at, ""
            try:
                code = self._statement(begun)
            except NotUnderstoodError as error:
                found.append(Statement("", self.text[begun:], str(error)))
                break
            found.append(Statement(code, self.text[begun : self.at].strip(), self.problem))
        return found

    def translate_statements(self, closing: str) -> str:
        """Translate up to the bracket ``closing``, which is consumed."""
        self.enter()
        found = []
        while (char := self.skip(LINES + ";")) and char != closing:
            found.append(self._statement(self.at))
        if not char:
            raise NotUnderstoodError("a bracket is not closed")
        self.at += 1
        self.depth -= 1
        return "; ".join(each for each in found if each)

    def _statement(self, begun: int) -> str:
        match = _KEYWORD.match(self.text, begun)
        code = self._control(match[0].lower(), match.end()) if match else None
        if code is None:
            code = self.translate_pipeline()
            while self.text.startswith(("&&", "||"), self.at):
                operator = self.text[self.at : self.at + 2]
                self.at += 2
                self.skip(LINES)
                code = f"{code} {operator} {self.translate_pipeline()}"
            if self.text.startswith("&", self.at):
                self.at += 1
        if self.at == begun:
            raise NotUnderstoodError("it cannot be parsed")
        return code

    def _control(self, keyword: str, end: int) -> str | None:
        """Translate a control structure; its blocks may run or not. None if ``keyword`` is none of one."""
        if keyword in _REFUSED:
            raise NotUnderstoodError(f"`{keyword}` is not understood")
        begun, self.at = self.at, end
        following = self.skip(LINES)
        if keyword in _CONDITIONS and following == "(":
            self.at += 1
            condition = self.translate_statements(")")
            return f"{condition or ':'}; {self._block()}"
        if keyword in _BLOCKS:
            while keyword == "catch" and self.skip(LINES) == "[":
                self.at = self.text.find("]", self.at) + 1 or len(self.text)
            if self.skip(LINES) == "{":
                return self._block()
        if keyword == "foreach" and (match := _FOREACH.match(self.text, self.at)):
            self.at = match.end()
            name = variable_name(match[1])
            self.assigned.add(name)
            values = self.value().code if self.is_value() else f'"$({self.translate_pipeline()})"'
            self.at += self.skip(LINES) == ")"
            return f"for {name} in {values}; do {self._block()}; done"
        if keyword in ("function", "filter"):
            self.functions.add(self.bareword().lower())
            if self.skip(LINES) == "(":
                self._skip_parameters()
            return self._block()
        if keyword == "param" and following == "(":
            self._skip_parameters()
            return ":"
        if keyword in _RETURNS:
            self.at = end
            return ":" if self.skip() in ("", ";", "}", "\n") else self.translate_pipeline()
        self.at = begun
        return None

    def _block(self) -> str:
        if self.skip(LINES) != "{":
            raise NotUnderstoodError("it cannot be parsed")
        self.at += 1
        return either(self.translate_statements("}"))

    def _skip_parameters(self) -> None:
        """Skip the parameters of a function: their values are not known."""
        problem = self.problem
        self.at += 1
        self.translate_statements(")")
        self.problem = problem

    # -- pipelines -----------------------------------------------------------------------------------------------------

    def translate_pipeline(self) -> str:
        """Translate an assignment, or commands and values with ``|`` between them."""
        if match := _ASSIGNMENT.match(self.text, self.at):
            return self._assignment(match)
        code = self._element("")
        while self.skip() == "|" and not self.text.startswith("||", self.at):
            self.at += 1
            self.skip(LINES)
            code = self._element(code)
        return code

    def _assignment(self, match: re.Match[str]) -> str:
        begun = self.at = match.end()
        name = match[1] or match[2]
        code = ""
        if self.skip(LINES) and self.is_value():
            begun, word = self.at, self.value()
            code = unknown(word.code.replace(" ", "")) if word.is_list else word.code
        if not code or self.skip() == "|":
            self.at = begun
            self.skip(LINES)
            code = f'"$({self.translate_pipeline()})"'
        if match[3]:
            code = unknown(code)
        if name.lower().startswith("env:"):
            return f"export {name[4:].upper()}={code}"
        self.assigned.add(variable_name(name))
        return f"{variable_name(name)}={code}"

    def _element(self, piped: str) -> str:
        """Translate a command or a value behind ``piped``, the pipeline so far."""
        char = self.skip()
        if not char or char in ";|)}\n":
            return piped
        if char == "&" or (char == "." and self.text[self.at + 1 : self.at + 2] in (" ", "$", "{", "(", "'", '"')):
            self.at += 1
            return self._command(self.operand() if self.is_value() else self._argument(), piped)
        if not self.is_value():
            return self._command(self._argument(), piped)
        code = f"printf '%s\\n' {self.value().code}"
        while self.skip() and (match := _REDIRECTION.match(self.text, self.at)):
            code += self._redirection(match)
        return f"{piped} | {{ cat; {code}; }}" if piped else code

    def _command(self, name: Word, piped: str) -> str:
        words: list[Word] = []
        redirections = ""
        while (char := self.skip()) and char not in ";|)}&\n":
            begun = self.at
            if match := _REDIRECTION.match(self.text, self.at):
                redirections += self._redirection(match)
                continue
            items = [self._argument()]
            while self.skip() == ",":
                self.at += 1
                self.skip(LINES)
                items.append(self._argument())
            words.append(word_list(items))
            if self.at == begun:
                raise NotUnderstoodError("it cannot be parsed")
        code, problem = translate_cmdlet(name, words, piped, self.functions)
        self.problem = self.problem or problem
        return code + redirections

    def _redirection(self, match: re.Match[str]) -> str:
        self.at = match.end()
        if match[2]:
            return ""
        self.skip()
        target = self._argument()
        return "" if target.text == "/dev/null" else f" {match[1]} {target.code}"

    def _argument(self) -> Word:
        """Translate an argument: a parameter, or barewords, strings and variables without a blank between them."""
        char = self.skip()
        if match := _PARAMETER.match(self.text, self.at):
            self.at = match.end()
            if match[2] and self.skip() not in ("", ";", "\n", "|"):
                value = self._argument()
                return Word(value.code, value.text, parameter=match[1].lower(), has_value=True)
            return Word(quote("-" + match[1]), "-" + match[1], parameter=match[1].lower())
        code, text = "", ""
        is_known = True
        while self.at < len(self.text):
            char = self.text[self.at]
            following = self.text[self.at + 1 : self.at + 2]
            if char in "({" and code:
                break
            if char in "$'\"({" or (char == "@" and following in ("(", "{", "'", '"')):
                word = self.operand()
                if word.block is not None:
                    return word
                code, text = code + word.code, text + (word.text or "")
                is_known = is_known and word.text is not None
            elif char == "@" and not code and following.isalpha():  # splatting
                self.bareword()
                return Word(UNKNOWN)
            elif piece := self.bareword():
                code, text = behind(code, piece), text + piece
            else:
                break
        return Word(code or "''", text if is_known else None)
