"""Helpers for the commands and codes that a program runs."""

from __future__ import annotations

import re
from itertools import islice

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NETWORK, NO_LABELS, UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    Handler = Callable[[Command, Options], list[Inner]]

# So many arguments of an input or a text are looked at; an unknown one stands for the rest.
MOST_WORDS = 256
# So many runs of the same program are looked at; one with an unknown argument stands for the rest.
MOST_RUNS = 16
_ADDRESSES = ("https://", "http://")
# A token of a text, and the quoted parts in it; quotes may be open at the end.
_TOKEN = re.compile(r"""(?:'[^']*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\\?\Z)|\\.|[^\s'"])+""", re.DOTALL)
_QUOTED = re.compile(r"""'([^']*)'?|"((?:\\.|[^"\\])*)(?:"|\\?\Z)|\\(.)""", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)


def argument(command: Command, at: int) -> Data:
    """Return the argument at a position, with its labels."""
    return Data(command.argv[at], command.labels.get(at, NO_LABELS))


def part(command: Command, text: str, at: int) -> Data:
    """Return a part of the argument at a position, with its labels."""
    return Data(text, command.labels.get(at, NO_LABELS))


def items(command: Command, places: Iterable[int]) -> list[Data]:
    """Return the arguments at some positions, with their labels."""
    return [argument(command, at) for at in places]


def values(command: Command, names: str) -> list[Data]:
    """Return the values of options, with their labels."""
    return [part(command, text, at) for text, at in command.options.values(names)]


def joined(parts: Iterable[Data], between: str = " ") -> Data:
    """Return the parts as one value: arguments joined by blanks, as ``eval`` and ``ssh`` do."""
    parts = list(parts)
    return Data(between.join([part.text for part in parts]), NO_LABELS.union(*(part.labels for part in parts)))


def shell(code: Data, label: str) -> list[Inner]:
    """Return a command line that a shell runs; none for an empty one."""
    return [Inner(language="sh", code=code, label=label)] if code.text.strip() else []


def code(language: str, text: Data, label: str, given: Iterable[str] = ()) -> Inner:
    """Return a text that an interpreter runs with the arguments ``given``."""
    return Inner(language=language, code=text, label=label, arguments=list(given))


def file(language: str, path: str, label: str, given: Iterable[str] = ()) -> Inner:
    """Return a script that an interpreter runs; one behind an address is unknown and comes from the network."""
    if path.startswith(_ADDRESSES):
        return code(language, Data(UNKNOWN, frozenset((NETWORK,))), label)
    return Inner(language=language, path=path, arguments=list(given), label=label)


def shells(codes: Iterable[Data], label: str) -> list[Inner]:
    """Return command lines, each for a shell."""
    return [each for code in codes for each in shell(code, label)]


def texts(data: Iterable[Data], label: str) -> Inner:
    """Return a program with its arguments."""
    words = list(data)
    labels = {at: word.labels for at, word in enumerate(words) if word.labels}
    return Inner(argv=[word.text for word in words], labels=labels, label=label)


def alias(program: str, data: Data, *, is_line: bool = False) -> list[Inner]:
    """Return the program of an alias: a command line, as it is or behind ``!``, or a subcommand of ``program``."""
    if is_line or data.text[:1] == "!":
        return shell(Data(data.text.removeprefix("!"), data.labels), f"{program} alias")
    own = split(data.text)
    return [texts([Data(text, data.labels) for text in (program, *own)], f"{program} alias")] if own else []


def with_variables(words: list[Data], label: str) -> list[Inner]:
    """Return the program of ``words``, in front of which variables may be set for it."""
    assignments: dict[str, Data] = {}
    while words and words[0].text.find("=") > 0 and words[0].text[0] != "-":
        name, _, value = words[0].text.partition("=")
        assignments[name] = Data(value, words[0].labels)
        words = words[1:]
    found = [texts(words, label)] if words else []
    for inner in found:
        inner.assignments = assignments
    return found


def split(text: str) -> list[str]:
    """Split a text with quotes and backslashes, as ``env -S`` and ``xargs`` do. Never raises."""
    tokens = list(islice(_TOKEN.finditer(text), MOST_WORDS + 1))
    words = [_QUOTED.sub(_unquote, match[0]) for match in tokens[:MOST_WORDS]]
    return [*words, UNKNOWN] if len(tokens) > MOST_WORDS else words


def _unquote(match: re.Match[str]) -> str:
    return _ESCAPED.sub(r"\1", match[2]) if match[2] else match[1] or match[3] or ""


def quoted(text: str) -> str:
    """Quote a text as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
