"""Shell arithmetic: ``$((…))``, ``((…))``, ``let``, subscripts, ``-eq``; matches of ``=~``; loops that wait.

Sums, products, comparisons and assignments of a whole expression are computed; the value of any other expression is
unknown. Substitutions run in all of them: in the expression, and in the subscripts that the values of its variables
hold.
"""

from __future__ import annotations

import ast
import operator
import re
import warnings

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.values import ANYTHING, UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NAME = Pattern(r"[A-Za-z_]\w*")
# `i++`, `--i`, `a[1] += 2`
_ASSIGNMENT = Pattern(
    r"\s*(\+\+|--)?([A-Za-z_]\w*)\s*(?:\[([^][]*)\])?\s*(?:(\+\+|--)|([-+]?)=(?!=)(.*))?\s*", re.DOTALL
)
_CHANGED = Pattern(r"(?:\+\+|--)\s*([A-Za-z_]\w*)|([A-Za-z_]\w*)\s*(?:\+\+|--|[-+*/%&|^]?=(?!=))")
# Python reads these in another way, or not at all.
_FOREIGN = Pattern(r"[^\w\s()\[\]+*/%<>=!&|-]|\+\+|--")
_TO_PYTHON = (("&&", " and "), ("||", " or "), ("!=", "<>"), ("!", "~"), ("<>", "!="))
_OCTAL = Pattern(r"\b0(?=\d)")
_OPERATORS: dict[type, Callable[[int, int], int]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul,
    ast.Div: lambda left, right: int(left / right), ast.Mod: lambda left, right: left - int(left / right) * right,
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.Gt: operator.gt,
    ast.LtE: operator.le, ast.GtE: operator.ge,
}  # fmt: skip
_LONGEST = 1024  # characters
_MOST_EXPRESSIONS = 64  # among them the values of variables
_LARGEST = 2**31
# At most two repetitions of single characters, in a short text: a search ends soon.
_PATTERN = Pattern(r"(?:[^*+?{\[]|\.[*+]){0,80}")
_LONGEST_MATCHED = 200  # characters
# Commands that wait, or end the loop; not in the background.
_WAITING = Pattern(
    r"(?:^|[;&|({\n]|\b(?:do|then|else))\s*(?:sleep|wait|read|break|exit|return|inotifywait)\b(?![^;&|\n]*&(?!&))"
)


class Arithmetic:
    """One evaluation of an expression.

    ``read(name)`` returns a variable, ``write(name, value)`` sets one; a name may end with an index in brackets.
    ``expand(text)`` runs the substitutions in ``text`` and returns it expanded.
    """

    def __init__(
        self, read: Callable[[str], str], write: Callable[[str, str], None], expand: Callable[[str], str]
    ) -> None:
        self.read, self.write, self.expand = read, write, expand
        self.left = _MOST_EXPRESSIONS

    def evaluate(self, text: str) -> int | None:
        """Return the value of the expression ``text``, None if it is unknown."""
        self.left -= 1
        if len(text) > _LONGEST or self.left < 0:
            return None
        if "$" in text or "`" in text:
            text = self.expand(text)
        value: int | None = 0
        for part in text.split(","):
            try:
                assignment = _ASSIGNMENT.fullmatch(part)
                value = self._assign(*assignment.groups("")) if assignment else self._expression(part)
            except (SyntaxError, ValueError, KeyError, ZeroDivisionError, RecursionError, MemoryError):
                value = None
                for name in _NAME.findall(part):
                    self.evaluate(self.read(name))  # its substitutions run
                for match in _CHANGED.finditer(part):
                    self.write(match[1] or match[2], UNKNOWN)
        return value if value is not None and abs(value) < _LARGEST else None

    def _known(self, text: str) -> int:
        value = self.evaluate(text)
        if value is None:
            raise ValueError(text)
        return value

    def _assign(self, before: str, name: str, index: str, after: str, sign: str, right: str) -> int:
        """Run an assignment and return its value; a plain name is an expression, too."""
        if index:
            name = f"{name}[{self._known(index)}]"
        change = 1 if before or after else self._known(right) if right else 0
        old = 0 if right and not sign else self._known(self.read(name))
        new = old - change if "-" in (before[:1], after[:1], sign) else old + change
        if before or after or right:
            self.write(name, str(new))
        return old if after else new

    def _expression(self, text: str) -> int:
        if text.isdecimal() and text[0] != "0":
            return int(text)
        if _FOREIGN.search(text):
            raise ValueError(text)
        for symbol, python in _TO_PYTHON:
            text = text.replace(symbol, python)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(_OCTAL.sub("0o", text.strip()) or "0", mode="eval")
        return int(self._value(tree.body))

    def _value(self, node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int() as number):
                return number
            case ast.Name(id=name):
                return self._known(self.read(name))
            case ast.Subscript(value=ast.Name(id=name), slice=index):
                return self._known(self.read(f"{name}[{self._value(index)}]"))
            case ast.UnaryOp(op=sign, operand=operand):
                value = self._value(operand)
                return -value if type(sign) is ast.USub else int(not value) if type(sign) is ast.Invert else value
            case ast.BinOp(left=left, op=sign, right=right) | ast.Compare(left=left, ops=[sign], comparators=[right]):
                return int(_OPERATORS[type(sign)](self._value(left), self._value(right)))
            case ast.BoolOp(op=sign, values=operands):
                values = [self._value(each) for each in operands]
                return int(all(values) if type(sign) is ast.And else any(values))
        raise ValueError(node)


def matched(text: str, patterns: Sequence[str]) -> list[Data]:
    """Return the value of ``BASH_REMATCH`` after ``[[ text =~ pattern ]]``; of a complex pattern it is unknown."""
    pattern = "".join(patterns)
    unknown = [ANYTHING] * (pattern.count("(") + 1)
    is_simple = len(text) <= _LONGEST_MATCHED and _PATTERN.fullmatch(pattern) is not None and pattern.count(".") < 3
    if not is_simple or UNKNOWN in text + pattern or "(?" in pattern:
        return unknown
    try:
        found = re.search(pattern, text)
    except re.error:
        return unknown
    return [Data(each or "") for each in (found[0], *found.groups())] if found else []


def waits(body: str) -> bool:
    """Whether the text of a loop's body has a command that waits for something, or ends the loop."""
    return _WAITING.search(body) is not None
