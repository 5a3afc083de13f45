"""The call loop: call each hook, fold its answer into the context, settle one outcome.

``Dispatch.run`` is the definition, one coroutine for both colours: an async call awaits it, a sync call drives it to
its end with ``send(None)``. The fast lanes (``lanes.py``) call hooks that have no opinion, and hand over to it.
"""

from __future__ import annotations

from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import BLOCKING, PASSING, PROCEED, Decision, HookOutcome

from .answers import Answers
from .calling import awaited, awaiting, complete, explained, in_thread, is_failure, matches, throw_into
from .watching import Watch, tell

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.state import Answered

    from .hooks import Hooks
    from .plan import Chain, Hook, Row
    from .suspension import IsAbout, Key

    Rewrites = tuple[tuple[Hook, Any], ...]
    Outcomes = list[tuple[Hook, HookOutcome]]

UNASKED = "This needs approval, and nobody could be asked. Go on without it, or say what to approve."


class Handover:
    """Where a fast lane stopped: the context so far, and the hook it stopped at with its answer or error.

    Without a hook the lane either ran to the end (``is_done``) or never began. ``rows``: the hooks that could meet the
    tool, those of ``unmet``, whose match said no, among them. ``answered``: the hooks that were called, each with the
    subject that it answered about; ``changed_by``: those that brought a new one in this ``walk``.
    """

    __slots__ = ("answer", "answered", "changed_by", "ctx", "error", "hook", "is_done", "matched", "rows", "walk")

    def __init__(
        self,
        start: HookContext,
        ctx: HookContext | None = None,
        rows: Sequence[Row] = (),
        unmet: Sequence[Hook] = (),
        rewrites: Rewrites = (),
        hook: Hook | None = None,
        *,
        is_done: bool = False,
    ) -> None:
        self.ctx = ctx or start
        self.rows = rows
        self.hook = hook
        self.is_done = is_done
        self.walk = 1
        self.matched: Any = True
        self.answer: Any = None
        self.error: BaseException | None = None
        rewritten = dict(rewrites)
        self.changed_by = [*rewritten]
        self.answered: dict[Hook, Any] = {}
        if hook is None and not rewrites:  # nothing is asked again
            return
        subject, passed = start.held_subject, frozenset(unmet)
        for other, _, _ in rows:
            if other is hook:
                break
            subject = rewritten.get(other, subject)
            if other not in passed:
                self.answered[other] = subject

    def stop_at(self, hook: Hook, matched: Any, answer: Any) -> Handover:
        """Say that ``hook``, matched so, gave an answer that needs judging."""
        self.hook, self.matched, self.answer, self.is_done = hook, matched, answer, False
        return self

    def fail_at(self, hook: Hook | None, error: BaseException) -> Handover:
        """Record that ``hook`` raised; re-raise cancellations and interrupts."""
        if not is_failure(error):
            raise error
        self.hook, self.error, self.is_done = hook, error, False
        return self


