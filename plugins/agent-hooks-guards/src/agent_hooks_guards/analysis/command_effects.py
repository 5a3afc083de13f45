"""The effects of a program, with links and mounts resolved, and the content of the files that it writes."""

from __future__ import annotations

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.actions import Command, Effect
from agent_hooks_guards.model.values import MOVED, NETWORK, NOTHING, PERSONAL, SECRET, UNKNOWN, Data
from agent_hooks_guards.places.paths import Simplified
from agent_hooks_guards.programs.effects import STREAMS, copies, effects

from .state import followed
from .word_values import descriptor_of, is_socket, url_of_socket

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .evaluation import Evaluation
    from .state import Frame

# The prefix of a label with the file that this one is a copy of.
COPY_OF = "file:"
# These write their input, or some lines of it.
_FROM_INPUT = frozenset(("tee", "sponge", "dd", "split", "csplit", "pv", "awk", "sed"))
# These write to a file instead of stdout.
_INSTEAD_OF_PRINTING = frozenset(("sort", "iconv", "uniq", "base64", "xxd", "curl"))
# The name of a file in a patch, and the lines up to the next one.
_PATCHED = Pattern(r"(?m)^\+\+\+ (?:b/)?([^\t\n]*\S).*\n((?:(?!\+\+\+ ).*\n?)*)")
# A variable whose name says that the folder is made anew.
_SCRATCH = Pattern(r"\$\{?\w*(?:TE?MP|BUILD|CACHE|WORKSPACE)")
# These write all data of a database.
_DUMPING = frozenset(("pg_dump", "pg_dumpall", "mysqldump", "mariadb-dump", "mongodump", "mongoexport", "redis-cli"))
# These print all files of a folder.
_ARCHIVERS = frozenset(("tar", "zip", "7z", "cpio", "dump", "pax"))


def note_effects(walk: Evaluation, command: Command, frame: Frame) -> None:
    """Record the effects of a command, with the labels of the files that it sends or copies."""
    home = frame.state.home
    found = effects(command, home)
    if not found and command.name not in ("git", "ln"):
        return
    links = frame.state.links
    for effect in found:
        if effect.kind == "write" and effect.path.startswith(("/dev/", "/proc/")):
            target = frame.state.descriptors.get(descriptor_of(effect.path) or -1)
            if isinstance(target, str) and is_socket(target):
                effect.kind, effect.path = "send", url_of_socket(target)
        # `rm link` deletes the link itself, `rm -r link/` its target.
        is_link = effect.kind == "delete" and effect.path in links and not isinstance(effect.path, Simplified)
        if links and effect.path.startswith("/") and not is_link:
            effect.path = followed(effect.path, links)
        for path in effect.files:
            effect.labels |= walk.labels_of_file(path, frame) | walk.labels_of_folder(path, frame)
            # What was moved there is kept elsewhere as well.
            frame.state.moved.difference_update([each for each in frame.state.moved if each.startswith(f"{path}/")])
        if command.name == "mv" and effect.kind == "write":
            frame.state.moved.add(effect.path)
        elif effect.kind == "delete" and effect.recursive:
            if any(each.startswith(f"{effect.path}/") for each in frame.state.moved):
                effect.labels |= {MOVED}
            if UNKNOWN in effect.path and _SCRATCH.search(command.fragment):
                effect.labels |= {"scratch"}
        if effect.kind == "read":
            effect.labels |= walk.labels_of_file(effect.path, frame)
        walk.analysis.effects.append(on_this_machine(effect, frame.state.mounts) if frame.state.mounts else effect)
    keep_written(walk, command, found, frame)


