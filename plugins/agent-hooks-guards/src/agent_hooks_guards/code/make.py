"""What a makefile would do: its recipes, and the commands that run while it is read.

Every recipe counts, because which of them runs depends on files that are not looked at.
"""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN, Data

from . import Found

_MOST_STEPS = 5_000
_DEEPEST = 25
_LONGEST = 100_000
_PER_STEP = 100  # characters that are read again
_TOO_MUCH = "the makefile is nested or longer than what is looked at"
_SHELLS = frozenset("sh bash dash zsh ksh ash fish".split())
_LANGUAGES = {
    "python": "python",
    "python3": "python",
    "perl": "perl",
    "ruby": "ruby",
    "node": "node",
    "php": "php",
    "lua": "lua",
    "awk": "awk",
    "gawk": "awk",
}
_DIRECTIVES = (
    "include ",
    "-include ",
    "sinclude ",
    "ifeq",
    "ifneq",
    "ifdef",
    "ifndef",
    "else",
    "endif",
    "vpath",
    "unexport",
    "undefine",
    "private ",
    "load ",
)


def scan(text: str, labels: frozenset[str], arguments: list[str], language: str) -> Found:
    """What a makefile would do. ``arguments``: variables that are set for it, as ``name=value``, and targets."""
    del language
    walk = _Walk(labels)
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if equals:
            walk.variables[name.rstrip(":?+")] = value
            walk.fixed.add(name.rstrip(":?+"))
    walk.read(text)
    walk.recipes()
    return walk.found


