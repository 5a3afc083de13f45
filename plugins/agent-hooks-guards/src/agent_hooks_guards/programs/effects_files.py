"""What known programs do to files."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN

from .effects_find import find
from .noting import inside, is_folder, last_name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from .noting import Noting


ALWAYS = "always"


class Touch:
    """A line of the table: what a program does to each file that its words name.

    ``operands``: the kind of effect on each operand, "" for none. ``skip``: how many of the first operands are no
    files; none is skipped if an option of ``unless`` was given. ``recursive``, ``append``: options with which the
    effect is so, or ``always``. ``options``: the kinds of effect on the files that values of options name.
    """

    __slots__ = ("append", "operands", "options", "recursive", "skip", "unless")

    def __init__(
        self,
        operands: str = "",
        *,
        skip: int = 0,
        unless: str = "",
        recursive: str = "",
        append: str = "",
        options: dict[str, str] | None = None,
    ) -> None:
        self.operands = operands
        self.skip = skip
        self.unless = unless
        self.recursive = recursive
        self.append = append
        self.options = options or {}

    def __call__(self, noting: Noting) -> None:
        """Note it for one command."""
        options = noting.options
        # What is written comes from the input, as far as this table knows.
        labels = noting.input_labels
        for names, kind in self.options.items():
            for value, _ in options.values(names):
                noting.file(kind, value, labels=labels if kind == "write" else NO_LABELS)
        if not self.operands:
            return
        skip = 0 if self.unless and options.has(self.unless) else self.skip
        recursive = self.recursive == ALWAYS or (bool(self.recursive) and options.has(self.recursive))
        append = self.append == ALWAYS or (bool(self.append) and options.has(self.append))
        if self.operands != "write":
            labels = NO_LABELS
        for word in noting.operands(skip):
            noting.file(self.operands, word, recursive=recursive, append=append, labels=labels)


def pairs(noting: Noting, target_option: str = "-t|--target-directory") -> list[tuple[str, str]]:
    """Sources and targets, as words, of a program that takes sources and then a target: ``cp``, ``mv``, ``install``."""
    words = noting.operands()
    folder = noting.options.value(target_option)
    if folder is None:
        if len(words) < 2:
            return []
        folder = words.pop()
        if len(words) == 1 and not is_folder(folder):
            return [(words[0], folder)]
    return [(word, inside(folder, last_name(word) or UNKNOWN)) for word in words]


def _copy(noting: Noting) -> None:
    recursive = noting.options.has("-r|-R|-a|--recursive|--archive")
    couples = pairs(noting)
    if not couples:
        for word in noting.operands():
            noting.file("read", word, recursive=recursive)
    for source, target in couples:
        noting.file("read", source, recursive=recursive)
        noting.file("write", target, recursive=recursive, sources=(source,))


def move(noting: Noting) -> None:
    """Note what ``mv`` does, and ``git mv``."""
    couples = pairs(noting)
    if not couples:
        for word in noting.operands():
            noting.file("delete", word, recursive=True)
    for source, target in couples:
        noting.file("read", source, recursive=True)
        noting.file("delete", source, recursive=not _sorted_below(noting, source, target))
        noting.file("write", target, recursive=True, sources=(source,))


def _sorted_below(noting: Noting, source: str, target: str) -> bool:
    """Whether what a folder holds goes into a folder of the same folder: ``mv * old/``."""
    folder, _, name = noting.path(source).rpartition("/")
    return ("*" in name or UNKNOWN in name) and noting.path(target).startswith(f"{folder}/")


def _install(noting: Noting) -> None:
    mode = noting.options.has("-m|--mode|-o|--owner|-g|--group")
    if noting.options.has("-d|--directory"):
        for word in noting.operands():
            noting.file("change", word)
        return
    for source, target in pairs(noting):
        noting.file("read", source)
        noting.file("write", target, sources=(source,))
        if mode:
            noting.file("change", target)


def links(noting: Noting) -> list[tuple[str, str]]:
    """Targets and names of the links that ``ln`` makes, as words; a target's is as seen from where ``ln`` runs."""
    words = noting.operands()
    couples = [(words[0], last_name(words[0]))] if len(words) == 1 else pairs(noting)
    if not noting.options.has("-s|--symbolic") or noting.options.has("-r|--relative"):
        return couples
    # A symbolic link's text is read from the folder that the link is in.
    return [
        (target if target.startswith(("/", "~")) or "/" not in name else name.rpartition("/")[0] + "/" + target, name)
        for target, name in couples
    ]


