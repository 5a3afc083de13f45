"""Run commands in the model: functions, builtins, programs with their effects, and the commands inside them."""

from __future__ import annotations

from itertools import zip_longest

from agent_hooks_guards.model.actions import Command, Doubt, Effect, Inner, TooMuchError
from agent_hooks_guards.model.values import ANYTHING, NO_LABELS, NOTHING, REMOTE, UNKNOWN, Data
from agent_hooks_guards.places.credentials import private
from agent_hooks_guards.programs.inner import inner

from .builtins import BUILTINS
from .command_effects import COPY_OF, note_effects, printed_by
from .file_access import descriptor_data, descriptor_of
from .state import frame_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .evaluation import Evaluation
    from .state import Frame

_MAX_RUNNING = 16
_GLOBS = frozenset("*?[")
# Options that name a file to read in place of stdin.
_INPUTS = {
    "xargs": "-a|--arg-file",
    "parallel": "-a|--arg-file",
    "psql": "-f|--file",
    "sqlcmd": "-i",
    "sqlite3": "-init",
    "cqlsh": "-f|--file",
    "clickhouse-client": "--queries-file",
}
# Bash calls a function of this name for a missing program.
_MISSING = "command_not_found_handle"
# These ignore functions.
_PAST_FUNCTIONS = frozenset(("command", "builtin", "exec"))
# These run commands on other machines.
_REMOTE = frozenset(("ssh", "slogin", "autossh", "dbclient", "mosh", "kubectl", "oc", "gcloud", "vagrant"))
# Languages in which unknown code is assumed to run nothing.
_FILTERS = frozenset(("sed", "awk"))


def program(
    walk: Evaluation,
    argv: list[str],
    labels: dict[int, frozenset[str]],
    assignments: dict[str, Data],
    frame: Frame,
    stdin: Data | None,
    fragment: str,
    *,
    wants: bool,
    is_function: bool = True,
) -> Data:
    """Record ``argv`` as an executed command and, if ``wants`` is set, return its stdout.

    ``is_function``: whether it may call a function.
    """
    first = argv[0]
    state = frame.state
    if first[:1] == "=" and any(each.startswith("zsh") for each in frame.via):
        first = first[1:]
        argv = [first, *argv[1:]]
    if is_function and first in state.functions:
        return _call_function(walk, argv, labels, frame, stdin, wants=wants)
    if (state.files or state.links) and "/" not in first and (found := _in_path(walk, first, assignments, frame)):
        first = found
        argv = [first, *argv[1:]]
    if state.links and "/" in first:
        followed_to = walk.path(first, frame)
        # These choose their function by the name they are called by.
        if followed_to.rpartition("/")[2] not in ("busybox", "toybox"):
            first = followed_to
    if state.handed_down:
        exported = {each: state.value(each) for each in state.handed_down if state.is_set(each)}
        assignments = {**exported, **assignments}
    name = first.rpartition("/")[2]
    if name in ("$", ""):
        name = first
    if not _GLOBS.isdisjoint(name) and name not in ("[", "[["):
        walk.analysis.doubts.append(Doubt("unknown-program", fragment))
        return ANYTHING
    command = frame.command(name, argv, fragment, labels, assignments, stdin)
    if UNKNOWN in name:
        return _record_unknown(walk, command)
    if UNKNOWN in first and 0 in labels:
        walk.analysis.effects.append(Effect("run", "", command, labels=labels[0]))
    walk.analysis.commands.append(command)
    return _run_program(walk, command, first, frame, wants=wants, is_function=is_function)


def _record_unknown(walk: Evaluation, command: Command) -> Data:
    """Record a program whose name is not known."""
    labels = command.labels
    walk.analysis.doubts.append(Doubt("unknown-program", command.fragment, labels.get(0, NO_LABELS)))
    if 0 in labels:
        walk.analysis.effects.append(Effect("run", "", command, labels=labels[0]))
    return ANYTHING


def _run_program(
    walk: Evaluation, command: Command, first: str, frame: Frame, *, wants: bool, is_function: bool
) -> Data:
    """Run a builtin, or a program with its effects and inner commands; return its stdout. ``first``: its path."""
    name = command.program
    builtin = BUILTINS.get(name) if name == first else None
    known = builtin(walk, command, frame) if builtin is not None else None
    if known is not None:
        return known
    if command.name in _INPUTS:
        _take_input(walk, command, frame)
    note_effects(walk, command, frame)
    if _MISSING in frame.state.functions and not command.entries and is_function:
        _call_function(walk, [_MISSING, *command.argv], command.labels, frame, command.stdin, wants=False)
    if "/" in first:
        path = walk.path(first, frame)
        printed = _run_file(walk, path, "", command, frame, frame, command.argv[1:], command.stdin, wants=wants)
        if printed is not None:
            return printed
    printed = _run_inner(walk, command, frame, wants=wants)
    if printed is not None and command.name not in _FILTERS:
        return printed
    return printed_by(walk, command, frame) if wants else NOTHING


