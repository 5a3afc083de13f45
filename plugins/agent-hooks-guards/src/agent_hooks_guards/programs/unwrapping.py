"""Helpers for the commands and codes that a program runs."""

from __future__ import annotations

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
_BLANKS = " \t\n\r\f\v"


def word(command: Command, at: int) -> Data:
    """Return the argument at a position, with its labels."""
    return Data(command.argv[at], command.labels.get(at, NO_LABELS))


def part(command: Command, text: str, at: int) -> Data:
    """Return a part of the argument at a position, with its labels."""
    return Data(text, command.labels.get(at, NO_LABELS))


def joined(command: Command, places: Iterable[int]) -> Data:
    """Return arguments joined by blanks, as ``eval`` and ``ssh`` do."""
    places = list(places)
    labels = NO_LABELS.union(*(command.labels.get(at, NO_LABELS) for at in places))
    return Data(" ".join([command.argv[at] for at in places]), labels)


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


def words_from(command: Command, first: int, label: str) -> list[Inner]:
    """Return the program whose arguments stand in ``argv`` from a position on; none if there are none."""
    size = len(command.argv)
    return [Inner(words=list(range(first, size)), label=label)] if 0 < first < size else []


def operands_from(_command: Command, options: Options, skip: int, label: str) -> list[Inner]:
    """Return the program whose arguments are the operands behind the first ``skip`` ones."""
    places = options.operands[skip:]
    return [Inner(words=list(places), label=label)] if places else []


def texts(data: Iterable[Data], label: str) -> Inner:
    """Return a program with arguments that do not stand in ``argv`` as they are."""
    items = list(data)
    labels = {at: item.labels for at, item in enumerate(items) if item.labels}
    return Inner(argv=[item.text for item in items], labels=labels, label=label)


def is_assignment(text: str) -> bool:
    """Whether an argument is ``NAME=value``."""
    name, equals, _ = text.partition("=")
    return bool(equals) and bool(name) and name[0] != "-"


def split(text: str) -> list[str]:
    """Split a text with quotes and backslashes, as ``env -S`` and ``xargs`` do. Never raises."""
    words: list[str] = []
    current: list[str] = []
    is_open = False
    quote = ""
    at = 0
    while at < len(text) and len(words) < MOST_WORDS:
        char = text[at]
        at += 1
        if quote:
            if char == quote:
                quote = ""
            elif char == "\\" and quote == '"' and at < len(text):
                current.append(text[at])
                at += 1
            else:
                current.append(char)
        elif char in {"'", '"'}:
            quote = char
            is_open = True
        elif char == "\\" and at < len(text):
            current.append(text[at])
            at += 1
            is_open = True
        elif char in _BLANKS:
            if is_open:
                words.append("".join(current))
                current = []
                is_open = False
        else:
            current.append(char)
            is_open = True
    if is_open:
        words.append("".join(current))
    if at < len(text):
        words.append(UNKNOWN)
    return words


def quoted(text: str) -> str:
    """Quote a text as one word of a shell."""
    return "'" + text.replace("'", "'\\''") + "'"
