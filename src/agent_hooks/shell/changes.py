"""The files that a program changes, as far as its arguments name them."""

from __future__ import annotations

import re
from itertools import pairwise

from . import programs
from .patterns import Pattern

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_DOWNLOADERS = frozenset("curl wget aria2c".split())
_REMOTE_NAME = Pattern(r"-[A-Za-z]*O|--remote-name(?:-all)?")
_CLONERS = frozenset("gh hub glab hg".split())
_WRITTEN_BY_SED = Pattern(r"\bw\s+(\S+)")
_SCRIPT_OPTION = Pattern(r"-[A-Za-z0-9]*[ef]|--expression|--file")
_EXTRACTING = Pattern(r"^[a-zA-Z]*x|(?:^|\s)-[a-zA-Z]*x|--extract|--get")
# They remove the files that they have packed: `tar --remove-files`, `zip -m`.
_TAKES_PACKED = Pattern(r"--remove-files|--move|-[a-zA-Z]*m")
_ARCHIVE_OPTION = Pattern(r"-?[A-Za-z]*f|--file")
# Modes with which the owner can no longer read or enter a folder.
_LOCKING_MODE = Pattern(r"[0-7]?[012346][0-7]{2}|[0-7]{1,2}|[ua]*-\w*[rxX]\w*")
# Options that name an output, or the folder for it, with their value in the next word, and in the same one.
_OUTPUT_NAME = r"--?(?:std)?(?:out|output|err|log)(?:[-_]?(?:document|file|path|dir|location|to))?"
_OUTPUT = Pattern(rf"-[A-Za-z]*o|{_OUTPUT_NAME}")
_OUTPUT_VALUE = Pattern(rf"(?:{_OUTPUT_NAME}=|-[A-Za-z]*?[oOL]=?)(.+)")
_DOWNLOAD = Pattern(rf"-[A-Za-z]*[oO]|{_OUTPUT_NAME}")
# Of programs that read their other operands.
_OUTPUT_OF = {
    **dict.fromkeys(("sed", "sort", "less"), _OUTPUT),
    "psql": Pattern(r"-\w*[oL]|--output|--log-file"),
    "find": Pattern(r"-f(?:print[0f]?|ls)"),
    "ctags": Pattern(r"-\w*[of]"),
}
_FOLDER_VALUE = Pattern(r"(?:--(?:directory(?:-prefix)?|output-dir|dir)=|-[oC])(.+)")
_TO_FOLDER = Pattern(r"-[A-Za-z]*t|--target-directory(?:=(.*))?")
_IN_PLACE = Pattern(r"-i|--in-?place|--write\b|-w$|--fix\b|--overwrite\b|--set\b|--del\b")
_IN_PLACE_OF = {
    "sed": Pattern(r"-[nErsuz]*i|--in-place"),
    **dict.fromkeys(programs.AWKS, Pattern(r"-?i?inplace$")),
    **dict.fromkeys(("perl", "ruby"), Pattern(r"-[A-Za-z0-9]*i")),
}
# Their options `-i` and `-w` change nothing in place.
_KEEPING = frozenset[str]().union(
    *(programs.READERS, programs.CLIENTS, programs.GATHERERS, programs.CARRIERS, programs.INTERPRETERS),
    *(programs.SHELLS, programs.TEXT_RUNNERS, programs.MANAGERS, ("make",)),
)
_FORMATTING = frozenset("format fmt fix set put write edit".split())  # subcommands
_ONLY_CHECKS = frozenset("--check --diff --dry-run --check-only".split())
_FILTERS = frozenset("uniq xxd objcopy convert magick".split())  # they write the last of two operands or more
_PRINTING = frozenset("tee sponge dd".split())  # the text that they write is their input
_GIT_WRITERS = frozenset("checkout restore stash clean rm mv apply am checkout-index reset".split())


class Changes:
    """The files that a program changes.

    ``writes``: the files that it gives another text, of which its arguments say nothing; ``outputs``: those that get
    its output, or its input; ``deletes``: the files and folders that it removes, moves or locks; ``replaces``: those
    that it may replace by older ones. ``fills``: the folders that it puts files of unseen names into. ``sources``: the
    files that it copies, moves or links to ``target``. ``is_patch``: it writes the files that a patch names.
    ``is_known``: the table knows the program; another one may write all its operands.
    """

    __slots__ = ("deletes", "fills", "is_known", "is_patch", "outputs", "replaces", "sources", "target", "writes")

    def __init__(self) -> None:
        self.writes: Sequence[str] = ()
        self.outputs: Sequence[str] = ()
        self.deletes: Sequence[str] = ()
        self.replaces: Sequence[str] = ()
        self.fills: Sequence[str] = ()
        self.sources: Sequence[str] = ()
        self.target = ""
        self.is_patch = False
        self.is_known = True


