"""The simple commands of a command line, with the files and texts that go in and out of each."""

from __future__ import annotations

import re

from agent_hooks.shell import syntax
from agent_hooks.shell.parser import parse

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_WRITING = frozenset((">", ">>", ">|", "&>", "&>>", ">&", "<>"))
_BRACES = re.compile(r"\{([^{},]*+(?:,[^{},]*+)++)\}")
_MAX_WORDS = 64  # that braces are expanded to
_MAX_VALUE = 4096  # characters of a variable that are put in


class Command:
    """A simple command: its ``words`` without quotes, assignments first; the files it is redirected to (``targets``)
    and from (``sources``); the text on its stdin (``body``); the command lines of its substitutions (``inner``);
    whether it reads from a pipe (``piped``); and in how many subshells it stands (``level``).

    Parameters in words are spelled ``${name…}``, substitutions as in the source.
    """

    def __init__(self, level: int, words: Iterable[str] = (), *, piped: bool = False, body: str = "") -> None:
        self.words = list(words)
        self.targets: list[str] = []
        self.sources: list[str] = []
        self.body = body
        self.inner: list[str] = []
        self.piped = piped
        self.level = level


class CommandList:
    """The simple commands of ``text``, in order; ``is_whole``: whether its quotes and brackets are closed."""

    def __init__(self, text: str) -> None:
        self.commands: list[Command] = []
        self.is_whole = True
        self._arrays: dict[str, list[str]] = {}
        self._add(parse(text.replace("\r\n", "\n")), 0, piped=False, body="")

    def _add(self, node: syntax.Node, level: int, *, piped: bool, body: str) -> None:
        """Add the commands of ``node``; ``piped`` and ``body`` are about its stdin."""
        if isinstance(node, syntax.Simple):
            self._add_simple(node, Command(level, piped=piped, body=body))
        elif isinstance(node, syntax.Pipeline):
            for number, part in enumerate(node.parts):
                self._add(part, level, piped=piped or number > 0, body=body)
        elif isinstance(node, syntax.Group):
            outer = Command(level, piped=piped)
            self._redirect(outer, node.redirects)
            self._add(node.body, level + node.subshell, piped=piped, body=body + outer.body)
            self.commands.append(outer)
        elif isinstance(node, syntax.Unreadable):
            self.is_whole = self.is_whole and not node.is_cut
            for each in node.readable:
                self._add(each, level, piped=piped, body=body)
        else:
            self._add_compound(node, level, piped=piped, body=body)

    def _add_compound(self, node: syntax.Node, level: int, *, piped: bool, body: str) -> None:
        nodes: Iterable[syntax.Node] = ()
        words: list[syntax.Word] = []
        name = ""
        if isinstance(node, syntax.Sequence):
            nodes = (item.node for item in node.items)
        elif isinstance(node, syntax.If):
            pairs = [each for branch in node.branches for each in branch]
            nodes = (*pairs, node.otherwise) if node.otherwise is not None else pairs
        elif isinstance(node, syntax.While):
            nodes = (node.condition, node.body)
        elif isinstance(node, syntax.For):
            name, words, nodes = f"for {node.name} in", node.words or [], (node.body,)
        elif isinstance(node, syntax.Case):
            name, words, nodes = "case", [node.word], (each for _, each in node.branches)
        elif isinstance(node, syntax.Test):
            name, words = "[[", node.words
        elif isinstance(node, (syntax.Function, syntax.Coprocess)):
            nodes = (node.body,)
        if words:
            command = Command(level, name.split(), piped=piped, body=body)
            command.words += [self._text(word, command) for word in words]
            self.commands.append(command)
        for each in nodes:
            self._add(each, level, piped=piped, body=body)

    def _add_simple(self, node: syntax.Simple, command: Command) -> None:
        for each in node.assignments:
            items = [self._text(word, command) for word in ([each.value] if each.items is None else each.items)]
            command.words.append(f"{each.name}={' '.join(items)}")
            self._arrays[each.name] = items
            if each.index:
                self._text(each.index, command)
        for word in node.words if node.plain is None else ():
            known = self._elements(word)
            command.words += [self._text(word, command)] if known is None else known
        command.words += node.plain or ()
        self._redirect(command, node.redirects)
        self.commands.append(command)

    def _elements(self, word: syntax.Word) -> list[str] | None:
        """Return the words that ``"${name[@]}"`` stands for, None for any other word."""
        part = word[0] if len(word) == 1 else ""
        if not isinstance(part, syntax.Parameter) or part.operator or not part.index:
            return None
        return self._arrays.get(part.name) if part.index in ([syntax.Bare("@")], [syntax.Bare("*")]) else None

    def _redirect(self, command: Command, redirects: Iterable[syntax.Redirect]) -> None:
        for each in redirects:
            target = self._text(each.target, command)
            if each.operator in ("<<", "<<<"):
                command.body += target if each.operator == "<<" else f"{target}\n"
            elif each.operator not in _WRITING:
                command.sources.append(target)
            elif each.operator == ">&" and (target.strip("-").isdigit() or target == "-"):
                continue
            elif not each.target or not isinstance(each.target[0], syntax.ProcessSubstitution):
                command.targets.append(target)

    def _text(self, word: syntax.Word, command: Command) -> str:
        """Return a word without its quotes, and note its substitutions."""
        text = ""
        for part in word:
            if isinstance(part, str):
                text += part
            elif isinstance(part, syntax.Bare):
                text += part.text
            elif isinstance(part, syntax.Parameter):
                text += self._parameter(part, command)
            elif isinstance(part, syntax.Arithmetic):
                text += f"$(({self._text(part.parts, command)}))"
            elif isinstance(part, syntax.Substitution) and (document := _printed_document(part.body)) is not None:
                text += document
            else:
                command.inner.append(part.text)
                sign = part.direction if isinstance(part, syntax.ProcessSubstitution) else "$"
                text += f"{sign}({part.text})"
        return text

    def _parameter(self, part: syntax.Parameter, command: Command) -> str:
        arguments = [self._text(word, command) for word in part.arguments]
        index = self._text(part.index, command) if part.index else ""
        if not part.name.isidentifier():
            return f"${part.name}"
        if part.operator in ("length", "indirect", "keys", "names"):
            return f"${{!{part.name}}}"
        element = f"[{index}]" if index else ""
        return f"${{{part.name}{element}{part.operator}{part.operator[:1].join(arguments)}}}"


