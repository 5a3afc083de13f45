"""What package managers, builders and keepers of environments run: ``npx``, ``uv run``, ``make``, ``direnv exec``."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import Data

from .inner import file
from .unwrapping import operands_from, part, shell, texts, values_as_shell, word, words_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler


def npm(command: Command, options: Options) -> list[Inner]:
    """``npm exec words``, ``npm exec -c text``, ``npm config set script-shell program``."""
    name = options.subcommand[0] if options.subcommand else ""
    label = f"npm {name}"
    if name in {"exec", "x"}:
        return values_as_shell(command, options, "-c|--call", label) or _package(command, options, label)
    found = values_as_shell(command, options, "--script-shell|--editor|--viewer|--git|--shell", label)
    operands = options.operands
    argv = command.argv
    if name == "explore" and len(operands) > 1:
        found += operands_from(command, options, 1, label)
    elif options.subcommand == ("config", "set") or name == "set":
        for place, at in enumerate(operands):
            key, equals, value = argv[at].partition("=")
            if key in {"script-shell", "editor", "git", "shell", "viewer", "init-module", "browser"}:
                if equals:
                    found += shell(part(command, value, at), "npm config")
                elif place + 1 < len(operands):
                    found += shell(word(command, operands[place + 1]), "npm config")
    elif name == "pkg" or options.subcommand == ("pkg", "set"):
        for at in operands:
            key, _, value = argv[at].partition("=")
            if key.startswith("scripts."):
                found += shell(part(command, value, at), "npm pkg set scripts")
    return found


def npx(command: Command, options: Options) -> list[Inner]:
    """``npx words``, ``npx -c text``: a program of a package, or of this machine."""
    found = values_as_shell(command, options, "-c|--call", command.name)
    return found or _package(command, options, command.name)


def _package(command: Command, options: Options, label: str) -> list[Inner]:
    """The operands: a package, with a version perhaps, and words for its program."""
    if not options.operands:
        return []
    first = word(command, options.operands[0])
    at = first.text.rfind("@")
    if at < 1 or "/" in first.text[at:]:
        return operands_from(command, options, 0, label)
    rest = [word(command, place) for place in options.operands[1:]]
    return [texts([Data(first.text[:at], first.labels), *rest], label)]


def uv(command: Command, options: Options) -> list[Inner]:
    """``uv run words``, ``uv run file.py``, ``uv tool run words``."""
    subcommand = options.subcommand
    if subcommand == ("tool", "run"):
        return _package(command, options, "uv tool run")
    if subcommand[:1] != ("run",):
        return []
    argv = command.argv
    modules = options.values("-m|--module")
    operands = options.operands
    if (options.has("-m|--module") or modules) and operands:
        first = Data("python")
        return [texts([first, Data("-m"), *(word(command, at) for at in operands)], "uv run")]
    if not operands:
        return []
    path = argv[operands[0]]
    rest = [argv[at] for at in operands[1:]]
    if path == "-":
        return [Inner(language="python", label="uv run")] if command.stdin is not None else []
    if path.endswith((".py", ".pyw")) or options.has("-s|--script|--gui-script") or path.startswith("http"):
        return [file("python", path, "uv run", rest)]
    return operands_from(command, options, 0, "uv run")


def _with_dashes(*names: str, skip: int = 0, options_with_text: str = "") -> Handler:
    """``mise exec tools -- words``: the words behind ``--``, or behind the operands."""

    def handler(command: Command, _options: Options) -> list[Inner]:
        argv = command.argv
        name = next((text for text in argv[1:] if text in names), "") if names else command.name
        if not name:
            return []
        label = f"{command.name} {name}" if names else command.name
        if options_with_text:
            wanted = options_with_text.split("|")
            for at, text in enumerate(argv):
                key, equals, value = text.partition("=")
                if key in wanted and (equals or at + 1 < len(argv)):
                    return shell(part(command, value, at) if equals else word(command, at + 1), label)
                if text == "--":
                    break
        if "--" in argv:
            return words_from(command, argv.index("--") + 1, label)
        start = argv.index(name) + 1 if names else 1
        places = list(range(start, len(argv)))
        while places and argv[places[0]][:1] == "-":
            places = places[1:]
        places = places[skip:]
        return [Inner(words=places, label=label)] if places else []

    return handler


def mise(command: Command, options: Options) -> list[Inner]:
    """``mise exec tools -- words``, ``mise x -c text``."""
    if options.subcommand[:1] not in {("exec",), ("x",)}:
        return []
    return (
        _with_dashes("exec", "x", options_with_text="-c|--command")(command, options)
        if options.ended or options.has("-c|--command")
        else []
    )


def direnv(command: Command, _options: Options) -> list[Inner]:
    """``direnv exec folder words``; what is in the folder's ``.envrc`` is run first."""
    argv = command.argv
    if argv[1:2] != ["exec"] or len(argv) < 4:
        return []
    return [Inner(language="sh", path=f"{argv[2]}/.envrc", label="direnv"), *words_from(command, 3, "direnv exec")]


def apt(command: Command, options: Options) -> list[Inner]:
    """``apt-get -o APT::Update::Pre-Invoke::=text``."""
    found: list[Inner] = []
    for text, at in options.values("-o|--option"):
        key, _, value = text.partition("=")
        lowered = key.lower()
        if "invoke" in lowered or lowered.startswith(
            (
                "dir::bin",
                "apt::pager",
                "dpkg::pre-install-pkgs",
                "acquire::http::proxy-auto-detect",
                "acquire::http::proxyautodetect",
                "apt::changelogs",
            )
        ):
            found += shell(part(command, value.strip('{}"; '), at), command.name)
    return found


def dpkg(command: Command, options: Options) -> list[Inner]:
    """``dpkg --pre-invoke=text``."""
    return values_as_shell(command, options, "--pre-invoke|--post-invoke|--status-logger", "dpkg")


HANDLERS: dict[str, Handler] = {"npm": npm, "rtx": mise, "apt": apt, "apt-get": apt}
