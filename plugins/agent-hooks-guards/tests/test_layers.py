"""The floors of the package: imports go one way. The core's tests/test_layers.py limits sizes and circles."""

from __future__ import annotations

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent.parent / "src"
PACKAGE = SOURCES / "agent_hooks_guards"

# A module imports from its own floor and those above it.
FLOORS = ("model", "places", "programs code windows", "analysis", "rules", "guards", "settings", "__init__")
FLOOR_OF = {room: number for number, rooms in enumerate(FLOORS) for room in rooms.split()}


def name_of(path: Path) -> str:
    """``agent_hooks_guards.places.links``; of a package's ``__init__.py``, the name of the package."""
    return ".".join(path.relative_to(SOURCES).with_suffix("").parts).removesuffix(".__init__")


PATHS = sorted(PACKAGE.rglob("*.py"))
PATH_OF = {name_of(path): path for path in PATHS}


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def shown(path: Path) -> str:
    return str(path.relative_to(PACKAGE))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def running_imports(node: ast.AST) -> list[ast.Import | ast.ImportFrom]:
    """Every import that runs, in functions too, so none under TYPE_CHECKING."""
    found: list[ast.Import | ast.ImportFrom] = []
    for child in ast.iter_child_nodes(node):
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            found.append(child)
        elif not is_type_checking(child):
            found += running_imports(child)
    return found


def imported(path: Path) -> dict[str, list[str]]:
    """The modules of this package that the module in ``path`` imports, each with the names taken from it."""
    package = list(path.relative_to(SOURCES).parent.parts)
    found: dict[str, list[str]] = {}
    for node in running_imports(tree_of(path)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                found.setdefault(alias.name, [])
            continue
        base = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*base, *(node.module or "").split(".")]).strip(".")
        for alias in node.names:
            # `from . import links` imports a module, `from .links import real_path` a name of one.
            is_module = f"{module}.{alias.name}" in PATH_OF
            found.setdefault(f"{module}.{alias.name}" if is_module else module, []).append(alias.name)
    return {name: names for name, names in found.items() if name in PATH_OF and name != name_of(path)}


@pytest.mark.parametrize("path", PATHS, ids=shown)
def test_a_module_imports_from_its_own_floor_or_above(path: Path):
    room = room_of(path)
    assert room in FLOOR_OF, f"Say in FLOORS on which floor {room} is."
    targets = {name: room_of(PATH_OF[name]) for name in imported(path)}
    wrong = [
        name
        for name, target in targets.items()
        if FLOOR_OF[target] > FLOOR_OF[room] or (FLOOR_OF[target] == FLOOR_OF[room] and target != room)
    ]
    assert wrong == []


def test_no_two_modules_share_a_basename():
    counts = Counter(path.stem for path in PATHS if path.stem != "__init__")
    assert {stem: count for stem, count in counts.items() if count > 1} == {}


def test_the_checks_see_every_way_of_importing(monkeypatch):
    """Inside functions, from the package itself, by absolute name; but not under TYPE_CHECKING."""
    source = (
        "import agent_hooks_guards.settings.schema\n"
        "from . import links\n"
        "if TYPE_CHECKING:\n"
        "    from ..rules.model import Rule\n"
        "def later():\n"
        "    from ..guards.base import Guard\n"
        "    from agent_hooks_guards.places.place_names import _rows\n"
    )
    path = PACKAGE / "places" / "made_up.py"
    monkeypatch.setattr(f"{__name__}.tree_of", lambda _: ast.parse(source))
    assert imported(path) == {
        "agent_hooks_guards.settings.schema": [],
        "agent_hooks_guards.places.links": ["links"],
        "agent_hooks_guards.guards.base": ["Guard"],
        "agent_hooks_guards.places.place_names": ["_rows"],
    }
