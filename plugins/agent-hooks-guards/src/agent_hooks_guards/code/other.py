"""Languages without a scanner: string literals of code that starts processes count as command lines."""

from __future__ import annotations

import re
import shlex

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.values import Data

from . import Found

_MOST_STRINGS = 64
_STRING = Pattern(r"""(["'`])((?:\\.|(?!\1).)*)(?:\1|\Z)""", re.DOTALL)
# Code with one of these starts processes.
_STARTERS = Pattern(r"system|cmd|shell|exec|process|popen|spawn|command|open_?port|runtime|sh |run\(`|\.!")
_DELETERS = Pattern(
    r"rm_rf|del_dir_r|deletedir|deleterecursively|removedirectoryrecursive|removepathforcibly|removeitem|remove_dir_all"
    r"|delete-directory"
)
_DELETED = Pattern(r"""\b(?:unlink|rm|delete(?:\s+-force)?)\b[\s(]+["']?([^\s"',);]*[/~][^\s"',);]*)""")
_TCL_EXEC = Pattern(r"\bexec\s+(?:-\w+\s+)*([^\n;\]}]+)")
# A call whose argument is no literal.
_COMPUTED = Pattern(r"(?:\b(?:system2?|popen|spawn|shell_exec|exec)\s*\(|\bdo shell script)\s*[A-Za-z_$@&]")


def scan(text: str, labels: frozenset[str], _arguments: list[str], language: str, *_: object) -> Found:
    """Find the effects of code that is known by its string literals only."""
    found = Found()
    lowered = text.lower()
    strings = [re.sub(r"\\(.)", r"\1", match[2], flags=re.DOTALL) for match in _STRING.finditer(text)]
    if len(strings) > _MOST_STRINGS and (_STARTERS.search(lowered) or _DELETERS.search(lowered)):
        return Found(doubts=["the code has more strings than are looked at"])
    if _DELETERS.search(lowered):
        found.programs += [["rm", "-rf", each] for each in strings]
    found.programs += [["rm", "-rf", path] for path in _DELETED.findall(text)]
    lines = _TCL_EXEC.findall(text) if language == "tcl" else []
    if _STARTERS.search(lowered) or (language == "crystal" and "`" in text):
        lines += [each for each in strings if " " in each.strip()]
        lines.append(shlex.join(each for each in strings if each and " " not in each.strip()))
    found.shells = [Data(line, labels) for line in lines if line]
    if _COMPUTED.search(text):
        found.doubts.append("a command line that is not known is run")
    return found
