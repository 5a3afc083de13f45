"""What is denied of shell commands. Best effort: a shell can hide anything from who only reads what it is told.

What gets through changes files that nobody trusts then: the digests of a project catch it. This is so that an agent is
told at once, and that the user's own files, which no digest covers, are not changed in passing.
"""

from __future__ import annotations

import re
from itertools import takewhile
from shlex import join

from .code import names_own_command, reason_against_code
from .commands import Command, CommandList
from .hosts import reason_against_host
from .own import is_ours, reason_against_own
from .programs import INLINE, Program, gives_script, is_glob, is_unknown, name_of, programs_of, writes
from .programs import version_control_runs as runs_more
from .reading import Reading, first
from .reasons import for_own_command, for_unclear
from .words import (
    AWKS,
    COPIERS,
    EDITORS,
    FINDERS,
    GATHERERS,
    INTERPRETERS,
    MAKES,
    MOVERS,
    OPEN_TO_INPUT,
    PACKAGE_RUNNERS,
    PRINTERS,
    READERS,
    REMOVERS,
    SHELLS,
    SOURCING,
    STANDARD_INPUT,
    SUSPICIOUS,
    TARS,
    VERSION_CONTROL,
    WRAPPERS,
)
from .writing import reason_against_finding, reason_against_writing

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .calls import CallInfo
    from .paths import ProtectedPaths

# Variables that name a file which a shell reads at its start.
_STARTUP_FILE = re.compile(r"(?:BASH_ENV|ENV|ZDOTDIR)=")
_COPYING_INPUT = frozenset("tee sponge dd".split())
_TEXT = re.compile(r"""['"]([^'"\n]+)['"]""")
_RUNNING = re.compile(r"system|\bp?exec|\beval|popen|spawn|`|\bqx|getline", re.IGNORECASE)
# What GNU sed runs: the command `e`, the flag of `s` that runs the line, and `e` alone, which runs its input.
_RUN_BY_SED = re.compile(r"(?:^|[;{}\n\d$/!,~])\s*e[ \t]+([^\n]+)")
_REPLACED_AND_RUN = re.compile(r"\bs([^\w\s\\]).*?\1(.*?)\1\w*e")
_INPUT_RUN = re.compile(r"(?:^|[;{}\n\d$/!])\s*e\s*(?:$|[;}\n])|\bs([^\w\s\\]).*?\1.*?\1\w*e")
# Options that name a command, of programs that else run none.
_OF_TAR = re.compile(
    r"--checkpoint-action=exec=|--(?:to-command|use-compress-program|rsh-command|info-script|new-volume-script)(?:=|$)|-[IF]"
)
_RUNNING_OPTIONS = {
    **dict.fromkeys(TARS, _OF_TAR),
    "rsync": re.compile(r"--rsh(?:=|$)|-[A-Za-z]*e$"),
    "scp": re.compile(r"-S|-o\s*ProxyCommand="),
    "zip": re.compile(r"-TT|--unzip-command(?:=|$)"),
    "sort": re.compile(r"--compress-program(?:=|$)"),
    "split": re.compile(r"--filter(?:=|$)"),
    "man": re.compile(r"-[PH]|--(?:pager|html)(?:=|$)"),
    "less": re.compile(r"\+!"),
    "rg": re.compile(r"--(?:pre|hostname-bin)(?:=|$)"),
}
_FOLDER_OPTION = re.compile(r"(?:-[CD]|--chdir|--directory)(?:=(.+))?")
_MAX_DEPTH = 8  # commands within commands
_SETTING = re.compile(r"^[\w-]+(?:\.[\w-]+)+=")  # what git -c sets
# Options and variables that name a command for later.
_FOR_LATER = re.compile(r"^[\w.-]*(?:command|exec|editor|pager|program|shell)=", re.IGNORECASE)
_VARIABLE_FOR_LATER = re.compile(r"\w*(?:_COMMAND|EDITOR|PAGER|VISUAL|BROWSER|ASKPASS|BASH_ENV)=")


