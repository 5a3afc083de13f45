"""What ``jq`` prints of known text, for programs of literals, paths and functions of texts and lists."""

from __future__ import annotations

import base64
import json
import re

from agent_hooks_guards.model.values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from agent_hooks_guards.model.options import Options

_PATH = re.compile(r"\.(?:(\w+)|\"([^\"\\]*)\"|\[\"?([\w-]*)\"?\])(?:\.(?=\[))?")
_CALL = re.compile(r'(\w+)\(("(?:[^"\\]|\\.)*")(?:;\s*("(?:[^"\\]|\\.)*"))?\)')
_MOST_VALUES = 1000

_SIMPLE: dict[str, Callable[[Any], Any]] = {
    ".": lambda value: value,
    "implode": lambda value: "".join(map(chr, value)),
    "explode": lambda value: [ord(char) for char in value],
    "reverse": lambda value: value[::-1],
    "@base64d": lambda value: base64.b64decode(value + "===").decode(),
    "@base64": lambda value: base64.b64encode(value.encode()).decode(),
    "@text": lambda value: value if isinstance(value, str) else json.dumps(value),
    "tostring": lambda value: value if isinstance(value, str) else json.dumps(value),
    "tojson": json.dumps,
    "fromjson": json.loads,
    "ascii_downcase": lambda value: value.lower(),
    "ascii_upcase": lambda value: value.upper(),
    "add": "".join,
    "first": lambda value: value[0],
    "last": lambda value: value[-1],
}
_WITH_TEXT: dict[str, Callable[[Any, str], Any]] = {
    "join": lambda value, text: text.join(value),
    "split": lambda value, text: value.split(text),
    "ltrimstr": lambda value, text: value.removeprefix(text),
    "rtrimstr": lambda value, text: value.removesuffix(text),
}


def printed(argv: list[str], text: str, options: Options) -> str | None:
    """Return what ``jq`` with the words ``argv`` prints when it reads ``text``; None if that is not known."""
    names = [at + 1 for at in range(len(argv) - 2) if argv[at] == "--arg"]
    named = {argv[at]: argv[at + 1] for at in names}
    program = next((argv[at] for at in options.operands if at not in names and at - 1 not in names), UNKNOWN)
    reads = not options.has("-n|--null-input")
    if UNKNOWN in program or (reads and UNKNOWN in text):
        return None
    try:
        values = _inputs(text, options) if reads else [None]
        for stage in _split(program, "|"):
            values = [made for value in values for made in _summed(stage, value, named)]
            if len(values) > _MOST_VALUES:
                return None
        end = "" if options.has("-j|--join-output") else "\n"
        raw = options.has("-r|-j|--raw-output|--join-output|--raw-output0")
        indent, marks = (None, (",", ":")) if options.has("-c|--compact-output") else (2, (",", ": "))
        return "".join(
            [
                value + end
                if raw and isinstance(value, str)
                else json.dumps(value, indent=indent, separators=marks, ensure_ascii=False) + end
                for value in values
            ]
        )
    except Exception:  # noqa: BLE001 - the program itself would fail here, or nothing is known
        return None


def _inputs(text: str, options: Options) -> list[Any]:
    if options.has("-R|--raw-input"):
        return [text] if options.has("-s|--slurp") else text.splitlines()
    values = []
    text = text.strip()
    while text:
        value, end = json.JSONDecoder().raw_decode(text)
        values.append(value)
        text = text[end:].lstrip()
    return [values] if options.has("-s|--slurp") else values


def _split(program: str, mark: str) -> list[str]:
    """The parts between marks, outside of quotes and brackets."""
    parts, depth, quoted, escaped = [""], 0, False, False
    for char in program:
        if quoted:
            quoted = escaped or char != '"'
            escaped = char == "\\" and not escaped
        else:
            quoted = char == '"'
            depth += (char in "([{") - (char in ")]}")
            if char == mark and not depth:
                parts.append("")
                continue
        parts[-1] += char
    return parts


def _summed(stage: str, value: Any, named: dict[str, str]) -> list[Any]:
    """What a stage makes of a value: texts that are put together, or one part."""
    parts = _split(stage, "+")
    if len(parts) == 1:
        return _applied(stage.strip(), value, named)
    return ["".join(text for part in parts for text in _applied(part.strip(), value, named))]


def _applied(stage: str, value: Any, named: dict[str, str]) -> list[Any]:
    """What one part makes of a value. Raises for what is not known."""
    if stage[:1] == "$":
        return [named[stage[1:]]]
    simple = _SIMPLE.get(stage)
    if simple is not None:
        return [simple(value)]
    call = _CALL.fullmatch(stage)
    if call is not None:
        text = json.loads(call[2])
        if call[1] in ("gsub", "sub") and call[3] is not None and text.isalnum():
            return [value.replace(text, json.loads(call[3]), -1 if call[1] == "gsub" else 1)]
        return [_WITH_TEXT[call[1]](value, text)]
    if stage[:1] != ".":
        return [json.loads(stage)]
    values = [value]
    at = 0
    while at < len(stage):
        step = _PATH.match(stage, at) if stage[at] == "." else _PATH.match(f".{stage[at:]}")
        assert step is not None
        at += len(step[0]) if stage[at] == "." else len(step[0]) - 1
        key = step[1] or step[2] or step[3]
        values = [
            made
            for each in values
            for made in ((each.values() if isinstance(each, dict) else each) if not key else [_item(each, key)])
        ]
    return values


def _item(value: Any, key: str) -> Any:
    return value[int(key)] if isinstance(value, list) else value[key]