def on_this_machine(effect: Effect, mounts: dict[str, str]) -> Effect:
    """Return ``effect``, on the folder of this machine if a container deletes files in a mount of it."""
    path = effect.path
    target = next((each for each in mounts if path == each or path.startswith(f"{each}/")), None)
    if target is None or effect.kind != "delete":
        return effect
    doer = effect.command
    command = Command(doer.program, doer.argv, doer.labels, cwd=doer.cwd, via=doer.via, fragment=doer.fragment)
    path = f"{mounts[target].rstrip('/')}{path[len(target) :]}" or "/"
    return Effect(effect.kind, path, command, effect.recursive)


def printed_by(walk: Evaluation, command: Command, frame: Frame) -> Data:
    """Return the stdout of a program."""
    from agent_hooks_guards.programs.outputs import output

    personal: list[bool] = []

    def is_secret(path: str) -> bool:
        labels = walk.labels_of_file(path, frame)
        personal.append(PERSONAL in labels)
        return SECRET in (labels | walk.labels_of_folder(path, frame) if command.name in _ARCHIVERS else labels)

    data = output(command, frame.state.file, is_secret)
    return Data(data.text, data.labels | {PERSONAL}) if any(personal) else data


def keep_written(walk: Evaluation, command: Command, found: list[Effect], frame: Frame) -> None:
    """Store the content of the files that ``command`` writes. ``found``: its effects."""
    received = any(effect.kind == "receive" and not effect.path.startswith("file:") for effect in found)
    name = command.name
    for effect in found:
        if effect.kind == "write" and not effect.recursive:
            labels = effect.labels | {NETWORK} if received else effect.labels
            data = _content(walk, command, frame) if not received else None
            if name in _DUMPING:
                labels |= {PERSONAL}
            # An edit in place keeps part of the old content.
            data = data or Data(UNKNOWN, labels | walk.labels_of_file(effect.path, frame))
            if (data == NOTHING or effect.files == ("/dev/null",)) and not effect.append and name != "ln":
                walk.note_emptied(effect.path, command)
            walk.keep(effect.path, data, frame, append=effect.append)
    for source, target in copies(command, found):
        _copy(walk, command, source, target, frame)
    if name in ("patch", "git") and (name == "patch" or command.options.subcommand[:1] in (("apply",), ("am",))):
        _patch(walk, command, frame)


def _content(walk: Evaluation, command: Command, frame: Frame) -> Data | None:
    """Return the content that the command writes; None if it is unknown."""
    name = command.name
    if name in _FROM_INPUT:
        options = command.options
        if name == "dd" and any(options.value(each) for each in ("if", "skip", "count", "conv", "seek")):
            return None
        return None if name == "sed" and options.has("-i|--in-place") else command.stdin
    if name == "truncate":  # 0, 00, <0, 0K
        return NOTHING if not (command.options.value("-s|--size") or "?").strip("<0KMGTPB") else None
    if name in _INSTEAD_OF_PRINTING:
        data = printed_by(walk, command, frame)
        return data if data.is_known else None
    return None


def _copy(walk: Evaluation, command: Command, source: str, target: str, frame: Frame) -> None:
    state = frame.state
    known = state.file(source)
    if known is None and source in STREAMS:
        known = command.stdin
    labels = walk.labels_of_file(source, frame)
    if command.name == "ln" and known is None:
        state.links[target] = source
        state.files.pop(target, None)
    elif known is not None:
        walk.keep(target, Data(known.text, labels | known.labels), frame)
    else:
        walk.keep(target, Data(UNKNOWN, labels | {f"{COPY_OF}{source}"}), frame)


def _patch(walk: Evaluation, command: Command, frame: Frame) -> None:
    """Store the files that a patch writes, as far as its added lines show."""
    state = frame.state
    files = [state.file(walk.path(command.argv[at], frame)) for at in command.options.operands]
    given = next((data for data in files if data is not None), None) or command.stdin
    if given is None or not given.is_known:
        return
    for path, text in _PATCHED.findall(given.text):
        lines = [f"{line[1:]}\n" for line in text.split("\n") if line[:1] in ("+", " ")]
        if lines:
            walk.keep(walk.path(path, frame), Data("".join(lines), given.labels), frame)
