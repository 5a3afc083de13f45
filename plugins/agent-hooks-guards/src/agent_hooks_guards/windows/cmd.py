"""Windows' cmd, translated line by line to text for a Unix shell.

All commands of a line count as run, one after the other: those of `if` and of `else`, and of blocks in brackets.
"""

from __future__ import annotations

import os
import re

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import UNKNOWN

from .shell_text import Scanner, Statement, Word, joined, program_name, quote

_TABLES = load_tables(os.path.dirname(os.path.abspath(__file__)))["cmd"]
_COMMANDS = {**dict.fromkeys(_TABLES["nothing"].split(), ""), **_TABLES["commands"]}
_OPERATOR = Pattern(r"&&|\|\||[&|)\n]")
_REDIRECTION = Pattern(r"[012]?(>>?|<)(&[012])?")
_VARIABLE = Pattern(r"%%?~?[a-zA-Z](?![\w%:])|%~?[\d*]|%([^%\s:=]+)(:[^%\n]*)?%|!([^!\s:=]+)(:[^!\n]*)?!")
_PLAIN = rf'(?:\^.|(?:{_VARIABLE.pattern})|[^\s,;&|<>"^)])+'
# A part of a word; a closing bracket ends a block, if there is one.
_PART = Pattern(rf'"(?P<quoted>[^"\n]*)"?|(?P<plain>{_PLAIN})|(?P<bracket>\))')
_SEPARATORS = Pattern(r"[ \t,;=]+")
_OPERAND = r'(?:"[^"]*"|[^\s"=()]+)'
_IF = (
    rf"if\s+(?:/i\s+)?(?:not\s+)?(?:(?:exist|defined|errorlevel)\s+{_OPERAND}"
    rf"|{_OPERAND}?\s*(?:==|\s(?:equ|neq|lss|leq|gtr|geq)\s)\s*{_OPERAND}?)\s*"
)
_FOR = Pattern(r"for\s+(?:/\w\s+)?(?:[^%\n]*?\s)?%%?([a-z])\s+in\s*\(([^)]*)\)\s*do\s+", re.IGNORECASE)
_CALL = r'(?:start\s+(?:"[^"]*"\s+)?(?:/(?:d\s+)?\S+\s+)*|call\s+(?!:))(?=\S)'
# In front of a command, and without effect on the program that it starts.
_SKIPPED = Pattern(rf"[ \t@(,;=]+|else\b|{_IF}|{_CALL}", re.IGNORECASE)
_COMMENT = Pattern(r"(?:::?|rem(?=\s|$))[^\n]*", re.IGNORECASE)
_SET = Pattern(r'set\s+(/[ap]\s+)?(?:"(\w+)=([^"\n]*)"?|(\w+)=([^"\n&|]*))', re.IGNORECASE)
_SWITCH = Pattern(r"/[\w:+-]{1,6}")
_BUILT_IN = Pattern(r"([a-z]+)(?=[/\\.:]|$)", re.IGNORECASE)


