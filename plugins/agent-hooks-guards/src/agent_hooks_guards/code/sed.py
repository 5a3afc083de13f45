"""Find the shell commands (GNU's ``e``) and the files of a sed script."""

from __future__ import annotations

import re

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from . import STDIN, Found

_LONGEST = 20_000  # characters
_ADDRESS = r"(?:[\d~+]+|\$|/(?:\\.|\[[^\]\n]*\]|[^/\\\n])*+/[IM]*|\\([^\n])(?:\\.|(?!\{0}).){{0,500}}\{0}[IM]*)"
_COMMAND = Pattern(
    rf"[\s;{{}}]*(?:{_ADDRESS.format(1)}(?:\s*,\s*{_ADDRESS.format(2)})?)?[\s!]*(?:"
    r"(?P<substitution>[sy])(?P<mark>[^\\\n])(?P<old>(?>\\.|\[\^?\]?[^\]\n]*\]|(?!(?P=mark)).){0,2000}?)(?P=mark)"
    r"(?P<new>(?:\\.|(?!(?P=mark)).){0,2000})(?P=mark)(?P<flags>[\dgpiImMe \t]*)(?:w[ \t]*(?P<copy>[^\n]*))?"
    r"|[aic](?:\\.|[^\n\\])*+|(?P<file>[rRwW])[ \t]*(?P<path>[^\n]*)|(?P<run>e)[ \t]*(?P<command>[^\n]*)"
    r"|[:btTv][^\n;}]*|\#[^\n]*|.)",
    re.DOTALL,
)
_DEVICES = frozenset(("/dev/stdout", "/dev/stderr", "/dev/stdin", "-"))
_WHOLE_LINE = Pattern(r"\^?(?:\\?\()?\.(?:\*|\+|\\\+|\.\*)(?:\\?\))?\$?|\^\$")


def scan(text: str, labels: frozenset[str], *_: object) -> Found:
    """Return the effects of a sed script."""
    found = Found()
    if len(text) > _LONGEST:
        found.doubts.append("the sed script is too long to be analysed")
        return found
    for match in _COMMAND.finditer(text):
        if match["run"]:
            command = match["command"].strip()
            found.shells.append(Data(command, labels) if command else Data(UNKNOWN, labels | {STDIN}))
        elif match["substitution"] == "s" and "e" in match["flags"]:
            found.shells += _executed(match["old"], match["new"], labels)
        path = (match["path"] or match["copy"] or "").strip()
        if path and path not in _DEVICES:
            is_read = match["file"] in ("r", "R")
            found.effects.append(
                ("read", path, False, NO_LABELS, "") if is_read else ("write", path, False, labels, "")
            )
    return found


def _executed(pattern: str, replacement: str, labels: frozenset[str]) -> list[Data]:
    """Return the command lines of ``s///e``: the line after the replacement."""
    text = re.sub(r"\\n", "\n", re.sub(r"(?<!\\)&|\\\d", UNKNOWN, replacement)).replace("\\", "")
    found = [Data(text, labels)] if text.strip(f"{UNKNOWN} ") else []
    is_whole = _WHOLE_LINE.fullmatch(pattern) is not None and UNKNOWN not in text
    return found if is_whole else [*found, Data(UNKNOWN, labels | {STDIN})]
