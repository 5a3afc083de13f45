"""Run commands in the model: functions, builtins, programs with their effects, and the commands and codes in them."""

from __future__ import annotations

from itertools import zip_longest

from agent_hooks_guards.model.actions import Command, Doubt, Effect, Inner, TooMuchError
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.values import ANYTHING, INPUT, NO_LABELS, NOTHING, REMOTE, UNKNOWN, Data
from agent_hooks_guards.places.credentials import private
from agent_hooks_guards.programs.inner import argument, inner

from .builtins import BUILTINS
from .command_effects import COPY_OF, note_effects, on_this_machine, printed_by
from .state import frame_of
from .word_values import descriptor_data, descriptor_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.code import Found

    from .evaluation import Evaluation
    from .state import Frame

_MAX_RUNNING = 16
_GLOBS = frozenset("*?[")
# Bash calls a function of this name for a missing program.
_MISSING = "command_not_found_handle"
# These ignore functions.
_PAST_FUNCTIONS = frozenset(("command", "builtin", "exec"))
# These run commands on other machines.
_REMOTE = frozenset(("ssh", "slogin", "autossh", "dbclient", "mosh", "kubectl", "oc", "gcloud", "vagrant"))
# Languages in which unknown code is assumed to run nothing.
_FILTERS = frozenset(("sed", "awk"))
# Effects without the path of a file.
_ELSEWHERE = frozenset(("send", "receive", "run", "fork"))
_FILE = "file:"
# Languages whose code computes with its stdin and the environment.
_READING = frozenset(("python", "awk", "perl", "ruby", "php", "lua", "node"))
_NAMELESS = frozenset(("perl", "ruby", "php", "lua", "node"))
_STDIN = "stdin"


def program(walk: Evaluation, command: Command, frame: Frame, *, wants: bool, is_function: bool = True) -> Data:
    """Record ``command`` as executed and, if ``wants`` is set, return its stdout.

    ``is_function``: whether it may call a function.
    """
    argv, labels, state = command.argv, command.labels, frame.state
    if is_function and argv[0] in state.functions:
        return _call_function(walk, argv[0], command, frame, wants=wants)
    first = _located(walk, command, frame)
    if first != argv[0]:
        command = frame.command([first, *argv[1:]], command.fragment, labels, command.assignments, command.stdin)
        # The target of a link is called by the name of the link.
        command.argv = argv if "/" in argv[0] else command.argv
    if state.handed_down:
        exported = {each: state.value(each) for each in state.handed_down if state.is_set(each)}
        command.assignments = {**exported, **command.assignments}
    name = command.program
    if not _GLOBS.isdisjoint(name) and name not in ("[", "[["):
        walk.analysis.doubts.append(Doubt("unknown-program", command.fragment))
        return ANYTHING
    if UNKNOWN in first and 0 in labels:
        walk.analysis.effects.append(Effect("run", "", command, labels=labels[0]))
    if UNKNOWN in name:
        walk.analysis.doubts.append(Doubt("unknown-program", command.fragment, labels.get(0, NO_LABELS)))
        return ANYTHING
    command.shown = not wants
    walk.analysis.commands.append(command)
    return _run_program(walk, command, frame, wants=wants, is_function=is_function)


def _located(walk: Evaluation, command: Command, frame: Frame) -> str:
    """Return the name or path of the program: that of a file or link that an earlier command made, if there is one."""
    first, state = command.argv[0], frame.state
    if first[:1] == "=" and any(each.startswith("zsh") for each in frame.via):
        first = first[1:]
    if (state.files or state.links) and "/" not in first:
        first = _in_path(walk, first, command.assignments, frame) or first
    if state.links and "/" in first:
        target = walk.path(first, frame)
        # These choose their function by the name they are called by.
        first = first if target.endswith(("/busybox", "/toybox")) else target
    return first


