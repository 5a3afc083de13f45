"""What programs that pack and unpack do to files."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN

from .noting import inside

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .noting import Noting


def _tar(noting: Noting) -> None:
    options = noting.options
    archive = options.value("-f|--file")
    folder = options.value("-C|--directory|--cd")
    members = noting.operands()
    at = [word if folder is None or word.startswith("/") else inside(folder, word) for word in members]
    sources = [value for value, _ in options.values("-T|--files-from")]
    for word in sources:
        noting.file("read", word)
    if options.has("-x|--extract|--get"):
        labels = noting.input_labels
        if archive:
            noting.file("read", archive)
            labels = labels if archive == "-" else NO_LABELS
        if options.has("-O|--to-stdout|--to-command"):
            return
        base = "/" if options.has("-P|--absolute-names") else folder or "."
        names = at or [inside(base)]
        for word in names:
            noting.file("write", word, recursive=True, labels=labels, sources=(archive,) if archive else ())
        if options.has("--recursive-unlink"):
            noting.file("delete", folder or ".", recursive=True)
    elif options.has("-c|--create|-r|--append|-u|--update|-A|--catenate|--concatenate"):
        removes = options.has("--remove-files")
        for word in at:
            noting.file("read", word, recursive=True)
        if archive:
            appends = not options.has("-c|--create")
            noting.file("write", archive, append=appends, sources=tuple(at))
        if removes:
            for word in at:
                noting.file("delete", word, recursive=True)
    elif archive:
        noting.file("write" if options.has("--delete") else "read", archive)


def _unzip(noting: Noting) -> None:
    words = noting.operands()
    for word in words[:1]:
        noting.file("read", word)
    if words and not noting.options.has("-l|-t|-p|-c|-Z|-v|-z"):
        folder = noting.options.value("-d") or "."
        for name in words[1:] or [UNKNOWN]:
            noting.file("write", inside(folder, name), recursive=True, sources=(words[0],))


def _zip(noting: Noting) -> None:
    words = noting.operands()
    recursive = noting.options.has("-r|-R|--recurse-paths")
    sources = words[1:]
    if noting.options.has("-d|--delete|-T|--test"):
        sources = []
    for word in sources:
        noting.file("read", word, recursive=recursive)
    for word in words[:1]:
        noting.file("write", word, labels=noting.input_labels, sources=tuple(sources))
    if noting.options.has("-m|--move"):
        for word in sources:
            noting.file("delete", word, recursive=recursive)


def _seven_zip(noting: Noting) -> None:
    words = list(noting.options.subcommand) + noting.operands()
    if len(words) < 2:
        return
    action, archive, *rest = words
    if action in ("a", "u", "m", "ma", "mf", "rn", "d"):
        for word in rest:
            noting.file("read", word, recursive=True)
        noting.file("write", archive, sources=tuple(rest))
        if noting.options.has("-sdel*|-df"):
            for word in rest:
                noting.file("delete", word, recursive=True)
        return
    noting.file("read", archive)
    if action in ("x", "e"):
        folder = next((word[2:] for word in noting.command.argv if word.startswith("-o") and len(word) > 2), ".")
        noting.file("write", inside(folder), recursive=True, sources=(archive,))


def _compress(noting: Noting) -> None:
    """The program makes a file into another and deletes it, unless it is told to keep it or to print."""
    options = noting.options
    recursive = options.has("-r|--recursive")
    keeps = noting.command.program.endswith("zstd") and not options.has("--rm")
    prints = options.has("-c|--stdout|--to-stdout|-t|--test|-l|--list") or noting.command.program.endswith("cat")
    for value, _ in options.values("-o"):
        noting.file("write", value)
    for word in noting.operands():
        noting.file("read", word, recursive=recursive)
        if not prints:
            if not keeps and not options.has("-k|--keep"):
                noting.file("delete", word, recursive=recursive)
            unpacks = options.has("-d|--decompress|--uncompress") or noting.command.program in _UNPACKERS
            noting.file("write", _unpacked(word) if unpacks else word + ".gz", sources=(word,))


_UNPACKERS = frozenset(("gunzip", "bunzip2", "unxz", "unlzma", "unzstd", "uncompress"))


def _unpacked(word: str) -> str:
    stem, dot, suffix = word.rpartition(".")
    if dot and suffix in ("gz", "z", "Z", "bz2", "xz", "lzma", "zst", "lz4", "br"):
        return stem
    return f"{stem}.tar" if dot and suffix in ("tgz", "tbz2", "txz") else word


def _cpio(noting: Noting) -> None:
    options = noting.options
    folder = options.value("-D|--directory") or "."
    archive = options.value("-F|--file|-I|-O")
    if options.has("-o|--create"):
        if archive:
            noting.file("write", archive, labels=noting.input_labels)
    elif options.has("-i|--extract"):
        if archive:
            noting.file("read", archive)
        if not options.has("-t|--list|--to-stdout"):
            sources = (archive,) if archive else ()
            noting.file("write", inside(folder), recursive=True, labels=noting.input_labels, sources=sources)
    elif options.has("-p|--pass-through"):
        for word in noting.operands():
            noting.file("write", inside(word), recursive=True)


def _python(noting: Noting) -> None:
    """``python -m zipfile -e archive folder``, ``python -m tarfile``, ``python -m json.tool source target``."""
    module = noting.options.value("-m")
    words = noting.operands()
    if module == "json.tool":
        files = [word for word in words if not word.startswith("-")]
        for word in files[:1]:
            noting.file("read", word)
        for word in files[1:2]:
            noting.file("write", word, labels=noting.input_labels, sources=(files[0],))
    elif module in ("tarfile", "zipfile") and len(words) > 1:
        action, archive, *rest = words
        if action in ("-e", "--extract"):
            noting.file("read", archive)
            noting.file("write", inside(rest[0] if rest else "."), recursive=True, sources=(archive,))
        elif action in ("-c", "--create"):
            for word in rest:
                noting.file("read", word, recursive=True)
            noting.file("write", archive, sources=tuple(rest))


ARCHIVES: dict[str, Callable[[Noting], None]] = {
    "tar": _tar,
    "bsdtar": _tar,
    "unzip": _unzip,
    "zip": _zip,
    "7z": _seven_zip,
    "7za": _seven_zip,
    "7zr": _seven_zip,
    "rar": _seven_zip,
    "unrar": _seven_zip,
    "cpio": _cpio,
    "python": _python,
    **dict.fromkeys(
        (
            "gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat lzma unlzma zstd unzstd zstdcat lz4 brotli "
            "compress uncompress pigz pbzip2"
        ).split(),
        _compress,
    ),
}
