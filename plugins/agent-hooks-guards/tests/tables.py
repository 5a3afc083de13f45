"""Tables of cases in a TOML file beside the test that reads them: one row a line."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from agent_hooks_guards.model.values import UNKNOWN


def tables(test: str) -> dict[str, Any]:
    """Return the tables beside the test file ``test``; ``…`` in them stands for text that is not known."""
    return tomllib.loads(Path(test).with_suffix(".toml").read_text(encoding="utf-8").replace("…", UNKNOWN))
