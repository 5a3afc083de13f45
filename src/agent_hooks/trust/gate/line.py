"""The simple commands of a command line, with their arguments resolved as far as the text tells them."""

from __future__ import annotations

import os
import re

from agent_hooks.shell import syntax
from agent_hooks.shell.parser import parse
from agent_hooks.shell.syntax import UNKNOWN
from agent_hooks.shell.walk import nodes
from agent_hooks.system.paths import expanded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", ">&", "<>"))
_DECLARERS = frozenset("export declare local readonly typeset alias set".split())
_TAKERS = frozenset("read mapfile readarray".split())  # they set variables to their input
_BRACES = re.compile(r"\{([^{},]*+(?:,[^{},]*+)++)\}")
_ACTIVATE = re.compile(r"/(?:bin|Scripts)/activate(?:\.\w+)?$")
_ALL_ELEMENTS = ([syntax.Bare("@")], [syntax.Bare("*")])  # indexes of an array
_MAX_WORDS = 64  # that braces and arrays are expanded to
_MAX_VALUE = 4096  # characters of a variable


class Command:
    """A simple command: its ``words`` without assignments, ``assigned`` variables, the files it is redirected to
    (``targets``) and from (``sources``), the text on its stdin (``body``), and the source of its ``pipeline``.

    What only running it would tell is spelled as in the source, behind ``UNKNOWN``.
    """

    def __init__(self, pipeline: str, body: str = "") -> None:
        self.words: list[str] = []
        self.assigned: dict[str, str] = {}
        self.targets: list[str] = []
        self.sources: list[str] = []
        self.body = body
        self.pipeline = pipeline
        self.inner: list[syntax.Node] = []


