"""Merges the settings of all files into layers: those of the machine and the user may loosen, those of a project only
tighten, and nobody loosens those of the machine.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any, TypeAlias

    from .build import FileGuards

    # By guard, as in ``GuardsSettings``, with only the keys that were given.
    Tables: TypeAlias = dict[str, dict[str, Any]]

_DECISIONS = ("allow", "ask", "deny")
_LEVEL: dict[str, tuple[Sequence[str], str]] = {"level": (("off", "relaxed", "standard", "strict"), "standard")}
# By guard and key: the values from the loosest to the strictest, and the default, of which projects can say no looser.
ORDERS: dict[str, dict[str, tuple[Sequence[str], str]]] = {
    "shell": _LEVEL,
    "paths": _LEVEL,
    "secrets": {
        "sends": (_DECISIONS, "deny"),
        "commands": (_DECISIONS, "ask"),
        "writes": (_DECISIONS, "ask"),
        "results": (("allow", "redact", "deny"), "redact"),
    },
    "egress": {**_LEVEL, "private": (_DECISIONS, "ask"), "others": (_DECISIONS, "allow")},
}
_TIGHTENING_LISTS = (("paths", "protect"), ("paths", "deny_read"), ("egress", "deny"))


class Layer:
    """The settings of one set of guards.

    ``tables``: by guard. ``at_least``: by rule or family, the least decision. ``exceptions``: of the shell guard, those
    of the files ``above``. ``rules``: further rules, each list with the rank of its file.
    """

    def __init__(
        self, tables: Tables, at_least: dict[str, str], above: Sequence[FileGuards], files: Sequence[FileGuards]
    ) -> None:
        self.tables = tables
        self.at_least = at_least
        self.exceptions = [table for each in above for table in each.tables.get("allow", ())]
        self.rules = [(each.rank, rules) for each in files if (rules := each.tables.get("rules"))]


def layers(files: Iterable[FileGuards]) -> list[Layer]:
    """Return the layers that must all hold: the user's, tightened by projects, and the machine's."""
    files = list(files)
    managed = [each for each in files if each.rank == "managed"]
    below = [each for each in files if each.rank != "managed"]
    found = []
    # The user may have a file in two folders, one named by the environment: the stricter of both holds.
    for user in [[each] for each in files if each.rank == "user"] or [[]]:
        above = [*managed, *user]
        found.append(Layer(*_user_tables(files, above), above, below))
    for other in found[1:]:  # there is only one secrets guard
        held = other.tables["secrets"]
        secrets = {key: held.get(key, default) for key, (_, default) in ORDERS["secrets"].items()}
        _tighten(found[0].tables, {"secrets": secrets})
    for each in managed:
        kept = {name: dict(each.tables[name]) for name in ("shell", "paths", "egress") if name in each.tables}
        found.append(Layer(kept, {}, [each], [each]))
    return found


def _user_tables(files: Sequence[FileGuards], above: Sequence[FileGuards]) -> tuple[Tables, dict[str, str]]:
    """Return the tables of one file of the user, over the machine's settings (``above`` holds both), tightened by
    projects; and the least decisions of projects.
    """
    tables: Tables = {name: {} for name in ORDERS}
    for each in above:
        for name in ORDERS:
            _override(tables[name], each.tables.get(name, {}))
    at_least: dict[str, str] = {}
    for each in files:
        if each.rank == "project":
            _tighten(tables, each.tables)
            for name, choice in each.tables.get("shell", {}).get("rules", {}).items():
                at_least[name] = "deny" if "deny" in (choice, at_least.get(name)) else choice
        elif each.rank == "managed":  # there is only one secrets guard
            _tighten(tables, {"secrets": each.tables.get("secrets", {})})
    return tables, at_least


def injection_matches(files: Iterable[FileGuards]) -> list[str | None]:
    """Return the tools for which the injection warning is asked, each once; None is the default."""
    tables = (each.tables["injection"] for each in files if "injection" in each.tables)
    return list(dict.fromkeys(table.get("match") for table in tables))


def _override(table: dict[str, Any], given: Mapping[str, Any]) -> None:
    """Put the settings of a lower source over those of a higher one; lists and tables are added together."""
    for key, value in given.items():
        if isinstance(value, list):
            table[key] = [*table.get(key, ()), *value]
        elif isinstance(value, dict):
            table[key] = {**table.get(key, {}), **value}
        else:
            table[key] = value


def _tighten(tables: Tables, given: Mapping[str, Any]) -> None:
    for name, key, (order, default) in ((guard, *each) for guard in ORDERS for each in ORDERS[guard].items()):
        wanted = given.get(name, {}).get(key)
        if wanted is not None:
            held = tables[name].get(key) or _implied(key, tables[name]) or default
            tables[name][key] = max(held, wanted, key=order.index)
    for name, key in _TIGHTENING_LISTS:
        added = given.get(name, {}).get(key)
        if added:
            tables[name][key] = [*tables[name].get(key, ()), *added]


def _implied(key: str, table: Mapping[str, Any]) -> str:
    """Return the value that the level of the egress guard implies, "" where that is the default."""
    level = table.get("level", "standard")
    if key == "private" and level in ("off", "relaxed"):
        return "allow"
    return "ask" if key == "others" and level == "strict" else ""
