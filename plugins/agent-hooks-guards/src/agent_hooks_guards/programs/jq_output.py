"""What ``jq`` prints of known JSON, for filters of paths, texts, variables, ``join`` and a few formats."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from agent_hooks_guards.shell.values import UNKNOWN

if TYPE_CHECKING:
    from typing import Any

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\[^(])*")|\.?\[\s*(?P<item>-?\d{1,6}|"[^"\\]*")\s*\]|(?P<all>\.?\[\])
    |\.(?P<key>[A-Za-z_]\w*|"[^"\\]*")|(?P<self>\.)|\$(?P<name>\w+)|join\((?P<joint>"(?:[^"\\]|\\[^(])*")\)
    |(?P<word>@base64d|@base64|@text|tostring|implode|add|first|last|reverse)|(?P<mark>[|+,]))""",
    re.VERBOSE,
)
_MOST_STEPS = 32


class _NotKnownError(Exception):
    """It is no filter that is looked at, or jq itself would fail."""


def printed(argv: list[str], text: str) -> str | None:
    """Return what ``jq`` with the words ``argv`` prints when it reads ``text``; None if that is not known. What stands
    behind the filter is not looked at: these are files.
    """
    letters, program, named = _words(argv)
    if program is None or UNKNOWN in program or ("n" not in letters and UNKNOWN in text):
        return None
    end = "" if "j" in letters else "\n"
    try:
        inputs = [None] if "n" in letters else _values(text)
        made = [each for value in inputs for each in _results(program, value, named)]
        shown = [each if isinstance(each, str) and letters & {"r", "j"} else _shown(each) for each in made]
    except (_NotKnownError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return None
    return "".join(f"{each}{end}" for each in shown)


def _words(argv: list[str]) -> tuple[set[str], str | None, dict[str, Any]]:
    """The letters of the options, the filter if it is one of texts, and what ``--arg`` gives names to."""
    letters: set[str] = set()
    named: dict[str, Any] = {}
    program: str | None = None
    rest = iter(argv[1:])
    long = {"--raw-output": "r", "--null-input": "n", "--join-output": "j", "--compact-output": "c"}
    for word in rest:
        if word == "--arg":
            name = next(rest, "")
            named[name] = next(rest, "")
        elif word in long:
            letters.add(long[word])
        elif word[:1] == "-" and word[1:2] != "-" and set(word[1:]) <= set("rnjcM"):
            letters.update(word[1:])
        elif word[:1] == "-":
            return letters, None, named
        elif program is None:
            program = word
    return letters, program, named


def _values(text: str) -> list[Any]:
    decoder = json.JSONDecoder()
    values: list[Any] = []
    at = 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = decoder.raw_decode(text, at)
        values.append(value)
    return values


def _shown(value: Any) -> str:
    if isinstance(value, (dict, list)) and value:
        raise _NotKnownError
    return json.dumps(value, ensure_ascii=False)


def _results(program: str, value: Any, named: dict[str, Any]) -> list[Any]:
    """What a filter makes of one value: steps that are joined by nothing or ``|``, sums by ``+``."""
    current: list[Any] = [value]
    given, fresh = current, True
    sums: list[Any] = []
    at = 0
    for _ in range(_MOST_STEPS):
        if not program[at:].strip():
            return [_sum(sums, each) for each in current]
        match = _TOKEN.match(program, at)
        if match is None:
            raise _NotKnownError
        at = match.end()
        mark = match["mark"]
        if mark == "|":
            current = [_sum(sums, each) for each in current]
            given, sums, fresh = current, [], True
        elif mark == "+" and len(current) == 1:
            sums.append(current[0])
            current, fresh = given, True
        elif mark:
            raise _NotKnownError
        else:
            if not fresh and (match["text"] or match["name"] or match["word"] or match["joint"] or match["self"]):
                raise _NotKnownError
            current = [made for each in current for made in _step(match, each, named)]
            fresh = False
    raise _NotKnownError


def _sum(parts: list[Any], last: Any) -> Any:
    if not parts:
        return last
    if not all(isinstance(each, str) for each in (*parts, last)):
        raise _NotKnownError
    return "".join([*parts, last])


def _step(match: re.Match[str], value: Any, named: dict[str, Any]) -> list[Any]:
    if match["text"] is not None:
        return [json.loads(match["text"])]
    if match["name"] is not None:
        return [named[match["name"]]]
    if match["key"] is not None:
        key = match["key"]
        return [value.get(json.loads(key) if key[:1] == '"' else key) if value is not None else None]
    if match["item"] is not None:
        return [value[json.loads(match["item"])]]
    if match["all"] is not None:
        return list(value.values() if isinstance(value, dict) else value)
    if match["joint"] is not None:
        return [json.loads(match["joint"]).join(str(each) for each in value)]
    return [value if match["word"] is None else _made(match["word"], value)]


def _made(word: str, value: Any) -> Any:
    from . import encodings

    if word == "implode":
        return "".join(map(chr, value))
    if word in ("add", "first", "last", "reverse"):
        if not isinstance(value, list) or not value:
            raise _NotKnownError
        return {"add": _sum(value[:-1], value[-1]), "first": value[0], "last": value[-1], "reverse": value[::-1]}[word]
    if not isinstance(value, str):
        raise _NotKnownError
    if word == "@base64d":
        decoded = encodings.decode_base(value, "base64")
        if decoded is None:
            raise _NotKnownError
        return decoded
    return encodings.encode_base(value, "base64", 0) if word == "@base64" else value
