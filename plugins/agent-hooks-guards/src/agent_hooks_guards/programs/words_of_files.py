"""Words that clients of HTTP take from somewhere else as if they had been given them: from files with options or URLs
in them, and from what curl calls variables.
"""

from __future__ import annotations

from agent_hooks_guards.model.actions import TooMuchError
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from agent_hooks_guards.model.options import Options

    # What is in a file, None if that is not known.
    Read = Callable[[str], Data | None]

_MOST = 1000
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "v": "\v"}


def words_of_files(name: str, options: Options, read: Read, variables: Mapping[str, Data]) -> list[Data]:
    """Return the words that the program gets besides those that ``options`` were read from. ``variables``: of its
    environment, as far as they are known. Raises ``TooMuchError`` for more lines than are looked at.
    """
    found = []
    size = 0
    for names, standing, words_in in WORDS_OF_FILES[name]:
        paths = [value for value, _ in options.values(names)]
        if standing and not options.has("-q|--disable|--no-config"):
            paths.append(standing)
        for data in filter(None, map(read, dict.fromkeys(paths))):
            lines = [line for line in data.text.splitlines() if line.strip(UNKNOWN)]
            size += len(lines)
            if size > _MOST:
                raise TooMuchError
            found += [Data(word, data.labels) for line in lines for word in words_in(line)]
    return [*found, *_of_variables(options, read, variables)] if name == "curl" else found


def _of_configuration(line: str) -> Iterator[str]:
    """One option of curl: ``url = "http://…"``, ``--url http://…``, https://curl.se/docs/manpage.html#-K."""
    line = line.strip()
    if not line or line[0] == "#":
        return
    size = next((at for at, letter in enumerate(line) if letter in " \t=:"), len(line))
    name, value = line[:size], line[size:].lstrip(" \t=:")
    yield name if name[0] == "-" else f"--{name}"
    if value[:1] == '"':
        yield _quoted(value[1:])
    elif value:
        yield value


def _quoted(text: str) -> str:
    found = ""
    letters = iter(text)
    for letter in letters:
        if letter == '"':
            break
        if letter == "\\":
            letter = next(letters, "")
            letter = _ESCAPES.get(letter, letter)
        found += letter
    return found


def _of_list(line: str) -> Iterator[str]:
    """The URLs of a line; an option of aria2c for those before it has blanks in front."""
    if line[:1] in (" ", "\t"):
        yield f"--{line.strip()}"
    elif line[:1] not in ("#", ""):
        yield from line.split("\t")


def _of_settings(line: str) -> Iterator[str]:
    """A command of a ``.wgetrc``."""
    if "=" in line:
        yield f"--execute={line.strip()}"


def _of_variables(options: Options, read: Read, variables: Mapping[str, Data]) -> Iterator[Data]:
    """``--variable host=… --expand-url 'http://{{host}}/'``."""
    known: dict[str, Data] = {}
    for value, _ in options.values("--variable"):
        end = next((at for at, letter in enumerate(value) if letter in "=@"), len(value))
        name, mark, given = value[:end].removeprefix("%"), value[end : end + 1], value[end + 1 :]
        data = variables.get(name) if value[:1] == "%" else None
        if data is None and mark:
            data = Data(given) if mark == "=" else read(given)
        known[name] = data or Data(UNKNOWN)
    for name, template in options.given:
        if not name.startswith("--expand-") or template is None:
            continue
        text, *parts = template.split("{{")
        labels = NO_LABELS
        for part in parts:
            inside, _, rest = part.partition("}}")
            variable, *changes = inside.split(":")
            data = known.get(variable, Data(UNKNOWN))
            text += (data.text.strip() if changes in ([], ["trim"]) else UNKNOWN) + rest
            labels |= data.labels
        yield Data(f"--{name.removeprefix('--expand-')}")
        yield Data(text, labels)


# By program: the options that name a file, the file that is read anyway, and which words a line of it gives.
WORDS_OF_FILES: dict[str, tuple[tuple[str, str, Callable[[str], Iterator[str]]], ...]] = {
    "curl": (("-K|--config", "~/.curlrc", _of_configuration),),
    "wget": (("-i|--input-file", "", _of_list), ("--config", "~/.wgetrc", _of_settings)),
    "aria2c": (("-i|--input-file", "", _of_list),),
}
