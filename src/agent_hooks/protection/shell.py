"""What is denied of shell commands. Best effort: a shell can hide anything from who only reads what it is told.

What gets through changes files that nobody trusts then: the digests of a project catch it. This is so that an agent is
told at once, and that the user's own files, which no digest covers, are not changed in passing.
"""

from __future__ import annotations

import os
import re
from itertools import pairwise, takewhile

from .lines import Command, braces_expanded, commands_in, plain_words, with_variables
from .paths import ALL, mentions_part, part_of, read_text
from .reasons import for_file, for_own_command, for_part, for_unclear
from .words import (
    AWKS,
    COPIERS,
    DECLARERS,
    EDITORS,
    FORMATTERS,
    FORMATTING,
    GATHERERS,
    GIT_RUNNERS,
    GIT_RUNNING,
    GIT_WRITERS,
    HARMLESS_OPTIONS,
    INTERPRETERS,
    KEYWORDS,
    LINKERS,
    LOOKING,
    MOVERS,
    PACKAGE_MANAGERS,
    READERS,
    REMOVERS,
    RUNNING,
    SHELLS,
    SUSPICIOUS,
    TAKERS,
    UNINSTALLING,
    WRAPPERS,
    WRITERS,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from .paths import ProtectedPaths

_MAX_DEPTH = 8  # commands within commands
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=(.*)", re.DOTALL)
_OURS = frozenset(("agent-hooks", "agent_hooks", "agent-hooks-core"))
_GRANTING = frozenset(("trust", "untrust", "allow", "uninstall"))
_SETTING = re.compile(r"^[\w-]+(?:\.[\w-]+)+=")  # what git -c sets
_SUBCOMMANDS = _GRANTING | {"check", "demo", "doctor", "events", "plugins", "run", "schema"}
_ONLY_SHOWS = frozenset(("--show", "--diff", "--json", "--help", "-h"))
_IN_CODE = re.compile(
    r"""agent[-_]hooks(?:\.exe)?[\s'",\]\[()]+(?:-[\w=-]+[\s'",]+)*(?:trust|untrust|allow|uninstall)\b"""
    r"""|uninstall[\s'",]+(?:-[\w-]+[\s'",]+)*agent[-_]hooks"""
)
_SCRIPTED = frozenset(("sed", "perl", "ruby"))
_SCRIPT_OPTION = re.compile(r"-[A-Za-z0-9]*e|--expression|-f|--file")
_IN_PLACE = re.compile(r"-i|--in-?place|--write\b|-w$|--fix\b|--overwrite\b")
_SED_IN_PLACE = re.compile(r"-[nErsuz]*i|--in-place")
_CLUSTER_IN_PLACE = re.compile(r"-[A-Za-z0-9]*i")
_INLINE = re.compile(r"-[A-Za-z]*[ceErRp]$|-[ce].|--(?:eval|print|command|exec)\b|-Command$|-l?ne$", re.IGNORECASE)
_OUTPUT = re.compile(r"-[A-Za-z]*[oO]|--out(?:put(?:-document|-file)?|file)?")
_STRING = re.compile(r"""(?<![fF])(?<![fF][rR])(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""", re.DOTALL)
_MODE = re.compile(r"""['"][rbtU]*[wax+][rbtwax+]*['"]""")
_IDENTIFIER = re.compile(r"(\.?)\b([^\W\d]\w*)")
_BOUND = re.compile(r"\b(?:for|as|const|let|var|lambda)\s+([^\W\d]\w*)|(?<!\.)\b([^\W\d]\w*)\s*=(?![=>])")
_UNKNOWN = re.compile(r"\$(?:$|[\w{(@*#?!-])|`|^\{\}$")
_COMPUTED = re.compile(r"(?<!\$)\$(?:$|[\d(@*])|`|^\{\}$")  # positions, substitutions, what find and xargs put in
_NAMES = re.compile(r"\$\{?([A-Za-z_]\w*)")
_PATTERN_OPTIONS = frozenset("-name -iname -path -ipath -wholename -iwholename -regex -iregex".split())
_REMOTE_NAME = re.compile(r"-[A-Za-z]*O|--remote-name(?:-all)?")
_TO_FOLDER = re.compile(r"-[A-Za-z]*t|--target-directory")
_REMOTE = re.compile(r"[\w.@-]{2,}:")
_WRITTEN_BY_SED = re.compile(r"\bw\s+(\S+)")
_PATCHED = re.compile(r"^(?:\+\+\+|---|rename to|copy to|\*\*\* \w+ File:|\*\*\* Move to:) ?([^\t\n]+)", re.MULTILINE)


def reason_against(text: str, cwd: str, protected: ProtectedPaths) -> str:
    """Return why the shell command ``text``, run in ``cwd``, is denied; an empty string if it is not."""
    return _Reading(text, cwd, protected).judge(text)


class _Reading:
    """One command line while it is read: where it has changed to, and the variables it has set."""

    def __init__(self, text: str, cwd: str, protected: ProtectedPaths) -> None:
        self._texts: list[str] = []  # what is read, and within it what is read now
        self._protected = protected
        self._places = [cwd]  # by how many parentheses are open
        self._variables = {name: value for name, value in os.environ.items() if name in text}
        self._computed: set[str] = set()  # the variables that get a value which only running it would tell
        self._budget = 100_000 + 10 * len(text)  # characters: words within words can make up any number of them
        self._upstream = ""
        self._named: dict[str, bool] = {}  # whether a text names something protected, once found out

    @property
    def _cwd(self) -> str:
        return self._places[-1]

    def judge(self, text: str) -> str:
        self._budget -= len(text)
        try:
            commands = commands_in(text) if len(self._texts) < _MAX_DEPTH and self._budget > 0 else None
        except ValueError:
            commands = None
        if commands is None:
            return self._judge_unreadable(text)
        outside = self._places, self._upstream
        self._places, self._upstream = [self._cwd], ""
        self._texts.append(text)
        try:
            return _first(self._judge_command(command) for command in commands)
        finally:
            self._texts.pop()
            self._places, self._upstream = outside

    def _judge_unreadable(self, text: str) -> str:
        if _IN_CODE.search(text):
            return for_own_command("This command")
        is_writing = ">" in text or not SUSPICIOUS.isdisjoint(re.findall(r"[\w.-]+", text.casefold()))
        return for_unclear() if is_writing and self._protected.is_named_in(text, self._cwd) else ""

    # -- one simple command ------------------------------------------------------------------------------------------

    def _judge_command(self, command: Command) -> str:
        while len(self._places) <= command.level:
            self._places.append(self._cwd)
        del self._places[command.level + 1 :]
        upstream = self._upstream if command.piped else ""
        words = self._own_words(command.words)
        self._upstream = "\n".join((upstream, command.body, " ".join(words[1:]), *words[1:])).replace("\\n", "\n")
        reason = _first(self._judge_target(target) for target in command.targets)
        reason = reason or _first(self.judge(inner) for inner in command.inner)
        if reason or not words:
            return reason
        self._follow(words)
        return self._judge_own_command(words, upstream) or _first(
            self._judge_program(program, words, command, upstream) for program in _programs(words)
        )

    def _judge_program(self, program: _Program, words: Sequence[str], command: Command, upstream: str) -> str:
        reads = not _gives_script(program.operands) or (program.gathers and program.name in SHELLS)
        fed = f"{upstream}\n{command.body}" if reads else ""
        given = "\n".join((*words, *upstream.split()))
        if program.gathers and _writes(program.name) and self._protected.is_named_in(given, self._cwd):
            return for_unclear()
        return (
            self._judge_code(program, fed)
            or self._judge_nested(program, words)
            or self._judge_writing(program, command, upstream)
        )

    def _own_words(self, words: Iterable[str]) -> list[str]:
        """Return the words without keywords and assignments before the program, with variables and braces expanded."""
        found: list[str] = []
        for word in words:
            if "$" in word:
                word = with_variables(word, self._variables)
            if not found:
                if word in KEYWORDS:
                    continue
                if self._assign(word):
                    continue
            found += braces_expanded(word) if "{" in word else [word]
        if found and found[0] in DECLARERS:
            for word in found[1:]:
                self._assign(word)
        elif found and found[0] in TAKERS:
            self._computed.update(found[1:])
        elif len(found) > 3 and found[0] == "for":
            self._assign(f"{found[1]}={found[3] if len(found) == 4 else '{' + ','.join(found[3:]) + '}'}")
        return found

    def _assign(self, word: str) -> bool:
        assigned = _ASSIGNMENT.fullmatch(word)
        if assigned is None:
            return False
        self._variables[assigned[1]] = assigned[2]
        if _is_unknown(assigned[2]):
            self._computed.add(assigned[1])
        return True

    def _follow(self, words: Sequence[str]) -> None:
        places = [word for word in words[1:] if word == "-" or not word.startswith("-")]
        if words[0] in ("cd", "pushd") and len(places) <= 1 and "-" not in places:
            place = places[0] if places else "~"
            if not _is_unknown(place):
                self._places[-1] = os.path.join(self._cwd, os.path.expanduser(place))

    # -- our own command ---------------------------------------------------------------------------------------------

    def _judge_own_command(self, words: Sequence[str], upstream: str) -> str:
        program = _name(words[0])
        if program in READERS or (_writes(program) and program not in EDITORS and program != "find"):
            return ""
        if program == "git" and not _git_runs(words):
            return ""
        if program in GATHERERS:
            words = [*words, *upstream.split()]
        for at, word in enumerate(words):
            if not _is_ours(word):
                continue
            rest = words[at + 1 :]
            subcommand = next((each for each in rest if each in _SUBCOMMANDS), "")
            shows = not _ONLY_SHOWS.isdisjoint(rest) and not any(each.startswith("--digest") for each in rest)
            if subcommand in _GRANTING and not (subcommand == "trust" and shows):
                return for_own_command(f"`agent-hooks {subcommand}`")
            if not subcommand and any(map(_is_unknown, rest)) and not _GRANTING.isdisjoint(self._plain_words()):
                return for_own_command("This use of `agent-hooks`")
            if subcommand == "doctor" and any(each.startswith("--ignore") for each in rest):
                return for_own_command("`agent-hooks doctor --ignore`")
        folded = [word.casefold() for word in words]
        uninstalls = not UNINSTALLING.isdisjoint(folded) and any(_name(word) in PACKAGE_MANAGERS for word in folded)
        if uninstalls and any(word.replace("_", "-").startswith("agent-hooks") for word in folded):
            return for_own_command("Uninstalling agent-hooks")
        return ""

    # -- commands and code in words ----------------------------------------------------------------------------------

    def _judge_nested(self, program: _Program, words: Sequence[str]) -> str:
        name, operands = program.name, program.operands
        if words[0] == "eval":
            return self.judge(" ".join(words[1:]))
        is_known = name in READERS or name in INTERPRETERS or _writes(name) or name == "git"
        if is_known and name not in EDITORS and not (name == "git" and _git_runs(operands)):
            return ""
        texts = (word for word in operands if any(mark in word for mark in " \t\n;|&>"))
        return _first(self.judge(_SETTING.sub("", text).lstrip(":!")) for text in texts)

    def _judge_code(self, program: _Program, fed: str) -> str:
        name, operands = program.name, program.operands
        if name in SHELLS or name in GATHERERS:
            return self.judge(fed) if fed.strip() else ""
        if name not in INTERPRETERS:
            return ""
        code = fed
        if name in AWKS or any(_INLINE.match(word) for word in operands):
            code += "\n".join(word for word in operands if any(mark in word for mark in " (;=\n>"))
        if _IN_CODE.search(code):
            return for_own_command("This code")
        if not code.strip() or _only_looks(name, code):
            return ""
        if self._protected.is_named_in(code, self._cwd):
            return for_unclear()
        return _first(self._judge_path(path) for path in self._protected.paths_in(code))

    # -- writing -----------------------------------------------------------------------------------------------------

    def _judge_writing(self, program: _Program, command: Command, upstream: str) -> str:
        name, operands = program.name, program.operands
        files = _files(name, operands)
        if name == "git":
            return self._judge_git(operands, command, upstream)
        if name in REMOVERS:
            return _first(self._judge_path(path, whole=True) for path in files)
        if name == "find":
            return self._judge_find(operands) if "-delete" in operands else ""
        if name in MOVERS or name in COPIERS or name in LINKERS:
            return self._judge_copy(name, operands, files)
        if name in ("patch", "apply_patch"):
            return _first(map(self._judge_path, files)) or self._judge_patch(files, operands, command, upstream)
        if name == "dd":
            return _first(self._judge_path(word[3:]) for word in operands if word.startswith("of="))
        if name in WRITERS:
            return _first(map(self._judge_path, files))
        if name == "tar" and operands and re.match(r"-?[a-zA-Z]*x|--extract|--get", " ".join(operands)):
            # Of a folder it is what would be put into it.
            return _first(
                self._judge_path(os.path.join(path, each)) for path in files for each in ("", "settings.json")
            )
        if name in READERS:
            return ""
        if name == "wget" or (name == "curl" and any(_REMOTE_NAME.fullmatch(word) for word in operands)):
            addresses = (word.partition("?")[0] for word in files if "://" in word)
            if reason := _first(self._judge_path(address.rpartition("/")[2]) for address in addresses):
                return reason
        if _changes_in_place(name, operands):
            return _first(map(self._judge_path, files))
        outputs = _WRITTEN_BY_SED.findall(" ".join(operands)) if name == "sed" else _outputs(operands)
        return _first(map(self._judge_path, outputs))

    def _judge_find(self, operands: Sequence[str]) -> str:
        """Judge what ``find … -delete`` takes away: what its patterns say, else all that it starts from."""
        starts = list(takewhile(lambda word: not word.startswith(("-", "(", "!")), operands)) or ["."]
        patterns = [after for word, after in pairwise(operands) if word in _PATTERN_OPTIONS]
        if any(self._protected.is_named_in(each, self._cwd) for each in patterns):
            return for_unclear()
        if patterns:
            return _first(self._judge_path(os.path.join(start, each)) for start in starts for each in patterns)
        return _first(self._judge_path(start, whole=True, files=False) for start in starts)

    def _judge_git(self, operands: Sequence[str], command: Command, upstream: str) -> str:
        words = list(operands)
        place = self._cwd
        while len(words) > 1 and words[0].startswith("-"):
            if words[0] == "-C":
                self._places[-1] = os.path.join(self._cwd, os.path.expanduser(words[1]))
            words = words[2 if words[0] in ("-C", "-c") else 1 :]
        try:
            if not words or words[0] not in GIT_WRITERS:
                return _first(map(self._judge_path, _outputs(words)))
            subcommand, files = words[0], [word.removeprefix(":/") for word in words[1:] if not word.startswith("-")]
            if subcommand in ("apply", "am"):
                return self._judge_patch(files, words, command, upstream)
            if "--cached" in words or ("--staged" in words and "--worktree" not in words):
                return ""  # only what is to be committed
            removes = subcommand in ("rm", "mv", "clean")
            found = _first(self._judge_path(path, whole=True, files=removes) for path in files)
            return found or (self._judge_copy("mv", words[1:], files) if subcommand == "mv" else "")
        finally:
            self._places[-1] = place

    def _judge_copy(self, name: str, operands: Sequence[str], files: Sequence[str]) -> str:
        """Judge what the last of ``files``, or the folder that an option names, gets from the others, and what a move
        takes away.
        """
        target = next((word.partition("=")[2] for word in operands if word.startswith("--target-directory=")), "")
        if not target and name != "rsync":  # its -t means something else
            target = next((after for word, after in pairwise(operands) if _TO_FOLDER.fullmatch(word)), "")
        sources = [path for path in files if path != target] if target else files[:-1]
        target = target or (files[-1] if len(files) > 1 else "")
        if name in LINKERS and (reason := _first(map(self._judge_path, files))):
            return reason
        if name in MOVERS and (reason := _first(self._judge_path(path, whole=True) for path in sources)):
            return reason
        if not target or _REMOTE.match(target):
            return ""
        is_folder = target.endswith("/") or os.path.isdir(os.path.join(self._cwd, os.path.expanduser(target)))
        seen = "\n".join(read_text(source, self._cwd) for source in sources[:3])
        for source in sources:
            globbed = self._protected.globbed(source, self._cwd) if _is_glob(source) else []
            for each in globbed or [source]:
                last = os.path.basename(each.rstrip("/"))
                is_content = each.endswith("/") or last in (".", "*")
                path = os.path.join(target, last) if is_folder and not is_content else target
                tree = each.removesuffix("*")
                landed = "" if _is_unknown(path) else self._protected.lands(tree, path, self._cwd)
                if landed and (reason := self._judge_path(landed, seen=seen)):
                    return reason
        if not is_folder and self._protected.holds(target, self._cwd, files=False):
            return for_file(target)  # the folder itself, with whatever is in it
        return self._judge_path(target, seen=seen)

    def _judge_patch(self, files: Iterable[str], operands: Sequence[str], command: Command, upstream: str) -> str:
        inputs = [after for word, after in pairwise(operands) if word in ("-i", "--input")]
        texts = [read_text(path, self._cwd) for path in (*files, *inputs, *command.sources)]
        text = "\n".join((*texts, command.body, upstream, *operands))
        for path in _PATCHED.findall(text):
            for name in {path.strip(), path.strip().partition("/")[2]} - {""}:
                if reason := self._judge_path(name, seen=text):
                    return reason
        return ""

    def _judge_target(self, target: str) -> str:
        target = with_variables(target, self._variables) if "$" in target else target
        return _first(self._judge_path(each) for each in braces_expanded(target))

    def _judge_path(self, path: str, *, whole: bool = False, files: bool = True, seen: str = "") -> str:
        """Return why ``path`` is not written; ``whole``: nor is a folder with such a file in it taken away."""
        if not path:
            return ""
        if _is_unknown(path):
            return for_unclear() if self._may_mean_protected(path) else ""
        paths = [path, *(self._protected.globbed(path, self._cwd) if _is_glob(path) else ())]
        for each in paths:
            part = self._protected.find(each, self._cwd)
            if part == ALL or (whole and self._protected.holds(each, self._cwd, files=files)):
                return for_file(each)
            if part and self._changes_part(part, each, seen):
                return for_part(part, each, seen=False)
        return ""

    def _may_mean_protected(self, word: str) -> bool:
        """Whether what only running the command would tell about ``word`` may be a name that is in the text."""
        if self._protected.is_named_in(word, self._cwd):
            return True
        names = set(_NAMES.findall(word))
        if not _COMPUTED.search(word) and names.isdisjoint(self._computed) and names.isdisjoint(self._variables):
            return False
        return any(map(self._names_protected, self._texts))

    def _plain_words(self) -> set[str]:
        return {word for text in self._texts for word in plain_words(text)}

    def _names_protected(self, text: str) -> bool:
        if text not in self._named:
            self._named[text] = self._protected.is_named_in("\n".join(plain_words(text)), self._cwd)
        return self._named[text]

    def _changes_part(self, part: str, path: str, seen: str) -> bool:
        try:
            has_part = bool(part_of(part, read_text(path, self._cwd))) or bool(seen and part_of(part, seen))
        except ValueError:
            has_part = True
        return has_part or mentions_part(part, self._texts[0])


# -- reading words -----------------------------------------------------------------------------------------------------


def _first(reasons: Iterable[str]) -> str:
    return next((reason for reason in reasons if reason), "")


def _name(word: str) -> str:
    """Return a program's name without folder, ``.exe`` and version."""
    name = word.replace("\\", "/").rpartition("/")[2].casefold().removesuffix(".exe")
    return name if name in _KNOWN else name.rstrip("0123456789.") or name


_KNOWN = READERS | SHELLS | INTERPRETERS | SUSPICIOUS | FORMATTERS | {"git", "find", "ruff"}


class _Program:
    """A program that a simple command may run in the end: its ``name``, what it is given (``operands``), and whether it
    gets more from elsewhere (``gathers``).
    """

    def __init__(self, words: Sequence[str], *, gathers: bool = False) -> None:
        self.name = _name(words[0])
        self.operands = words[1:]
        self.gathers = gathers


def _programs(words: Sequence[str], *, gathers: bool = False) -> list[_Program]:
    """Return what a simple command may run: two, if a wrapper's options can be read in two ways."""
    name, operands = _name(words[0]), words[1:]
    if name in INTERPRETERS:
        return [_Program(_module(operands) or words, gathers=gathers)]
    if name == "find":
        at = next((at for at, word in enumerate(operands) if word.startswith(("-exec", "-ok"))), len(operands))
        if operands[at + 1 :]:
            return _programs(operands[at + 1 :], gathers=True)
        return [_Program(words)]
    if name not in WRAPPERS:
        return [_Program(words, gathers=gathers)]
    gathers = gathers or name in GATHERERS
    found: list[_Program] = []
    for at, word in enumerate(operands):
        inner = _name(word)
        gathers = gathers or inner in GATHERERS
        if inner in _KNOWN and not _ASSIGNMENT.fullmatch(word):
            found += _programs(operands[at:], gathers=gathers)
            if at == 0 or not operands[at - 1].startswith("-"):
                break  # behind an option it may also be that option's value
    return found or [_Program(words, gathers=gathers)]


def _module(operands: Sequence[str]) -> Sequence[str]:
    """Return the module that Python is told to run by ``-m``, with what it is given; nothing without one."""
    for at, word in enumerate(operands):
        if word.startswith("-m"):
            return [word[2:], *operands[at + 1 :]] if len(word) > 2 else operands[at + 1 :]
        if word.startswith("-c") or not (word.startswith("-") or operands[at - 1] in ("-W", "-X")):
            break
    return ()


def _git_runs(words: Sequence[str]) -> bool:
    return not GIT_RUNNING.isdisjoint(words) or not GIT_RUNNERS.isdisjoint(words)


def _is_ours(word: str) -> bool:
    word = word.replace("\\", "/").casefold()
    if word.endswith(("agent_hooks/cli/main.py", "agent_hooks/__main__.py")):
        return True
    name = re.split(r"[@=\[<>~]", word.rpartition("/")[2].lstrip(":!").removeprefix("-m").removesuffix(".exe"))[0]
    return name in _OURS or name.startswith("agent_hooks.")


def _gives_script(operands: Sequence[str]) -> bool:
    """Whether an interpreter is given what it runs by its arguments, and does not read it from its input."""
    if "-s" in operands:
        return False
    return any(not word.startswith("-") for word in operands) or any(_INLINE.match(word) for word in operands)


def _is_unknown(word: str) -> bool:
    return _UNKNOWN.search(word) is not None


def _is_glob(word: str) -> bool:
    return "*" in word or "?" in word or "[" in word


def _files(name: str, operands: Sequence[str]) -> list[str]:
    """Return what is given to a program that is neither an option nor a script."""
    files = [
        word
        for before, word in zip(("", *operands), operands, strict=False)
        if word and not word.startswith("-") and not (name in _SCRIPTED and _SCRIPT_OPTION.fullmatch(before))
    ]
    has_option = any(_SCRIPT_OPTION.match(word) for word in operands)
    return files[1:] if name == "sed" and not has_option else files


def _writes(program: str) -> bool:
    return program in SUSPICIOUS or program in FORMATTERS or program == "find"


def _changes_in_place(program: str, operands: Sequence[str]) -> bool:
    if not HARMLESS_OPTIONS.isdisjoint(operands):
        return False
    if program == "sed":
        return any(_SED_IN_PLACE.match(word) for word in operands)
    if program in INTERPRETERS:
        return program in ("perl", "ruby", "gawk") and any(_CLUSTER_IN_PLACE.match(word) for word in operands)
    subcommand = next((word for word in operands if not word.startswith("-")), "")
    is_formatting = program in FORMATTERS or subcommand in FORMATTING
    return is_formatting or any(_IN_PLACE.match(word) for word in operands)


def _outputs(operands: Sequence[str]) -> list[str]:
    """Return the files that options name as the output."""
    following = [after for word, after in pairwise(operands) if _OUTPUT.fullmatch(word)]
    joined = [word.partition("=")[2] for word in operands if _OUTPUT.fullmatch(word.partition("=")[0])]
    attached = [word[2:] for word in operands if len(word) > 2 and word.startswith(("-o", "-O"))]
    return [word for word in (*following, *joined, *attached) if word]


def _only_looks(program: str, code: str) -> bool:
    """Whether every name in ``code`` is one of those that only look at files, and nothing is opened for writing."""
    plain = code.replace("=>", " ").replace("->", " ").replace(">=", " ")
    if ">" in plain or "`" in code:
        return False
    if program in AWKS:
        return not re.search(r"system|getline|\|", code)
    if _MODE.search(code):
        return False
    bare = _STRING.sub(" ", code)
    bound = {name for names in _BOUND.findall(bare) for name in names} - RUNNING
    return all(name in LOOKING or (name in bound and not dot) for dot, name in _IDENTIFIER.findall(bare))
