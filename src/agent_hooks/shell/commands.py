"""The simple commands of a command line, with their arguments resolved as far as the text tells them."""

from __future__ import annotations

import os

from agent_hooks.system.paths import expanded

from . import syntax
from .parser import parse
from .patterns import Pattern
from .syntax import UNKNOWN
from .walk import nodes

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

# The key of the top of the repository among the variables.
TOP = "git rev-parse --show-toplevel"
_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", ">&", "<>"))
DECLARERS = frozenset("export declare local readonly typeset alias set".split())
_TAKERS = frozenset("read mapfile readarray".split())  # they set variables to their input
_BRACES = Pattern(r"\{([^{},]*+(?:,[^{},]*+)++)\}")
_ACTIVATE = Pattern(r"/(?:bin|Scripts)/activate(?:\.\w+)?$")
_ALL_ELEMENTS = ([syntax.Bare("@")], [syntax.Bare("*")])  # indexes of an array
_PATTERN = Pattern(r"[*?]|\[.+\]")
_MAX_WORDS = 64  # that braces and arrays are expanded to
_MAX_VALUE = 4096  # characters of a variable


class Command:
    """A simple command: its ``words`` without assignments, ``assigned`` variables, the files it is redirected to
    (``targets``) and from (``sources``), the ``documents`` on its stdin, and the source of its ``pipeline``. A loop or
    a test is a command named ``for``, ``case`` or ``[[``.

    Text that is only known at run time is spelled as in the source, behind ``UNKNOWN``.
    """

    def __init__(self, pipeline: str, documents: Sequence[str] = ()) -> None:
        self.words: list[str] = []
        self.assigned: dict[str, str] = {}
        self.targets: list[str] = []
        self.sources: list[str] = []
        self.documents = [*documents]
        self.pipeline = pipeline
        self.inner: list[syntax.Node] = []

    @property
    def body(self) -> str:
        """The text on its stdin."""
        return "".join(f"{document}\n" for document in self.documents)


