"""Brace expansion: ``{a,b}`` and ``{1..9}``."""

from __future__ import annotations

import itertools
import re

from agent_hooks.shell.syntax import Bare
from agent_hooks_guards.model.actions import TooMuchError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.shell.syntax import Part, Word

_RANGE = re.compile(r"(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.(-?\d{1,4}))?")
_MAX_WORDS = 64
_LONGEST_BRACED = 4096  # pieces of a word with braces
_LONGEST_RANGE = 80  # of `{1..9}`


def expand_braces(word: Word) -> list[Word]:
    """Return the words that ``word`` expands to."""
    waiting = [_items(word)]
    done: list[Word] = []
    while waiting and len(done) + len(waiting) <= _MAX_WORDS:
        items = waiting.pop(0)
        made = _first_brace(items)
        if made is None:
            done.append(_word(items))
        elif len(items) > _LONGEST_BRACED:
            raise TooMuchError
        else:
            waiting = made + waiting
    return done + [_word(items) for items in waiting]


def _items(word: Word) -> list[Part]:
    """Return the parts of a word, with each unquoted character as a part."""
    items: list[Part] = []
    for part in word:
        if type(part) is Bare:
            items += [Bare(char) for char in part.text]
        else:
            items.append(part)
    return items


def _word(items: list[Part]) -> Word:
    word: Word = []
    for is_bare, run in itertools.groupby(items, key=lambda item: type(item) is Bare):
        if is_bare:
            word.append(Bare("".join(item.text for item in run)))  # type: ignore[union-attr]
        else:
            word += run
    return word


def _first_brace(items: list[Part]) -> list[list[Part]] | None:
    """Return the expansions of the first brace expression; None if there is none."""
    open_braces: list[list[int]] = []  # each with the commas in it
    closed: dict[int, tuple[list[int], int]] = {}
    for at, item in enumerate(items):
        char = item.text if type(item) is Bare else ""
        if char == "{":
            open_braces.append([at])
        elif char == "," and open_braces:
            open_braces[-1].append(at)
        elif char == "}" and open_braces:
            commas = open_braces.pop()
            closed[commas[0]] = commas, at
    for start, (commas, end) in sorted(closed.items()):
        before, after = items[:start], items[end + 1 :]
        if len(commas) > 1:
            cuts = [*commas, end]
            return [before + items[a + 1 : b] + after for a, b in itertools.pairwise(cuts)]
        if end - start > _LONGEST_RANGE:
            continue
        inside = items[start + 1 : end]
        texts = [each.text if type(each) is Bare else "" for each in inside]
        match = _RANGE.fullmatch("".join(texts)) if all(texts) else None
        if match:
            return [[*before, Bare(text), *after] for text in _range(*match.groups())]
    return None


def _range(first: str, last: str, step: str | None) -> list[str]:
    is_number = first.lstrip("-").isdigit() and last.lstrip("-").isdigit()
    if not is_number and (len(first) > 1 or len(last) > 1):
        return [f"{{{first}..{last}}}"]
    a, b = (int(first), int(last)) if is_number else (ord(first), ord(last))
    by = max(abs(int(step or 1)), 1) * (1 if a <= b else -1)
    numbers = list(range(a, b + (1 if by > 0 else -1), by))[:_MAX_WORDS]
    return [str(number) if is_number else chr(number) for number in numbers]
