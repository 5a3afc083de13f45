"""Interprets the declarations of programs that run others: which command lines and codes a command holds."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NETWORK, NO_LABELS, UNKNOWN, Data

from .unwrapping import is_assignment, joined, part, shell, texts, word

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.declarations import Entry
    from agent_hooks_guards.model.options import Options

# Names of a package's scripts where a command line may stand: `concurrently npm:test`.
_SCRIPT_NAMES = ("npm:", "pnpm:", "yarn:", "bun:")
_ADDRESSES = ("https://", "http://")
# Extensions of scripts that package runners take in the place of a program.
_SCRIPTS = {"py": "python", "pyw": "python", "js": "node", "mjs": "node", "cjs": "node", "ts": "node", "sh": "sh"}


def declared(command: Command, entry: Entry) -> list[Inner]:
    """Return the commands and codes that ``command`` runs, as its declaration says."""
    options = command.options
    if "idle" in entry and options.has(entry["idle"]):
        return []
    label = " ".join((command.name, *options.subcommand))
    found: list[Inner] = []
    for alternative in entry.get("runs", ()):
        found = _alternative(command, options, alternative, label)
        if found:
            break
    for each in entry.get("also", ()):
        found += _alternative(command, options, each, label)
    for inner in found:
        _place(inner, command, options, entry)
    return found


def _place(inner: Inner, command: Command, options: Options, entry: Entry) -> None:
    """Note where and as whom ``inner`` runs."""
    if "on" in entry:
        inner.host = entry["on"]
    if "root" in entry:
        inner.root = True
        inner.hands_down = options.has("-E|--preserve-env") or (command.name == "su" and "-" not in command.argv)
    if "folder" in entry:
        inner.cwd = options.value(entry["folder"])


def _alternative(command: Command, options: Options, text: str, label: str) -> list[Inner]:
    language, _, selector = text.partition(" ")
    if selector == "input":
        return [Inner(language=language, label=label)] if command.stdin is not None else []
    if selector.startswith("file"):
        return _files(command, options, language, selector[5:], label)
    if selector == "each":
        lines = [at for at in options.operands if not command.argv[at].startswith(_SCRIPT_NAMES)]
        return [inner for at in lines for inner in shell(word(command, at), label)]
    if selector[:1] == "-" and selector != "--":
        if language in ("sh", *_CODES):
            return _values(command, options, language, selector, label)
        if " " in selector:
            return _program(command, options, selector, label)
    places = _places(command, options, selector)
    if not places:
        return []
    if language in _CODES:
        return [code(language, word(command, places[0]), label, [command.argv[at] for at in places[1:]])]
    if language == "sh" and selector.isdigit():
        places = places[:1]
    if language == "env":
        return _with_variables(command, places, label)
    if language == "script":
        return _script(command, places, label)
    return arguments(command, places, label, language)


_CODES = frozenset(
    "python node perl ruby php lua awk sed vim make powershell applescript crystal groovy julia other r tcl".split()
)


def _files(command: Command, options: Options, language: str, names: str, label: str) -> list[Inner]:
    if names:
        return [file(language, path, label) for path, _ in options.values(names)]
    operands = [command.argv[at] for at in options.operands]
    return [file(language, operands[0], label, operands[1:])] if operands and operands[0] != "-" else []


def _values(command: Command, options: Options, language: str, names: str, label: str) -> list[Inner]:
    if language == "sh":
        return values_as_shell(command, options, names, label)
    values = options.values(names)
    labels = NO_LABELS.union(*(command.labels.get(at, NO_LABELS) for _, at in values))
    operands = [command.argv[at] for at in options.operands]
    text = Data("\n".join([value for value, _ in values]), labels)
    return [code(language, text, f"{label} {names.partition('|')[0]}", operands)] if values else []


def _program(command: Command, options: Options, selector: str, label: str) -> list[Inner]:
    """Return the program that an option names, with the operands as its arguments."""
    names, _, selector = selector.partition(" ")
    rest = [word(command, at) for at in _places(command, options, selector)]
    return [texts([part(command, text, at), *rest], label) for text, at in options.values(names)[-1:]]


def _places(command: Command, options: Options, selector: str) -> list[int]:
    """Return the positions of the arguments that ``selector`` names."""
    argv = command.argv
    if selector == "--":
        return list(range(argv.index("--") + 1, len(argv))) if "--" in argv else []
    if selector[:1] == "-":
        values = options.values(selector)
        return list(range(values[0][1], len(argv))) if values else []
    if selector[:1].isalpha():  # behind a word: `cmd.run`
        return list(range(argv.index(selector) + 1, len(argv))) if selector in argv else []
    first = 0 if selector == "*" else int(selector.rstrip("+")) - 1
    return options.operands[first:]


def arguments(command: Command, places: list[int], label: str, language: str = "argv") -> list[Inner]:
    """Return the program whose arguments are at ``places``, or the command line that they make.

    Options that stand before the program are passed over, but for ``-c``, behind which a shell's text is.
    """
    argv = command.argv
    places = list(places)
    if language == "sh" and argv[places[0]][:1] != "-":
        return shell(joined(command, places), label)
    while places and argv[places[0]][:1] == "-":
        name = argv[places[0]]
        if len(places) > 1 and (name == "--command" or (name[-1] == "c" and name[:2] != "--")):
            return shell(word(command, places[1]), label)
        del places[0]
    if not places:
        return []
    if language == "sh" or (language == "command" and len(places) == 1):
        return shell(joined(command, places), label)
    if language == "package":
        return _script(command, places, label) or _package(command, places, label)
    return [Inner(words=places, label=label)]


def _with_variables(command: Command, places: list[int], label: str) -> list[Inner]:
    """Return the program at ``places``, in front of which variables may be set for it."""
    assignments: dict[str, Data] = {}
    while places and is_assignment(command.argv[places[0]]):
        name, _, value = command.argv[places[0]].partition("=")
        assignments[name] = part(command, value, places[0])
        places = places[1:]
    return [Inner(words=places, assignments=assignments, label=label)] if places else []


def _script(command: Command, places: list[int], label: str) -> list[Inner]:
    """Return the script that a package runner is given in the place of a program."""
    first, *rest = [command.argv[at] for at in places]
    language = _SCRIPTS.get(first.rpartition(".")[2], "") if "." in first else ""
    if language:
        return [file(language, first, label, rest)]
    return [Inner(language="python", label=label)] if first == "-" and command.stdin is not None else []


def _package(command: Command, places: list[int], label: str) -> list[Inner]:
    """Return the program of a package, whose name may have a version."""
    first = word(command, places[0])
    at = first.text.rfind("@")
    if at < 1 or "/" in first.text[at:]:
        return [Inner(words=places, label=label)]
    return [texts([Data(first.text[:at], first.labels), *(word(command, place) for place in places[1:])], label)]


def values_as_shell(command: Command, options: Options, names: str, label: str) -> list[Inner]:
    """Return the values of options that a shell runs."""
    return [each for text, at in options.values(names) for each in shell(part(command, text, at), label)]


def code(language: str, text: Data, label: str, given: list[str] | None = None) -> Inner:
    """Return a text that an interpreter runs with the arguments ``given``."""
    return Inner(language=language, code=text, label=label, arguments=given or [])


def file(language: str, path: str, label: str, given: list[str] | None = None) -> Inner:
    """Return a script that an interpreter runs; one behind an address is unknown and comes from the network."""
    if path.startswith(_ADDRESSES):
        return Inner(language=language, code=Data(UNKNOWN, frozenset((NETWORK,))), label=label)
    return Inner(language=language, path=path, arguments=given or [], label=label)
