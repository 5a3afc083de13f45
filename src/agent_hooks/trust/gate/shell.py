"""Judges shell commands. Best effort: static analysis cannot see everything a shell will do.

A command that gets through changes files that nobody trusts then: the digests of a project catch it. The gate exists so
that an agent is told at once, and for the user's own files, which no digest covers.
"""

from __future__ import annotations

import os
import re

from agent_hooks.shell import programs
from agent_hooks.shell.changes import changes_files
from agent_hooks.shell.commands import CommandLine
from agent_hooks.shell.patterns import Pattern
from agent_hooks.shell.programs import command_line, command_start, name_of
from agent_hooks.shell.syntax import UNKNOWN
from agent_hooks.shell.texts import (
    CALLING,
    COMMAND_VARIABLE,
    lines_run_by,
    lines_that_may_run,
    printed_by,
    without_marks,
)
from agent_hooks.system.paths import expanded

from . import writing
from .code import names_own_command, reason_against_code
from .locations import read_text
from .own import is_ours, reason_against_host, reason_against_own
from .parts import mentions_part, part_of
from .reasons import ALL, WIRING, denial, first
from .wiring import HOSTS, reason_against_taking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent_hooks.shell.commands import Command

    from .calls import CallInfo
    from .paths import ProtectedPaths

_MAX_DEPTH = 8  # commands within commands
_INLINE = Pattern(r"-[A-Za-z]*[ceErRp]$|-[ce].|--(?:eval|print|command|exec)\b|-Command$|-l?ne$", re.IGNORECASE)
_STDIN = frozenset("- /dev/stdin /dev/fd/0 /proc/self/fd/0".split())
_OPEN = frozenset("source . su sudo doas script expect ssh crontab tmux screen".split())  # they may run their stdin
_STARTUP_VARIABLES = frozenset(("BASH_ENV", "ENV", "ZDOTDIR"))
_FOLDER_OPTION = Pattern(r"(?:-[CD]|--chdir|--directory|--work-tree)(?:=(.+))?")
_KNOWN = programs.KNOWN | HOSTS.keys()
# Its `e` alone, and the flag of its `s`, run the input of GNU sed.
_INPUT_OF_SED = Pattern(r"(?:^|[;{}\n\d$/!])\s*e\s*(?:$|[;}\n])|\bs([^\w\s\\]).*?\1.*?\1\w*e")


def reason_against(text: str, cwd: str, protected: ProtectedPaths, call: CallInfo) -> str:
    """Return why the shell command ``text``, run in ``cwd``, is denied; an empty string if it is not."""
    judging = Judging(text, cwd, protected, call)
    return judging.judge(text) or judging.judge_fed()


class Program:
    """A program that a simple command runs in the end; ``gathers``: arguments are added that the text does not show."""

    def __init__(self, words: Sequence[str], *, gathers: bool) -> None:
        self.words = words
        self.name = name_of(words[0])
        self.operands = words[1:]
        self.gathers = gathers


