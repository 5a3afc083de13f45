"""The engine against the reference model (`model.py`), and what must hold of the engine whatever the hooks do.

`AGENT_HOOKS_EXAMPLES` in the environment says how many hook sets this file generates in all, 1,000 if it is not set.
"""

from __future__ import annotations

import asyncio
import logging
import os
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from agent_hooks.engine.calling import drive
from agent_hooks.engine.manager import HookManager
from agent_hooks.engine.markers import hookimpl
from agent_hooks.engine.suspension import answered
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.policy import HookPolicy
from agent_hooks.model.state import Answered
from agent_hooks.model.tool_call import ToolCall
from model import Dispatch
from model_records import BLOCKING, PLACE, RANK, Answer, Hook

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_hooks.engine.hooks import Hooks

EXAMPLES = int(os.environ.get("AGENT_HOOKS_EXAMPLES", "1000"))


def dispatch(
    event: HookEvent,
    subject: int,
    hooks: list[Hook],
    policy: HookPolicy,
    approvers: list[Hook] | None = None,
    reply: str | None = None,
) -> Dispatch:
    """What the model says; ``reply`` is what the host says to an ask: allow, deny, ask (it is left), or None."""
    return Dispatch(event, subject, policy).decide(hooks, approvers or [], reply)


@pytest.fixture(autouse=True, scope="module")
def _quiet() -> Iterator[None]:
    """Keep the engine from reporting some ten thousand tolerated failures."""
    logger = logging.getLogger("agent_hooks")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)


