"""Families of rules as their authors write them: validated, with messages that name the file and the key."""

from __future__ import annotations

import tomllib
from pathlib import Path

from pydantic import ValidationError

from agent_hooks import SettingsError

from .indexing import FOLDER
from .model import Family


def own_families() -> list[Family]:
    """Return the families of this package with their examples, by file name. Raises ``SettingsError``."""
    return [read_family(str(path), tomllib.loads(path.read_text())) for path in sorted(Path(FOLDER).glob("*.toml"))]


def read_family(path: str, table: object) -> Family:
    """Return the family in ``table``, the parsed TOML of the file ``path``.

    Raises ``SettingsError`` naming the file and each wrong key.
    """
    try:
        return Family.model_validate(table)
    except ValidationError as error:
        problems = (f"{'.'.join(map(str, each['loc']))}: {each['msg']}." for each in error.errors(include_url=False))
        raise SettingsError(f"{path}: the rules are wrong. {' '.join(problems)}") from error
