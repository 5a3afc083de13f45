"""``tar``, ``zip``, ``unzip``, ``cpio``, ``7z`` and the compressors."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN

from .noting import inside
from .unwrapping import part, shell, values_as_shell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks_guards.model.actions import Command, Inner
    from agent_hooks_guards.model.options import Options

    from .noting import Noting

_EXTENSIONS = ("gz", "z", "Z", "bz2", "xz", "lzma", "zst", "lz4", "br")
_UNPACKERS = frozenset(("gunzip", "bunzip2", "unxz", "unlzma", "unzstd", "uncompress"))
_COMMANDS_OF_TAR = (
    "-I|--use-compress-program|--to-command|-F|--info-script|--new-volume-script|--rsh-command|--rmt-command"
)


def _tar(noting: Noting) -> None:
    options = noting.options
    archive = options.value("-f|--file")
    folder = options.value("-C|--directory|--cd")
    members = [word if folder is None or word[:1] == "/" else inside(folder, word) for word in noting.operands()]
    for word in noting.values("-T|--files-from"):
        noting.file("read", word)
    if options.has("-x|--extract|--get"):
        labels = noting.input_labels
        if archive:
            noting.file("read", archive)
            labels = labels if archive == "-" else NO_LABELS
        if options.has("-O|--to-stdout|--to-command"):
            return
        base = "/" if options.has("-P|--absolute-names") else folder or "."
        for word in members or [inside(base)]:
            noting.file("write", word, recursive=True, labels=labels, sources=(archive,) if archive else ())
        if options.has("--recursive-unlink"):
            noting.file("delete", folder or ".", recursive=True)
    elif options.has("-c|--create|-r|--append|-u|--update|-A|--catenate|--concatenate"):
        for word in members:
            noting.file("read", word, recursive=True)
        if archive:
            noting.file("write", archive, append=not options.has("-c|--create"), sources=tuple(members))
        for word in members if options.has("--remove-files") else ():
            noting.file("delete", word, recursive=True)
    elif archive:
        noting.file("write" if options.has("--delete") else "read", archive)


def _run_by_tar(command: Command, options: Options) -> list[Inner]:
    found = values_as_shell(command, options, _COMMANDS_OF_TAR, "tar")
    for text, at in options.values("--checkpoint-action"):
        kind, _, value = text.partition("=")
        if kind == "exec":
            found += shell(part(command, value, at), "tar")
    return found


def _note_zip(noting: Noting) -> None:
    words = noting.operands()
    recursive = noting.options.has("-r|-R|--recurse-paths")
    sources = [] if noting.options.has("-d|--delete|-T|--test") else words[1:]
    for word in sources:
        noting.file("read", word, recursive=recursive)
    for word in words[:1]:
        noting.file("write", word, labels=noting.input_labels, sources=tuple(sources))
    for word in sources if noting.options.has("-m|--move") else ():
        noting.file("delete", word, recursive=recursive)


def _run_by_zip(command: Command, options: Options) -> list[Inner]:
    """``zip -T -TT line``: the line, with the archive in the place of ``{}`` or behind it."""
    found: list[Inner] = []
    for text, at in options.values("-TT|--unzip-command"):
        path = command.argv[options.operands[0]] if options.operands else UNKNOWN
        filled = text.replace("{}", path) if "{}" in text else f"{text} {path}"
        found += shell(part(command, filled, at), "zip -TT")
    return found


def _unzip(noting: Noting) -> None:
    words = noting.operands()
    for word in words[:1]:
        noting.file("read", word)
    if words and not noting.options.has("-l|-t|-p|-c|-Z|-v|-z"):
        folder = noting.options.value("-d") or "."
        for name in words[1:] or [UNKNOWN]:
            noting.file("write", inside(folder, name), recursive=True, sources=(words[0],))


def _seven_zip(noting: Noting) -> None:
    action, archive, *rest = (*noting.options.subcommand, *noting.operands(), "", "")
    if action in ("x", "e"):
        noting.file("read", archive)
        folder = next((word[2:] for word in noting.command.argv if word.startswith("-o") and len(word) > 2), ".")
        noting.file("write", inside(folder), recursive=True, sources=(archive,))
    elif action in ("a", "u", "m"):
        for word in filter(None, rest):
            noting.file("read", word, recursive=True)
        noting.file("write", archive, sources=tuple(rest))


def _cpio(noting: Noting) -> None:
    options = noting.options
    archive = options.value("-F|--file|-I|-O")
    if options.has("-o|--create"):
        if archive:
            noting.file("write", archive, labels=noting.input_labels)
    elif options.has("-i|--extract"):
        if archive:
            noting.file("read", archive)
        if not options.has("-t|--list|--to-stdout"):
            folder = options.value("-D|--directory") or "."
            sources = (archive,) if archive else ()
            noting.file("write", inside(folder), recursive=True, labels=noting.input_labels, sources=sources)
    elif options.has("-p|--pass-through"):
        for word in noting.operands():
            noting.file("write", inside(word), recursive=True)


def _compress(noting: Noting) -> None:
    """A compressor replaces a file by another one, unless it is told to keep it or to print."""
    options, program = noting.options, noting.command.program
    recursive = options.has("-r|--recursive")
    keeps = options.has("-k|--keep") or (program.endswith("zstd") and not options.has("--rm"))
    prints = options.has("-c|--stdout|--to-stdout|-t|--test|-l|--list") or program.endswith("cat")
    unpacks = options.has("-d|--decompress|--uncompress") or program in _UNPACKERS
    for value in noting.values("-o"):
        noting.file("write", value)
    for word in noting.operands():
        noting.file("read", word, recursive=recursive)
        if not prints:
            if not keeps:
                noting.file("delete", word, recursive=recursive)
            noting.file("write", _unpacked(word) if unpacks else f"{word}.gz", sources=(word,))


def _unpacked(word: str) -> str:
    stem, dot, suffix = word.rpartition(".")
    if dot and suffix in _EXTENSIONS:
        return stem
    return f"{stem}.tar" if dot and suffix in ("tgz", "tbz2", "txz") else word


EFFECTS = {
    "tar": _tar,
    "zip": _note_zip,
    "unzip": _unzip,
    "7z": _seven_zip,
    "cpio": _cpio,
    **dict.fromkeys("gzip bzip2 xz zstd lz4 brotli compress".split(), _compress),
}
INNER = {"tar": _run_by_tar, "zip": _run_by_zip}
