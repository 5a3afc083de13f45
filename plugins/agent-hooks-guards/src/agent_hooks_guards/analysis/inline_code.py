"""What code that a command carries would do, as actions of the command."""

from __future__ import annotations

import re

from agent_hooks_guards.model.actions import Command, Doubt, Effect
from agent_hooks_guards.model.values import INPUT, NO_LABELS, UNKNOWN, Data
from agent_hooks_guards.places.credentials import private

from .command_effects import on_this_machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.code import Found

    from .evaluation import Evaluation
    from .frames import Frame

# Of these effects the path is no file's.
_ELSEWHERE = frozenset(("send", "receive", "run", "fork"))
_FILE = "file:"
_FILTERS = ("sed", "awk")
# These compute with what they read.
_READING = frozenset(("python", "awk", "perl", "ruby", "php", "lua", "node"))
_NAMELESS = frozenset(("perl", "ruby", "php", "lua", "node"))
# How files end that code of a language loads.
_ENDS = {
    "python": ("py", "pth"),
    "node": ("js", "cjs", "mjs", "ts"),
    "ruby": ("rb",),
    "perl": ("pl", "pm"),
    "php": ("php", "inc"),
    "lua": ("lua",),
}
# What is loaded without being named.
_STARTUP = ("sitecustomize", "usercustomize")
_STDIN = "stdin"


def note_code(
    walk: Evaluation,
    language: str,
    data: Data,
    command: Command,
    frame: Frame,
    arguments: list[str],
    stdin: Data | None,
) -> Data:
    """Look through a code for what it touches, runs and gives to others to run; return what it prints.

    ``stdin``: what it reads.
    """
    from agent_hooks_guards.code import scan

    walk.size += len(data.text)
    walk.steps += 10
    if any(UNKNOWN in word for word in arguments):
        data = Data(data.text, data.labels | private(command.labels_of()))
    if language in _NAMELESS and not (arguments and arguments[0] in frame.state.files):
        # Without a script the interpreter stands in its place.
        arguments = ["-e", *arguments]
    variables = _variables(data.text, frame) if language in _READING else None
    found = scan(language, data, arguments, stdin, variables)
    frame.via = (*frame.via, language)

    # What is made of a line that is known and is not known itself is no longer that line.
    is_read = stdin is None or (language in _READING and stdin.is_known and "\n" not in stdin.text.rstrip("\n"))

    def told(value: Data) -> Data:
        labels = plain_labels(walk, value.labels, frame, stdin)
        if value.text.strip() == UNKNOWN and _STDIN in value.labels and stdin is not None and not is_read:
            return Data(stdin.text, labels)
        return value if labels == value.labels else Data(value.text, labels)

    for path, content in found.files.items():
        if content.text != UNKNOWN or language not in _FILTERS:
            walk.keep(walk.path(path, frame), told(content), frame)
    _note_effects(walk, language, found, command, frame, stdin)
    for path in _loaded(language, data.text, list(frame.state.files)):
        loaded = frame.state.file(path)
        if loaded is not None:
            walk.run_code(language, loaded, command, frame, path=path)
    for shell in found.shells:
        walk.run_code("sh", told(shell) if _STDIN in shell.labels else shell, command, frame)
    for at, argv in enumerate(found.programs):
        if not argv:
            continue
        origins = {
            word: plain_labels(walk, labels, frame, stdin)
            for (which, word), labels in found.origins.items()
            if which == at
        }
        given = told(found.inputs[at]) if at in found.inputs else None
        walk.start(argv, origins, frame, given, command.fragment)
    for other, code in found.codes:
        walk.run_code(other, told(code) if _STDIN in code.labels else code, command, frame)
    walk.analysis.doubts += [Doubt("unknown-code", command.fragment, why=why) for why in found.doubts]
    return Data(found.output.text, plain_labels(walk, found.output.labels, frame, stdin))


def _note_effects(
    walk: Evaluation, language: str, found: Found, command: Command, frame: Frame, stdin: Data | None
) -> None:
    """Record the effects of a code, with the labels that rules know."""
    for kind, path, recursive, labels, method in found.effects:
        labels = plain_labels(walk, labels, frame, stdin)
        if kind not in _ELSEWHERE:
            path = walk.path(path, frame)
        if kind == "read":
            labels |= walk.labels_of_file(path, frame)
        append = kind == "write" and method == "append"
        method = "" if append else method
        effect = Effect(kind, path, command, recursive=recursive, append=append, labels=labels, method=method)
        walk.analysis.effects.append(on_this_machine(effect, frame.state.mounts) if frame.state.mounts else effect)
        if kind == "write" and path not in frame.state.files:
            # A filter writes all or part of its input.
            given = stdin if language in _FILTERS else None
            walk.keep(path, given if given is not None and given.is_known else Data(UNKNOWN, labels), frame)


def _variables(text: str, frame: Frame) -> dict[str, Data]:
    """Return the variables of the environment that a code names, as far as they are known."""
    state = frame.state
    known = {name: state.value(name) for name in state.variables if name in text}
    # A secret is not known, but where it comes from.
    found = {name: value for name, value in known.items() if value.is_known or private(value.labels)}
    return {"HOME": Data(state.home or "~"), **found}


def _loaded(language: str, text: str, files: list[str]) -> list[str]:
    """The files in the code's own language that were written on the way and that it names: those it loads."""
    ends = _ENDS.get(language, ())
    found = []
    for path in files:
        stem, dot, end = path.rpartition(".")
        if not dot or end not in ends:
            continue
        name = stem.rpartition("/")[2]
        if name in _STARTUP or re.search(rf"\b{re.escape(name)}\b", text):
            found.append(path)
    return found


def plain_labels(walk: Evaluation, labels: frozenset[str], frame: Frame, stdin: Data | None) -> frozenset[str]:
    """Labels as rules know them: a file that a value comes from stands for what its path tells, the input of a code for
    what it is.
    """
    if _STDIN not in labels and not any(label.startswith(_FILE) for label in labels):
        return labels
    plain = NO_LABELS
    for label in labels:
        if label.startswith(_FILE):
            plain |= walk.labels_of_file(walk.path(label[len(_FILE) :], frame), frame)
        elif label == _STDIN:
            plain |= {INPUT} if stdin is None else plain_labels(walk, stdin.labels - {_STDIN}, frame, None)
        else:
            plain |= {label}
    return plain
