"""The rules as they are matched: this package's own, and those that people write."""

from __future__ import annotations

from agent_hooks_guards.model.record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from .model import Family

    Positions = tuple[int, ...]


class RuleText(Record):
    """What is told about a rule that was broken."""

    __slots__ = ("family", "id", "instead", "reason", "severity")

    def __init__(self, id: str, family: str, severity: str, reason: str, instead: str) -> None:  # noqa: A002 - its name
        self.id = id
        self.family = family
        self.severity = severity
        self.reason = reason
        self.instead = instead


class Index(Record):
    """Rules, and their matches by what they are about.

    ``matches``: in JSON, so that only those are read which a command needs, the position of the rule and the tests that
    must all hold. ``firsts``: for each match, the words that a command begins with, () if that may be any. The others
    are positions among the matches: ``commands`` by the program's name, ``globs`` for programs named by a glob,
    ``any_command`` for all, ``effects`` and ``doubts`` by their kind. ``skipped``: the positions of rules that nobody
    asks for. What ``matching`` works out is kept in ``ready``, ``by_word`` and ``by_doer``.
    """

    __slots__ = (
        "any_command",
        "by_doer",
        "by_word",
        "commands",
        "doubts",
        "effects",
        "firsts",
        "globs",
        "matches",
        "ready",
        "rules",
        "skipped",
    )

    def __init__(
        self,
        rules: Sequence[RuleText],
        matches: Sequence[str],
        firsts: Sequence[tuple[str, ...]],
        commands: Mapping[str, Positions],
        globs: Sequence[tuple[str | Sequence[str], Positions]],
        any_command: Positions,
        effects: Mapping[str, Positions],
        doubts: Mapping[str, Positions],
    ) -> None:
        self.rules = rules
        self.matches = matches
        self.firsts = firsts
        self.commands = commands
        self.globs = globs
        self.any_command = any_command
        self.effects = effects
        self.doubts = doubts
        self.skipped: frozenset[int] = frozenset()
        self.ready: dict[int, tuple[int, Any]] = {}
        self.by_word: dict[tuple[Any, ...], dict[str, list[tuple[int, Any]]]] = {}
        self.by_doer: dict[tuple[str, str, frozenset[str]], list[tuple[int, Any]]] = {}


def own_rules() -> Index:
    """Return the rules of this package, as ``compile`` wrote them down."""
    from . import compiled

    return Index(
        [RuleText(*texts) for texts in compiled.RULES],
        compiled.MATCHES,
        compiled.FIRSTS,
        compiled.COMMANDS,
        compiled.GLOBS,
        compiled.ANY_COMMAND,
        compiled.EFFECTS,
        compiled.DOUBTS,
    )


def joined(first: Index, second: Index) -> Index:
    """Return the rules of both."""
    import json

    rules, matches = len(first.rules), len(first.matches)

    def moved(positions: Positions) -> Positions:
        return tuple(at + matches for at in positions)

    def merged(one: Mapping[str, Positions], other: Mapping[str, Positions]) -> dict[str, Positions]:
        return {**one, **{key: one.get(key, ()) + moved(positions) for key, positions in other.items()}}

    def renumbered(match: str) -> str:
        number, *tests = json.loads(match)
        return json.dumps([number + rules, *tests])

    return Index(
        [*first.rules, *second.rules],
        [*first.matches, *map(renumbered, second.matches)],
        [*first.firsts, *second.firsts],
        merged(first.commands, second.commands),
        [*first.globs, *((glob, moved(positions)) for glob, positions in second.globs)],
        first.any_command + moved(second.any_command),
        merged(first.effects, second.effects),
        merged(first.doubts, second.doubts),
    )


def read_family(path: str, table: object, at: str = "") -> Family:
    """Return the family in ``table``, as TOML gives it, for instance what ``tomllib.load`` returned for ``path``.

    ``at``: where the table is in the file. Raises ``SettingsError`` naming the file, each wrong key and its rule.
    """
    from pydantic import ValidationError

    from agent_hooks import SettingsError

    from .model import Family

    try:
        return Family.model_validate(table)
    except ValidationError as error:
        problems = [_explained(at, table, problem) for problem in error.errors(include_url=False)]
        raise SettingsError(f"{path}: the rules are wrong. " + " ".join(problems)) from error


def _explained(at: str, table: object, problem: Any) -> str:
    location = problem["loc"]
    key = at + "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    if not at:
        key = key.removeprefix(".")
    where = f"rule {name!r}: " if (name := _rule_at(table, location)) else ""
    kind, message = problem["type"], problem["msg"].removeprefix("Value error, ").rstrip(".")
    if kind == "extra_forbidden":
        return f"{where}{key} is no key of a rule."
    if kind == "missing":
        return f"{where}{key} is missing."
    if kind == "value_error":
        return f"{where}{key}: {message}."
    return f"{where}{key}: {message}, not {problem['input']!r}."


def _rule_at(table: object, location: tuple[int | str, ...]) -> str:
    """The id of the rule in which something is wrong."""
    if len(location) < 2 or location[0] != "rules" or not isinstance(table, dict):
        return ""
    rule = table["rules"][location[1]]
    return str(rule.get("id", "")) if isinstance(rule, dict) else ""
