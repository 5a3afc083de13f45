"""The shell guard: analyses a command, and denies or asks about effects that break a rule."""

from __future__ import annotations

from agent_hooks import RegistrationError
from agent_hooks.system.visible import visible
from agent_hooks_guards.analysis.analysing import analyse
from agent_hooks_guards.model.values import UNKNOWN
from agent_hooks_guards.rules.indexing import Index, known_names
from agent_hooks_guards.rules.matching import judge, severity_decision

from .base import Guard, check_choice
from .calls import commands_of, place_of
from .objection import LEVELS, MAX_LENGTH, Objection, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from agent_hooks import HookContext, ToolCall
    from agent_hooks_guards.model.actions import Analysis
    from agent_hooks_guards.places.paths import Place
    from agent_hooks_guards.rules.indexing import RuleText
    from agent_hooks_guards.rules.matching import Verdict

    from .exceptions import RuleException

_CHOICES = ("off", "ask", "deny")
_MIN_FRAGMENT = 40  # characters of a command that are shown at least
_BETWEEN = len("``:  Instead:  []")
_DECISION_ORDER = {"deny": 0, "ask": 1}
# Of several reasons, those about data that leaves the machine come first, those about mere reading last.
_FIRST_FAMILIES = ("exfiltration",)
_LAST_FAMILIES = ("secrets-read", "obfuscation", "unanalysable")


class ShellGuard(Guard):
    """Denies commands with effects that cannot be undone, and asks about those that may do harm or cannot be analysed.

    ``level``: ``relaxed`` denies irreversible effects and asks only about commands that it cannot analyse;
    ``standard`` also asks where harm is likely; ``strict`` also asks about writes outside of the workspace, network
    access and unknown programs. ``choices``: by a rule's id or a family's name, ``off``, ``ask`` or ``deny`` in place
    of the level's decision; an id beats its family. ``at_least``: the same, where it is stricter than the result.
    ``exceptions``: commands that pass all the same. ``rules``: further rules, as ``rules.loading`` reads them. Raises
    ``RegistrationError`` for an invalid level, choice or name.
    """

    def __init__(
        self,
        level: str = "standard",
        *,
        choices: Mapping[str, str] | None = None,
        at_least: Mapping[str, str] | None = None,
        exceptions: Iterable[RuleException] = (),
        rules: Index | None = None,
    ) -> None:
        self.level = check_choice("level", level, LEVELS)
        self.choices = dict(choices or {})
        self.at_least = dict(at_least or {})
        for name, choice in (*self.choices.items(), *self.at_least.items()):
            check_choice(name, choice, _CHOICES)
        self.exceptions = tuple(exceptions)
        self._further = () if rules is None else rules.rules
        self._index: Index | None = None
        if self.choices or self.at_least or self.exceptions:
            self._check_names()

    @property
    def rules(self) -> Index:
        """All rules of this guard."""
        if self._index is None:
            # Rules that are off need not be matched.
            self._index = Index(filter(self._decision, self._further), own=self._decision)
        return self._index

    def objections(self, ctx: HookContext, call: ToolCall) -> Iterator[Objection]:
        """Yield the objections to the commands of ``call``, if it has any."""
        for text, language in commands_of(call):
            place = place_of(ctx, call)
            for decision, verdict in self.broken(analyse(text, place, language), place, ctx.created_at):
                yield objection(decision, verdict)

    def decide(self, text: str, place: Place, language: str = "sh") -> list[tuple[str, Verdict]]:
        """Return the rules that the command line ``text`` breaks, as ``broken`` does."""
        return self.broken(analyse(text, place, language), place)

    def broken(self, analysis: Analysis, place: Place, at: float | None = None) -> list[tuple[str, Verdict]]:
        """Return the broken rules, each with ``deny`` or ``ask``, the denied first.

        ``at``: the time of the call, for exceptions that end.
        """
        found = []
        for verdict in judge(analysis, self.rules, place):
            decision = self._decision(verdict.rule)
            if decision and not any(exception.covers(verdict, place, at) for exception in self.exceptions):
                found.append((decision, verdict))
        return sorted(found, key=rank)

    def _decision(self, rule: RuleText) -> str:
        choice = self.choices.get(rule.id) or self.choices.get(rule.family)
        decision = (severity_decision(rule.severity, self.level) or "") if choice is None else choice.replace("off", "")
        least = self.at_least.get(rule.id) or self.at_least.get(rule.family)
        return "deny" if "deny" in (decision, least) else decision or least or ""

    def _check_names(self) -> None:
        known = known_names().union(*((rule.id, rule.family) for rule in self._further))
        for name in (*self.choices, *self.at_least, *(exception.rule for exception in self.exceptions)):
            if name not in known:
                message = unknown_name(name, known)
                raise RegistrationError(message[0].upper() + message[1:])


def unknown_name(name: str, known: Iterable[str]) -> str:
    """Return the message about the name of a rule or family that does not exist."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]}?" if near else "`agent-hooks rules` lists them"
    return f"there is no rule and no family {name!r} ({hint})"


def rank(broken: tuple[str, Verdict]) -> tuple[int, int]:
    """Return the sort key of a broken rule in reports."""
    family = broken[1].rule.family
    return _DECISION_ORDER[broken[0]], 0 if family in _FIRST_FAMILIES else 2 if family in _LAST_FAMILIES else 1


def objection(decision: str, verdict: Verdict) -> Objection:
    """Return the objection to a broken rule: the part of the command, the reason, an alternative."""
    from .secret_scan import without_secrets

    # Before the fragment is cut, which could leave half of a secret.
    fragment = " ".join(without_secrets(verdict.fragment.replace(UNKNOWN, "…")).split())
    rule = verdict.rule
    why = getattr(verdict.action, "why", "")
    reason = f"It cannot be told what all of it does: {why}." if why else reason_of(rule, verdict.action)
    shown = max(_MIN_FRAGMENT, MAX_LENGTH - len(reason) - len(rule.instead) - len(rule.id) - _BETWEEN)
    if len(fragment) > shown:
        fragment = fragment[: shown - 1] + "…"
    return Objection(decision, rule.id, f"`{visible(fragment)}`: {reason}", f"Instead: {rule.instead}")
