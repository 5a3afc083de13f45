"""The answers of one dispatch: parse each, apply the rules of mode and source, fold it into the context."""

from __future__ import annotations

from time import time

from agent_hooks.errors import InvalidOutcomeError, SettingsError
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import (
    BLOCKING,
    BRINGS,
    KEPT,
    KEPT_IN_PASSING,
    PROCEED,
    PRODUCED,
    SUBJECTS,
    Decision,
    Finding,
    HookOutcome,
    Shadowed,
    read_answer,
)
from agent_hooks.model.policy import USER_RANK
from agent_hooks.model.state import AgentState, Message, StopSignal
from agent_hooks.model.values import FrozenDict, freeze, joined, new_value
from agent_hooks.system.visible import visible

from .calling import describe_failure
from .markers import WEAKLY

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .hooks import Hooks
    from .plan import Chain, Hook
    from .suspension import Key

_UNREMARKABLE = frozenset({"updated_at", "rechecking", "previous", "error_list", "tool_execution", "reason"})
_LOOSENING = frozenset({Decision.ALLOW, Decision.SKIP})
_SEQUENCES: dict[str, type] = {"messages": Message, "signals": StopSignal}
_GATHERED = ("state", "context", "messages", "metadata", "signals")
_DECIDER = frozenset({"hook", "source", "origin"})
_NO_ARGS = FrozenDict()
_CONCLUSION = frozenset({"decision", "reason", "hook", "failed", "data", "final"})