def _printed_document(body: syntax.Node) -> str | None:
    """Return the text of ``cat <<'EOF'`` alone: agents write the messages of commits as ``"$(cat <<'EOF' …)"``."""
    if not isinstance(body, syntax.Sequence) or len(body.items) != 1:
        return None
    node = body.items[0].node
    if not isinstance(node, syntax.Simple) or node.words != [[syntax.Bare("cat")]] or len(node.redirects) != 1:
        return None
    target = node.redirects[0].target
    is_text = node.redirects[0].operator == "<<" and all(isinstance(part, str) for part in target)
    return "".join(part for part in target if isinstance(part, str)).rstrip("\n") if is_text else None


def plain_words(text: str) -> Iterator[str]:
    """Yield the words of ``text`` that are no sentences, such lines of its documents, and the words within words.

    The name of a file is one of them; what is only said about one in a message is not.
    """
    for command in CommandList(text).commands:
        found = (*command.words, *command.targets, *command.sources, *command.body.split("\n"))
        yield from (word for word in found if word and not any(blank in word for blank in " \t\n"))
        yield from " ".join(command.inner).split()


def braces_expanded(word: str) -> list[str]:
    """Return the words that a shell makes of ``word`` and its braces."""
    words = [word]
    while len(words) < _MAX_WORDS:
        found = next((each for each in words if _BRACES.search(each)), None)
        if found is None:
            break
        at = words.index(found)
        choices = _BRACES.search(found)
        assert choices is not None
        before, after = found[: choices.start()], found[choices.end() :]
        words[at : at + 1] = [before + choice + after for choice in choices.group(1).split(",")]
    return words


# `$X`, `${X}`, with a default or the like (`${X:-y}`), and without a slash or a last name (`${X%/}`, `${X%/*}`).
_VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)(?::?([-=?+])([^{}]*)|%(/\*?))?\})")


def with_variables(word: str, variables: dict[str, str]) -> str:
    """Return ``word`` with the variables that are known put in, unless that makes it very long."""

    def value(found: re.Match[str]) -> str:
        known = variables.get(found[1] or found[2])
        if found[3] and (found[3] == "+") == bool(known):
            known = found[4] if found[3] != "?" else known
        if known and found[5]:
            known = known.rpartition("/")[0] if found[5] == "/*" else known.removesuffix("/")
        return found[0] if known is None else known

    made = _VARIABLE.sub(value, word)
    return made if len(made) <= len(word) + _MAX_VALUE else word
