"""The names of programs: one name for one tool, and the names that are known."""

from __future__ import annotations

import os

from agent_hooks.system.caching import lru_cache

from .declarations import declarations
from .tables import load_tables
from .values import UNKNOWN

_LONGEST_NAME = 40
# The words of ``program_words.toml``.
WORDS = {
    key: frozenset(words.split()) for key, words in load_tables(os.path.dirname(__file__))["program_words"].items()
}


def base_name(program: str) -> str:
    """Return one name for one tool: ``python`` for ``python3.12``, ``sed`` for ``gsed``, ``git`` for ``Git.EXE``.

    Other names stay as they are.
    """
    found = declarations().names.get(program)
    if found is not None:
        return found
    if declarations().has(program) or not program or UNKNOWN in program or len(program) > _LONGEST_NAME:
        return program
    return _without_decoration(program)


@lru_cache(maxsize=1024)
def _without_decoration(name: str) -> str:
    """Return an undeclared name without the extension of Windows, the version and the ``g`` of GNU."""
    if name[-4:].lower() in {".exe", ".cmd", ".bat", ".com"}:
        name = name[:-4]
    if not name.islower() and name not in WORDS["capitals"]:
        name = name.lower()
    name = declarations().names.get(name, name)
    if name[-1:].isdigit():
        bare = name.rstrip("0123456789.").rstrip("-")
        if bare in WORDS["versioned"]:
            return declarations().names.get(bare, bare)
    if name.startswith(("ld-linux", "ld-musl", "ld64.so")):
        return "ld.so"
    if name[:1] == "g" and name[1:] in WORDS["gnu"]:
        return name[1:]
    return name


def is_known(program: str) -> bool:
    """Whether ``program``, by its base name, is known."""
    table = declarations()
    return program in WORDS["harmless"] or table.has(program) or program in table.aliases
