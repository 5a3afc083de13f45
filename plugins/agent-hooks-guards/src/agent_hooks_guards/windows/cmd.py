"""Windows' cmd, translated line by line to text for a Unix shell.

All commands of a line count as run, one after the other: those of `if` and of `else`, and of blocks in brackets.
"""

from __future__ import annotations

import os
import re

from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import UNKNOWN

from .shell_text import Statement, behind, program_name, quote

_SEPARATORS = " \t,;="
_OPERATOR = re.compile(r"&&|\|\||[&|)]")
_REDIRECTION = re.compile(r"[012]?(>>?|<)(&[012])?")
_VARIABLE = re.compile(r"%%?~?[a-zA-Z](?![\w%:])|%~?[\d*]|%([^%\s:=]+)(:[^%\n]*)?%|!([^!\s:=]+)(:[^!\n]*)?!")
_PLAIN = rf'(?:\^.|(?:{_VARIABLE.pattern})|[^\s,;&|<>"^)])+'
# A part of a word; a closing bracket ends a block, if there is one.
_PART = re.compile(rf'"(?P<quoted>[^"\n]*)"?|(?P<plain>{_PLAIN})|(?P<bracket>\))')
_OPERAND = r'(?:"[^"]*"|[^\s"=()]+)'
_IF = (
    rf"if\s+(?:/i\s+)?(?:not\s+)?(?:(?:exist|defined|errorlevel)\s+{_OPERAND}"
    rf"|{_OPERAND}?\s*(?:==|\s(?:equ|neq|lss|leq|gtr|geq)\s)\s*{_OPERAND}?)\s*"
)
_FOR = re.compile(r"for\s+(?:/\w\s+)?(?:[^%\n]*?\s)?%%?([a-z])\s+in\s*\(([^)]*)\)\s*do\s+", re.IGNORECASE)
_CALL = r'(?:start\s+(?:"[^"]*"\s+)?(?:/(?:d\s+)?\S+\s+)*|call\s+(?!:))(?=\S)'
# In front of a command, and without effect on the program that it starts.
_SKIPPED = re.compile(rf"[\s@(,;=]+|else\b|{_IF}|{_CALL}", re.IGNORECASE)
_COMMENT = re.compile(r"(?:::?|rem(?=\s|$))[^\n]*", re.IGNORECASE)
_SET = re.compile(r'set\s+(/[ap]\s+)?(?:"(\w+)=([^"\n]*)"?|(\w+)=([^"\n&|]*))', re.IGNORECASE)
_SWITCH = re.compile(r"/[\w:+-]{1,6}")
_BUILT_IN = re.compile(r"([a-z]+)(?=[/\\.:]|$)", re.IGNORECASE)


