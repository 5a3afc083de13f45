"""The rules that an analysed command breaks."""

from __future__ import annotations

import os

from agent_hooks.shell.syntax import Record
from agent_hooks_guards.model.declarations import declarations
from agent_hooks_guards.model.values import CONTENT, UNKNOWN
from agent_hooks_guards.places.links import linked_kinds

from .criteria import BY_BARE_COMMAND, BY_COMMAND, BY_DOER, CommandView, like

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any, Literal

    from agent_hooks_guards.model.actions import Analysis, Command, Doubt, Effect
    from agent_hooks_guards.places.paths import Place

    from .criteria import Test
    from .indexing import Candidates, Index, RuleMatch, RuleText

# Kinds of commands and of effects whose matches are kept.
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

    known: dict[tuple[str, str], frozenset[str]] = {}

    def kinds_of(path: str, host: str) -> frozenset[str]:
        found_kinds = known.get((path, host))
        if found_kinds is None:
            found_kinds = known[path, host] = linked_kinds(path, place, host)
        return found_kinds

    def add(rule: RuleText, command: Command | Doubt, action: Command | Effect | Doubt, path: str = "") -> None:
        found.setdefault((id(rule), command.fragment, path), Verdict(rule, command.fragment, action))

    for command in analysis.commands:
        view = views[id(command)] = CommandView(command, place.home, kinds_of)
        view.commands = analysis.commands
        for rule in _broken_by_command(view, rules):
            add(rule, command, command)
    for effect in _without_own_files(analysis.effects):
        doer = effect.command
        view = views.get(id(doer)) or views.setdefault(id(doer), CommandView(doer, place.home, kinds_of))
        key = (effect.kind, view.name, kinds_of(effect.path, doer.host))
        candidates = rules.by_doer.get(key)
        if candidates is None:
            candidates = _candidates(rules.matches("effect", effect.kind), BY_DOER, view, effect)
            if len(rules.by_doer) < _MAX_KEPT:
                rules.by_doer[key] = candidates
        for match, tests in candidates:
            if _holds(view, effect, tests):
                add(match.rule, doer, effect, effect.path)
    for doubt in analysis.doubts:
        for match in rules.matches("doubt", doubt.kind):
            if _holds(None, doubt, match.tests):
                add(match.rule, doubt, doubt)
    return list(found.values())


def _without_own_files(effects: list[Effect]) -> Iterator[Effect]:
    """Yield the effects but for the deletion of single files that the same command line makes, or of the content of
    files that it may have made: nothing is lost.
    """
    # What moves a file makes none, and a name with a glob may be that of others.
    moving = {id(effect.command) for effect in effects if effect.kind == "delete" and effect.method != CONTENT}
    own: dict[str, bool] = {}
    for effect in effects:
        path = effect.path
        is_one = not (effect.command.host or any(mark in path for mark in "*?[" + UNKNOWN))
        if is_one and effect.kind == "write" and not effect.append:
            own[path] = own.get(path, True) and id(effect.command) not in moving
        may_be_new = os.path.isdir(os.path.dirname(path)) and own.get(path, True)
        is_own = is_one and (may_be_new if effect.method == CONTENT else own.get(path, False))
        if effect.kind != "delete" or effect.recursive or not is_own or os.path.lexists(path):
            yield effect


def severity_decision(severity: str, level: str) -> Literal["deny", "ask"] | None:
    """Return the decision for a broken rule of this severity at ``relaxed``, ``standard`` or ``strict``."""
    if severity == "high":
        return "deny"
    if severity == "unknown" or (severity == "medium" and level != "relaxed") or level == "strict":
        return "ask"
    return None


def _broken_by_command(view: CommandView, rules: Index) -> list[RuleText]:
    doer = view.command
    is_bare = not doer.assignments
    key = (view.name, doer.host, doer.root, doer.background, doer.endless, doer.stdin is None, is_bare)
    by_token = rules.by_token.get(key)
    if by_token is None:
        settled = BY_BARE_COMMAND if is_bare else BY_COMMAND
        by_token = _by_token(_candidates(_about_program(view.name, rules), settled, view, None))
        if len(rules.by_token) < _MAX_KEPT:
            rules.by_token[key] = by_token
    tokens = view.tokens if len(by_token) > 1 else []
    found = by_token.get(tokens[0], by_token[""]) if tokens else by_token[""]
    # A command that only prints its help does nothing.
    if not found or view.command.options.is_help:
        return []
    return [match.rule for match, tests in found if _holds(view, None, tests)]


def _by_token(candidates: Candidates) -> dict[str, Candidates]:
    """Return the candidates by the first token of a command; under "", those for any."""
    tokens = {token for match, _ in candidates for token in match.first}
    return {
        token: [pair for pair in candidates if not pair[0].first or token in pair[0].first] for token in ("", *tokens)
    }


def _candidates(
    matches: Iterable[RuleMatch], settled: frozenset[Test], view: CommandView, effect: Effect | None
) -> Candidates:
    """Return the matches whose ``settled`` tests hold, with the tests that are left."""
    return [
        (match, [each for each in match.tests if each[0] not in settled])
        for match in matches
        if _holds(view, effect, [each for each in match.tests if each[0] in settled])
    ]


def _about_program(name: str, rules: Index) -> list[RuleMatch]:
    found = rules.matches("any") + rules.matches("program", name)
    if name in declarations().clients:
        found += rules.matches("client")
    return found + [match for glob, match in rules.globs if like(name, glob)]


def _holds(view: Any, action: Effect | Doubt | None, tests: Any) -> bool:
    for test, wanted in tests:  # noqa: SIM110 - all() with a generator takes twice as long
        if not test(view, action, wanted):
            return False
    return True