def _call_function(
    walk: Evaluation,
    argv: list[str],
    labels: dict[int, frozenset[str]],
    frame: Frame,
    stdin: Data | None,
    *,
    wants: bool,
) -> Data:
    name = argv[0]
    defined = frame.state.functions[name]
    # The id tells functions of the same name apart.
    mark = f"{name} {id(defined)}"
    given = [Data(text, labels.get(at, NO_LABELS)) for at, text in enumerate(argv)][1:]
    if mark in frame.running:
        before = walk.given[mark]
        if given == before or frame.running.count(mark) > 1:
            return _record_recursion(walk, frame, name)
        # One call stands for all further ones: only arguments that are the same stay known.
        same = [each == other for each, other in zip_longest(given, before)]
        given = [each if is_same else Data(UNKNOWN, each.labels) for each, is_same in zip(given, same, strict=False)]
    if len(frame.running) > _MAX_RUNNING:
        raise TooMuchError
    inside = frame.copy()
    inside.running = (*frame.running, mark)
    inside.stdin = stdin
    inside.text = defined.text
    state = frame.state
    outside = state.positional
    before, walk.given[mark] = walk.given.get(mark, []), given
    state.positional = given
    try:
        return walk.run(defined.body, inside, wants=wants)
    finally:
        state.positional, walk.given[mark] = outside, before


def _record_recursion(walk: Evaluation, frame: Frame, name: str) -> Data:
    """Record a fork bomb if a function or script runs itself in a pipeline or in the background."""
    # A script that may have been overwritten meanwhile may be another one.
    if not frame.is_alone and not frame.state.choice:
        command = Command(name, [name], cwd=frame.state.cwd, via=frame.via, host=frame.state.host, fragment=name)
        walk.analysis.effects.append(Effect("fork", "", command))
    return ANYTHING


def _take_input(walk: Evaluation, command: Command, frame: Frame) -> None:
    """Set the command's stdin to the file that an option names."""
    path = command.options.value(_INPUTS[command.name])
    if path is None or path in ("-", "/dev/stdin"):
        return
    path = walk.path(path, frame)
    command.stdin = frame.state.file(path) or Data(UNKNOWN, walk.labels_of_file(path, frame))


def _in_path(walk: Evaluation, name: str, assignments: dict[str, Data], frame: Frame) -> str:
    """Return the path of the program ``name`` that an earlier command wrote to a folder of PATH; "" for none."""
    state = frame.state
    if "PATH" not in assignments and "PATH" not in state.variables:
        return ""
    folders = assignments["PATH"] if "PATH" in assignments else state.value("PATH")
    for folder in folders.text.split(":"):
        path = walk.path(f"{folder or '.'}/{name}", frame)
        if path in state.files or f"{folder}/{name}" in state.links or walk.path(folder, frame) + "/" + name != path:
            return path
    return ""


def _run_file(
    walk: Evaluation,
    path: str,
    language: str,
    command: Command,
    frame: Frame,
    inside: Frame,
    arguments: Sequence[str],
    stdin: Data | None,
    *,
    wants: bool,
) -> Data | None:
    """Run a file that an earlier command wrote, in the frame ``inside``; None if none did.

    ``language``: "" for a program, which tells its language in the first line.
    """
    data = frame.state.file(path)
    if data is None:
        for each in frame.state.files_like(path):
            _run_file(walk, each, language, command, frame, inside, arguments, stdin, wants=False)
        data = descriptor_data(path, frame)
    if data is None:
        return None
    copied = next((label for label in data.labels if label.startswith(COPY_OF)), "")
    if not language and data.text == UNKNOWN and copied:
        argv = [copied.removeprefix(COPY_OF), *arguments]
        return program(walk, argv, command.labels, {}, frame.copy(), stdin, command.fragment, wants=wants)
    language = _shebang(data.text) if language in ("", "sh") else language
    return run_code(walk, language, data, command, inside, [path, *arguments], stdin, wants=wants, path=path)


def _shebang(text: str) -> str:
    """Return the language of a script by its first line."""
    line = text[2:120].partition("\n")[0] if text.startswith("#!") else ""
    for name in ("python", "perl", "ruby", "node", "php", "awk"):
        if name in line:
            return name
    return "sh"


def _run_inner(walk: Evaluation, command: Command, frame: Frame, *, wants: bool) -> Data | None:
    """Run the inner commands and codes of ``command``; return their stdout, None if there are none."""
    found = inner(command)
    if not found:
        return None
    walk.reads(len(command.argv) * len(command.via))  # each wrapper parses all arguments again
    if len(command.via) > _MAX_RUNNING:
        raise TooMuchError
    printed = [_run_one(walk, each, command, frame, wants=wants and len(found) == 1) for each in found]
    if len(printed) > 1:
        return ANYTHING
    # Unknown output of another machine comes from there.
    if found[0].host and command.program in _REMOTE and UNKNOWN in printed[0].text:
        return Data(printed[0].text, printed[0].labels | {REMOTE})
    return printed[0]


