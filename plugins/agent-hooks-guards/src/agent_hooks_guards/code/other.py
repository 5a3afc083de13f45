"""Languages without a scanner of their own: string literals of code that starts processes or deletes folders."""

from __future__ import annotations

import re
import shlex

from agent_hooks_guards.model.values import Data

from . import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_MOST_STRINGS = 64
# Code with one of these starts processes: its strings are read as command lines.
_STARTERS = (
    *"system cmd shell exec process popen spawn command port_open open_port runtime".split(),
    "sh ",
    "run(`",
    ".!",
)
# Calls that delete a folder with everything in it.
_DELETERS = (
    "rm_rf del_dir_r deletedir deleterecursively removedirectoryrecursive removepathforcibly removeitem remove_dir_all"
    " delete-directory/files"
).split()
_DELETES = re.compile(r"""\b(?:unlink|rm|delete|file\s+delete(?:\s+-force)?)\b[\s(]*["']?([^\s"',);]+)""")
_TCL_EXEC = re.compile(r"\bexec\s+(?:-\w+\s+)*([^\n;\]}]+)")
# A call whose argument is no literal.
_COMPUTED = re.compile(r"(?:\b(?:system2?|popen|spawn|shell_exec|exec)\s*\(|\bdo shell script)\s*[A-Za-z_$@&]")


def scan(text: str, labels: frozenset[str], arguments: list[str], language: str) -> Found:
    """Find the effects of code that is known by its string literals only."""
    del arguments
    found = Found()
    lowered = text.lower()
    strings = list(_strings(text))[:_MOST_STRINGS]
    if any(name in lowered for name in _DELETERS):
        found.programs += [["rm", "-rf", each] for each in strings]
    if language in ("r", "julia", "tcl", "vim"):
        found.programs += [["rm", "-rf", path] for path in _DELETES.findall(text) if "/" in path or "~" in path]
    lines = _TCL_EXEC.findall(text) if language == "tcl" else []
    if any(name in lowered for name in _STARTERS) or (language == "crystal" and "`" in text):
        lines += [each for each in strings if " " in each.strip()]
        words = [each for each in strings if each and " " not in each.strip()]
        lines += [shlex.join(words)] if words else []
    found.shells = [Data(line, labels) for line in lines]
    if _COMPUTED.search(text):
        found.doubts.append("a command line that is not known is run")
    return found


def _strings(text: str) -> Iterator[str]:
    """The string literals of a code, with backslashes resolved."""
    for match in re.finditer(r"""(["'`])((?:\\.|(?!\1).)*)(?:\1|\Z)""", text, re.DOTALL):
        yield re.sub(r"\\(.)", r"\1", match[2], flags=re.DOTALL)