class Answers:
    """The answers of one dispatch, and the context as they have left it."""

    def __init__(self, chain: Chain, ctx: HookContext, view: Hooks) -> None:
        self.event = chain.event
        self.policy = chain.policy
        self.view = view
        self.start = self.ctx = ctx
        self.findings: list[Finding] = []
        self.shadowed: list[Shadowed] = []
        self.changed_by: list[Hook] = []
        self.suspended_by: Hook | None = None
        self.granted = PROCEED
        self.least_rank = USER_RANK
        self.asks: list[tuple[Hook, HookOutcome]] = []
        self.called_before: frozenset[Key] = frozenset()
        self._called: set[Hook] = set()
        self._called_again: set[Hook] = set()
        self._answered: dict[Hook, tuple[Any, HookOutcome]] = {}

    def about_this_subject(self, hook: Hook) -> HookOutcome | None:
        """Return the hook's answer about exactly the current subject, or None."""
        earlier = self._answered.get(hook)
        return earlier[1] if earlier is not None and same(earlier[0], self.ctx.held_subject) else None

    @property
    def has_new_subject(self) -> bool:
        """Whether hooks have changed the subject so far."""
        return not same(self.ctx.held_subject, self.start.held_subject)

    def context_for(self, hook: Hook) -> HookContext:
        """Return the context for the hook, with ``rechecking`` set if it was called about this operation before."""
        if hook in self._called:
            self._called_again.add(hook)
        else:
            self._called.add(hook)
            if hook.key not in self.called_before:
                return self.ctx
        return self.ctx.replace(rechecking=True)

    @property
    def called_keys(self) -> frozenset[Key]:
        """The keys of the hooks that were called about this operation so far."""
        return self.called_before | {hook.key for hook in self._called}

    def take(self, ctx: HookContext, answered: dict[Hook, Any], changed_by: list[Hook]) -> None:
        """Go on from ``ctx``, as a fast lane left it: the hooks it called, by the subjects they had no objection to."""
        self.ctx = ctx
        self.changed_by = changed_by
        self._called.update(answered)
        if self.event.subject is not None:
            self._answered = {hook: (subject, PROCEED) for hook, subject in answered.items()}

    # -- reading one answer ------------------------------------------------------------------------------------------

    def accept(self, hook: Hook, ctx: HookContext, answer: Any, matched: Any) -> HookOutcome:
        """Return the outcome that the hook's answer stands for, folded into the context and remembered."""
        outcome = PROCEED
        if answer is not None:
            outcome = self.what_counts(hook, ctx, self.read(hook, ctx, answer), matched)
            if outcome is not PROCEED:
                before = self.ctx.held_subject
                self.ctx = fold(self.ctx, hook.name, outcome, self.policy.context_separator)
                if self.ctx.held_subject is not before and outcome._fields.keys() & SUBJECTS:
                    self.changed_by.append(hook)
                elif outcome.decision is Decision.SUSPEND:
                    self.suspended_by = hook
        if self.event.subject is not None:
            self._answered[hook] = (self.ctx.held_subject, outcome)
        return outcome

    def read(self, hook: Hook, ctx: HookContext, answer: Any) -> HookOutcome:
        """Return the answer as an outcome of this event. Raises ``InvalidOutcomeError``."""
        outcome = (
            self.changes_of(hook, ctx, answer) if isinstance(answer, HookContext) else read_answer(answer, self.event)
        )
        decision = outcome.decision
        if not isinstance(outcome.reason, str):
            raise InvalidOutcomeError(f"its reason must be text, not {outcome.reason!r}.")
        if decision is Decision.DENY and self.event.reads_deny_as is not None:
            return outcome.replace(decision=Decision.parse(self.event.reads_deny_as))
        if decision is not Decision.PROCEED and decision not in self.event.decisions:
            listed = ", ".join(sorted(self.event.decisions)) or "no decision"
            raise InvalidOutcomeError(f"it decided {str(decision)!r}, but {self.event!s} knows {listed}.")
        return outcome

    def changes_of(self, hook: Hook, given: HookContext, returned: HookContext) -> HookOutcome:
        """Return the outcome that a changed context stands for."""
        old, new = given._fields, returned._fields
        changed = {n for n in old.keys() | new.keys() if old.get(n) is not new.get(n) and old.get(n) != new.get(n)}
        if changed & {"event", "created_at"}:
            raise InvalidOutcomeError("it returned the context of another event.")
        if returned.is_tool_execution_blocked and not given.is_tool_execution_blocked:
            return HookOutcome.deny(returned.reason)
        brings: dict[str, Any] = {name: new.get(name) for name in changed & BRINGS}
        if "tool_call" in changed:
            was, now = given.tool_call, returned.tool_call
            if was is None or now is None or (was.name, was.id, was.kind) != (now.name, now.id, now.kind):
                raise InvalidOutcomeError("it changed the tool's name or id; only the arguments may change.")
            brings["tool_args"] = now.args
        execution = returned.tool_execution if changed & {"tool_execution", "result"} == {"tool_execution"} else None
        if execution is not None and not same(execution.result, given.result):
            brings["result"] = execution.result
        if "context" in changed:  # a context accumulates, an outcome adds: only what is new counts
            brings["context"] = returned.context.removeprefix(given.context).strip()
        for name in changed & {"messages", "signals"}:
            brings[name] = brings[name][len(getattr(given, name)) :]
        for name in sorted(changed - BRINGS - _UNREMARKABLE - {"tool_call"}):
            self.contract(hook, name, is_kept=False)
        return HookOutcome(**brings) if brings else PROCEED

    def what_counts(self, hook: Hook, ctx: HookContext, outcome: HookOutcome, matched: Any) -> HookOutcome:
        """Return the outcome reduced to the fields that this hook may set on this event."""
        if outcome.decision in _LOOSENING:
            outcome = self.without_forbidden_loosening(hook, outcome, matched)
        brought = outcome._fields.keys() & BRINGS
        if not brought:
            return outcome
        subject = self.event.subject
        dropped = (brought & SUBJECTS) - {subject}
        for name in sorted(dropped):
            self.contract(hook, name, is_kept=False)
        brings_new = subject in brought and not same(outcome._fields[subject], ctx.held_subject)
        if outcome.ends_chain:
            if brings_new and outcome.decision in _LOOSENING:
                raise InvalidOutcomeError(
                    f"it decided {str(outcome.decision)!r} and brought a new {subject}; an outcome that ends the chain "
                    "brings none, and without it the original would go ahead. Return the change alone."
                )
            passes_over = outcome.decision in _LOOSENING and hook.mode != "gate"
            dropped |= brought - (KEPT_IN_PASSING if passes_over else KEPT)
            for name in sorted(dropped - SUBJECTS if not brings_new else dropped):
                self.note(
                    hook, "contract", f"Hook '{hook.name}' decided '{outcome.decision}': its '{name}' was dropped."
                )
        elif hook.mode == "gate":
            if brings_new and "deny" in self.event.decisions:
                reason = f"The gate {hook.name} returned a new {subject}, and a gate may not change it."
                return HookOutcome(decision=Decision.DENY, reason=reason, failed=True)
            dropped |= brought - KEPT
            for name in sorted(dropped if brings_new else dropped - {subject}):
                self.note(hook, "contract", f"Hook '{hook.name}' is a gate: its change of '{name}' was dropped.")
        if hook in self._called_again:
            for name in sorted(brought - dropped - {subject}):
                dropped.add(name)
                if not self._has_brought(hook, name, outcome):
                    self.note(hook, "contract", f"Hook '{hook.name}' was rechecking: its new '{name}' was dropped.")
        for name in sorted(brought - dropped - self.event.changes):
            self.contract(hook, name)
        if not dropped:
            return outcome
        kept = {name: value for name, value in outcome._fields.items() if name not in dropped}
        return HookOutcome._of(kept) if kept else PROCEED

    def _has_brought(self, hook: Hook, name: str, outcome: HookOutcome) -> bool:
        """Whether the hook brought the same before in this dispatch."""
        value = outcome._fields[name]
        return any(who == hook.name and was._fields.get(name) == value for who, was in self.ctx.previous_results)

    def refuse_new_subject(self, hook: Hook, outcome: HookOutcome) -> None:
        """Raise ``InvalidOutcomeError`` if a wrapper brings a new subject: dropped, the original would go ahead."""
        subject = self.event.subject
        if subject in outcome._fields and not same(outcome._fields[subject], self.ctx.held_subject):
            raise InvalidOutcomeError(f"the wrapper {hook.name} returned a new {subject}; it may only be stricter.")

    def without_forbidden_loosening(self, hook: Hook, outcome: HookOutcome, matched: Any) -> HookOutcome:
        """Return the outcome, its allow or skip turned into no opinion where this hook may not loosen anything here."""
        call = self.ctx.tool_call if self.event.matched_by == "tool" else None
        if not hook.may_loosen:
            why = f"a {hook.source} may only tighten"
        elif self.event is HookEvent.PERMISSION_REQUEST and hook.rank < self.least_rank:
            why = "a hook may only grant what its own or a lower source asks, and a plugin grants nothing"
        elif matched == WEAKLY:
            why = "it matched on a part of the tool's name"
        elif call is not None and not call.has_trusted_name:
            why = "the tool's name has characters that are not trusted"
        else:
            return outcome
        self.note(hook, "contract", f"Hook '{hook.name}' decided '{outcome.decision}', which does not count: {why}.")
        kept = {name: value for name, value in outcome._fields.items() if name not in ("decision", "final", "reason")}
        return HookOutcome._of(kept) if kept else PROCEED

    def contract(self, hook: Hook, field: str, *, is_kept: bool = True) -> None:
        """Deal with a change that the event does not list, as the policy says. One that is not kept is always noted."""
        message = f"Hook '{hook.name}' cannot mutate '{field}' on trigger '{self.event!s}'."
        if self.policy.contracts == "strict":
            raise InvalidOutcomeError(message)
        if self.policy.contracts == "diagnostic" or not is_kept:
            self.note(hook, "contract", message)

    # -- failures ----------------------------------------------------------------------------------------------------

    def failed(self, hook: Hook, error: BaseException) -> HookOutcome:
        """Return the outcome that a failure of this hook stands for: it blocks, asks, or is tolerated and noted."""
        outcome = PROCEED if hook.shadow else self.what_failing_means(hook, error)
        if outcome is PROCEED:
            self.tolerate(hook, error)
        else:
            self.tell_failed(hook, error, "asks" if outcome.decision is Decision.ASK else "blocks")
        if self.event.subject is not None:
            self._answered[hook] = (self.ctx.held_subject, outcome)
        return outcome

    def what_failing_means(self, hook: Hook, error: BaseException) -> HookOutcome:
        """Return the outcome that a failure stands for by the hook's settings, ``PROCEED`` if it is tolerated."""
        setting = hook.on_failure(self.policy)
        if setting == "ask" and "ask" in self.event.decisions:
            decision = Decision.ASK
        elif setting == "open" or self.event.closed is None:
            return PROCEED
        else:
            decision = Decision.STOP if self.event.closed == "stop" else Decision.DENY
        origin = error.origin if isinstance(error, SettingsError) else ""
        return HookOutcome(decision=decision, reason=describe_failure(hook, error), failed=True, origin=origin)

    def record_shadow(self, hook: Hook, outcome: HookOutcome, error: BaseException | None) -> None:
        """Record the decision of a hook in shadow, or of its failure."""
        if error is not None:
            outcome = self.what_failing_means(hook, error)
        if outcome.decision is not Decision.PROCEED:
            self.shadowed.append(
                Shadowed(hook=hook.name, source=hook.source, decision=outcome.decision, reason=outcome.reason)
            )

    def tolerate(self, hook: Hook, error: BaseException) -> None:
        """Note and count a failure that stops nothing."""
        self.note(hook, "failure", describe_failure(hook, error, with_advice=True))
        self.view.count_tolerated(hook, error)

    def tell_failed(self, hook: Hook, error: BaseException, effect: str) -> None:
        """Log a failure that has an effect. Advice for the operator is a finding as well: the model gets the reason."""
        self.view.manager.log_failure(f"The hook {hook.name}", self.ctx, error, effect)
        if getattr(error, "advice", ""):
            self.note(hook, "failure", describe_failure(hook, error, with_advice=True))

    def note(self, hook: Hook, kind: str, message: str) -> None:
        """Keep a finding for whoever reads the outcome."""
        finding = Finding(hook=hook.name, kind=kind, message=message)
        if finding not in self.findings:
            self.findings.append(finding)

    def unsettled(self) -> HookOutcome:
        """Return the outcome of a chain whose hooks keep changing the subject."""
        names = ", ".join(dict.fromkeys(hook.name for hook in self.changed_by))
        reason = (
            f"These hooks disagree about the {self.event.subject} of {self.event!s} and keep changing it: {names}. "
            "A rewrite must be idempotent: given its own result, it leaves it alone."
        )
        if "deny" in self.event.decisions:
            return self.concluded(self.changed_by[-1], HookOutcome(decision=Decision.DENY, reason=reason, failed=True))
        self.note(self.changed_by[-1], "failure", reason)
        self.ctx = self.ctx.with_subject(self.start.held_subject)
        return self.concluded(None, PROCEED)

    # -- conclusions -------------------------------------------------------------------------------------------------

    def concluded(self, hook: Hook | None, outcome: HookOutcome) -> HookOutcome:
        """Return the dispatch's outcome: the decision of ``hook`` with everything that hooks brought."""
        return conclude(hook, outcome, self.start, self.ctx)

    def question(self, asks: list[tuple[Hook, HookOutcome]], granted: HookOutcome) -> HookOutcome:
        """Return one question for all unanswered ones; ``granted``: the outcome that an approval leaves."""
        self.granted = granted
        self.asks = asks
        self.least_rank = max(USER_RANK, *(hook.rank for hook, _ in asks))
        return self.only(asks, HookOutcome._of({n: granted._fields[n] for n in granted._fields.keys() & BRINGS}))

    def only(self, asks: list[tuple[Hook, HookOutcome]], question: HookOutcome) -> HookOutcome:
        """Return the question with the reasons of these asks alone."""
        return HookOutcome._of(
            {
                **question._fields,
                "decision": Decision.ASK,
                "reason": "\n\n".join(outcome.reason for _, outcome in asks if outcome.reason),
                **named(asks[0][0], Decision.ASK, asks[0][1]),
                "failed": all(outcome.failed for _, outcome in asks),
                "asked_by": tuple(hook.name for hook, _ in asks),
                "asked_keys": tuple(hook.key for hook, _ in asks),
            }
        )

    def also_asked(self, asked: HookOutcome, hook: Hook, outcome: HookOutcome) -> HookOutcome:
        """Return the question with that of a wrapper added."""
        self.least_rank = max(self.least_rank, hook.rank)
        self.asks = [*self.asks, (hook, outcome)]
        return self.only(self.asks, asked)

    @property
    def may_fall_back(self) -> bool:
        """Whether the policies that bind the asking hooks all say that an unanswered ask is allowed."""
        policies = [self.policy, *(hook.managed_policy for hook, _ in self.asks if hook.managed_policy is not None)]
        return all(policy.ask_fallback == "allow" for policy in policies)

    def question_context(self, outcome: HookOutcome) -> HookContext:
        """Return the context in which permission hooks are asked about the final subject."""
        own = ("event", "context", "previous", "rechecking", "outcome", "messages", "signals")
        fields = {name: value for name, value in self.ctx._fields.items() if name not in own}
        return HookContext(
            HookEvent.PERMISSION_REQUEST, **{**fields, "reason": outcome.reason, "asked_by": outcome.asked_by}
        )

    def approved(self, asked: HookOutcome, hook: str | None) -> HookOutcome:
        """Return the outcome after the question was answered with yes."""
        granted = self.granted
        fields: dict[str, Any] = {**granted._fields, "asked_by": asked.asked_by}
        if granted.decision is Decision.PROCEED and "allow" in self.event.decisions:
            fields["decision"] = Decision.ALLOW
            fields["hook"] = hook
        return HookOutcome._of(fields)

    def refused(self, asked: HookOutcome, reason: str, answer: HookOutcome = PROCEED) -> HookOutcome:
        """Return the deny that stands once the question was answered with no, by a hook's ``answer`` or without one."""
        fields = {name: value for name, value in asked._fields.items() if name != self.event.subject}
        by = {name: value for name, value in answer._fields.items() if name in _DECIDER}
        decision = answer.decision if answer.blocks else Decision.DENY
        return HookOutcome._of({**fields, **by, "decision": decision, "reason": reason})


