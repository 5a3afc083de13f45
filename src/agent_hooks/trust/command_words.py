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
    from collections.abc import Iterable, Mapping, Sequence

# The key of the top of the repository among the variables.
TOP = "git rev-parse --show-toplevel"
MAX_LENGTH = 128 * 1024  # of an argument; Linux allows no longer ones
_MAX_DEPTH = 5
_MAX_PROGRAMS = 10_000
_GLOB = re.compile(r"[*?]|\[.+\]")
_OWN_PATH = frozenset(("0", "BASH_SOURCE"))
_DECLARING = frozenset("export local declare readonly typeset".split())


class Argument:
    """An argument of a command. ``text``: its value, None if it is only known at run time; ``raw``: its spelling."""

    __slots__ = ("raw", "text")

    def __init__(self, text: str | None, raw: str) -> None:
        self.text = text
        self.raw = raw


class Invocation:
    """A program that a command runs.

    ``arguments``: the program and its arguments without wrapper programs; ``wrappers``: the arguments before them;
    ``reads`` and ``writes``: the files of its redirections; ``documents``: the texts of its here-documents, None for
    computed ones.
    """

    __slots__ = ("arguments", "documents", "reads", "wrappers", "writes")

    def __init__(self, arguments: Sequence[Argument]) -> None:
        words = [argument.text or argument.raw for argument in arguments]
        start = len(words) - len(unwrapped(words))
        self.wrappers = arguments[:start]
        self.arguments = arguments[start:]
        self.reads: list[Argument] = []
        self.writes: list[Argument] = []
        self.documents: list[str | None] = []

    @property
    def program(self) -> Argument:
        """The program."""
        return self.arguments[0] if self.arguments else Argument("", "")

    @property
    def name(self) -> str:
        """The name of the program without folder and version, an empty string for a computed one."""
        name = name_of(self.program.text or "")
        return name.partition("@")[0] or name

    @property
    def words(self) -> list[str]:
        """The arguments as strings, computed ones in their spelling."""
        return [argument.text if argument.text is not None else argument.raw for argument in self.arguments]


class CommandWords:
    """The invocations of a command, with those in substitutions, ``bash -c``, ``eval`` and here-documents for shells.

    ``values``: the known variables. ``assigned``: the values that the command assigns. ``lists``: the values of its
    loops.
    """

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values = dict(values)
        self.invocations: list[Invocation] = []
        self.assigned: list[Argument] = []
        self.lists: list[Argument] = []

    def parse(self, text: str, depth: int = 0) -> None:
        """Add the invocations of a command line."""
        if depth > _MAX_DEPTH or len(self.invocations) > _MAX_PROGRAMS:
            return
        found = list(nodes(parse(text)))
        kinds = (syntax.Simple, syntax.For, syntax.Group, syntax.Unreadable)
        for node in sorted((each for each in found if isinstance(each, kinds)), key=lambda each: int(each.start)):
            if isinstance(node, syntax.Unreadable):
                self.assigned.append(Argument(node.text, node.text))
                continue
            if isinstance(node, syntax.For):
                self.lists += map(self._argument, node.words or ())
            if not isinstance(node, syntax.Simple):
                self.add([], getattr(node, "redirects", ()), depth)
                continue
            for assignment in node.assignments:
                self.assigned += map(self._argument, assignment.items or ())
                self._assign(assignment.name, assignment.value)
            if node.words and self.value(node.words[0]) in _DECLARING:
                for word in node.words[1:]:
                    self._declare(word)
            self.add([*map(self._argument, node.words)], node.redirects, depth)

    def _argument(self, word: syntax.Word) -> Argument:
        return Argument(self.value(word), spelled(word))

    def add(self, arguments: Sequence[Argument], redirects: Iterable[syntax.Redirect] = (), depth: int = 0) -> None:
        """Add a program with its arguments, and the commands that it passes to a shell."""
        invocation = Invocation(arguments)
        for redirect in redirects:
            target = self._argument(redirect.target)
            if redirect.operator in ("<<", "<<<"):
                invocation.documents.append(target.text)
            elif redirect.operator in ("<", "<>"):
                invocation.reads.append(target)
            elif not redirect.operator.endswith("&"):
                invocation.writes.append(target)
        self.invocations.append(invocation)
        text = command_line(invocation.words) or command_line([each.raw for each in invocation.wrappers])
        if text:
            self.parse(text, depth + 1)
        if invocation.name in SHELLS:
            for document in filter(None, invocation.documents):
                self.parse(document, depth + 1)

    def _assign(self, name: str, word: syntax.Word) -> None:
        value = self.value(word)
        self.assigned.append(Argument(value, f"{name}={spelled(word)}"))
        if value is None or len(value) > MAX_LENGTH:
            self.values.pop(name, None)
        else:
            self.values[name] = value

    def _declare(self, word: syntax.Word) -> None:
        first = word[0] if word else ""
        if isinstance(first, syntax.Bare) and "=" in first.text:
            name, _, rest = first.text.partition("=")
            self._assign(name, [syntax.Bare(rest), *word[1:]] if rest else word[1:])

    def value(self, word: syntax.Word) -> str | None:
        """Return the value of a word of the syntax tree, None if it is unknown."""
        text = ""
        for number, part in enumerate(word):
            value: str | None
            if isinstance(part, str):
                value = part
            elif isinstance(part, syntax.Bare):
                value = None if _GLOB.search(part.text) else part.text
                if number == 0 and value and value.startswith("~"):
                    value = os.path.expanduser(value)
            elif isinstance(part, syntax.Parameter):
                value = self._parameter(part)
            elif isinstance(part, syntax.Substitution):
                value = self._substituted(part.body)
            else:
                value = None
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
        commands = [[self.value(word) for word in node.words] for node in inner if isinstance(node, syntax.Simple)]
        commands = [[word for word in command if word != "--"] for command in commands]
        if not commands or len(commands) < len(inner) or any(None in command or not command for command in commands):
            return None
        last = " ".join(word or "" for word in commands[-1])
        if len(commands) == 1 and last in ("pwd", "pwd -P"):
            return self.values.get("PWD")
        if len(commands) == 1 and last == TOP:
            return self.values.get(TOP)
        first, *rest = commands[0]
        if len(commands) == 1 and first == "dirname" and len(rest) == 1:
            return os.path.dirname(rest[0] or "")
        if len(commands) == 2 and first == "cd" and len(rest) == 1 and last in ("pwd", "pwd -P"):
            return rest[0]
        return None


def spelled(word: syntax.Word) -> str:
    """Format a word of the syntax tree for a message: parameters by their names, substitutions as ``$(…)``."""
    text = ""
    for part in word:
        if isinstance(part, str):
            text += part
        elif isinstance(part, syntax.Bare):
            text += part.text
        elif isinstance(part, syntax.Parameter):
            rest = part.operator + "".join(map(spelled, part.arguments))
            text += f"${{{part.name}{rest}}}" if rest else f"${part.name}"
        else:
            text += "$(…)"
    return text
