"""The stdout of known programs, as far as it is known without running them, and where it comes from.

A declaration names the kind of the stdout in ``prints``; a program without one prints anything, which may come from its
stdin and from its secret operands.
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.values import ANYTHING, ENDLESS, NO_LABELS, PROCESSES, Data

from .formats import unescaped
from .printing import Printing
from .stdout_kinds import KINDS, unlisted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks_guards.model.actions import Command

__all__ = ["output", "unescaped"]

_COMPLETIONS = frozenset(("completion", "completions", "shell-completion", "autocomplete", "--completion"))
_SHELLS = frozenset(("bash", "zsh", "sh", "fish", "posix", "-", "powershell", "-s", "--shell", "--no-descriptions"))
# These read without end if their input has none; others stop.
_ENDLESS = frozenset("yes cat tee tr base64 base32 dd pv rev gzip".split())
# These print part of each line.
_LISTING = frozenset("ps pgrep cut tr tail sort uniq xargs cat tee paste rev column tac echo printf".split())
_AWK_OF_ALL = re.compile(r"\s*(?:NR\s*(?:>|>=|!=)\s*[12]\s*)?\{[^/~<>=]*\}\s*")


def output(
    command: Command,
    files: Callable[[str], Data | None] | None = None,
    is_secret: Callable[[str], bool] | None = None,
) -> Data:
    """Return the stdout of ``command``. ``files``: the known content of an absolute path, or None. ``is_secret``:
    whether the file at an absolute path holds keys or credentials.
    """
    name = command.name
    printing = Printing(command, files, is_secret)
    kind = _kind(printing)
    if command.options.is_help and kind not in ("echo", "printf"):
        return ANYTHING
    data = KINDS.get(kind, unlisted)(printing)
    dropped = NO_LABELS
    if ENDLESS in data.labels and (name not in _ENDLESS or command.options.value("count")):
        dropped |= {ENDLESS}
    if PROCESSES in data.labels and name not in _LISTING and not _keeps_all_lines(command):
        dropped |= {PROCESSES}
    return Data(data.text, data.labels - dropped) if dropped else data


def _kind(printing: Printing) -> str:
    """Return the declared kind of the stdout; "" for none."""
    command = printing.command
    words = command.argv[1:]
    if words and words[0] in _COMPLETIONS and _SHELLS.issuperset(words[1:]):
        return "nothing"  # code of the program's own, for a shell
    table = declarations()
    entry = table.get(command.program) if command.program in table.entries else table.get(command.name)
    kind: str | dict[str, list[str]] = entry.get("prints", "")
    if isinstance(kind, str):
        return kind
    texts = [" ".join(each) for each in ((*printing.options.subcommand, *printing.words), words)]
    for each, starts in kind.items():
        if any(printing.options.has(start) or any(text.startswith(start) for text in texts) for start in starts):
            return each
    return ""


def _keeps_all_lines(command: Command) -> bool:
    """Whether a filter keeps all lines of a list but its head."""
    name, words = command.name, command.argv[1:]
    if name == "grep":
        return command.options.has("-v|--invert-match")
    program = words[-1] if words else ""
    if name == "awk":
        return _AWK_OF_ALL.fullmatch(program) is not None
    return name == "sed" and "-n" not in words and (program[:1] == "s" or program == "1d")
