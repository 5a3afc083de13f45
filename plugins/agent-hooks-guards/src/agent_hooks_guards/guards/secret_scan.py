"""Finds keys, tokens and passwords in strings by the forms that their issuers gave them (``secret_forms.toml``).

Only unmistakable forms are found: a prefix of one issuer, followed by as many characters as it issues; private keys;
passwords in addresses. Randomness alone is no sign: hashes, identifiers and images are as random. Placeholders
(``ghp_xxxx…``, ``AKIAIOSFODNN7EXAMPLE``, ``user:${PASSWORD}@``) are no secrets.

Maintained detectors are too slow for a hook: detect-secrets 1.5 takes 0.16 s to import and six times as long per
string, misses the keys of six current issuers, and takes their documented examples for keys.
"""

from __future__ import annotations

import os
from functools import cache

from agent_hooks.shell.syntax import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from re import Pattern
    from typing import Any

_MIN_CHARACTERS = 5  # different ones, in a secret that an issuer made
_MAX_LEAD = 24  # characters of a token before its mark, or of a scheme before "://"
_MAX_LOGIN = 400  # characters
_MAX_SETTING = 256  # characters of a value that only its key marks as a secret
_TEMPLATE_MARKS = frozenset("${}[]()*")

_KEY_MARK = "PRIVATE KEY"
_PUTTY_MARK = "Private-Lines:"
_MAX_KEY = 32 * 1024  # characters
_MAX_HEAD = 40
_KEY_LETTERS = r"(?:[A-Za-z0-9+/=:,\s\"'-]|\\[nrt])*"
_KEY_PIECE = "[A-Za-z0-9+/]{20}"


class Found(Record):
    """A secret in a string: its ``kind``, ``start`` and ``end``."""

    __slots__ = ("end", "kind", "start")

    def __init__(self, kind: str, start: int, end: int) -> None:
        self.kind = kind
        self.start = start
        self.end = end


class _Form:
    """A row of ``forms`` in ``secret_forms.toml``, compiled when one of its marks occurs."""

    __slots__ = ("_before", "_pattern", "kind", "lead", "marks")

    def __init__(self, kind: str, marks: tuple[str, ...], pattern: str, lead: str = "") -> None:
        self.kind = kind
        self.marks = marks
        self.lead = lead
        self._pattern: str | Pattern[str] = pattern
        self._before: Pattern[str] | None = None

    def find(self, text: str, mark: str) -> Iterator[Found]:
        pattern = self._compile()
        # The mark may be part of a longer name of a setting.
        is_setting = "secret" in pattern.groupindex
        group: str | int = "secret" if is_setting else 0
        at = text.find(mark)
        while at != -1:
            start, match = at, None
            if self._before is not None:
                lead = self._before.search(text[max(0, at - _MAX_LEAD) : at])
                if lead is not None:
                    start -= len(lead[0])
                    match = pattern.match(text, at)
            elif is_setting or at == 0 or not _continues(text, at):
                match = pattern.match(text, at)
            if match is None:
                at = text.find(mark, at + 1)
                continue
            if not _is_placeholder(match[group], _tables()["all_placeholders"]):
                yield Found(self.kind, match.start(group) if is_setting else start, match.end(group))
            at = text.find(mark, match.end())

    def _compile(self) -> Pattern[str]:
        if isinstance(self._pattern, str):
            import re

            self._pattern = re.compile(self._pattern)
            if self.lead:
                self._before = re.compile(rf"(?:(?<!\w)|(?<=\\[nrt]))(?:{self.lead})\Z")
        return self._pattern


def find(text: str) -> list[Found]:
    """Return the secrets in ``text``, in order, without overlaps, in time proportional to its length."""
    found: list[Found] = []
    for form in _forms():
        for mark in form.marks:
            if mark in text:
                found.extend(form.find(text, mark))
    if _KEY_MARK in text or _PUTTY_MARK in text:
        found += _private_keys(text)
    if "://" in text:
        found += _passwords(text)
    if len(found) < 2:
        return found
    found.sort(key=lambda each: (each.start, -each.end))
    kept = found[:1]
    for each in found[1:]:
        if each.start >= kept[-1].end:
            kept.append(each)
        elif each.end > kept[-1].end:  # overlapping: both go
            kept[-1] = Found(kept[-1].kind, kept[-1].start, each.end)
    return kept


