"""The hosts that curl makes of URLs: ``{a,b}`` and ``[1-9]`` in it, https://curl.se/docs/url-syntax.html."""

from __future__ import annotations

from agent_hooks_guards.model.values import UNKNOWN

_MOST = 256
_LONGEST = 2048  # characters


def expanded(urls: list[str]) -> list[str]:
    """Return each URL once for each host that it stands for, with its path as it is written; a part of which there are
    too many is not known.
    """
    if not any("{" in url or "[" in url for url in urls):
        return urls
    found: list[str] = []
    for url in urls:
        found += _expanded(url, max(_MOST - len(found), 1))
    return found


def _expanded(url: str, most: int) -> list[str]:
    if len(url) > _LONGEST:
        return [url]
    at = _end_of_host(url)
    found, rest = [""], url[:at]
    while rest:
        choices, rest = _next(rest)
        if len(found) * len(choices) > most:
            choices = [UNKNOWN]
        found = [before + each for before in found for each in choices]
    return [each + url[at:] for each in dict.fromkeys(found)]


def _end_of_host(url: str) -> int:
    """Where the path begins; a set may hold a whole URL, and of a file all is path."""
    if url[:5].lower() == "file:":
        return len(url)
    depth = 0
    at = url.find("://")
    at = at + 3 if at >= 0 and "{" not in url[:at] else 0
    while at < len(url):
        letter = url[at]
        depth += (letter == "{") - (letter == "}")
        if letter in "/?#" and not depth:
            return at
        at += 1
    return at


def _next(text: str) -> tuple[list[str], str]:
    """Return what the beginning of ``text`` stands for, and the rest."""
    if text[0] == "{" and "}" in text:
        choices, _, rest = text[1:].partition("}")
        return choices.split(","), rest
    if text[0] == "[" and "]" in text:
        inside, _, rest = text[1:].partition("]")
        return _range(inside) or [f"[{inside}]"], rest
    size = 1
    while size < len(text) and text[size] not in "{[":
        size += 1
    return [text[:size]], text[size:]


def _range(text: str) -> list[str]:
    """The numbers or letters of ``1-9``, ``01-10:3``, ``a-z``; nothing for an address such as ``::1``."""
    span, _, step = text.partition(":")
    first, dash, last = span.partition("-")
    if not dash or not (step or "1").isdecimal():
        return []
    by = max(int(step or "1"), 1)
    if first.isdecimal() and last.isdecimal() and len(last) < 10:
        end = min(int(last) + 1, int(first) + by * (_MOST + 1))
        return [str(number).zfill(len(first)) for number in range(int(first), end, by)]
    if len(first) == len(last) == 1 and first.isalpha() and last.isalpha() and span.isascii():
        return list(map(chr, range(ord(first), ord(last) + 1, by)))
    return []
