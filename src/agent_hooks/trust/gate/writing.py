"""Judges the files that a program writes, moves or removes, as far as its arguments name them."""

from __future__ import annotations

import os
import re
from itertools import pairwise, takewhile

from agent_hooks.shell import programs
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
    from collections.abc import Iterable, Sequence

    from agent_hooks.shell.commands import Command

    from .shell import Judging, Program

_PATTERNS = Pattern(r"-(?:i?name|i?path|i?wholename|i?regex)")
_DOWNLOADERS = frozenset("curl wget aria2c".split())
_REMOTE_NAME = Pattern(r"-[A-Za-z]*O|--remote-name(?:-all)?")
# What a file of an unknown name may be.
_UNSEEN = ("", "settings.json", "entry_points.txt", ".claude-plugin/plugin.json")
_CLONERS = frozenset("gh hub glab hg".split())
_REMOTE = Pattern(r"[\w.@-]{2,}:")
_WRITTEN_BY_SED = Pattern(r"\bw\s+(\S+)")
_PATCHED = Pattern(r"^(?:\+\+\+|---|rename to|copy to|\*\*\* \w+ File:|\*\*\* Move to:) ?([^\t\n]+)", re.MULTILINE)
_SYMBOLIC = Pattern(r"-[A-Za-z]*s|--symbolic|/[dj]$", re.IGNORECASE)
_HARD_OR_SYMBOLIC = Pattern(r"-[A-Za-z]*[ls][A-Za-z]*|--link|--symbolic-link")  # options of cp
_SCRIPT_OPTION = Pattern(r"-[A-Za-z0-9]*[ef]|--expression|--file")
_EXTRACTING = Pattern(r"^[a-zA-Z]*x|(?:^|\s)-[a-zA-Z]*x|--extract|--get")
_TO_ANYWHERE = Pattern(r"^[a-zA-Z]*P|(?:^|\s)-[^\WCfTX]*P|--absolute-(?:names|paths)")
# They remove what they have packed: `tar --remove-files`, `zip -m`.
_TAKES_PACKED = Pattern(r"--remove-files|--move|-[a-zA-Z]*m")
# Modes with which the owner can no longer read or enter a folder.
_LOCKING_MODE = Pattern(r"[0-7]?[012346][0-7]{2}|[0-7]{1,2}|[ua]*-\w*[rxX]\w*")
# Options that name an output, or the folder for it, with their value in the next word, and in the same one.
_OUTPUT = Pattern(r"-[A-Za-z]*[oO]|--?out(?:put(?:-document|-file)?|file)?")
_OUTPUT_VALUE = Pattern(r"(?:--?(?:log-file|out(?:put(?:-document|-file)?|file)?)=|-[A-Za-z]*?[oOL]=?)(.+)")
# Of programs that read their other operands.
_OUTPUT_OF = {
    **dict.fromkeys(("sed", "sort", "less"), _OUTPUT),
    "psql": Pattern(r"-\w*[oL]|--output|--log-file"),
    "find": Pattern(r"-f(?:print[0f]?|ls)"),
    "ctags": Pattern(r"-\w*[of]"),
}
_FOLDER_VALUE = Pattern(r"(?:--(?:directory(?:-prefix)?|output-dir|dir)=|-[oC])(.+)")
_AS_FILE = Pattern(r"-[a-zA-Z]*T|--no-target-directory")
_TO_FOLDER = Pattern(r"-[A-Za-z]*t|--target-directory(?:=(.*))?")
_IN_PLACE = Pattern(r"-i|--in-?place|--write\b|-w$|--fix\b|--overwrite\b|--set\b|--del\b")
_IN_PLACE_OF = {
    "sed": Pattern(r"-[nErsuz]*i|--in-place"),
    **dict.fromkeys(programs.AWKS, Pattern(r"-?i?inplace$")),
    **dict.fromkeys(("perl", "ruby"), Pattern(r"-[A-Za-z0-9]*i")),
}
_FORMATTING = frozenset("format fmt fix set put write edit".split())  # subcommands
_ONLY_CHECKS = frozenset("--check --diff --dry-run --check-only".split())
# Their options `-i` and `-w` change nothing in place.
_KEEPING = frozenset[str]().union(
    *(programs.READERS, programs.CLIENTS, programs.GATHERERS, programs.CARRIERS, programs.INTERPRETERS),
    *(programs.SHELLS, programs.TEXT_RUNNERS, programs.MANAGERS, ("make",)),
)
# What makes a client of a database write a file, or start a program.
_WRITING_SQL = Pattern(
    r"(?:^|['\"\n])\s*[.\\](?!tables|schema|headers|mode|d)|\\[og!]|\bcopy\b|writefile|\battach\b|vacuum\s+into|into\s+(?:out|dump)",
    re.IGNORECASE,
)
_MOUNTING = Pattern(r"(?:-[a-z]*v|--volume|--mount)=?(.*)")
_READ_ONLY = Pattern(r"[^,=]*:[^:]*:(?:.*,)?ro(?:,.*)?|\w+(?:=.*)?,(?:readonly|ro)(?:=(?:true|1))?(?:,.*)?")
_KEEPING_INPUT = frozenset(("tee", "sponge"))
# Programs that print the texts they are given, with the arguments that make other texts of them.
_SHOWING = {
    **dict.fromkeys((":", "true", "cat", *_KEEPING_INPUT), Pattern(r"(?!)")),
    "echo": Pattern(r"\\[x0-9]"),
    "printf": Pattern(r"""%[^s]|\S%s|%s[^\s\\]|\\[^nt"]"""),
    "jq": Pattern(
        r"^-\w*f|^--from|\+(?!\s*[{\[])|[\\@$]|\[.*:"
        r"|\b(?:join|implode|g?sub|env|inputs?|(?:to|from)json|tostring|[lr]trimstr|ascii\w*)\b"
    ),
}
_PLACE = Pattern(rf"{UNKNOWN}\$\((?:pwd|which [\w.-]+|command -v [\w.-]+)\)")  # its text can be no setting
_FINDERS = frozenset(("find", "fd", "fdfind"))
_FILTERS = frozenset("uniq xxd objcopy convert magick".split())  # they write the last of two operands or more
_GIT_WRITERS = frozenset("checkout restore stash clean rm mv apply am checkout-index reset".split())
_CLEANS_ALL = Pattern(r"\s-[a-z]*[xX]")  # ignored files too, as environments are
_IS_TRIED = Pattern(r"\s(?:-[a-zA-Z]*n|--dry-run)")


