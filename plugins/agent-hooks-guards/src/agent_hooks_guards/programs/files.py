"""``cp``, ``mv``, ``ln``, ``dd``, ``tar``, ``zip`` and other programs whose operands are not all treated alike."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN

from .effects import STREAMS, inside, is_folder, last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from .effects import Noting

# The extensions of compressed files by the program, if it is not that of gzip.
_EXTENSIONS = {"bzip2": "bz2", "xz": "xz", "lzma": "lzma", "zstd": "zst", "lz4": "lz4", "brotli": "br", "compress": "Z"}
_PACKED = frozenset(("gz", "z", *_EXTENSIONS.values()))
_UNPACKERS = frozenset(("gunzip", "bunzip2", "unxz", "unlzma", "unzstd", "uncompress"))


def _pairs(noting: Noting) -> list[tuple[str, str]]:
    """Return the sources and targets of a program whose last operand is the target: ``cp``, ``mv``, ``install``."""
    words = noting.operands()
    folder = noting.options.value("-t|--target-directory")
    if folder is None:
        if len(words) < 2:
            return []
        folder = words.pop()
        if len(words) == 1 and not is_folder(folder):
            return [(words[0], folder)]
    return [(word, inside(folder, last_name(word) or UNKNOWN)) for word in words]


def copy(noting: Noting) -> None:
    """Note the effects of ``cp``."""
    recursive = noting.options.has("-r|-R|-a|--recursive|--archive")
    for source, target in _pairs(noting):
        noting.file("read", source, recursive=recursive)
        noting.file("write", target, recursive=recursive, sources=(source,))


def move(noting: Noting) -> None:
    """Note the effects of ``mv``, and of ``git mv``."""
    for source, target in _pairs(noting):
        # `mv * old/` sorts the files of a folder into a folder of the same folder.
        folder, _, name = noting.path(source).rpartition("/")
        sorts = ("*" in name or UNKNOWN in name) and noting.path(target).startswith(f"{folder}/")
        noting.file("read", source, recursive=True)
        noting.file("delete", source, recursive=not sorts)
        noting.file("write", target, recursive=True, sources=(source,))


def install(noting: Noting) -> None:
    """Note the effects of ``install``."""
    if noting.options.has("-d|--directory"):
        for word in noting.operands():
            noting.file("change", word)
    else:
        copy(noting)


def link(noting: Noting) -> None:
    """Note the effects of ``ln``."""
    words = noting.operands()
    pairs = [(words[0], last_name(words[0]))] if len(words) == 1 else _pairs(noting)
    is_symbolic = noting.options.has("-s|--symbolic") and not noting.options.has("-r|--relative")
    for target, name in pairs:
        # The text of a symbolic link starts from the folder that the link is in.
        if is_symbolic and not target.startswith(("/", "~")) and "/" in name:
            target = f"{name.rpartition('/')[0]}/{target}"
        noting.file("read", target)
        noting.file("write", name, sources=(target,))


def split_file(noting: Noting) -> None:
    """Note the effects of ``split``."""
    source, target, *_ = (*noting.operands(), "", "")
    noting.file("read", source)
    labels = noting.input_labels if source in ("", "-") else NO_LABELS
    noting.file("write", (target or "x") + UNKNOWN, labels=labels, sources=(source,))


def patch(noting: Noting) -> None:
    """Note the effects of ``patch``."""
    words = noting.operands()
    for value in [*words[1:2], *noting.values("-i|--input")]:
        noting.file("read", value)
    if not noting.options.is_in_force("--dry-run"):
        target = words[0] if words else noting.options.value("-o|--output") or UNKNOWN
        folder = "" if target.startswith(("/", "~")) else noting.options.value("-d|--directory") or "."
        noting.file("write", inside(folder, target) if folder else target, labels=noting.input_labels)


def delete_of_windows(noting: Noting) -> None:
    """``rd /s folder``, ``Remove-Item -Recurse folder``; a shell of Unix has taken the backslashes out of it."""
    switches = [word.lower() for word in noting.command.argv[1:] if word[:1] in ("/", "-")]
    recursive = any(word == "/s" or word.startswith("-r") for word in switches)
    for word in noting.operands():
        if not (word[:1] == "/" and len(word) == 2):
            drive, colon, rest = word.partition(":")
            is_drive = colon and len(drive) == 1 and rest[:1] not in ("/", "\\")
            noting.file("delete", f"{drive}:/{rest}" if is_drive else word, recursive=recursive)


def pack(noting: Noting, archive: str, members: Sequence[str], *, append: bool = False, removes: str = "") -> None:
    """Note that ``members`` are read and an archive is written; with the options ``removes`` they are deleted."""
    for word in members:
        noting.file("read", word, recursive=True)
    noting.file("write", archive, append=append, labels=noting.input_labels, sources=tuple(members))
    for word in members if removes and noting.options.has(removes) else ():
        noting.file("delete", word, recursive=True)


def unpack(noting: Noting, archive: str, members: Sequence[str]) -> None:
    """Note that an archive is read and ``members`` of it, or folders, are written."""
    noting.file("read", archive)
    labels = noting.input_labels if archive in STREAMS else NO_LABELS
    for word in members:
        noting.file("write", word, recursive=True, labels=labels, sources=(archive,))


def tar(noting: Noting) -> None:
    """Note the effects of ``tar``."""
    options = noting.options
    archive = options.value("-f|--file") or ""
    folder = options.value("-C|--directory|--cd")
    members = [word if folder is None or word[:1] == "/" else inside(folder, word) for word in noting.operands()]
    if options.has("-x|--extract|--get"):
        if options.has("-O|--to-stdout|--to-command"):
            noting.file("read", archive)
        else:
            base = "/" if options.has("-P|--absolute-names") else folder or "."
            unpack(noting, archive, members or [inside(base)])
    elif options.has("-c|--create|-r|--append|-u|--update|-A|--catenate|--concatenate"):
        pack(noting, archive, members, append=not options.has("-c|--create"), removes="--remove-files")
    elif archive:
        noting.file("write" if options.has("--delete") else "read", archive)


def zip_archive(noting: Noting) -> None:
    """Note the effects of ``zip``."""
    archive, *members = [*noting.operands(), ""]
    pack(noting, archive, members, removes="-m|--move")


def unzip(noting: Noting) -> None:
    """Note the effects of ``unzip``."""
    archive, *names = [*noting.operands(), ""]
    if noting.options.has("-l|-t|-p|-c|-Z|-v|-z"):
        noting.file("read", archive)
    else:
        folder = noting.options.value("-d") or "."
        unpack(noting, archive, [inside(folder, name) for name in filter(None, names)] or [inside(folder)])


def seven_zip(noting: Noting) -> None:
    """Note the effects of ``7z``."""
    action, archive, *members = [*noting.operands(), "", ""]
    if action in ("x", "e"):
        folders = [word[2:] for word in noting.command.argv if word.startswith("-o") and len(word) > 2]
        unpack(noting, archive, [inside(folder) for folder in folders or ["."]])
    elif action in ("a", "u", "m"):
        pack(noting, archive, members)


def cpio(noting: Noting) -> None:
    """Note the effects of ``cpio``."""
    options = noting.options
    archive = options.value("-F|--file|-I|-O") or ""
    if options.has("-o|--create"):
        pack(noting, archive, ())
    elif options.has("-i|--extract") and not options.has("-t|--list|--to-stdout"):
        unpack(noting, archive, [inside(options.value("-D|--directory") or ".")])
    elif options.has("-p|--pass-through"):
        unpack(noting, "", [inside(word) for word in noting.operands()])


def compress(noting: Noting) -> None:
    """A compressor replaces a file by another one, unless it is told to keep it or to print."""
    options, program = noting.options, noting.command.program
    recursive = options.has("-r|--recursive")
    keeps = options.has("-k|--keep") or (program.endswith("zstd") and not options.has("--rm"))
    prints = options.has("-c|--stdout|--to-stdout|-t|--test|-l|--list") or program.endswith("cat")
    unpacks = options.has("-d|--decompress|--uncompress") or program in _UNPACKERS
    for word in noting.operands():
        noting.file("read", word, recursive=recursive)
        if not prints:
            if not keeps:
                noting.file("delete", word, recursive=recursive)
            stem, _, extension = word.rpartition(".")
            packed = f"{word}.{_EXTENSIONS.get(noting.command.name, 'gz')}"
            target = packed if not unpacks else stem if extension in _PACKED else word
            noting.file("write", target, sources=(word,))