def _link(noting: Noting) -> None:
    for target, name in links(noting):
        noting.file("read", target)
        noting.file("write", name, sources=(target,))


def _dd(noting: Noting) -> None:
    source = noting.options.value("if")
    target = noting.options.value("of")
    if source:
        noting.file("read", source)
    if target:
        labels = NO_LABELS if source else noting.input_labels
        appends = "append" in (noting.options.value("oflag") or "")
        noting.file("write", target, append=appends, labels=labels, sources=(source,) if source else ())


def _split(noting: Noting) -> None:
    words = noting.operands()
    source = words[0] if words else "-"
    noting.file("read", source)
    target = words[1] if len(words) > 1 else "x"
    noting.file(
        "write", target + UNKNOWN, labels=noting.input_labels if source == "-" else NO_LABELS, sources=(source,)
    )


def _uniq(noting: Noting) -> None:
    words = noting.operands()
    for word in words[:1]:
        noting.file("read", word)
    for word in words[1:2]:
        noting.file("write", word, labels=noting.input_labels, sources=(words[0],))


def _edit(noting: Noting, in_place: str, script: str) -> None:
    """A program that takes a script and files: it reads them, or with an option writes them."""
    words = noting.operands()
    if words and not words[0]:
        words = words[1:]  # BSD: -i takes the suffix of a copy from the next word, often ''
    if not noting.options.has(script):
        words = words[1:]
    for value, _ in noting.options.values("-f|--file|--from-file"):
        noting.file("read", value)
    kind = "write" if noting.options.has(in_place) else "read"
    for word in words:
        noting.file(kind, word)


def _awk(noting: Noting) -> None:
    include = noting.options.value("-i|--include") or ""
    _edit(noting, "-i|--include" if include == "inplace" else "--no-such-option", "-f|--file|-E|--exec|-e|--source")


def _script_in_place(noting: Noting) -> None:
    # Without -i, what the files named behind a script are for is for the script to say.
    if noting.options.has("-i"):
        words = noting.operands(0 if noting.options.has("-e|-E") else 1)
        for word in words:
            noting.file("write", word)


def _mode(noting: Noting) -> None:
    """``chmod`` and ``chown``: the mode or owner comes first, unless it is that of another file."""
    options = noting.options
    # chmod -x file: the mode looks like options.
    first = 0 if options.has("--reference|-r|-w|-x|-X|-s|-t|-u|-g|-o") else 1
    recursive = options.has("-R|--recursive")
    for word in noting.operands(first):
        noting.file("change", word, recursive=recursive)


def _attributes(noting: Noting) -> None:
    recursive = noting.options.has("-R|-r|--recursive")
    for word in noting.operands():
        if not word.startswith(("+", "=")):
            noting.file("change", word, recursive=recursive)


def _windows_access(noting: Noting) -> None:
    words = noting.command.argv[1:]
    recursive = any(word.upper() in ("/T", "/R") or word.upper().endswith(" /T") for word in words)
    if [word.upper() for word in words[:1]] == ["/F"]:
        words = words[1:]
    for word in words[:1]:
        # A shell of Unix takes a backslash before a blank for the blank's.
        noting.file("change", _of_drive(word.partition(" /")[0]), recursive=recursive)


def _of_drive(word: str) -> str:
    """A path of Windows, out of which a shell of Unix has taken the backslashes."""
    drive, colon, rest = word.partition(":")
    return f"{drive}:/{rest}" if colon and len(drive) == 1 and rest[:1] not in ("/", "\\") else word