def redacted(text: str, found: list[Found]) -> str:
    """Return ``text`` with ``[redacted: kind]`` in place of the ``found`` secrets."""
    parts: list[str] = []
    at = 0
    for each in found:
        parts += (text[at : each.start], f"[redacted: {each.kind}]")
        at = each.end
    return "".join((*parts, text[at:]))


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
    from agent_hooks_guards.model.tables import load_tables

    tables = load_tables(os.path.dirname(__file__))["secret_forms"]
    return {**tables, "all_placeholders": (*tables["placeholders"], *tables["short_placeholders"])}


@cache
def _forms() -> tuple[_Form, ...]:
    return tuple(_Form(*row) for row in _tables()["forms"])


def _continues(text: str, at: int) -> bool:
    """Return whether a token that starts before ``at`` goes on there."""
    letter = text[at - 1]
    if not (letter.isalnum() or letter == "_" or (letter == "-" and text[at - 2 : at - 1].isalnum())):
        return False
    # In a quoted string, `\n` and the like end a token.
    return not (letter in "nrt" and text[at - 2 : at - 1] == "\\")


def _is_placeholder(secret: str, parts: tuple[str, ...]) -> bool:
    lower = secret.lower()
    return any(part in lower for part in parts) or len(set(lower[4:])) < _MIN_CHARACTERS


def _private_keys(text: str) -> Iterator[Found]:
    at = text.find(_KEY_MARK)
    while at != -1:
        head = text.rfind("-----BEGIN ", max(0, at - _MAX_HEAD), at)
        start = text.find("-----", at, at + _MAX_HEAD) + 5
        if head != -1 and start > 4:
            inner = _key_at(text, start, "-----", len(text))
            if inner:
                end = start + len(inner)
                tail = text.find("-----", end + 5, end + _MAX_HEAD) if text.startswith("-----END", end) else -1
                yield Found("private-key", head, tail + 5 if tail != -1 else end)
        at = text.find(_KEY_MARK, at + 1)
    at = text.find(_PUTTY_MARK)
    while at != -1:
        start = at + len(_PUTTY_MARK)
        at = text.find(_PUTTY_MARK, start)
        inner = _key_at(text, start, "Private-MAC", at if at != -1 else len(text))
        if inner:
            yield Found("private-key", start, start + len(inner))


def _key_at(text: str, start: int, ending: str, until: int) -> str:
    """Return the key that begins at ``start``, up to ``ending`` or, if cut off, to its last letter; "" if none."""
    import re

    until = min(until, start + _MAX_KEY)
    end = text.find(ending, start, until)
    inner = text[start : end if end != -1 else until]
    match = re.match(_KEY_LETTERS, inner)
    length = match.end() if match is not None else 0
    if end != -1 and length < len(inner):
        return ""  # prose about keys
    inner = inner[:length]
    is_key = re.search(_KEY_PIECE, inner) and not _is_placeholder(inner, tuple(_tables()["placeholders"]))
    return inner if is_key else ""


@cache
def _url_pattern() -> Pattern[str]:
    import re

    return re.compile(_tables()["url"]["pattern"])


def _passwords(text: str) -> Iterator[Found]:
    """Yield the passwords in addresses of other machines."""
    at = text.find("://")
    while at != -1:
        if text.find("@", at, at + _MAX_LOGIN) != -1:
            start = at
            while start > max(0, at - _MAX_LEAD) and (text[start - 1].isalnum() or text[start - 1] in "+.-"):
                start -= 1
            match = _url_pattern().match(text, start)
            if match is not None and not _is_plain_password(match["user"], match["secret"], match["host"]):
                yield Found("url-password", match.start("secret"), match.end("secret"))
        at = text.find("://", at + 3)


def _is_plain_password(user: str, secret: str, host: str) -> bool:
    """Return whether a password is no secret, or none outside of this machine."""
    lower, host, tables = secret.lower(), host.lower(), _tables()
    url = tables["url"]
    if lower == user.lower() or host.startswith(tuple(url["own_hosts"])) or host.endswith(tuple(url["example_hosts"])):
        return True
    if secret[0] == "%" or not _TEMPLATE_MARKS.isdisjoint(secret):
        return True
    if lower in url["plain_passwords"] or any(part in lower for part in tables["all_placeholders"]):
        return True
    return len(set(secret)) < _MIN_CHARACTERS