class Dispatch:
    """One event on its way through its chain."""

    is_about: IsAbout

    def __init__(self, chain: Chain, ctx: HookContext, view: Hooks, *, sync: bool) -> None:
        self.chain = chain
        self.event = chain.event
        self.view = view
        self.sync = sync
        self.answers = Answers(chain, ctx, view)
        self.lane = Handover(ctx)
        self.walk_number = 1
        self.is_question = False
        self.given: tuple[Answered, ...] = ()
        self._heard: list[Answered] = []

    async def watched(self) -> HookOutcome:
        """Do as ``run`` from the start, and tell the framework's own observers of the start and the end."""
        ctx = self.answers.start
        if not self.chain.is_watched:
            return await self.run(Handover(ctx))
        with Watch(self.chain, ctx, self.view.clock) as watch:
            watch.outcome = outcome = await self.run(Handover(ctx), watch)
        return outcome

    async def run(self, lane: Handover, watch: Watch | None = None) -> HookOutcome:
        """Settle the outcome: walk, wrapped; put the question that is left; let the observers look."""
        self.lane, self.walk_number = lane, lane.walk
        self.answers.take(lane.ctx, lane.answered, lane.changed_by)
        if lane.is_done and not lane.changed_by:  # each hook was asked about the final subject, and had no opinion
            return await self.shown(self.answers.concluded(None, PROCEED), watch)
        outcome = await self.through(() if self.is_only_observed else self.chain.wrappers)
        if outcome.decision is Decision.ASK:
            outcome = await self.put_question(outcome)
        if outcome.decision in BLOCKING and not outcome.reason and not self.is_question:
            tool = f" {self.answers.ctx.tool_name}" if self.answers.ctx.tool_name else ""
            outcome = outcome.replace(reason=f"Blocked by the hook {outcome.hook}: {self.event!s}{tool}.")
        if outcome.decision is Decision.SUSPEND:
            answers, hook = self.answers, self.answers.suspended_by
            about = (hook.key if hook else ("", ""), answers.ctx.held_subject, self.given, answers.called_keys)
            outcome = self.view.keep_suspended(answers.start, outcome, *about)
        return await self.shown(outcome, watch)

    async def shown(self, outcome: HookOutcome, watch: Watch | None) -> HookOutcome:
        """Show the settled outcome to the application and the observers; return it with what they brought to light."""
        if watch is not None:
            watch.ctx = self.answers.ctx
        if self.view.on_settled is not None and not self.is_question:
            self.view.on_settled(self.with_findings(outcome))
        await self.let_look(outcome)
        return self.with_findings(outcome)

    def with_findings(self, outcome: HookOutcome) -> HookOutcome:
        """Return the outcome with the findings and the decisions of hooks in shadow."""
        if not (self.answers.findings or self.answers.shadowed):
            return outcome
        found = {"findings": tuple(self.answers.findings), "shadowed": tuple(self.answers.shadowed)}
        return outcome.replace(**{name: those for name, those in found.items() if those})

    # -- walks -------------------------------------------------------------------------------------------------------

    async def settle(self) -> HookOutcome:
        """Walk the chain until no hook changes the subject: then every hook has answered about the final one."""
        answers = self.answers
        for number in range(self.lane.walk, self.chain.policy.max_rechecks + 2):
            if number > self.walk_number:
                answers.changed_by.clear()
            self.walk_number = number
            outcomes = await self.walk()
            self.lane = Handover(answers.ctx)
            if outcomes and outcomes[-1][1].decision in BLOCKING:
                return answers.concluded(*outcomes[-1])
            if not answers.changed_by:
                return self.verdict(outcomes)
        return answers.unsettled()

    async def walk(self) -> Outcomes:
        """Ask every hook once, in order, and return the outcomes; a blocking one comes last."""
        outcomes: Outcomes = []
        passed: list[Hook] = []
        asks_all = self.event.asks_all
        for hook in () if self.is_only_observed else self.chain.deciders:
            if self.in_lane(hook) or (passed and any(hook.is_passed_over_by(other) for other in passed)):
                continue
            outcome = await self.ask(hook)
            if outcome is PROCEED:
                continue
            outcomes.append((hook, outcome))
            if asks_all or not outcome.ends_chain:
                continue
            if outcome.decision in BLOCKING:
                return outcomes
            passed.append(hook)
        blocking = [pair for pair in outcomes if pair[1].decision in BLOCKING]
        return [*outcomes, *blocking[:1]]

    def in_lane(self, hook: Hook) -> bool:
        """Whether the fast lane has dealt with ``hook``: it had nothing to say, or only additions."""
        lane = self.lane
        return lane.is_done or (lane.hook is not None and lane.hook is not hook)

    @property
    def is_only_observed(self) -> bool:
        """A call that was blocked is only looked at afterwards: there is no result to judge."""
        return self.event is HookEvent.AFTER_TOOL_USE and self.answers.start.was_blocked

    async def ask(self, hook: Hook) -> HookOutcome:
        """Return the hook's outcome for the current subject; call it only if it has not answered about this one."""
        answers = self.answers
        lane = self.lane if self.lane.hook is hook else None
        if lane is not None:
            self.lane = Handover(lane.ctx)
        ctx = answers.ctx
        started, found = self.clock(), len(answers.findings)
        error: BaseException | None = None
        try:
            matched = lane.matched if lane is not None and lane.error is None else matches(hook, ctx)
            if lane is not None:
                ctx = answers.context_for(hook)
                answer = await self.from_lane(lane, hook)
            elif not matched:
                return PROCEED
            elif (earlier := answers.about_this_subject(hook)) is not None:
                return earlier
            else:
                ctx = answers.context_for(hook)
                answer = self.given_answer(hook) if self.given else None
                if answer is None:
                    answer = await self.call(hook, ctx)
            outcome = answers.accept(hook, ctx, answer, matched)
        except BaseException as caught:
            if not is_failure(caught):
                raise
            error, outcome = caught, answers.failed(hook, caught)
        if self.chain.is_heard or len(answers.findings) > found:
            self.tell_executed(hook, ctx, outcome, error, started, self.walk_number, found)
        return outcome

    async def from_lane(self, lane: Handover, hook: Hook) -> Any:
        """Return the answer at which a fast lane stopped; the async lane has awaited it already."""
        if lane.error is not None:
            raise lane.error
        return lane.answer if hook.is_async and not self.sync else await awaited(hook, lane.answer, sync=self.sync)

    async def call(self, hook: Hook, ctx: HookContext) -> Any:
        """Call the hook and return its answer: in a thread if it is a plain function with a timeout, else here."""
        if hook.is_timed:
            return await in_thread(hook.call, ctx, hook.timeout or 0.0, sync=self.sync)
        return await awaited(hook, hook.call(ctx), sync=self.sync)

    def verdict(self, outcomes: Outcomes) -> HookOutcome:
        """Return the outcome of the last walk, in which no hook blocked."""
        allowed_rank = -1
        asks: Outcomes = []
        for hook, outcome in outcomes:
            if outcome.decision is Decision.ALLOW:
                allowed_rank = max(allowed_rank, hook.rank)
            elif outcome.decision is Decision.ASK and hook.rank > allowed_rank:
                asks.append((hook, outcome))
        standing = max(outcomes, key=lambda pair: _weight(pair[1]), default=None)
        is_decided = standing is not None and _weight(standing[1]) > 0
        granted = (
            self.answers.concluded(*standing) if standing and is_decided else self.answers.concluded(None, PROCEED)
        )
        return self.answers.question(asks, granted) if asks else granted

    # -- around the walks --------------------------------------------------------------------------------------------

    async def through(self, wrappers: tuple[Hook, ...]) -> HookOutcome:
        """Run the wrappers around the walks, the first outermost. Hooks' failures are not thrown into them."""
        if not wrappers:
            return await self.settle()
        from .wrappers import after, opened, stricter

        hook, rest = wrappers[0], wrappers[1:]
        started = self.clock()
        generator, answer = await opened(self, hook, started)
        if answer is not None and answer.decision in BLOCKING:
            return self.answers.concluded(hook, answer)
        try:
            outcome = await self.through(rest)
        except BaseException as caught:
            if generator is not None:
                await throw_into(generator, caught)
            raise
        is_unmatched = generator is None and answer is None
        if is_unmatched and outcome.decision not in BLOCKING and self.answers.has_new_subject:
            # The subject may have come to meet the match on the way: then the wrapper runs around the decision.
            generator, answer = await opened(self, hook, started)
        if generator is not None:
            return await after(self, hook, generator, outcome, started)
        return outcome if answer is None else stricter(self, hook, outcome, answer)

    async def put_question(self, outcome: HookOutcome) -> HookOutcome:
        """Put one question about the final subject: to permission hooks, then as the view asks, then to the policy."""
        answers = self.answers
        left, refusal = self.unanswered()
        if refusal is not None:
            return answers.refused(outcome, refusal.reason or outcome.reason, refusal)
        asked = answers.only(left, outcome) if left and self.given else outcome
        reason = asked.reason
        question = answers.question_context(asked)
        chain = self.view.chain(HookEvent.PERMISSION_REQUEST)
        if chain is not None:
            asking = Dispatch(chain, question, self.view, sync=self.sync)
            asking.is_question = True
            asking.answers.least_rank = answers.least_rank
            answer = await asking.watched()
            answers.findings.extend(answer.findings)
            answers.shadowed.extend(answer.shadowed)
            if answer.decision is Decision.DENY:
                return answers.refused(outcome, answer.reason or reason, answer)
            if answer.decision is Decision.ALLOW:
                return answers.approved(outcome, answer.hook)
        if not left:
            return answers.approved(outcome, None)
        if self.view.ask == "host":
            return asked
        if self.view.ask is None:
            if answers.may_fall_back:
                return answers.approved(outcome, None)
            return answers.refused(outcome, f"{reason} ({UNASKED})".lstrip())
        try:
            granted = self.view.ask(question, reason)
            if hasattr(granted, "__await__"):
                granted = await complete(awaiting(granted), None, sync=self.sync)
        except BaseException as error:
            if not is_failure(error):
                raise
            self.view.manager.log_failure("The application's ask", question, error, "counts as a no")
            return answers.refused(outcome, f"{reason} (Asking failed: {explained(error)})".lstrip())
        if granted == "host":
            return asked
        if granted is True:
            return answers.approved(outcome, None)
        return answers.refused(outcome, f"{reason} (Refused.)".lstrip())

    # -- after the decision ------------------------------------------------------------------------------------------

    async def let_look(self, outcome: HookOutcome) -> None:
        """Show the outcome to the shadows and observers; nothing they return or raise changes it."""
        if not self.chain.observers:
            return
        shadows = self.chain.shadows
        seen = self.answers.ctx.replace(outcome=outcome)
        for place, hook in enumerate(self.chain.observers):
            if place == len(shadows) and self.answers.shadowed:
                seen = seen.replace(outcome=outcome.replace(shadowed=tuple(self.answers.shadowed)))
            started, found, decided, error = self.clock(), len(self.answers.findings), PROCEED, None
            try:
                matched = matches(hook, seen)
                if not matched:
                    continue
                if hook.options.background and self.view.manager.background.start(hook, seen, sync=self.sync):
                    continue
                answer = await self.call(hook, seen)
                if answer is not None and hook.mode != "observe":
                    decided = self.answers.what_counts(hook, seen, self.answers.read(hook, seen, answer), matched)
            except BaseException as caught:
                if not is_failure(caught):
                    raise
                error = caught
                self.answers.tolerate(hook, caught)
            if place < len(shadows):
                self.answers.record_shadow(hook, decided, error)
            self.tell_executed(hook, seen, decided, error, started, 0, found)

    # -- answers given before ----------------------------------------------------------------------------------------

    def know(self, given: tuple[Answered, ...], called: frozenset[Key], is_about: IsAbout) -> None:
        """Take the answers given to this operation before, and the keys of the hooks that were called about it.
        ``is_about(subject, of_answer)`` tells whether an answer is about this subject.
        """
        self.given, self.is_about = given, is_about
        self.answers.called_before = called

    def has_heard(self, given: Answered) -> bool:
        """Whether a hook has waited for this answer again."""
        return any(given is each for each in self._heard)

    def given_answer(self, hook: Hook) -> HookOutcome | None:
        """Return the answer that was given in this hook's stead about exactly the current subject, None without one."""
        for given in self.given:
            if given.hook == hook.key and self.is_about(self.answers.ctx.held_subject, given.subject):
                self._heard.append(given)
                answer: HookOutcome = given.answer
                return answer
        return None

    def unanswered(self) -> tuple[Outcomes, HookOutcome | None]:
        """Return the asks to which no answer was given about the final subject, and a refusal if one was given."""
        left: Outcomes = []
        refusal = None
        for hook, asked in self.answers.asks:
            subject = self.answers.ctx.held_subject
            held = [one for one in self.given if hook.key in one.asked_keys and self.is_about(subject, one.subject)]
            self._heard += held
            refusal = next((each.answer for each in held if each.answer.blocks), refusal)
            if not held:
                left.append((hook, asked))
        return left, refusal

    # -- the framework's own observers -------------------------------------------------------------------------------

    def clock(self) -> float:
        """Return the time, in seconds, if anybody wants to know how long each hook took."""
        return self.view.clock() if self.chain.is_heard else 0.0

    def tell_executed(
        self,
        hook: Hook,
        ctx: HookContext,
        outcome: HookOutcome,
        error: BaseException | None,
        started: float,
        walk: int,
        found: int,
    ) -> None:
        """Tell that one hook has run, and which findings that added to the ``found`` ones before."""
        findings = tuple(self.answers.findings[found:])
        if findings:
            self.view.manager.log_contract(hook, findings)
        if self.chain.is_heard:
            decided, duration = None if outcome is PROCEED else outcome, self.clock() - started
            about = (self.event, ctx, hook.name, hook.plugin_name, decided, error, started, duration, walk, hook.shadow)
            tell(self.chain.watchers.agent_hooks_executed, *about, findings)


def _weight(outcome: HookOutcome) -> int:
    """How much of a say an outcome that does not block has: another round, an end to the chain, a permission."""
    if outcome.decision in PASSING and outcome.decision is not Decision.SKIP:
        return 3
    return 2 if outcome.ends_chain else 1 if outcome.decision is Decision.ALLOW else 0
