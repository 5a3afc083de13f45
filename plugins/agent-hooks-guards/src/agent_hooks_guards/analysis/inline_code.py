"""The effects and inner commands of code in another language, as actions of the command that runs it."""

from __future__ import annotations

from agent_hooks_guards.model.actions import Command, Doubt, Effect, Inner
from agent_hooks_guards.model.values import INPUT, NO_LABELS, NOTHING, UNKNOWN, Data
from agent_hooks_guards.places.credentials import private

from .command_effects import on_this_machine

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.code import Found

    from .evaluation import Evaluation
    from .state import Frame

# Effects without the path of a file.
_ELSEWHERE = frozenset(("send", "receive", "run", "fork"))
_FILE = "file:"
_FILTERS = ("sed", "awk")
# Languages whose code computes with its stdin and the environment.
_READING = frozenset(("python", "awk", "perl", "ruby", "php", "lua", "node"))
_NAMELESS = frozenset(("perl", "ruby", "php", "lua", "node"))
_STDIN = "stdin"


def note_code(walk: Evaluation, each: Inner, command: Command, frame: Frame) -> tuple[list[Inner], Data]:
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
        labels = plain_labels(walk, value.labels, frame, stdin)
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
        origins = {word: plain_labels(walk, labels, frame, stdin) for word, labels in words.items()}
        inner.append(Inner(argv=argv, labels=origins))
        inner[-1].stdin = resolve(found.inputs[at]) if at in found.inputs else None
    return inner, Data(found.output.text, plain_labels(walk, found.output.labels, frame, stdin))


def _note_effects(walk: Evaluation, language: str, found: Found, command: Command, frame: Frame) -> None:
    """Record the effects of code, with the labels that rules use."""
    for kind, path, recursive, labels, method in found.effects:
        labels = plain_labels(walk, labels, frame, frame.stdin)
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
            given = frame.stdin if language in _FILTERS else None
            walk.keep(path, given if given is not None and given.is_known else Data(UNKNOWN, labels), frame)


def _variables(text: str, frame: Frame) -> dict[str, Data]:
    """Return the known environment variables that code names."""
    state = frame.state
    known = {name: state.value(name) for name in state.variables if name in text}
    # The value of a secret is unknown, but its labels are known.
    found = {name: value for name, value in known.items() if value.is_known or private(value.labels)}
    return {"HOME": Data(state.home or "~"), **found}


def plain_labels(walk: Evaluation, labels: frozenset[str], frame: Frame, stdin: Data | None) -> frozenset[str]:
    """Return the labels that rules use: those of a file in place of its path, and those of ``stdin`` in its place."""
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
