"""Judges the files that a program writes, moves or removes, as far as its arguments name them."""

from __future__ import annotations

import os
import re
from itertools import pairwise, takewhile

from agent_hooks.shell import programs
from agent_hooks.shell.changes import changes_of
from agent_hooks.shell.commands import CommandLine
from agent_hooks.shell.patterns import Pattern
from agent_hooks.shell.programs import name_of
from agent_hooks.shell.syntax import UNKNOWN
from agent_hooks.system.paths import expanded, is_below

from .locations import forms_of, read_text
from .reasons import ALL, denial, first
from .wiring import HOSTS, wiring_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_hooks.shell.changes import Changes
    from agent_hooks.shell.commands import Command

    from .shell import Judging, Program

_PATTERNS = Pattern(r"-(?:i?name|i?path|i?wholename|i?regex)")
# What a file of an unknown name may be.
_UNSEEN = ("", "settings.json", "entry_points.txt", ".claude-plugin/plugin.json")
_REMOTE = Pattern(r"[\w.@-]{2,}:")
_PATCHED = Pattern(r"^(?:\+\+\+|---|rename to|copy to|\*\*\* \w+ File:|\*\*\* Move to:) ?([^\t\n]+)", re.MULTILINE)
_SYMBOLIC = Pattern(r"-[A-Za-z]*s|--symbolic|/[dj]$", re.IGNORECASE)
_HARD_OR_SYMBOLIC = Pattern(r"-[A-Za-z]*[ls][A-Za-z]*|--link|--symbolic-link")  # options of cp
_TO_ANYWHERE = Pattern(r"^[a-zA-Z]*P|(?:^|\s)-[^\WCfTX]*P|--absolute-(?:names|paths)")
_AS_FILE = Pattern(r"-[a-zA-Z]*T|--no-target-directory")
# What makes a client of a database write a file, or start a program.
_WRITING_SQL = Pattern(
    r"(?:^|['\"\n])\s*[.\\](?!tables|schema|headers|mode|d)|\\[og!]|\bcopy\b|writefile|\battach\b|vacuum\s+into|into\s+(?:out|dump)",
    re.IGNORECASE,
)
_MOUNTING = Pattern(r"(?:-[a-z]*v|--volume|--mount)=?(.*)")
_READ_ONLY = Pattern(r"[^,=]*:[^:]*:(?:.*,)?ro(?:,.*)?|\w+(?:=.*)?,(?:readonly|ro)(?:=(?:true|1))?(?:,.*)?")
# Programs that print the texts they are given, with the arguments that make other texts of them.
_SHOWING = {
    **dict.fromkeys((":", "true", "cat", "tee", "sponge"), Pattern(r"(?!)")),
    "echo": Pattern(r"\\[x0-9]"),
    "printf": Pattern(r"""%[^s]|\S%s|%s[^\s\\]|\\[^nt"]"""),
    "jq": Pattern(
        r"^-\w*f|^--from|\+(?!\s*[{\[])|[\\@$]|\[.*:"
        r"|\b(?:join|implode|g?sub|env|inputs?|(?:to|from)json|tostring|[lr]trimstr|ascii\w*)\b"
    ),
}
_PLACE = Pattern(rf"{UNKNOWN}\$\((?:pwd|which [\w.-]+|command -v [\w.-]+)\)")  # its text can be no setting
_FINDERS = frozenset(("find", "fd", "fdfind"))
_CLEANS_ALL = Pattern(r"-[a-z]*[xX][a-z]*")  # ignored files too, as environments are
_IS_TRIED = Pattern(r"-[a-zA-Z]*n|--dry-run")


def reason_against_writing(judging: Judging, program: Program, command: Command) -> str:
    """Return why ``program`` is denied, if it writes something protected."""
    name, operands = program.name, program.operands
    mounts = () if programs.MOUNTING.isdisjoint(map(name_of, command.words)) else pairwise((*command.words, ""))
    if reason := first(_against_mount(judging, *pair) for pair in mounts):
        return reason
    if name in programs.SQL and _WRITING_SQL.search(code := "\n".join((*operands, command.body, command.pipeline))):
        return first(map(judging.judge_path, judging.protected.paths_in(code)))
    changes = changes_of(name, operands)
    if name in programs.TARS and changes.fills and _TO_ANYWHERE.search(" ".join(operands)):
        return denial("folder", judging.protected.environment.prefix)
    if name == "git" and "clean" in operands and (reason := _against_cleaning(judging, operands, changes)):
        return reason
    return (
        first(judging.judge_path(path, whole=True) for path in changes.deletes)
        or first(judging.judge_path(path, whole=True, files=False) for path in changes.replaces)
        or first(map(judging.judge_path, changes.writes))
        or first(judging.judge_path(path, made_by=command) for path in changes.outputs)
        or first(_against_unseen(judging, folder) for folder in changes.fills)
        or (_against_patch(judging, operands, command) if changes.is_patch else "")
        or (_against_copy(judging, name, operands, changes) if changes.sources else "")
        or ("" if changes.is_known else against_unknown(judging, name, operands))
    )


