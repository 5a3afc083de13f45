"""The value of shell arithmetic: ``$((…))``, ``((…))``, ``let``, subscripts, ``-eq``.

Sums, products, comparisons and assignments are computed; the value of any other expression is unknown. Substitutions
run in all of them: in the expression, and in the subscripts that the values of its variables hold.
"""

from __future__ import annotations

import operator
import re

from agent_hooks_guards.model.values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_TOKEN = re.compile(r"\s*(\w+|\+\+|--|&&|\|\||[-+<>=!]=|[-+*%/<>=!,()\[\]]|\S)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_OPERATORS: dict[str, tuple[int, Callable[[int, int], int]]] = {
    "||": (1, lambda left, right: bool(left) or bool(right)), "&&": (2, lambda left, right: bool(left) and bool(right)),
    "==": (3, operator.eq), "!=": (3, operator.ne), "<": (4, operator.lt), ">": (4, operator.gt),
    "<=": (4, operator.le), ">=": (4, operator.ge), "+": (5, operator.add), "-": (5, operator.sub),
    "*": (6, operator.mul), "/": (6, lambda left, right: int(left / right)),
    "%": (6, lambda left, right: left - int(left / right) * right),
}  # fmt: skip
_LONGEST = 1024  # characters
_MOST_EXPRESSIONS = 64  # among them the values of variables
_LARGEST = 2**31


def evaluate(
    text: str,
    read: Callable[[str], str],
    write: Callable[[str, str], None],
    expand: Callable[[str], str],
    budget: list[int] | None = None,
) -> int | None:
    """Return the value of the expression ``text``, None if it is unknown.

    ``read(name)`` returns a variable, ``write(name, value)`` sets one; a name may end with an index in brackets.
    ``expand(text)`` runs the substitutions in ``text`` and returns it expanded.
    """
    budget = [_MOST_EXPRESSIONS] if budget is None else budget
    budget[0] -= 1
    if len(text) > _LONGEST or budget[0] < 0:
        return None
    if "$" in text or "`" in text:
        text = expand(text)
    tokens = _TOKEN.findall(text)
    expression = _Expression(tokens, read, write, expand, budget)
    try:
        value = expression.value(0) if tokens else 0
        while expression.next == ",":
            expression.take()
            value = expression.value(0)
    except (ValueError, ZeroDivisionError, RecursionError):
        value = None
    if value is None or expression.next:
        for name in _NAME.findall(" ".join(tokens[expression.at :])):
            evaluate(read(name), read, write, expand, budget)  # its substitutions run
        return None
    return value if abs(value) < _LARGEST else None


class _Expression:
    def __init__(
        self,
        tokens: list[str],
        read: Callable[[str], str],
        write: Callable[[str, str], None],
        expand: Callable[[str], str],
        budget: list[int],
    ) -> None:
        self.tokens, self.read, self.write, self.expand, self.budget = tokens, read, write, expand, budget
        self.at = 0

    @property
    def next(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def value(self, least: int) -> int | None:
        """Parse operands and the operators that bind closer than ``least``."""
        left = self.operand()
        while (binary := _OPERATORS.get(self.next)) is not None and binary[0] > least:
            self.take()
            right = self.value(binary[0])
            left = None if left is None or right is None else int(binary[1](left, right))
        return left

    def operand(self) -> int | None:
        symbol = self.take()
        if symbol == "(":
            value = self.value(0)
            if self.take() != ")":
                raise ValueError(symbol)
        elif symbol in ("-", "+", "!"):
            value = self.operand()
            value = None if value is None else {"-": -value, "+": value, "!": int(not value)}[symbol]
        elif symbol in ("++", "--"):
            name = self.name(self.take())
            value = self.assign(name, symbol[0], self.known(name), 1)
        elif _NAME.fullmatch(symbol) is None:
            value = int(symbol, 8) if symbol[:1] == "0" and symbol.isdecimal() else int(symbol, 0)
        else:
            value = self.variable(self.name(symbol))
        return value

    def name(self, symbol: str) -> str:
        """Return a name with its index, if it has one."""
        if self.next != "[":
            return symbol
        self.take()
        index = self.value(0)
        if self.take() != "]":
            raise ValueError(symbol)
        return f"{symbol}[{UNKNOWN if index is None else index}]"

    def variable(self, name: str) -> int | None:
        if self.next in ("=", "+=", "-="):
            sign = self.take()[0]
            value = self.value(0)
            return self.assign(name, sign, 0 if sign == "=" else self.known(name), value)
        value = self.known(name)
        if self.next in ("++", "--"):
            self.assign(name, self.take()[0], value, 1)
        return value

    def known(self, name: str) -> int | None:
        text = self.read(name)
        return None if UNKNOWN in text else evaluate(text, self.read, self.write, self.expand, self.budget)

    def assign(self, name: str, sign: str, old: int | None, value: int | None) -> int | None:
        made = None if old is None or value is None else old - value if sign == "-" else old + value
        self.write(name, UNKNOWN if made is None else str(made))
        return made
