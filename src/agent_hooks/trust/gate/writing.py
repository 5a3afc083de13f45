"""What a program writes, as far as the files that it is given tell."""

from __future__ import annotations

import os
import re
from functools import partial
from itertools import pairwise, takewhile

from agent_hooks.system.paths import expanded

from .locations import forms_of, read_text
from .programs import changes_in_place, files_of, is_glob, is_unknown, outputs_of
from .reading import first
from .reasons import for_file, for_folder, for_unclear
from .words import (
    CLONERS,
    COPIERS,
    FILTERS_TO_FILE,
    GIT_WRITERS,
    LINKERS,
    MOVERS,
    READERS,
    REMOVERS,
    TARS,
    UNPACKERS,
    WRITERS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .commands import Command
    from .programs import Program
    from .reading import Reading

_NAMES_OPTIONS = frozenset("-name -iname".split())
_PATTERN_OPTIONS = _NAMES_OPTIONS | frozenset("-path -ipath -wholename -iwholename -regex -iregex".split())
_REMOTE_NAME = re.compile(r"-[A-Za-z]*O|--remote-name(?:-all)?")
_TO_FOLDER = re.compile(r"-[A-Za-z]*t|--target-directory")
_REMOTE = re.compile(r"[\w.@-]{2,}:")
_WRITTEN_BY_SED = re.compile(r"\bw\s+(\S+)")
_PATCHED = re.compile(r"^(?:\+\+\+|---|rename to|copy to|\*\*\* \w+ File:|\*\*\* Move to:) ?([^\t\n]+)", re.MULTILINE)
_DOWNLOAD_FOLDERS = frozenset("-P --directory-prefix --output-dir".split())
_SYMBOLIC = re.compile(r"-[A-Za-z]*s|--symbolic|/[dj]$", re.IGNORECASE)
_LEAVING_OUT = frozenset("-prune -not !".split())
# `git clean` of ignored files, as environments are; and only trying it.
_CLEANS_ALL = re.compile(r"(?:^|\s)-[a-z]*[xX]")
_IS_TRIED = re.compile(r"(?:^|\s)(?:-[a-zA-Z]*n|--dry-run)")
_TO_ANYWHERE = re.compile(r"^[a-zA-Z]*P|(?:^|\s)-[^\WCfTX]*P|--absolute-(?:names|paths)")
_EXTRACTING = re.compile(r"^[a-zA-Z]*x|(?:^|\s)-[a-zA-Z]*x|--extract|--get")


def reason_against_writing(reading: Reading, program: Program, command: Command, upstream: str) -> str:
    """Return why ``program`` is denied, if it writes what is protected; ``upstream``: what it may get from a pipe."""
    name, operands = program.name, program.operands
    files = files_of(name, operands)
    if name in CLONERS and "clone" in operands:
        return _against_clone(reading, operands[operands.index("clone") + 1 :])
    if name == "git":
        return _against_git(reading, operands, command, upstream)
    if name in REMOVERS:
        return first(reading.judge_path(path, whole=True) for path in files)
    if name == "find":
        return reason_against_finding(reading, operands) if "-delete" in operands else ""
    if name in MOVERS or name in COPIERS or name in LINKERS:
        return _against_copy(reading, name, operands, files)
    if name in ("patch", "apply_patch"):
        return first(map(reading.judge_path, files)) or _against_patch(reading, files, operands, command, upstream)
    if name == "dd":
        return first(reading.judge_path(word[3:]) for word in operands if word.startswith("of="))
    if name in UNPACKERS and (name not in TARS or _EXTRACTING.search(" ".join(operands))):
        if name in TARS and _TO_ANYWHERE.search(" ".join(operands)):
            return for_folder(reading.protected.environment.prefix)
        folders = (word.partition("=")[2] for word in operands if word.startswith("--directory="))
        return first(_against_unseen(reading, path) for path in (*files, *folders, *outputs_of(operands)) if path)
    if name in WRITERS:
        takes = name in ("chmod", "chown") and _makes_useless(operands)
        return first(reading.judge_path(path, whole=takes, files=not takes) for path in files)
    if name in FILTERS_TO_FILE:
        written = [*files[-1:], *outputs_of(operands)] if len(files) > 1 or name == "strip" else []
        return first(map(reading.judge_path, written))
    if name in READERS:
        return ""
    options = [part for word in operands for part in (word.split("=", 1) if word.startswith("--") else (word,))]
    naming = _DOWNLOAD_FOLDERS | {"-d", "--dir"} if name == "aria2c" else _DOWNLOAD_FOLDERS
    folder = next((after for word, after in pairwise(options) if word in naming), "")
    if folder and (reason := _against_unseen(reading, folder)):
        return reason
    if name == "wget" or (name == "curl" and any(_REMOTE_NAME.fullmatch(word) for word in operands)):
        addresses = (word.partition("?")[0] for word in files if "://" in word)
        names = (os.path.join(folder, address.rpartition("/")[2]) for address in addresses)
        if reason := first(map(reading.judge_path, names)):
            return reason
    if changes_in_place(name, operands):
        return first(map(reading.judge_path, files))
    written = _WRITTEN_BY_SED.findall(" ".join(operands)) if name == "sed" else outputs_of(operands)
    return first(map(reading.judge_path, written))


def _against_unseen(reading: Reading, folder: str) -> str:
    """Judge what is put into ``folder``, of which nothing is known."""
    if any(map(reading.protected.environment.takes_unseen, forms_of(folder, reading.cwd))):
        return for_folder(folder)
    return first(reading.judge_path(os.path.join(folder, name)) for name in ("", "settings.json", "entry_points.txt"))


def _makes_useless(operands: Sequence[str]) -> bool:
    """Return whether ``chmod`` takes the rights to read or enter from folders."""
    mode = next((word for word in operands if re.fullmatch(r"[0-7]{1,4}|[ugoa]*[-+=][rwxXst]*(?:,.*)?", word)), "")
    if mode.isdigit():
        return mode.zfill(3)[-3] in "012346"
    return any(re.search(r"-\w*[rxX]|=(?!\w*r)", each) for each in mode.split(",") if not re.match("[go]+[-+=]", each))


def _against_clone(reading: Reading, words: Sequence[str]) -> str:
    """Judge where a repository is put: the last word, else the name that its address ends with."""
    places = [word for word in words if not word.startswith("-")]
    return first(_against_unseen(reading, place) for place in (*places[1:], *map(_last_name, places[:1])))


def _last_name(address: str) -> str:
    return re.split("[/:]", address.rstrip("/"))[-1].removesuffix(".git")


def reason_against_finding(reading: Reading, operands: Sequence[str]) -> str:
    """Judge that what ``find`` finds is taken away: what its patterns say, else all that it starts from."""
    starts = list(takewhile(lambda word: not word.startswith(("-", "(", "!")), operands)) or ["."]
    given = [each for each in zip(("", *operands), operands, operands[1:], strict=False) if each[1] in _PATTERN_OPTIONS]
    options = [(word in _NAMES_OPTIONS, after) for before, word, after in given if before not in ("-not", "!")]
    patterns = [after for _, after in options]
    own_name = reading.protected.environment_name
    leaves_out = any(own_name in after for _, _, after in given) and not _LEAVING_OUT.isdisjoint(operands)
    if any(reading.protected.is_named_in(each, reading.cwd) for each in patterns):
        return for_unclear()
    if leaves_out and not patterns:
        options = [(True, "*")]
    if options:
        places = [os.path.join(reading.cwd, expanded(start)) for start in starts]
        below = partial(reading.protected.below, environment=not leaves_out)
        found = (below(start, each, is_name=is_name) for start in places for is_name, each in options)
        if path := first(found):
            return for_file(path)
        return first(reading.judge_path(os.path.join(start, each)) for start in starts for each in patterns)
    if "-empty" in operands and not any(start.startswith((".claude", "/")) for start in starts):
        return ""
    return first(reading.judge_path(start, whole=True, files=False) for start in starts)


def _against_git(reading: Reading, operands: Sequence[str], command: Command, upstream: str) -> str:
    words = list(operands)
    place = reading.cwd
    for word in command.words:
        if word.startswith("GIT_WORK_TREE="):
            reading.places[-1] = os.path.join(reading.cwd, expanded(reading.with_values(word.partition("=")[2])))
    while len(words) > 1 and words[0].startswith("-"):
        is_place = words[0] in ("-C", "--work-tree")
        if is_place or words[0].startswith("--work-tree="):
            given = words[1] if is_place else words[0].partition("=")[2]
            reading.places[-1] = os.path.join(reading.cwd, expanded(given))
        words = words[2 if words[0] in ("-C", "-c", "--work-tree") else 1 :]
    try:
        if words[:2] in (["worktree", "add"], ["submodule", "add"]):
            return first(_against_unseen(reading, word) for word in words[2:] if not word.startswith("-"))
        is_writing = bool(words) and (words[0] in GIT_WRITERS or words[0] == "reset")
        if is_writing and reading.cwd != place and (reason := _against_unseen(reading, ".")):
            return reason
        if not words or words[0] not in GIT_WRITERS:
            named = [after for word, after in pairwise(words) if word in ("-f", "--file") and words[0] == "config"]
            return first(map(reading.judge_path, (*named, *outputs_of(words))))
        subcommand, files = words[0], [word.removeprefix(":/") for word in words[1:] if not word.startswith("-")]
        if subcommand == "clean":
            kept = {after for word, after in pairwise(words) if re.fullmatch(r"-[a-zA-Z]*e|--exclude", word)}
            files = [path for path in files if path not in kept]
        if subcommand == "clean" and _CLEANS_ALL.search(" ".join(words)) and not _IS_TRIED.search(" ".join(words)):
            name = re.escape(reading.protected.environment_name)
            is_kept = re.search(rf"\s(?:-[a-zA-Z]*e|--exclude)[\s=]*\S*{name}", " ".join(words))
            if not is_kept and (reason := reading.judge_environment(files[0] if files else ".")):
                return reason
        if subcommand in ("apply", "am"):
            into = [word.partition("=")[2] for word in words if word.startswith("--directory=")]
            into += [after for word, after in pairwise(words) if word == "--directory"]
            if reason := first(_against_unseen(reading, folder) for folder in into):
                return reason
            return _against_patch(reading, files, words, command, upstream)
        if "--cached" in words or ("--staged" in words and "--worktree" not in words):
            return ""  # only what is to be committed
        removes = subcommand in ("rm", "mv", "clean")
        found = first(reading.judge_path(path, whole=True, files=removes) for path in files)
        return found or (_against_copy(reading, "mv", words[1:], files) if subcommand == "mv" else "")
    finally:
        reading.places[-1] = place


def _against_copy(reading: Reading, name: str, operands: Sequence[str], files: Sequence[str]) -> str:
    """Judge what the last of ``files``, or the folder that an option names, gets from the others, and what a move
    takes away.
    """
    target = next((word.partition("=")[2] for word in operands if word.startswith("--target-directory=")), "")
    if not target and name != "rsync":  # its -t means something else
        target = next((after for word, after in pairwise(operands) if _TO_FOLDER.fullmatch(word)), "")
    sources = [path for path in files if path != target] if target else files[:-1]
    target = target or (files[-1] if len(files) > 1 else "")
    if name in LINKERS:
        is_symbolic = any(_SYMBOLIC.match(word) for word in operands)
        if reason := _against_link(reading, sources, target, operands, is_symbolic=is_symbolic):
            return reason
    if name in MOVERS and (reason := first(reading.judge_path(path, whole=True) for path in sources)):
        return reason
    if not target or _REMOTE.match(target):
        return ""
    is_folder = target.endswith("/") or os.path.isdir(os.path.join(reading.cwd, expanded(target)))
    seen = "\n".join(read_text(source, reading.cwd) for source in sources[:3])
    for source in sources:
        globbed = reading.protected.globbed(source, reading.cwd) if is_glob(source) else []
        for each in globbed or [source]:
            last = os.path.basename(each.rstrip("/"))
            is_content = each.endswith("/") or last in (".", "*") or name == "rclone"
            path = os.path.join(target, last) if is_folder and not is_content else target
            tree = each.removesuffix("*")
            landed = "" if is_unknown(path) else reading.protected.lands(tree, path, reading.cwd)
            if landed and (reason := reading.judge_path(landed, seen=seen)):
                return reason
            is_unseen = not os.path.lexists(os.path.join(reading.cwd, expanded(tree)))
            if is_unseen and (reason := _against_unseen(reading, path)):
                return reason
    if not is_folder and reading.protected.holds(target, reading.cwd, files=False):
        return for_folder(target)
    return reading.judge_path(target, seen=seen)


def _against_link(
    reading: Reading, sources: Sequence[str], target: str, operands: Sequence[str], *, is_symbolic: bool
) -> str:
    """Judge a second name for a file, and a link in the place of something else."""
    for source in sources or operands[-1:]:
        forms = forms_of(source, reading.cwd)
        # What is written through a symbolic link is seen when that is done.
        is_seen = is_symbolic and any(map(reading.protected.environment.find, forms))
        if not is_seen and (reason := reading.judge_path(source)):
            return reason
    if not target:
        return ""
    place = os.path.abspath(os.path.join(reading.cwd, expanded(target)))
    if is_symbolic and len(sources) == 1:
        reading.links[place] = os.path.join(os.path.dirname(place), expanded(sources[0]))
    is_replaced = os.path.islink(place) or any(re.fullmatch(r"-[A-Za-z]*[nT][A-Za-z]*", word) for word in operands)
    return reading.judge_path(target) or (reading.judge_environment(target) if is_replaced else "")


def _against_patch(
    reading: Reading, files: Iterable[str], operands: Sequence[str], command: Command, upstream: str
) -> str:
    inputs = [after for word, after in pairwise(operands) if word in ("-i", "--input")]
    texts = [read_text(path, reading.cwd) for path in (*files, *inputs, *command.sources)]
    text = "\n".join((*texts, command.body, upstream, *operands))
    for path in _PATCHED.findall(text):
        for name in {path.strip(), path.strip().partition("/")[2]} - {""}:
            if reason := reading.judge_path(name, seen=text):
                return reason
    return ""
