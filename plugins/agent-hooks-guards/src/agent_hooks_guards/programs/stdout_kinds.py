"""The kinds of stdout that a declaration names in ``prints``."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import (
    ANYTHING,
    DECODED,
    ENDLESS,
    ENVIRONMENT,
    NETWORK,
    NO_LABELS,
    NOTHING,
    PROCESSES,
    SECRET,
    UNKNOWN,
    Data,
)
from agent_hooks_guards.places.credentials import variable_labels

from .decoding import decode_base, decode_hexadecimal, translate
from .find import reaches
from .formats import echo, printf, unescaped
from .noting import OUTPUTS, inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .printing import Printing
_MOST_LINES = 1_000  # of a sequence
_CANONICAL = "-f|-e|-m|--canonicalize|--canonicalize-existing|--canonicalize-missing"
# Variables that a program of awk or jq reads, and jq's whole environment.
_VARIABLES = re.compile(r"(?:ENVIRON\[\"|\$ENV\.|env\.)(\w+)")
_PARTS = "-c|--bytes|-o|--only-matching|-r|--replace"  # of lines
_ASSIGNMENTS = re.compile(r'@sh "\w+=')
_PROGRAM = "-e|-f|--expression|--file|--source|--from-file"
_WHOLE_ENVIRONMENT = re.compile(r"""(?<![.\w$"'-])env(?![\w:."'\[-])|\$ENV(?![.\[\w])""")


def unlisted(printing: Printing) -> Data:
    """A program without a declared kind."""
    labels = printing.command.stdin.labels if printing.command.stdin is not None else NO_LABELS
    words = [word for word in printing.words if "/" in word or "." in word]
    if printing.is_secret is not None and any(printing.is_secret(printing.path(word)) for word in words):
        labels |= {SECRET}
    return Data(UNKNOWN, labels)


def _labelled(*labels: str) -> Callable[[Printing], Data]:
    """Return the function for unknown text with these labels and those of the input."""
    return lambda printing: Data(UNKNOWN, unlisted(printing).labels.union(labels))


def _nothing(printing: Printing) -> Data:
    return ANYTHING if printing.options.has("-v|--verbose") else NOTHING


def _program(printing: Printing) -> Data:
    """``awk``, ``sed``, ``jq``: unless an option holds the program, it is the first operand."""
    words = printing.words
    text = " ".join(printing.command.argv)
    inputs = words if printing.options.has(_PROGRAM) else words[1:]
    found = [printing.file(word).labels for word in inputs] or [printing.stdin().labels]
    labels = printing.command.labels_of().union(*found, *map(variable_labels, _VARIABLES.findall(text)))
    if printing.command.name not in ("jq", "yq", "gojq"):
        return Data(UNKNOWN, labels)
    # `@sh "A=\(.a)"` prints assignments for `eval`.
    if _ASSIGNMENTS.search(text) and NETWORK not in labels:
        return Data("", labels)
    decodes = {DECODED} if "@base64d" in text else NO_LABELS
    whole = {ENVIRONMENT} if any(map(_WHOLE_ENVIRONMENT.search, words[:1])) else NO_LABELS
    return Data(UNKNOWN, labels | decodes | whole)


def _copied(printing: Printing) -> Data:
    return printing.input()


def _stdin(printing: Printing) -> Data:
    return printing.stdin()


def _line(printing: Printing) -> Data:
    """A filter that leaves a single line as it is, or drops it."""
    if printing.command.stdin is None and not printing.inputs:
        return ANYTHING  # of files below the working directory
    data = printing.input()
    is_whole = "\n" not in data.text[:-1] and not printing.options.has(_PARTS)
    return data if is_whole else Data(UNKNOWN, data.labels)


def _reversed(printing: Printing) -> Data:
    data = printing.input()
    lines = data.text.split("\n")
    return Data("\n".join(UNKNOWN if UNKNOWN in line else line[::-1] for line in lines), data.labels)


def _translated(printing: Printing) -> Data:
    data, options = printing.stdin(), printing.options
    if options.has("-c|-C|--complement|-s|--squeeze-repeats|-t|--truncate-set1"):
        return Data(UNKNOWN, data.labels)
    return Data(translate(data.text, printing.words, deletes=options.has("-d|--delete")), data.labels)


def _decoded(printing: Printing) -> Data:
    """``base64 -d`` and its like; what they encode is unknown."""
    options, data = printing.options, printing.input()
    if not options.has("-d|-D|--decode"):
        return Data(UNKNOWN, data.labels)
    name = "base32" if printing.command.name == "base32" else "base64"
    kind = next((each[2:] for each in ("--base64url", "--base32", "--base16") if options.has(each)), name)
    garbage = options.has("-i|--ignore-garbage")
    made = decode_base(data.text, kind, ignores_garbage=garbage) if data.is_known else UNKNOWN
    return Data(made, data.labels | {DECODED})


def _undumped(printing: Printing) -> Data:
    options, data = printing.options, printing.input()
    if not options.has("-r|-revert|--revert"):
        return Data(UNKNOWN, data.labels)
    is_plain = options.has("-p|-ps|-plain|--plain|-postscript")
    made = decode_hexadecimal(data.text, is_plain=is_plain) if data.is_known else UNKNOWN
    return Data(made, data.labels | {DECODED})


def _echoed(printing: Printing) -> Data:
    return Data(echo(printing.command.argv[1:]), printing.command.labels_of())


def _formatted(printing: Printing) -> Data:
    words = printing.command.argv[1:]
    return NOTHING if words[:1] == ["-v"] else Data(printf(words), printing.command.labels_of())


def _sequence(printing: Printing) -> Data:
    words, options = printing.words, printing.options
    form = options.value("-f|--format") or "%g"
    values = [int(word) for word in words if word.lstrip("-").isdecimal() and len(word) < 10]
    if len(values) != len(words) or not 0 < len(values) < 4 or options.has("-w|--equal-width") or form.count("%") != 1:
        return Data(UNKNOWN, printing.command.labels_of())
    first, step, last = (1, 1, values[0]) if len(values) == 1 else (values[0], (values[1:-1] or [1])[0], values[-1])
    numbers = range(first, last + (1 if step > 0 else -1), step or 1)[:_MOST_LINES]
    separator = unescaped(options.value("-s|--separator") or "\\n")
    lines = [form.replace("%.0f", "%g").replace("%g", str(number)) for number in numbers]
    end = UNKNOWN if len(lines) == _MOST_LINES else "\n" if lines else ""
    return Data(separator.join(lines) + end, printing.command.labels_of())


def _repeated(printing: Printing) -> Data:
    line = " ".join(printing.command.argv[1:]) or "y"
    return Data(f"{line}\n{line}\n{UNKNOWN}", printing.command.labels_of() | {ENDLESS})


def _named(printing: Printing) -> Data:
    """``which``, ``command -v``, ``type -p``: the name of a program stands for its path."""
    words = printing.command.argv[1:]
    is_asked = printing.command.name in ("which", "whence") or any(word[:1] == "-" for word in words)
    names = [f"{word}\n" for word in words if word[:1] != "-"]
    return Data("".join(names) if is_asked else UNKNOWN, printing.command.labels_of())


def _path(printing: Printing) -> Data:
    """``pwd``, ``realpath``, ``readlink -f``, ``dirname``."""
    name, words, options = printing.command.name, printing.words, printing.options
    if name == "pwd":
        return Data(f"{printing.command.cwd}\n")
    labels = printing.command.labels_of()
    is_unknown = (name == "dirname" and UNKNOWN in "".join(words)) or (
        name == "readlink" and not options.has(_CANONICAL)
    )
    if is_unknown or len(words) != 1 or (options.given and name != "readlink"):
        return Data(UNKNOWN, labels)
    path = words[0].rstrip("/").rpartition("/")[0] or "." if name == "dirname" else printing.path(words[0])
    return Data(f"{path}\n", labels)


def _temporary(printing: Printing) -> Data:
    words, options = printing.words, printing.options
    template = words[0].partition("XXX")[0] if words else "tmp."
    folder = options.value("-p|--tmpdir") or ("/tmp" if not words or options.has("-t|--tmpdir") else "")  # noqa: S108
    return Data(f"{inside(folder, template) if folder else template}{UNKNOWN}\n")


def _found(printing: Printing) -> Data:
    end, shown = "\n", None
    for name, value, reach in reaches(printing.options):
        if name in ("-ls", "-printf") and "%p" not in (value or ""):
            return Data(UNKNOWN, printing.command.labels_of())
        end = "\0" if name == "-print0" else end
        if name.startswith("-print") or (not name and shown is None):
            shown = reach
    paths = [path for start in printing.words or ["."] for path in (shown.below(start) if shown else ())]
    return Data("".join(path + end for path in paths), printing.command.labels_of())


def _git(printing: Printing) -> Data:
    options, words = printing.options, printing.words
    subcommand = options.subcommand[:1]
    if subcommand == ("rev-parse",) and "--show-toplevel" in printing.command.argv:
        return Data(f"{printing.command.cwd}\n")  # or a folder above it
    if subcommand == ("ls-files",):
        return Data("".join(inside(word) + ("\0" if options.has("-z") else "\n") for word in words or ["."]))
    if [*options.subcommand, *words][:2] == ["credential", "fill"]:
        return Data(UNKNOWN, frozenset((SECRET,)))
    files = (
        [word.partition(":")[2] for word in words if ":" in word] if subcommand in (("show",), ("cat-file",)) else []
    )
    if printing.is_secret is not None and any(printing.is_secret(printing.path(file)) for file in files if file):
        return Data(UNKNOWN, frozenset((SECRET,)))
    stdin = printing.command.stdin
    reads = subcommand in (("diff",), ("stripspace",), ("interpret-trailers",), ("apply",))
    return Data(UNKNOWN, stdin.labels) if reads and stdin is not None else ANYTHING


def _curl(printing: Printing) -> Data:
    options = printing.options
    words = [*printing.words, *(value for value, _ in options.values("--url"))]
    files = [word[len("file://") :].removeprefix("localhost") for word in words if word.startswith("file://")]
    if files and len(files) == len(words):
        found = [printing.file(file) for file in files]
        return Data("".join(data.text for data in found), NO_LABELS.union(*(data.labels for data in found)))
    targets = [value for value, _ in options.values("-o|--output")]
    is_written = bool(targets) and OUTPUTS.isdisjoint(targets) and len(targets) >= len(words)
    if is_written or options.has("-O|--remote-name|--remote-name-all"):
        return ANYTHING if options.has("-w|--write-out|-v|--verbose|-i|--include") else NOTHING
    return Data(UNKNOWN, frozenset((NETWORK,)))


def _wget(printing: Printing) -> Data:
    target = printing.options.value("-O|--output-document")
    return Data(UNKNOWN, frozenset((NETWORK,))) if target in OUTPUTS else NOTHING


def _dd(printing: Printing) -> Data:
    options = printing.options
    if (options.value("of") or "-") not in OUTPUTS:
        return NOTHING
    source = options.value("if")
    data = printing.file(source) if source else printing.stdin()
    is_whole = not any(name in ("count", "skip", "conv", "seek") for name, _ in options.given)
    return data if is_whole else Data(UNKNOWN, data.labels)


def _environment(printing: Printing) -> Data:
    """``env`` without a program, ``printenv``, ``history``."""
    words = printing.words
    if words and any("=" not in word for word in words):
        return Data(UNKNOWN, NO_LABELS.union(*map(variable_labels, words)))
    return Data(UNKNOWN, frozenset((ENVIRONMENT,)))


def _variables(printing: Printing) -> Data:
    """``set``, ``export``, ``declare``: all variables, or nothing where some are set."""
    return NOTHING if printing.words else Data(UNKNOWN, frozenset((ENVIRONMENT,)))


def _processes(printing: Printing) -> Data:
    argv, options = printing.command.argv, printing.options
    if printing.command.name == "ps":
        is_all = _lists_all(argv)
    else:
        is_some = options.has("-P|--parent|-t|--terminal|-g|--pgroup|-s|--session|-F|--pidfile")
        is_all = not is_some and "".join(printing.words[:1]).strip("^$") in ("", ".", ".*", ".+")
    return Data(UNKNOWN, frozenset((PROCESSES,))) if is_all else ANYTHING


def _lists_all(argv: list[str]) -> bool:
    """Whether ``ps`` lists all processes, or all of a user: ``-e``, ``-A``, ``ax``, ``-u name``."""
    is_all = is_value = False
    for word in argv[1:]:
        letters = word.lstrip("-").partition("o")[0]
        if not is_value:
            if letters.isdecimal() or (word[:1] == "-" and letters[:1] in ("p", "C", "q", "t", "g", "G")):
                return False
            is_all = is_all or not {"e", "A", "x"}.isdisjoint(letters) or word in ("-u", "-U", "--user")
        is_value = word.endswith("o") or word in ("-u", "-U", "--user", "--sort", "--format")
    return is_all


KINDS: dict[str, Callable[[Printing], Data]] = {
    "nothing": _nothing,
    "anything": lambda _: ANYTHING,
    "program": _program,
    "copy": _copied,
    "stdin": _stdin,
    "line": _line,
    "network": _labelled(NETWORK),
    "decoded": _labelled(DECODED),
    "secret": lambda _: Data(UNKNOWN, frozenset((SECRET,))),
    "environment": _environment,
    "variables": _variables,
    "processes": _processes,
    "echo": _echoed,
    "printf": _formatted,
    "sequence": _sequence,
    "repeated": _repeated,
    "name": _named,
    "path": _path,
    "temporary": _temporary,
    "found": _found,
    "reversed": _reversed,
    "translated": _translated,
    "base": _decoded,
    "dump": _undumped,
    "curl": _curl,
    "wget": _wget,
    "dd": _dd,
    "git": _git,
}
