"""The programs that the command of a hook runs, with their literal arguments.

Arguments with these variables are literal, too: ``$CLAUDE_PROJECT_DIR``, ``$CLAUDE_PLUGIN_ROOT``, ``$PWD``, ``$HOME``,
the top of the repository, and variables that the command itself sets.
"""

from __future__ import annotations

import os
import re

from agent_hooks.shell import syntax
from agent_hooks.shell.parser import parse
from agent_hooks.shell.programs import SHELLS, command_line, name_of, unwrapped
from agent_hooks.shell.walk import nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The key of the top of the repository among the variables.
TOP = "git rev-parse --show-toplevel"
MAX_LENGTH = 128 * 1024  # of an argument; Linux allows no longer ones
_MAX_DEPTH = 5
_MAX_PROGRAMS = 10_000
_GLOB = re.compile(r"[*?]|\[.+\]")
_OWN_PATH = frozenset(("0", "BASH_SOURCE"))
_ASSIGNMENT = re.compile(r"(\w+)=(.*)", re.DOTALL)


class Argument:
    """An argument of a command. ``text``: its value, None if it is only known at run time; ``raw``: its spelling."""

    __slots__ = ("raw", "text")

    def __init__(self, text: str | None, raw: str) -> None:
        self.text = text
        self.raw = raw

    def __str__(self) -> str:
        return self.raw if self.text is None else self.text


class Invocation:
    """A program that a command runs.

    ``arguments``: the program and its arguments without wrapper programs; ``wrappers``: the arguments before them;
    ``documents``: its here-documents and here-strings.
    """

    __slots__ = ("arguments", "documents", "wrappers")

    def __init__(self, arguments: Sequence[Argument], documents: Sequence[Argument]) -> None:
        start = len(arguments) - len(unwrapped([str(argument) for argument in arguments]))
        self.wrappers = arguments[:start]
        self.arguments = arguments[start:]
        self.documents = documents

    @property
    def program(self) -> Argument:
        """The program, empty if a wrapper such as ``exec`` runs none."""
        return self.arguments[0] if self.arguments else Argument("", "")

    @property
    def name(self) -> str:
        """The name of the program without folder and version, an empty string for a computed one."""
        name = name_of(self.program.text or "")
        return name.partition("@")[0] or name


