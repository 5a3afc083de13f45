"""Windows' cmd, translated line by line to text for a Unix shell."""

from __future__ import annotations

import os
import re

from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import UNKNOWN

from .shell_text import NotUnderstoodError, Statement, behind, either, program_name, quote

_DEEPEST = 20
_OPERATOR = re.compile(r"&&|\|\||[&|]")
_REDIRECTION = re.compile(r"([012]?)(>>?|<)(&[012])?")
_VARIABLE = re.compile(r"%%?~?[a-zA-Z](?![\w%:])|%~?[\d*]|%([^%\s:=]+)(:[^%\n]*)?%|!([^!\s:=]+)(:[^!\n]*)?!")
_OPERAND = r'(?:"[^"]*"|[^\s"=()]+)'
_IF = re.compile(
    rf"if\s+(?:/i\s+)?(?:not\s+)?(?:(?:exist|defined|errorlevel)\s+{_OPERAND}"
    rf"|{_OPERAND}?\s*(?:==|\s(?:equ|neq|lss|leq|gtr|geq)\s)\s*{_OPERAND}?)\s*",
    re.IGNORECASE,
)
_FOR = re.compile(r"for\s+(?:/\w\s+)?(?:[^%\n]*?\s)?%%?([a-z])\s+in\s*\(([^)]*)\)\s*do\s+", re.IGNORECASE)
_CALL = re.compile(r'(?:start\s+(?:"[^"]*"\s+)?(?:/(?:d\s+)?\S+\s+)*|call\s+(?!:))(?=\S)', re.IGNORECASE)
_COMMENT = re.compile(r"(?:::?|rem(?=\s|$))[^\n]*", re.IGNORECASE)
_SET = re.compile(r'set\s+(/[ap]\s+)?"?(\w+)=([^"\n]*)"?$', re.IGNORECASE)
_SWITCH = re.compile(r"'/[\w:+-]{1,6}'")
_BUILT_IN = re.compile(r"([a-z]+)(?=[/\\.:\s]|$)", re.IGNORECASE)


