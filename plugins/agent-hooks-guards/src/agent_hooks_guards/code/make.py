"""Find the shell commands of a makefile: its recipes, ``$(shell …)``, ``!=``.

Every recipe counts, because the targets that are built depend on files. Variables are expanded, functions are not.
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import Found

_LONGEST = 20_000  # characters, of a makefile or of an expanded line
_DEEPEST = 5
_ASSIGNMENT = re.compile(r"(?:(?:export|override|private)\s+|[^\s:=]+:\s*(?=\w+\s*=))*([\w.-]+)\s*([:?+!]*)=\s*(.*)")
_RULE = re.compile(r"[^\t\s#=][^=#]*?:[^=;]*(?:;(.*))?$", re.DOTALL)
_REFERENCE = re.compile(r"\$(?:\$|[({]shell\s+((?:[^()]|\([^()]*\))*)[)}]|[({]([\w.-]+)[)}]|[({][^(){}]*[)}]|.)")
_SHELLS = re.compile(r"(?:\S*/)?(?:env\s+)?(?:sh|bash|dash|zsh|ksh|ash)")
# Lines that make reads in another way, or makes itself.
_BEYOND = re.compile(r"\$[({](?:eval|guile)\b|^\.RECIPEPREFIX", re.MULTILINE).search
_VARIABLES = {"MAKE": "make", "CURDIR": ".", "HOME": "~", "RM": "rm -f", "CC": "cc", "CXX": "g++"}


def scan(text: str, labels: frozenset[str], arguments: list[str], _language: str) -> Found:
    """Return the effects of a makefile. ``arguments``: variables, as ``name=value``, and targets."""
    found = Found()
    if len(text) > _LONGEST:
        found.doubts.append("the makefile is too long to be analysed")
        return found
    given = {name: value for name, equals, value in (each.partition("=") for each in arguments) if equals}
    variables = {**_VARIABLES, **given}

    def expand(line: str, depth: int = 0) -> str:
        def replace(match: re.Match[str]) -> str:
            if match[0] == "$$":
                return "$"
            if match[1] is not None:
                run(expand(match[1], depth + 1))
            value = variables.get(match[2] or match[0][1:])
            return UNKNOWN if value is None or depth > _DEEPEST else expand(value, depth + 1)

        made = _REFERENCE.sub(replace, line) if "$" in line else line
        return made if len(made) <= _LONGEST else UNKNOWN

    def run(command: str) -> None:
        command = command.strip().lstrip("@-+ \t")
        if command and Data(command, labels) not in found.shells:
            found.shells.append(Data(command, labels))

    recipes: list[str] = []
    for line in _joined(text):
        if line.startswith("\t"):
            recipes.append(line)
            continue
        assignment, rule = _ASSIGNMENT.match(line.strip()), _RULE.match(line)
        if assignment is not None:
            name, operator, value = assignment.groups()
            if operator == "!":
                run(expand(value))
            elif name not in given:
                variables[name] = f"{variables.get(name, '')} {value}".strip() if operator == "+" else value
        elif rule is not None and rule[1]:
            recipes.append(rule[1])
        if "shell" in line and (assignment is None or ":" in assignment[2]):
            expand(line)
    if _SHELLS.fullmatch(variables.get("SHELL", "sh")) is None or _BEYOND(text):
        found.doubts.append("the recipes of the makefile are not known")
    for recipe in recipes:
        run(expand(recipe))
    return found


def _joined(text: str) -> list[str]:
    """Return the lines of a makefile, each with those that continue it."""
    lines = text.replace("\\\n", "\0").split("\n")
    return [line.replace("\0", "\\\n") if line[:1] == "\t" else re.sub(r"\0\s*", " ", line) for line in lines]