def _shred(noting: Noting) -> None:
    removes = noting.options.has("-u|--remove*")
    for word in noting.operands():
        noting.file("write", word)
        if removes:
            noting.file("delete", word)


def _patch(noting: Noting) -> None:
    words = noting.operands()
    for value in [*words[1:2], *(value for value, _ in noting.options.values("-i|--input"))]:
        noting.file("read", value)
    folder = noting.options.value("-d|--directory") or "."
    target = words[0] if words else noting.options.value("-o|--output")
    if target is None or not target.startswith(("/", "~")):
        target = inside(folder, target or UNKNOWN)
    if not noting.options.has("--dry-run"):
        noting.file("write", target, labels=noting.input_labels)


def _mount_point(noting: Noting) -> None:
    for word in noting.operands():
        if "/" in word or UNKNOWN in word:
            noting.file("change", word, recursive=True)


def _ssh_keygen(noting: Noting) -> None:
    options = noting.options
    name = options.value("-f")
    if name is None:
        return
    if options.has("-y|-l|-e|-B|-F|-i|-H"):
        noting.file("read", name)
    elif options.has("-R"):
        noting.file("write", name, append=True)
    else:
        noting.file("write", name)
        noting.file("write", f"{name}.pub")


def compiled(noting: Noting) -> None:
    """Note the file that a compiler writes."""
    argv = noting.command.argv
    targets = [argv[at + 1] for at, word in enumerate(argv[:-1]) if word in ("-o", "--output")]
    name = noting.command.name
    if not targets and name == "go":
        sources = [word for word in argv if word.endswith(".go")]
        targets = [last_name(sources[0] if sources else noting.cwd).removesuffix(".go")]
    elif not targets and name == "rustc":
        targets = [last_name(word).removesuffix(".rs") for word in argv if word.endswith(".rs")]
    elif not targets and name != "pandoc" and _LINKS_NOT.isdisjoint(argv):
        targets = ["a.out"]
    for target in targets:
        noting.file("write", target)


_LINKS_NOT = frozenset(("-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-v", "--help"))


_READ = Touch("read")


def _windows_delete(noting: Noting) -> None:
    """``rd /s folder``, ``Remove-Item -Recurse folder``; a shell of Unix has taken the backslashes out of it."""
    words = [word for word in noting.operands() if not (word[:1] == "/" and len(word) == 2)]
    switches = [word.lower() for word in noting.command.argv[1:] if word[:1] in ("/", "-")]
    recursive = any(word == "/s" or word.startswith("-r") for word in switches)
    for word in words:
        noting.file("delete", _of_drive(word), recursive=recursive)


FILES: dict[str, Callable[[Noting], None]] = {
    "rmdir": _windows_delete,
    "rd": _windows_delete,
    "remove-item": _windows_delete,
    "del": _windows_delete,
    "shred": _shred,
    "cp": _copy,
    "gcp": _copy,
    "mv": move,
    "install": _install,
    "ln": _link,
    "link": _link,
    "dd": _dd,
    "dcfldd": _dd,
    "dc3dd": _dd,
    "split": _split,
    "uniq": _uniq,
    "perl": _script_in_place,
    "ruby": _script_in_place,
    "awk": _awk,
    "patch": _patch,
    **dict.fromkeys("chmod chown chgrp".split(), _mode),
    **dict.fromkeys("chattr setfacl chflags chcon restorecon".split(), _attributes),
    **dict.fromkeys("icacls takeown cacls".split(), _windows_access),
    "mount": _mount_point,
    "umount": _mount_point,
    "swapoff": _mount_point,
    "swapon": _mount_point,
    **dict.fromkeys("batcat".split(), _READ),
    "xxd": _uniq,
    "ssh-keygen": _ssh_keygen,
    "envsubst": Touch(),
    **dict.fromkeys("gcc cc clang g++ c++ clang++ ld rustc pandoc".split(), compiled),
    "find": find,
}