def fold(ctx: HookContext, hook_name: str, outcome: HookOutcome, separator: str) -> HookContext:
    """Return the context as the next hook must find it, after ``hook_name`` gave ``outcome``."""
    fields, brought = ctx._fields, outcome._fields
    folded = new_value(HookContext)
    folded._fields = new = fields.copy()
    new["previous"] = (fields.get("previous"), hook_name, outcome)
    new["updated_at"] = time()
    for name in brought:
        value = brought[name]
        if name == "context" and isinstance(value, str):
            new[name] = f"{fields[name]}{separator}{value}" if fields.get(name) else value
        elif name == "metadata" and isinstance(value, dict):
            new[name] = joined(fields[name], value) if name in fields else freeze(value)
        elif name == "state" and isinstance(value, AgentState):
            new[name] = value
        elif name == "tool_args" and "tool_call" in fields:
            call = fields["tool_call"]
            if not same(value, call._fields.get("args", _NO_ARGS)):
                new["tool_call"] = call.with_args(value)
        elif name in SUBJECTS:
            if not same(value, ctx.get(name)):
                new.update(ctx.subject_change(name, freeze(value)))
        elif name in _SEQUENCES and all(type(item) is _SEQUENCES[name] for item in value):
            new[name] = (*getattr(ctx, name), *value)
        elif name in BRINGS:
            raise InvalidOutcomeError(f"its {name} is {value!r}, and that is not what {name} must be.")
    return folded


