"""Tables of cases in a TOML file beside the test that reads them: one row a line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any


def tables(test: str) -> dict[str, Any]:
    """Return the tables of the file that is named like the test file ``test``.

    A test says ``ROWS = tables(__file__)`` and parametrises with ``ROWS["name_of_the_test"]``.
    """
    return tomllib.loads(Path(test).with_suffix(".toml").read_text(encoding="utf-8"))


def rows(topics: dict[str, Any]) -> list[Any]:
    """Return the rows of all ``topics``: the lines of a text, or the items of a list."""
    return [row for topic in topics.values() for row in (topic.splitlines() if isinstance(topic, str) else topic)]
