"""The programs that the command of a hook runs, with their literal arguments.

Arguments with these variables are literal, too: ``$CLAUDE_PROJECT_DIR``, ``$CLAUDE_PLUGIN_ROOT``, ``$PWD``, ``$HOME``,
the top of the repository, and variables that the command itself sets.
"""

from __future__ import annotations

import os

from agent_hooks.shell import syntax
from agent_hooks.shell.patterns import Pattern
from agent_hooks.shell.programs import SHELLS, command_line, name_of, unwrapped
from agent_hooks.shell.syntax import UNKNOWN

from .command_line import DECLARERS, Command, CommandLine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# The key of the top of the repository among the variables.
TOP = "git rev-parse --show-toplevel"
MAX_LENGTH = 128 * 1024  # of an argument; Linux allows no longer ones
_MAX_DEPTH = 5
_MAX_PROGRAMS = 10_000
_GLOB = Pattern(r"[*?]|\[.+\]")


class Argument:
    """An argument of a command. ``text``: its value, None if it is only known at run time; ``raw``: its spelling."""

    __slots__ = ("raw", "text")

    def __init__(self, text: str | None, raw: str) -> None:
        self.text = text
        self.raw = raw

    @classmethod
    def of(cls, word: str) -> Argument:
        """Return the argument for a resolved word."""
        is_known = UNKNOWN not in word and len(word) <= MAX_LENGTH
        return cls(str(word) if is_known else None, getattr(word, "raw", word.replace(UNKNOWN, "")))

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
        """The program, an empty argument if there is none but wrappers."""
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
        self.values = {**values, "BASH_SOURCE": values["0"]} if "0" in values else {**values}
        self.invocations: list[Invocation] = []
        self.is_readable = True
        self.others: list[Argument] = []
        self.reads: list[Argument] = []
        self.writes: list[Argument] = []

    def parse(self, text: str, depth: int = 0) -> None:
        """Add the invocations of a command line."""
        if depth > _MAX_DEPTH or len(self.invocations) > _MAX_PROGRAMS or len(text) > MAX_LENGTH:
            return
        line = _HookLine(text, "", self.values)
        unreadable = line.unreadable()
        self.is_readable = self.is_readable and not unreadable
        self.others += map(Argument.of, unreadable)
        for command in line.commands():
            self.reads += map(Argument.of, command.sources)
            self.writes += map(Argument.of, command.targets)
            self.others += [Argument.of(f"{name}={value}") for name, value in command.assigned.items()]
            arguments = [*map(Argument.of, command.words)]
            if command.words[:1] == ["for"]:
                self.others += arguments[1:]
            elif command.words[:1] not in (["case"], ["[["]):
                self.add(arguments, [*map(Argument.of, command.documents)], depth)

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
        if invocation.name in DECLARERS:
            self.others += [each for each in invocation.arguments if "=" in each.raw]
        if invocation.name in SHELLS:
            for document in documents:
                self.parse(document.text or "", depth + 1)


class _Word(str):
    """A resolved word; ``raw``: its spelling."""

    __slots__ = ("raw",)
    raw: str


class _HookLine(CommandLine):
    """A command line in which patterns are not known, but the output of a few commands is."""

    def _words(self, word: syntax.Word, command: Command) -> list[str]:
        unquoted = (
            part.text if isinstance(part, syntax.Bare) else self.variables.get(part.name, "")
            for part in word
            if isinstance(part, syntax.Bare) or (isinstance(part, syntax.Parameter) and not part.quoted)
        )
        sign = UNKNOWN if any(map(_GLOB.search, unquoted)) else ""
        words = [_Word(sign + each) for each in super()._words(word, command)]
        for each in words:
            each.raw = _spelled(word)
        return [*words]

    def _parameter(self, part: syntax.Parameter, command: Command) -> str:
        return super()._parameter(part, command) if part.name in self.variables else UNKNOWN + _spelled([part])

    def substituted(self, part: syntax.Substitution | syntax.ProcessSubstitution) -> str:
        """Return the output of ``pwd``, ``cd … && pwd``, ``dirname …`` and ``git rev-parse --show-toplevel``."""
        inner = [item.node for item in part.body.items] if isinstance(part.body, syntax.Sequence) else []
        commands = [self._arguments(node) for node in inner if isinstance(node, syntax.Simple)]
        output: str | None = None
        match commands if len(commands) == len(inner) else []:
            case [["pwd"] | ["pwd", "-P"]]:
                output = self.variables.get("PWD")
            case [["git", "rev-parse", "--show-toplevel"]]:
                output = self.variables.get(TOP)
            case [["dirname", str(path)]]:
                output = UNKNOWN if UNKNOWN in path else os.path.dirname(path)
            case [["cd", str(path)], ["pwd"] | ["pwd", "-P"]]:
                output = path
        return f"{UNKNOWN}$(…)" if output is None else output

    def _arguments(self, node: syntax.Simple) -> list[str]:
        return [text for word in node.words if (text := self._text(word, Command(""))) != "--"]


def _spelled(word: syntax.Word) -> str:
    """Format a word of the syntax tree for a message: parameters by their names, substitutions as ``$(…)``."""
    text = ""
    for part in word:
        if isinstance(part, (str, syntax.Bare)):
            text += part if isinstance(part, str) else part.text
        elif isinstance(part, syntax.Parameter):
            rest = part.operator + "".join(map(_spelled, part.arguments))
            text += f"${{{part.name}{rest}}}" if rest else f"${part.name}"
        else:
            text += "$(…)"
    return text