def reason_against_writing(judging: Judging, program: Program, command: Command) -> str:
    """Return why ``program`` is denied, if it writes something protected."""
    name, operands = program.name, program.operands
    files = _files_of(name, operands)
    mounts = () if programs.MOUNTING.isdisjoint(map(name_of, command.words)) else pairwise((*command.words, ""))
    if reason := first(_against_mount(judging, *pair) for pair in mounts):
        return reason
    if name == "git" or (name in _CLONERS and "clone" in operands):
        return _against_git(judging, operands, command)
    is_packing = name == "zip" or (name in programs.TARS and not _EXTRACTING.search(" ".join(operands)))
    if name in programs.REMOVERS or (is_packing and any(map(_TAKES_PACKED.fullmatch, operands))):
        return first(judging.judge_path(path, whole=True) for path in files)
    if is_packing:
        return ""
    if name in programs.SQL and _WRITING_SQL.search(code := "\n".join((*operands, command.body, command.pipeline))):
        return first(map(judging.judge_path, judging.protected.paths_in(code)))
    if name in programs.MOVERS or name in programs.COPIERS:
        return _against_copy(judging, name, operands, files)
    if name in ("patch", "apply_patch"):
        return first(map(judging.judge_path, files)) or _against_patch(judging, files, operands, command)
    if name in programs.UNPACKERS or name in _DOWNLOADERS:
        return _against_placing(judging, name, operands, files, command)
    if name in ("chmod", "chown"):
        takes = any(map(_LOCKING_MODE.fullmatch, operands[:2] if operands[:1] != ["-R"] else operands[1:2]))
        return first(judging.judge_path(path, whole=takes, files=not takes) for path in files)
    if name in _FILTERS:
        files = files[-1:] if len(files) > 1 else []
    elif not changes_files(name, operands):
        if reason := against_unknown(judging, name, operands):
            return reason
        files = []
    written = _WRITTEN_BY_SED.findall(" ".join(operands)) if name == "sed" else []
    written += (
        _outputs_of(operands, name) if name not in programs.READERS | programs.CLIENTS or name in _OUTPUT_OF else []
    )
    made_by = command if name == "dd" or name in _KEEPING_INPUT else None
    reason = first(judging.judge_path(path, made_by=made_by) for path in files)
    return reason or first(judging.judge_path(path, made_by=command) for path in written)


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


def _outputs_of(operands: Sequence[str], name: str = "") -> list[str]:
    """Return the files that options name as the output."""
    following = [after for word, after in pairwise(operands) if _OUTPUT_OF.get(name, _OUTPUT).fullmatch(word)]
    return following + [found[1] for word in operands if (found := _OUTPUT_VALUE.match(word))]


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


