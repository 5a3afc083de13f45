"""``make``, ``npm``, ``gdb``, ``apt`` and other tools that run a command line out of a setting or a variable."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import UNKNOWN, Data

from .unwrapping import code, operands_from, part, shell, texts, values_as_shell, word, words_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

_SHELLS = frozenset("sh bash dash zsh ksh ash".split())
_MAKEFILES = ("Makefile", "makefile", "GNUmakefile")
_SETTINGS_OF_NPM = frozenset("script-shell editor git shell viewer init-module browser".split())
# Settings of apt whose value is run, in lower case.
_SETTINGS_OF_APT = ("dir::bin", "apt::pager", "dpkg::pre-install-pkgs", "acquire::http::proxy", "apt::changelogs")
_SHELLS_OF_GDB = ("shell ", "!", "platform shell ", "pipe ", "| ")
_CALLS_OF_GDB = ("call ", "print ", "p ", "compile code ", "expr ", "expression ")


def _make(command: Command, options: Options) -> list[Inner]:
    """``make -f file``, ``--eval text``, variables with programs; else the makefile of the folder."""
    argv = command.argv
    goals = [argv[at] for at in options.operands]
    found = [code("make", part(command, text, at), "make --eval", goals) for text, at in options.values("-E|--eval")]
    for at in options.operands:
        name, equals, value = argv[at].partition("=")
        name = name.rstrip(":+?!")
        if equals and name == "SHELL" and value.rpartition("/")[2] not in _SHELLS:
            found += shell(part(command, value, at), "make SHELL")
        elif equals and ("$(shell" in value or "${shell" in value or name == "MAKEFLAGS"):
            found.append(code("make", part(command, f"x := {value}\n", at), "make", goals))
    files = [path for path, _ in options.values("-f|--file|--makefile")]
    folder = options.value("-C|--directory")
    if command.stdin is not None and not {"-", "/dev/stdin"}.isdisjoint(files):
        found.append(Inner(language="make", arguments=goals, label="make"))
    if not files and not options.has("--eval|-E"):
        files = list(_MAKEFILES)
    for path in files:
        if path not in {"-", "/dev/stdin"}:
            path = path if path[:1] == "/" or not folder else f"{folder}/{path}"
            found.append(Inner(language="make", path=path, arguments=goals, label="make"))
    return found


def _npm(command: Command, options: Options) -> list[Inner]:
    """``npm config set script-shell program``, ``npm pkg set scripts.x=line``, ``npm explore package -- arguments``."""
    argv = command.argv
    found = values_as_shell(command, options, "--script-shell|--editor|--viewer|--git|--shell", "npm")
    name = options.subcommand[0] if options.subcommand else ""
    if name == "explore" and len(options.operands) > 1:
        return found + operands_from(command, options, 1, "npm explore")
    if options.subcommand[-1:] != ("set",) and name != "pkg":
        return found
    for place, at in enumerate(options.operands):
        key, equals, value = argv[at].partition("=")
        if key.startswith("scripts.") or (key in _SETTINGS_OF_NPM and equals):
            found += shell(part(command, value, at), "npm set")
        elif key in _SETTINGS_OF_NPM:
            found += [
                inner for after in options.operands[place + 1 :][:1] for inner in shell(word(command, after), "npm")
            ]
    return found


def _apt(command: Command, options: Options) -> list[Inner]:
    """``apt-get -o APT::Update::Pre-Invoke::=line``."""
    found: list[Inner] = []
    for text, at in options.values("-o|--option"):
        key, _, value = text.partition("=")
        if "invoke" in key.lower() or key.lower().startswith(_SETTINGS_OF_APT):
            found += shell(part(command, value.strip('{}"; '), at), command.name)
    return found


def _gdb(command: Command, options: Options) -> list[Inner]:
    """``gdb -ex 'shell line'``, ``lldb -o``, and the program that is debugged."""
    names = "-ex|-iex|-eval-command|-init-eval-command|-o|-O|-k|--one-line|--one-line-before-file|--one-line-on-crash"
    given = [part(command, text, at) for text, at in options.values(names)]
    found = [inner for data in given for inner in _command_of_gdb(data)]
    for path, _ in options.values("-x|-command|-ix|-init-command"):
        found.append(Inner(language="python" if path.endswith(".py") else "gdb", path=path, label="gdb"))
    for mark in ("-args", "--args", "--"):
        if mark in command.argv:
            return found + words_from(command, command.argv.index(mark) + 1, "gdb")
    if not found and command.stdin is not None:
        lines = [Data(line, command.stdin.labels) for line in command.stdin.text.splitlines()]
        found = [inner for data in lines for inner in _command_of_gdb(data)]
    return found


def _command_of_gdb(data: Data) -> list[Inner]:
    text = data.text.strip()
    for start in _SHELLS_OF_GDB:
        if text.startswith(start):
            rest = text[len(start) :]
            rest = rest.partition("|")[2] if start in {"pipe ", "| "} else rest
            return shell(Data(rest.removeprefix("-h ").removeprefix("-- "), data.labels), "gdb")
    if text.startswith(("python ", "py ", "pi ", "script ")):
        return [code("python", Data(text.partition(" ")[2], data.labels), "gdb")]
    if text.startswith(_CALLS_OF_GDB) and "system" in text:
        line = text.partition("system")[2].partition('"')[2].rpartition('"')[0]
        return shell(Data(line or UNKNOWN, data.labels), "gdb")
    return shell(Data(text, data.labels), "gdb") if text.startswith("make ") else []


def _less(command: Command, _options: Options) -> list[Inner]:
    """``less +!line``."""
    starts = [(text.partition("!")[2], at) for at, text in enumerate(command.argv) if text[:1] == "+" and "!" in text]
    return [inner for text, at in starts for inner in shell(part(command, text, at), "less")]


def _ansible(command: Command, options: Options) -> list[Inner]:
    """``ansible hosts -m shell -a line``."""
    module = (options.value("-m|--module-name") or "command").rpartition(".")[2]
    if module not in {"command", "shell", "raw", "win_shell", "win_command"}:
        return []
    found = values_as_shell(command, options, "-a|--args", f"ansible {module}")
    hosts = command.argv[options.operands[0]] if options.operands else ""
    if hosts not in {"localhost", "127.0.0.1"} and options.value("-c|--connection") != "local":
        for inner in found:
            inner.host = "remote"
    return found


def _gcc(command: Command, _options: Options) -> list[Inner]:
    """``gcc -wrapper program,arguments``."""
    argv = command.argv
    return [
        texts([part(command, each, at + 1) for each in argv[at + 1].split(",")], "gcc -wrapper")
        for at in range(1, len(argv) - 1)
        if argv[at] == "-wrapper"
    ]


INNER = {
    "make": _make,
    "npm": _npm,
    "apt": _apt,
    "gdb": _gdb,
    "lldb": _gdb,
    "less": _less,
    "ansible": _ansible,
    "gcc": _gcc,
}