def examples(share: float) -> settings:
    """The settings of a test that generates this share of all examples."""
    return settings(
        max_examples=max(1, int(EXAMPLES * share)),
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


# -- what is generated -------------------------------------------------------------------------------------------------

# The subject number n of each event is the n-th value; empty ones are subjects like any other.
SUBJECTS: dict[str, tuple[Any, ...]] = {
    "before_tool_use": ({}, {"v": 1}, {"v": 2}, {"v": [2]}),
    "user_input": ("", "a", "b", "c"),
    "after_tool_use": (0, 1, "2", ()),
}
TOOL = "lookup"
NONE: frozenset[str] = frozenset()
FAILURES = (Answer("raise"), Answer("invalid"))


@cache
def answers_on(event: HookEvent) -> list[Answer]:
    """Answers that a hook on this event may give, the simplest first; most leave other hooks a say."""
    answers = [Answer()] * 8 + [Answer(context="note")] * 4
    for decision in sorted(event.decisions):
        often = {"ask": 5, "allow": 3, "force_continue": 3, "retry": 3, "skip": 2}.get(decision, 1)
        answers += [Answer(decision)] * often + [Answer(decision, context="note")]
    if "allow" in event.decisions:
        answers.append(Answer("allow", final=True))
    if event.subject is not None:
        answers += [Answer(subject=n) for n in (2, 2, 2, 2, 1, 3, 0)] + [Answer(subject=2, context="note")] * 2
        answers += [Answer(decision, subject=2) for decision in sorted(event.decisions)]
    unlisted = {"stop", "ask", "suspend", "allow", "skip", "force_continue", "retry"} - event.decisions
    strange = [Answer("deny"), Answer(min(unlisted)), Answer(max(unlisted))]  # a deny may be read as something else
    return [*answers, *strange, *FAILURES]


@cache
def tables(event: HookEvent) -> st.SearchStrategy[tuple[Answer, ...]]:
    """One answer per subject: the same for all, or mild ones that keep the chain going but for one subject."""
    answers = answers_on(event)
    one = st.sampled_from(answers)
    same = one.map(lambda answer: (answer,) * 4)
    if event.subject is None:
        return same
    mild = st.sampled_from([answer for answer in answers if answer.decision in ("proceed", "ask", "allow")])
    varied = st.tuples(mild, mild, mild, mild)
    but_for_one = st.builds(lambda table, n, odd: (*table[:n], odd, *table[n + 1 :]), varied, st.integers(0, 3), one)
    return st.one_of(same, varied, but_for_one)


ALWAYS = (True,) * 4
MATCHES = [ALWAYS] * 8 + [(False,) * 4, ("raise",) * 4, (True, False, True, True), (False, True, False, True)]
MATCHES += [(True, "raise", False, True), (False, False, True, False), (True, True, True, False)]


@dataclass(frozen=True)
class Shape:
    """Everything of a hook that does not depend on its event."""

    source: str = "code"
    mode: str = "transform"
    priority: int = 0
    place: str = ""
    shadow: bool = False
    required: bool = False
    own_failure: str | None = None
    entry_failure: str | None = None


def shapes(source: st.SearchStrategy[str], mode: st.SearchStrategy[str]) -> st.SearchStrategy[Shape]:
    return st.builds(
        Shape,
        source=source,
        mode=mode,
        priority=st.sampled_from([0, 0, 0, 10, -10]),
        place=st.sampled_from(["", "", "", "", "first", "last"]),
        shadow=st.sampled_from([False] * 7 + [True]),
        required=st.sampled_from([False, False, True]),
        own_failure=st.sampled_from([None, None, "open", "ask", "closed"]),
        entry_failure=st.sampled_from([None, None, None, "open", "ask", "closed"]),
    )


SOURCE = st.sampled_from([*RANK, "code", "plugin"])
MODE = st.sampled_from(["transform", "transform", "gate", "gate", "observe"])


@cache
def hooks_of(
    event: HookEvent,
    *,
    least: int = 0,
    most: int = 7,
    source: st.SearchStrategy[str] = SOURCE,
    mode: st.SearchStrategy[str] = MODE,
    consistent: bool = False,
    prefix: str = "h",
) -> st.SearchStrategy[list[Hook]]:
    """Lists of hooks, named in order of registration; ``consistent`` ones answer the same whenever they are asked."""
    again = st.none() if consistent else st.one_of(st.none(), st.none(), st.none(), tables(event))
    match = st.just(ALWAYS) if event.subject is None else st.sampled_from(MATCHES)
    one = st.tuples(tables(event), again, match, shapes(source, mode))

    def build(drawn: list[Any]) -> list[Hook]:
        return [
            Hook(f"{prefix}{place}", first, again, match, **vars(shape))
            for place, (first, again, match, shape) in enumerate(drawn)
        ]

    return st.lists(one, min_size=least, max_size=most).map(build)


POLICIES = st.builds(
    HookPolicy,
    on_gate_failure=st.sampled_from([None, None, None, "open", "ask", "closed"]),
    max_rechecks=st.sampled_from([2, 2, 2, 2, 1, 0]),
    ask_fallback=st.sampled_from(["deny", "allow"]),
    shadow=st.sampled_from([False] * 15 + [True]),
)
REPLIES = st.sampled_from([None, "ask", "allow", "deny"])


# -- the engine, driven by the same records ----------------------------------------------------------------------------


def spoken(answer: Answer, event: HookEvent) -> Any:
    """What a real hook returns for ``answer``."""
    if answer.decision == "raise":
        raise LookupError("the hook is broken")
    if answer.decision == "invalid":
        return 42
    brings: dict[str, Any] = {"context": answer.context} if answer.context else {}
    if answer.subject is not None:
        brings[str(event.subject)] = SUBJECTS[event][answer.subject]
    if answer.final:
        brings["final"] = True
    return HookOutcome(decision=answer.decision, **brings)


class Plugin:
    """A plugin with one hook, and nothing else to look through."""

    def __init__(self, run: Any) -> None:
        self.run = run

    def __dir__(self) -> list[str]:
        return ["run"]


class Engine:
    """A manager with real plugins that do what the records say, and a log of which hook was called about what.

    ``colours`` says by position which hooks are plain functions ("s") and which are coroutine functions ("a"); those
    wait for the event loop in ``dispatch``, never in ``dispatch_sync``. ``by_name``: hooks that match the tool's name.
    """

    def __init__(
        self,
        event: HookEvent,
        hooks: list[Hook],
        policy: HookPolicy | None = None,
        approvers: list[Hook] | None = None,
        *,
        colours: str = "s",
        by_name: frozenset[str] = NONE,
    ) -> None:
        self.event = event
        self.log: list[tuple[str, int]] = []
        self.questions: list[Any] = []
        self.waiting = False
        self.manager = HookManager(load_plugins=False, policy=policy or HookPolicy())
        for place, hook in enumerate(hooks):
            self._register(hook, event, colours[place % len(colours)], hook.name in by_name)
        for hook in approvers or []:
            self._register(hook, HookEvent.PERMISSION_REQUEST, "s", False)

    def _register(self, hook: Hook, event: HookEvent, colour: str, by_name: bool) -> None:
        values = SUBJECTS.get(event)

        def number(ctx: HookContext) -> int:
            return values.index(ctx.subject) if values else 0

        def answer(ctx: HookContext) -> Any:
            subject = number(ctx)
            if event is self.event:
                self.log.append((hook.name, subject))
            table = hook.again if ctx.rechecking and hook.again is not None else hook.first
            return spoken(table[subject], event)

        async def answer_later(ctx: HookContext) -> Any:
            if self.waiting:
                await asyncio.sleep(0)
            return answer(ctx)

        def matches(ctx: HookContext) -> bool:
            says = hook.match[number(ctx)]
            if says == "raise":
                raise LookupError("the match is broken")
            return bool(says)

        options: dict[str, Any] = {
            "specname": str(event),
            "name": hook.name,
            "match": TOOL if by_name else None if hook.match == ALWAYS else matches,
            "priority": hook.priority,
            "tryfirst": hook.place == "first",
            "trylast": hook.place == "last",
            "mode": hook.mode,
            "shadow": hook.shadow,
            "required": hook.required,
            "on_failure": hook.own_failure,
        }
        run: Any = answer if colour == "s" else answer_later
        plugin = Plugin(hookimpl(**options)(run))
        self.manager.register(plugin, f"plugin-{hook.name}", source=hook.source, on_failure=hook.entry_failure)

    def context(self, subject: int, tool: str = TOOL) -> HookContext:
        """One happening about ``subject``."""
        value = SUBJECTS[self.event][subject] if self.event in SUBJECTS else None
        args = value if self.event == "before_tool_use" else {}
        call = ToolCall(tool, args, id="call-1") if self.event.matched_by == "tool" else None
        about: Any = {"prompt": value} if self.event == "user_input" else {"result": value}
        return HookContext(self.event, tool_call=call, session_id="session-1", **about)

    def dispatch_sync(self, ctx: HookContext, reply: str | None = None) -> HookOutcome:
        self.log, self.questions, self.waiting = [], [], False
        return self._view(reply).dispatch_sync(ctx)

    def dispatch(self, ctx: HookContext, reply: str | None = None) -> HookOutcome:
        self.log, self.questions, self.waiting = [], [], True
        return asyncio.run(self._view(reply).dispatch(ctx))

    def _view(self, reply: str | None) -> Hooks:
        def say(ctx: HookContext, _reason: str) -> bool:
            self.questions.append(ctx.get(str(self.event.subject)))
            return reply == "allow"

        return self.manager.hooks(ask={"ask": "host", None: None}.get(reply, say))


def summary(ctx: HookContext, outcome: HookOutcome) -> dict[str, Any]:
    """What of an outcome is compared. What a blocked operation would have been about is nobody's business."""
    subject = None if outcome.decision in BLOCKING else ctx.with_outcome(outcome).subject
    return {
        "decision": str(outcome.decision),
        "hook": outcome.hook,
        "failed": outcome.failed,
        "subject": subject,
        "context": outcome.context,
        "asked_by": outcome.asked_by,
    }


def expected(event: HookEvent, result: Dispatch) -> dict[str, Any]:
    """The same of what the model says."""
    open_subject = event in SUBJECTS and result.decision not in BLOCKING
    return {
        "decision": result.decision,
        "hook": result.hook,
        "failed": result.failed,
        "subject": SUBJECTS[event][result.subject] if open_subject else None,
        "context": "\n\n".join(result.context),
        "asked_by": result.asked_by,
    }


# -- the engine agrees with the model ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A happening and everything that has a say in it."""

    hooks: list[Hook]
    policy: HookPolicy
    approvers: list[Hook]
    reply: str | None
    tool: str
    by_name: frozenset[str]
    colours: str
    subject: int


def cases(event: HookEvent) -> st.SearchStrategy[Case]:
    has_tool = event.matched_by == "tool"
    asks = "ask" in event.decisions
    approvers = hooks_of(HookEvent.PERMISSION_REQUEST, most=2, prefix="approver")
    return st.builds(
        Case,
        hooks=hooks_of(event),
        policy=POLICIES,
        approvers=st.one_of(st.just([]), approvers) if asks else st.just([]),
        reply=REPLIES if asks else st.none(),
        tool=st.sampled_from([TOOL] * 6 + ["server.lookup", "look up"]) if has_tool else st.just(TOOL),
        by_name=st.sampled_from([NONE, NONE, frozenset({"h0", "h2", "h3"})]) if has_tool else st.just(NONE),
        colours=st.sampled_from(["s", "sa", "a", "aas"]),
        subject=st.sampled_from(range(4)) if event.subject is not None else st.just(0),
    )


def for_the_model(case: Case, hooks: list[Hook]) -> list[Hook]:
    """The hooks as the model knows them: what matching on the tool's name comes to is in the record."""
    trusted = case.tool != "look up"
    dotted = case.tool != TOOL
    known = []
    for hook in hooks:
        named = hook.name in case.by_name
        match = hook.match if not named else ALWAYS if trusted else (False,) * 4
        known.append(replace(hook, match=match, weak=not trusted or (named and dotted)))
    return known


def agree(event: HookEvent, case: Case) -> None:
    """Check that the engine, driven both ways, and the model say the same about each subject."""
    engine = Engine(event, case.hooks, case.policy, case.approvers, colours=case.colours, by_name=case.by_name)
    hooks, approvers = for_the_model(case, case.hooks), for_the_model(case, case.approvers)
    runs = [(engine.dispatch_sync, subject) for subject in (range(4) if event.subject is not None else [0])]
    for run, subject in [*runs, (engine.dispatch, case.subject)]:
        result = dispatch(event, subject, hooks, case.policy, approvers, case.reply)
        ctx = engine.context(subject, case.tool)
        outcome = run(ctx, case.reply)
        assert summary(ctx, outcome) == expected(event, result), (run.__name__, subject, outcome)
        assert engine.log == result.calls + result.observed, (run.__name__, subject, outcome)
        assert engine.questions in ([], [SUBJECTS[event][result.subject] if event in SUBJECTS else None])
        if outcome.failed:
            assert all(name in outcome.reason for name in result.disagreeing or result.asked_by or [str(result.hook)])
        assert (outcome.token is not None) == (outcome.decision == "suspend")
        all_hooks = hooks + approvers
        looking = {
            hook.name
            for hook in all_hooks
            if hook.mode == "observe" or hook.shadow or (case.policy.shadow and hook.source != "managed")
        }
        found = {(finding.hook, finding.kind) for finding in outcome.findings if finding.hook not in looking}
        assert found == result.findings, (run.__name__, subject, outcome)


SHARES = {
    HookEvent.BEFORE_TOOL_USE: 0.34,
    HookEvent.BEFORE_STEP: 0.08,
    HookEvent.SHOULD_CONTINUE: 0.08,
    HookEvent.PERMISSION_REQUEST: 0.08,
    HookEvent.USER_INPUT: 0.12,
    HookEvent.AFTER_TOOL_USE: 0.12,
    HookEvent.ON_STOP: 0.06,
}


@pytest.mark.parametrize("event", SHARES, ids=str)
def test_the_engine_agrees_with_the_model(event: HookEvent) -> None:
    @given(cases(event))
    @examples(SHARES[event])
    def agrees(case: Case) -> None:
        agree(event, case)

    agrees()


# -- operations that wait, and the answers given to them ---------------------------------------------------------------


@cache
def waiting_tables(event: HookEvent) -> st.SearchStrategy[tuple[Answer, ...]]:
    """One answer per subject, many of which make the operation wait or change its subject."""
    waits = [Answer("suspend")] * 4 + ([Answer("ask")] * 4 if "ask" in event.decisions else [])
    rewrites = [Answer(subject=n) for n in range(4)] if event.subject is not None else []
    others = [Answer(), Answer(), Answer("allow"), Answer("skip"), Answer("deny"), Answer("raise")]
    known = [answer for answer in others if answer.decision in ("proceed", "raise", *event.decisions)]
    one = st.sampled_from([*waits, *rewrites, *rewrites, *known])
    return st.one_of(one.map(lambda answer: (answer,) * 4), st.tuples(one, one, one, one))


@cache
def waiting_hooks(event: HookEvent) -> st.SearchStrategy[list[Hook]]:
    """Hooks of which most wait, ask or rewrite; some answer otherwise when they are called again."""
    table = waiting_tables(event)
    again = st.one_of(st.none(), st.none(), table)
    match = st.just(ALWAYS) if event.subject is None else st.sampled_from(MATCHES)
    one = st.tuples(table, again, match, shapes(SOURCE, st.sampled_from(["transform", "transform", "gate"])))

    def build(drawn: list[Any]) -> list[Hook]:
        return [Hook(f"h{place}", *parts, **vars(shape)) for place, (*parts, shape) in enumerate(drawn)]

    return st.lists(one, min_size=1, max_size=5).map(build)


def answer_all(event: HookEvent, subject: int, hooks: list[Hook], policy: HookPolicy, refuses_at: int = -1) -> Dispatch:
    """Answer every question with yes, but number ``refuses_at`` with no, until nothing waits; check that the engine and
    the model agree about each dispatch on the way and that no question is put twice.
    """
    engine = Engine(event, hooks, policy)
    view, ctx = engine.manager.hooks(ask="host"), engine.context(subject)
    given: tuple[Answered, ...] = ()
    called: Iterable[tuple[str, str]] = ()
    known: dict[tuple[str, str, int], bool] = {}
    while True:
        names = frozenset(name for _, name in called)
        result = Dispatch(event, subject, policy, given=dict(known), called_before=names).decide(hooks, [], "ask")
        engine.log = []
        outcome = drive(view.redispatch(ctx, given, called, sync=True))
        questions = result.questions()
        assert summary(ctx, outcome) == expected(event, result), (known, outcome)
        assert engine.log == result.calls + result.observed, (known, outcome)
        assert not questions & known.keys(), f"These questions were put before: {questions & known.keys()}."
        if not questions or outcome.decision not in ("ask", "suspend"):
            return result
        is_allowed = len(known) != refuses_at
        known.update(dict.fromkeys(questions, is_allowed))
        answer = HookOutcome.proceed() if is_allowed else HookOutcome.deny("no")
        if outcome.token is not None:
            record = engine.manager.suspended.pop(outcome.token).record
            given, called = answered(record, answer), record.called
        else:
            about = SUBJECTS[event][result.subject] if event in SUBJECTS else None
            given = (*given, Answered(asked_keys=outcome.asked_keys, subject=about, answer=answer))
            called = [(f"plugin-{hook.name}", hook.name) for hook in hooks]


WAITING_EVENTS = (HookEvent.BEFORE_TOOL_USE, HookEvent.USER_INPUT, HookEvent.BEFORE_AGENT)


@given(
    st.one_of(
        [st.tuples(st.just(e), waiting_hooks(e), st.sampled_from(range(4 if e.subject else 1))) for e in WAITING_EVENTS]
    ),
    POLICIES,
    st.sampled_from([-1, -1, -1, 0, 1, 2]),
)
@examples(0.2)
def test_whatever_waits_ends_and_no_question_is_put_twice(
    case: tuple[HookEvent, list[Hook], int], policy: HookPolicy, refuses_at: int
) -> None:
    event, hooks, subject = case
    result = answer_all(event, subject, hooks, policy, refuses_at)
    assert result.decision not in ("ask", "suspend")


# -- what holds whatever the hooks do ----------------------------------------------------------------------------------

EVENTS = tuple(SHARES)
GATED = EVENTS[:-1]  # on_stop has nothing to block: there a deny asks for more
WITH_SUBJECT = tuple(event for event in EVENTS if event.subject is not None)


@dataclass(frozen=True)
class Happening:
    """A subject and the hooks that have a say in it; asks are left unanswered."""

    event: HookEvent
    hooks: list[Hook]
    more: list[Hook]
    subject: int
    policy: HookPolicy

    def outcome(self, hooks: list[Hook], subject: int | None = None) -> HookOutcome:
        engine = Engine(self.event, hooks, self.policy)
        return engine.dispatch_sync(engine.context(self.subject if subject is None else subject), "ask")


def happenings(events: tuple[HookEvent, ...], hooks: Any = hooks_of, more: Any = lambda event: st.just([])) -> Any:
    policy = POLICIES.map(lambda policy: policy.replace(shadow=False))
    each = [
        st.builds(
            Happening,
            event=st.just(event),
            hooks=hooks(event),
            more=more(event),
            subject=st.sampled_from(range(4)) if event.subject is not None else st.just(0),
            policy=policy,
        )
        for event in events
    ]
    return st.one_of(each)


def number_of(event: HookEvent, subject: int, outcome: HookOutcome) -> int:
    """The number of the subject that ``outcome`` lets through, given that it began as ``subject``."""
    if event not in SUBJECTS:
        return 0
    value = outcome._fields.get(str(event.subject), SUBJECTS[event][subject])
    return SUBJECTS[event].index(value)


def one_deny(event: HookEvent) -> st.SearchStrategy[list[Hook]]:
    deciding = st.sampled_from(["gate", "transform"])
    drawn = hooks_of(event, least=1, most=1, mode=deciding, prefix="deny")
    deny = Answer("deny") if event.decisions & {"deny"} or event.reads_deny_as else Answer("stop")
    return drawn.map(lambda hooks: [replace(hooks[0], first=(deny,) * 4, again=None, shadow=False)])


@given(happenings(GATED, more=one_deny))
@examples(0.03)
def test_a_further_deny_never_widens_the_outcome(case: Happening) -> None:
    before, after = case.outcome(case.hooks), case.outcome(case.hooks + case.more)
    assert after.blocks or not before.blocks
    assert after.decision != "allow" or before.decision == "allow" or case.event != "permission_request"


@given(happenings(GATED, more=one_deny), st.sampled_from(["user", "managed"]))
@examples(0.02)
def test_nothing_gets_past_a_deny_of_the_user(case: Happening, source: str) -> None:
    gate = replace(case.more[0], source=source, mode="gate", match=ALWAYS)
    assert case.outcome([*case.hooks, gate]).decision in BLOCKING


@given(happenings(WITH_SUBJECT))
@examples(0.03)
def test_nothing_is_let_through_that_a_hook_with_a_say_has_not_judged(case: Happening) -> None:
    """Each hook that matches the final subject has answered about it, or made it, or a hook before it that it does not
    outrank passed over it; and no hook of the user or above that may decide was passed over."""
    engine = Engine(case.event, case.hooks, case.policy)
    outcome = engine.dispatch_sync(engine.context(case.subject), "ask")
    assume(outcome.decision not in BLOCKING)
    final = number_of(case.event, case.subject, outcome)
    order = sorted(case.hooks, key=lambda h: (PLACE[h.place], -h.priority))

    def answers(hook: Hook) -> list[Answer]:
        asked = [subject for name, subject in engine.log if name == hook.name]
        return [table[subject] for subject in asked for table in (hook.first, hook.again or hook.first)]

    def judged(hook: Hook) -> bool:
        return (hook.name, final) in engine.log or any(answer.subject == final for answer in answers(hook))

    for place, hook in enumerate(order):
        if hook.mode == "observe" or hook.shadow or hook.match[final] is not True or judged(hook):
            continue
        decides = hook.mode == "gate" or case.event.closed is not None
        assert not (decides and hook.source in ("user", "managed"))
        assert any(
            RANK[earlier.source] >= RANK[hook.source] and any(answer.passes_over for answer in answers(earlier))
            for earlier in order[:place]
        )


CUT = st.sampled_from(["skill", "project", "plugin", "code", "user"])


@given(happenings(EVENTS, more=hooks_of), CUT)
@examples(0.03)
def test_what_lower_sources_add_never_loosens_what_higher_ones_decide(case: Happening, cut: str) -> None:
    """If an operation is let through when hooks of sources up to ``cut`` have a say beside those of higher ones, then
    the higher ones alone let the same subject through. Those do not rewrite here, for a rewrite may not be idempotent.
    """
    lower = [replace(h, name=f"l{h.name}") for h in case.more if RANK[h.source] <= RANK[cut]]
    higher = [replace(h, first=without_subject(h.first), again=None) for h in case.hooks if RANK[h.source] > RANK[cut]]
    for hooks in (lower + higher, higher + lower):
        together = case.outcome(hooks)
        if not together.blocks:
            assert not case.outcome(higher, number_of(case.event, case.subject, together)).blocks


def without_subject(table: tuple[Answer, ...]) -> tuple[Answer, ...]:
    return tuple(replace(answer, subject=None) for answer in table)


@given(happenings(EVENTS))
@examples(0.02)
def test_dispatches_at_the_same_time_do_not_meet(case: Happening) -> None:
    engine = Engine(case.event, case.hooks, case.policy, colours="as")
    contexts = [engine.context(n) for n in (case.subject, (case.subject + 1) % 4 if case.event in SUBJECTS else 0)]
    alone = [summary(ctx, Engine(case.event, case.hooks, case.policy).dispatch_sync(ctx, "ask")) for ctx in contexts]

    async def together() -> list[HookOutcome]:
        view = engine.manager.hooks(ask="host")
        return await asyncio.gather(*(view.dispatch(ctx) for ctx in contexts))

    engine.waiting = True
    assert [summary(ctx, outcome) for ctx, outcome in zip(contexts, asyncio.run(together()), strict=True)] == alone
