"""What a program of a command line runs, writes and removes, as far as its words tell.

``rm -rf build`` deletes ``build``, ``cp a b`` writes ``b``, ``python3 x.py`` runs the script ``x.py``. A word that only
running the command would tell has ``UNKNOWN`` in it. A program that the table does not know may write all its operands.
"""

from __future__ import annotations

import re
from itertools import pairwise

from . import programs
from .changes import changes_of
from .commands import DECLARERS, CommandLine
from .patterns import Pattern
from .programs import INTERPRETERS, PYTHONS, SHELLS, command_line, name_of, unwrapped
from .syntax import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from . import syntax
    from .commands import Command

MAX_LENGTH = 128 * 1024  # of an argument; Linux allows no longer ones
_MAX_DEPTH = 5
_MAX_PROGRAMS = 10_000

# -- what it runs ------------------------------------------------------------------------------------------------------

SCRIPT_ENDING = Pattern(r".+\.(py|sh|bash|zsh|js|mjs|cjs|ts|mts|cts|rb|pl|php|lua|ps1)")
_RUN_SCRIPTS = SHELLS | (INTERPRETERS - programs.AWKS) | {"pwsh", "powershell"}
_PYTHON_CODE = Pattern(r"-[bBdEIOPqRsSuvx]*([cm])(.*)", re.DOTALL)
_OTHER_CODE = Pattern(r"-[\w.]*[eEpr]|--(eval|print|command)(=.*)?|eval|(?i:-c(ommand)?)", re.DOTALL)
_VALUED = frozenset("-W -X -o +o -O +O --rcfile --init-file -I -C -L --require --import --loader --env-file".split())
_NEVER_RUN = programs.PASSIVE | programs.AWKS | {"kill", "zip"}  # their operands
_ABOUT_ITSELF = frozenset("--version -V -v --help -h".split())
_STDIN = frozenset("- -s /dev/stdin".split())
_RUNNING_TASKS = frozenset("npm pnpm yarn bun deno".split())
_TASK_RUNNERS = frozenset("make just task rake invoke tox nox pre-commit lefthook run-parts".split())
# Options of readers and checkers that name code or rules, ``-f`` of filters only.
_FILTERS = frozenset("grep egrep fgrep rg jq yq".split())
_CODE_OPTION = Pattern(
    r"-[IF]|--(file|from-file|pre|config(-file|-path)?|plugin|require|rcfile|to-command|use-compress-program|checkpoint-action)"
)


class Invocation:
    """A program that a command line runs: ``words`` are its name and its arguments, ``wrappers`` the words of the
    programs that start it, ``documents`` the texts on its stdin.
    """

    __slots__ = ("documents", "name", "words", "wrappers")

    def __init__(self, words: Sequence[str], documents: Sequence[str] = ()) -> None:
        self.words = unwrapped(words)
        self.wrappers = words[: len(words) - len(self.words)]
        self.documents = documents
        self.name = name_of(self.program) if UNKNOWN not in self.program else ""

    @property
    def program(self) -> str:
        """The program as it is written, an empty string if there is none but wrappers."""
        return self.words[0] if self.words else ""

    def runs(self) -> tuple[str, str]:
        """Return what an interpreter runs: ``script``, ``code`` or ``module`` with its text, ``stdin``, or nothing."""
        arguments = [*self.words[1:]]
        if self.name in ("source", "."):
            return ("script", arguments[0]) if arguments else ("", "")
        if self.name not in _RUN_SCRIPTS:
            return "", ""
        is_python = self.name in PYTHONS
        while arguments:
            word = arguments.pop(0)
            following = arguments[0] if arguments else ""
            if is_python and (code := _PYTHON_CODE.fullmatch(word)):
                return "code" if code[1] == "c" else "module", code[2] or following
            if self.name not in SHELLS and not is_python and _OTHER_CODE.fullmatch(word):
                return "code", following or word
            if word in _ABOUT_ITSELF:
                return "", ""
            if word in _STDIN:
                break
            if word in _VALUED:
                del arguments[:1]
            elif word[:1] not in ("-", "+") and (self.name not in _RUNNING_TASKS or SCRIPT_ENDING.fullmatch(word)):
                return "script", word
        return "stdin", ""

    def files_to_run(self) -> Iterator[str]:
        """Yield the program and the script, if they are files."""
        kind, text = self.runs()
        is_path = "/" in self.program and not self.program.startswith("@")  # `@biomejs/biome` is a package
        if is_path or (self.wrappers and SCRIPT_ENDING.fullmatch(self.program)):
            yield self.program
        if kind == "script":
            yield text

    def only_reads(self) -> bool:
        """Whether the program, by its name, runs none of its operands."""
        folder, slash, _ = self.program.rpartition("/")
        is_own = slash and name_of(folder) not in ("bin", ".bin", "sbin")
        return not is_own and self._tool() in _NEVER_RUN

    def _tool(self) -> str:
        """Return the name of the program, of ``python -m tool`` the module's."""
        kind, text = self.runs()
        return text if kind == "module" else self.name

    def code_operands(self) -> list[str]:
        """Return the arguments of a reading program that are code or rules, or name a file with them."""
        is_editor = self.name == "sed" or self.name in programs.AWKS
        is_filter, is_checker = is_editor or self.name in _FILTERS, self._tool() in programs.CHECKERS
        code = [each for each in self.words[1:] if is_editor and re.search(r"[\s\"|]", each)]
        values = [
            value
            for option, value in self._values()
            if _CODE_OPTION.fullmatch(option)
            or (is_filter and option[-1] == "f")
            or (is_checker and option in ("-c", "-r"))
        ]
        return values + code

    def written_files(self) -> Sequence[str]:
        """Return the arguments that name files to write."""
        changes, code = changes_of(self.name, self.words[1:]), self.code_operands()
        return [each for each in (*changes.writes, *changes.outputs, changes.target) if each and each not in code]

    def _values(self) -> Iterator[tuple[str, str]]:
        """Yield the options with their values, as far as words look like both."""
        for before, word in pairwise(self.words):
            option, has_value, value = word.partition("=")
            if before.startswith("-"):
                yield before, word
            if has_value and option.startswith("-"):
                yield option, value

    def unseen_task(self) -> str:
        """Return the task that the program runs from a file that the command does not name."""
        words = [self.name, *self.words[1:]]
        verb = words[1] if words[0] in _RUNNING_TASKS and words[1:] else ""
        is_task = verb in ("run", "test", "start", "task") and not any(map(SCRIPT_ENDING.fullmatch, words[2:3]))
        return f"{words[0]} {verb}" if is_task else words[0] if words[0] in _TASK_RUNNERS else ""