def _against_unseen(judging: Judging, folder: str) -> str:
    """Judge files of unknown names that are put into ``folder``."""
    if any(map(judging.protected.environment.takes_unseen, forms_of(folder, judging.cwd))):
        return denial("folder", folder)
    return first(judging.judge_path(os.path.join(folder, name)) for name in _UNSEEN)


def _against_placing(
    judging: Judging, name: str, operands: Sequence[str], files: Sequence[str], command: Command
) -> str:
    """Judge the files of an archive or a server, which have names of their own, by the folders they are put in."""
    if name in programs.TARS and _TO_ANYWHERE.search(" ".join(operands)):
        return denial("folder", judging.protected.environment.prefix)
    names: list[str] = []
    if name in _DOWNLOADERS:
        is_named = name != "curl" or any(map(_REMOTE_NAME.fullmatch, operands))
        names = [word.partition("?")[0].rpartition("/")[2] for word in files if "://" in word and is_named]
        names += _outputs_of(operands)
    folders = [word for word in files if "://" not in word]
    folders += [found[1] for word in operands if (found := _FOLDER_VALUE.match(word))]
    reason = first(judging.judge_path(path, made_by=command) for path in names)
    return reason or first(_against_unseen(judging, each) for each in folders)


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


def _against_git(judging: Judging, operands: Sequence[str], command: Command) -> str:
    words = list(operands)
    while words and words[0].startswith("-"):
        del words[: 2 if words[0] in ("-C", "-c", "--work-tree") else 1]
    verb, text = words[0] if words else "", " ".join(words)
    files = [word.removeprefix(":/") for word in words[1:] if not word.startswith("-")]
    if "clone" in words[:2]:  # the name that the address ends with, if no other one is given
        files = files[1:] if verb != "clone" else files
        own = [re.split("[/:]", address.rstrip("/"))[-1].removesuffix(".git") for address in files[:1]]
        return first(_against_unseen(judging, place) for place in (*files[1:], *own))
    if words[:2] in (["worktree", "add"], ["submodule", "add"]):
        return first(_against_unseen(judging, word) for word in files[1:])
    if verb not in _GIT_WRITERS:
        named = [after for word, after in pairwise(words) if word in ("-f", "--file") and verb == "config"]
        return first(map(judging.judge_path, (*named, *_outputs_of(words))))
    if reason := _against_unseen(judging, "."):
        return reason
    if verb in ("apply", "am"):
        return _against_patch(judging, files, words, command)
    if verb == "reset" or "--cached" in words or ("--staged" in words and "--worktree" not in words):
        return ""  # only the index
    if verb == "clean":
        kept = re.findall(r"(?:\s-[a-zA-Z]*e|--exclude)[ =](\S+)", text)
        files = [path for path in files if path not in kept]
        is_kept = any(judging.protected.environment_name in each for each in kept) or _IS_TRIED.search(text)
        if _CLEANS_ALL.search(text) and not is_kept and (reason := judging.judge_environment((files or ["."])[0])):
            return reason
    removes = verb in ("rm", "mv", "clean")
    reason = first(judging.judge_path(path, whole=True, files=removes) for path in files)
    return reason or (_against_copy(judging, "mv", words[1:], files) if verb == "mv" else "")


def _against_copy(judging: Judging, name: str, operands: Sequence[str], files: Sequence[str]) -> str:
    """Judge a copy, move or link: the target gets the sources, and a move takes them away."""
    target = ""
    for word, after in pairwise((*operands, "")):
        if name != "rsync" and (found := _TO_FOLDER.fullmatch(word)):  # its -t means something else
            target = found[1] or after
    sources = [path for path in files if path != target] if target else files[:-1]
    target = target or (files[-1] if len(files) > 1 else "")
    is_link = name in programs.LINKERS or (name in ("cp", "gcp") and any(map(_HARD_OR_SYMBOLIC.fullmatch, operands)))
    if is_link and (reason := _against_link(judging, sources or files, target, operands)):
        return reason
    if name in programs.MOVERS and (reason := first(judging.judge_path(path, whole=True) for path in sources)):
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


def _against_patch(judging: Judging, files: Iterable[str], operands: Sequence[str], command: Command) -> str:
    texts = [read_text(path, judging.cwd) for path in (*files, *command.sources, *command.pipeline.split())]
    text = "\n".join((*texts, command.body, command.pipeline, *operands))
    strips = {0, 1, *map(int, re.findall(r"(?:^|\n)(?:-p|--strip=)\s*(\d+)", "\n".join(operands)))}
    for path in _PATCHED.findall(text):
        for name in {"/".join(path.strip().split("/")[strip:]) for strip in strips} - {""}:
            if reason := judging.judge_path(name, seen=text):
                return reason
    return ""
