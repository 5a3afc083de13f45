"""The rules of dispatch, written down as plainly as possible: what the engine is compared with.

It is pure, synchronous and slow, and shares nothing with the engine's dispatch but the table of events and the
policy. A subject is a small number, and what a hook does is a table over subjects.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from agent_hooks.model.events import HookEvent
from model_records import AGAIN, BLOCKING, PLACE, RANK, STRICTNESS, Answer, Hook

if TYPE_CHECKING:
    from agent_hooks.model.policy import HookPolicy


@dataclass
class Dispatch:
    """One dispatch: what it came to, and which hooks were called about which subjects, in order."""

    event: HookEvent
    subject: int
    policy: HookPolicy
    least_rank: int = 0
    decision: str = "proceed"
    hook: str | None = None
    failed: bool = False
    asked_by: tuple[str, ...] = ()
    disagreeing: tuple[str, ...] = ()
    context: list[str] = field(default_factory=list)
    calls: list[tuple[str, int]] = field(default_factory=list)
    observed: list[tuple[str, int]] = field(default_factory=list)
    findings: set[tuple[str, str]] = field(default_factory=set)
    memory: dict[str, tuple[int, Answer]] = field(default_factory=dict)
    # Answers of earlier dispatches about the same operation: (ask or suspend, hook, subject) -> allowed or not.
    given: dict[tuple[str, str, int], bool] = field(default_factory=dict)
    called_before: frozenset[str] = frozenset()
    heard: set[tuple[str, str, int]] = field(default_factory=set)
    brought: set[str] = field(default_factory=set)

    def questions(self) -> set[tuple[str, str, int]]:
        """The questions that are put to a person, if this ends with one."""
        names = {"ask": self.asked_by, "suspend": (str(self.hook),)}.get(self.decision, ())
        return {(self.decision, name, self.subject) for name in names}

    def decide(self, hooks: list[Hook], approvers: list[Hook], reply: str | None) -> Dispatch:
        """Decide, put the question if one is left, then let the observers look."""
        hooks = sorted(hooks, key=lambda h: (PLACE[h.place], -h.priority))
        # The application's policy does not bind managed hooks; that of the machine's owner is the default one here.
        looking = [
            h for h in hooks if h.mode == "observe" or h.shadow or (self.policy.shadow and h.source != "managed")
        ]
        asks = self.settle([h for h in hooks if h not in looking])
        put = [("ask", hook.name, self.subject) for hook, _ in asks]
        answered = [self.given.get(question) for question in put]
        self.heard |= set(put)
        if asks:
            self.asked_by = tuple(hook.name for hook, _ in asks)
        if False in answered:
            self.decision, self.hook, self.failed = "deny", self.asked_by[0], all(answer.failed for _, answer in asks)
        elif asks:
            approval = Dispatch(HookEvent.PERMISSION_REQUEST, 0, self.policy)
            approval.least_rank = max(RANK[hook.source] for hook, _ in asks)
            approval.decide(approvers, [], None)
            self.findings |= approval.findings
            left = [pair for pair, yes in zip(asks, answered, strict=True) if yes is None]
            is_managed = any(hook.source == "managed" for hook, _ in asks)
            said = "allow" if not left else reply or ("deny" if is_managed else self.policy.ask_fallback)
            said = said if approval.hook is None else approval.decision
            if said != "allow":
                # Only what is left is put to a person; a refusal names everybody who asked.
                named = left if said == "ask" else asks
                self.decision, self.hook = said, approval.hook or named[0][0].name
                self.asked_by = tuple(hook.name for hook, _ in named)
                self.failed = all(answer.failed for _, answer in named)
            elif self.decision == "proceed" and "allow" in self.event.decisions:
                self.decision, self.hook = "allow", approval.hook
        refusals = {question for question, is_allowed in self.given.items() if not is_allowed}
        if self.decision not in (*BLOCKING, "ask") and refusals - self.heard:
            # Nobody waits for this answer any more, and it holds all the same.
            self.decision, self.hook, self.asked_by, self.context = "deny", None, (), []
        looking.sort(key=lambda h: h.mode == "observe")  # what is in shadow comes first
        self.observed = [(h.name, self.subject) for h in looking if h.match[self.subject] is True]
        return self

    def settle(self, hooks: list[Hook]) -> list[tuple[Hook, Answer]]:
        """Walk until a walk leaves the subject alone; return the asks that are left."""
        for _ in range(1 + self.policy.max_rechecks):
            answers: list[tuple[Hook, Answer]] = []
            rewriters: list[str] = []
            for hook in hooks:
                if any(self.passed_over(hook, *earlier) for earlier in answers):
                    continue
                before = self.subject
                answer = self.answer_of(hook)
                if self.subject != before:
                    rewriters.append(hook.name)
                if answer.decision in BLOCKING and not self.event.asks_all:
                    self.decision, self.hook, self.failed = answer.decision, hook.name, answer.failed
                    return []
                answers.append((hook, answer))
            if not rewriters:
                return self.conclude(answers)
        self.decision, self.hook, self.failed, self.disagreeing = "deny", rewriters[-1], True, tuple(rewriters)
        return []

    def conclude(self, answers: list[tuple[Hook, Answer]]) -> list[tuple[Hook, Answer]]:
        """Take the first answer of the strongest kind; return the asks that no earlier allow has answered."""
        strength = [BLOCKING, AGAIN, ("skip", "allow final"), ("allow",)]
        for kind in strength:
            standing = [(h, a) for h, a in answers if a.decision + " final" * a.final in kind]
            if standing:
                hook, answer = standing[0]
                self.decision, self.hook, self.failed = answer.decision, hook.name, answer.failed
                break
        allowed = [(place, RANK[h.source]) for place, (h, a) in enumerate(answers) if a.decision == "allow"]
        return [
            (h, a)
            for place, (h, a) in enumerate(answers)
            if a.decision == "ask" and not any(p < place and rank >= RANK[h.source] for p, rank in allowed)
        ]

    def passed_over(self, hook: Hook, earlier: Hook, answer: Answer) -> bool:
        decides = hook.mode == "gate" or self.event.closed is not None
        safe = decides and hook.source in ("user", "managed")
        lower = RANK[hook.source] <= RANK[earlier.source]
        return answer.passes_over and lower and not safe and not self.event.asks_all

    def answer_of(self, hook: Hook) -> Answer:
        """What the hook says about the current subject; it is called only if it has not said so yet."""
        if hook.match[self.subject] is not True:
            return self.failure(hook) if hook.match[self.subject] == "raise" else Answer()
        known = self.memory.get(hook.name)
        if known is not None and known[0] == self.subject:
            return known[1]
        is_again = known is not None or hook.name in self.called_before
        answers = hook.again if is_again and hook.again is not None else hook.first
        answer = answers[self.subject]
        question = ("suspend", hook.name, self.subject)
        if question in self.given:
            self.heard.add(question)
            answer = Answer() if self.given[question] else Answer("deny")
        else:
            self.calls.append((hook.name, self.subject))
        answer = self.read(hook, answer)
        is_gate = hook.mode == "gate" or hook.source in ("skill", "project")
        if answer.subject not in (None, self.subject) and is_gate:
            answer = Answer("deny", failed=True)
        if answer.context and known is None:
            self.context.append(answer.context)
            self.brought.add(hook.name)
        elif answer.context and hook.name not in self.brought:
            self.findings.add((hook.name, "contract"))
        if answer.subject is not None:
            self.subject = answer.subject
        self.memory[hook.name] = (self.subject, answer)
        return answer

    def read(self, hook: Hook, answer: Answer) -> Answer:
        """What an answer means on this event and from this source."""
        if answer.decision == "deny":
            answer = replace(answer, decision=self.event.reads_deny_as or "deny")
        if answer.decision not in ("proceed", *self.event.decisions):
            return self.failure(hook)
        least = max(RANK["user"], self.least_rank) if self.event == "permission_request" else RANK["plugin"]
        if answer.decision in ("allow", "skip") and (hook.weak or RANK[hook.source] < least):
            self.findings.add((hook.name, "contract"))
            return replace(answer, decision="proceed", final=False)
        if answer.decision not in BLOCKING and not answer.passes_over:
            return answer
        if answer.subject not in (None, self.subject):
            if answer.decision in ("allow", "skip"):
                return self.failure(hook)
            self.findings.add((hook.name, "contract"))
        return replace(answer, subject=None)

    def failure(self, hook: Hook) -> Answer:
        """What a failure of the hook comes to."""
        closed = self.event.closed
        tightening = hook.source in ("skill", "project")
        entry, own = (None if s != "closed" and tightening else s for s in (hook.entry_failure, hook.own_failure))
        binding = self.policy.on_gate_failure if closed else None
        rules = [s for s in (entry, binding if hook.source != "managed" else None) if s is not None]
        default = "closed" if closed in ("deny", "stop") or (closed and hook.required) else "open"
        setting = max(rules, key=STRICTNESS.index) if rules else own or default
        if hook.source == "managed" and binding is not None:
            setting = max(setting, binding, key=STRICTNESS.index)
        if setting == "ask" and "ask" in self.event.decisions:
            return Answer("ask", failed=True)
        if setting == "open" or closed is None:
            self.findings.add((hook.name, "failure"))
            return Answer()
        return Answer("stop" if closed == "stop" else "deny", failed=True)
