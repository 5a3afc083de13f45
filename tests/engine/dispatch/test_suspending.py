"""A suspended operation waits; its token resumes it once, and all the other hooks are asked again."""

from __future__ import annotations

import pytest

from agent_hooks import HookOutcome, HookPolicy, ToolCall
from agent_hooks.errors import SuspensionError
from agent_hooks.testing import make_context
from engine import Engine, rewrite, shell

SUSPEND = HookOutcome.suspend("a person must look", data={"ticket": 7})


@pytest.fixture
def suspended(engine):
    """The outcome of an operation that the hook ``gate`` suspended."""
    engine.says("gate", SUSPEND, priority=1)
    return engine.dispatch(shell("deploy"))


def test_a_suspended_operation_has_a_token_and_keeps_its_data(suspended):
    assert (suspended.decision, suspended.reason, suspended.hook) == ("suspend", "a person must look", "gate")
    assert suspended.data == {"ticket": 7}
    assert suspended.token
    assert suspended.blocks


def test_tokens_cannot_be_guessed(engine):
    engine.says("gate", SUSPEND)
    tokens = {engine.dispatch(shell()).token for _ in range(5)}
    assert len(tokens) == 5
    assert min(map(len, tokens)) >= 20


def test_an_allow_lets_it_through(engine, suspended):
    assert engine.resume(suspended.token, "allow").decision == "proceed"


def test_a_deny_refuses_it(engine, suspended):
    outcome = engine.resume(suspended.token, HookOutcome.deny("the person said no"))
    assert (outcome.decision, outcome.reason, outcome.hook) == ("deny", "the person said no", "gate")


def test_a_word_will_do(engine, suspended):
    assert engine.resume(suspended.token, "deny").decision == "deny"


def test_a_token_works_once(engine, suspended):
    engine.resume(suspended.token, "allow")
    with pytest.raises(SuspensionError, match="already resumed"):
        engine.resume(suspended.token, "allow")


def test_an_unknown_token_resumes_nothing(engine, suspended):
    with pytest.raises(SuspensionError, match="Nothing is suspended"):
        engine.resume("no-such-token", "allow")