def changes_of(name: str, operands: Sequence[str]) -> Changes:
    """Return the files that the program ``name`` changes.

    >>> changes_of("rm", ["-rf", "build"]).deletes
    ['build']
    """
    changes = Changes()
    if name == "git" or (name in _CLONERS and "clone" in operands):
        _add_git(changes, operands)
        return changes
    files = _files_of(name, operands)
    is_packing = name == "zip" or (name in programs.TARS and not _EXTRACTING.search(" ".join(operands)))
    if is_packing:
        archives = [after for word, after in pairwise(operands) if _ARCHIVE_OPTION.fullmatch(word)]
        changes.writes = archives[:1] if name in programs.TARS else files[:1]
        changes.deletes = files if any(map(_TAKES_PACKED.fullmatch, operands)) else ()
    elif name in programs.REMOVERS:
        changes.deletes = files
    elif name in programs.MOVERS or name in programs.COPIERS:
        _add_copy(changes, name, operands, files)
    elif name in ("patch", "apply_patch"):
        changes.writes, changes.is_patch = files, True
    elif name in programs.UNPACKERS or name in _DOWNLOADERS:
        is_named = name in _DOWNLOADERS and (name != "curl" or any(map(_REMOTE_NAME.fullmatch, operands)))
        names = [word.partition("?")[0].rpartition("/")[2] for word in files if "://" in word and is_named]
        changes.outputs = names + (_outputs_of(operands, _DOWNLOAD) if name in _DOWNLOADERS else [])
        folders = [found[1] for word in operands if (found := _FOLDER_VALUE.match(word))]
        changes.fills = [word for word in files if "://" not in word] + folders
    elif name in ("chmod", "chown"):
        modes = operands[:2] if operands[:1] != ["-R"] else operands[1:2]
        is_locking = any(map(_LOCKING_MODE.fullmatch, modes))
        changes.deletes = files if is_locking else ()
        changes.writes = () if is_locking else files
    else:
        _add_others(changes, name, operands, files)
    return changes


def _add_others(changes: Changes, name: str, operands: Sequence[str], files: Sequence[str]) -> None:
    if name in _FILTERS:
        changes.writes = files[-1:] if len(files) > 1 else ()
    elif not changes_files(name, operands):
        changes.is_known = name in programs.KNOWN
    elif name in _PRINTING:
        changes.outputs = files
    else:
        changes.writes = files
    option = None if name in programs.READERS or name in programs.CLIENTS else _OUTPUT
    if option := _OUTPUT_OF.get(name, option):
        changes.outputs = [*changes.outputs, *_outputs_of(operands, option)]
    if name == "sed":
        changes.outputs = [*changes.outputs, *_WRITTEN_BY_SED.findall(" ".join(operands))]


def changes_files(name: str, operands: Sequence[str]) -> bool:
    """Whether a program writes the files in its arguments."""
    if name in programs.CHANGING:
        return True
    if not _ONLY_CHECKS.isdisjoint(operands):
        return False
    if option := _IN_PLACE_OF.get(name):
        return any(map(option.match, operands))
    subcommand = next((word for word in operands if not word.startswith("-")), "")
    is_formatting = name in programs.FORMATTERS or subcommand in _FORMATTING or any(map(_IN_PLACE.match, operands))
    return is_formatting and name not in _KEEPING


def _files_of(name: str, operands: Sequence[str]) -> list[str]:
    """Return the operands that are neither options nor a script; of ``dd``, only its output."""
    if name == "dd":
        return [word[3:] for word in operands if word.startswith("of=")]
    if name == "socat":
        return [part for word in operands for part in re.split("[:,]", word)]
    is_scripted = name in ("sed", "perl", "ruby")
    files = [
        word
        for before, word in pairwise(("", *operands))
        if word and not word.startswith("-") and not (is_scripted and _SCRIPT_OPTION.fullmatch(before))
    ]
    return files[1:] if name == "sed" and not any(map(_SCRIPT_OPTION.match, operands)) else files


def _outputs_of(operands: Sequence[str], option: re.Pattern[str]) -> list[str]:
    """Return the files that options name as the output."""
    following = [after for word, after in pairwise(operands) if option.fullmatch(word)]
    return following + [found[1] for word in operands if (found := _OUTPUT_VALUE.match(word))]


def _add_copy(changes: Changes, name: str, operands: Sequence[str], files: Sequence[str]) -> None:
    for word, after in pairwise((*operands, "")):
        if name != "rsync" and (found := _TO_FOLDER.fullmatch(word)):  # its -t means something else
            changes.target = found[1] or after
    if changes.target:
        changes.sources = [path for path in files if path != changes.target]
    else:
        changes.sources = files[:-1] or files if name in programs.LINKERS else files[:-1]
        changes.target = files[-1] if len(files) > 1 else ""
    changes.deletes = changes.sources if name in programs.MOVERS else ()


def _add_git(changes: Changes, operands: Sequence[str]) -> None:
    words = [*operands]
    while words and words[0].startswith("-"):
        del words[: 2 if words[0] in ("-C", "-c", "--work-tree") else 1]
    verb, text = words[0] if words else "", " ".join(words)
    files = [word.removeprefix(":/") for word in words[1:] if not word.startswith("-")]
    if "clone" in words[:2]:  # the name that the address ends with, if no other one is given
        files = files[1:] if verb != "clone" else files
        own = [re.split("[/:]", address.rstrip("/"))[-1].removesuffix(".git") for address in files[:1]]
        changes.fills = [*files[1:], *own]
    elif words[:2] in (["worktree", "add"], ["submodule", "add"]):
        changes.fills = files[1:]
    elif verb not in _GIT_WRITERS:
        named = [after for word, after in pairwise(words) if word in ("-f", "--file") and verb == "config"]
        changes.writes = [*named, *_outputs_of(words, _OUTPUT)]
    else:
        changes.fills = ["."]
        changes.is_patch = verb in ("apply", "am")
        is_index = verb == "reset" or "--cached" in words or ("--staged" in words and "--worktree" not in words)
        if changes.is_patch or is_index:
            return
        if verb == "mv":
            _add_copy(changes, "mv", words[1:], files)
        elif verb in ("rm", "clean"):
            kept = re.findall(r"(?:\s-[a-zA-Z]*e|--exclude)[ =](\S+)", text)
            changes.deletes = [path for path in files if path not in kept]
        else:
            changes.replaces = files