class Judging:
    """One command line while it is judged, with all that it gives to other shells and interpreters."""

    def __init__(self, text: str, cwd: str, protected: ProtectedPaths, call: CallInfo) -> None:
        self.protected = protected
        self.call = call
        self.lines: list[CommandLine] = []
        self.is_guessing = False  # whether a word of a command may only seem to be a command line
        self.links: dict[str, str] = {}  # the targets of the symbolic links that the command makes
        given = dict.fromkeys(("VIRTUAL_ENV", "CONDA_PREFIX"), protected.environment.prefix) | dict(os.environ)
        given["PWD"] = cwd
        self.variables = {name: value for name, value in given.items() if name in text and name != "_"}
        self._environment = dict(self.variables)
        self._cwd = cwd
        self._text = text
        self._budget = 100_000 + 10 * len(text)  # characters: words within words can make up any number of them
        self._fed: list[str] = []  # texts that are printed, or given to stdin
        self._runs_input = False
        self._runs_code = ""  # the interpreter that runs such texts
        self._folders = [cwd]  # where they may be run

    # -- state -------------------------------------------------------------------------------------------------------

    @property
    def cwd(self) -> str:
        """The working directory of the command that is judged."""
        return self.lines[-1].cwd if self.lines else self._cwd

    @property
    def assigned(self) -> set[str]:
        """The variables that the command line sets."""
        return {name for name, value in self.variables.items() if self._environment.get(name) != value}

    @property
    def texts(self) -> list[str]:
        """The command lines, each within the one before."""
        return [line.text for line in self.lines] or [self._text]

    def place_of(self, path: str) -> str:
        """Return the absolute path for ``path`` as this command line means it."""
        return os.path.abspath(os.path.join(self.cwd, expanded(path)))

    def plain_words(self) -> set[str]:
        """Return all words of the command lines that are no sentences."""
        return {word for line in self.lines for word in line.plain_words()}

    def fed_words(self, files: Iterable[str]) -> list[str]:
        """Return the words that the command prints, if any of ``files`` is one that it writes."""
        return " ".join(self._fed).split() if any(map(self.is_fed, files)) else []

    # -- commands ----------------------------------------------------------------------------------------------------

    def judge(self, text: str, cwd: str = "") -> str:
        """Return why the command line ``text`` is denied."""
        self._budget = max(0, self._budget - len(text))
        if len(self.lines) >= _MAX_DEPTH or not self._budget:
            return self._judge_unreadable(text)
        line = CommandLine(text, cwd or self.cwd, self.variables)
        if not self.lines and line.unreadable() and (reason := self._judge_unreadable(text)):
            return reason
        self.lines.append(line)
        try:
            return first(map(self._judge_command, line.commands()))
        finally:
            self.lines.pop()

    def judge_fed(self) -> str:
        """Judge the texts that the command prints, if it runs something that only running it would tell."""
        while self._fed and (self._runs_input or self._runs_code):
            fed, runs_input, runs_code = dict.fromkeys(self._fed), self._runs_input, self._runs_code
            self._fed, self._runs_input, self._runs_code = [], False, ""  # their own output is judged in the next round
            for text, folder in [(text, folder) for text in fed for folder in dict.fromkeys(self._folders)]:
                self._cwd = folder
                if runs_code and (reason := reason_against_code(self, runs_code, text)):
                    return reason
                if runs_input and (reason := self.judge(without_marks(text))):
                    return reason
        return ""

    def _judge_unreadable(self, text: str) -> str:
        if names_own_command(text):
            return denial("command", "This command")
        is_writing = ">" in text or not programs.CHANGING.isdisjoint(re.findall(r"[\w.-]+", text.casefold()))
        return denial("unclear") if is_writing and self.protected.is_named_in(text, self.cwd) else ""

    def _judge_command(self, command: Command) -> str:
        words = command.words
        named = [value for name, value in command.assigned.items() if COMMAND_VARIABLE.fullmatch(name)]
        reason = first(self.judge_path(path, made_by=command) for path in command.targets)
        reason = reason or first(map(self.judge, named))
        self._fed += [command.body] if command.documents else []
        is_long = not reason and len(words) > programs.MAX_STARTS
        if is_long and sum(name_of(word) in programs.CARRIERS for word in words) > programs.MAX_STARTS:
            return self._judge_unreadable(" ".join(words))
        if reason or not words:
            return reason
        outside, self.lines[-1].cwd = self.cwd, self._folder_of(command)
        reason = (
            reason_against_host(self, command)
            or reason_against_own(self, command)
            or first(self._judge_program(program, command) for program in programs_of(words))
        )
        self.lines[-1].cwd = outside
        return reason

    def _folder_of(self, command: Command) -> str:
        """Return the folder that a program works in, as a variable or an option of its own says."""
        words = command.words
        for at, word in enumerate(words) if name_of(words[0]) in ("env", "sudo", "uv", "git") else ():
            if found := _FOLDER_OPTION.fullmatch(word):
                return self.place_of(found[1] or next(iter(words[at + 1 :]), ""))
        tree = command.assigned.get("GIT_WORK_TREE", "")
        return self.place_of(tree) if tree else self.cwd

    def _judge_program(self, program: Program, command: Command) -> str:
        self._fed += printed_by(program.name, program.operands)
        self._runs_input = self._is_run_from_input(program, command) or self._runs_input
        self._folders += [self.cwd] if self._runs_input or self._runs_code else []
        if program.gathers and (reason := self._judge_gathered(program, command)):
            return reason
        return (
            first(map(self.judge, self._nested(program, command)))
            or self._judge_code(program, command)
            or writing.reason_against_finding(self, program, command)
            or writing.reason_against_writing(self, program, command)
        )

    def _judge_gathered(self, program: Program, command: Command) -> str:
        """Judge a program that gets arguments from its input, by the text of its pipeline."""
        given = " ".join((command.pipeline, command.body, *command.sources, *command.words))
        given = re.sub(r"\\[0nt]", " ", given)
        if not changes_files(program.name, program.operands):
            return writing.against_unknown(self, program.name, re.findall(r"[^\s'\"|;&()]+", given))
        if self.protected.is_named_in(given, self.cwd):
            return denial("unclear")
        takes = program.name in programs.REMOVERS or program.name in programs.MOVERS
        if not takes or writing.find_arguments(program, command):
            return ""
        return first(self.judge_path(word, whole=True) for word in given.split() if "*" in word)

    # -- commands and code in words ----------------------------------------------------------------------------------

    def _is_run_from_input(self, program: Program, command: Command) -> bool:
        """Whether a program runs its stdin, or a file that the same command line writes."""
        name, operands = program.name, program.operands
        files = [word for word in operands if not word.startswith("-") or word in _STDIN]
        is_fed = any(map(self.is_fed, (*files[:1], *command.sources)))
        word = program.words[0]
        if UNKNOWN in name or (self._fed and ("/" in word or f"/{word}" in self._text) and self.is_fed(word)):
            return True
        if name in programs.SHELLS or name in programs.TEXT_RUNNERS:
            text = command_line(["sh" if name not in programs.CARRIERS else name, *operands])
            is_text_unknown = text is not None and (UNKNOWN in text or program.gathers)
            is_open = text is None and (not files or "-s" in operands or name in ("at", "batch"))
            return is_fed or is_text_unknown or is_open or not _STARTUP_VARIABLES.isdisjoint(self.assigned)
        if name in programs.INTERPRETERS:
            is_code = any(map(_INLINE.match, operands)) or name in programs.AWKS
            if is_fed or (not is_code and not files):
                self._runs_code = name
            return is_code and CALLING.search(" ".join(operands)) is not None
        if name in ("make", "gmake"):
            return "akefile" in self._text or any(map(self.is_fed, files))
        if name in ("sed", "gsed"):
            return any(map(_INPUT_OF_SED.search, operands))
        return name in _OPEN and bool(is_fed or not files or command.documents or command.pipeline)

    def is_fed(self, word: str) -> bool:
        """Whether ``word`` is stdin, a file that the command line names once more, or only known at run time."""
        return UNKNOWN in word or word in _STDIN or self._text.count(os.path.basename(word) or "\0") > 1

    def _nested(self, program: Program, command: Command) -> Iterator[str]:
        """Yield the command lines in the arguments of a program."""
        name, operands, words = program.name, program.operands, command.words
        if is_ours(words[0]) and words[1:2] == ["check"]:
            return  # it reports the decision about a command
        yield from dict.fromkeys((*lines_run_by(words), *lines_run_by(program.words)))
        outside, self.is_guessing = self.is_guessing, True  # until the next word is asked for
        yield from lines_that_may_run(name, operands)
        self.is_guessing = outside

    def _judge_code(self, program: Program, command: Command) -> str:
        name, operands = program.name, program.operands
        if name not in programs.INTERPRETERS:
            return ""
        is_inline = name in programs.AWKS or "eval" in operands or any(map(_INLINE.match, operands))
        code = "" if is_inline else command.body
        if is_inline or any(UNKNOWN in word for word in operands):
            code += "\n".join(word for word in operands if any(mark in word for mark in " (;=\n>") or UNKNOWN in word)
        return reason_against_code(self, name, code, operands)

    # -- paths -------------------------------------------------------------------------------------------------------

    def judge_path(
        self, path: str, *, whole: bool = False, files: bool = True, seen: str = "", made_by: Command | None = None
    ) -> str:
        """Return why ``path`` is not written; ``whole``: nor is a folder with such a file in it taken away.

        The text that it gets is ``seen``, or the output of the command that it is ``made_by``.
        """
        if not path:
            return ""
        if UNKNOWN in path:
            return denial("unclear") if self._may_mean_protected(path) else ""
        place = self.place_of(path) if self.links else ""
        if link := next((link for link in self.links if place.startswith(f"{link}/")), ""):
            path = self.links[link] + place[len(link) :]
        for each in (path, *self.protected.globbed(path, self.cwd)):
            part = self.protected.find(each, self.cwd, is_taken=whole)
            if part == ALL:
                return denial("file", each)
            if whole and self.protected.holds(each, self.cwd, files=files):
                return denial("folder", each)
            if whole and (reason := self.judge_environment(each)):
                return reason
            if part and self._changes_part(part, each, seen, made_by if part == WIRING else None):
                return denial("unseen part", each, part)
        return ""

    def judge_environment(self, path: str) -> str:
        """Return why the environment at ``path``, or the one in it, is not taken away."""
        return reason_against_taking(path, self.cwd, self.protected, self.call)

    def _may_mean_protected(self, word: str) -> bool:
        """Whether an argument that only running the command would tell may be a protected name in its text."""
        if self.protected.is_named_in(word, self.cwd):
            return True
        names = re.findall(rf"{UNKNOWN}\$\{{([A-Za-z_]\w*)", word)
        is_computed = len(names) < word.count(UNKNOWN) or not self.variables.keys().isdisjoint(names)
        return is_computed and self.protected.is_named_in("\n".join(self.plain_words()), self.cwd)

    def _changes_part(self, part: str, path: str, seen: str, made_by: Command | None) -> bool:
        content = writing.content_of(self, made_by) if made_by else ""
        if UNKNOWN in content or mentions_part(part, content):
            return True
        try:
            has_part = bool(part_of(part, read_text(path, self.cwd))) or bool(seen and part_of(part, seen))
        except ValueError:
            has_part = True
        return has_part or mentions_part(part, self._text)


def programs_of(words: Sequence[str], *, gathers: bool = False) -> list[Program]:
    """Return the programs that a simple command may run in the end."""
    name = name_of(words[0])
    own = Program(_module(words[1:]) or words if name in programs.INTERPRETERS else words, gathers=gathers)
    if name not in programs.CARRIERS and name not in programs.GATHERERS:
        return [own]
    gathers = gathers or name in programs.GATHERERS
    start = command_start([name, *words[1:]])
    if not start and name not in programs.GATHERERS:
        start = next((at for at, word in enumerate(words[1:], 1) if name_of(word) in _KNOWN), 0)
    found = programs_of(words[start:], gathers=gathers) if start and words[start:] else [own]
    return [own, *found] if name == "script" else found


def _module(operands: Sequence[str]) -> Sequence[str]:
    """Return the module that Python is told to run by ``-m``, with its arguments; nothing without one."""
    for at, word in enumerate(operands):
        if word.startswith("-m"):
            return [word[2:], *operands[at + 1 :]] if word[2:] else operands[at + 1 :]
        if word.startswith("-c") or not (word.startswith("-") or operands[at - 1] in ("-W", "-X")):
            break
    return ()
