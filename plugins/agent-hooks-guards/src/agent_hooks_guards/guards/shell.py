"""The shell guard: reads what a command would do, and denies or asks about what breaks a rule."""

from __future__ import annotations

from agent_hooks import RegistrationError
from agent_hooks_guards.analysis.analysing import analyse
from agent_hooks_guards.rules.matching import judge, severity_decision

from .base import Guard
from .commands_of_calls import commands_of, place_of
from .objection import LEVELS, MAX_LENGTH, Objection, outcome, reason_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from agent_hooks import HookContext, HookOutcome, ToolCall
    from agent_hooks_guards.model.actions import Analysis
    from agent_hooks_guards.places.paths import Place
    from agent_hooks_guards.rules.indexing import Index, RuleText
    from agent_hooks_guards.rules.matching import Verdict
    from agent_hooks_guards.settings.exceptions import RuleException

_CHOICES = ("off", "ask", "deny")
_SHOWN = 40  # characters of a command at least
_BETWEEN = len("``:  Instead:  []")
_ORDER = {"deny": 0, "ask": 1}
# Of several reasons, the worst leads: what leaves the machine first, what only comes to the model last.
_WORST = ("exfiltration",)
_LEAST = ("secrets-read", "obfuscation", "unanalysable")


class ShellGuard(Guard):
    """Denies commands that do what cannot be undone, and asks about those that may do harm or cannot be analysed.

    ``level``: ``relaxed`` denies what cannot be undone and asks only about what it cannot analyse; ``standard`` also
    asks where harm is likely; ``strict`` also asks where a command writes outside of the workspace, reaches the network
    or is not known. ``choices``: by a rule's id, or a family's name, ``off``, ``ask`` or ``deny`` instead of what the
    level says; an id counts more than its family. ``at_least``: the same, where it is stricter than what all that comes
    to. ``exceptions``: what is let through all the same. ``rules``: further
    rules, as ``rules.loading`` reads them. Raises ``RegistrationError`` for a level, a choice or a name that is none.
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
        if level not in LEVELS:
            raise RegistrationError(f"level must be one of {', '.join(LEVELS)}, not {level!r}.")
        self.level = level
        self.choices = dict(choices or {})
        self.at_least = dict(at_least or {})
        for name, choice in (*self.choices.items(), *self.at_least.items()):
            if choice not in _CHOICES:
                raise RegistrationError(f"{name} must be one of {', '.join(_CHOICES)}, not {choice!r}.")
        self.exceptions = tuple(exceptions)
        self._further = rules
        self._index: Index | None = None
        if self.choices or self.at_least or self.exceptions:
            self._check_names()

    @property
    def rules(self) -> Index:
        """All rules that it holds."""
        if self._index is None:
            from agent_hooks_guards.rules.indexing import joined, own_rules

            own = own_rules()
            self._index = own if self._further is None else joined(own, self._further)
            # What would come to nothing need not be looked for.
            rules = self._index.rules
            self._index.skipped = frozenset(at for at, rule in enumerate(rules) if not self._decision(rule))
        return self._index

    def judge(self, ctx: HookContext, call: ToolCall) -> HookOutcome | None:
        """Deny or ask about the command of ``call``, if it has one."""
        commands = commands_of(call)
        if not commands:
            return None
        place = place_of(ctx, call)
        found = [
            each
            for text, language in commands
            for each in self.broken(analyse(text, place, language), place, ctx.created_at)
        ]
        return outcome(objection(decision, verdict) for decision, verdict in found)

    def decide(self, text: str, place: Place, language: str = "sh") -> list[tuple[str, Verdict]]:
        """Return what the command ``text`` breaks, as ``broken`` does."""
        return self.broken(analyse(text, place, language), place)

    def broken(self, analysis: Analysis, place: Place, at: float | None = None) -> list[tuple[str, Verdict]]:
        """Return what breaks a rule, with ``deny`` or ``ask``, the denied first. ``at``: the time of the call, for
        exceptions that end.
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
        known = {name for rule in self.rules.rules for name in (rule.id, rule.family)}
        for name in (*self.choices, *self.at_least, *(exception.rule for exception in self.exceptions)):
            if name not in known:
                from difflib import get_close_matches

                near = get_close_matches(name, known, 1)
                hint = f": did you mean {near[0]}?" if near else "; `agent-hooks rules` lists them."
                raise RegistrationError(f"There is no rule and no family {name!r}{hint}")


def rank(broken: tuple[str, Verdict]) -> tuple[int, int]:
    """Return the order in which what was broken is reported."""
    family = broken[1].rule.family
    return _ORDER[broken[0]], 0 if family in _WORST else 2 if family in _LEAST else 1


def objection(decision: str, verdict: Verdict) -> Objection:
    """Return what the guard has against it: the part of the command, why, and what to do instead."""
    from agent_hooks.system.visible import visible
    from agent_hooks_guards.model.values import UNKNOWN

    from .secret_scan import without_secrets

    # Before it is cut, which could leave half of a secret.
    fragment = " ".join(without_secrets(verdict.fragment.replace(UNKNOWN, "…")).split())
    rule = verdict.rule
    why = getattr(verdict.action, "why", "")
    reason = f"It cannot be told what all of it does: {why}." if why else reason_of(rule, verdict.action)
    shown = max(_SHOWN, MAX_LENGTH - len(reason) - len(rule.instead) - len(rule.id) - _BETWEEN)
    if len(fragment) > shown:
        fragment = fragment[: shown - 1] + "…"
    return Objection(decision, rule.id, f"`{visible(fragment)}`: {reason}", f"Instead: {rule.instead}")