class CommandLine:
    """A command line that is run in ``cwd``, with the ``variables`` that are known before."""

    def __init__(self, text: str, cwd: str, variables: dict[str, str], root: syntax.Node | None = None) -> None:
        self.text = text.replace("\r\n", "\n")
        self.cwd = cwd
        self.variables = variables
        self._root = root or parse(self.text)
        self._plain: set[str] | None = None
        self._arrays: dict[str, list[str]] = {}

    def unreadable(self) -> list[str]:
        """Return the parts of the text that could not be parsed."""
        return [node.text for node in nodes(self._root) if isinstance(node, syntax.Unreadable)]

    def commands(self) -> Iterator[Command]:
        """Yield the commands in order, those in substitutions before the command that they stand in."""
        return self._walk(self._root, Command(""))

    def plain_words(self) -> set[str]:
        """Return all words that are no sentences: these may name a file."""
        if self._plain is None:
            commands = CommandLine(self.text, self.cwd, dict(self.variables), self._root).commands()
            lists = ((*c.words, *c.targets, *c.sources, *c.assigned.values(), *c.body.split("\n")) for c in commands)
            words = (word for each in lists for word in each)
            self._plain = {word for word in words if word and not any(blank in word for blank in " \t\n")}
        return self._plain

    def _walk(self, node: syntax.Node, outer: Command) -> Iterator[Command]:
        """Yield the commands below ``node``, which have the pipeline and the documents of ``outer``."""
        command = outer if isinstance(node, syntax.Sequence) else Command(outer.pipeline, outer.documents)
        if isinstance(node, syntax.Simple):
            yield from self._simple(node, command)
        elif isinstance(node, syntax.Pipeline):
            command.pipeline = self.text[node.start : node.end] if len(node.parts) > 1 else outer.pipeline
            for part in node.parts:
                yield from self._walk(part, command)
        elif isinstance(node, syntax.Group):
            cwd = self.cwd
            yield from self._finish(command, node.redirects)
            yield from self._walk(node.body, command)
            self.cwd = cwd if node.subshell else self.cwd
        elif isinstance(node, (syntax.For, syntax.Case, syntax.Test)):
            command.words = [
                "for" if isinstance(node, syntax.For) else "case" if isinstance(node, syntax.Case) else "[["
            ]
            for word in [node.word] if isinstance(node, syntax.Case) else node.words or []:
                command.words += self._elements(word) or self._words(word, command)
            if isinstance(node, syntax.For):
                values = command.words[1:]
                self.variables[node.name] = values[0] if len(values) == 1 else "{" + ",".join(values) + "}"
            yield from self._finish(command, ())
        for each in _inner_nodes(node):
            yield from self._walk(each, outer)

    def _simple(self, node: syntax.Simple, command: Command) -> Iterator[Command]:
        for each in node.assignments:
            items = [each.value] if each.items is None else each.items
            texts = [self._text(word, command) for word in items]
            command.assigned[each.name] = " ".join(texts)
            self._arrays[each.name] = [*(self._arrays.get(each.name, []) if each.append or each.index else ()), *texts]
        for word in node.words if node.plain is None else ():
            command.words += self._elements(word) or self._words(word, command)
        command.words += node.plain or ()
        words = command.words
        self.variables |= command.assigned
        name = words[0] if words else ""
        if (known := self.variables.get(f"alias {name}")) and node.raw[:1] == words[:1]:
            words[:1] = known.split()
        elif name in DECLARERS:
            prefix = "alias " if name == "alias" else ""
            self.variables |= {prefix + word.partition("=")[0]: word.partition("=")[2] for word in words if "=" in word}
            self.variables |= {"@": " ".join(words[2:])} if words[:2] == ["set", "--"] else {}
        elif name == "env":  # its assignments count as those before a command
            command.assigned |= dict(word.partition("=")[::2] for word in words[1:] if "=" in word)
        elif name in _TAKERS:
            self.variables |= {word: f"{UNKNOWN}$({name})" for word in words[1:] if word.isidentifier()}
        yield from self._finish(command, node.redirects)
        self._follow(words)

    def _elements(self, word: syntax.Word) -> list[str]:
        """Return the words that ``"${name[@]}"`` stands for, none for any other word."""
        part = word[0] if len(word) == 1 else ""
        if not isinstance(part, syntax.Parameter) or part.operator or part.index not in _ALL_ELEMENTS:
            return []
        elements = self._arrays.get(part.name, [])
        return elements if len(elements) <= _MAX_WORDS else [UNKNOWN + " ".join(elements)]

    def _words(self, word: syntax.Word, command: Command) -> list[str]:
        text = self._text(word, command)
        if any(isinstance(part, str) and "{" in part for part in word):  # a quoted brace
            return [text]
        arguments = text.split() if _is_split(word) and UNKNOWN not in text else [text]
        return [each for argument in arguments for each in braces_expanded(argument)]

    def _follow(self, words: list[str]) -> None:
        places = [word for word in words[1:] if word == "-" or not word.startswith("-")]
        if words[:1] in (["cd"], ["pushd"]) and len(places) <= 1 and "-" not in places:
            place = places[0] if places else "~"
            self.cwd = os.path.join(self.cwd, expanded(place)) if UNKNOWN not in place else self.cwd
        if words[:1] in (["source"], ["."]) and places and _ACTIVATE.search(places[0]):
            place = os.path.dirname(os.path.dirname(expanded(places[0])))
            self.variables["VIRTUAL_ENV"] = os.path.join(self.cwd, place)

    def _finish(self, command: Command, redirects: Iterable[syntax.Redirect]) -> Iterator[Command]:
        """Yield the commands of substitutions, then ``command`` with its redirections."""
        for each in redirects:
            target = self._text(each.target, command)
            if each.operator in ("<<", "<<<"):
                command.documents.append(target)
            elif each.operator not in _WRITING:
                command.sources.append(target)
            elif each.operator == ">&" and (target.strip("-").isdigit() or target == "-"):
                continue
            elif not target.startswith(f"{UNKNOWN}>("):
                command.targets += braces_expanded(target)
        for node in command.inner:
            cwd = self.cwd
            yield from self._walk(node, Command(command.pipeline))
            self.cwd = cwd
        yield command

    # -- words -------------------------------------------------------------------------------------------------------

    def _text(self, word: syntax.Word, command: Command) -> str:
        """Return a word without its quotes, and note its substitutions."""
        text = ""
        for part in word:
            if isinstance(part, (str, syntax.Bare)):
                text += part if isinstance(part, str) else part.text
            elif isinstance(part, syntax.Parameter):
                text += self._parameter(part, command)
            elif isinstance(part, syntax.Arithmetic):
                self._text(part.parts, command)
                text += f"{UNKNOWN}$((…))"
            else:
                command.inner.append(part.body)
                text += self._substituted(part)
            if len(text) > 64 * _MAX_VALUE:
                return f"{UNKNOWN}{text}"
        return text

    def _substituted(self, part: syntax.Substitution | syntax.ProcessSubstitution) -> str:
        """Return the output of ``pwd``, ``cd … && pwd``, ``dirname …`` and ``git rev-parse --show-toplevel``; that of
        others is not known.
        """
        inner = [item.node for item in part.body.items] if isinstance(part.body, syntax.Sequence) else []
        commands = [self._arguments(node) for node in inner if isinstance(node, syntax.Simple)]
        output: str | None = None
        match commands if len(commands) == len(inner) else []:
            case [["pwd"] | ["pwd", "-P"]]:
                output = self.variables.get("PWD")
            case [["git", "rev-parse", "--show-toplevel"]]:
                output = self.variables.get(TOP)
            case [["dirname", str(path)]] if UNKNOWN not in path:
                output = os.path.dirname(path)
            case [["cd", str(path)], ["pwd"] | ["pwd", "-P"]]:
                output = path
        sign = part.direction if isinstance(part, syntax.ProcessSubstitution) else "$"
        return f"{UNKNOWN}{sign}({part.text})" if output is None else output

    def _arguments(self, node: syntax.Simple) -> list[str]:
        return [text for word in node.words if (text := self._text(word, Command(""))) != "--"]

    def has_pattern(self, word: syntax.Word) -> bool:
        """Whether a shell would put the names of files for a word."""
        unquoted = (
            part.text if isinstance(part, syntax.Bare) else self.variables.get(part.name, "")
            for part in word
            if isinstance(part, syntax.Bare) or (isinstance(part, syntax.Parameter) and not part.quoted)
        )
        return any(map(_PATTERN.search, unquoted))

    def _parameter(self, part: syntax.Parameter, command: Command) -> str:
        arguments = [self._text(word, command) for word in part.arguments]
        value = self.variables.get(part.name)
        if part.index and part.name in self._arrays and part.index not in _ALL_ELEMENTS:
            items, index = self._arrays[part.name], self._text(part.index, command)
            value = items[int(index)] if index.isdecimal() and int(index) < len(items) else None
        rest, operator = part.operator + ":".join(arguments), part.operator.lstrip(":")
        if operator in ("-", "=", "+", "?"):
            if (operator == "+") == bool(value) and arguments and operator != "?":
                value = arguments[0]
        elif value and rest in ("%/", "%/*"):
            value = value.rpartition("/")[0] if rest == "%/*" else value.removesuffix("/")
        elif rest:
            value = f"{UNKNOWN}${{{value or part.name}{rest}}}"
        return f"{UNKNOWN}${{{part.name}{rest}}}" if value is None or len(value) > _MAX_VALUE else value


