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


def joined(command: Command, places: Iterable[int]) -> Data:
    """Return arguments joined by blanks, as ``eval`` and ``ssh`` do."""
    data = items(command, places)
    return Data(" ".join([each.text for each in data]), NO_LABELS.union(*(each.labels for each in data)))


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


def values_as_shell(command: Command, options: Options, names: str, label: str) -> list[Inner]:
    """Return the values of options that a shell runs."""
    return [each for text, at in options.values(names) for each in shell(part(command, text, at), label)]


def texts(data: Iterable[Data], label: str) -> Inner:
    """Return a program with its arguments."""
    words = list(data)
    labels = {at: word.labels for at, word in enumerate(words) if word.labels}
    return Inner(argv=[word.text for word in words], labels=labels, label=label)


def joined_values(command: Command, options: Options, names: str) -> Data | None:
    """Return the values of options, one line each; None if there are none."""
    values = options.values(names)
    labels = NO_LABELS.union(*(command.labels.get(at, NO_LABELS) for _, at in values))
    return Data("\n".join([text for text, _ in values]), labels) if values else None


def alias(program: str, data: Data, *, is_line: bool = False) -> list[Inner]:
    """Return the program of an alias: a command line, as it is or behind ``!``, or a subcommand of ``program``."""
    if is_line or data.text[:1] == "!":
        return shell(Data(data.text.removeprefix("!"), data.labels), f"{program} alias")
    own = split(data.text)
    return [texts([Data(text, data.labels) for text in (program, *own)], f"{program} alias")] if own else []


def with_variables(command: Command, places: list[int], label: str) -> list[Inner]:
    """Return the program at ``places``, in front of which variables may be set for it."""
    assignments: dict[str, Data] = {}
    while places and command.argv[places[0]].find("=") > 0 and command.argv[places[0]][0] != "-":
        name, _, value = command.argv[places[0]].partition("=")
        assignments[name] = part(command, value, places[0])
        places = places[1:]
    found = [texts(items(command, places), label)] if places else []
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
