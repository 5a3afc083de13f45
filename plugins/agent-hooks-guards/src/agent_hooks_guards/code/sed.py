"""What a sed script would do: the commands it runs (GNU's `e`) and the files that it reads and writes."""

from __future__ import annotations

from agent_hooks_guards.model.values import NO_LABELS, UNKNOWN, Data

from . import STDIN, Found

_DEVICES = frozenset(("/dev/stdout", "/dev/stderr", "/dev/stdin", "-"))
_MOST_COMMANDS = 5_000


def scan(text: str, labels: frozenset[str], arguments: list[str], language: str) -> Found:
    """What a sed script would do. ``arguments`` and ``language`` are not looked at."""
    del arguments, language
    found = Found()
    at = 0
    size = len(text)
    steps = 0
    while at < size and steps < _MOST_COMMANDS:
        steps += 1
        at = _address(text, at)
        if at >= size:
            break
        command = text[at]
        at += 1
        if command in "{};\n \t\r!" or command.isspace():
            continue
        if command == "#":
            at = _line_end(text, at)
        elif command in "sy":
            at = _substitute(text, at, command, labels, found)
        elif command == "e":
            end = _line_end(text, at)
            code = text[at:end].strip()
            _shell(found, Data(code, labels) if code else Data(UNKNOWN, labels | {STDIN}))
            at = end
        elif command in "rRwW":
            end = _line_end(text, at)
            path = text[at:end].strip()
            if path and path not in _DEVICES:
                kind = "read" if command in "rR" else "write"
                _effect(found, kind, path, labels if kind == "write" else NO_LABELS)
            at = end
        elif command in "aic":
            at = _text_end(text, at)
        elif command in ":btTv":
            end = at
            while end < size and text[end] not in "\n;" and not (text[end] == "}" and command != ":"):
                end += 1
            at = end
        elif command == UNKNOWN:
            if text.strip() == UNKNOWN:
                found.doubts.append("the code is not known")
        # Any other command has no argument but a number: `q`, `Q`, `l`, `n`, `p` …
        else:
            while at < size and (text[at].isdigit() or text[at] == " "):
                at += 1
    if steps >= _MOST_COMMANDS:
        found.doubts.append("the code is longer than what is looked at")
    return found


def _shell(found: Found, data: Data) -> None:
    if data not in found.shells:
        found.shells.append(data)


def _effect(found: Found, kind: str, path: str, labels: frozenset[str]) -> None:
    effect = (kind, path, False, labels, "")
    if effect not in found.effects:
        found.effects.append(effect)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


def _text_end(text: str, at: int) -> int:
    """Behind the text of `a`, `i` and `c`, which goes on behind a backslash at a line's end."""
    size = len(text)
    while at < size:
        if text[at] == "\\":
            at += 2
        elif text[at] == "\n":
            break
        else:
            at += 1
    return min(at, size)


def _address(text: str, at: int) -> int:
    """Behind the addresses at ``at``: numbers, `$`, patterns, `first~step`, `+n`, with commas."""
    size = len(text)
    while at < size:
        char = text[at]
        if char.isdigit() or char in "$,~+ \t!;\n{}":
            at += 1
        elif char == "/":
            at = _flags(text, _pattern_end(text, at + 1, "/"))
        elif char == "\\" and at + 1 < size:
            at = _flags(text, _pattern_end(text, at + 2, text[at + 1]))
        else:
            break
    return at


def _flags(text: str, at: int) -> int:
    while at < len(text) and text[at] in "IM":
        at += 1
    return at


def _pattern_end(text: str, at: int, mark: str) -> int:
    """Behind the ``mark`` that ends a pattern."""
    size = len(text)
    in_class = False
    while at < size:
        char = text[at]
        if char == "\\":
            at += 2
            continue
        if char == "[" and not in_class and mark != "[":
            in_class = "]" in text[at + 2 : _line_end(text, at)]
            at += 2 if in_class and text[at + 1 : at + 2] != "^" else 3 if in_class else 1
            continue
        if char == "]":
            in_class = False
        elif char == mark and not in_class:
            return at + 1
        at += 1
    return size


def _substitute(text: str, at: int, command: str, labels: frozenset[str], found: Found) -> int:
    """`s/pattern/replacement/flags` and `y/a/b/`."""
    size = len(text)
    if at >= size:
        return at
    mark = text[at]
    start = at + 1
    middle = _pattern_end(text, start, mark)
    # A bracket expression may hold the mark, if the rest still makes a whole command.
    end = _plain_end(text, middle, mark)
    replacement = text[middle : max(end - 1, middle)]
    pattern = text[start : max(middle - 1, start)]
    if command == "y":
        return end
    at = end
    while at < size and text[at] not in ";}\n#":
        flag = text[at]
        at += 1
        if flag == "e":
            for data in _executed(pattern, replacement, labels):
                _shell(found, data)
        elif flag == "w":
            stop = _line_end(text, at)
            path = text[at:stop].strip()
            if path and path not in _DEVICES:
                _effect(found, "write", path, labels)
            return stop
        elif not (flag.isdigit() or flag in "gpiImM \t\r"):
            break
    return at


def _plain_end(text: str, at: int, mark: str) -> int:
    """Behind the ``mark`` that ends a replacement."""
    size = len(text)
    while at < size:
        if text[at] == "\\":
            at += 2
        elif text[at] == mark:
            return at + 1
        else:
            at += 1
    return size


_WHOLE_LINE = frozenset(
    (".*", "^.*", "^.*$", ".*$", "\\(.*\\)", "(.*)", "^\\(.*\\)$", "^(.*)$", ".\\+", ".+", "^.+$", "^..*", "..*", "^$"),
)


def _executed(pattern: str, replacement: str, labels: frozenset[str]) -> list[Data]:
    """What `s///e` gives to the shell: the whole line after the replacement.

    It is known where the pattern takes the whole line and the replacement uses nothing of it. Else it is a line that is
    not known; the replacement, which stands in it, is told too.
    """
    out: list[str] = []
    at = 0
    is_known = pattern in _WHOLE_LINE
    while at < len(replacement):
        char = replacement[at]
        following = replacement[at + 1 : at + 2]
        if char == "&" or (char == "\\" and following.isdigit()):
            out.append(UNKNOWN)
            is_known = False
        elif char == "\\":
            out.append(
                {"n": "\n", "t": "\t"}.get(following, "" if following in ("U", "L", "E", "u", "l") else following)
            )
        else:
            out.append(char)
        at += 2 if char == "\\" else 1
    text = "".join(out)
    if is_known:
        return [Data(text, labels)]
    found = [Data(UNKNOWN, labels | {STDIN})]
    if text.replace(UNKNOWN, "").strip():
        found.insert(0, Data(text, labels))
    return found