class _Walk:
    def __init__(self, labels: frozenset[str]) -> None:
        self.labels = labels
        self.found = Found()
        self.variables: dict[str, str] = {
            "MAKE": "make",
            "CURDIR": ".",
            "HOME": "~",
            "RM": "rm -f",
            "SHELL": "/bin/sh",
            "MAKEFLAGS": "",
            "CC": "cc",
            "CXX": "g++",
        }
        self.fixed: set[str] = set()
        self.rules: list[tuple[str, list[str]]] = []
        self.steps = _MOST_STEPS
        self.depth = 0

    def read(self, text: str) -> None:
        """Read rules and variables."""
        lines = _lines(text, self.variables.get(".RECIPEPREFIX", "\t")[:1] or "\t")
        at = 0
        recipe: list[str] | None = None
        while at < len(lines) and self.steps > 0:
            self.steps -= 1
            line = lines[at]
            at += 1
            prefix = self.variables.get(".RECIPEPREFIX", "\t")[:1] or "\t"
            if line.startswith(prefix) and recipe is not None:
                recipe.append(line[1:])
                continue
            stripped = line.strip()
            if not stripped or stripped.startswith("#"):
                continue
            words = stripped.split(None, 1)
            if words[0] == "define" or (
                words[0] in ("override", "export") and words[1:] and words[1].startswith("define")
            ):
                name = stripped.partition("define")[2].strip().rstrip("=:?+ ").strip()
                body: list[str] = []
                while at < len(lines) and lines[at].strip() != "endef":
                    body.append(lines[at])
                    at += 1
                at += 1
                self.variables[name] = "\n".join(body)
                continue
            if words[0] in ("override", "export", "private") and len(words) > 1:
                if "=" not in words[1]:
                    continue
                stripped = words[1]
            if stripped.startswith(_DIRECTIVES) and ":" not in stripped.split()[0]:
                if "$(shell" in stripped or "${shell" in stripped or "`" in stripped:
                    self.expand(stripped)
                continue
            if self.assign(stripped):
                recipe = None if "=" in stripped.partition(":")[0] else recipe
                continue
            colon = _colon(stripped)
            if colon < 0:
                inner = self.expand(stripped)
                if inner.strip() and inner != stripped and self.depth < _DEEPEST:
                    self.depth += 1
                    self.read(inner)
                    self.depth -= 1
                continue
            target = self.expand(stripped[:colon]).strip()
            rest = stripped[colon:].lstrip(":")
            dependencies, semicolon, command = rest.partition(";")
            if "=" in dependencies and self.assign(dependencies.strip()):
                recipe = None
                continue
            self.expand(dependencies)
            recipe = [command] if semicolon else []
            self.rules.append((target, recipe))
        if self.steps <= 0:
            self.doubt(_TOO_MUCH)

    def doubt(self, what: str) -> None:
        if what not in self.found.doubts:
            self.found.doubts.append(what)

    def assign(self, line: str) -> bool:
        """`NAME = value` and its kin; whether the line was one."""
        equals = line.find("=")
        if equals < 0:
            return False
        left = line[:equals]
        operator = ""
        while left and left[-1] in ":?+!":
            operator = left[-1] + operator
            left = left[:-1]
        name = left.strip()
        if not name or any(char.isspace() or char in ":#;|&<>'\"" for char in name.replace("$(", "").replace(")", "")):
            return False
        name = self.expand(name)
        value = line[equals + 1 :].lstrip()
        if operator == "!":
            self.shell(self.expand(value))
            value = UNKNOWN
        elif operator in (":", "::", ":::"):
            value = self.expand(value)
        if name in self.fixed:
            return True
        if operator == "?" and name in self.variables:
            return True
        if operator == "+" and name in self.variables:
            value = self.variables[name] + " " + value
        self.variables[name] = value
        return True

    def shell(self, text: str) -> None:
        data = Data(text, self.labels)
        if text.strip() and data not in self.found.shells:
            self.found.shells.append(data)

    def recipes(self) -> None:
        """Tell what the recipes run."""
        one_shell = any(target == ".ONESHELL" for target, _recipe in self.rules)
        for target, lines in list(self.rules):
            self.variables["@"] = target.split()[0] if target else ""
            commands = ["\n".join(line.lstrip("@-+ \t") for line in lines)] if one_shell else lines
            for line in commands:
                # A variable may hold several lines, each a command of its own.
                for command in (
                    self.expand(line).split("\n") if not one_shell and "\\\n" not in line else [self.expand(line)]
                ):
                    self.command(command.lstrip("@-+ \t"))

    def command(self, text: str) -> None:
        """One recipe line is given to the makefile's shell."""
        if not text.strip():
            return
        words = self.expand(self.variables.get("SHELL", "/bin/sh")).split() or ["/bin/sh"]
        program = words[0].rpartition("/")[2]
        if program == "env" and len(words) > 1:
            words = words[1:]
            program = words[0].rpartition("/")[2]
        flags = self.expand(self.variables.get(".SHELLFLAGS", "-c")).split()
        if program in _SHELLS:
            self.shell(text)
        elif program.rstrip("0123456789.") in _LANGUAGES:
            self.found.codes.append((_LANGUAGES[program.rstrip("0123456789.")], Data(text, self.labels)))
        else:
            argv = [*words, *flags, text]
            if argv not in self.found.programs:
                self.found.programs.append(argv)

    # Expansion

    def expand(self, text: str) -> str:
        """``text`` with its variables and functions; ``UNKNOWN`` where they are not known."""
        if "$" not in text:
            return text
        self.steps -= 1 + len(text) // _PER_STEP
        if self.depth > _DEEPEST or self.steps <= 0 or len(text) > _LONGEST:
            self.doubt(_TOO_MUCH)
            return UNKNOWN
        self.depth += 1
        out: list[str] = []
        at = 0
        size = len(text)
        total = 0
        while at < size:
            dollar = text.find("$", at)
            if dollar < 0 or dollar + 1 >= size:
                out.append(text[at:])
                break
            out.append(text[at:dollar])
            char = text[dollar + 1]
            if char == "$":
                out.append("$")
                at = dollar + 2
                continue
            if char in "({":
                end = _close(text, dollar + 1)
                piece = self.reference(text[dollar + 2 : end])
                at = end + 1
            else:
                piece = self.variable(char)
                at = dollar + 2
            total += len(piece)
            if total > _LONGEST:
                piece = UNKNOWN
            out.append(piece)
        self.depth -= 1
        return "".join(out)

    def variable(self, name: str) -> str:
        if name in self.variables:
            value = self.variables[name]
            return self.expand(value) if "$" in value else value
        return UNKNOWN

    def reference(self, inner: str) -> str:
        """`$(name)`, `$(name:a=b)`, `$(function arguments)`."""
        name, _space, rest = inner.partition(" ")
        if name == "shell":
            self.shell(self.expand(rest))
            return UNKNOWN
        if name in _FUNCTIONS and _space:
            return self.function(name, rest)
        if "$" in inner:
            inner = self.expand(inner)
        base, colon, change = inner.partition(":")
        if colon and "=" in change:
            value = self.variable(base)
            if UNKNOWN in value:
                return value
            old, _equals, new = change.partition("=")
            return " ".join(
                word[: len(word) - len(old)] + new if word.endswith(old) else word for word in value.split()
            )
        return self.variable(inner.strip())

    def function(self, name: str, rest: str) -> str:
        parts = _arguments(rest)
        if name == "eval":
            self.depth += 1
            self.read(self.expand(rest))
            self.depth -= 1
            return ""
        if name == "call":
            outer = {str(at): self.variables.get(str(at)) for at in range(1, 10)}
            for at, part in enumerate(parts[1:10], 1):
                self.variables[str(at)] = self.expand(part)
            value = self.variable(self.expand(parts[0]).strip())
            for key, before in outer.items():
                if before is None:
                    self.variables.pop(key, None)
                else:
                    self.variables[key] = before
            return value
        if name == "foreach" and len(parts) > 2:
            variable = self.expand(parts[0]).strip()
            words = self.expand(parts[1]).split()[:100]
            out: list[str] = []
            for word in words:
                self.variables[variable] = word
                out.append(self.expand(",".join(parts[2:])))
            return " ".join(out)
        texts = [self.expand(part) for part in parts]
        if name == "subst" and len(texts) > 2:
            return ",".join(texts[2:]).replace(texts[0], texts[1]) if texts[0] else texts[2]
        if name == "strip":
            return " ".join(texts[0].split())
        if name in ("addprefix", "addsuffix") and len(texts) > 1:
            return " ".join(texts[0] + word if name == "addprefix" else word + texts[0] for word in texts[1].split())
        if name in (
            "if",
            "or",
            "and",
            "error",
            "warning",
            "info",
            "abspath",
            "realpath",
            "sort",
            "firstword",
            "lastword",
            "notdir",
            "dir",
            "value",
            "origin",
        ):
            if name == "if":
                return texts[1] if len(texts) > 1 and texts[0].strip() else texts[2] if len(texts) > 2 else ""
            if name in ("info", "warning", "error"):
                return ""
            words = texts[0].split()
            if name == "firstword":
                return words[0] if words else ""
            if name == "lastword":
                return words[-1] if words else ""
            if name in ("abspath", "realpath", "sort"):
                return texts[0]
            return UNKNOWN
        if name == "wildcard":
            return texts[0]
        if name == "join" and len(texts) > 1:
            first, second = texts[0].split(), texts[1].split()
            return " ".join(one + (second[at] if at < len(second) else "") for at, one in enumerate(first))
        if name == "guile":
            self.doubt("a text is run as Guile code")
        return UNKNOWN