class Cmd(Scanner):
    """A translation of one text. ``blocks``: how many brackets are open."""

    blocks = 0

    def translate(self) -> list[Statement]:
        """Return a statement for each line or block of the text."""
        # A caret at the end of a line continues it; other carets matter only before a special character.
        self.text = re.sub(r"\^(?=[a-zA-Z])", "", self.text.replace("\r", "").replace("^\n", ""))
        found: list[Statement] = []
        while self.at < len(self.text):
            begun, problem = self.at, ""
            try:
                code = self._line()
            except RecursionError:
                code, problem, self.at = "", "it is nested too deeply", len(self.text)
            found.append(Statement(code, self.text[begun : self.at].strip(), problem))
        return found

    def _line(self) -> str:
        """Translate the commands of a line, or of the lines of a block, and the operators between them."""
        code = operator = ""
        while self.at < len(self.text):
            if match := self.take(_SKIPPED):
                self.blocks += match[0].count("(")
            elif match := self.take(_OPERATOR):
                if match[0] == "\n" and not self.blocks:
                    break
                self.blocks -= match[0] == ")" and self.blocks > 0
                operator = match[0] if match[0] in ("&&", "||", "|") else operator or ";"
            elif not self.take(_COMMENT):
                code += f" {operator or ';'} {self._command() or ':'}" if code else self._command() or ":"
                operator = ""
        return code

    def _command(self) -> str:
        if match := self.take(_FOR):
            inner = Cmd(match[2].strip().strip("'`"))
            inner.assigned = self.assigned
            if match[2].strip()[:1] in ("'", "`"):
                items = f'"$({"; ".join(each.code for each in inner.translate())})"'
            else:
                items = " ".join(each.code for each in inner.words()[0])
            self.assigned.add(name := f"for_{match[1].lower()}")
            return f"for {name} in {items or UNKNOWN}; do {self._line() or ':'}; done"
        if match := self.take(_SET):
            text = match[3] or match[5] or ""
            if match[4] and self.blocks and ")" in text:  # the end of the block
                self.at = match.start(5) + text.index(")")
                text = text.partition(")")[0]
            self.assigned.add(name := (match[2] or match[4]).lower())
            return f"{name}={UNKNOWN if match[1] else self._expanded(text).code}"
        return self._simple()

    def _simple(self) -> str:
        """Translate a command; the switches of a built-in one may stand against its name and each other: `rd/s/q`."""
        words, redirections = self.words()
        plain = (words[0].text or "") if words else ""
        match = _BUILT_IN.match(plain)
        name = match[1].lower() if match else ""
        if name not in _COMMANDS:
            words[:1] = [Word(quote(program_name(plain)))] if plain else words[:1]
            return " ".join((*(each.code for each in words), *redirections))
        glued = [Word(quote(each), each) for each in re.split(r"(?<=\w)(?=/[a-zA-Z])", plain[len(name) :]) if each]
        words, command = [*glued, *words[1:]], _COMMANDS[name]
        switches = {each.text.lower() for each in words if each.text and _SWITCH.fullmatch(each.text)}
        operands = [each.code for each in words if name == "echo" or (each.text or "").lower() not in switches]
        operands = ["/dev/null" if each.lower() == "'nul'" and name != "echo" else each for each in operands]
        if command in ("rmdir", "rm -f") and "/s" in switches:
            command = "rm -rf"
        if name == "robocopy":
            operands = operands[:2]
            command = "rsync -a --delete" if switches & {"/mir", "/purge"} else command
        return " ".join((command, *operands, *redirections) if command else (":", *redirections))

    def words(self) -> tuple[list[Word], list[str]]:
        """Return the arguments of a command as words of a shell, and its redirections."""
        words: list[Word] = []
        redirections: list[str] = []
        sign = ""
        while (char := self.text[self.at : self.at + 1]) and char not in "&|\n" and not (char == ")" and self.blocks):
            if self.take(_SEPARATORS):
                continue
            if match := self.take(_REDIRECTION):
                sign = "" if match[2] else match[1]
                continue
            text, begun = "", self.at
            while (match := _PART.match(self.text, self.at)) and not (match[0] == ")" and self.blocks):
                self.at = match.end()
                plain = re.sub(r"\^(.)", r"\1", match["plain"] or "")
                text += plain or match["quoted"] or match["bracket"] or ""
            self.at = max(self.at, begun + 1)
            word = self._expanded(text)
            if not sign:
                words.append(word)
            elif (word.text or "").lower() != "nul":
                redirections.append(f"{sign} {word.code}")
            sign = ""
        return words, redirections

    def _expanded(self, text: str) -> Word:
        """Return a text with its variables as a word."""
        parts: list[Word] = []
        at = 0
        for match in _VARIABLE.finditer(text):
            parts += [Word("", text[at : match.start()]), Word(self._variable(match))]
            at = match.end()
        return joined([each for each in (*parts, Word("", text[at:])) if each.code or each.text])

    def _variable(self, match: re.Match[str]) -> str:
        """Return a variable as a word of a shell."""
        name = (match[1] or match[3] or f"for_{match[0][-1]}").lower()
        if name in self.assigned and name.startswith("for_"):
            return f'"${{{name}}}"'
        if match[0][-1].isalpha():  # of a loop in the text that `cmd /c` is given
            return quote(match[0])
        if match[2] or match[4]:  # a part of the value
            return UNKNOWN
        if name in _TABLES["variables"]:
            return str(_TABLES["variables"][name])
        if name in self.assigned:
            return f"${{{name}}}"
        return f'"${{{name.upper()}}}"' if re.fullmatch(r"[a-z]+_[a-z]\w*", name) else UNKNOWN
