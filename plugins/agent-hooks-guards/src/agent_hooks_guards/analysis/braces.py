"""Brace expansion: ``{a,b}`` and ``{1..9}``."""

from __future__ import annotations

import itertools
import re

from agent_hooks.shell.syntax import Bare
from agent_hooks_guards.model.actions import TooMuchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.shell.syntax import Word

_RANGE = re.compile(r"(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.(-?\d{1,4}))?")
_MAX_WORDS = 64
_LONGEST_BRACED = 4096  # characters
_PART = 0xF0000
_PARTS = re.compile("([\U000f0000-\U000fffff])")


def expand_braces(word: Word) -> list[Word]:
    """Return the words that ``word`` expands to."""
    if len(word) > _LONGEST_BRACED:
        raise TooMuchError
    # In the text that is expanded, a character stands for each part that is quoted or expanded later.
    waiting = ["".join(part.text if type(part) is Bare else chr(_PART + at) for at, part in enumerate(word))]
    done: list[str] = []
    while waiting and len(done) + len(waiting) <= _MAX_WORDS:
        text = waiting.pop(0)
        made = _first_brace(text)
        if made is None:
            done.append(text)
        elif len(text) > _LONGEST_BRACED:
            raise TooMuchError
        else:
            waiting = made + waiting
    return [
        [word[ord(run) - _PART] if _PARTS.match(run) else Bare(run) for run in _PARTS.split(text) if run]
        for text in done + waiting
    ]


def _first_brace(text: str) -> list[str] | None:
    """Return the expansions of the first brace expression; None if there is none."""
    open_braces: list[list[int]] = []  # each with the commas in it
    closed: dict[int, tuple[list[int], int]] = {}
    for at, char in enumerate(text):
        if char == "{":
            open_braces.append([at])
        elif char == "," and open_braces:
            open_braces[-1].append(at)
        elif char == "}" and open_braces:
            commas = open_braces.pop()
            closed[commas[0]] = commas, at
    for start, (commas, end) in sorted(closed.items()):
        inside = [text[a + 1 : b] for a, b in itertools.pairwise([*commas, end])]
        match = _RANGE.fullmatch(inside[0])
        if len(inside) == 1 and match and match[1].isalpha() == match[2].isalpha():
            inside = _range(*match.groups())
        elif len(inside) == 1:
            continue
        return [text[:start] + each + text[end + 1 :] for each in inside]
    return None


def _range(first: str, last: str, step: str | None) -> list[str]:
    is_number = not first.isalpha()
    a, b = (int(first), int(last)) if is_number else (ord(first), ord(last))
    by = max(abs(int(step or 1)), 1) * (1 if a <= b else -1)
    numbers = list(range(a, b + (1 if by > 0 else -1), by))[:_MAX_WORDS]
    return [str(number) if is_number else chr(number) for number in numbers]