def _run_program(walk: Evaluation, command: Command, frame: Frame, *, wants: bool, is_function: bool) -> Data:
    """Run a builtin, or a program with its effects and inner commands; return its stdout."""
    name, first = command.program, command.argv[0]
    builtin = BUILTINS.get(name) if name == first else None
    known = builtin(walk, command, frame) if builtin is not None else None
    if known is not None:
        return known
    entry = declarations().own(command.name)
    if entry and "input" in entry:
        _take_input(walk, command, entry["input"], frame)
    note_effects(walk, command, frame)
    if _MISSING in frame.state.functions and not command.entries and is_function:
        called = frame.command([_MISSING, *command.argv], command.fragment)
        _call_function(walk, _MISSING, called, frame, wants=False)
    if frame.state.files or "pkg" in command.argv:
        _run_written(walk, command, frame)
    if "/" in first:
        each = Inner(path=walk.path(first, frame), arguments=command.argv[1:])
        printed = _run_file(walk, each, command, frame, frame, wants=wants)
        if printed is not None:
            return printed
    printed = _run_inner(walk, command, frame, wants=wants)
    if printed is not None and command.name not in _FILTERS:
        return printed
    return printed_by(walk, command, frame) if wants else NOTHING


def _call_function(walk: Evaluation, name: str, command: Command, frame: Frame, *, wants: bool) -> Data:
    body, text, _ = frame.state.functions[name]
    # The id tells functions of the same name apart.
    mark = f"{name} {id(body)}"
    given = [argument(command, at) for at in range(1, len(command.argv))]
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
    inside.stdin = command.stdin
    inside.text = text
    state = frame.state
    outside = state.positional
    before, walk.given[mark] = walk.given.get(mark, []), given
    state.positional = given
    try:
        return walk.run(body, inside, wants=wants)
    finally:
        state.positional, walk.given[mark] = outside, before


def _record_recursion(walk: Evaluation, frame: Frame, name: str) -> Data:
    """Record a fork bomb if a function or script runs itself in a pipeline or in the background."""
    # A script that may have been overwritten meanwhile may be another one.
    if not frame.is_alone and not frame.state.choice:
        command = Command(name, [name], cwd=frame.state.cwd, via=frame.via, host=frame.state.host, fragment=name)
        walk.analysis.effects.append(Effect("fork", "", command))
    return ANYTHING


def _take_input(walk: Evaluation, command: Command, names: str, frame: Frame) -> None:
    """Set the command's stdin to the file that an option among ``names`` names."""
    path = command.options.value(names)
    if path is not None and path not in ("-", "/dev/stdin"):
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
    walk: Evaluation, each: Inner, command: Command, frame: Frame, inside: Frame, *, wants: bool
) -> Data | None:
    """Run the file of ``each``, if an earlier command wrote it, in the frame ``inside``; None if none did.

    Without a language it is a program, which tells its language in the first line.
    """
    path = each.path or ""
    data = frame.state.file(path)
    if data is None:
        for other in frame.state.files_like(path):
            like = Inner(language=each.language, path=other, arguments=each.arguments)
            _run_file(walk, like, command, frame, inside, wants=False)
        data = descriptor_data(path, frame)
    if data is None:
        return None
    copied = next((label for label in data.labels if label.startswith(COPY_OF)), "")
    stdin = each.stdin if each.stdin is not None else command.stdin
    if not each.language and data.text == UNKNOWN and copied:
        argv = [copied.removeprefix(COPY_OF), *each.arguments]
        again = frame.command(argv, command.fragment, command.labels, stdin=stdin)
        return program(walk, again, frame.copy(), wants=wants)
    language = _shebang(data.text) if each.language in ("", "sh") else each.language
    script = Inner(language=language, code=data, path=path, arguments=[path, *each.arguments])
    return run_code(walk, script, command, inside, stdin, wants=wants)


