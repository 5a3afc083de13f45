"""The names by which places are known, from ``place_names.toml``, and the globs in paths that match them."""

from __future__ import annotations

import os

from agent_hooks.system.caching import lru_cache
from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

TABLES = load_tables(os.path.dirname(__file__))["place_names"]

# Where it starts (``/``, ``~`` or "" for anywhere), the folders before the name, the kind, whether with all below it.
Row = tuple[str, tuple[str, ...], str, bool]


def tokens(table: str, key: str) -> tuple[str, ...]:
    """Return the tokens of one entry of ``place_names.toml``."""
    found: tuple[str, ...] = TABLES[table][key]
    return found


KEY_ENDINGS = tokens("secrets", "key_endings")
# Rows by the last name of a path.
PLACES: dict[str, tuple[Row, ...]] = TABLES["rows"]
_MAX_SUBSTITUTES = 64
_MAX_SEGMENTS = 64  # in which globs are looked up
_NO_MARKS = dict.fromkeys(map(ord, "*?[]!^"))


def is_wild(segment: str) -> bool:
    """Return whether ``segment`` holds a glob or ``UNKNOWN``."""
    return "*" in segment or "?" in segment or "[" in segment or UNKNOWN in segment


def is_any_name(segment: str) -> bool:
    """Return whether ``segment`` matches any name, or any hidden one."""
    return not segment.strip("*?.!^[]" + UNKNOWN) and ("*" in segment or UNKNOWN in segment)


def substitutes(segments: list[str]) -> list[list[str]]:
    """Return the known paths that a path with globs is likely to match."""
    found = [[""]] if segments and segments[0] == "" else [segments[:1]]
    for at, segment in enumerate(segments[1:_MAX_SEGMENTS], 1):
        names = [segment]
        if is_wild(segment):
            following = segments[at + 1] if at + 1 < len(segments) else ""
            names += _likely_names(segment, segments[at - 1], following)
        found = [[*path, name] for path in found for name in names][:_MAX_SUBSTITUTES]
    return [path + segments[_MAX_SEGMENTS:] for path in found]


def _likely_names(segment: str, before: str, following: str) -> Iterable[str]:
    """Return the names that a glob is likely to match, by itself or by the segments around it."""
    if not is_any_name(segment):
        return _likely(segment, bool(following))
    if not following:
        inside: tuple[str, ...] = TABLES["children"].get(before, ())
        return inside
    return [row[1][-1] for row in PLACES.get(following, ()) if row[1]]


@lru_cache(maxsize=512)
def _likely(segment: str, is_folder: bool) -> tuple[str, ...]:
    """Return the names of which a glob spells out the beginning or half of the letters; of a folder, any letters."""
    from fnmatch import fnmatchcase

    pattern = segment.replace(UNKNOWN, "*")
    beginning, ending = _ends(pattern)
    if not beginning and ending[:1] == "." and not is_folder:  # `*.json` is about no file in particular
        return (f"private{ending}",) if ending == ".env" or ending in KEY_ENDINGS else ()
    letters = len(beginning) if beginning == pattern else len(pattern.translate(_NO_MARKS))
    return tuple(
        name
        for name in TABLES["globbed"]
        if name.startswith(beginning)
        and name.endswith(ending)
        and (is_folder or len(beginning) >= 4 or letters * 2 >= len(name))
        and fnmatchcase(name, pattern)
    )


def _ends(pattern: str) -> tuple[str, str]:
    """Return the letters before the first and after the last mark of a glob."""
    import re

    return re.split(r"[*?[]", pattern, maxsplit=1)[0], re.split(r"[*?\]]", pattern)[-1]