def reason_against(text: str, cwd: str, protected: ProtectedPaths, call: CallInfo) -> str:
    """Return why the shell command ``text``, run in ``cwd``, is denied; an empty string if it is not."""
    return _Judging(text, cwd, protected, call).judge(text)


class _Judging:
    """One command line while it is judged, with all that it gives to other shells and interpreters."""

    def __init__(self, text: str, cwd: str, protected: ProtectedPaths, call: CallInfo) -> None:
        self._reading = Reading(text, cwd, protected, call)
        self._budget = 100_000 + 10 * len(text)  # characters: words within words can make up any number of them
        self._upstream = ""
        self._is_from_code = False  # whether an interpreter prints that
        self._finding: Sequence[str] = ()  # the operands of a find in the same pipe

    def judge(self, text: str) -> str:
        reading = self._reading
        self._budget -= len(text)
        if len(reading.texts) >= _MAX_DEPTH or self._budget <= 0:
            return self._judge_unreadable(text)
        commands = CommandList(text)
        if not commands.is_whole and (reason := self._judge_unreadable(text)):
            return reason
        outside = reading.places, self._upstream
        reading.places, self._upstream = [reading.cwd], ""
        reading.texts.append(text)
        try:
            return first(map(self._judge_command, commands.commands))
        finally:
            reading.texts.pop()
            reading.places, self._upstream = outside

    def _judge_unreadable(self, text: str) -> str:
        if names_own_command(text):
            return for_own_command("This command")
        is_writing = ">" in text or not SUSPICIOUS.isdisjoint(re.findall(r"[\w.-]+", text.casefold()))
        return for_unclear() if is_writing and self._reading.protected.is_named_in(text, self._reading.cwd) else ""

    # -- one simple command ------------------------------------------------------------------------------------------

    def _judge_command(self, command: Command) -> str:
        reading = self._reading
        while len(reading.places) <= command.level:
            reading.places.append(reading.cwd)
        del reading.places[command.level + 1 :]
        upstream = self._upstream if command.piped else ""
        words = reading.own_words(command.words)
        self._upstream = (
            "\n".join((upstream, command.body, " ".join(words[1:]), *words[1:]))
            .replace("\\n", "\n")
            .replace("\\t", "\t")
            .replace("\\0", "\n")
        )
        later = [word.partition("=")[2] for word in command.words if _VARIABLE_FOR_LATER.match(word)]
        if any(map(_STARTUP_FILE.match, command.words)):
            later += [
                printed(command.inner),
                *(self._reading.text_written(word.partition("=")[2]) for word in command.words),
            ]
            later += [f"{upstream}\n{command.body}"] if not STANDARD_INPUT.isdisjoint(_values(command.words)) else []
        inner = (*command.inner, *later)
        reason = first(map(reading.judge_target, command.targets)) or first(map(self.judge, inner))
        if reason or not words:
            return reason
        reading.follow(words)
        if not command.piped:
            self._is_from_code = False
        copied = words[1:] if name_of(words[0]) in _COPYING_INPUT else ()
        for target in (*command.targets, *(word.removeprefix("of=") for word in copied)):
            reading.written[reading.place_of(target)] = self._upstream
        if name_of(words[0]) in COPIERS | MOVERS and len(words) > 2 and (text := self._copied(words[-2], command)):
            reading.written[reading.place_of(words[-1])] = text
        typescript = words[1:] if name_of(words[0]) == "script" else ()
        if reason := first(reading.judge_path(word) for word in typescript if " " not in word):
            return reason
        found = (
            words[1:] if name_of(words[0]) == "find" else _found_by_fd(words) if name_of(words[0]) in FINDERS else ()
        )
        self._finding = found or (self._finding if command.piped else ())
        return (
            self._judge_elsewhere(words)
            or reason_against_host(reading, command.words, words)
            or reason_against_own(reading, words, f"{upstream}\n{command.body}")
            or self._judge_computed(words, command)
            or first(self._judge_program(program, words, command, upstream) for program in programs_of(words))
            or self._note_code(words)
        )

    def _judge_elsewhere(self, words: Sequence[str]) -> str:
        """Judge what a wrapper runs in the folder that an option of its own names."""
        options = enumerate(words) if name_of(words[0]) in ("env", "sudo", "uv") else ()
        at, found = next(((at, found) for at, word in options if (found := _FOLDER_OPTION.fullmatch(word))), (0, None))
        if found is None:
            return ""
        rest = list(words[at + 1 :])
        place = found[1] or (rest.pop(0) if rest else "")
        self._reading.places.append(self._reading.place_of(place))
        try:
            return self.judge(join([*words[:at], *rest]))
        finally:
            self._reading.places.pop()

    def _note_code(self, words: Sequence[str]) -> str:
        self._is_from_code = self._is_from_code or any(program.name in INTERPRETERS for program in programs_of(words))
        return ""

    def _judge_computed(self, words: Sequence[str], command: Command) -> str:
        """Judge a program whose name another command prints, as far as that tells it."""
        if not is_unknown(words[0]) or not command.inner:
            return ""
        said = printed(command.inner[:1]).partition("\n")[0]
        return self.judge(f"{said} {join(words[1:])}") if said else ""

    def _judge_program(self, program: Program, words: Sequence[str], command: Command, upstream: str) -> str:
        piped = f"{upstream}\n{command.body}\n{printed(command.inner)}" if program.gathers else ""
        given = "\n".join((*words, *piped.split()))
        if program.gathers and writes(program.name) and self._reading.protected.is_named_in(given, self._reading.cwd):
            return for_unclear()
        takes = program.gathers and (program.name in REMOVERS or program.name in MOVERS)
        if takes and (reason := first(self._reading.judge_path(w, whole=True) for w in piped.split() if is_glob(w))):
            return reason
        if self._finding and takes and (reason := reason_against_finding(self._reading, self._finding)):
            return reason
        return (
            self._judge_code(program, _fed(program, command, upstream), f"{upstream}\n{command.body}")
            or self._judge_written(program, words, command.sources)
            or self._judge_nested(program, words)
            or first(map(self.judge, _run_by_options(program, upstream)))
            or reason_against_writing(self._reading, program, command, upstream)
        )

    # -- commands and code in words ----------------------------------------------------------------------------------

    def _judge_nested(self, program: Program, words: Sequence[str]) -> str:
        name, operands = program.name, program.operands
        if words[0] == "eval":
            return self.judge(" ".join(words[1:]))
        if is_ours(words[0]) and words[1:2] == ["check"]:
            return ""  # it says what would be decided
        is_known = name in READERS or name in INTERPRETERS or writes(name) or name in VERSION_CONTROL
        if is_known and name not in EDITORS and not (name in VERSION_CONTROL and runs_more(operands)):
            return ""
        values = [word.partition("=")[2] for word in operands] if name == "alias" else operands
        texts = (word for word in values if any(mark in word for mark in " \t\n;|&>"))
        setting = _SETTING if any(map(is_ours, words)) else _FOR_LATER  # it may only be asked about a command
        return first(self.judge(setting.sub("", _SETTING.sub("", text)).lstrip("+:!")) for text in texts)

    def _judge_written(self, program: Program, words: Sequence[str], sources: Sequence[str]) -> str:
        """Judge a script that the same command line has written."""
        name, operands = program.name, program.operands
        if name in INTERPRETERS:
            return first(
                reason_against_code(self._reading, name, self._reading.text_written(word)) for word in operands
            )
        paths = words[:1]
        if name_of(words[0]) in WRAPPERS and name_of(words[0]) not in PACKAGE_RUNNERS:
            paths = [word for word in words if word.startswith(("./", "/", "~"))]
        if name in SHELLS or name in SOURCING or any(word.startswith("-f") for word in operands):
            paths = [*paths, *operands, *sources]
        elif name in MAKES:
            paths = ["Makefile", "makefile", "GNUmakefile"]
        return first(self.judge(_recipes(text)) for path in paths if (text := self._reading.text_written(path)))

    def _copied(self, source: str, command: Command) -> str:
        return printed(command.inner) if source.startswith("<(") else self._reading.text_written(source)

    def _judge_code(self, program: Program, fed: str, given: str) -> str:
        name, operands = program.name, program.operands
        if name in SHELLS or name in GATHERERS or name in OPEN_TO_INPUT or name in SOURCING:
            if self._is_from_code and names_own_command(fed):
                return for_own_command("What this prints for a shell")
            return self.judge(_recipes(fed) if name in MAKES else fed) if fed.strip() else ""
        if name not in INTERPRETERS:
            return ""
        code = fed
        if name in AWKS or "eval" in operands or any(INLINE.match(word) for word in operands):
            code += "\n".join(word for word in operands if any(mark in word for mark in " (;=\n>"))
            for text in _TEXT.findall(code) if fed != code else ():  # a script that it may write
                self._reading.written.setdefault(self._reading.place_of(text), "\n".join(_TEXT.findall(code)))
            if given.strip() and _RUNNING.search(code) and (reason := self.judge(given)):
                return reason
        return reason_against_code(self._reading, name, code, operands)


