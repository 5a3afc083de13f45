"""The rules that an analysed command breaks."""

from __future__ import annotations

from agent_hooks.shell.syntax import Record

from .criteria import BY_ASSIGNMENT, BY_COMMAND, BY_DOER, CommandView, KindsOf, first_tokens, prepare
from .globs import like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    from agent_hooks_guards.model.actions import Analysis, Command, Doubt, Effect
    from agent_hooks_guards.places.paths import Place

    from .criteria import Test
    from .indexing import Index, RuleText

# Programs, and pairs of program and kinds of path, whose matches are kept.
_MAX_KEPT = 1024


class Verdict(Record):
    """A broken rule. ``fragment``: the part of the command that breaks it. ``action``: the analysed action."""

    __slots__ = ("action", "fragment", "rule")

    def __init__(self, rule: RuleText, fragment: str, action: Command | Effect | Doubt) -> None:
        self.rule = rule
        self.fragment = fragment
        self.action = action


def judge(analysis: Analysis, rules: Index, place: Place) -> list[Verdict]:
    """Return the broken rules in the order of the actions, each rule once for a fragment and a path in it."""
    found: dict[tuple[int, str, str], Verdict] = {}
    views: dict[int, CommandView] = {}
    kinds_of = KindsOf(place)
    for command in analysis.commands:
        view = views[id(command)] = CommandView(command, kinds_of)
        for number, tests in _candidates(view, rules):
            if _holds(view, None, tests):
                fragment = command.fragment
                found.setdefault((number, fragment, ""), Verdict(rules.rules[number], fragment, command))
    for effect in analysis.effects:
        doer = effect.command
        view = views.get(id(doer)) or views.setdefault(id(doer), CommandView(doer, kinds_of))
        group = (effect.kind, view.name, kinds_of(effect.path, doer.host))
        candidates = rules.by_doer.get(group)
        if candidates is None:
            candidates = _by_doer(group, view, effect, rules)
        for number, tests in candidates:
            if _holds(view, effect, tests):
                key = (number, doer.fragment, effect.path)
                found.setdefault(key, Verdict(rules.rules[number], doer.fragment, effect))
    for doubt in analysis.doubts:
        for at in rules.doubts.get(doubt.kind, ()):
            number, tests, _ = rules.ready.get(at) or _ready(at, rules)
            if number not in rules.skipped and _holds(None, doubt, tests):
                key = (number, doubt.fragment, "")
                found.setdefault(key, Verdict(rules.rules[number], doubt.fragment, doubt))
    return list(found.values())


def severity_decision(severity: str, level: str) -> Literal["deny", "ask"] | None:
    """Return the decision for a broken rule of this severity at ``relaxed``, ``standard`` or ``strict``."""
    if severity == "high":
        return "deny"
    if severity == "unknown" or (severity == "medium" and level != "relaxed") or level == "strict":
        return "ask"
    return None


def _candidates(view: CommandView, rules: Index) -> list[tuple[int, Any]]:
    """Return the matches about commands that may hold, by program, circumstances and first token."""
    command = view.command
    key = (
        view.name,
        command.host,
        command.root,
        command.background,
        command.endless,
        command.stdin is None,
        not command.assignments,
    )
    by_token = rules.by_token.get(key)
    # A command that only prints its help does nothing.
    if (by_token is not None and not by_token) or view.options.is_help:
        return []
    if by_token is None:
        by_token = _by_token(key, view, rules)
    if len(by_token) <= 1:
        return by_token.get("", [])
    tokens = view.tokens
    return by_token.get(tokens[0], by_token[""]) if tokens else by_token[""]


def _by_token(key: tuple[Any, ...], view: CommandView, rules: Index) -> dict[str, list[tuple[int, Any]]]:
    """Return the matches for a program and its circumstances by the first token after it.

    Matches for any first token are in every list, and alone under "".
    """
    from agent_hooks_guards.programs.sql.clients import CLIENTS

    name = view.name
    settled = BY_COMMAND if view.command.assignments else BY_COMMAND | BY_ASSIGNMENT
    positions = [*rules.any_command, *rules.commands.get(name, ())]
    if name in CLIENTS:
        positions += rules.clients
    for glob, more in rules.globs.values():
        if like(name, glob):
            positions += more
    matches = {at: match for at in positions if (match := _unsettled(at, settled, view, None, rules)) is not None}
    firsts = {at: rules.ready[at][2] for at in matches}
    found = {"": [match for at, match in matches.items() if not firsts[at]]} if matches else {}
    for token in {token for tokens in firsts.values() for token in tokens}:
        found[token] = [match for at, match in matches.items() if not firsts[at] or token in firsts[at]]
    if len(rules.by_token) < _MAX_KEPT:
        rules.by_token[key] = found
    return found


def _by_doer(
    key: tuple[str, str, frozenset[str]], view: CommandView, effect: Effect, rules: Index
) -> list[tuple[int, Any]]:
    """Return the matches for a kind of effect by a program on a path of some kinds."""
    matches = (_unsettled(at, BY_DOER, view, effect, rules) for at in rules.effects.get(effect.kind, ()))
    found = [match for match in matches if match is not None]
    if len(rules.by_doer) < _MAX_KEPT:
        rules.by_doer[key] = found
    return found


def _unsettled(
    at: int, settled: frozenset[Test], view: CommandView, effect: Effect | None, rules: Index
) -> tuple[int, list[Any]] | None:
    """Return a match without its ``settled`` tests; None if one of them fails, or if its rule is skipped."""
    number, tests, _ = rules.ready.get(at) or _ready(at, rules)
    if number in rules.skipped or not _holds(view, effect, [each for each in tests if each[0] in settled]):
        return None
    return number, [each for each in tests if each[0] not in settled]


def _ready(at: int, rules: Index) -> tuple[int, Any, tuple[str, ...]]:
    """Return the position of a match's rule, its tests, and its first tokens."""
    number, match, expressions = rules.matches[at]
    first = first_tokens(match)
    rules.ready[at] = found = (number, prepare(match, expressions, first), first)
    return found


def _holds(view: Any, action: Effect | Doubt | None, tests: Any) -> bool:
    for test, wanted in tests:  # noqa: SIM110 - all() with a generator takes twice as long
        if not test(view, action, wanted):
            return False
    return True
