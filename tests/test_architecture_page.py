"""docs/architecture.md names the packages that there are, in the order in which they may import each other."""

from __future__ import annotations

import re
from pathlib import Path

from test_layers import FLOORS, PACKAGE

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_the_table_lists_the_packages_in_their_order():
    table = PAGE.partition("| `src/agent_hooks/` |")[2].partition("\n\n")[0]
    listed = [
        name.removesuffix("/").removesuffix(".py") for name in re.findall(r"^\| `([\w./]+)` ", table, re.MULTILINE)
    ]
    existing = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()}
    assert listed == [floor for floor in FLOORS if floor in existing and floor != "__main__"]


def test_the_table_lists_the_packages_of_the_guards():
    table = PAGE.partition("| `agent_hooks_guards/` |")[2].partition("\n\n")[0]
    listed = set(re.findall(r"^\| `(\w+)/` ", table, re.MULTILINE))
    guards = ROOT / "plugins" / "agent-hooks-guards" / "src" / "agent_hooks_guards"
    assert listed == {path.name for path in guards.iterdir() if path.is_dir() and path.name != "__pycache__"}


def test_every_file_that_the_page_names_exists():
    guards = ROOT / "plugins" / "agent-hooks-guards" / "src" / "agent_hooks_guards"
    named = set(re.findall(r"\b(?:cli|wire|sources|engine|trust|runtime|model|shell)/[\w/]+\.py\b", PAGE))
    assert len(named) > 5
    assert {name for name in named if not (PACKAGE / name).exists() and not (guards / name).exists()} == set()
