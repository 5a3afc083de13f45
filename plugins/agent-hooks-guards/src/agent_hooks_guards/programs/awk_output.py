"""What ``awk`` prints of known text, for programs of ``print`` and ``printf`` with texts, numbers and fields."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN

from .filters import lines_of
from .formats import LIMIT, printf, unescaped

_TOKEN = re.compile(r'\s*(?:"((?:[^"\\\n]|\\.)*)"|(\d+)|\$(\d+|NF\b)|(NF|NR)\b|(printf|print|sprintf)\b|([(),;}\n]))')
_RULE = re.compile(r"\s*(BEGIN|END|NR\s*==\s*\d+|)\s*\{")
_MAX_STATEMENTS = 100

# A token: text, number, field, variable, word, mark; all but one of them None.
_Token = tuple[str | None, ...]


def printed(program: str, text: str, separator: str | None) -> str | None:
    """Return what ``program`` prints when it reads ``text``; None if that is not known. ``separator``: of fields."""
    if UNKNOWN in program:
        return None
    rules = _rules(program)
    if rules is None:
        return None
    made: list[str] = []
    reads = any(when != "BEGIN" for when, _ in rules)
    if reads and UNKNOWN in text:
        return None
    lines = [line.removesuffix("\n") for line in lines_of(text)] if reads else []
    steps = [
        ("BEGIN", "", 0),
        *(("", line, at + 1) for at, line in enumerate(lines)),
        ("END", lines[-1] if lines else "", len(lines)),
    ]
    length = 0
    for moment, line, number in steps:
        fields = _fields(line, separator)
        if fields is None:
            return None
        for when, statements in rules:
            is_meant = (
                when == moment
                if when in ("BEGIN", "END") or moment
                else not when or int(when.rpartition("=")[2]) == number
            )
            if not is_meant:
                continue
            for name, arguments in statements:
                shown = _shown(name, arguments, fields, number)
                if shown is None:
                    return None
                made.append(shown)
                length += len(shown)
        if length > LIMIT:
            return "".join(made) + UNKNOWN
    return "".join(made)


def _fields(line: str, separator: str | None) -> list[str] | None:
    if separator is None or separator == " ":
        return [line, *line.split()]
    if separator in ("\\t", "t"):
        separator = "\t"
    if len(separator) != 1 or separator == "\\":
        return None
    return [line, *(line.split(separator) if line else [])]


_Statement = tuple[str, list[list[_Token]]]


def _rules(program: str) -> list[tuple[str, list[_Statement]]] | None:
    rules: list[tuple[str, list[_Statement]]] = []
    at = 0
    while program[at:].strip():
        found = _RULE.match(program, at)
        if found is None or len(rules) > _MAX_STATEMENTS:
            return None
        body = _body(program, found.end())
        if body is None:
            return None
        statements, at = body
        rules.append(("".join(found[1].split()), statements))
    return rules


def _body(program: str, at: int) -> tuple[list[_Statement], int] | None:
    """The statements up to the closing brace, and where it ends."""
    statements: list[_Statement] = []
    name = ""
    arguments: list[list[_Token]] = [[]]
    depth = 0
    while True:
        found = _TOKEN.match(program, at)
        if found is None or len(statements) > _MAX_STATEMENTS:
            return None
        at = found.end()
        token = found.groups()
        word, mark = token[4], token[5]
        if word is not None:
            if name or word == "sprintf":
                return None
            name = word
        elif mark in (";", "\n", "}"):
            if depth:
                return None
            if name:
                statements.append((name, arguments if arguments != [[]] else []))
            elif arguments != [[]]:
                return None
            if mark == "}":
                return statements, at
            name, arguments = "", [[]]
        elif not name:
            return None
        elif mark == "(":
            depth += 1
        elif mark == ")":
            depth -= 1
            if depth < 0:
                return None
        elif mark == ",":
            arguments.append([])
        else:
            arguments[-1].append(token)


def _shown(name: str, arguments: list[list[_Token]], fields: list[str], number: int) -> str | None:
    values = [_value(tokens, fields, number) for tokens in arguments]
    if name == "print":
        return " ".join(values if arguments else fields[:1]) + "\n"
    if not values:
        return None
    form, *rest = values
    parts = form.replace("%%", "").split("%")[1:]
    # %c of a number is the character.
    for at, part in enumerate(parts[: len(rest)]):
        letter = part.lstrip("-+ #0.123456789")[:1]
        is_number = len(arguments[at + 1]) == 1 and arguments[at + 1][0][0] is None
        if letter == "c" and is_number and rest[at].isdecimal():
            code = int(rest[at][:7])
            rest[at] = chr(code) if 0 < code < 128 else UNKNOWN
    if len(parts) != len(rest) or "\\" in form or "*" in form:
        return None
    return printf(["--", form.replace("\\", "\\\\"), *rest])


def _value(tokens: list[_Token], fields: list[str], number: int) -> str:
    made = []
    for text, digits, field, variable, *_ in tokens:
        if text is not None:
            made.append(unescaped(text.replace("\\/", "/")))
        elif digits is not None:
            made.append(digits)
        elif field is not None:
            at = len(fields) - 1 if field == "NF" else int(field[:6])
            made.append(fields[at] if at < len(fields) else "")
        else:
            made.append(str(len(fields) - 1 if variable == "NF" else number))
    return "".join(made)