def _against_cleaning(judging: Judging, operands: Sequence[str], changes: Changes) -> str:
    """Judge ``git clean``, which takes environments away if it takes ignored files too."""
    own = judging.protected.environment_name
    is_kept = any(own in word or _IS_TRIED.fullmatch(word) for word in operands)
    if is_kept or not any(map(_CLEANS_ALL.fullmatch, operands)):
        return ""
    return judging.judge_environment(next(iter(changes.deletes), "."))


def against_unknown(judging: Judging, name: str, operands: Sequence[str]) -> str:
    """Judge a program that nobody here knows by the files in its arguments: it may write any of them."""
    if judging.is_guessing or name in programs.KNOWN or name in HOSTS:
        return ""
    words = [part for word in operands for part in (word, word.partition("=")[2]) if part and not part.startswith("-")]
    protected = judging.protected
    is_named = (protected.find(word, judging.cwd) == ALL and not protected.is_own(word, judging.cwd) for word in words)
    return denial("unclear") if any(is_named) else ""


def _against_mount(judging: Judging, option: str, after: str) -> str:
    """Judge a folder that a container gets to write in."""
    given = (found[1] or after) if (found := _MOUNTING.fullmatch(option)) else ""
    source = next(iter(re.findall(r"(?:source|src)=([^,]+)", given)), given.partition(":")[0])
    if not ("/" in source or source[:1] == "~") or _READ_ONLY.fullmatch(given):
        return ""
    place, protected = judging.place_of(source), judging.protected
    is_project = place in (judging.cwd, judging.call.project) and place != expanded("~")
    is_held = protected.is_kept(place) or (not is_project and protected.holds(place, files=False))
    return denial("folder", source) if is_held else ""


def content_of(judging: Judging, command: Command) -> str:
    """Return the texts that the output of ``command`` is made of, with ``UNKNOWN`` if some of it cannot be seen."""
    pipeline = command.pipeline or ("" if command.words else judging.texts[-1])  # of a group, all in the line
    commands = CommandLine(pipeline, judging.cwd, dict(judging.variables)).commands() if pipeline else [command]
    texts: list[str] = []
    for each in commands:
        name, *operands = [word for word in each.words if word not in ("sudo", "doas")] or [":"]
        named = [word for word in operands if not word.startswith("-")]
        files = [*each.sources, *(named if name in ("cat", "jq") else ())]
        read = [read_text(path, judging.cwd) for path in files]
        texts += [*each.documents, *each.sources, *(named if name in ("echo", "printf") else ()), *read]
        is_read = all(read) or (name == "jq" and (any(read) or "-n" in operands or each.pipeline != ""))
        if not is_read or name not in _SHOWING or any(map(_SHOWING[name].search, operands)):
            texts.append(UNKNOWN)
    return _PLACE.sub("", "\n".join((*texts, "".join(texts))))


def _against_unseen(judging: Judging, folder: str) -> str:
    """Judge files of unknown names that are put into ``folder``."""
    if any(map(judging.protected.environment.takes_unseen, forms_of(folder, judging.cwd))):
        return denial("folder", folder)
    return first(judging.judge_path(os.path.join(folder, name)) for name in _UNSEEN)


def reason_against_finding(judging: Judging, program: Program, command: Command) -> str:
    """Judge the removal of files that ``find`` or ``fd`` finds, by its patterns, or else by its folders."""
    found = find_arguments(program, command)
    takes = program.gathers and program.name in programs.REMOVERS | programs.MOVERS
    if not found or not (takes or (program.name == "find" and "-delete" in program.operands)):
        return ""
    starts = list(takewhile(lambda word: not word.startswith(("-", "(", "!")), found)) or ["."]
    pairs = [(*each, before) for before, each in zip(("", *found), pairwise(found), strict=False)
             if _PATTERNS.fullmatch(each[0])]  # fmt: skip
    own = judging.protected.environment_name
    leaves_out = any(own in after for _, after, _ in pairs) and not {"-prune", "-not", "!"}.isdisjoint(found)
    options = [(word.endswith("name") and "whole" not in word, _as_glob(text) if "regex" in word else text)
               for word, text, before in pairs if before not in ("-not", "!")]  # fmt: skip
    patterns = [after for _, after in options]
    if any(judging.protected.is_named_in(each, judging.cwd) for each in patterns):
        return denial("unclear")
    options = options or ([(True, "*")] if leaves_out else [])
    for start in starts if options else ():
        place = os.path.join(judging.cwd, expanded(start))
        for is_name, pattern in options:
            if path := judging.protected.below(place, pattern, is_name=is_name, environment=not leaves_out):
                return denial("file", path)
    if options:
        return first(judging.judge_path(os.path.join(start, each)) for start in starts for each in patterns)
    if "-empty" in found and not any(start.startswith((".claude", "/")) for start in starts):
        return ""
    return first(
        judging.judge_path(start, whole=True, files=not is_below(judging.cwd, judging.place_of(start)))
        for start in starts
    )


