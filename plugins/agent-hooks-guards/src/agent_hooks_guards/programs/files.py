"""``cp``, ``mv``, ``install``, ``ln``, ``dd`` and other programs whose operands are not all treated alike."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN

from .noting import Noting, inside, is_folder, last_name


def pairs(noting: Noting) -> list[tuple[str, str]]:
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


def _copy(noting: Noting) -> None:
    recursive = noting.options.has("-r|-R|-a|--recursive|--archive")
    couples = pairs(noting)
    for word in () if couples else noting.operands():
        noting.file("read", word, recursive=recursive)
    for source, target in couples:
        noting.file("read", source, recursive=recursive)
        noting.file("write", target, recursive=recursive, sources=(source,))


def move(noting: Noting) -> None:
    """Note the effects of ``mv``, and of ``git mv``."""
    couples = pairs(noting)
    for word in () if couples else noting.operands():
        noting.file("delete", word, recursive=True)
    for source, target in couples:
        noting.file("read", source, recursive=True)
        noting.file("delete", source, recursive=not _sorts_below(noting, source, target))
        noting.file("write", target, recursive=True, sources=(source,))


def _sorts_below(noting: Noting, source: str, target: str) -> bool:
    """Whether the files of a folder go into a folder of the same folder: ``mv * old/``."""
    folder, _, name = noting.path(source).rpartition("/")
    return ("*" in name or UNKNOWN in name) and noting.path(target).startswith(f"{folder}/")


def _install(noting: Noting) -> None:
    if noting.options.has("-d|--directory"):
        for word in noting.operands():
            noting.file("change", word)
        return
    changes = noting.options.has("-m|--mode|-o|--owner|-g|--group")
    for source, target in pairs(noting):
        noting.file("read", source)
        noting.file("write", target, sources=(source,))
        if changes:
            noting.file("change", target)


def _link(noting: Noting) -> None:
    words = noting.operands()
    couples = [(words[0], last_name(words[0]))] if len(words) == 1 else pairs(noting)
    is_symbolic = noting.options.has("-s|--symbolic") and not noting.options.has("-r|--relative")
    for target, name in couples:
        # The text of a symbolic link starts from the folder that the link is in.
        if is_symbolic and not target.startswith(("/", "~")) and "/" in name:
            target = f"{name.rpartition('/')[0]}/{target}"
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
    source, target, *_ = (*noting.operands(), "", "")
    noting.file("read", source)
    labels = noting.input_labels if source in ("", "-") else NO_LABELS
    noting.file("write", (target or "x") + UNKNOWN, labels=labels, sources=(source,))


def _filter(noting: Noting) -> None:
    """``uniq input output``."""
    words = noting.operands()
    for word in words[:1]:
        noting.file("read", word)
    for word in words[1:2]:
        noting.file("write", word, labels=noting.input_labels, sources=(words[0],))


def _mode(noting: Noting) -> None:
    """``chmod`` and ``chown``: the mode or owner comes first, unless it is that of another file."""
    # chmod -x file: the mode looks like options.
    first = 0 if noting.options.has("--reference|-r|-w|-x|-X|-s|-t|-u|-g|-o") else 1
    recursive = noting.options.has("-R|--recursive")
    for word in noting.operands(first):
        noting.file("change", word, recursive=recursive)


def _attributes(noting: Noting) -> None:
    recursive = noting.options.has("-R|-r|--recursive")
    for word in noting.operands():
        if not word.startswith(("+", "=")):
            noting.file("change", word, recursive=recursive)


def _shred(noting: Noting) -> None:
    removes = noting.options.has("-u|--remove*")
    for word in noting.operands():
        noting.file("write", word)
        if removes:
            noting.file("delete", word)


def _patch(noting: Noting) -> None:
    words = noting.operands()
    for value in [*words[1:2], *noting.values("-i|--input")]:
        noting.file("read", value)
    target = words[0] if words else noting.options.value("-o|--output")
    if target is None or not target.startswith(("/", "~")):
        target = inside(noting.options.value("-d|--directory") or ".", target or UNKNOWN)
    if not noting.options.has("--dry-run"):
        noting.file("write", target, labels=noting.input_labels)


def _delete_of_windows(noting: Noting) -> None:
    """``rd /s folder``, ``Remove-Item -Recurse folder``; a shell of Unix has taken the backslashes out of it."""
    switches = [word.lower() for word in noting.command.argv[1:] if word[:1] in ("/", "-")]
    recursive = any(word == "/s" or word.startswith("-r") for word in switches)
    for word in noting.operands():
        if not (word[:1] == "/" and len(word) == 2):
            drive, colon, rest = word.partition(":")
            is_drive = colon and len(drive) == 1 and rest[:1] not in ("/", "\\")
            noting.file("delete", f"{drive}:/{rest}" if is_drive else word, recursive=recursive)


EFFECTS = {
    "cp": _copy,
    "mv": move,
    "install": _install,
    "ln": _link,
    "dd": _dd,
    "split": _split,
    "uniq": _filter,
    "xxd": _filter,
    "chmod": _mode,
    "chown": _mode,
    **dict.fromkeys("chattr setfacl chflags chcon restorecon".split(), _attributes),
    "shred": _shred,
    "patch": _patch,
    **dict.fromkeys("rmdir rd remove-item del".split(), _delete_of_windows),
}