class CommandWords:
    """The invocations of a command, with those in substitutions, ``bash -c``, ``eval`` and here-documents for shells.

    ``values``: the known variables. ``others``: words that are no arguments of the invocations: assigned values, words
    of loops, operands of ``bash -c``. ``reads`` and ``writes``: the files of redirections.
    ``is_readable``: whether all of it could be parsed.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = dict(values)
        self.invocations: list[Invocation] = []
        self.is_readable = True
        self.others: list[Argument] = []
        self.reads: list[Argument] = []
        self.writes: list[Argument] = []

    def parse(self, text: str, depth: int = 0) -> None:
        """Add the invocations of a command line."""
        if depth > _MAX_DEPTH or len(self.invocations) > _MAX_PROGRAMS or len(text) > MAX_LENGTH:
            return
        kinds = (syntax.Simple, syntax.For, syntax.Group, syntax.Unreadable)
        found = [node for node in nodes(parse(text)) if isinstance(node, kinds)]
        for node in sorted(found, key=lambda node: int(node.start)):  # assignments before their uses
            if isinstance(node, syntax.Unreadable):
                self.others.append(Argument(node.text, node.text))
                self.is_readable = False
            elif isinstance(node, syntax.For):
                self.others += map(self.argument, node.words or ())
            else:
                documents = self._redirect(node.redirects)
                if isinstance(node, syntax.Simple):
                    for assignment in node.assignments:
                        self.others += map(self.argument, assignment.items or ())
                        self._assign(assignment.name, self.argument(assignment.value))
                    self.add([*map(self.argument, node.words)], documents, depth)

    def _redirect(self, redirects: list[syntax.Redirect]) -> list[Argument]:
        """Add the files of redirections and return the here-documents."""
        documents = []
        for redirect in redirects:
            target = self.argument(redirect.target)
            if redirect.operator in ("<<", "<<<"):
                documents.append(target)
            elif redirect.operator in ("<", "<>"):
                self.reads.append(target)
            elif not redirect.operator.endswith("&"):
                self.writes.append(target)
        return documents

    def add(self, arguments: Sequence[Argument], documents: Sequence[Argument] = (), depth: int = 0) -> None:
        """Add a program with its arguments, or the commands that these pass to a shell."""
        words = [str(argument) for argument in arguments]
        if not words:
            return
        invocation = Invocation(arguments, documents)
        if text := command_line(words) or command_line([str(each) for each in invocation.arguments]):
            self.others += [each for each, word in zip(arguments, words, strict=True) if word != text][1:]
            self.parse(text, depth + 1)
        else:
            self.invocations.append(invocation)
        if invocation.name in ("export", "local", "declare", "readonly", "typeset"):
            for argument in invocation.arguments[1:]:
                if assigned := _ASSIGNMENT.fullmatch(str(argument)):
                    self._assign(assigned[1], Argument(argument.text and assigned[2], assigned[2]))
        if invocation.name in SHELLS:
            for document in documents:
                self.parse(document.text or "", depth + 1)

    def _assign(self, name: str, value: Argument) -> None:
        self.others.append(Argument(value.text, f"{name}={value.raw}"))
        if value.text is None or len(value.text) > MAX_LENGTH:
            self.values.pop(name, None)
        else:
            self.values[name] = value.text

    def argument(self, word: syntax.Word) -> Argument:
        """Return a word of the syntax tree with its value."""
        return Argument(self._value(word), _spelled(word))

    def _value(self, word: syntax.Word) -> str | None:
        text = ""
        for number, part in enumerate(word):
            value: str | None = None
            if isinstance(part, str):
                value = part
            elif isinstance(part, syntax.Bare) and not _GLOB.search(part.text):
                value = os.path.expanduser(part.text) if number == 0 else part.text
            elif isinstance(part, syntax.Parameter):
                value = self._parameter(part)
            elif isinstance(part, syntax.Substitution):
                value = self._substituted(part.body)
            if value is None or len(text) + len(value) > MAX_LENGTH:
                return None
            text += value
        return text

    def _parameter(self, part: syntax.Parameter) -> str | None:
        is_own = part.name in _OWN_PATH
        value = self.values.get("0" if is_own else part.name) if is_own or part.index is None else None
        if part.operator in ("", ":-", "-"):
            return value
        is_folder = part.operator == "%" and part.arguments == [[syntax.Bare("/*")]]
        return os.path.dirname(value) if value and is_folder else None

    def _substituted(self, body: syntax.Node) -> str | None:
        """Return the output of ``pwd``, ``cd … && pwd``, ``dirname …`` and ``git rev-parse --show-toplevel``."""
        inner = [item.node for item in body.items] if isinstance(body, syntax.Sequence) else []
        commands = [[self._value(word) for word in node.words] for node in inner if isinstance(node, syntax.Simple)]
        match (
            [[word for word in command if word != "--"] for command in commands] if len(commands) == len(inner) else []
        ):
            case [["pwd"] | ["pwd", "-P"]]:
                return self.values.get("PWD")
            case [["git", "rev-parse", "--show-toplevel"]]:
                return self.values.get(TOP)
            case [["dirname", str(path)]]:
                return os.path.dirname(path)
            case [["cd", str(path)], ["pwd"] | ["pwd", "-P"]]:
                return path
        return None


def _spelled(word: syntax.Word) -> str:
    """Format a word of the syntax tree for a message: parameters by their names, substitutions as ``$(…)``."""
    text = ""
    for part in word:
        if isinstance(part, str):
            text += part
        elif isinstance(part, syntax.Bare):
            text += part.text
        elif isinstance(part, syntax.Parameter):
            rest = part.operator + "".join(map(_spelled, part.arguments))
            text += f"${{{part.name}{rest}}}" if rest else f"${part.name}"
        else:
            text += "$(…)"
    return text
