"""What the source of a compiled program would run: C, C++, Go, Rust, Java.

It is not parsed: what counts are texts in the calls that start a program or delete a folder.
"""

from __future__ import annotations

import re

from agent_hooks_guards.shell.values import NO_LABELS, Data

from . import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_STARTS = re.compile(
    r"(\bsystem|\bpopen|\bexecl[pe]?|\bexecv[pe]?|\bposix_spawnp?|\bexec\.Command(?:Context)?|\bsyscall\.Exec"
    r"|\bCommand::new|\.exec|\bProcessBuilder)\s*\("
)
_DELETES = re.compile(
    r"\b(os\.RemoveAll|remove_dir_all|FileUtils\.deleteDirectory|remove_all|os\.Remove|remove_file)\s*\("
)
_TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`|R"\((.*?)\)"', re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u\{?[0-9a-fA-F]{4}\}?|[0-7]{1,3}|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh"))
_LONGEST_STATEMENT = 4096


def scan(text: str, labels: frozenset[str], _arguments: list[str], _language: str) -> Found:
    """What a source would run. Its texts are taken as they stand in the calls."""
    found = Found()
    for match in _STARTS.finditer(text):
        words = list(_texts(text, match.end()))
        if not words:
            continue
        if match[1] in ("system", "popen"):
            found.shells.append(Data(words[0], labels))
        elif match[1].startswith(("execl", "execv", "posix_spawn")) and len(words) > 1:
            _started(found, [words[0], *words[2:]], labels)
        else:
            _started(found, words, labels)
    for match in _DELETES.finditer(text):
        for path in list(_texts(text, match.end()))[:1]:
            found.effects.append(("delete", path, "All" in match[1] or "dir" in match[1].lower(), NO_LABELS, ""))
    return found


def _started(found: Found, words: list[str], labels: frozenset[str]) -> None:
    if words[0].rpartition("/")[2] in _SHELLS and "-c" in words[:-1]:
        found.shells.append(Data(words[words.index("-c") + 1], labels))
    elif len(words) == 1 and " " in words[0]:
        found.programs.append(words[0].split())
    else:
        found.programs.append(words)


def _texts(text: str, at: int) -> Iterator[str]:
    """The texts in a statement from a place on."""
    end = at
    last = min(len(text), at + _LONGEST_STATEMENT)
    while end < last and text[end] != ";":
        match = _TEXT.match(text, end)
        if match is None:
            end += 1
            continue
        end = match.end()
        yield _ESCAPE.sub(_unescaped, match[1]) if match[1] is not None else match[2] or match[3] or ""


def _unescaped(match: re.Match[str]) -> str:
    name = match[1]
    if name[0] in "xu" and len(name) > 1:
        return chr(int(name[1:].strip("{}"), 16))
    if name[0] in "01234567":
        return chr(int(name, 8) & 0xFF)
    return _LETTERS.get(name, name)