def named(hook: Hook, decision: Decision, outcome: HookOutcome = PROCEED) -> dict[str, Any]:
    """Return the outcome's fields about the deciding hook; the origin of a failure is that of wrong settings."""
    fields = {"hook": visible(hook.name), "source": hook.source}
    if decision not in BLOCKING and decision is not Decision.ASK:
        return fields
    return {**fields, "origin": visible((outcome.failed and outcome.origin) or hook.origin)}


def same(first: Any, second: Any) -> bool:
    """Whether two subjects are equal; incomparable ones count as different, so hooks are asked."""
    try:
        return first is second or bool(first == second)
    except Exception:
        return False


def conclude(hook: Hook | None, outcome: HookOutcome, start: HookContext, ctx: HookContext) -> HookOutcome:
    """Return the dispatch's outcome: the decision of ``hook`` with all changes to the context."""
    old, new = start._fields, ctx._fields
    fields: dict[str, Any] = {}
    if outcome is not PROCEED:
        fields = {name: value for name, value in outcome._fields.items() if name in _CONCLUSION}
    if hook is not None:
        fields.update(named(hook, outcome.decision, outcome))
    subject = old["event"].subject
    holder = "tool_call" if subject == "tool_args" else subject
    if holder in new and new[holder] is not old.get(holder):
        # A stop does not undo a result that exists already: it is passed on as the hooks have left it so far.
        is_kept = not outcome.decision.is_blocking or (outcome.decision is Decision.STOP and subject in PRODUCED)
        if is_kept and not same(now := ctx.held_subject, start.held_subject):
            fields[subject] = now
    for name in _GATHERED:
        if name in new and new[name] is not old.get(name):
            fields[name] = new[name]
    return HookOutcome._of(fields) if fields else PROCEED
