"""Data tables in TOML: parsed in a checkout, read from a marshalled copy in a wheel.

Parsing TOML takes tens of milliseconds, too long for a process that runs for one tool call. The build hook of this
distribution puts a copy beside the TOML of every folder. A copy is used only if its digest is that of the TOML files
and this Python reads its format; otherwise the TOML is parsed.
"""

from __future__ import annotations

import marshal
import os
import sys
from functools import cache
from hashlib import sha256

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Tables = dict[str, dict[str, Any]]

COPY = "tables.marshal"
# Python 3.11 to 3.14 read the same format 4 of marshal; no other Python is given a copy to read.
_FORMAT = 4
_READERS = frozenset(("cpython-311", "cpython-312", "cpython-313", "cpython-314"))
_DIGEST_SIZE = sha256().digest_size
# Examples of rules: tests and people read them in the TOML.
_LEFT_OUT = ("stops", "leaves")


@cache
def load_tables(folder: str) -> Tables:
    """Return the tables of the TOML files in ``folder``, by file name without ``.toml``, without examples of rules.

    The tables are shared: callers must not change them. Raises ``tomllib.TOMLDecodeError``.
    """
    sources = _read_sources(folder)
    try:
        with open(os.path.join(folder, COPY), "rb") as file:
            copy = file.read()
    except FileNotFoundError:
        return _parse(sources)
    if sys.implementation.cache_tag not in _READERS or copy[:_DIGEST_SIZE] != _digest(sources):
        return _parse(sources)
    tables: Tables = marshal.loads(memoryview(copy)[_DIGEST_SIZE:])  # noqa: S302 - a file of this distribution
    return tables


def by_name(groups: dict[str, str]) -> dict[str, str]:
    """Return the key of each name in a table of lists of names."""
    return {name: group for group, names in groups.items() for name in names.split()}


def pack_tables(folder: str) -> bytes:
    """Return the copy of the tables in ``folder`` that the build hook writes to ``COPY``."""
    sources = _read_sources(folder)
    return _digest(sources) + marshal.dumps(_intern(_parse(sources)), _FORMAT)


def _read_sources(folder: str) -> dict[str, bytes]:
    sources = {}
    for name in sorted(os.listdir(folder)):
        if name.endswith(".toml"):
            with open(os.path.join(folder, name), "rb") as file:
                sources[name.removesuffix(".toml")] = file.read()
    return sources


def _digest(sources: dict[str, bytes]) -> bytes:
    digest = sha256()
    for name, source in sources.items():
        digest.update(f"{name} {len(source)}\n".encode())
        digest.update(source)
    return digest.digest()


def _parse(sources: dict[str, bytes]) -> Tables:
    import tomllib

    tables = {name: tomllib.loads(source.decode()) for name, source in sources.items()}
    for table in tables.values():
        rules = table.get("rules")
        for rule in rules if isinstance(rules, list) else ():
            for key in _LEFT_OUT:
                rule.pop(key, None)
    return tables


def _intern(value: Any) -> Any:
    """Return ``value`` with equal strings made one, which marshal writes and reads once."""
    if isinstance(value, dict):
        return {_intern(key): _intern(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_intern(item) for item in value]
    return sys.intern(value) if isinstance(value, str) else value
