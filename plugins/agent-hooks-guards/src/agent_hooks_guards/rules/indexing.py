"""Rules by the programs, effects and doubts that they are about."""

from __future__ import annotations

import marshal
import os

from agent_hooks_guards.model.names import base_name
from agent_hooks_guards.model.tables import load_tables

from .criteria import first_tokens, prepare, split_glob

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from .criteria import Glob, Test
    from .model import Family, Rule

    # Matches that may hold, with the tests that are left.
    Candidates = list[tuple["RuleMatch", list[tuple[Test, Any]]]]
    # The reason, the alternative, and the matches as TOML gives them.
    Rest = tuple[str, str, list[Mapping[str, Any]]]

FOLDER = os.path.dirname(os.path.abspath(__file__))


class RuleText:
    """A rule: the parts that are reported when it is broken, and its matches as TOML gives them.

    ``rest``: the reason, the alternative and the matches, marshalled until they are needed. ``expressions``: how its
    expressions are searched, see ``criteria.prepare``.
    """

    __slots__ = ("_rest", "expressions", "family", "id", "severity")

    def __init__(self, family: str, name: str, severity: str, rest: Rest | bytes, expressions: str = "text") -> None:
        self.family = family
        self.id = name
        self.severity = severity
        self.expressions = expressions
        self._rest = rest

    @property
    def reason(self) -> str:
        """Why it is a rule."""
        return self._read()[0]

    @property
    def instead(self) -> str:
        """An alternative."""
        return self._read()[1]

    @property
    def matches(self) -> list[Mapping[str, Any]]:
        """Its matches."""
        return self._read()[2]

    def _read(self) -> Rest:
        if isinstance(self._rest, bytes):
            rest: Rest = marshal.loads(self._rest)  # noqa: S302 - of a file of this distribution
            self._rest = rest
            return rest
        return self._rest


class RuleMatch:
    """One match of a rule. ``first``: the tokens of which a command must begin with one, empty for any."""

    __slots__ = ("_tests", "first", "match", "rule")

    def __init__(self, rule: RuleText, match: Mapping[str, Any]) -> None:
        self.rule = rule
        self.match = match
        self.first = first_tokens(match) if rule.expressions == "text" else frozenset()
        self._tests: list[tuple[Test, Any]] | None = None

    @property
    def tests(self) -> list[tuple[Test, Any]]:
        """The tests that must all hold, prepared when the first command needs them."""
        if self._tests is None:
            self._tests = prepare(self.match, self.rule.expressions, self.first)
        return self._tests


class Index:
    """Rules, and their matches by the kind of action that each is about.

    ``own``: which rules of this package hold beside the ``rules``, and before them; None: no rule of it does. They are
    unpacked when the first action needs them. ``by_doer`` and ``by_token``: caches of ``matching``.
    """

    def __init__(self, rules: Iterable[RuleText], *, own: Callable[[RuleText], object] | None = None) -> None:
        self.rules = list(rules)
        self.by_doer: dict[tuple[Any, ...], Candidates] = {}
        self.by_token: dict[tuple[Any, ...], dict[str, Candidates]] = {}
        self._holds = own
        self._own: dict[str, Any] = {} if own is None else load_tables(FOLDER)
        self._own_rules: dict[int, RuleText] = {}
        self._own_matches: dict[int, RuleMatch] = {}
        self._matches: dict[tuple[str, str], list[RuleMatch]] = {}
        self._globs: list[tuple[Glob, RuleMatch]] | None = None
        self._further: dict[str, dict[str, list[RuleMatch]]] = {}
        self._further_globs: list[tuple[Glob, RuleMatch]] = []
        if self.rules:
            self._add_rules()

    def matches(self, group: str, key: str = "") -> list[RuleMatch]:
        """Return the matches about an action: the groups are those of ``packing.pack_rules``."""
        found = self._matches.get((group, key))
        if found is None:
            own = self._own["matches"][group].get(key, b"") if self._own else b""
            found = self._unpacked(map(int, own.split())) + self._further.get(group, {}).get(key, [])
            self._matches[group, key] = found
        return found

    @property
    def globs(self) -> list[tuple[Glob, RuleMatch]]:
        """The matches for programs that are named by a glob."""
        if self._globs is None:
            rows = self._own["globs"] if self._own else ()
            own = [(split_glob(name), match) for name, number in rows for match in self._unpacked((number,))]
            self._globs = own + self._further_globs
        return self._globs

    def _unpacked(self, numbers: Iterable[int]) -> list[RuleMatch]:
        """Return those matches of this package's rules that hold."""
        found = []
        for number in numbers:
            match = self._own_matches.get(number)
            if match is None:
                home, at = self._own["homes"][number]
                rule = self._own_rules.get(home)
                if rule is None:
                    rule = self._own_rules[home] = RuleText(*self._own["rules"][home])
                if self._holds is None or not self._holds(rule):
                    continue
                match = self._own_matches[number] = RuleMatch(rule, rule.matches[at])
            found.append(match)
        return found

    def _add_rules(self) -> None:
        from agent_hooks_guards.model.packing import match_groups

        for rule in self.rules:
            for match in (RuleMatch(rule, each) for each in rule.matches):
                for group, key in match_groups(match.match):
                    if group == "glob":
                        self._further_globs.append((split_glob(key), match))
                        continue
                    name = base_name(key) if group == "program" else key
                    self._further.setdefault(group, {}).setdefault(name, []).append(match)


def indexed(families: Iterable[Family], *, text: str = "safe_text") -> Index:
    """Return the rules of ``families``, ready for matching. ``text`` as in ``index_rules``."""
    return index_rules([(family.family, map(as_given, family.rules)) for family in families], text=text)


def as_given(rule: Rule) -> dict[str, Any]:
    """Return a rule as TOML gives it."""
    return rule.model_dump(by_alias=True, exclude_unset=True)


def index_rules(families: Iterable[tuple[str, Iterable[Mapping[str, Any]]]], *, text: str = "safe_text") -> Index:
    """Return rules as TOML gives them, by family, ready for matching.

    ``text``: how their expressions are searched. ``safe_text``, for the rules of users: only in texts for which that
    cannot take long; longer ones count as found. Those of the family ``project`` are searched by RE2.
    """
    return Index(
        RuleText(
            family,
            rule["id"],
            rule["severity"],
            (rule["reason"], rule["instead"], rule["match"]),
            "project_text" if family == "project" else text,
        )
        for family, rules in families
        for rule in rules
    )


def known_names() -> set[str]:
    """Return the names of all rules and families of this package."""
    return {name for family, rule, *_ in load_tables(FOLDER)["rules"] for name in (family, rule)}