class Cmd:
    """A translation of one text."""

    def __init__(self, text: str, assigned: set[str] | None = None) -> None:
        # A caret at the end of a line continues it; other carets matter only before a special character.
        text = text.replace("\r", "").replace("^\n", "")
        self.text = re.sub(r"\^(?=[a-zA-Z])", "", text)
        self.at = 0
        self.depth = self.blocks = 0
        self.assigned: set[str] = set() if assigned is None else assigned
        tables = load_tables(os.path.dirname(os.path.abspath(__file__)))["cmd"]
        self.variables = tables["variables"]
        self.commands = {**dict.fromkeys(tables["nothing"].split(), ""), **tables["commands"]}

    def translate(self) -> list[Statement]:
        """Return the statements of the whole text."""
        found = []
        while self.at < len(self.text):
            begun = self.at
            try:
                code = self._line()
            except NotUnderstoodError as error:
                found.append(Statement("", self.text[begun:], str(error)))
                break
            found.append(Statement(code, self.text[begun : self.at].strip()))
            self.at = max(self.at, begun + 1)
        return found

    def _line(self) -> str:
        """Translate commands and the operators between them, up to the end of the line or a closing bracket."""
        self.depth += 1
        if self.depth > _DEEPEST:
            raise NotUnderstoodError("it is nested too deeply")
        code = self._command()
        while match := _OPERATOR.match(self.text, self.at):
            self.at = match.end()
            code += f" {match[0] if match[0] != '&' else ';'} {self._command() or ':'}"
        self.depth -= 1
        return code

    def _command(self) -> str:
        while self.text[self.at : self.at + 1] in (" ", "\t", "@", ",", ";", "="):
            self.at += 1
        if self.text.startswith("(", self.at):
            return self._block()
        if match := _COMMENT.match(self.text, self.at):
            self.at = match.end()
            return ":"
        if match := _FOR.match(self.text, self.at):
            return self._for(match)
        if match := _IF.match(self.text, self.at):
            self.at = match.end()
            code = either(self._command())
            if match := re.compile(r"\s*else\b", re.IGNORECASE).match(self.text, self.at):
                self.at = match.end()
                code += f"; {either(self._command())}"
            return code
        if match := _CALL.match(self.text, self.at):
            self.at = match.end()
            return self._command()
        return self._simple()

    def _block(self) -> str:
        self.at += 1
        self.blocks += 1
        lines = []
        while self.at < len(self.text) and self.text[self.at] != ")":
            begun = self.at
            lines.append(self._line())
            self.at += self.text.startswith("\n", self.at) or self.at == begun
        self.at += 1
        self.blocks -= 1
        return f"{{ {'; '.join(filter(None, lines)) or ':'}; }}"

    def _for(self, match: re.Match[str]) -> str:
        self.at = match.end()
        name = f"for_{match[1]}"
        self.assigned.add(name)
        values = match[2].strip()
        if values[:1] in ("'", "`"):
            inner = Cmd(values.strip("'`"), self.assigned)
            values = f'"$({"; ".join(each.code for each in inner.translate())})"'
        else:
            values = " ".join(self._words(values)[0])
        return f"for {name} in {values or UNKNOWN}; do {self._command() or ':'}; done"

    def _simple(self) -> str:
        """Translate one command with its arguments and redirections."""
        begun = self.at
        quoted = False
        opened = 0
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == '"':
                quoted = not quoted
            elif char == "\n" or (not quoted and char in "&|" and self.text[self.at - 1] not in "<>"):
                break
            elif char == "^" and not quoted:
                self.at += 1
            elif char in "()" and not quoted:
                opened += 1 if char == "(" else -1
                if opened < 0 and self.blocks:
                    break
            self.at += 1
        text = self.text[begun : self.at].strip()
        if match := _SET.match(text):
            self.assigned.add(match[2].lower())
            value = UNKNOWN if match[1] else "".join(self._words(match[3].replace(" ", "\xa0"))[0]).replace("\xa0", " ")
            return f"{match[2].lower()}={value}"
        match = _BUILT_IN.match(text.replace('"', ""))
        if match and match[1].lower() in self.commands:
            return self._built_in(match[1].lower(), text.replace('"', "", 2 * (text[:1] == '"'))[match.end() :])
        words, redirections = self._words(text)
        return " ".join((*words, *redirections))

    def _built_in(self, name: str, rest: str) -> str:
        """Translate a built-in command; its switches may stand against its name and each other, as in ``rd/s/q``."""
        if rest[:1] == "/":
            rest = re.sub(r"(?<=\w)/(?=[a-zA-Z])", " /", rest)
        words, redirections = self._words(f"{name} {rest}")
        switches = {word.lower().strip("'") for word in words[1:] if _SWITCH.fullmatch(word)}
        operands = [word for word in words[1:] if word.lower().strip("'") not in switches]
        command = self.commands[name]
        if name == "echo":
            operands = words[1:]
        if command in ("rmdir", "rm -f") and "/s" in switches:
            command = "rm -rf"
        if name == "robocopy":
            operands = operands[:2]
            command = "rsync -a --delete" if switches & {"/mir", "/purge"} else command
        return " ".join((command, *operands, *redirections) if command else (":", *redirections))

    def _words(self, text: str) -> tuple[list[str], list[str]]:
        """Return the arguments in ``text`` as words of a shell, and its redirections."""
        words: list[str] = []
        redirections: list[str] = []
        waiting = code = plain = ""
        quoted = has_word = False
        at = 0
        while at <= len(text):
            char = text[at : at + 1]
            match = _REDIRECTION.match(text, at) if char and char in "<>012" and not quoted else None
            redirects = match is not None and (char in "<>" or not plain)
            if redirects or not char or (char in " \t,;=" and not quoted and (char != "=" or not has_word)):
                if waiting and has_word:
                    redirections += [f"{waiting} {behind(code, plain)}"] if plain.lower() != "nul" else []
                    waiting = ""
                elif has_word:
                    words.append(behind(code, plain) if words or code else quote(program_name(plain)))
                code, plain, has_word = "", "", False
                if redirects and match is not None:
                    waiting = "" if match[3] else match[2]
                    at = match.end() - 1
            elif char == '"':
                quoted, has_word = not quoted, True
            elif char in "%!" and (match := _VARIABLE.match(text, at)):
                code, plain, has_word = (behind(code, plain) if plain else code) + self._variable(match), "", True
                at = match.end() - 1
            else:
                at += char == "^" and not quoted
                plain += text[at : at + 1]
                has_word = True
            at += 1
        return words, redirections

    def _variable(self, match: re.Match[str]) -> str:
        name = (match[1] or match[3] or "").lower()
        if not name:
            name = f"for_{match[0][-1]}"
            if name in self.assigned:
                return f'"${{{name}}}"'
            # Of a loop in the text that `cmd /c` is given, or an argument of the script.
            return quote(match[0]) if name[-1].isalpha() else UNKNOWN
        if match[2] or match[4]:  # a part of the value
            return UNKNOWN
        if name in self.variables:
            return str(self.variables[name])
        if name in self.assigned:
            return f"${{{name}}}"
        return f'"${{{name.upper()}}}"' if re.fullmatch(r"[a-z]+_\w+", name) else UNKNOWN
