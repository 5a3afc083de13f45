"""The builtins of a shell, and their effects on its state."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command
from agent_hooks_guards.model.values import ANYTHING, INPUT, NO_LABELS, NOTHING, PROCESSES, UNKNOWN, Data, Unset
from agent_hooks_guards.programs.inner import joined, quoted

# Lines of an array that `mapfile` keeps, and calls of its callback.
_MAX_LINES = 256
_MAX_CALLS = 16
_MAX_DIGITS = 9

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .evaluation import Evaluation
    from .state import Frame

    Builtin = Callable[[Evaluation, Command, Frame], Data | None]


def _cd(walk: Evaluation, command: Command, frame: Frame) -> Data:
    operands = command.options.operands
    state = frame.state
    target = command.argv[operands[0]] if operands else "~"
    if target == "-" or command.argv[-1] == "-" or command.program == "popd":
        target = state.value("OLDPWD").text or UNKNOWN
    state.assign("OLDPWD", Data(state.cwd))
    path = walk.path(target, frame)
    # Without -P the path through a link stays, and its `..` is the folder of the link.
    state.cwd = path if "-P" in command.argv else str(path)
    return NOTHING


def _declare(walk: Evaluation, command: Command, frame: Frame) -> Data | None:
    state = frame.state
    flags = "".join(argument[1:] for argument in command.argv[1:] if argument[:1] == "-" and argument[:2] != "--")
    operands = command.options.operands
    if "f" in flags:
        names = [command.argv[at] for at in operands]
        if "x" in flags or command.program == "export":
            functions = state.functions
            state.exported = {**state.exported, **{name: functions[name] for name in names if name in functions}}
            return NOTHING
        known = [state.functions[name] for name in names or state.functions if name in state.functions]
        if not known:
            return None
        return Data("".join(f"{definition}\n" for *_, definition in known))
    if "p" in flags:
        shown = [(name, state.value(name)) for name in (command.argv[at] for at in operands)]
        return (
            joined([Data(f"{name}={quoted(data.text)}\n", data.labels) for name, data in shown], "") if shown else None
        )
    named = {command.argv[at].partition("=")[0].rstrip("+") for at in operands}
    is_export = command.program == "export"
    given = command.argv[1 : operands[0]] if operands else []
    if (is_export and "n" in flags) or any(argument[0] == "+" and "x" in argument for argument in given if argument):
        state.handed_down -= named
    elif "x" in flags or is_export:
        state.handed_down |= named
    for at in operands:
        name, equals, text = command.argv[at].partition("=")
        labels = command.labels.get(at, NO_LABELS)
        if "i" in flags:
            state.integers |= {name}
        if not equals:
            continue
        if "n" in flags and not is_export:
            state.references = {**state.references, name: text}
        elif "i" in flags:
            number = walk.number(text, frame)
            state.assign(name, Data(UNKNOWN if number is None else str(number), labels))
        elif name.endswith("+"):
            old = state.value(name[:-1])
            state.assign(name[:-1], Data(old.text + text, old.labels | labels))
        else:
            state.assign(name, Data(text, labels))
    return NOTHING if command.program != "export" or len(command.argv) > 1 else None


def _unset(walk: Evaluation, command: Command, frame: Frame) -> Data:
    for at in command.options.operands:
        name = command.argv[at]
        _subscript(walk, name, frame)
        if "[" in name:
            continue
        frame.state.arrays.pop(name, None)
        frame.state.functions.pop(name, None)
        frame.state.variables[name] = (Unset(),)
    return NOTHING


def _subscript(walk: Evaluation, name: str, frame: Frame) -> None:
    """Run the substitutions in the index of a name: the shell expands it."""
    if "[" in name:
        walk.expanded(name, frame)


def _set(walk: Evaluation, command: Command, frame: Frame) -> Data | None:
    argv = command.argv
    if len(argv) == 1:
        return None
    if any(argument == "xtrace" or (argument[:1] == "-" and "x" in argument[1:]) for argument in argv[1:2] + argv[2:3]):
        # The shell expands this prompt for each traced command.
        walk.expanded(frame.state.value("PS4").text, frame)
    operands = command.options.operands
    if "fish" in frame.via or "fish -c" in frame.via:
        if operands:  # `set name value`
            first = operands[0] + 1
            frame.state.assign(argv[first - 1], Data(" ".join(argv[first:]), command.labels_of(first)))
            if any("x" in argument for argument in argv[1 : first - 1]):
                frame.state.handed_down |= {argv[first - 1]}
    elif operands or "--" in argv:
        first = argv.index("--") + 1 if "--" in argv else operands[0]
        frame.state.positional = [Data(argv[at], command.labels.get(at, NO_LABELS)) for at in range(first, len(argv))]
    return NOTHING


def _shift(_walk: Evaluation, command: Command, frame: Frame) -> Data:
    count = command.argv[1] if len(command.argv) > 1 else "1"
    frame.state.positional = frame.state.positional[int(count) if count.isdigit() else 1 :]
    return NOTHING


def _read(walk: Evaluation, command: Command, frame: Frame) -> Data:
    """``read``: assign the first line of stdin by fields and leave the rest."""
    options, state = command.options, frame.state
    array = options.value("-a")
    names = [array] if array else [command.argv[at] for at in options.operands] or ["REPLY"]
    for name in names:
        _subscript(walk, name, frame)
    number = _integer(options.value("-u"))
    data = _content_of(number, frame) if number else command.stdin
    if data is None:
        for name in names:
            state.assign(name, Data(UNKNOWN, frozenset((INPUT,))))
        return NOTHING
    if len(names) > 1 and PROCESSES in data.labels:
        # A script that splits the lines of `ps` selects processes by more than their number.
        data = Data(data.text, data.labels - {PROCESSES})
    length, end = _integer(options.value("-N|-n")), options.value("-d")
    if length is not None and data.is_known:
        line, rest = data.text[:length], data.text[length:]
        line = line if options.has("-N") else line.partition("\n")[0]
    else:
        line, _, rest = data.text.partition("\n" if end is None else end[:1] or "\0")
    if UNKNOWN in line:
        rest = UNKNOWN
    left = Data(rest, data.labels) if rest and data.is_known else NOTHING
    # The next `read` of an enclosing loop continues behind this one.
    if number:
        state.descriptors[number] = left
    elif frame.stdin is command.stdin:
        frame.stdin = left
    separators = command.assignments["IFS"].text if "IFS" in command.assignments else state.value("IFS").text
    if array:
        from .expansion import split_at

        state.assign_array(array, [Data(text, data.labels) for text in split_at(line, separators) if text])
        return NOTHING
    for at, name in enumerate(names):
        text, line = _first_field(line, separators, is_last=at == len(names) - 1)
        state.assign(name, Data(text, data.labels))
    return NOTHING


def _integer(text: str | None) -> int | None:
    """Return a short decimal number, None for any other text."""
    return int(text) if text and text.isdecimal() and len(text) < _MAX_DIGITS else None


def _content_of(number: int, frame: Frame) -> Data:
    """Return the content of an open file."""
    found = frame.state.descriptors.get(number)
    if isinstance(found, str):
        return frame.state.file(found) or ANYTHING
    return ANYTHING if found is None else found


def _first_field(line: str, separators: str, *, is_last: bool) -> tuple[str, str]:
    """Return the first field of a line and the rest; for the last field, the whole line."""
    blanks = "".join(char for char in separators if char in " \t\n")
    line = line.lstrip(blanks) if blanks else line
    if is_last:
        return (line.rstrip(blanks) if blanks else line), ""
    end = next((at for at, char in enumerate(line) if char in separators), len(line))
    text, rest = line[:end], line[end:]
    if UNKNOWN in text:
        return text, rest or UNKNOWN
    rest = rest.lstrip(blanks) if blanks else rest
    if rest[:1] in separators and rest[:1] not in blanks:
        rest = rest[1:]
    return text, rest


def _mapfile(walk: Evaluation, command: Command, frame: Frame) -> Data:
    options, operands = command.options, command.options.operands
    number, end = _integer(options.value("-u")), options.value("-d")
    data = (_content_of(number, frame) if number else command.stdin) or ANYTHING
    separator = "\n" if end is None else end[:1] or "\0"
    lines = data.text.split(separator)
    if not lines[-1]:
        lines.pop()
    elif lines[-1].endswith("\n") and options.has("-t"):
        lines[-1] = lines[-1][:-1]
    lines = lines[_integer(options.value("-s")) or 0 :][:_MAX_LINES]
    end = "" if options.has("-t") else separator
    name = command.argv[operands[-1]] if operands else "MAPFILE"
    frame.state.assign_array(name, [Data(line + end, data.labels) for line in lines])
    called = options.value("-C")
    for at, line in enumerate(lines[:_MAX_CALLS] if called else ()):
        inside = frame.copy()
        inside.text = f"{called} {at} {quoted(line)}"
        walk.code(inside.text, inside, wants=False)
    return NOTHING


def _printf(walk: Evaluation, command: Command, frame: Frame) -> Data | None:
    argv = command.argv
    if len(argv) < 4 or argv[1] != "-v":
        return None
    from agent_hooks_guards.programs.outputs import output

    plain = Command("printf", ["printf", *argv[3:]], cwd=command.cwd)
    data = output(plain, None, lambda _path: False)
    labels = command.labels_of(3)
    _subscript(walk, argv[2], frame)
    frame.state.assign(argv[2], Data(data.text, data.labels | labels))
    return NOTHING


def _alias(_walk: Evaluation, command: Command, frame: Frame) -> Data | None:
    """Define a name of a command: ``alias l=ls``, ``hash -p /bin/ls l``; ``history -s ls`` defines ``fc``."""
    argv, aliases = command.argv, frame.state.aliases
    if command.program == "alias":
        pairs = [argv[at].partition("=") for at in command.options.operands]
        aliases.update({name: text for name, equals, text in pairs if equals})
    elif command.program == "hash" and len(argv) > 3 and argv[1] == "-p":
        aliases[argv[3]] = argv[2]
    elif command.program == "history":
        if argv[1:2] != ["-s"]:
            return None
        aliases["fc"] = " ".join(argv[2:])
    return NOTHING


def _let(walk: Evaluation, command: Command, frame: Frame) -> Data:
    for argument in command.argv[1:]:
        walk.number(argument, frame)
    return NOTHING


def _getopts(_walk: Evaluation, command: Command, frame: Frame) -> Data:
    """``getopts letters name``: assign the next option of the positional parameters."""
    state = frame.state
    _, letters, name, *given = (*command.argv, "", "")[: max(len(command.argv), 3)]
    argv = [Data(argument) for argument in given] or state.positional
    position = _integer(state.value("OPTIND").text) or len(argv) + 1
    argument, following = (*argv[position - 1 : position + 1], NOTHING, NOTHING)[:2]
    letter, text = argument.text[1:2], argument.text[2:]
    is_option = argument.is_known and argument.text[:1] == "-"
    has_value = is_option and f"{letter}:" in letters
    value = following if has_value and not text else Data(text if has_value else "", argument.labels)
    state.assign(name, Data(letter, argument.labels) if is_option else ANYTHING)
    state.assign("OPTARG", value if is_option else ANYTHING)
    if is_option:
        state.assign("OPTIND", Data(str(position + 1 + (has_value and not text))))
    return NOTHING


def _test(walk: Evaluation, command: Command, frame: Frame) -> None:
    """Expand the index in ``[ -v name[index] ]``."""
    argv = command.argv
    for at, argument in enumerate(argv[:-1]):
        if argument in ("-v", "-R"):
            _subscript(walk, argv[at + 1], frame)


def _printenv(_walk: Evaluation, command: Command, frame: Frame) -> Data | None:
    """``printenv name``: no builtin, but it prints variables of the shell."""
    names = [command.argv[at] for at in command.options.operands]
    found = [command.assignments.get(name) or frame.state.value(name) for name in names]
    return joined([Data(f"{each.text}\n", each.labels) for each in found], "") if found else None


def _nothing(_walk: Evaluation, _command: Command, _frame: Frame) -> Data:
    return NOTHING


BUILTINS: dict[str, Builtin] = {
    **dict.fromkeys(("cd", "chdir", "pushd", "popd"), _cd),
    **dict.fromkeys(("export", "declare", "typeset", "local", "readonly"), _declare),
    "unset": _unset,
    "set": _set,
    "shift": _shift,
    "read": _read,
    **dict.fromkeys(("mapfile", "readarray"), _mapfile),
    "printf": _printf,
    **dict.fromkeys(("alias", "hash", "history"), _alias),
    "let": _let,
    "getopts": _getopts,
    **dict.fromkeys(("test", "["), _test),
    "printenv": _printenv,
    **dict.fromkeys(
        ": true false return exit break continue shopt unalias wait jobs umask ulimit bind disown fg bg".split(),
        _nothing,
    ),
}
