"""The command lines, programs and codes that a command runs besides itself.

They are declared, or found by the module that the declaration names.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from agent_hooks_guards.model.actions import Command, Inner
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.names import is_known
from agent_hooks_guards.model.values import NO_LABELS, Data

from .effects import select
from .unwrapping import code, file, is_assignment, joined, part, shell, texts, values_as_shell, word, words_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.declarations import Entry
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler

_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh", "ash"))
# All other words in front of a selector are languages, or `sh`.
_ARGUMENTS = frozenset(("argv", "command", "env", "package", "script"))
# Names of a package's scripts where a command line may stand: `concurrently npm:test`.
_SCRIPT_NAMES = ("npm:", "pnpm:", "yarn:", "bun:")
# Extensions of scripts that package runners take in the place of a program.
_SCRIPTS = {"py": "python", "pyw": "python", "js": "node", "mjs": "node", "cjs": "node", "ts": "node", "sh": "sh"}


def inner(command: Command) -> list[Inner]:
    """Return the programs and codes that ``command`` runs, in order; none for most programs. Never raises."""
    name = command.name
    found: list[Inner] = []
    if not declarations().is_acting(name):
        found = _shell_behind(command)
    else:
        options = command.options
        runners, entry = _plan(name, options.subcommand)
        if (runners or entry) and not options.is_help:
            for run in runners:
                found += run(command, options)
            found += declared(command, entry) if entry else []
    if command.assignments:
        from .variables import options_in_variables, run_by_variables

        found += run_by_variables(command, name)
        for other in options_in_variables(command, name):
            found += _with_options(command, other)
    return found


@lru_cache(maxsize=4096)
def _plan(name: str, subcommand: tuple[str, ...]) -> tuple[list[Handler], Entry | None]:
    """Return the functions and the declaration that tell the programs that a program runs."""
    table = declarations()
    entries = table.holding(name, subcommand)
    path = table.aliases.get(name, name)
    modules = dict.fromkeys(entry["module"] for entry in entries if "module" in entry)
    functions = [getattr(import_module(f"{__package__}.{each}"), "INNER", {}).get(path) for each in modules]
    running = [entry for entry in entries if "runs" in entry or "also" in entry]
    return [each for each in functions if each], running[-1] if running else None


def _with_options(command: Command, other: Command) -> list[Inner]:
    """Return the programs that ``other`` runs, ``command`` with the options of a variable, and ``command`` does not."""
    plain = Command(command.program, command.argv, stdin=command.stdin, cwd=command.cwd)
    known = {(each.path, each.code.text if each.code else None) for each in inner(plain)}
    found = [each for each in inner(other) if (each.path, each.code.text if each.code else None) not in known]
    for each in found:
        if each.words is not None:
            each.argv, each.words = [other.argv[at] for at in each.words], None
    return found


def _shell_behind(command: Command) -> list[Inner]:
    """Return a shell with a command line, ``sh -c line``, among the arguments of an unknown program."""
    argv = command.argv
    if command.name.startswith("git-"):
        return [texts([Data("git"), Data(command.name[4:]), *(word(command, at) for at in range(1, len(argv)))], "git")]
    for at in range(1, len(argv) - 2):
        option = argv[at + 1]
        if argv[at].rpartition("/")[2] in _SHELLS and option[:1] == "-" and option[-1:] == "c" and option[:2] != "--":
            return [] if is_known(command.name) else words_from(command, at, command.name)
    return []


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
        if language not in _ARGUMENTS:
            return _values(command, options, language, selector, label)
        if " " in selector:
            return _program(command, options, selector, label)
    places = _places(command, options, selector)
    if not places:
        return []
    if language not in _ARGUMENTS and language != "sh":
        return [code(language, word(command, places[0]), label, [command.argv[at] for at in places[1:]])]
    if language == "sh" and selector.isdigit():
        places = places[:1]
    if language == "env":
        return _with_variables(command, places, label)
    if language == "script":
        return _script(command, places, label)
    return arguments(command, places, label, language)


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
    return select(selector if selector == "*" else f"{selector.rstrip('+')}+", options.operands)


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
