"""The command lines, programs and codes that a command runs besides itself.

They are declared, or found by the module that the declaration names.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from functools import lru_cache

from agent_hooks_guards.model.actions import Command, Inner
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.names import is_known
from agent_hooks_guards.model.values import UNKNOWN, Data

from .effects import handlers, select
from .unwrapping import (
    argument,
    code,
    file,
    items,
    joined,
    joined_values,
    part,
    shell,
    texts,
    values_as_shell,
    with_variables,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.declarations import Entry
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler

_RUNNING = frozenset(("runs", "also", "settings"))
# `key=value`, or `key value` as ssh takes it.
_SETTING = re.compile(r"\s*([^\s=]+)[\s=]+(.*)", re.DOTALL)
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
        from .variables import run_by_variables

        found += run_by_variables(command, name)
    return found


@lru_cache(maxsize=4096)
def _plan(name: str, subcommand: tuple[str, ...]) -> tuple[list[Handler], Entry | None]:
    """Return the functions and the declaration that tell the programs that a program runs."""
    functions, entries = handlers(name, subcommand, "INNER")
    running = [entry for entry in entries if not _RUNNING.isdisjoint(entry)]
    return functions, running[-1] if running else None


def _shell_behind(command: Command) -> list[Inner]:
    """Return a shell with a command line, ``sh -c line``, among the arguments of an unknown program."""
    argv = command.argv
    if command.name.startswith("git-"):
        return [texts([Data("git"), Data(command.name[4:]), *items(command, range(1, len(argv)))], "git")]
    for at in range(1, len(argv) - 2):
        option = argv[at + 1]
        if argv[at].rpartition("/")[2] in _SHELLS and option[:1] == "-" and option[-1:] == "c" and option[:2] != "--":
            return [] if is_known(command.name) else [texts(items(command, range(at, len(argv))), command.name)]
    return []


def declared(command: Command, entry: Entry) -> list[Inner]:
    """Return the commands and codes that ``command`` runs, as its declaration says."""
    options = command.options
    if "idle" in entry and options.has(entry["idle"]):
        return []
    label = " ".join((command.name, *options.subcommand))
    found: list[Inner] = []
    has_script = "pattern" in entry and options.has(entry["pattern"])  # then no operand is one
    for alternative in () if has_script else entry.get("runs", ()):
        found = _alternative(command, options, alternative, label)
        if found:
            break
    for each in entry.get("also", ()):
        found += _alternative(command, options, each, label)
    for names, keys in entry.get("settings", {}).items():
        host = command.argv[options.operands[0]] if options.operands else "host"
        for text, at in options.values(names):
            setting = _SETTING.match(text.replace("%h", host.rpartition("@")[2]))  # of ssh
            if setting and setting[2] != "none" and any(fnmatchcase(setting[1].lower(), key) for key in keys.split()):
                found += shell(part(command, setting[2].strip('{}"; '), at), label)
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
    if language == "unknown":
        is_given = command.stdin is not None if selector == "input" else options.has(selector)
        return shell(Data(UNKNOWN), label) if is_given else []
    if language == "remote":
        found = values_as_shell(command, options, selector, label)
        for inner in found:
            inner.host = "remote"
        return found
    if selector == "input":
        return [Inner(language=language, label=label)] if command.stdin is not None else []
    if selector[0] == "^":
        return [
            shell(data, label)[0] if language == "sh" else code(language, data, label)
            for data in _attached(command, selector[1:])
            if data.text.strip()
        ]
    if selector.startswith("file"):
        return _files(command, options, language, selector[5:], label)
    if selector == "each":
        lines = [at for at in options.operands if not command.argv[at].startswith(_SCRIPT_NAMES)]
        return [inner for at in lines for inner in shell(argument(command, at), label)]
    if selector[:1] == "-" and selector != "--":
        if language not in _ARGUMENTS:
            return _values(command, options, language, selector, label)
        if " " in selector:
            return _program(command, options, selector, label)
    places = _places(command, options, selector)
    if not places:
        return []
    if language not in _ARGUMENTS and language != "sh":
        return [code(language, argument(command, places[0]), label, [command.argv[at] for at in places[1:]])]
    if language == "sh" and selector.isdigit():
        places = places[:1]
    if language == "env":
        return with_variables(command, places, label)
    if language == "script":
        return _script(command, places, label)
    return arguments(command, places, label, language)


def _attached(command: Command, prefix: str) -> list[Data]:
    """Return the rests of the arguments that start with ``prefix``; those of an address, ``EXEC:``, end at a comma."""
    argv = command.argv
    found = [(argv[at][len(prefix) :], at) for at in range(1, len(argv)) if argv[at].upper().startswith(prefix)]
    found = [(text.partition(",")[0] if prefix[-1] == ":" else text, at) for text, at in found]
    return [part(command, text.strip("'\""), at) for text, at in found]


def _files(command: Command, options: Options, language: str, names: str, label: str) -> list[Inner]:
    if names:
        return [file(language, path, label) for path, _ in options.values(names)]
    operands = [command.argv[at] for at in options.operands]
    return [file(language, operands[0], label, operands[1:])] if operands and operands[0] != "-" else []


def _values(command: Command, options: Options, language: str, names: str, label: str) -> list[Inner]:
    if language == "sh":
        return values_as_shell(command, options, names, label)
    text = joined_values(command, options, names)
    operands = [command.argv[at] for at in options.operands]
    return [code(language, text, f"{label} {names.partition('|')[0]}", operands)] if text is not None else []


def _program(command: Command, options: Options, selector: str, label: str) -> list[Inner]:
    """Return the program that an option names, with the operands as its arguments."""
    names, _, selector = selector.partition(" ")
    rest = items(command, _places(command, options, selector))
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
            return shell(argument(command, places[1]), label)
        del places[0]
    if not places:
        return []
    if language == "sh" or (language == "command" and len(places) == 1):
        return shell(joined(command, places), label)
    if language == "package":
        return _script(command, places, label) or _package(command, places, label)
    return [texts(items(command, places), label)]


def _script(command: Command, places: list[int], label: str) -> list[Inner]:
    """Return the script that a package runner is given in the place of a program."""
    first, *rest = [command.argv[at] for at in places]
    language = _SCRIPTS.get(first.rpartition(".")[2], "") if "." in first else ""
    if language:
        return [file(language, first, label, rest)]
    return [Inner(language="python", label=label)] if first == "-" and command.stdin is not None else []


def _package(command: Command, places: list[int], label: str) -> list[Inner]:
    """Return the program of a package, whose name may have a version."""
    first, *rest = items(command, places)
    at = first.text.rfind("@")
    if at > 0 and "/" not in first.text[at:]:
        first = Data(first.text[:at], first.labels)
    return [texts([first, *rest], label)]