_FUNCTIONS = frozenset(
    (
        "subst patsubst strip findstring filter filter-out sort word wordlist words firstword lastword dir "
        "notdir suffix basename addsuffix"
        "addprefix join wildcard realpath abspath if or and foreach file call value eval origin flavor error "
        "warning info guile"
    ).split()
)


def _lines(text: str, prefix: str) -> list[str]:
    """The lines of a makefile; those that go on behind a backslash are one, in recipes with the backslash kept."""
    lines: list[str] = []
    for line in text.split("\n"):
        if lines and lines[-1].endswith("\\") and not lines[-1].endswith("\\\\"):
            if lines[-1].startswith(prefix):
                lines[-1] += "\n" + line.removeprefix(prefix)
            else:
                lines[-1] = lines[-1][:-1].rstrip() + " " + line.lstrip()
        else:
            lines.append(line)
    return lines


def _colon(line: str) -> int:
    """The position of the colon behind a rule's targets, -1 if there is none."""
    depth = 0
    for at, char in enumerate(line):
        if char in "({":
            depth += 1
        elif char in ")}":
            depth -= 1
        elif char == ":" and not depth:
            return at
    return -1


def _close(text: str, at: int) -> int:
    """The position of the bracket that closes the one at ``at``."""
    opening = text[at]
    closing = ")" if opening == "(" else "}"
    depth = 0
    while at < len(text):
        depth += (text[at] == opening) - (text[at] == closing)
        if not depth:
            return at
        at += 1
    return len(text)


def _arguments(text: str) -> list[str]:
    """A function's arguments: between commas that are in no brackets."""
    parts: list[str] = []
    depth = start = 0
    for at, char in enumerate(text):
        if char in "({":
            depth += 1
        elif char in ")}":
            depth -= 1
        elif char == "," and not depth:
            parts.append(text[start:at])
            start = at + 1
    parts.append(text[start:])
    return parts