OTHERS = {
    "session": shell("deploy", session_id="other"),
    "subject": shell("deploy --force"),
    "tool": make_context(tool="Zsh", args={"command": "deploy"}, kind="shell"),
    "call": shell("deploy", tool_call=ToolCall("Bash", {"command": "deploy"}, id="call-2", kind="shell")),
    "event": make_context("user_input", prompt="deploy"),
    "agent": shell("deploy", agent_id="other"),
    "agent's name": shell("deploy", agent_name="other"),
    "working directory": shell("deploy", cwd="/elsewhere"),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_a_token_is_bound_to_its_operation(engine, suspended, other):
    with pytest.raises(SuspensionError, match="belongs to another operation"):
        engine.resume(suspended.token, "allow", other)
    assert engine.resume(suspended.token, "allow").decision == "proceed", "the mistake did not use it up"


def test_the_operation_may_be_given_as_it_now_is(engine, suspended):
    now = shell("deploy", metadata={"approved_by": "ada"})
    after = engine.says("after")
    engine.resume(suspended.token, "allow", now)
    assert after[0].metadata == {"approved_by": "ada"}


def test_the_hook_that_suspended_is_not_called_again_but_the_others_are(engine):
    before = engine.says("before", priority=2)
    gate = engine.says("gate", SUSPEND, priority=1)
    after = engine.says("after")
    token = engine.dispatch(shell()).token
    assert (len(before), len(gate), len(after)) == (1, 1, 0)
    engine.resume(token, "allow")
    assert (len(before), len(gate), len(after)) == (2, 1, 1)


def test_a_deny_of_another_hook_still_wins(engine, suspended):
    engine.says("guard", HookOutcome.deny("meanwhile forbidden"))
    assert engine.resume(suspended.token, "allow").reason == "meanwhile forbidden"


def test_another_hook_may_suspend_in_its_turn(engine, suspended):
    engine.says("second", HookOutcome.suspend("another person"))
    outcome = engine.resume(suspended.token, "allow")
    assert (outcome.decision, outcome.hook) == ("suspend", "second")
    assert outcome.token != suspended.token


def test_an_approval_holds_only_for_the_subject_that_was_suspended(engine):
    """A rewrite that comes later is put to the hook again."""
    engine.says("gate", SUSPEND, priority=1)
    token = engine.dispatch(shell("deploy")).token
    engine.says("rewriter", rewrite("deploy --force"))
    outcome = engine.resume(token, "allow")
    assert (outcome.decision, outcome.hook) == ("suspend", "gate")


def test_a_rewrite_before_the_suspension_is_part_of_it(engine):
    engine.says("rewriter", rewrite("deploy --dry-run"), priority=1)
    engine.says("gate", SUSPEND)
    token = engine.dispatch(shell("deploy")).token
    outcome = engine.resume(token, "allow", shell("deploy"))
    assert (outcome.decision, outcome.tool_args) == ("proceed", {"command": "deploy --dry-run"})


def test_a_refusal_stands_though_the_hook_is_gone(engine, suspended):
    engine.manager.unregister(name="gate")
    assert engine.resume(suspended.token, HookOutcome.deny("no")).reason == "no"


def test_an_approval_stands_though_the_hook_is_gone(engine, suspended):
    engine.manager.unregister(name="gate")
    assert engine.resume(suspended.token, "allow").decision == "proceed"


def test_another_operation_is_suspended_anew(engine, suspended):
    engine.resume(suspended.token, "allow")
    assert engine.dispatch(shell("deploy")).decision == "suspend"


def test_what_a_person_answers_may_bring_context(engine, suspended):
    outcome = engine.resume(suspended.token, HookOutcome.with_context("Approved by Ada."))
    assert (outcome.decision, outcome.context) == ("proceed", "Approved by Ada.")


def test_a_wrapper_may_suspend_and_be_resumed(engine):
    @engine.hook(wrapper=True)
    def around(ctx):
        yield
        return HookOutcome.suspend("look", data=1)

    first = engine.dispatch(shell())
    assert (first.decision, first.hook, first.data) == ("suspend", "around", 1)
    engine.says("inner", HookOutcome.allow())
    resumed = engine.resume(first.token, "allow")
    assert (resumed.decision, resumed.findings) == ("allow", ())


@pytest.mark.parametrize(("first", "second"), [(1, True), (1, 1.0), (True, 1), ([0], [False])])
def test_an_approval_of_one_type_is_none_of_another(engine, first, second):
    engine.says("gate", SUSPEND)
    token = engine.dispatch(make_context(tool="pay", args={"amount": first})).token
    with pytest.raises(SuspensionError, match="belongs to another operation"):
        engine.resume(token, "allow", make_context(tool="pay", args={"amount": second}))


def test_an_approval_of_one_type_does_not_hold_for_a_rewrite_to_another(engine):
    """The two are equal in Python, and not to the program that gets them."""
    later: list[int] = []
    engine.says("first", HookOutcome.update(tool_args={"amount": 2}), priority=2, match=lambda ctx: not later)
    engine.says("gate", SUSPEND)
    token = engine.dispatch(make_context(tool="pay", args={"amount": 1})).token
    later.append(1)
    engine.says("second", HookOutcome.update(tool_args={"amount": 2.0}), priority=2)
    assert engine.resume(token, "allow").decision == "suspend"


# -- the answers to several waits --------------------------------------------------------------------------------------


def answer_all(engine, ctx, decision="allow"):
    """Answer whatever waits, and return the last outcome with the hooks that suspended the call, in order."""
    outcome, waited = engine.dispatch(ctx), []
    while outcome.token is not None:
        waited.append(outcome.hook)
        assert len(waited) < 10, waited
        outcome = engine.resume(outcome.token, decision)
    return outcome, waited


def test_hooks_that_wait_on_one_call_are_answered_once_each(engine):
    for name in ("one", "two", "three"):
        engine.says(name, SUSPEND)
    outcome, waited = answer_all(engine, shell("deploy"))
    assert (outcome.decision, waited) == ("proceed", ["one", "two", "three"])


def test_a_gate_above_a_rewrite_is_answered_about_both_subjects(engine):
    calls = engine.says("gate", SUSPEND, priority=1, mode="gate")
    engine.says("rewriter", rewrite("deploy --dry-run"))
    outcome, waited = answer_all(engine, shell("deploy"))
    assert (outcome.decision, outcome.tool_args, waited) == ("proceed", {"command": "deploy --dry-run"}, ["gate"] * 2)
    assert [ctx.tool_call.command for ctx in calls] == ["deploy", "deploy --dry-run"]


def test_a_wrapper_and_a_hook_that_wait_are_answered_once_each(engine):
    @engine.hook(wrapper=True)
    def around(ctx):
        yield
        return SUSPEND

    engine.says("gate", SUSPEND)
    outcome, waited = answer_all(engine, shell())
    assert (outcome.decision, waited) == ("proceed", ["gate", "around"])


def test_a_refusal_holds_until_its_hook_is_reached_again(engine):
    """Another hook may come to wait before it."""
    early: list[int] = []
    engine.says("early", SUSPEND, priority=2, match=lambda ctx: early)
    engine.says("gate", SUSPEND, priority=1)
    token = engine.dispatch(shell()).token
    early.append(1)
    second = engine.resume(token, HookOutcome.deny("the person said no"))
    assert second.hook == "early"
    assert engine.resume(second.token, "allow").reason == "the person said no"


def test_the_application_is_asked_once_beside_a_suspension(engine):
    reasons = engine.asks(True)
    engine.says("asker", HookOutcome.ask("sure?"), priority=1)
    engine.says("gate", SUSPEND)
    outcome, waited = answer_all(engine, shell())
    assert (outcome.decision, waited, reasons) == ("allow", ["gate"], ["sure?"])


def test_a_call_that_waits_is_counted_once(engine):
    """A hook that was called about it before is rechecking; what it brings still counts."""
    seen = []

    @engine.hook(priority=1)
    def counter(ctx):
        seen.append(ctx.rechecking)
        if not ctx.rechecking and seen.count(False) > 1:
            return HookOutcome.deny("Rate limit exceeded.")
        return HookOutcome.with_context("Counted.")

    engine.says("gate", SUSPEND)
    after = engine.says("after")
    outcome, _ = answer_all(engine, shell("deploy"))
    assert (outcome.decision, outcome.context, seen) == ("proceed", "Counted.", [False, True])
    assert [ctx.rechecking for ctx in after] == [False]
    assert engine.dispatch(shell("deploy")).reason == "Rate limit exceeded."


def test_a_token_holds_where_its_dispatch_was_cut_off(engine, suspended):
    done: list[int] = []
    engine.says("interrupted", KeyboardInterrupt(), match=lambda ctx: not done)
    with pytest.raises(KeyboardInterrupt):
        engine.resume(suspended.token, "allow")
    done.append(1)
    assert engine.resume(suspended.token, "allow").decision == "proceed"


DAY = 86_400.0


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until it is moved on."""
    now = [1_700_000_000.0]
    monkeypatch.setattr("agent_hooks.engine.suspension.time", lambda: now[0])
    return now


@pytest.mark.parametrize("is_removed", [False, True])
def test_what_has_waited_for_too_long_is_not_resumed_and_the_error_says_for_how_long(clock, engine, is_removed):
    engine.says("gate", SUSPEND, priority=1)
    token = engine.dispatch(shell("deploy")).token
    clock[0] += 31 * DAY
    if is_removed:
        engine.dispatch(shell("other"))
    with pytest.raises(SuspensionError, match=r"has waited for 31 days, and HookPolicy.suspension_ttl .* 30 days"):
        engine.resume(token, "allow")


def test_what_has_waited_for_less_is_resumed(clock, engine):
    engine.says("gate", SUSPEND, priority=1)
    token = engine.dispatch(shell("deploy")).token
    clock[0] += 29 * DAY
    engine.dispatch(shell("other"))
    assert engine.resume(token, "allow").decision == "proceed"


def test_what_is_never_resumed_does_not_pile_up(clock, engine):
    engine.says("gate", SUSPEND, priority=1)
    for _ in range(100):
        clock[0] += DAY
        engine.dispatch(shell("deploy"))
    assert len(engine.manager.suspended) <= 31


@pytest.mark.parametrize(("ttl", "is_resumed"), [(60.0, False), (None, True)])
def test_the_policy_says_how_long_an_operation_waits(clock, colour, ttl, is_resumed):
    engine = Engine(colour, policy=HookPolicy(suspension_ttl=ttl))
    engine.says("gate", SUSPEND, priority=1)
    token = str(engine.dispatch(shell("deploy")).token)
    clock[0] += 400 * DAY if is_resumed else 61
    if is_resumed:
        assert engine.resume(token, "allow").decision == "proceed"
    else:
        with pytest.raises(SuspensionError, match=r"61 s.* 60 s"):
            engine.resume(token, "allow")