def _is_split(word: syntax.Word) -> bool:
    """Whether a shell splits the value of a word at its blanks: of one expansion, which is not quoted or a list."""
    part = word[0] if len(word) == 1 else ""
    if isinstance(part, syntax.Parameter):
        return not part.quoted or part.name == "@" or part.index is not None
    return isinstance(part, syntax.Substitution) and not part.quoted


def _inner_nodes(node: syntax.Node) -> Iterable[syntax.Node]:
    if isinstance(node, syntax.Sequence):
        return [item.node for item in node.items]
    if isinstance(node, syntax.If):
        pairs = [each for branch in node.branches for each in branch]
        return [*pairs, node.otherwise] if node.otherwise is not None else pairs
    if isinstance(node, syntax.While):
        return [node.condition, node.body]
    if isinstance(node, syntax.Case):
        return [each for _, each in node.branches]
    if isinstance(node, syntax.Unreadable):
        return node.readable
    return [node.body] if isinstance(node, (syntax.For, syntax.Function, syntax.Coprocess)) else []


def braces_expanded(word: str) -> list[str]:
    """Return the words that a shell makes of ``word`` and its braces."""
    words = [word]
    while len(words) < _MAX_WORDS:
        found = next(((at, choices) for at, each in enumerate(words) if (choices := _BRACES.search(each))), None)
        if found is None:
            break
        at, choices = found
        before, after = words[at][: choices.start()], words[at][choices.end() :]
        words[at : at + 1] = [before + choice + after for choice in choices[1].split(",")]
    return words
