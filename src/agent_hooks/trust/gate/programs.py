"""Which programs a simple command runs in the end, and how what they are given is to be read."""

from __future__ import annotations

import re
from itertools import pairwise

from .words import (
    AWKS,
    EDITORS,
    ENDERS,
    FINDERS,
    FORMATTERS,
    FORMATTING,
    GATHERERS,
    GIT_RUNNERS,
    GIT_RUNNING,
    HARMLESS_OPTIONS,
    INTERPRETERS,
    READERS,
    SHELLS,
    STANDARD_INPUT,
    SUSPICIOUS,
    VERSION_CONTROL,
    WRAPPERS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
INLINE = re.compile(r"-[A-Za-z]*[ceErRp]$|-[ce].|--(?:eval|print|command|exec)\b|-Command$|-l?ne$", re.IGNORECASE)
_SCRIPTED = frozenset(("sed", "perl", "ruby"))
_SCRIPT_OPTION = re.compile(r"-[A-Za-z0-9]*e|--expression|-f|--file")
_IN_PLACE = re.compile(r"-i|--in-?place|--write\b|-w$|--fix\b|--overwrite\b|--set\b|--del\b")
_SED_IN_PLACE = re.compile(r"-[nErsuz]*i|--in-place")
_CLUSTER_IN_PLACE = re.compile(r"-[A-Za-z0-9]*i")
_OUTPUT = re.compile(r"-[A-Za-z]*[oO]|--out(?:put(?:-document|-file)?|file)?")
_UNKNOWN = re.compile(r"\$(?:$|[\w{(@*#?!-])|`|^\{\}$")


def name_of(word: str) -> str:
    """Return a program's name without folder, ``.exe`` and version."""
    name = word.replace("\\", "/").rpartition("/")[2].casefold().removesuffix(".exe")
    return name if name in _KNOWN else name.rstrip("0123456789.") or name


_KNOWN = READERS | SHELLS | INTERPRETERS | SUSPICIOUS | FORMATTERS | ENDERS | FINDERS | {"git", "ruff"}


class Program:
    """A program that a simple command may run in the end: its ``name``, what it is given (``operands``), and whether it
    gets more from elsewhere (``gathers``).
    """

    def __init__(self, words: Sequence[str], *, gathers: bool = False) -> None:
        self.name = name_of(words[0])
        self.operands = words[1:]
        self.gathers = gathers


def programs_of(words: Sequence[str], *, gathers: bool = False) -> list[Program]:
    """Return what a simple command may run: two, if a wrapper's options can be read in two ways."""
    name, operands = name_of(words[0]), words[1:]
    if name in INTERPRETERS:
        return [Program(_module(operands) or words, gathers=gathers)]
    if name in FINDERS:
        running = ("-exec", "-ok") if name == "find" else ("-x", "-X", "--exec")
        at = next((at for at, word in enumerate(operands) if word.startswith(running)), len(operands))
        if operands[at + 1 :]:
            return programs_of(operands[at + 1 :], gathers=True)
        return [Program(words)]
    if name not in WRAPPERS:
        return [Program(words, gathers=gathers)]
    gathers = gathers or name in GATHERERS
    found: list[Program] = []
    for at, word in enumerate(operands):
        inner = name_of(word)
        gathers = gathers or inner in GATHERERS
        if inner in _KNOWN and not ASSIGNMENT.fullmatch(word):
            found += programs_of(operands[at:], gathers=gathers)
            if at == 0 or not operands[at - 1].startswith("-"):
                break  # behind an option it may also be that option's value
    return found or [Program(words, gathers=gathers)]


def _module(operands: Sequence[str]) -> Sequence[str]:
    """Return the module that Python is told to run by ``-m``, with what it is given; nothing without one."""
    for at, word in enumerate(operands):
        if word.startswith("-m"):
            return [word[2:], *operands[at + 1 :]] if len(word) > 2 else operands[at + 1 :]
        if word.startswith("-c") or not (word.startswith("-") or operands[at - 1] in ("-W", "-X")):
            break
    return ()


def is_only_versioning(name: str, words: Sequence[str]) -> bool:
    """Whether a version control system does its own work, and runs no other command."""
    return name in VERSION_CONTROL and not version_control_runs(words)


def version_control_runs(words: Sequence[str]) -> bool:
    """Whether a version control system is told to run another command."""
    return not GIT_RUNNING.isdisjoint(words) or not GIT_RUNNERS.isdisjoint(words)


def gives_script(operands: Sequence[str]) -> bool:
    """Whether an interpreter is given what it runs by its arguments, and does not read it from its input."""
    first = next((word for word in operands if word in STANDARD_INPUT or not word.startswith("-")), "")
    if "-s" in operands or first in STANDARD_INPUT:
        return False
    return any(not word.startswith("-") for word in operands) or any(INLINE.match(word) for word in operands)


def is_unknown(word: str) -> bool:
    """Whether only running the command would tell what ``word`` is."""
    return _UNKNOWN.search(word) is not None


def is_glob(word: str) -> bool:
    """Whether a shell may put names of files for ``word``."""
    return "*" in word or "?" in word or "[" in word


def files_of(name: str, operands: Sequence[str]) -> list[str]:
    """Return what is given to a program that is neither an option nor a script."""
    files = [
        word
        for before, word in zip(("", *operands), operands, strict=False)
        if word and not word.startswith("-") and not (name in _SCRIPTED and _SCRIPT_OPTION.fullmatch(before))
    ]
    has_option = any(_SCRIPT_OPTION.match(word) for word in operands)
    return files[1:] if name == "sed" and not has_option else files


def is_passive(program: str) -> bool:
    """Whether ``program`` runs nothing of what it is given: all of it is text, or files."""
    return program in READERS or (writes(program) and program not in EDITORS and program != "find")


def writes(program: str) -> bool:
    """Whether what ``program`` is given are files to write."""
    return program in SUSPICIOUS or program in FORMATTERS or program == "find"


def changes_in_place(program: str, operands: Sequence[str]) -> bool:
    """Whether its options make ``program`` write the files that it would else only read."""
    if not HARMLESS_OPTIONS.isdisjoint(operands):
        return False
    if program == "sed":
        return any(_SED_IN_PLACE.match(word) for word in operands)
    if program in AWKS:
        return "inplace" in operands or "-iinplace" in operands
    if program in INTERPRETERS:
        return program in ("perl", "ruby", "gawk") and any(_CLUSTER_IN_PLACE.match(word) for word in operands)
    subcommand = next((word for word in operands if not word.startswith("-")), "")
    is_formatting = program in FORMATTERS or subcommand in FORMATTING
    return is_formatting or any(_IN_PLACE.match(word) for word in operands)


def outputs_of(operands: Sequence[str]) -> list[str]:
    """Return the files that options name as the output."""
    following = [after for word, after in pairwise(operands) if _OUTPUT.fullmatch(word)]
    joined = [word.partition("=")[2] for word in operands if _OUTPUT.fullmatch(word.partition("=")[0])]
    attached = [word[2:] for word in operands if len(word) > 2 and word.startswith(("-o", "-O"))]
    return [word for word in (*following, *joined, *attached) if word]
