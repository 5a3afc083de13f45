"""Packs data tables so that a process which decides one call reads only the entries that the call is about.

Unpacking all rules and declarations takes longer than deciding. So the entries are marshalled one by one, below the
names by which they are looked up.
"""

from __future__ import annotations

import marshal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    Tables = dict[str, Any]

# Keys of a declaration that say more than options and stdout: ``declarations`` explains them.
_ACTS = frozenset("reads writes deletes changes runs also settings effects inner connects sends".split())
# The last version of marshal's format without references, which depend on what else a process holds. Python 3.11 to
# 3.14 read it.
FORMAT = 2


def pack(folder: str, tables: Tables) -> Tables:
    """Return ``tables``, parsed from the TOML files of a folder of that name, in the form in which they are read."""
    tables = _intern(tables)
    packer = _PACKERS.get(folder)
    return tables if packer is None else _intern(packer(tables))


def _intern(value: Any) -> Any:
    """Return ``value`` with equal strings made one, which marshal always writes alike."""
    if isinstance(value, dict):
        return {_intern(key): _intern(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(_intern, value))
    return sys.intern(value) if isinstance(value, str) else value


def pack_programs(tables: Tables) -> Tables:
    """Pack declarations, which ``declarations.Table`` reads.

    ``entries``: by program, its options if no more is declared, otherwise all entries by path; ``aliases``: names of
    the same entry; ``names``: names of the same program; ``acting``: programs of which more is declared than options
    and stdout; ``clients``: of ``sql_clients``, by program. Raises ``ValueError`` for a name that is declared twice.
    """
    clients: dict[str, list[Any]] = {}
    for way in tables.pop("sql_clients", {}).get("clients", ()):
        for program in way["programs"].split():
            clients.setdefault(program, []).append(way)
    entries: dict[str, Any] = {}
    packed: Tables = {"aliases": {}, "names": {}, "acting": set()}
    for file in tables.values():
        for name, entry in file.items():
            _flatten(entries, packed, name, entry)
    acting = packed["acting"]
    acting.update([name for name, path in packed["aliases"].items() if path.partition(" ")[0] in acting])
    programs: dict[str, dict[str, Any]] = {}
    for path, entry in entries.items():
        programs.setdefault(path.partition(" ")[0], {})[path] = entry
    packed["entries"] = {name: _pack_program(name, found) for name, found in programs.items()}
    return {**packed, "acting": frozenset(acting), "clients": clients}


def _pack_program(name: str, entries: dict[str, Any]) -> str | bytes:
    if len(entries) == 1 and isinstance(entries[name], str):
        return entries[name]  # type: ignore[no-any-return]
    tables = {path: {"options": entry} if isinstance(entry, str) else entry for path, entry in entries.items()}
    return marshal.dumps(tables, FORMAT)


def _flatten(entries: dict[str, Any], packed: Tables, path: str, entry: Any) -> None:
    aliases, names = packed["aliases"], packed["names"]

    def check(name: str) -> None:
        if name in entries or name in aliases or name in names:
            raise ValueError(f"{name!r} is declared twice")

    check(path)
    entries[path] = entry
    if isinstance(entry, str):
        return
    for key, others in (("alike", aliases), ("names", names)):
        for other in entry.get(key, "").split():
            check(other)
            others[other] = path
    program = path.partition(" ")[0]
    if not _ACTS.isdisjoint(entry):
        packed["acting"].add(program)
    for other, target in entry.get("same", {}).items():
        aliases[f"{program} {other}"] = target
    for words, inner in entry.get("sub", {}).items():
        for each in words.split("|"):
            _flatten(entries, packed, f"{path} {each}", inner)


def pack_rules(tables: Tables) -> Tables:
    """Pack rules, which ``indexing.Index`` reads.

    ``rules``: of each, its family, id, severity, and the rest. ``matches``: by the group of ``match_groups`` and the
    key in it, the numbers of matches, as text; ``globs``: the globs of programs, each with such a number, in order.
    ``homes``: by the number of a match, that of its rule, and its position there.
    """
    rules: list[tuple[str, str, str, bytes]] = []
    globs: list[tuple[str, int]] = []
    groups = ("effect", "doubt", "program", "client", "any")
    homes: list[tuple[int, int]] = []
    numbers: dict[str, dict[str, list[int]]] = {group: {} for group in groups}
    for table in tables.values():
        for rule in table["rules"]:
            for at, match in enumerate(rule["match"]):
                for group, key in match_groups(match):
                    if group == "glob":
                        globs.append((key, len(homes)))
                    else:
                        numbers[group].setdefault(key, []).append(len(homes))
                homes.append((len(rules), at))
            rest = marshal.dumps((rule["reason"], rule["instead"], rule["match"]), FORMAT)
            rules.append((table["family"], rule["id"], rule["severity"], rest))
    # Text in bytes is read ten times as fast as lists.
    matches = {
        group: {key: " ".join(map(str, each)).encode() for key, each in found.items()}
        for group, found in numbers.items()
    }
    return {"rules": rules, "homes": homes, "globs": globs, "matches": matches}


def match_groups(match: Any) -> Iterable[tuple[str, str]]:
    """Yield the group and the key under which a match of a rule is looked up.

    The groups: ``effect`` and ``doubt`` by kind, ``program`` by name, ``glob`` by the glob of names, ``client`` for any
    database client, and ``any`` command.
    """
    if "effect" in match or "doubt" in match:
        for group in ("effect", "doubt"):
            for kind in match.get(group, ()):
                yield group, kind
        return
    if "program" not in match:
        yield "client", ""
    for name in dict.fromkeys(match.get("program", ())):
        if name == "*":
            yield "any", ""
        else:
            yield "glob" if "*" in name else "program", name


def pack_places(tables: Tables) -> Tables:
    """Pack the names of places, which ``places.place_names`` reads.

    Lists of names become tuples, and the ``kinds`` of paths are arranged by names. ``rows``: by the last name of a
    path, where it starts (``/``, ``~`` or "" for anywhere), the folders before the name, the kind, and whether all
    below it counts. ``children``: the names in ``rows`` by the folder that they lie in. ``globbed``: all that a glob
    may match.
    """
    packed = {
        group: {key: _tokens(text) if isinstance(text, str) else text for key, text in table.items()}
        for group, table in tables["place_names"].items()
        if group in ("folders", "secrets")
    }
    rows: dict[str, tuple[Any, ...]] = {}
    children: dict[str, tuple[str, ...]] = {}
    for kind, text in tables["place_names"]["kinds"].items():
        for token in _tokens(text):
            *folders, name = token.rstrip("/").split("/")
            anchor = ""
            if folders and folders[0] in ("", "~"):
                anchor = folders.pop(0) or "/"
            rows[name] = (*rows.get(name, ()), (anchor, tuple(folders), kind, token[-1] == "/"))
    for name, found in rows.items():
        for _, folders, _, _ in found:
            if folders:
                children[folders[-1]] = (*children.get(folders[-1], ()), name)
    above = (folder for found in rows.values() for row in found for folder in row[1])
    globbed = tuple(dict.fromkeys((*rows, *above, *packed["secrets"]["globbed"])))
    places = {**tables["place_names"], **packed, "rows": rows, "children": children, "globbed": globbed}
    return {**tables, "place_names": places}


def _tokens(text: str) -> tuple[str, ...]:
    return tuple(token.replace("%", " ") for token in text.split())


# By the name of the folder.
_PACKERS: dict[str, Callable[[Tables], Tables]] = {
    "places": pack_places,
    "programs": pack_programs,
    "rules": pack_rules,
}