class Cmd:
    """A translation of one text."""

    def __init__(self, text: str, assigned: set[str] | None = None) -> None:
        # A caret at the end of a line continues it; other carets matter only before a special character.
        text = text.replace("\r", "").replace("^\n", "")
        self.text = re.sub(r"\^(?=[a-zA-Z])", "", text)
        self.at = self.blocks = 0
        self.assigned: set[str] = set() if assigned is None else assigned
        tables = load_tables(os.path.dirname(os.path.abspath(__file__)))["cmd"]
        self.variables = tables["variables"]
        self.commands = {**dict.fromkeys(tables["nothing"].split(), ""), **tables["commands"]}

    def translate(self) -> list[Statement]:
        """Return a statement for each line of the text."""
        found: list[Statement] = []
        for line in self.text.split("\n"):
            self.text, self.at = line, 0
            found.append(Statement(self._line(), self.text.strip()))
        return found

    def _take(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """Match a pattern here and move behind it."""
        match = pattern.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return match

    def _line(self) -> str:
        """Translate the commands of a line and the operators between them."""
        code = operator = ""
        while self.at < len(self.text):
            if match := self._take(_SKIPPED):
                self.blocks += match[0].count("(")
            elif self._take(_COMMENT):
                break
            elif match := self._take(_OPERATOR):
                self.blocks -= match[0] == ")" and self.blocks > 0
                operator = match[0] if match[0] not in "&)" else operator or ";"
            else:
                code += f" {operator or ';'} {self._command() or ':'}" if code else self._command() or ":"
                operator = ""
        return code

    def _command(self) -> str:
        if match := self._take(_FOR):
            # One round, with the only value or an unknown one.
            text = match[2].strip()
            if text[:1] in ("'", "`"):
                inner = Cmd(text.strip("'`"), self.assigned).translate()
                return self._assign(f"for_{match[1]}", f'"$({"; ".join(each.code for each in inner)})"')
            words = Cmd(text, self.assigned).words()[0]
            return self._assign(f"for_{match[1]}", words[0][0] if len(words) == 1 else UNKNOWN)
        if match := self._take(_SET):
            text = match[3] or match[5] or ""
            if match[4] and self.blocks and ")" in text:  # the end of the block
                self.at = match.start(5) + text.index(")")
                text = text.partition(")")[0]
            value = UNKNOWN if match[1] else behind(*self._expanded("", text))
            return self._assign((match[2] or match[4]).lower(), value)
        return self._simple()

    def _assign(self, name: str, code: str) -> str:
        self.assigned.add(name)
        return f"{name}={code}"

    def _simple(self) -> str:
        """Translate a command; the switches of a built-in one may stand against its name and each other: `rd/s/q`."""
        words, redirections = self.words()
        first, plain = words[0] if words else ("", "")
        match = _BUILT_IN.match(plain)
        name = match[1].lower() if match else ""
        if name not in self.commands:
            first = quote(program_name(plain)) if first == quote(plain) else first
            return " ".join((first, *(code for code, _ in words[1:]), *redirections))
        glued = [(quote(each), each) for each in re.split(r"(?<=\w)(?=/[a-zA-Z])", plain[len(name) :]) if each]
        words, command = [*glued, *words[1:]], self.commands[name]
        switches = {plain.lower() for _, plain in words if _SWITCH.fullmatch(plain)}
        operands = [code for code, plain in words if name == "echo" or plain.lower() not in switches]
        if command in ("rmdir", "rm -f") and "/s" in switches:
            command = "rm -rf"
        if name == "robocopy":
            operands = operands[:2]
            command = "rsync -a --delete" if switches & {"/mir", "/purge"} else command
        return " ".join((command, *operands, *redirections) if command else (":", *redirections))

    def words(self) -> tuple[list[tuple[str, str]], list[str]]:
        """Return the arguments of a command as words of a shell, with their plain parts, and its redirections."""
        words: list[tuple[str, str]] = []
        redirections: list[str] = []
        sign = ""
        while (char := self.text[self.at : self.at + 1]) and char not in "&|" and not (char == ")" and self.blocks):
            if char in _SEPARATORS:
                self.at += 1
            elif match := self._take(_REDIRECTION):
                sign = "" if match[2] else match[1]
            else:
                code, plain = self._word()
                if not sign:
                    words.append((code, plain))
                elif plain.lower() != "nul":
                    redirections.append(f"{sign} {code}")
                sign = ""
        return words, redirections

    def _word(self) -> tuple[str, str]:
        """Return a word and its plain part."""
        code, plain, begun = "", "", self.at
        while (match := _PART.match(self.text, self.at)) and not (match[0] == ")" and self.blocks):
            self.at = match.end()
            text = re.sub(r"\^(.)", r"\1", match["plain"]) if match["plain"] else match["quoted"] or match["bracket"]
            code, plain = self._expanded(code, plain + (text or ""))
        self.at = max(self.at, begun + 1)
        return behind(code, plain) if code else quote(plain), plain

    def _expanded(self, code: str, text: str) -> tuple[str, str]:
        """Return the word ``code`` with ``text`` behind it up to its last variable, and the rest."""
        at = 0
        for match in _VARIABLE.finditer(text):
            before = text[at : match.start()]
            code, at = (behind(code, before) if before else code) + self._variable(match), match.end()
        return code, text[at:]

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
