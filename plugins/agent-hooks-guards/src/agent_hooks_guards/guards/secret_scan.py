"""Finds keys, tokens and passwords in strings by the forms that their issuers gave them (``secret_forms.toml``).

Only unmistakable forms are found: a prefix of one issuer, followed by as many characters as it issues; private keys;
passwords in addresses. Randomness alone is no sign: hashes, identifiers and images are as random. Placeholders
(``ghp_xxxx…``, ``AKIAIOSFODNN7EXAMPLE``, ``user:${PASSWORD}@``) are no secrets.

Maintained detectors are too slow for a hook: detect-secrets 1.5 takes 0.16 s to import and six times as long per
string, misses the keys of six current issuers, and takes their documented examples for keys.
"""

from __future__ import annotations

import os

from agent_hooks.shell.syntax import Record
from agent_hooks.system.caching import cache, cached_property
from agent_hooks_guards.model.tables import load_tables

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator, Sequence
    from re import Match, Pattern
    from typing import Any

    Mark = tuple["_Form", str]

PIECE = 65_536  # characters of a long text that are searched in a millisecond or a few
# Every secret is as long, or part of an address.
MIN_SECRET = 20  # characters
_MOST_STRINGS = 5000  # looked at in one piece
_MIN_CHARACTERS = 5  # different ones, in a secret that an issuer made
_MAX_LEAD = 24  # characters of a token before its mark, or of a scheme before "://"
_MAX_SETTING = 256  # characters of a value that only its key marks as a secret
_MAX_SHORT = 100  # characters of a secret in which the short placeholders count
# A text that is made of secrets without anything between them takes no longer.
MAX_PASSES = 8
REDACTED = "[redacted]"
_TEMPLATE_MARKS = frozenset("${}[]()*")


class Found(Record):
    """A secret in a string: its ``kind``, "" if only its place tells it, ``start`` and ``end``."""

    __slots__ = ("end", "kind", "start")

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end


class _Form:
    """A row of ``forms`` in ``secret_forms.toml``, compiled when one of its marks occurs."""

    def __init__(self, kind: str, marks: tuple[str, ...], pattern: str, lead: str = "") -> None:
        self.kind = kind
        self.marks = marks
        self._texts = (pattern, rf"(?:(?<!\w)|(?<=\\[nrt])|(?=-))(?:{lead})\Z" if lead else "")

    @cached_property
    def _patterns(self) -> tuple[Pattern[str], Pattern[str] | None]:
        """The pattern from the mark on, and that of the part before it, if there is one."""
        import re

        pattern, before = self._texts
        return re.compile(pattern), re.compile(before) if before else None

    def find(self, text: str, mark: str, at: int = 0, stop: int | None = None) -> Iterator[Found]:
        """Yield the secrets in ``text`` whose mark is in ``text[at:stop]``."""
        pattern, before = self._patterns
        # The mark may be part of a longer name of a setting.
        is_setting = "secret" in pattern.groupindex
        at = text.find(mark, at, stop)
        while at != -1:
            start, match = at, None
            if before is not None:
                lead = before.search(text[max(0, at - _MAX_LEAD) : at])
                if lead is not None:
                    start -= len(lead[0])
                    match = pattern.match(text, at)
            elif is_setting or at == 0 or not _continues(text, at):
                match = pattern.match(text, at)
            if match is not None:
                start, end = match.span("secret") if is_setting else (start, match.end())
                if not _is_placeholder(text[start:end]) and not _is_example_login(match):
                    yield Found(self.kind, start, end)
            at = text.find(mark, at + 1 if match is None else match.end(), stop)


def find(text: str, marks: Iterable[Mark] | None = None) -> list[Found]:
    """Return the secrets in ``text``, in order, without overlaps, in time proportional to its length. ``marks``: the
    only ones that may be in it.
    """
    found: list[Found] = []
    for form, mark in _marks() if marks is None else marks:
        if mark in text:
            found.extend(form.find(text, mark))
    return without_overlaps(found)


def find_in_turns(text: str, seen: dict[Mark, None] | None = None) -> Generator[None, None, list[Found]]:
    """Do as ``find``, piece by piece of the text, and add the marks that are in it to ``seen``."""
    found: list[Found] = []
    for start in range(0, len(text), PIECE):
        for form, mark in _marks():
            stop = start + PIECE + len(mark) - 1
            if text.find(mark, start, stop) != -1:
                found.extend(form.find(text, mark, start, stop))
                if seen is not None:
                    seen[form, mark] = None
        yield
    return without_overlaps(found)


