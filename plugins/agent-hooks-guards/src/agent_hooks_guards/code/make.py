"""Find the shell commands of a makefile: its recipes, ``$(shell …)``, ``!=``.

Every recipe counts, because the targets that are built depend on files. Variables are expanded, functions are not.
"""

from __future__ import annotations

import re

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.values import UNKNOWN, Data

from . import Found

_LONGEST = 20_000  # characters
_DEEPEST = 5
_ASSIGNMENT = Pattern(r"(?:(?:export|override|private)\s+|[^\s:=]+:\s*(?=\w+\s*=))*([\w.-]+)\s*[:?+]*(!?)=\s*(.*)")
_RECIPE = Pattern(r"\t(.*)|[^\s#=][^=#]*?:[^=;]*;(.*)", re.DOTALL)
_REFERENCE = Pattern(r"\$(?:\$|[({]shell\s+((?:[^()]|\([^()]*\))*)[)}]|[({]([\w.-]+)[)}]|[({][^(){}]*[)}]|.)")
# A shell other than sh, and lines that make reads in another way or makes itself.
_BEYOND = Pattern(
    r"^\s*SHELL\s*[:?]*=\s*(?!(?:/\S*/)?(?:env\s+)?\w*sh\s*$)|\$[({](?:eval|guile)\b|^\.RECIPEPREFIX", re.MULTILINE
)
_VARIABLES = {"MAKE": "make", "CURDIR": ".", "HOME": "~", "RM": "rm -f", "CC": "cc", "CXX": "g++"}


def scan(text: str, labels: frozenset[str], arguments: list[str], *_: object) -> Found:
    """Return the effects of a makefile. ``arguments``: variables, as ``name=value``, and targets."""
    if len(text) > _LONGEST or _BEYOND.search("\n".join((text, *arguments))):
        return Found(doubts=["the recipes of the makefile are not known"])
    commands: list[str] = []
    given = {name: value for name, equals, value in (each.partition("=") for each in arguments) if equals}
    variables = {**_VARIABLES, **given}

    def expand(line: str, depth: int = 0) -> str:
        def replace(match: re.Match[str]) -> str:
            if match[0] == "$$":
                return "$"
            if match[1] is not None:
                commands.append(expand(match[1], depth + 1))
            value = variables.get(match[2] or match[0][1:])
            return UNKNOWN if value is None or depth > _DEEPEST else expand(value, depth + 1)

        return _REFERENCE.sub(replace, line)[:_LONGEST]

    recipes: list[str] = []
    for line in re.sub(r"(?m)^([^\t].*)\\\n\s*", r"\1 ", text).replace("\\\n", "\0").split("\n"):
        recipe, assignment = _RECIPE.match(line), _ASSIGNMENT.match(line.strip())
        if recipe is not None:
            recipes.append((recipe[1] or recipe[2] or "").replace("\0", "\\\n"))
        elif assignment is not None:
            variables[assignment[1]] = given.get(assignment[1], assignment[3])
            if assignment[2]:
                commands.append(expand(assignment[3]))
        if recipe is None and "shell" in line:
            expand(line)
    commands += [expand(recipe) for recipe in recipes]
    lines = dict.fromkeys(command.strip().lstrip("@-+ \t") for command in commands)
    found = Found()
    found.shells = [Data(line, labels) for line in lines if line]
    return found