def _as_glob(expression: str) -> str:
    """Return the pattern that a simple regular expression of ``find`` stands for."""
    return re.sub(r"\.(?=[*+])|[\\^$]", "", expression)


def find_arguments(program: Program, command: Command) -> Sequence[str]:
    """Return the arguments of the ``find`` in the command or its pipeline, those of ``fd`` as ``find`` takes them."""
    words = command.words
    if program.gathers and command.pipeline and not any(name_of(word) in _FINDERS for word in words):
        line = CommandLine(command.pipeline.partition("|")[0], "", dict(os.environ))
        words = next((each.words for each in line.commands() if each.words), words)
    at = next((at for at, word in enumerate(words) if name_of(word) in _FINDERS), len(words))
    if at == len(words) or name_of(words[at]) == "find":
        return words[at + 1 :]
    operands = takewhile(lambda word: word not in ("-x", "-X", "--exec", "--exec-batch"), words[at + 1 :])
    pattern, *places = [word for word in operands if not word.startswith("-")] or ["*"]
    return [*(places or ["."]), "-name", f"*{pattern}*"]


def _against_copy(judging: Judging, name: str, operands: Sequence[str], changes: Changes) -> str:
    """Judge a copy, move or link: the target gets the sources."""
    sources, target = changes.sources, changes.target
    is_link = name in programs.LINKERS or (name in ("cp", "gcp") and any(map(_HARD_OR_SYMBOLIC.fullmatch, operands)))
    if is_link and (reason := _against_link(judging, sources, target, operands)):
        return reason
    if not target or _REMOTE.match(target):
        return ""
    is_folder = target.endswith("/") or os.path.isdir(judging.place_of(target))
    is_folder = is_folder and not any(map(_AS_FILE.fullmatch, operands))
    linked = judging.links.get(judging.place_of(target), "")  # a link's text counts from its own folder
    seen = "\n".join(read_text(source, judging.cwd) for source in (*sources[:3], linked))
    for source in sources:
        for each in judging.protected.globbed(source, judging.cwd) or [source]:
            tree, last = each.removesuffix("*"), os.path.basename(each.rstrip("/"))
            is_content = each.endswith("/") or last in (".", "*") or name == "rclone"
            path = os.path.join(target, last) if is_folder and not is_content else target
            landed = "" if UNKNOWN in path else judging.protected.lands(tree, path, judging.cwd)
            if landed and (reason := judging.judge_path(landed, seen=seen)):
                return reason
            place = judging.place_of(tree)
            if name in programs.LINKERS and not os.path.isdir(place):  # the text of a link counts from its own folder
                place = judging.place_of(os.path.join(os.path.dirname(path), tree))
            for inner in wiring_in(place, path, judging.cwd) if os.path.isdir(place) and UNKNOWN not in path else ():
                text, made = read_text(os.path.join(place, inner)), os.path.join(path, inner)
                if judging.protected.find(made, judging.cwd) == ALL:  # through the link, too
                    return denial("file", made)
                if reason := judging.judge_path(made, seen=text):
                    return reason
            if not os.path.lexists(judging.place_of(tree)) and (reason := _against_unseen(judging, path)):
                return reason
    if not is_folder and judging.protected.holds(target, judging.cwd, files=False):
        return denial("folder", target)
    return judging.judge_path(target, seen=seen)


def _against_link(judging: Judging, sources: Sequence[str], target: str, operands: Sequence[str]) -> str:
    """Judge a second name for a file, and a link in the place of something else."""
    is_symbolic = any(map(_SYMBOLIC.match, operands))
    for source in sources:
        # What is written through a symbolic link is seen when that is done.
        is_own = is_symbolic and judging.protected.is_own(source, judging.cwd)
        if not is_own and (reason := judging.judge_path(source)):
            return reason
    place = judging.place_of(target) if target else ""
    if is_symbolic and len(sources) == 1 and target:
        judging.links[place] = os.path.normpath(os.path.join(os.path.dirname(place), expanded(sources[0])))
    is_replaced = os.path.islink(place) or any(re.fullmatch(r"-[A-Za-z]*[nT][A-Za-z]*", word) for word in operands)
    return judging.judge_path(target, whole=True) if target and is_replaced else ""


def _against_patch(judging: Judging, operands: Sequence[str], command: Command) -> str:
    texts = [read_text(path, judging.cwd) for path in (*operands, *command.sources, *command.pipeline.split())]
    text = "\n".join((*texts, command.body, command.pipeline, *operands))
    strips = {0, 1, *map(int, re.findall(r"(?:^|\n)(?:-p|--strip=)\s*(\d+)", "\n".join(operands)))}
    for path in _PATCHED.findall(text):
        for name in {"/".join(path.strip().split("/")[strip:]) for strip in strips} - {""}:
            if reason := judging.judge_path(name, seen=text):
                return reason
    return ""
