"""Find the shell commands and the files of the command lines of Vim, ex and ed."""

from __future__ import annotations

import re

from agent_hooks.shell.patterns import Pattern
from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from . import Found

_MOST_LINES = 2_000
_MOST_BARS = 20
_RANGE = r"[\s:]*+(?:[\d.,;$%+*-]|'.|/(?:\\.|[^/\\\n])*+/|\?(?:\\.|[^?\\\n])*+\?)*+[\s:]*+"
_BEFORE = (
    r"(?:(?:sil(?:ent)?|uns(?:ilent)?|verb(?:ose)?|noa(?:utocmd)?|keep\w+|lockm(?:arks)?|tab|vert(?:ical)?|bufdo|windo"
    r"|argdo|tabdo)!?\s++|au(?:tocmd)?\s++\S++\s++\S++\s++|(?:g(?:lobal)?!?|v)/(?:\\.|[^/\\\n])*+/\s*)*+"
)
_COMMAND = Pattern(
    rf"{_RANGE}{_BEFORE}{_RANGE}(?:"
    r"!(?P<shell>.*)|(?:r(?:ead)?!?\s*|(?:w(?:rite)?q?|[eE])\s+)!\s*(?P<piped>\S.*)|te(?:rminal)?!?\s+(?P<terminal>.*)"
    r"|set?(?:local)?\s+(?:makeprg|mp|grepprg|gp|shell|sh)=(?P<program>[^\s|]+)|norm(?:al)?!?\s[^:\n]*:(?P<keys>.*)"
    r"|(?P<language>py(?:thon)?[3x]?(?:do)?|lua(?:do)?|perl(?:do)?|rub(?:y|ydo)?)!?\s+(?P<code>.*)"
    r"|(?:so(?:urce)?|ru(?:ntime)?)!?\s+(?P<source>\S+)"
    r"|(?P<file>w|wq|x|wri(?:te)?|xit|sav(?:eas)?|up(?:date)?|W|r|read|e|ed(?:it)?|E|vs?p|sp|tabe\w*)!?\s+"
    r"(?P<append>>>\s*)?(?P<path>[^\s|%#!+][^\s|]*))",
    re.DOTALL,
)
_CALL = Pattern(
    r"""(?<!["'])\b(system|call|systemlist|termopen|jobstart|job_start|term_start|libcall|exe(?:cute)?|feedkeys|delete"""
    r"""|writefile|py3eval)"""
    r"""\s*(?:\(\s*|(?=["']))(?:(["'])((?:\\.|(?!\2)[^\\])*+)\2\s*(,|\)|$)?)?"""
)
_STRING = Pattern(r"""["']([^"']*)["']""")
_LANGUAGES = {"l": "lua", "pe": "perl", "r": "ruby"}
_RUNNING = ("shell", "piped", "terminal", "program")
_WRITES = ("w", "W", "x", "sav", "up")


def scan(text: str, labels: frozenset[str], _arguments: list[str], language: str, *_: object) -> Found:
    """Return the effects of an editor's commands. ``language``: ``vim`` or ``ed``."""
    found = Found()
    is_typing = False
    lines = iter(text.split("\n")[:_MOST_LINES])
    if text.count("\n") >= _MOST_LINES:
        found.doubts.append("the text has more lines than are looked at")
    for line in lines:
        if language == "ed":
            command = re.match(rf"{_RANGE}([aic])\s*$", line)
            is_typing = line.strip() != "." if is_typing else command is not None
            if is_typing:
                continue
        if line.strip().startswith('"'):
            continue
        start, arrow, mark = line.partition("<<")
        end = mark.strip()
        if arrow and end.isalnum():
            line = f"{start} " + "\n".join(iter(lambda: next(lines, end), end))  # noqa: B023 - consumed at once
        _command(line, labels, found, 0)
    return found


def _command(line: str, labels: frozenset[str], found: Found, depth: int) -> None:
    """Note the effects of one command line, with the commands behind its bars."""
    match = _COMMAND.match(line)
    kind = "" if match is None else match.lastgroup or ""
    text = match[kind] if match is not None and kind else ""
    if kind in _RUNNING and text.strip():
        found.shells.append(Data(text.strip(), labels))
        return
    if match is not None and kind == "code":
        language = next((name for start, name in _LANGUAGES.items() if match["language"].startswith(start)), "python")
        found.codes.append((language, Data(text, labels)))
        return
    if kind == "keys":
        _command(text.partition("\\r")[0], labels, found, depth + 1)
    elif kind == "source":
        found.effects.append(("run", text, False, NO_LABELS, ""))
    elif match is not None and kind == "path":
        method = "append" if match["append"] or match["file"] == "W" else ""
        found.effects.append(("write" if match["file"].startswith(_WRITES) else "read", text, False, NO_LABELS, method))
    for call in _CALL.finditer(line):
        _call(call, labels, found, depth)
    rest = line.partition("|")[2]
    if rest and depth < _MOST_BARS:
        _command(rest, labels, found, depth + 1)
    elif rest:
        found.doubts.append("a line has more commands than are looked at")


def _call(call: re.Match[str], labels: frozenset[str], found: Found, depth: int) -> None:
    """Note the effect of a function that runs, writes or deletes; one that runs an unknown text is a doubt."""
    name, text, is_whole = call[1], call[3], call[4] is not None
    if name in ("delete", "writefile"):
        paths = _STRING.findall(call.string, call.start())
        if paths:
            path = paths[0 if name == "delete" else -1]
            found.effects.append(("delete" if name == "delete" else "write", path, name == "delete", NO_LABELS, ""))
    elif name == "py3eval":
        found.codes.append(("python", Data(text if text and is_whole else UNKNOWN, labels)))
    elif name.startswith("exe") or name == "feedkeys":
        if text and is_whole and depth < 20:
            _command(text.partition("\\<CR>")[0], labels, found, depth + 1)
        elif not is_whole:
            found.doubts.append("an editor's command is not known")
    else:
        found.shells.append(Data(text if text and is_whole and name != "call" else UNKNOWN, labels))
