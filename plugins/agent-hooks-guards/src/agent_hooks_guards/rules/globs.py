"""Globs of rules: ``*`` stands for any characters, ``[*]`` for a star, and nothing else is special."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    # A literal, or the parts between the stars.
    Glob = str | Sequence[str]


def split_glob(text: str) -> Glob:
    """Return ``text`` if it has no star, otherwise the parts between its stars."""
    if "*" not in text:
        return text
    parts = [part.replace("\0", "*") for part in text.replace("[*]", "\0").split("*")]
    return parts[0] if len(parts) == 1 else tuple(parts)


def like(text: str, glob: Glob) -> bool:
    """Whether all of ``text`` matches ``glob``."""
    if isinstance(glob, str):
        return text == glob
    first, *middle, last = glob
    if len(text) < len(first) + len(last) or not text.startswith(first) or not text.endswith(last):
        return False
    at, end = len(first), len(text) - len(last)
    for part in middle:
        at = text.find(part, at, end)
        if at < 0:
            return False
        at += len(part)
    return True


class GlobSet:
    """Globs sorted by the comparison that each needs: equality, prefix, suffix, substring, or all of ``like``."""

    __slots__ = ("has_stars", "literals", "others", "prefixes", "substrings", "suffixes")

    def __init__(self, globs: Iterable[Glob]) -> None:
        self.literals: set[str] = set()
        self.prefixes: tuple[str, ...] = ()
        self.suffixes: tuple[str, ...] = ()
        self.substrings: list[str] = []
        self.others: list[Sequence[str]] = []
        for glob in globs:
            if isinstance(glob, str):
                self.literals.add(glob)
            elif len(glob) == 2 and not glob[1]:
                self.prefixes += (glob[0],)
            elif len(glob) == 2 and not glob[0]:
                self.suffixes += (glob[1],)
            elif len(glob) == 3 and not glob[0] and not glob[2]:
                self.substrings.append(glob[1])
            else:
                self.others.append(glob)
        self.has_stars = bool(self.prefixes or self.suffixes or self.substrings or self.others)

    def match_any(self, texts: Sequence[str]) -> bool:
        """Whether one of ``texts`` matches one of the globs."""
        if not self.literals.isdisjoint(texts):
            return True
        if not self.has_stars:
            return False
        for text in texts:
            if text.startswith(self.prefixes) or text.endswith(self.suffixes):
                return True
            for part in self.substrings:
                if part in text:
                    return True
            for glob in self.others:
                if like(text, glob):
                    return True
        return False
