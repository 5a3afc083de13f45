"""The floors of the package: imports go one way. The core's tests/test_layers.py limits sizes and circles."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent.parent / "src"
PACKAGE = SOURCES / "agent_hooks_guards"
IMPORTED = runpy.run_path(str(Path(__file__).parents[3] / "tests" / "test_layers.py"))["imported"]

# A module imports from its own floor and those above it.
FLOORS = ("model", "places", "programs code windows", "analysis", "rules", "guards", "settings", "__init__")
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms.split()}
PATHS = sorted(PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", PATHS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_imports_from_its_own_floor_or_above(path: Path):
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert room in FLOOR_OF, f"Say in FLOORS on which floor {room} is."
    wrong = []
    for line, name in IMPORTED(path.read_text(encoding="utf-8"), list(path.relative_to(SOURCES).parent.parts)):
        parts = [*name.split("."), "__init__"]
        target = parts[1]
        if parts[0] == PACKAGE.name and target != room and FLOOR_OF[target] >= FLOOR_OF[room]:
            wrong.append(f"line {line}: {name}")
    assert wrong == []


def test_no_two_modules_share_a_basename():
    counts = Counter(path.stem for path in PATHS if path.stem != "__init__")
    assert {stem: count for stem, count in counts.items() if count > 1} == {}