def _run_written(walk: Evaluation, command: Command, frame: Frame, language: str = "", text: str = "") -> None:
    """Run the files that an earlier command wrote and that a program runs without being given them, or that the code
    ``text`` imports; each content once, as it may import itself. Only what is surely known of them counts: tests and
    modules are full of helpers that run what they are given, of stand-ins, and of repositories of their own.
    """
    from agent_hooks_guards.code.written import files_imported, files_run_by, scripts_set

    if "pkg" in command.argv and (scripts := scripts_set(command)):
        walk.keep(walk.path("package.json", frame), Data(scripts, command.labels_of()), frame, append=True)
    files, analysis = frame.state.files, walk.analysis
    doubts, commands = len(analysis.doubts), len(analysis.commands)
    for each in files_imported(language, text, files) if language else files_run_by(command, files):
        content = frame.state.file(each.path) if each.path else each.code
        if content is not None and (each.language, content.text) not in walk.ran:
            walk.ran.add((each.language, content.text))
            _run_one(walk, each, command, frame, wants=False)
    del analysis.doubts[doubts:]
    kept = [each for each in analysis.commands[commands:] if each.name != "git" or UNKNOWN not in each.cwd]
    analysis.commands[commands:] = kept


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
    if each.argv is not None:
        return _start(walk, each, command, inside, stdin, wants=wants)
    if each.path is not None:
        each.path = path = walk.path(each.path, frame)
        printed = _run_file(walk, each, command, frame, inside, wants=wants)
        if printed is None:
            walk.analysis.effects.append(Effect("run", path, command, labels=walk.labels_of_file(path, frame)))
            if command.program in ("source", "."):
                frame.state.is_fresh = False
        return Data(UNKNOWN) if printed is None else printed
    if each.code is not None:
        return run_code(walk, each, command, inside, stdin, wants=wants)
    # The code is its stdin, which is then used up.
    if stdin is None:
        return NOTHING
    each.code = stdin
    return run_code(walk, each, command, inside, None, wants=wants)


def _start(walk: Evaluation, each: Inner, command: Command, frame: Frame, stdin: Data | None, *, wants: bool) -> Data:
    """Run an inner program with its arguments."""
    if not each.argv:
        return NOTHING
    frame.stdin = stdin
    started = frame.command(each.argv, command.fragment, each.labels, each.assignments, stdin)
    return program(walk, started, frame, wants=wants, is_function=command.program not in _PAST_FUNCTIONS)


def run_code(
    walk: Evaluation, each: Inner, command: Command, frame: Frame, stdin: Data | None, *, wants: bool = False
) -> Data:
    """Analyse the code of ``each``, which ``command`` runs; if ``wants`` is set, return its stdout."""
    data, language, path = each.code or NOTHING, each.language, each.path or ""
    mark = f"{path} {data.text}" if path else ""
    if mark in frame.running:
        return _record_recursion(walk, frame, path)
    files = [label[5:] for label in data.labels if label.startswith("file:")]
    labels = _plain_labels(walk, data.labels, frame, stdin)
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
        data = each.code = Data(data.text.strip(UNKNOWN), data.labels)
    inside = frame.copy()
    inside.stdin = stdin
    inside.running = (*frame.running, mark) if path else frame.running
    if language == "sh":
        if each.arguments:
            inside.state = frame.state.copy() if path else frame.state
            inside.state.name = each.arguments[0]
            inside.state.positional = [Data(text) for text in each.arguments[1:]]
        if inside.state.exported:
            inside.state.functions = {**inside.state.exported, **inside.state.functions}
        inside.text = data.text
        inside.unknown = private(data.labels)
        return walk.code(data.text, inside, wants=wants)
    if language in ("powershell", "cmd"):
        _windows(walk, language, data.text, inside)
        return ANYTHING
    if frame.state.files:
        _run_written(walk, command, frame, language, data.text)
    found, printed = _note_code(walk, each, command, inside)
    for inner_code in found:
        if inner_code.argv is not None:
            _start(walk, inner_code, command, inside, inner_code.stdin, wants=False)
        else:
            run_code(walk, inner_code, command, inside, None)
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


