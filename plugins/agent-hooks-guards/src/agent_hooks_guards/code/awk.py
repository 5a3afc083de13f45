"""Find the shell commands and the files of an awk program: ``system``, pipes, ``getline``, ``print >``.

Followed are literals, variables that are assigned once, the environment and the line of input; all else is unknown.
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import NETWORK, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.places.credentials import variable_labels

from . import STDIN, Found

_TOKEN = re.compile(
    r'[ \t\r]+|\\\n|\#[^\n]*|(?P<symbol>"(?:[^"\\\n]|\\.)*+"|[A-Za-z_]\w*|\d[\w.]*|\|&|>>|[=!<>]=|&&|\|\||.)', re.DOTALL
)
_REGEX = re.compile(r"/(?:[^/\\\n]|\\.)+/")
_BEFORE_REGEX = frozenset("( , { } ; ! ~ && || \n |".split(" "))
_ENDS = frozenset("; } \n && ||".split(" "))
_STARTS = _ENDS | {"{", ",", "="}
_SHELLS = re.compile(r"(?:\S*/)?(?:sh|bash|dash|zsh|ksh|ash)(?: -[sxe]*)*\s*").fullmatch
_DEVICES = frozenset(("/dev/stdout", "/dev/stderr", "-"))
_ESCAPE = re.compile(r"\\([0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}
_INPUT = frozenset((STDIN,))
_MOST_TOKENS = 5_000
_LONGEST_STATEMENT = 500  # tokens
_MOST_STEPS = 100_000


def scan(text: str, labels: frozenset[str], arguments: list[str], _language: str, stdin: str | None = None) -> Found:
    """Return the effects of an awk program. ``arguments``: variables, as ``name=value``, and files."""
    tokens = _tokens(text)
    if len(tokens) > _MOST_TOKENS:
        return Found(doubts=["the awk program is too long to be analysed"])
    program = _Program(tokens, labels)
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if equals:
            program.variables[name] = Data(value)
    line = (stdin or "").removesuffix("\n")
    if line and "\n" not in line:
        program.variables["$0"] = Data(line, _INPUT)
    for at in range(len(tokens)):
        if program.steps < 0:
            program.found.doubts.append("the awk program is too long to be analysed")
            break
        program.step(at)
    return program.found


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(text) and len(found) <= _MOST_TOKENS:
        is_regex = text[at] == "/" and (not found or found[-1] in _BEFORE_REGEX)
        match = (_REGEX.match(text, at) if is_regex else None) or _TOKEN.match(text, at)
        assert match is not None
        if is_regex or match["symbol"]:
            found.append(match[0])
        at = match.end()
    return found


def _unescaped(match: re.Match[str]) -> str:
    return chr(int(match[1], 8)) if match[1][0] in "01234567" else _ESCAPES.get(match[1], match[1])


class _Program:
    def __init__(self, tokens: list[str], labels: frozenset[str]) -> None:
        self.tokens = tokens
        self.labels = labels
        self.variables: dict[str, Data] = {"$0": Data(UNKNOWN, _INPUT)}
        self.found = Found()
        self.steps = _MOST_STEPS

    def step(self, at: int) -> None:
        """Note the effects of the call or operator at a position."""
        symbol, following = self.tokens[at], self.tokens[at + 1 : at + 2]
        if symbol in ("print", "printf"):
            self.print(at + 1)
        elif symbol == "system" and following == ["("]:
            self.shell(self.value(self.tokens[at + 2 : self.end(at + 2)]))
        elif symbol in ("sub", "gsub") and following == ["("]:
            self.substitute(self.tokens[at + 2 : self.end(at + 2)])
        elif symbol == "getline" and self.tokens[at - 1] in ("|", "|&"):
            source = self.value(self.tokens[self.start(at - 2) : at - 1])
            if source.text.startswith("/inet/"):
                self.variables[(following or ["$0"])[0]] = Data(UNKNOWN, frozenset((NETWORK,)))
            else:
                self.shell(source)
        elif symbol == "<" and "getline" in self.tokens[at - 2 : at]:
            path = self.value(self.tokens[at + 1 : self.end(at + 1)])
            self.found.effects.append(("read", path.text, False, NO_LABELS, ""))
        elif symbol.startswith('"/inet/'):
            host = ":".join(symbol.strip('"').split("/")[4:6])
            self.found.effects.append(("receive", host, False, NO_LABELS, ""))
        elif following in (["="], ["+"], ["-"]) and (symbol == "NF" or self.tokens[at - 1] == "$") and symbol != "0":
            self.variables["$0"] = Data(UNKNOWN, _INPUT)
        elif following == ["="] and (symbol.isidentifier() or self.tokens[at - 1] == "$"):
            value = self.value(self.tokens[at + 2 : self.end(at + 2)])
            is_changed = symbol in self.variables
            self.variables["$0" if symbol == "0" else symbol] = Data(UNKNOWN, value.labels) if is_changed else value

    def end(self, at: int) -> int:
        """Return the end of the expression at a position."""
        depth = 0
        self.steps -= min(_LONGEST_STATEMENT, len(self.tokens) - at)
        for position in range(at, min(at + _LONGEST_STATEMENT, len(self.tokens))):
            symbol = self.tokens[position]
            depth += (symbol in "([") - (symbol in ")]")
            if depth < 0 or (not depth and symbol in _ENDS):
                return position
        return len(self.tokens)

    def start(self, at: int) -> int:
        """Return the start of the expression that ends at a position."""
        depth = 0
        self.steps -= min(_LONGEST_STATEMENT, at)
        for position in range(at, max(at - _LONGEST_STATEMENT, -1), -1):
            symbol = self.tokens[position]
            depth += (symbol in ")]") - (symbol in "([")
            if depth < 0 or (not depth and symbol in _STARTS):
                return position + 1
        return 0

    def value(self, tokens: list[str]) -> Data:
        """Return the value of an expression: the concatenation of its operands."""
        text, labels, at = "", self.labels, 0
        self.steps -= len(tokens)
        while at < len(tokens):
            symbol, following = tokens[at], tokens[at + 1 : at + 2]
            at += 1
            if symbol[0] == '"':
                text += _ESCAPE.sub(_unescaped, symbol[1:-1])
            elif symbol == "ENVIRON":
                text += UNKNOWN
                labels |= variable_labels("".join(tokens[at + 1 : at + 2]).strip('"'))
                at += 3
            elif symbol == "$" or following in (["("], ["["]):
                field = self.variables["$0"] if symbol == "$" and following == ["0"] else Data(UNKNOWN, _INPUT)
                text += field.text
                labels |= field.labels
                at = len(tokens) if following != ["0"] and symbol != "$" else at + 1
            elif symbol.isidentifier():
                known = self.variables.get(symbol, Data(UNKNOWN))
                text += known.text
                labels |= known.labels
            elif symbol not in "()":
                text += " " if symbol == "," else symbol if symbol[0].isdigit() else UNKNOWN
        return Data(text, labels)

    def substitute(self, tokens: list[str]) -> None:
        """``gsub(/x/, "y")``: a literal pattern is replaced, after another one the text is unknown."""
        pattern = tokens[0][1:-1] if tokens else ""
        parts = " ".join(tokens[1:4])
        name = tokens[4] if len(tokens) == 5 else "$0"
        old = self.variables.get(name, Data(UNKNOWN))
        is_literal = re.escape(pattern) == pattern.replace(" ", "\\ ") or pattern in "%/:;@#,_-"
        if not is_literal or len(tokens) not in (3, 5) or parts[:1] != ",":
            self.variables[name] = Data(UNKNOWN, old.labels)
        else:
            self.variables[name] = Data(old.text.replace(pattern, self.value(tokens[2:3]).text), old.labels)

    def shell(self, command: Data) -> None:
        if command not in self.found.shells:
            self.found.shells.append(command)

    def print(self, at: int) -> None:
        """``print x | "command"``, ``print x > "file"``."""
        end = self.end(at)
        depth, redirect = 0, end
        for position in range(at, end):
            symbol = self.tokens[position]
            depth += (symbol in "([") - (symbol in ")]")
            if not depth and symbol in ("|", "|&", ">", ">>"):
                redirect = position
                break
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
