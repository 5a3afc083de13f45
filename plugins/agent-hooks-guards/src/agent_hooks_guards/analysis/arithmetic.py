"""What arithmetic comes to: ``$((…))``, ``((…))``, ``let``, subscripts, ``-eq``.

Rules: the Bash Reference Manual, "Shell Arithmetic". The value of a variable is an expression itself, and what stands
in the brackets behind a name is expanded, which may run commands.
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    Value = int | None

_TOKEN = re.compile(
    r"\s*(?:(0[xX][0-9a-fA-F]+|[0-9]+#[0-9a-zA-Z@_]+|[0-9]+)|([A-Za-z_][A-Za-z0-9_]*)"
    r"|(\*\*|<<=|>>=|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&^|]=|[-+*/%<>=!&^|?:,()~\[\]]))"
)
# The higher, the closer it binds.
_BINDS = {
    "||": 4, "&&": 5, "|": 6, "^": 7, "&": 8, "==": 9, "!=": 9, "<": 10, ">": 10, "<=": 10, ">=": 10,
    "<<": 11, ">>": 11, "+": 12, "-": 12, "*": 13, "/": 13, "%": 13, "**": 14,
}  # fmt: skip
_CHANGES = frozenset(("=", "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=", "<<=", ">>="))
_MAX_TEXT = 1024
_MAX_DEPTH = 16
_MAX_DIGITS = 24
_WORD = 64


def evaluate(
    text: str,
    read: Callable[[str], str],
    write: Callable[[str, str], None],
    expand: Callable[[str], str],
    depth: int = 0,
) -> Value:
    """Return what the expression ``text`` comes to, None where it is not known or is none.

    ``read(name)`` returns a variable, ``write(name, value)`` sets one; a name may have an index in brackets behind it.
    ``expand(text)`` expands what stands in brackets.
    """
    if len(text) > _MAX_TEXT or depth > _MAX_DEPTH:
        return None
    if not text.strip():
        return 0
    try:
        return _Expression(text, read, write, expand, depth).whole()
    except (ValueError, ZeroDivisionError, OverflowError):
        return None


class _Expression:
    __slots__ = ("at", "depth", "expand", "kind", "level", "read", "sign", "text", "write")

    def __init__(
        self,
        text: str,
        read: Callable[[str], str],
        write: Callable[[str, str], None],
        expand: Callable[[str], str],
        depth: int,
    ) -> None:
        self.text, self.read, self.write, self.expand, self.depth = text, read, write, expand, depth
        self.at = 0
        self.level = 0
        self.sign = ""
        self.kind = 0
        self.next()

    def next(self) -> None:
        match = _TOKEN.match(self.text, self.at)
        if match is None:
            if self.text[self.at :].strip(" \t\n\"'"):
                raise ValueError(self.text)
            self.sign, self.kind = "", 0
            return
        self.kind = match.lastindex or 0
        self.sign = match[self.kind]
        self.at = match.end()

    def whole(self) -> Value:
        found = self.listed()
        if self.sign:
            raise ValueError(self.sign)
        return found

    def listed(self) -> Value:
        found = self.chosen()
        while self.sign == ",":
            self.next()
            found = self.chosen()
        return found

    def chosen(self) -> Value:
        """``a ? b : c``, and what binds closer."""
        self.level += 1
        if self.level > _MAX_DEPTH:
            raise ValueError(self.text)
        found = self.joined(0)
        if self.sign == "?":
            self.next()
            yes = self.listed()
            if self.sign != ":":
                raise ValueError(self.sign)
            self.next()
            no = self.chosen()
            found = None if found is None else yes if found else no
        self.level -= 1
        return found

    def joined(self, least: int) -> Value:
        left = self.single()
        while (binds := _BINDS.get(self.sign, -1)) > least or (binds == least and self.sign == "**"):
            operator = self.sign
            self.next()
            right = self.joined(binds)
            left = _applied(operator, left, right)
        return left

    def single(self) -> Value:
        sign, kind = self.sign, self.kind
        self.next()
        if kind == 1:
            return _number(sign)
        if kind == 2:
            return self.named(sign)
        self.level += 1
        if self.level > _MAX_DEPTH:
            raise ValueError(self.text)
        found: Value
        if sign == "(":
            found = self.listed()
            if self.sign != ")":
                raise ValueError(self.sign)
            self.next()
        elif sign in ("++", "--"):
            name = self.sign + self.subscript()
            found = self.changed(name, "+=" if sign == "++" else "-=", 1)
        elif sign in ("-", "+", "!", "~"):
            value = self.single()
            found = None if value is None else {"-": -value, "+": value, "!": int(not value), "~": ~value}[sign]
        else:
            raise ValueError(sign)
        self.level -= 1
        return found

    def named(self, name: str) -> Value:
        if self.sign == "[":
            name += self.bracketed()
        operator = self.sign
        if operator in _CHANGES:
            self.next()
            return self.changed(name, operator, self.chosen())
        value = self.value(name)
        if operator in ("++", "--"):
            self.next()
            self.changed(name, "+=" if operator == "++" else "-=", 1)
        return value

    def subscript(self) -> str:
        """Go past a name; return the brackets behind it."""
        self.next()
        return self.bracketed() if self.sign == "[" else ""

    def bracketed(self) -> str:
        """Return the index in the brackets that are open, as text that is expanded; go past them."""
        depth, start = 1, self.at
        at = start
        while at < len(self.text) and depth:
            depth += (self.text[at] == "[") - (self.text[at] == "]")
            at += 1
        self.at = at
        inside = self.text[start : at - 1]
        self.next()
        text = self.expand(inside)
        found = evaluate(text, self.read, self.write, self.expand, self.depth + 1) if UNKNOWN not in text else None
        return f"[{text if found is None else found}]"

    def value(self, name: str) -> Value:
        text = self.read(name)
        if UNKNOWN in text:
            return None
        return evaluate(text, self.read, self.write, self.expand, self.depth + 1)

    def changed(self, name: str, operator: str, value: Value) -> Value:
        if operator != "=":
            value = _applied(operator[:-1], self.value(name), value)
        self.write(name, UNKNOWN if value is None else str(value))
        return value


def _number(token: str) -> int:
    if len(token) > _MAX_DIGITS:
        raise ValueError(token)
    base, mark, digits = token.partition("#")
    if mark:
        return int(digits, int(base))
    if token[:2] in ("0x", "0X"):
        return int(token, 16)
    return int(token, 8) if token[0] == "0" else int(token)


def _applied(operator: str, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return None
    found: int
    if operator == "**":
        if not 0 <= right <= _WORD:
            raise ValueError(right)
        found = left**right
    elif operator in ("/", "%"):
        whole = abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)
        found = whole if operator == "/" else left - whole * right
    elif operator in ("<<", ">>"):
        if not 0 <= right < _WORD:
            raise ValueError(right)
        found = left << right if operator == "<<" else left >> right
    elif operator == "&&":
        found = int(bool(left) and bool(right))
    elif operator == "||":
        found = int(bool(left) or bool(right))
    else:
        found = int(_SIMPLE[operator](left, right))
    return (found + (1 << _WORD - 1)) % (1 << _WORD) - (1 << _WORD - 1)


_SIMPLE: dict[str, Callable[[int, int], int]] = {
    "+": int.__add__,
    "-": int.__sub__,
    "*": int.__mul__,
    "&": int.__and__,
    "|": int.__or__,
    "^": int.__xor__,
    "<": int.__lt__,
    ">": int.__gt__,
    "<=": int.__le__,
    ">=": int.__ge__,
    "==": int.__eq__,
    "!=": int.__ne__,
}
