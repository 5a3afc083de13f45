"""Rules by the programs, effects and doubts that they are about."""

from __future__ import annotations

import os

from agent_hooks.shell.syntax import Record
from agent_hooks_guards.model.names import base_name
from agent_hooks_guards.model.tables import load_tables

from .criteria import first_tokens, prepare, split_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from .criteria import Glob, Test
    from .model import Family

    # Matches that may hold, with the tests that are left.
    Candidates = list[tuple["RuleMatch", list[tuple[Test, Any]]]]

FOLDER = os.path.dirname(os.path.abspath(__file__))


class RuleText(Record):
    """A rule: the parts that are reported when it is broken, and ``matches`` as TOML gives them.

    ``expressions``: how its expressions are searched, see ``criteria.prepare``.
    """

    __slots__ = ("expressions", "family", "id", "instead", "matches", "reason", "severity")

    def __init__(self, family: str, rule: Mapping[str, Any], expressions: str) -> None:
        self.family = family
        self.id: str = rule["id"]
        self.severity: str = rule["severity"]
        self.reason: str = rule["reason"]
        self.instead: str = rule["instead"]
        self.matches: list[Mapping[str, Any]] = rule["match"]
        self.expressions = expressions


class RuleMatch:
    """One match of a rule. ``first``: the tokens of which a command must begin with one, empty for any."""

    __slots__ = ("_tests", "first", "match", "rule")

    def __init__(self, rule: RuleText, match: Mapping[str, Any]) -> None:
        self.rule = rule
        self.match = match
        self.first = first_tokens(match)
        self._tests: list[tuple[Test, Any]] | None = None

    @property
    def tests(self) -> list[tuple[Test, Any]]:
        """The tests that must all hold, prepared when the first command needs them."""
        if self._tests is None:
            self._tests = prepare(self.match, self.rule.expressions, self.first)
        return self._tests


class Index:
    """Rules, and their matches by the kind of action that each is about.

    ``commands``: by program; ``globs``: for programs named by a glob; ``clients``: for any database client;
    ``any_command``; ``effects`` and ``doubts``: by kind. ``by_doer`` and ``by_token``: caches of ``matching``.
    """

    def __init__(self, rules: Iterable[RuleText]) -> None:
        self.rules = list(rules)
        self.commands: dict[str, list[RuleMatch]] = {}
        self.globs: list[tuple[Glob, RuleMatch]] = []
        self.clients: list[RuleMatch] = []
        self.any_command: list[RuleMatch] = []
        self.effects: dict[str, list[RuleMatch]] = {}
        self.doubts: dict[str, list[RuleMatch]] = {}
        self.by_doer: dict[tuple[Any, ...], Candidates] = {}
        self.by_token: dict[tuple[Any, ...], dict[str, Candidates]] = {}
        for rule in self.rules:
            for match in rule.matches:
                self._add(RuleMatch(rule, match))

    def _add(self, found: RuleMatch) -> None:
        match = found.match
        if "effect" in match or "doubt" in match:
            for kind in match.get("effect", ()):
                self.effects.setdefault(kind, []).append(found)
            for kind in match.get("doubt", ()):
                self.doubts.setdefault(kind, []).append(found)
            return
        if "program" not in match:
            self.clients.append(found)
        for name in dict.fromkeys(match.get("program", ())):
            if name == "*":
                self.any_command.append(found)
            elif "*" in name:
                self.globs.append((split_glob(name), found))
            else:
                # The names of our own rules are base names already: two thousand calls less at each start.
                base = name if found.rule.expressions == "text" else base_name(name)
                self.commands.setdefault(base, []).append(found)


def indexed(families: Iterable[Family], *, text: str = "safe_text") -> Index:
    """Return the rules of ``families``, ready for matching.

    ``text``: how their expressions are searched. ``safe_text``, for the rules of users: only in texts for which that
    cannot take long; longer ones count as found. Those of the family ``project`` are searched by RE2.
    """
    return Index(
        RuleText(
            family.family,
            rule.model_dump(by_alias=True, exclude_unset=True),
            "project_text" if family.family == "project" else text,
        )
        for family in families
        for rule in family.rules
    )


def own_rules() -> list[RuleText]:
    """Return the rules of this package."""
    tables = load_tables(FOLDER).values()
    return [RuleText(table["family"], rule, "text") for table in tables for rule in table["rules"]]


def known_names() -> set[str]:
    """Return the names of all rules and families of this package."""
    tables = load_tables(FOLDER).values()
    return {name for table in tables for name in (table["family"], *(rule["id"] for rule in table["rules"]))}
