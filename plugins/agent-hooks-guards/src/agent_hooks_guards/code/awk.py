"""Find the shell commands and the files of an awk program: ``system``, pipes, ``getline``, ``print >``.

The walk through scripts follows it, with the operands that are only awk's.
"""

from __future__ import annotations

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.values import NETWORK, NO_LABELS, UNKNOWN, Data

from . import STDIN, Found
from .script_tokens import Cursor, Token
from .script_values import joined, replaced
from .scripts import Walk

_SHELLS = Pattern(r"(?:\S*/)?(?:sh|bash|dash|zsh|ksh|ash)(?: -[sxe]*)*\s*")
_DEVICES = frozenset(("/dev/stdout", "/dev/stderr", "-"))
_OPERANDS = ("string", "number", "name", "variable")
# A field is assigned to, and the line is made anew.
_CHANGE = Pattern(r"(?:\bNF|\$\s*[1-9N(]\w*)\s*(?:[-+*/]?=(?!=)|\+\+|--)|\b(?:sub|gsub)\([^()]*,\s*\$[1-9N]")
# A program without these only prints, and most are such; a pipe is no `||`.
_EFFECTS = Pattern(r"system|getline|[>@]|(?<!\|)\|(?!\|)")
_INPUT = Data(UNKNOWN, frozenset((STDIN,)))


def scan(
    text: str,
    labels: frozenset[str],
    arguments: list[str],
    language: str,
    stdin: str | None = None,
    variables: dict[str, Data] | None = None,
) -> Found:
    """Return the effects of an awk program. ``arguments``: variables, as ``name=value``, and files."""
    if _EFFECTS.search(text) is None:
        return Found()
    walk = _Program(text, language, labels, variables or {})
    line = (stdin or "").removesuffix("\n")
    is_known = line and "\n" not in line and _CHANGE.search(text) is None
    walk.variables = {"$0": Data(line, _INPUT.labels) if is_known else _INPUT}
    walk.variables |= {
        name: Data(value) for name, equals, value in (each.partition("=") for each in arguments) if equals
    }
    return walk.finished()


class _Program(Walk):
    def reference(self, name: str) -> Data:
        return self.variables.get(name, _INPUT) if name[0] == "$" else super().reference(name)

    def expression(self, code: Cursor) -> Data:
        """Operands beside each other are joined; ``command | getline``."""
        value = super().expression(code)
        start = -1
        while start < code.at and code.peek().kind in _OPERANDS and not code.peek().newline:
            start = code.at
            value = joined([value, super().expression(code)])
        following = [code.peek(1).text, code.peek(2).text]
        if code.peek().text == "|" and "getline" in (following[0], following[1] * (following[0] == "&")):
            is_host = value.text.startswith("/inet/")
            if is_host:
                self.effect("receive", Data(":".join(value.text.split("/")[4:6])))
            else:
                self.shell(value)
            code.until("getline")
            code.take()
            value = Data(UNKNOWN, frozenset((NETWORK,)) if is_host else NO_LABELS)
            self.variables[code.take().text if code.peek().kind in ("name", "variable") else "$0"] = value
        return value

    def operand(self, code: Cursor) -> Data:
        """Operands of awk's own."""
        token = code.peek()
        if token.kind == "name" and token.text in ("print", "printf"):
            return self.output(code)
        if token.text in ("sub", "gsub") and code.peek(1).text == "(":
            code.at += 2
            return self.substitute(token.text, code.peek(-1).items)
        if token.kind == "name" and token.text == "getline":
            code.at += 1 + (code.peek(1).kind in ("name", "variable"))
            if code.skip("<"):
                self.effect("read", super().operand(code))
            return _INPUT
        return super().operand(code)

    def substitute(self, name: str, items: list[Token]) -> Data:
        """Apply ``gsub(/x/, "y", target)``."""
        target = items[-1].text if [each.text for each in items].count(",") > 1 else "$0"
        new = [*self.items(items), _INPUT, _INPUT][1].text
        pattern = items[0].value if items[:1] and items[0].kind == "pattern" and "&" not in new else UNKNOWN
        self.variables[target] = replaced(self.reference(target), pattern, new, name == "sub")
        return _INPUT

    def output(self, code: Cursor) -> Data:
        """Follow ``print x | "command"`` and ``print x > "file"``."""
        code.take()
        values = self.items(code.until(";", ">", ">>", "|", is_line=True))
        operator = code.peek().text
        if operator not in (">", ">>", "|"):
            return Data()
        code.at += 1 + (code.peek(1).text == "&")
        target = self.expression(Cursor(code.until(";", is_line=True)))
        text = joined(values, " ") if values else self.reference("$0")
        if target.text.startswith("/inet/") or target.text in _DEVICES:
            return Data()
        if operator == "|":
            self.shell(text if _SHELLS.fullmatch(target.text) else target)
        else:
            self.effect("write", target, text.labels, "append" if operator == ">>" else "")
            before = self.found.files.get(target.text, Data())
            self.found.files[target.text] = Data(f"{before.text}{text.text}\n", before.labels | text.labels)
        return Data()