def _recipes(text: str) -> str:
    """Return the lines of a makefile without the signs that say how they are run."""
    return re.sub(r"^([\t ]*)[-@+]+", r"\1", text, flags=re.MULTILINE)


def _found_by_fd(words: Sequence[str]) -> Sequence[str]:
    """Return what ``fd`` is told to find in the words of ``find``."""
    operands = list(takewhile(lambda word: word not in ("-x", "-X", "--exec", "--exec-batch"), words[1:]))
    pattern, *places = [word for word in operands if not word.startswith("-")] or ["*"]
    return [*(places or ["."]), "-name", f"*{pattern}*"]


def _values(words: Sequence[str]) -> set[str]:
    return {word.partition("=")[2] for word in words if "=" in word}


def _run_by_options(program: Program, upstream: str) -> Iterator[str]:
    """Yield the commands that a program runs which else only reads or writes files."""
    operands = program.operands
    if program.name in ("sed", "gsed"):
        for script in operands:
            yield from _RUN_BY_SED.findall(script)
            yield from (found[1].replace("\\", "") for found in _REPLACED_AND_RUN.findall(script))
            if _INPUT_RUN.search(script):
                yield upstream
    options = _RUNNING_OPTIONS.get(program.name)
    for word, after in zip(operands, (*operands[1:], ""), strict=False) if options else ():
        if options and (found := options.match(word)):
            yield word[found.end() :] or after


def _fed(program: Program, command: Command, upstream: str) -> str:
    """Return what ``program`` may run beside its words: its input, and what a substitution in its words prints."""
    name, operands = program.name, program.operands
    is_shell = name in SHELLS or name in SOURCING
    reads_input = not gives_script(operands) or (program.gathers and name in SHELLS)
    reads_input = reads_input or name in OPEN_TO_INPUT or name in ("at", "batch")
    runs_words = is_shell or any(word.startswith("<(") for word in operands) or any(map(INLINE.match, operands))
    fed = f"{upstream}\n{command.body}" if reads_input else ""
    return f"{fed}\n{printed(command.inner)}" if runs_words or reads_input else fed


def printed(texts: Sequence[str]) -> str:
    """Return what commands print, as far as their words tell."""
    said: list[str] = []
    for text in texts:
        for command in CommandList(text).commands:
            if command.words and name_of(command.words[0]) in PRINTERS:
                words = [word for word in command.words[1:] if not word.startswith("-")]
                said += [" ".join(words), *words, command.body]
    return "\n".join(said).replace("\\n", "\n").strip("\n")