class _Line(CommandLine):
    """A command line of which patterns are not known, nor any variable of the environment."""

    def _words(self, word: syntax.Word, command: Command) -> list[str]:
        sign = UNKNOWN if self.has_pattern(word) else ""
        return [sign + each for each in super()._words(word, command)]

    def _parameter(self, part: syntax.Parameter, command: Command) -> str:
        text = super()._parameter(part, command)
        is_known = part.name in self.variables or text.startswith(UNKNOWN)
        return text if is_known else f"{UNKNOWN}${{{part.name}{part.operator}{text}}}"

    def _substituted(self, part: syntax.Substitution | syntax.ProcessSubstitution) -> str:
        text = super()._substituted(part)
        return text if UNKNOWN not in text else f"{UNKNOWN}$(…)"


class Programs:
    """The programs that a command line runs, with those in substitutions, ``bash -c``, ``eval`` and here-documents for
    shells.

    ``values``: the known variables. ``others``: words that are no arguments of these programs: assigned values, words
    of loops, operands of ``bash -c``. ``reads`` and ``writes``: the files of redirections. ``unread``: the parts that
    could not be parsed, and the texts that are too long or nested too deep.
    """

    line: type[CommandLine] = _Line

    def __init__(self, values: Mapping[str, str]) -> None:
        self.values: dict[str, str] = {**values, "BASH_SOURCE": values["0"]} if "0" in values else {**values}
        self.found: list[Invocation] = []
        self.unread: list[str] = []
        self.others: list[str] = []
        self.reads: list[str] = []
        self.writes: list[str] = []

    def parse(self, text: str, depth: int = 0) -> None:
        """Add the programs of a command line."""
        if depth > _MAX_DEPTH or len(self.found) > _MAX_PROGRAMS or len(text) > MAX_LENGTH:
            self.unread.append(text)
            return
        line = self.line(text, "", self.values)
        self.unread += line.unreadable()
        for command in line.commands():
            self.reads += command.sources
            self.writes += command.targets
            self.others += [f"{name}={value}" for name, value in command.assigned.items()]
            if command.words[:1] == ["for"]:
                self.others += command.words[1:]
            elif command.words[:1] not in (["case"], ["[["]):
                self.add(command.words, command.documents, depth)

    def add(self, words: Sequence[str], documents: Sequence[str] = (), depth: int = 0) -> None:
        """Add a program with its arguments, or the commands that these pass to a shell."""
        if not words:
            return
        found = Invocation(words, documents)
        if text := command_line(words) or command_line(found.words):
            self.others += [word for word in words[1:] if word != text]
            self.parse(text, depth + 1)
        else:
            self.found.append(found)
        if found.name in DECLARERS:
            self.others += [word for word in found.words if "=" in word]
        if found.name in SHELLS:
            for document in documents:
                self.parse(document, depth + 1)
