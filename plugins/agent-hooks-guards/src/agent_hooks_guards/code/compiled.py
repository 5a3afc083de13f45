"""What the source of a compiled program would run: C, C++, Go, Rust, Java.

It is not parsed: what counts are texts in the calls that start a program or delete a folder.
"""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import NO_LABELS, Data

from . import Found

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

_STARTS = re.compile(
    r"(\bsystem|\bpopen|\bexecl[pe]?|\bexecv[pe]?|\bposix_spawnp?|\bexec\.Command(?:Context)?|\bsyscall\.Exec"
    r"|\bCommand::new|\.exec|\bProcessBuilder)\s*\("
)
_DELETES = re.compile(
    r"\b(os\.RemoveAll|remove_dir_all|FileUtils\.deleteDirectory|remove_all|os\.Remove|remove_file|unlink|rmdir"
    r"|(?<!\.)remove|Files\.delete(?:IfExists)?)\s*\("
)
_WRITES = re.compile(
    r"\b(os\.WriteFile|ioutil\.WriteFile|os\.Create|os\.Truncate|fs::write|File::create|Files\.write(?:String)?"
    r"|FileWriter|FileOutputStream|PrintWriter|ofstream(?:\s+\w+)?|truncate|creat)\s*[({]"
)
_OPENS = re.compile(r'\bf(?:re)?open\s?\(\s{0,9}("(?:[^"\\\n]|\\.)*"|\w+)\s*,\s*"[rb]*([wa+])')
_FORKS = re.compile(
    r"\b(?:while\s?\(\s?(?:1|true|!0)\s?\)|for\s?\(\s?;\s?;\s?\))\s{0,9}\{?\s{0,9}(?:\w{1,40}\s?=\s?)?fork\s?\("
)
# What names a text, or a list of texts: `char *x = "…"`, `x := "…"`, `#define X "…"`, `let x: &str = "…"`.
_NAMED = re.compile(
    r"\b(\w{1,60})\s{0,9}(?:\[\w*\]\s{0,9})?(?::[^=;\n]{1,40})?:?=\s{0,9}(?:new\s{1,9}String|&|vec!)?"
    r"(?:\[\]\s?(?:string)?)?\s{0,9}[\[{]?\s{0,9}(?=[\"`])"
)
_DEFINED = re.compile(r'#\s*define\s+(\w+)\s+(?=")')
_BETWEEN = re.compile(r"\s*,\s*(?=[\"`])")
_NAME = re.compile(r"[A-Za-z_]\w*")
_TEXT = re.compile(r'"((?:[^"\\\n]|\\.)*)"|`([^`]*)`|R"\((.*?)\)"', re.DOTALL)
_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u\{?[0-9a-fA-F]{4}\}?|[0-7]{1,3}|.)", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_SHELLS = frozenset(("sh", "bash", "zsh", "dash", "ksh"))
_LONGEST_STATEMENT = 4096
_MOST_TEXTS = 64


def scan(text: str, labels: frozenset[str], _arguments: list[str], language: str) -> Found:
    """What a source would run. Its texts are taken as they stand in the calls, and by the names that they have."""
    found = Found()
    named = _named(text)
    # In Rust the words come one by one, each in a call of its own.
    is_chained = language == "rust"
    for match in _STARTS.finditer(text):
        words = list(_texts(text, match.end(), named, is_chained=is_chained))
        if not words:
            continue
        if match[1] in ("system", "popen"):
            found.shells.append(Data(words[0], labels))
        elif match[1].startswith(("execl", "execv", "posix_spawn")) and len(words) > 1:
            _started(found, [words[0], *words[2:]], labels)
        else:
            _started(found, words, labels)
    for match in _DELETES.finditer(text):
        path = _path(text, match.end(), named)
        if path:
            is_all = (
                "All" in match[1] or "dir_all" in match[1] or match[1] in ("remove_all", "FileUtils.deleteDirectory")
            )
            found.effects.append(("delete", path, is_all, NO_LABELS, ""))
    for match in _WRITES.finditer(text):
        path = _path(text, match.end(), named)
        if path:
            found.effects.append(("write", path, False, labels, ""))
    for match in _OPENS.finditer(text):
        path = _path(match[1], 0, named)
        if path:
            found.effects.append(("write", path, False, labels, "append" if match[2] == "a" else ""))
    if _FORKS.search(text):
        found.effects.append(("fork", "", False, NO_LABELS, ""))
    return found


def _named(text: str) -> dict[str, list[str]]:
    """The names that a source gives to texts and to lists of texts."""
    named: dict[str, list[str]] = {}
    for match in (*_NAMED.finditer(text), *_DEFINED.finditer(text)):
        texts: list[str] = []
        at = match.end()
        while (found := _TEXT.match(text, at)) is not None and len(texts) < _MOST_TEXTS:
            texts.append(_content(found))
            between = _BETWEEN.match(text, found.end())
            if between is None:
                break
            at = between.end()
        named[match[1]] = texts
    return named


def _started(found: Found, words: list[str], labels: frozenset[str]) -> None:
    if words[0].rpartition("/")[2] in _SHELLS and "-c" in words[:-1]:
        found.shells.append(Data(words[words.index("-c") + 1], labels))
    elif len(words) == 1 and " " in words[0]:
        found.programs.append(words[0].split())
    else:
        found.programs.append(words)


def _texts(text: str, at: int, named: dict[str, list[str]], *, is_chained: bool = False) -> Iterator[str]:
    """The texts that a call is given whose parenthesis ends before a place; if they are chained, those of the calls
    behind it, too.
    """
    end = at
    last = min(len(text), at + _LONGEST_STATEMENT)
    depth = 1
    while end < last and text[end] != ";" and (depth or is_chained):
        match = _TEXT.match(text, end)
        if match is not None:
            yield _content(match)
        else:
            match = _NAME.match(text, end)
            if match is not None:
                yield from named.get(match[0], ())
        if match is None:
            depth += (text[end] == "(") - (text[end] == ")")
        end = end + 1 if match is None else match.end()


def _path(text: str, at: int, named: dict[str, list[str]]) -> str:
    """The first thing that a call is given, as a path, whose parenthesis ends before a place; "" if it is not known."""
    start, depth = at, 1
    last = min(len(text), at + _LONGEST_STATEMENT)
    parts: list[str] = []
    while at < last and text[at] != ";" and not (text[at] == "," and depth == 1):
        match = _TEXT.match(text, at) or _NAME.match(text, at)
        if match is None:
            depth += (text[at] == "(") - (text[at] == ")")
            if not depth:
                break
            at += 1
            continue
        at = match.end()
        if match.re is _TEXT:
            parts.append(_content(match))
        elif match[0] in named:
            parts += named[match[0]][:1]
        elif text[at : at + 1] not in ("(", ".", ":"):
            return ""
    return ("/" if "join" in text[start:at].lower() else "").join(parts)


def _content(match: re.Match[str]) -> str:
    return _ESCAPE.sub(_unescaped, match[1]) if match[1] is not None else match[2] or match[3] or ""


def _unescaped(match: re.Match[str]) -> str:
    name = match[1]
    if name[0] in "xu" and len(name) > 1:
        return chr(int(name[1:].strip("{}"), 16))
    if name[0] in "01234567":
        return chr(int(name, 8) & 0xFF)
    return _LETTERS.get(name, name)