def marks_in_turns(strings: Iterable[str]) -> Generator[None, None, Sequence[Mark]]:
    """Return the marks that are in ``strings``, piece by piece; none if no string holds a secret."""
    seen: dict[Mark, None] = {}
    is_found = False
    for batch in _batches(strings):
        joined = "\n".join(batch)
        if len(joined) > 2 * PIECE:
            for text in batch:
                found = yield from find_in_turns(text, seen)
                is_found = is_found or bool(found)
        elif marks := [each for each in _marks() if each[1] in joined]:  # one search for all of them
            seen.update(dict.fromkeys(marks))
            is_found = is_found or any(find(text, marks) for text in batch)
        yield
    return tuple(seen) if is_found else ()


def _batches(strings: Iterable[str]) -> Iterator[list[str]]:
    """Yield those of ``strings`` that may hold a secret, in lists that are as long as a ``PIECE`` together."""
    batch: list[str] = []
    size = 0
    for number, text in enumerate(strings, 1):
        if may_hold_one(text):
            batch.append(text)
            size += len(text)
        if size >= PIECE or not number % _MOST_STRINGS:
            yield batch
            batch, size = [], 0
    yield batch


def may_hold_one(text: str) -> bool:
    """Return whether ``text`` is long enough for a secret, or may be part of an address."""
    return len(text) >= MIN_SECRET or "://" in text


def without_overlaps(found: list[Found]) -> list[Found]:
    """Return the secrets in order, those that overlap as one."""
    kept: list[Found] = []
    for each in sorted(found, key=lambda each: (each.start, -each.end)):
        if not kept or each.start >= kept[-1].end:
            kept.append(each)
        else:
            kept[-1] = Found(kept[-1].kind or each.kind, kept[-1].start, max(kept[-1].end, each.end))
    return kept


def replaced(text: str, found: list[Found]) -> str:
    """Return ``text`` with ``[redacted: kind]`` in place of each of the ``found`` secrets."""
    parts, at = [""], 0
    for each in found:
        parts += (text[at : each.start], f"[redacted: {each.kind}]" if each.kind else REDACTED)
        at = each.end
    return "".join((*parts, text[at:]))


def redacted(text: str, found: list[Found]) -> str:
    """Return ``text`` without the ``found`` secrets, and those that come to light when these are gone."""
    for _ in range(MAX_PASSES):
        beside = "".join(text[each.start - 1 : each.start] + text[each.end : each.end + 1] for each in found)
        text = replaced(text, found)
        # What ran into a secret may be found once that is gone.
        found = find(text) if any(char.isalnum() or char in "_-" for char in beside) else []
        if not found:
            break
    return text


def without_secrets(text: str) -> str:
    """Return ``text`` with ``[redacted: kind]`` in place of each secret."""
    return redacted(text, find(text))


def as_setting(key: Any, text: Any) -> str:
    """Return key and value as one setting if only the key can mark the value as a secret, else ""."""
    if not isinstance(key, str) or not isinstance(text, str) or len(text) > _MAX_SETTING or "key" not in key.lower():
        return ""
    return f'{key}: "{text}"'


@cache
def _tables() -> dict[str, Any]:
    forms: dict[str, Any] = load_tables(os.path.dirname(__file__))["secret_forms"]
    return forms


@cache
def _marks() -> tuple[Mark, ...]:
    forms = [_Form(*row) for row in _tables()["forms"]]
    return tuple((form, mark) for form in forms for mark in form.marks)


def _continues(text: str, at: int) -> bool:
    """Return whether a token that starts before ``at`` goes on there."""
    letter = text[at - 1]
    if not (letter.isalnum() or letter == "_" or (letter == "-" and text[at - 2 : at - 1].isalnum())):
        return False
    # In a quoted string, `\n` and the like end a token.
    return not (letter in "nrt" and text[at - 2 : at - 1] == "\\")


def _is_placeholder(secret: str) -> bool:
    lower, tables = secret.lower(), _tables()
    parts = tables["placeholders"] + (tables["short_placeholders"] if len(secret) <= _MAX_SHORT else [])
    body = lower[4:] if len(lower) > 8 else lower
    characters = set(body)
    is_repeated = len(characters) < _MIN_CHARACTERS or 2 * max(map(body.count, characters)) > len(body)
    return is_repeated or any(part in lower for part in parts)


def _is_example_login(match: Match[str]) -> bool:
    """Return whether a password in an address is no secret, or none outside of this machine."""
    parts = match.groupdict()
    if "host" not in parts:
        return False
    secret, host, url = parts["secret"].lower(), parts["host"].lower(), _tables()["url"]
    return (
        secret in (parts["user"].lower(), *url["plain_passwords"])
        or host.startswith(tuple(url["own_hosts"]))
        or host.endswith(tuple(url["example_hosts"]))
        or secret[0] == "%"
        or not _TEMPLATE_MARKS.isdisjoint(secret)
    )
