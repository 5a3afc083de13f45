"""Writes the table of behaviours into the page of the frameworks: ``python docs/framework_table.py``.

The behaviours are the tests of the suite that runs in each framework; what one cannot do is an expected failure of its
adapter there. Nothing is imported: each adapter needs its framework.
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "frameworks.md"
PLUGIN = ROOT / "plugins" / "agent-hooks-frameworks"
SUITE = PLUGIN / "tests" / "conformance.py"
ADAPTERS = PLUGIN / "src" / "agent_hooks_frameworks"
HEADING = "## Behaviours\n"
# Of every test that is no behaviour of hooks.
_OTHERS = ("an unguarded agent", "the page shows")


# Skipped where a framework has nothing but async calls.
SYNC = "a sync call asks async hooks"


class Declared(NamedTuple):
    """What an adapter declares of its framework, and whether its agents have sync calls."""

    name: str
    extra: str
    cannot: dict[str, str]
    has_sync: bool


def frameworks() -> list[Declared]:
    """Return the frameworks, in the order of their names."""
    found = []
    for path in ADAPTERS.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Framework":
                given = {each.arg: each.value for each in node.keywords}
                literal = {name: ast.literal_eval(given[name]) for name in ("name", "extra", "cannot") if name in given}
                host = SUITE.with_name(f"{literal['extra'].replace('-', '_')}_host.py").read_text(encoding="utf-8")
                has_sync = "has_sync = True" in host
                found.append(Declared(literal["name"], literal["extra"], literal.get("cannot", {}), has_sync))
    return sorted(found, key=lambda each: each.name.lower())


def behaviours() -> list[str]:
    """Return the names of the tests of the suite as sentences."""
    functions = list(ast.walk(ast.parse(SUITE.read_text(encoding="utf-8"))))
    names = [node.name for node in functions if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")]
    spoken = [name.removeprefix("test_").replace("_", " ") for name in names]
    return [name for name in spoken if not name.startswith(_OTHERS)]


def table() -> str:
    """Return the table, and the reasons below it."""
    known = frameworks()
    reasons: dict[str, int] = {}
    lines = [f"| | {' | '.join(each.name for each in known)} |", f"|---|{'---|' * len(known)}"]
    for behaviour in behaviours():
        cells = []
        for each in known:
            reason = each.cannot.get(behaviour)
            if behaviour == SYNC and not each.has_sync:
                cells.append("has none")
                continue
            cells.append("yes" if reason is None else f"[{reasons.setdefault(reason, len(reasons) + 1)}]")
        lines.append(f"| {behaviour} | {' | '.join(cells)} |")
    notes = [f"{number}. {reason}" for reason, number in reasons.items()]
    return "\n".join([*lines, "", *notes, ""]).rstrip() + "\n"


def updated() -> str:
    """Return the page with the table as it should be, up to the next heading."""
    before, _, after = PAGE.read_text(encoding="utf-8").partition(HEADING)
    introduction, _, rest = after.lstrip("\n").partition("\n\n")
    _, heading, further = rest.partition("\n## ")
    return f"{before}{HEADING}\n{introduction}\n\n{table()}{heading}{further}"


if __name__ == "__main__":
    PAGE.write_text(updated(), encoding="utf-8")