def _run_one(walk: Evaluation, each: Inner, command: Command, frame: Frame, *, wants: bool) -> Data:
    inside = frame_of(walk, each, command, frame)
    stdin = each.stdin if each.stdin is not None else command.stdin
    if each.words is not None or each.argv is not None:
        if each.words is not None:
            argv = [command.argv[at] for at in each.words]
            labels = {at: command.labels[old] for at, old in enumerate(each.words) if old in command.labels}
        else:
            argv, labels = list(each.argv or ()), dict(each.labels)
        if not argv:
            return NOTHING
        inside.stdin = stdin
        is_function = command.program not in _PAST_FUNCTIONS
        return program(
            walk, argv, labels, each.assignments, inside, stdin, command.fragment, wants=wants, is_function=is_function
        )
    if each.path is not None:
        path = walk.path(each.path, frame)
        printed = _run_file(walk, path, each.language, command, frame, inside, each.arguments, stdin, wants=wants)
        if printed is None:
            walk.analysis.effects.append(Effect("run", path, command, labels=walk.labels_of_file(path, frame)))
            if command.program in ("source", "."):
                frame.state.is_fresh = False
        return Data(UNKNOWN) if printed is None else printed
    if each.code is not None:
        return run_code(walk, each.language, each.code, command, inside, each.arguments, stdin, wants=wants)
    # The code is its stdin, which is then used up.
    if command.stdin is None and each.stdin is None:
        return NOTHING
    return run_code(walk, each.language, stdin or NOTHING, command, inside, each.arguments, None, wants=wants)


def run_code(
    walk: Evaluation,
    language: str,
    data: Data,
    command: Command,
    frame: Frame,
    arguments: Sequence[str] = (),
    stdin: Data | None = None,
    *,
    wants: bool = False,
    path: str = "",
) -> Data:
    """Analyse code of ``language`` that ``command`` runs; if ``wants`` is set, return its stdout.

    ``path``: the file with the code, "" for none.
    """
    from .inline_code import note_code, plain_labels

    mark = f"{path} {data.text}" if path else ""
    if mark in frame.running:
        return _record_recursion(walk, frame, path)
    files = [label[5:] for label in data.labels if label.startswith("file:")]
    labels = plain_labels(walk, data.labels, frame, stdin)
    if labels or path:
        walk.analysis.effects.append(Effect("run", path, command, labels=labels))
    if not data.text.replace(UNKNOWN, "").strip():
        # A file without content from elsewhere is a script of the workspace, edited meanwhile or not.
        is_script = bool(path) and not labels and descriptor_of(path) is None
        if UNKNOWN in data.text and language not in _FILTERS and not files and not is_script:
            walk.analysis.doubts.append(Doubt("unknown-code", command.fragment, labels))
        return Data(UNKNOWN, labels) if UNKNOWN in data.text else NOTHING
    if len(frame.running) > _MAX_RUNNING or len(frame.via) > _MAX_RUNNING:
        raise TooMuchError
    if path and not labels:
        # The unknown content before and after the known part is the workspace's own.
        data = Data(data.text.strip(UNKNOWN), data.labels)
    inside = frame.copy()
    inside.stdin = stdin
    inside.running = (*frame.running, mark) if path else frame.running
    if language == "sh":
        if arguments:
            inside.state = frame.state.copy() if path else frame.state
            inside.state.name = arguments[0]
            inside.state.positional = [Data(text) for text in arguments[1:]]
        if inside.state.exported:
            inside.state.functions = {**inside.state.exported, **inside.state.functions}
        inside.text = data.text
        inside.unknown = private(data.labels)
        return walk.code(data.text, inside, wants=wants)
    if language in ("powershell", "cmd"):
        _windows(walk, language, data.text, inside)
        return ANYTHING
    printed = note_code(walk, language, data, command, inside, list(arguments), stdin)
    return Data(printed.text, printed.labels | labels) if wants else NOTHING


def _windows(walk: Evaluation, language: str, text: str, frame: Frame) -> None:
    """Analyse the translation of ``text`` to shell code; fragments are those of ``text``."""
    from agent_hooks_guards.windows import translate

    walk.reads(len(text))
    analysis = walk.analysis
    for statement in translate(language, text):
        before = len(analysis.commands), len(analysis.effects), len(analysis.doubts)
        frame.text = statement.code
        walk.code(statement.code, frame, wants=False)
        for command in (*analysis.commands[before[0] :], *(each.command for each in analysis.effects[before[1] :])):
            command.fragment = statement.fragment
        for doubt in analysis.doubts[before[2] :]:
            doubt.fragment = statement.fragment
        if statement.problem:
            analysis.doubts.append(Doubt("unknown-code", statement.fragment, why=statement.problem))
