"""What runs a program as another user, in other surroundings, in a terminal or under a debugger."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Inner
from agent_hooks_guards.model.values import NOTHING, UNKNOWN, Data

from .unwrapping import is_assignment, operands_from, part, shell, split, texts, word, words_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command
    from agent_hooks_guards.model.options import Options

    from .unwrapping import Handler


def env(command: Command, _options: Options) -> list[Inner]:
    """``env options NAME=value words``, with more words in the text of ``-S``."""
    items = [(word(command, at), at) for at in range(1, len(command.argv))]
    assignments: dict[str, Data] = {}
    clears = False
    cwd: str | None = None
    split_up = 0
    while items:
        data, _ = items[0]
        text = data.text
        if text == "--":
            items = items[1:]
            break
        if text == "-" or (text == "-i" and len(text) == 2):
            clears = True
            items = items[1:]
            continue
        if text[:2] == "--":
            name, equals, value = text.partition("=")
            full = _env_option(name)
            if full == "--ignore-environment":
                clears = True
            if full in {"--split-string", "--chdir", "--unset", "--argv0"}:
                if not equals:
                    items = items[1:]
                    value = items[0][0].text if items else ""
                    data = items[0][0] if items else data
                if full == "--split-string" and split_up < 8:
                    split_up += 1
                    items = [(Data(each, data.labels), -1) for each in _split(value)] + items[1:]
                    continue
                if full == "--chdir":
                    cwd = value
                elif full == "--unset":
                    assignments[value] = NOTHING
            items = items[1:]
            continue
        if text[:1] == "-":
            items, clears_too, folder, was_split = _env_letters(items, data, assignments)
            clears = clears or clears_too
            cwd = folder if folder is not None else cwd
            split_up += was_split
            if split_up > 8:
                break
            continue
        if is_assignment(text):
            name, _, value = text.partition("=")
            assignments[name] = Data(value, data.labels)
            items = items[1:]
            continue
        break
    while items and is_assignment(items[0][0].text):
        name, _, value = items[0][0].text.partition("=")
        assignments[name] = Data(value, items[0][0].labels)
        items = items[1:]
    if not items:
        return []
    if all(at > 0 for _, at in items):
        found = Inner(words=[at for _, at in items], label="env")
    else:
        found = texts([data for data, _ in items], "env")
    found.assignments = assignments
    found.clears_environment = clears
    found.cwd = cwd
    return [found]


_ENV_OPTIONS = ("--ignore-environment", "--ignore-signal", "--split-string", "--chdir", "--unset", "--null", "--argv0",
                "--debug", "--block-signal", "--default-signal", "--list-signal-handling")  # fmt: skip


def _env_option(name: str) -> str:
    fitting = [option for option in _ENV_OPTIONS if option.startswith(name)]
    return name if name in fitting or not fitting else fitting[0]


def _env_letters(
    items: list[tuple[Data, int]], data: Data, assignments: dict[str, Data]
) -> tuple[list[tuple[Data, int]], bool, str | None, int]:
    """One bundle of ``env``: the words behind it, whether it clears, the folder, whether it was split."""
    text = data.text
    clears = False
    for place, letter in enumerate(text[1:], 1):
        if letter == "i":
            clears = True
        elif letter in "SuCPaUL":
            value = text[place + 1 :]
            rest = items[1:]
            if not value and rest:
                data, _ = rest[0]
                value = data.text
                rest = rest[1:]
            if letter == "S":
                return [(Data(each, data.labels), -1) for each in _split(value)] + rest, clears, None, 1
            if letter == "u":
                assignments[value] = NOTHING
            return rest, clears, value if letter == "C" else None, 0
    return items[1:], clears, None, 0


def _split(text: str) -> list[str]:
    """The words of ``env -S``, which has escapes and variables of its own."""
    text = text.replace("\\_", " ").partition("\\c")[0]
    words = [_without_variables(each) for each in split(text)]
    for at, each in enumerate(words):
        if each[:1] == "#":
            return words[:at]
    return words


def _without_variables(text: str) -> str:
    made = []
    while "${" in text:
        before, _, rest = text.partition("${")
        _, closed, rest = rest.partition("}")
        made.append(before + UNKNOWN)
        text = rest if closed else ""
    return "".join(made) + text


def namespaces(command: Command, options: Options) -> list[Inner]:
    """``nsenter words``, ``unshare words``; without any, a shell. The first process's namespaces are the machine's."""
    found = operands_from(command, options, 0, command.name)
    if not found and command.stdin is not None:
        found = [Inner(language="sh", label=command.name)]
    if command.name == "nsenter" and (options.value("-t|--target") == "1" or options.has("-a|--all")):
        for each in found:
            each.host = ""
            each.root = True
    return found


def gdb(command: Command, options: Options) -> list[Inner]:
    """``gdb -ex 'shell text'``, and the program that is debugged."""
    found: list[Inner] = []
    for text, at in options.values("-ex|-iex|-eval-command|-init-eval-command"):
        found += _debugger_command(part(command, text, at), command.name)
    for path, _ in options.values("-x|-command|-ix|-init-command"):
        found.append(Inner(language="python" if path.endswith(".py") else "gdb", path=path, label="gdb"))
    argv = command.argv
    for at, text in enumerate(argv):
        if text in {"-args", "--args"}:
            found += words_from(command, at + 1, "gdb")
            break
    if not found and command.stdin is not None:
        for line in command.stdin.text.splitlines():
            found += _debugger_command(Data(line, command.stdin.labels), "gdb")
    return found


def lldb(command: Command, options: Options) -> list[Inner]:
    """``lldb -o 'platform shell text'``, and the program that is debugged."""
    found: list[Inner] = []
    for text, at in options.values("-o|-O|-k|--one-line|--one-line-before-file|--one-line-on-crash"):
        found += _debugger_command(part(command, text, at), "lldb")
    if options.ended:
        found += operands_from(command, options, 0, "lldb")
    return found


_DEBUGGER_SHELLS = ("shell ", "!", "make ", "platform shell ", "pipe ", "| ")
_DEBUGGER_PYTHON = ("python ", "python-interactive ", "py ", "pi ", "script ")


def _debugger_command(data: Data, label: str) -> list[Inner]:
    text = data.text.strip()
    for start in _DEBUGGER_SHELLS:
        if text.startswith(start):
            rest = text[len(start) :]
            if start in {"pipe ", "| "}:
                rest = rest.partition("|")[2]
            if start == "make ":
                rest = text
            return shell(Data(rest.removeprefix("-h ").removeprefix("-- "), data.labels), label)
    for start in _DEBUGGER_PYTHON:
        if text.startswith(start):
            return [Inner(language="python", code=Data(text[len(start) :], data.labels), label=label)]
    for call in ("call ", "print ", "p ", "compile code ", "expr ", "expression "):
        if text.startswith(call) and "system" in text:
            inside = text.partition("system")[2].partition('"')[2].rpartition('"')[0]
            return shell(Data(inside or UNKNOWN, data.labels), label)
    if text.startswith("source "):
        return [Inner(language="gdb", path=text[7:].strip(), label=label)]
    return []


HANDLERS: dict[str, Handler] = {"env": env, "nsenter": namespaces, "gdb": gdb, "lldb": lldb}