class CommandLine:
    """A command line that is run in ``cwd``, with the ``variables`` that are known before."""

    def __init__(self, text: str, cwd: str, variables: dict[str, str]) -> None:
        self.text = text.replace("\r\n", "\n")
        self.cwd = cwd
        self.variables = variables
        self._root = parse(self.text)
        self._plain: set[str] | None = None
        self._arrays: dict[str, list[str]] = {}

    @property
    def is_whole(self) -> bool:
        """Whether all of it could be parsed."""
        return not any(isinstance(node, syntax.Unreadable) for node in nodes(self._root))

    def commands(self) -> Iterator[Command]:
        """Yield the commands in order, those in substitutions before the command that they stand in."""
        return self._walk(self._root, "", "")

    def plain_words(self) -> set[str]:
        """Return all words that are no sentences: these may name a file."""
        if self._plain is None:
            found: list[str] = []
            for node in nodes(self._root):
                words = (node.words or ()) if isinstance(node, (syntax.Simple, syntax.For)) else ()
                found += [self._text(word, Command("")) for word in words]
                target = node.target if isinstance(node, syntax.Redirect) else ()
                values = [node.value, *(node.items or ())] if isinstance(node, syntax.Assignment) else ()
                found += [line for word in (target, *values) for line in self._text(word, Command("")).split("\n")]
            self._plain = {word for word in found if word and not any(blank in word for blank in " \t\n")}
        return self._plain

    def _walk(self, node: syntax.Node, pipeline: str, body: str) -> Iterator[Command]:
        if isinstance(node, syntax.Simple):
            yield from self._simple(node, Command(pipeline, body))
        elif isinstance(node, syntax.Pipeline):
            pipeline = self.text[node.start : node.end] if len(node.parts) > 1 else pipeline
            for part in node.parts:
                yield from self._walk(part, pipeline, body)
        elif isinstance(node, syntax.Group):
            outer, cwd = Command(pipeline, body), self.cwd
            yield from self._finish(outer, node.redirects)
            yield from self._walk(node.body, pipeline, outer.body)
            self.cwd = cwd if node.subshell else self.cwd
        elif isinstance(node, (syntax.For, syntax.Case, syntax.Test)):
            command = Command(pipeline, body)
            given = [node.word] if isinstance(node, syntax.Case) else node.words or []
            command.words = ["[["]
            for word in given:
                command.words += self._elements(word) or [self._text(word, command)]
            if isinstance(node, syntax.For):
                values = command.words[1:]
                self.variables[node.name] = values[0] if len(values) == 1 else "{" + ",".join(values) + "}"
            yield from self._finish(command, ())
        for each in _inner_nodes(node):
            yield from self._walk(each, pipeline, body)

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
        if words and (known := self.variables.get(f"alias {words[0]}")) and node.raw[:1] == words[:1]:
            words[:1] = known.split()
        if words and words[0] == "env":  # its assignments count as those before a command
            command.assigned |= dict(word.partition("=")[::2] for word in words[1:] if "=" in word)
        if words and words[0] in _DECLARERS:
            self._declare(words)
        elif words and words[0] in _TAKERS:
            self.variables |= {word: f"{UNKNOWN}$({words[0]})" for word in words[1:] if word.isidentifier()}
        yield from self._finish(command, node.redirects)
        self._follow(words)

    def _elements(self, word: syntax.Word) -> list[str]:
        """Return the words that ``"${name[@]}"`` stands for, none for any other word."""
        part = word[0] if len(word) == 1 else ""
        if not isinstance(part, syntax.Parameter):
            return []
        elements = self._arrays.get(part.name, []) if part.index in _ALL_ELEMENTS and not part.operator else []
        return elements if len(elements) <= _MAX_WORDS else [UNKNOWN + " ".join(elements)]

    def _words(self, word: syntax.Word, command: Command) -> list[str]:
        text = self._text(word, command)
        if any(isinstance(part, str) and "{" in part for part in word):  # a quoted brace
            return [text]
        arguments = text.split() if _is_split(word) and UNKNOWN not in text else [text]
        return [each for argument in arguments for each in braces_expanded(argument)]

    def _declare(self, words: list[str]) -> None:
        if words[:2] == ["set", "--"]:
            self.variables["@"] = " ".join(words[2:])
        for word in words[1:]:
            name, equals, value = word.partition("=")
            if equals and words[0] == "alias":
                self.variables[f"alias {name}"] = value
            elif equals:
                self.variables[name] = value

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
                command.body += f"{target}\n"
            elif each.operator not in _WRITING:
                command.sources.append(target)
            elif each.operator == ">&" and (target.strip("-").isdigit() or target == "-"):
                continue
            elif not target.startswith(f"{UNKNOWN}>("):
                command.targets += braces_expanded(target)
        for node in command.inner:
            cwd = self.cwd
            yield from self._walk(node, command.pipeline, "")
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
                sign = part.direction if isinstance(part, syntax.ProcessSubstitution) else "$"
                text += f"{UNKNOWN}{sign}({part.text})"
            if len(text) > 64 * _MAX_VALUE:
                return f"{UNKNOWN}{text}"
        return text

    def _parameter(self, part: syntax.Parameter, command: Command) -> str:
        arguments = [self._text(word, command) for word in part.arguments]
        value = self.variables.get(part.name)
        if part.index and part.name in self._arrays and part.index not in _ALL_ELEMENTS:
            items, index = self._arrays[part.name], self._text(part.index, command)
            value = items[int(index)] if index.isdecimal() and int(index) < len(items) else None
        rest = part.operator + ":".join(arguments)
        if part.operator.lstrip(":") in ("-", "=", "+", "?") and (part.operator.endswith("+") == bool(value)):
            value = arguments[0] if arguments and not part.operator.endswith("?") else value
        elif value and rest in ("%/", "%/*"):
            value = value.rpartition("/")[0] if rest == "%/*" else value.removesuffix("/")
        elif rest and part.operator.lstrip(":") not in ("-", "=", "+", "?"):
            value = f"{UNKNOWN}${{{value or part.name}{rest}}}"
        if value is None or len(value) > _MAX_VALUE:
            return f"{UNKNOWN}${{{part.name}{rest}}}"
        return value


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
