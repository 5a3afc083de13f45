"""Rules by the programs, effects and doubts that they are about."""

from __future__ import annotations

import os

from agent_hooks.shell.syntax import Record
from agent_hooks_guards.model.names import base_name
from agent_hooks_guards.model.tables import load_tables

from .globs import split_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from .globs import Glob
    from .model import Family

FOLDER = os.path.dirname(os.path.abspath(__file__))


class RuleText(Record):
    """The parts of a rule that are reported when it is broken."""

    __slots__ = ("family", "id", "instead", "reason", "severity")

    def __init__(self, id: str, family: str, severity: str, reason: str, instead: str) -> None:  # noqa: A002 - its name
        self.id = id
        self.family = family
        self.severity = severity
        self.reason = reason
        self.instead = instead


class Index:
    """Rules, and their matches by the kind of action that each is about.

    ``added``: the arguments of each ``add``. ``matches``: the position of the rule, the match as TOML gives it, and how
    its expression is searched. The other tables hold positions among the matches: ``commands`` by program, ``globs``
    for programs named by a glob, ``clients`` for any database client, ``any_command``, ``effects`` and ``doubts`` by
    kind. ``skipped``: positions of rules without a consequence. ``ready``, ``by_token`` and ``by_doer`` are caches of
    ``matching``.
    """

    def __init__(self) -> None:
        self.added: list[tuple[str, Mapping[str, Any], str]] = []
        self.rules: list[RuleText] = []
        self.matches: list[tuple[int, Mapping[str, Any], str]] = []
        self.commands: dict[str, list[int]] = {}
        self.globs: dict[str, tuple[Glob, list[int]]] = {}
        self.clients: list[int] = []
        self.any_command: list[int] = []
        self.effects: dict[str, list[int]] = {}
        self.doubts: dict[str, list[int]] = {}
        self.skipped: frozenset[int] = frozenset()
        self.ready: dict[int, tuple[int, Any, tuple[str, ...]]] = {}
        self.by_token: dict[tuple[Any, ...], dict[str, list[tuple[int, Any]]]] = {}
        self.by_doer: dict[tuple[str, str, frozenset[str]], list[tuple[int, Any]]] = {}

    def add(self, family: str, rule: Mapping[str, Any], expressions: str) -> None:
        """Add a rule of ``family`` as TOML gives it."""
        self.added.append((family, rule, expressions))
        for match in rule["match"]:
            self._add_match(match, expressions)
        self.rules.append(RuleText(rule["id"], family, rule["severity"], rule["reason"], rule["instead"]))

    def _add_match(self, match: Mapping[str, Any], expressions: str) -> None:
        position = len(self.matches)
        self.matches.append((len(self.rules), match, expressions))
        if "effect" in match or "doubt" in match:
            for kind in match.get("effect", ()):
                self.effects.setdefault(kind, []).append(position)
            for kind in match.get("doubt", ()):
                self.doubts.setdefault(kind, []).append(position)
            return
        if "program" not in match:
            self.clients.append(position)
        for name in dict.fromkeys(match.get("program", ())):
            if name == "*":
                self.any_command.append(position)
            elif "*" in name:
                self.globs.setdefault(name, (split_glob(name), []))[1].append(position)
            else:
                # The names of our own rules are base names already: two thousand calls less at each start.
                base = name if expressions == "text" else base_name(name)
                self.commands.setdefault(base, []).append(position)


def indexed(families: Iterable[Family], *, text: str = "safe_text") -> Index:
    """Return the rules of ``families``, ready for matching.

    ``text``: how their expressions are searched. ``safe_text``, for the rules of users: only in texts for which that
    cannot take long; longer ones count as found. Those of the family ``project`` are searched by RE2.
    """
    index = Index()
    for family in families:
        expressions = "project_text" if family.family == "project" else text
        for rule in family.rules:
            index.add(family.family, rule.model_dump(by_alias=True, exclude_unset=True), expressions)
    return index


def own_rules() -> Index:
    """Return the rules of this package."""
    index = Index()
    for table in load_tables(FOLDER).values():
        for rule in table["rules"]:
            index.add(table["family"], rule, "text")
    return index


def joined(first: Index, second: Index) -> Index:
    """Return the rules of both."""
    index = Index()
    for family, rule, expressions in (*first.added, *second.added):
        index.add(family, rule, expressions)
    return index


def known_names() -> set[str]:
    """Return the names of all rules and families of this package."""
    tables = load_tables(FOLDER).values()
    return {name for table in tables for name in (table["family"], *(rule["id"] for rule in table["rules"]))}
