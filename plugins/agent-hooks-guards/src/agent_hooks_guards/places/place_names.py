"""The names by which places are known, from ``place_names.toml``, in the forms in which they are looked up."""

from __future__ import annotations

import os

from agent_hooks_guards.model.tables import load_tables

TABLES = load_tables(os.path.dirname(__file__))["place_names"]

# Where it starts (``/``, ``~`` or "" for anywhere), the folders before the name, the kind, whether with all below it.
Row = tuple[str, tuple[str, ...], str, bool]


def tokens(table: str, key: str) -> tuple[str, ...]:
    """Return the tokens of one entry of ``place_names.toml``."""
    return tuple(token.replace("%", " ") for token in TABLES[table][key].split())


def _rows() -> dict[str, tuple[Row, ...]]:
    found: dict[str, tuple[Row, ...]] = {}
    for kind in TABLES["kinds"]:
        for token in tokens("kinds", kind):
            *folders, name = token.rstrip("/").split("/")
            anchor = ""
            if folders and folders[0] in ("", "~"):
                anchor = folders.pop(0) or "/"
            row = (anchor, tuple(folders), kind, token[-1] == "/")
            found[name] = (*found.get(name, ()), row)
    return found


def _children() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for name, rows in PLACES.items():
        for _, folders, _, _ in rows:
            if folders:
                found[folders[-1]] = (*found.get(folders[-1], ()), name)
    return found


KEY_ENDINGS = tokens("secrets", "key_endings")
# Rows by the last name of a path.
PLACES = _rows()
# Names of ``PLACES`` by the folder that they lie in.
CHILDREN = _children()
# All names that a glob may match.
GLOBBED = tuple(
    dict.fromkeys(
        (
            *PLACES,
            *(folder for rows in PLACES.values() for row in rows for folder in row[1]),
            *tokens("secrets", "globbed"),
        )
    )
)
