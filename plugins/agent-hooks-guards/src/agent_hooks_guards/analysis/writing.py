"""The known content of the files that a command writes, for commands that run or send them later."""

from __future__ import annotations

from agent_hooks_guards.model.values import NETWORK, UNKNOWN, Data
from agent_hooks_guards.places.paths import absolute
from agent_hooks_guards.programs.noting import STREAMS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command, Effect

    from .evaluation import Evaluation
    from .frames import Frame

# The prefix of a label with the file that this one is a copy of.
COPY_OF = "file:"
# These write their input, or some lines of it.
_FROM_INPUT = frozenset(("tee", "sponge", "dd", "split", "csplit", "pv", "awk", "sed"))
# These write to a file instead of stdout.
_INSTEAD_OF_PRINTING = frozenset(("sort", "iconv", "uniq", "base64", "xxd", "curl"))
_PACKERS = {
    "gzip": ".gz", "pigz": ".gz", "bzip2": ".bz2", "xz": ".xz", "zstd": ".zst", "lz4": ".lz4", "brotli": ".br",
    "compress": ".Z", "lzma": ".lzma",
}  # fmt: skip
_UNPACKERS = {
    "gunzip": ".gz", "unpigz": ".gz", "bunzip2": ".bz2", "unxz": ".xz", "unzstd": ".zst", "unlz4": ".lz4",
    "uncompress": ".Z", "unlzma": ".lzma",
}  # fmt: skip
_COMPILERS = frozenset(("gcc", "cc", "clang", "g++", "c++", "clang++", "tcc", "rustc", "go"))
_MOST_FILES = 32


def keep_written(
    walk: Evaluation, command: Command, found: list[Effect], copied: list[tuple[str, str]], frame: Frame
) -> None:
    """Store the content of the files that ``command`` writes. ``found``: its effects; ``copied``: pairs of a source and
    a copy.
    """
    received = any(effect.kind == "receive" and not effect.path.startswith("file:") for effect in found)
    name = command.name
    if name in ("mkfifo", "mknod"):
        walk.pipes.update(effect.path for effect in found if effect.kind == "write")
        return
    for effect in found:
        if effect.kind == "write" and not effect.recursive:
            labels = effect.labels | {NETWORK} if received else effect.labels
            data = _content(command, frame) if not received else None
            # An edit in place keeps part of the old content.
            data = data or Data(UNKNOWN, labels | walk.labels_of_file(effect.path, frame))
            walk.keep(effect.path, data, frame, append=effect.append)
    for source, target in copied:
        _copy(walk, command, source, target, frame)
    if name in _PACKERS or name in _UNPACKERS:
        _pack(walk, command, frame)
    elif name in ("patch", "git") and (name == "patch" or command.options.subcommand[:1] in (("apply",), ("am",))):
        _patch(walk, command, frame)


def _content(command: Command, frame: Frame) -> Data | None:
    """Return the content that the command writes; None if it is unknown."""
    name = command.name
    if name in _FROM_INPUT:
        options = command.options
        if name == "dd" and any(options.value(each) for each in ("if", "skip", "count", "conv", "seek")):
            return None
        return None if name == "sed" and options.has("-i|--in-place") else command.stdin
    if name in _INSTEAD_OF_PRINTING:
        from agent_hooks_guards.programs.outputs import output

        argv = [argument for at, argument in enumerate(command.argv) if not _names_target(command, at)]
        like = type(command)(command.program, argv, command.labels, stdin=command.stdin, cwd=command.cwd)
        data = output(like, frame.state.file)
        return data if data.is_known else None
    if name in _COMPILERS:
        return _source(command, frame)
    return None


def _names_target(command: Command, at: int) -> bool:
    """Whether an argument names the output file, or is the option before it."""
    argument, before = command.argv[at], command.argv[at - 1]
    if command.name == "curl":
        return _ends_with_o(argument) or _ends_with_o(before)
    return argument in ("-o", "--output") or before in ("-o", "--output") or argument.startswith("--output=")


def _ends_with_o(argument: str) -> bool:
    return argument == "--output" or (argument[:1] == "-" and argument[1:2] != "-" and argument.endswith("o"))


def _source(command: Command, frame: Frame) -> Data | None:
    """Return the source of a compiled program in its place, with the language in the first line."""
    language = {"rustc": "rust", "go": "go"}.get(command.name, "c")
    here = [path for path in frame.state.files if language == "go" and path.endswith(".go")]
    for argument in [*command.argv[1:], *here]:
        data = command.stdin if argument == "-" else frame.state.file(_path(command, argument, frame))
        if data is not None and data.is_known:
            return Data(f"#!{language}\n{data.text}", data.labels)
    return None


def _path(command: Command, argument: str, frame: Frame) -> str:
    return absolute(argument, command.cwd, frame.state.home)


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


def _pack(walk: Evaluation, command: Command, frame: Frame) -> None:
    """``gzip file`` and ``gunzip file.gz``: store the content under the other name."""
    options = command.options
    if options.has("-c|--stdout|--to-stdout|-t|--test|-l|--list"):
        return
    unpacks = command.name in _UNPACKERS or options.has("-d|--decompress|--uncompress")
    end = _UNPACKERS.get(command.name) or _PACKERS[command.name]
    for at in options.operands[:_MOST_FILES]:
        path = _path(command, command.argv[at], frame)
        data = frame.state.file(path)
        if data is not None and unpacks:
            walk.keep(path.removesuffix(end), data, frame)
        elif data is not None:
            walk.keep(path + end, data, frame)


def _patch(walk: Evaluation, command: Command, frame: Frame) -> None:
    """Store the files that a patch writes, as far as its added lines show."""
    state = frame.state
    files = [state.file(_path(command, command.argv[at], frame)) for at in command.options.operands]
    given = next((data for data in files if data is not None), None) or command.stdin
    if given is None or not given.is_known:
        return
    path, lines = "", list[str]()
    for line in [*given.text.split("\n"), "+++ "]:
        if line.startswith("+++ "):
            if path and lines:
                walk.keep(_path(command, path, frame), Data("\n".join(lines) + "\n", given.labels), frame)
            name = line[4:].partition("\t")[0].strip()
            path, lines = name.removeprefix("b/"), []
        elif line[:1] in ("+", " "):
            lines.append(line[1:])
