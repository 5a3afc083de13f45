"""Regular expressions of ``sed`` and ``grep`` as Python's, where they mean the same and cannot take long."""

from __future__ import annotations

import re

from agent_hooks_guards.model.values import UNKNOWN

_MAX_STEPS = 2_000_000
# As they stand in brackets.
_CLASSES = {
    "alpha": "a-zA-Z",
    "digit": "0-9",
    "alnum": "a-zA-Z0-9",
    "upper": "A-Z",
    "lower": "a-z",
    "space": r"\s",
    "blank": r" \t",
    "punct": r"!-/:-@\[-`{-~",
    "xdigit": "0-9A-Fa-f",
}
_REPEATS = "*+?{"


def compiled(
    pattern: str, *, extended: bool, ignores_case: bool = False, longest: int, total: int
) -> re.Pattern[str] | None:
    """Return the basic or extended regular expression ``pattern`` for lines of at most ``longest`` characters.

    ``total``: how many characters there are in all. None for one that is not known, that Python reads otherwise, or
    that might take long.
    """
    if UNKNOWN in pattern or len(pattern) > 1000:
        return None
    made: list[str] = []
    repeats = 0
    at = 0
    starts = True  # here, * and ^ are as at the beginning
    while at < len(pattern):
        char = pattern[at]
        at += 1
        if char == "\\":
            if at == len(pattern):
                return None
            char = pattern[at]
            at += 1
            if char.isdigit():
                made.append(f"(?:\\{char})" if char != "0" else "")
                if char == "0":
                    return None
                starts = False
                continue
            if char in "nt":
                made.append("\\" + char)
                starts = False
                continue
            if char in "wWsSbB<>'`":
                if char in "'`":
                    return None
                made.append(r"\b" if char in "<>" else "\\" + char)
                starts = False
                continue
            if char.isalnum():
                return None
            is_special = not extended and char in "(){}|+?"
        elif char == "[":
            end = _end_of_brackets(pattern, at)
            inside = _brackets(pattern[at:end]) if end > 0 else None
            if inside is None:
                return None
            made.append(inside)
            at = end + 1
            starts = False
            continue
        else:
            is_special = char in ".*^$" or (extended and char in "(){}|+?")
        if not is_special or (char == "*" and starts) or (char == "^" and not starts and not extended):
            made.append(re.escape(char))
            starts = False
            continue
        if char == "$" and not extended and at < len(pattern) and not pattern.startswith(("\\)", "\\|"), at):
            made.append(r"\$")
            continue
        if char == "$":
            made.append(r"\Z")
            continue
        if char in _REPEATS:
            # A repeated group may take exponentially long.
            if starts or (made[-1] == ")" and char != "?"):
                return None
            if char == "{":
                end = pattern.find("}" if extended else "\\}", at)
                bounds = pattern[at:end] if end > 0 else "x"
                if not bounds or bounds.strip("0123456789,") or any(int(part or 0) > 255 for part in bounds.split(",")):
                    return None
                made.append(f"{{{bounds}}}" if not bounds.startswith(",") else f"{{0{bounds}}}")
                at = end + (1 if extended else 2)
            else:
                made.append(char)
            if pattern[at : at + 1] in tuple("*+?") and (extended or pattern[at] == "*"):
                return None
            repeats += 1
            continue
        made.append(char)
        starts = char in "(|^"
    # Every repetition may be tried with every length, every alternative with every other.
    if (total + 1) * (longest + 1) ** repeats << min(made.count("|"), 64) > _MAX_STEPS:
        return None
    try:
        return re.compile("".join(made), re.IGNORECASE if ignores_case else 0)
    except (re.error, OverflowError):
        return None


def _end_of_brackets(pattern: str, at: int) -> int:
    at += pattern.startswith("^", at)
    at += pattern.startswith("]", at)
    while at < len(pattern):
        if pattern[at] == "]":
            return at
        if pattern.startswith("[:", at):
            at = pattern.find(":]", at) + 1
            if at == 0:
                return -1
        at += 1
    return -1


def _brackets(inside: str) -> str | None:
    made = ["["]
    at = 0
    if inside.startswith("^"):
        made.append("^")
        at = 1
    while at < len(inside):
        if inside.startswith("[:", at):
            end = inside.find(":]", at)
            name = inside[at + 2 : end]
            if name not in _CLASSES:
                return None
            made.append(_CLASSES[name])
            at = end + 2
            continue
        if inside.startswith(("[=", "[."), at):
            return None
        char = inside[at]
        if char == "\\" and inside[at + 1 : at + 2] in ("n", "t"):
            made.append(inside[at : at + 2])
            at += 2
            continue
        made.append(char if char == "-" and 0 < at < len(inside) - 1 and made[-1] != "^" else re.escape(char))
        at += 1
    made.append("]")
    return "".join(made)
