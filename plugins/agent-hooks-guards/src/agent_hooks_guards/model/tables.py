"""Data tables in TOML: parsed and packed in a checkout, read from a marshalled copy in a wheel.

Parsing TOML takes tens of milliseconds, too long for a process that runs for one tool call. The build hook of this
distribution puts a copy beside the TOML of every folder. A copy ends with the text that it was made from, and is used
only if that is still the text of the TOML files and this Python reads its format; otherwise the TOML is parsed.
"""

from __future__ import annotations

import marshal
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Tables = dict[str, Any]

COPY = "tables.marshal"
_LENGTH = 8  # bytes of the length of the tables, with which a copy begins
# Python 3.11 to 3.14 read the same format of marshal; no other Python is given a copy to read.
_READERS = frozenset(("cpython-311", "cpython-312", "cpython-313", "cpython-314"))
# Examples of rules: tests and people read them in the TOML.
_LEFT_OUT = ("stops", "leaves")

# The tables that were loaded, by folder.
_loaded: dict[str, Tables] = {}


def load_tables(folder: str) -> Tables:
    """Return the tables of the TOML files in ``folder``, by file name without ``.toml``, as ``packing`` arranges them.

    The tables are shared: callers must not change them. Raises ``tomllib.TOMLDecodeError``.
    """
    if folder not in _loaded:
        _loaded[folder] = _load(folder)
    return _loaded[folder]


def _load(folder: str) -> Tables:
    sources = _read_sources(folder)
    if sys.implementation.cache_tag in _READERS:
        try:
            with open(os.path.join(folder, COPY), "rb", buffering=0) as file:
                size = int.from_bytes(file.read(_LENGTH), "big") & 0x3FFFFFF
                tables: Tables = marshal.loads(file.read(size))  # noqa: S302 - a file of this distribution
                copied = marshal.loads(file.read())  # noqa: S302 - the same
        except (FileNotFoundError, EOFError, TypeError, ValueError):
            copied = None
        if copied == sources:
            return tables
    return _parse(folder, sources)


def by_name(groups: dict[str, str]) -> dict[str, str]:
    """Return the key of each name in a table of lists of names."""
    return {name: group for group, names in groups.items() for name in names.split()}


def pack_tables(folder: str) -> bytes:
    """Return the copy of the tables in ``folder`` that the build hook writes to ``COPY``."""
    from .packing import FORMAT

    sources = _read_sources(folder)
    tables, text = (marshal.dumps(each, FORMAT) for each in (_parse(folder, sources), sources))
    return len(tables).to_bytes(_LENGTH, "big") + tables + text


def _read_sources(folder: str) -> dict[str, bytes]:
    sources = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".toml"):
            with open(os.path.join(folder, name), "rb", buffering=0) as file:
                sources[name.removesuffix(".toml")] = file.read()
    return sources


def _parse(folder: str, sources: dict[str, bytes]) -> Tables:
    import tomllib

    from .packing import pack

    tables = {name: tomllib.loads(source.decode()) for name, source in sources.items()}
    for table in tables.values():
        rules = table.get("rules")
        for rule in rules if isinstance(rules, list) else ():
            for key in _LEFT_OUT:
                rule.pop(key, None)
    return pack(os.path.basename(folder), tables)
