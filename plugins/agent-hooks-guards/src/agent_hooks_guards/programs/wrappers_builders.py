"""What builders and compilers run: ``make``, ``cmake -E``, ``cargo --config``, ``just``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import Data

from .unwrapping import code, part, shell, texts, values_as_shell, word, words_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler


def cargo(command: Command, options: Options) -> list[Inner]:
    """``cargo --config 'alias.x="…"'`` and settings with a program; ``cargo watch -s text``."""
    found: list[Inner] = []
    for text, at in options.values("--config"):
        key, _, value = text.partition("=")
        if key.strip().endswith(
            (
                "runner",
                "linker",
                "rustc-wrapper",
                "rustc-workspace-wrapper",
                "build.rustc",
                "build.rustdoc",
                "credential-provider",
            )
        ):
            found += shell(
                part(command, " ".join(value.strip().strip("[]").replace('"', "").replace("'", "").split(",")), at),
                "cargo --config",
            )
    if options.subcommand[:1] == ("watch",):
        argv = command.argv
        for at, text in enumerate(argv[:-1]):
            if text in {"-s", "--shell"}:
                found += shell(word(command, at + 1), "cargo watch")
        if "--" in argv:
            found += words_from(command, argv.index("--") + 1, "cargo watch")
    return found


def make(command: Command, options: Options) -> list[Inner]:
    """``make -f file``, ``--eval text``, variables with programs; else the makefile of the folder."""
    argv = command.argv
    found: list[Inner] = []
    goals = [argv[at] for at in options.operands]
    for text, at in options.values("-E|--eval"):
        found.append(code("make", part(command, text, at), "make --eval", goals))
    for at in options.operands:
        name, equals, value = argv[at].partition("=")
        if not equals:
            continue
        name = name.rstrip(":+?!")
        if name == "SHELL" and value.rpartition("/")[2] not in {"sh", "bash", "dash", "zsh", "ksh", "ash"}:
            found += shell(part(command, value, at), "make SHELL")
        elif "$(shell" in value or "${shell" in value or name == "MAKEFLAGS":
            found.append(code("make", part(command, f"x := {value}\n", at), "make", goals))
    files = options.values("-f|--file|--makefile")
    folder = options.value("-C|--directory")
    if command.stdin is not None and any(path in {"-", "/dev/stdin"} for path, _ in files):
        found.append(Inner(language="make", arguments=goals, label="make"))
    for path, _ in files:
        if path not in {"-", "/dev/stdin"}:
            found.append(
                Inner(
                    language="make",
                    path=path if path[:1] == "/" or not folder else f"{folder}/{path}",
                    arguments=goals,
                    label="make",
                )
            )
    if not files and not options.has("--eval|-E"):
        found += [
            Inner(language="make", path=f"{folder}/{name}" if folder else name, arguments=goals, label="make")
            for name in ("Makefile", "makefile", "GNUmakefile")
        ]
    return found


def cmake(command: Command, options: Options) -> list[Inner]:
    """``cmake -E env words``, ``cmake -E rm files``, ``cmake -P file``."""
    argv = command.argv
    for text, at in options.values("-E"):
        rest = list(range(at + 1, len(argv)))
        if text in {"env", "time", "chdir"}:
            return _cmake_env(command, text, rest)
        inside = {
            "rm": "rm",
            "remove": "rm",
            "remove_directory": "rm",
            "copy": "cp",
            "copy_directory": "cp",
            "rename": "mv",
            "create_symlink": "ln",
        }.get(text)
        if inside is None:
            return []
        own = [Data(inside)] + ([Data("-rf")] if text == "remove_directory" else [])
        return [texts([*own, *(word(command, place) for place in rest)], "cmake -E")]
    return [Inner(language="cmake", path=path, label="cmake -P") for path, _ in options.values("-P")]


def _cmake_env(command: Command, name: str, places: list[int]) -> list[Inner]:
    argv = command.argv
    assignments: dict[str, Data] = {}
    cwd = None
    if name == "chdir" and places:
        cwd = argv[places[0]]
        places = places[1:]
    while places and (argv[places[0]][:2] == "--" or "=" in argv[places[0]]):
        key, equals, value = argv[places[0]].partition("=")
        if equals and key[:2] != "--":
            assignments[key] = part(command, value, places[0])
        places = places[1:]
    return [Inner(words=places, assignments=assignments, cwd=cwd, label="cmake -E")] if places else []


def just(command: Command, options: Options) -> list[Inner]:
    """``just --command words``, ``just --shell program``, and the file of recipes."""
    found = values_as_shell(command, options, "--shell|--chooser", "just")
    commands = options.values("-c|--command")
    if commands:
        return found + words_from(command, commands[0][1], "just --command")
    return found


def gradle(_command: Command, options: Options) -> list[Inner]:
    """``gradle -I file``, ``gradle -b file``: Groovy that runs."""
    return [Inner(language="groovy", path=path, label="gradle") for path, _ in options.values("-I|-init-script|-b")]


def mvn(command: Command, _options: Options) -> list[Inner]:
    """``mvn exec:exec -Dexec.executable=program -Dexec.args=words``."""
    given: dict[str, str] = {}
    for text in command.argv:
        if text[:2] == "-D":
            name, _, value = text[2:].partition("=")
            given[name] = value
    program = given.get("exec.executable")
    words = f"{program} {given.get('exec.args', '')}"
    return shell(Data(words, command.labels_of()), "mvn exec") if program else []


HANDLERS: dict[str, Handler] = {
    "cargo": cargo,
    "make": make,
    "cmake": cmake,
    "gradle": gradle,
    "gradlew": gradle,
    "mvn": mvn,
    "mvnw": mvn,
}
