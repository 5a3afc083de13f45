"""The texts of a command that are command lines too: arguments that a program runs, and what it prints for others.

``sed '1e git push' notes`` runs ``git push``, ``man -P 'git push' ls`` may run it, ``echo 'git push' | sh`` prints it.
"""

from __future__ import annotations

import re
from itertools import pairwise

from . import programs
from .patterns import Pattern
from .programs import command_line, name_of, starts
from .syntax import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

# Variables whose value is a command, or a file that a shell reads at its start.
COMMAND_VARIABLE = Pattern(r"\w*(?:_COMMAND|EDITOR|PAGER|VISUAL|BROWSER|ASKPASS)|BASH_ENV|ENV|ZDOTDIR")
# Code that runs a program.
CALLING = Pattern(r"system|subprocess|popen|\bp?exec|spawn|\beval|`|\bqx|%x|getline|\|", re.IGNORECASE)
PRINTERS = frozenset("echo printf print".split())
_ENCODED = Pattern(r"[-/]e(?:c|n\w*)?(?::(.+))?", re.IGNORECASE)
_NAMING = Pattern(
    r"^(?:-+[\w.-]+|[\w-]+(?:\.[\w-]+)+|\w*(?:command|exec|editor|pager|program|shell))=|^[+:!]+|^spawn ", re.IGNORECASE
)  # before a command in an argument
# Subcommands of git that run a command behind them.
RUN_BY_GIT = frozenset("bisect submodule filter-branch filter-repo difftool mergetool".split())
_RUNNING_OPTIONS_OF_GIT = ("-c", "-x", "--exec", "--config-env", "--extcmd")
# GNU sed runs the argument of `e`; its input for `e` alone and for the flag of `s`.
_RUN_BY_SED = Pattern(r"(?:^|[;{}\n\d$/!,~])\s*e[ \t]+([^\n]+)|\bs([^\w\s\\]).*?\2(.*?)\2\w*e")
# None of their arguments is a command line: it is text, a file, or code that is judged as such.
_RUNS_NO_WORD = programs.READERS | programs.CHECKERS | programs.CLIENTS | programs.INTERPRETERS
_QUOTED = Pattern(r"""'((?:[^'\\\n]|\\.)+)'|"((?:[^"\\\n]|\\.)+)\"""")
# The marks before a recipe of a makefile or a command for an editor, and the time before a line for cron.
_MARKS = Pattern(r"^([\t ]*)[-@+:!]+|^(?:[\d*/,-]+[ \t]+){5}", re.MULTILINE)


def lines_run_by(words: Sequence[str]) -> Iterator[str]:
    """Yield the arguments that a program, or one that it starts, runs as command lines."""
    for rest in [words[start:] for start in starts(words) if words[start:]]:
        if text := command_line(rest):
            yield text
        if name_of(rest[0]) in ("powershell", "pwsh"):
            pairs = [(_ENCODED.fullmatch(word), after) for word, after in pairwise((*rest[1:], ""))]
            yield from (_decoded(found[1] or after) for found, after in pairs if found)
        if " " in rest[0]:
            yield " ".join(rest)
        if name_of(rest[0]) in ("sed", "gsed"):
            yield from (a or b.replace("\\", "") for word in rest[1:] for a, _, b in _RUN_BY_SED.findall(word))


def _decoded(text: str) -> str:
    """Return the command in the argument of ``-EncodedCommand``, the only form that Windows itself decodes."""
    from base64 import b64decode

    try:
        return b64decode(text).decode("utf-16-le").replace("\\", "/")
    except ValueError:
        return ""


def lines_that_may_run(name: str, operands: Sequence[str]) -> Iterator[str]:
    """Yield the arguments that the program ``name`` may run as command lines, without what names them."""
    if name in _RUNS_NO_WORD:
        return
    if name == "git":
        operands = _texts_of_git(operands)
    for word in (word.partition("=")[2] for word in operands) if name == "alias" else operands:
        if any(mark in word for mark in " \t\n;|&>") and not word.startswith(UNKNOWN):
            yield _NAMING.sub("", _NAMING.sub("", word)).lstrip("+:!")


def _texts_of_git(operands: Sequence[str]) -> Sequence[str]:
    if "config" in operands or not RUN_BY_GIT.isdisjoint(operands):
        return operands
    pairs = pairwise(("", *operands))
    return [
        word for before, word in pairs if before in _RUNNING_OPTIONS_OF_GIT or word.startswith(_RUNNING_OPTIONS_OF_GIT)
    ]


def printed_by(name: str, operands: Sequence[str]) -> list[str]:
    """Return the texts that a program prints, as far as its arguments tell; of code, its quoted texts."""
    if name not in PRINTERS and name != "jq" and name not in programs.INTERPRETERS:
        return []
    known = [word for word in operands if UNKNOWN not in word]
    pairs = [pair for word in known for pair in _QUOTED.findall(word) if name not in PRINTERS]
    quoted = [re.sub(r"""\\(["'\\])""", r"\1", one or other) for one, other in pairs]
    texts = (" ".join(known), "\n".join(known), *quoted)
    return [re.sub(r"\\[n0]", "\n", text).replace("\\t", "\t") for text in texts]


def without_marks(text: str) -> str:
    """Return the lines of a makefile or of a table for cron without the marks and times before their commands."""
    return _MARKS.sub(r"\1", text)
