"""What the grammars of the languages differ in: operators, and words that are no names."""

from __future__ import annotations

LEVELS: dict[str, int] = {
    "or": 1,
    "and": 1,
    "xor": 1,
    "|>": 4,
    "%>%": 4,
    "..": 3,
    "...": 3,
    "||": 4,
    "//": 4,
    "??": 4,
    "&&": 5,
    "|": 6,
    "^": 6,
    "&": 6,
    "==": 7,
    "!=": 7,
    "===": 7,
    "!==": 7,
    "<=>": 7,
    "=~": 7,
    "!~": 7,
    "~=": 7,
    "eq": 7,
    "ne": 7,
    "cmp": 7,
    "instanceof": 7,
    "in": 7,
    "<": 8,
    ">": 8,
    "<=": 8,
    ">=": 8,
    "lt": 8,
    "gt": 8,
    "le": 8,
    "ge": 8,
    "<<": 9,
    ">>": 9,
    ">>>": 9,
    "+": 10,
    "-": 10,
    ".": 10,
    "*": 11,
    "/": 11,
    "%": 11,
    "x": 11,
    "**": 12,
}
WORD_OPERATORS = {
    "node": frozenset(("instanceof", "in")),
    "perl": frozenset("or and xor x eq ne cmp lt gt le ge".split()),
    "ruby": frozenset(("or", "and")),
    "php": frozenset(("or", "and", "xor", "instanceof")),
    "lua": frozenset(("or", "and")),
    "groovy": frozenset(("in", "instanceof")),
    "julia": frozenset(("in",)),
    "r": frozenset(),
    "vim": frozenset(),
}
ASSIGNING = frozenset("= += -= .= *= /= %= **= ||= &&= ??= //= |= &= ^= <<= >>= x= ..= <- <<-".split())
LINEWISE = frozenset(("ruby", "groovy", "r", "julia"))
MODIFIERS = frozenset("if unless while until for foreach".split())
NO_VALUE = frozenset(
    "if unless while until for foreach and or xor not do then end in rescue ensure else elsif elseif "
    "when instanceof as extends implements => is".split()
)
FUNCTION_WORDS: dict[str, frozenset[str]] = {
    "node": frozenset(("function",)),
    "php": frozenset(("function", "fn")),
    "perl": frozenset(("sub",)),
    "ruby": frozenset(("def", "lambda", "proc")),
    "lua": frozenset(("function",)),
    "groovy": frozenset(),
    "r": frozenset(("function",)),
    "julia": frozenset(("function",)),
    "vim": frozenset(),
}
