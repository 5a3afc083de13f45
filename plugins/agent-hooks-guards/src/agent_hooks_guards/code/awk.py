"""Find the shell commands and the files of an awk program: ``system``, pipes, ``getline``, ``print >``.

Followed are literals, variables that are assigned once, the environment and the input line; all else is unknown.
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.places.credentials import variable_labels

from . import STDIN, Found

_TOKEN = re.compile(
    r"(?:\A|(?<=[(,{};!~&|\n]))[ \t]*(?P<pattern>/(?:[^/\\\n]|\\.)+/)|[ \t\r]+|\\\n|\#[^\n]*"
    r'|(?P<symbol>"(?:[^"\\\n]|\\.)*+"|[A-Za-z_]\w*|\d[\w.]*|\|&|>>|[=!<>]=|&&|\|\||.)',
    re.DOTALL,
)
_ENDS = frozenset("; } \n && ||".split(" "))
_STARTS = _ENDS | {"{", ",", "="}
_SHELLS = re.compile(r"(?:\S*/)?(?:sh|bash|dash|zsh|ksh|ash)(?: -[sxe]*)*\s*").fullmatch
_DEVICES = frozenset(("/dev/stdout", "/dev/stderr", "-"))
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}
_INPUT = frozenset((STDIN,))
_MOST_TOKENS = 2_000
_LONGEST_STATEMENT = 200  # tokens


def scan(text: str, labels: frozenset[str], arguments: list[str], _language: str, stdin: str | None = None) -> Found:
    """Return the effects of an awk program. ``arguments``: variables, as ``name=value``, and files."""
    tokens = [match[match.lastgroup] for match in _TOKEN.finditer(text) if match.lastgroup]
    if len(tokens) > _MOST_TOKENS:
        return Found(doubts=["the awk program is too long to be analysed"])
    line = (stdin or "").removesuffix("\n")
    variables = {"$0": Data(line if line and "\n" not in line else UNKNOWN, _INPUT)}
    variables |= {name: Data(value) for name, equals, value in (each.partition("=") for each in arguments) if equals}
    program = _Program(tokens, labels, variables)
    for at in range(len(tokens)):
        program.step(at)
    return program.found


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 8)) if match[1][0] in "01234567" else _ESCAPES.get(match[1], match[1])


class _Program:
    def __init__(self, tokens: list[str], labels: frozenset[str], variables: dict[str, Data]) -> None:
        self.tokens = tokens
        self.labels = labels
        self.variables = variables
        self.found = Found()

    def step(self, at: int) -> None:
        """Note the effects of the call or operator at a position."""
        symbol, following = self.tokens[at], "".join(self.tokens[at + 1 : at + 2])
        if symbol in ("print", "printf"):
            self.print(at + 1)
        elif symbol == "system" and following == "(":
            self.shell(self.value(self.tokens[at + 2 : self.limit(at + 2)]))
        elif symbol in ("sub", "gsub"):
            self.substitute(self.tokens[at + 1 : self.limit(at + 2)])
        elif symbol == "getline" and self.tokens[at - 1] in ("|", "|&"):
            source = self.value(self.tokens[self.limit(at - 2, -1) + 1 : at - 1])
            if source.text.startswith("/inet/"):
                self.variables[following or "$0"] = Data(UNKNOWN, frozenset((NETWORK,)))
            else:
                self.shell(source)
        elif symbol == "<" and "getline" in self.tokens[at - 2 : at]:
            path = self.value(self.tokens[at + 1 : self.limit(at + 1)])
            self.found.effects.append(("read", path.text, False, NO_LABELS, ""))
        elif symbol.startswith('"/inet/'):
            host = ":".join(symbol.strip('"').split("/")[4:6])
            self.found.effects.append(("receive", host, False, NO_LABELS, ""))
        elif following in ("=", "+", "-") and (symbol == "NF" or self.tokens[at - 1] == "$") and symbol != "0":
            self.variables["$0"] = Data(UNKNOWN, _INPUT)
        elif following == "=" and (symbol.isidentifier() or symbol == "0"):
            value = self.value(self.tokens[at + 2 : self.limit(at + 2)])
            name = "$0" if symbol == "0" else symbol
            self.variables[name] = Data(UNKNOWN, value.labels) if symbol in self.variables else value

    def limit(self, at: int, step: int = 1) -> int:
        """Return the end (or with a step of -1 the start) of the expression at a position."""
        depth = 0
        for position in range(at, max(min(at + _LONGEST_STATEMENT * step, len(self.tokens)), -1), step):
            symbol = self.tokens[position]
            depth += ((symbol in "([") - (symbol in ")]")) * step
            if depth < 0 or (not depth and symbol in (_ENDS if step > 0 else _STARTS)):
                return position
        return len(self.tokens) if step > 0 else -1

    def value(self, tokens: list[str]) -> Data:
        """Return the value of an expression: the concatenation of its operands."""
        text, labels, at = "", self.labels, 0
        while at < len(tokens):
            symbol, following = tokens[at], tokens[at + 1 : at + 2]
            at += 1
            if symbol[0] == '"':
                text += _ESCAPE.sub(_unescaped, symbol[1:-1])
            elif symbol == "ENVIRON":
                text += UNKNOWN
                labels |= variable_labels("".join(tokens[at + 1 : at + 2]).strip('"'))
                at += 3
            elif symbol == "$" or following in (["("], ["["]):  # a field, or a call, which takes the rest
                field = self.variables["$0"] if symbol == "$" and following == ["0"] else Data(UNKNOWN, _INPUT)
                text += field.text
                labels |= field.labels
                at = at + 1 if symbol == "$" else len(tokens)
            elif symbol.isidentifier():
                known = self.variables.get(symbol, Data(UNKNOWN))
                text += known.text
                labels |= known.labels
            elif symbol not in "()":
                text += " " if symbol == "," else symbol if symbol[0].isdigit() else UNKNOWN
        return Data(text, labels)

    def substitute(self, tokens: list[str]) -> None:
        """Apply ``gsub(/x/, "y")``; after another form of it the text is unknown."""
        name = tokens[5] if len(tokens) == 6 else "$0"
        old = self.variables.get(name, Data(UNKNOWN))
        text = UNKNOWN
        if len(tokens) in (4, 6) and re.fullmatch(r"/[\w %/:;@#,-]+/", tokens[1]):
            text = old.text.replace(tokens[1][1:-1], self.value(tokens[3:4]).text)
        self.variables[name] = Data(text, old.labels)

    def shell(self, command: Data) -> None:
        if command not in self.found.shells:
            self.found.shells.append(command)

    def print(self, at: int) -> None:
        """``print x | "command"``, ``print x > "file"``."""
        end = self.limit(at)
        redirect = next((each for each in range(at, end) if self.tokens[each] in ("|", "|&", ">", ">>")), end)
        if redirect == end:
            return
        text = self.value(self.tokens[at:redirect] or ["$", "0"])
        target = self.value(self.tokens[redirect + 1 : end])
        if target.text.startswith("/inet/") or target.text in _DEVICES:
            return
        if self.tokens[redirect][0] == "|":
            self.shell(text if _SHELLS(target.text) else target)
        else:
            method = "append" if self.tokens[redirect] == ">>" else ""
            self.found.effects.append(("write", target.text, False, text.labels, method))
            before = self.found.files.get(target.text, Data())
            self.found.files[target.text] = Data(f"{before.text}{text.text}\n", before.labels | text.labels)
