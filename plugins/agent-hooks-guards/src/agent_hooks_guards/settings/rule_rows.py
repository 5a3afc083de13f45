"""The rules as ``agent-hooks rules`` lists them: of commands, of the other guards, and of settings files."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

import agent_hooks_guards.guards.objection as objections
from agent_hooks.system.visible import visible
from agent_hooks_guards.guards.objection import LEVELS, reason_of
from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.rules.loading import own_families
from agent_hooks_guards.rules.matching import severity_decision
from agent_hooks_guards.rules.model import Rule

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from typing import Any

    from agent_hooks_guards.guards.command_rule import CommandRule

    from .build import FileGuards

# By the beginning of their ids, the rules of the guards that are not about commands: family, title and settings.
OTHER_GUARDS = {
    "path": ("path", "Files: what the path guard holds tools to", "paths"),
    "egress": ("egress", "Hosts: what the egress guard holds tools to", "egress"),
    "secret": ("secrets", "Secrets: what the secrets guard finds in arguments and results", "secrets"),
}
# Parts of a reason that only a call fills in.
_PARTS = {
    "path": "PATH",
    "host": "HOST",
    "scheme": "SCHEME",
    "count": "N",
    "length": "N",
    "found": "KIND in PLACE",
    "verb": "read or changed",
    "key": "allow_read or allow_write",
}
# Rules that have an id for each thing that a tool does.
_BY_VERB = {"path-secret": ("read", "use", "write"), "path-settings": ("read", "use", "write")}


@dataclass
class RuleRow:
    """A rule as it is listed. ``family`` and ``title``: of its file or guard. ``stops``, ``leaves``: its examples.
    ``hint``: how one case is let through. ``rule``: the rule about commands, None for another guard's.
    """

    family: str
    title: str
    id: str
    severity: str
    reason: str
    instead: str
    hint: str
    stops: Sequence[str] = ()
    leaves: Sequence[str] = ()
    rule: Rule | None = None

    @property
    def searched_text(self) -> str:
        """The text that ``--search`` looks into, in lower case."""
        return "\n".join((self.id, self.title, self.reason, self.instead, *self.stops)).lower()

    @property
    def decisions(self) -> dict[str, str]:
        """The decision at each level."""
        return {level: severity_decision(self.severity, level) or "nothing" for level in LEVELS}

    @property
    def facts(self) -> dict[str, Any]:
        """The row for JSON."""
        kept = {key: value for key, value in vars(self).items() if key not in ("hint", "rule")}
        return {**kept, "decisions": self.decisions}

    def __str__(self) -> str:
        """Return all of it, for people."""
        decisions = ", ".join(f"{level} {decision}" for level, decision in self.decisions.items())
        lines = [
            f"{self.id}  {self.title} ({self.family})",
            f"  {self.reason} {self.instead}".rstrip(),
            f"  severity {self.severity}: {decisions}",
            *(f"  stops   {text}" for text in self.stops),
            *(f"  leaves  {text}" for text in self.leaves),
            f"  To let one case through: {self.hint}",
        ]
        return "\n".join(map(visible, lines))


def rule_rows(files: Iterable[FileGuards]) -> list[RuleRow]:
    """Return the rules of this package, and those of settings ``files``, each once."""
    rows = [_row(family.family, family.title, rule) for family in own_families() for rule in family.rules]
    rows += guard_rows()
    for each in files:
        rules = map(Rule.model_validate, each.tables.get("rules", ()))
        title = f"Rules of the {each.rank}"
        further = [_row(each.rank, title, rule) for rule in rules]
        further += [_command_row(each.rank, title, rule, origin) for rule, origin in each.command_rules]
        rows += [row for row in further if row not in rows]
    return rows


def _command_row(rank: str, title: str, rule: CommandRule, origin: str) -> RuleRow:
    severity = "high" if rule.decision == "deny" else "unknown"
    return RuleRow(rank, title, ", ".join(rule.names), severity, rule.reason, "", f"change the rule: {origin}")


def guard_rows() -> Iterator[RuleRow]:
    """Yield the rules of the path guard, the egress guard and the secrets guard."""
    tables = load_tables(os.path.dirname(os.path.abspath(objections.__file__)))["objections"]
    for key, table in tables.items():
        start = key.partition("-")[0]
        if start not in OTHER_GUARDS or table.get("rule", key) != key:
            continue  # another reason of a rule, or a rule about commands
        family, title, settings = OTHER_GUARDS[start]
        severity = table.get("severity") or ("high" if table["decision"] == "deny" else "medium")
        reason, instead = (re.sub(r"\{(\w+)\}", _part, table.get(name, "")) for name in ("reason", "instead"))
        hint = f"see [guards.{settings}] of an agent-hooks.toml"
        for rule_id in [f"{key}-{verb}" for verb in _BY_VERB.get(key, ())] or [key]:
            yield RuleRow(family, title, rule_id, severity, reason, instead, hint)


def _part(match: re.Match[str]) -> str:
    return _PARTS.get(match[1], match[0])


def _row(family: str, title: str, rule: Rule) -> RuleRow:
    hint = f"agent-hooks allow {rule.id} --command GLOB (or --path, --branch)"
    texts = (rule.id, rule.severity, reason_of(rule), rule.instead, hint)
    return RuleRow(family, title, *texts, rule.stops, rule.leaves, rule)