def _note_code(walk: Evaluation, each: Inner, command: Command, frame: Frame) -> tuple[list[Inner], Data]:
    """Record the effects of code; return the programs and codes that it runs, and its stdout."""
    from agent_hooks_guards.code import scan

    language, data, stdin, arguments = each.language, each.code or NOTHING, frame.stdin, each.arguments
    walk.size += len(data.text)
    walk.steps += 10
    if any(UNKNOWN in word for word in arguments):
        data = Data(data.text, data.labels | private(command.labels_of()))
    if language in _NAMELESS and not (arguments and arguments[0] in frame.state.files):
        # Without a script, the interpreter's option takes its position.
        arguments = ["-e", *arguments]
    variables = _variables(data.text, frame) if language in _READING else None
    found = scan(language, data, arguments, stdin, variables)
    frame.via = (*frame.via, language)

    # An unknown value that was computed from a known line is not that line.
    is_read = stdin is None or (language in _READING and stdin.is_known and "\n" not in stdin.text.rstrip("\n"))

    def resolve(value: Data) -> Data:
        labels = _plain_labels(walk, value.labels, frame, stdin)
        if value.text.strip() == UNKNOWN and _STDIN in value.labels and stdin is not None and not is_read:
            return Data(stdin.text, labels)
        return value if labels == value.labels else Data(value.text, labels)

    for path, content in found.files.items():
        if content.text != UNKNOWN or language not in _FILTERS:
            walk.keep(walk.path(path, frame), resolve(content), frame)
    _note_effects(walk, language, found, command, frame)
    walk.analysis.doubts += [Doubt("unknown-code", command.fragment, why=why) for why in found.doubts]
    codes = [*(("sh", shell) for shell in found.shells), *found.codes]
    inner = [Inner(language=other, code=resolve(code) if _STDIN in code.labels else code) for other, code in codes]
    for at, argv in enumerate(found.programs):
        words = {word: labels for (which, word), labels in found.origins.items() if which == at}
        origins = {word: _plain_labels(walk, labels, frame, stdin) for word, labels in words.items()}
        inner.append(Inner(argv=argv, labels=origins))
        inner[-1].stdin = resolve(found.inputs[at]) if at in found.inputs else None
    return inner, Data(found.output.text, _plain_labels(walk, found.output.labels, frame, stdin))


def _note_effects(walk: Evaluation, language: str, found: Found, command: Command, frame: Frame) -> None:
    """Record the effects of code, with the labels that rules use."""
    for kind, word, recursive, labels, method in found.effects:
        path = word
        labels = _plain_labels(walk, labels, frame, frame.stdin)
        if kind not in _ELSEWHERE:
            path = walk.path(path, frame)
        if kind == "read":
            labels |= walk.labels_of_file(path, frame)
        append = kind == "write" and method == "append"
        method = "" if append else method
        effect = Effect(kind, path, command, recursive=recursive, append=append, labels=labels, method=method)
        if kind == "write" and not append and found.files.get(word) == NOTHING:
            walk.note_emptied(path, command)
        walk.analysis.effects.append(on_this_machine(effect, frame.state.mounts) if frame.state.mounts else effect)
        if kind == "write" and path not in frame.state.files:
            # A filter writes all or part of its input.
            given = frame.stdin if language in _FILTERS else None
            walk.keep(path, given if given is not None and given.is_known else Data(UNKNOWN, labels), frame)


def _variables(text: str, frame: Frame) -> dict[str, Data]:
    """Return the known environment variables that code names."""
    state = frame.state
    known = {name: state.value(name) for name in state.variables if name in text}
    # The value of a secret is unknown, but its labels are known.
    found = {name: value for name, value in known.items() if value.is_known or private(value.labels)}
    return {"HOME": Data(state.home or "~"), **found}


def _plain_labels(walk: Evaluation, labels: frozenset[str], frame: Frame, stdin: Data | None) -> frozenset[str]:
    """Return the labels that rules use: those of a file in place of its path, and those of ``stdin`` in its place."""
    if _STDIN not in labels and not any(label.startswith(_FILE) for label in labels):
        return labels
    plain = NO_LABELS
    for label in labels:
        if label.startswith(_FILE):
            plain |= walk.labels_of_file(walk.path(label[len(_FILE) :], frame), frame)
        elif label == _STDIN:
            plain |= {INPUT} if stdin is None else _plain_labels(walk, stdin.labels - {_STDIN}, frame, None)
        else:
            plain |= {label}
    return plain
