"""Rule 5: observers run after the decision, all of them, exactly once; what they return or raise changes nothing."""

from __future__ import annotations

import pytest

from agent_hooks import HookOutcome
from agent_hooks.testing import make_context
from engine import messages_of, result, rewrite, shell


def test_observers_run_after_the_decision_in_order(engine):
    ran = []

    @engine.hook(mode="observe", priority=100)
    def looks_first(ctx):
        ran.append("first")

    @engine.hook(mode="observe", priority=50)
    def looks_second(ctx):
        ran.append("second")

    @engine.hook(priority=-100)
    def decides(ctx):
        ran.append("decides")

    engine.dispatch(shell())
    assert ran == ["decides", "first", "second"]


def test_all_observers_run_once_also_when_the_chain_ended_early(engine):
    engine.says("blocker", HookOutcome.deny("no"), priority=1)
    first, second = engine.says("one", mode="observe"), engine.says("two", mode="observe")
    engine.dispatch(shell())
    assert len(first) == len(second) == 1
    assert (first[0].outcome.decision, first[0].outcome.hook) == ("deny", "blocker")


def test_observers_look_once_however_often_the_chain_is_walked(engine):
    engine.says("rewriter", rewrite("ls -l"))
    calls = engine.says("looker", mode="observe")
    outcome = engine.dispatch(shell("ls"))
    assert [ctx.tool_args for ctx in calls] == [{"command": "ls -l"}]
    assert calls[0].outcome.tool_args == outcome.tool_args


def test_observers_see_the_final_context(engine):
    engine.says("speaker", HookOutcome.update(context="so it is", metadata={"k": 1}))
    calls = engine.says("looker", mode="observe")
    engine.dispatch(shell())
    assert (calls[0].context, calls[0].metadata, calls[0].outcome.decision) == ("so it is", {"k": 1}, "proceed")


def test_observers_run_after_a_question_was_answered(engine):
    engine.ask = lambda ctx, reason: True
    engine.says("asker", HookOutcome.ask("sure?"))
    calls = engine.says("looker", mode="observe")
    engine.dispatch(shell())
    assert [ctx.outcome.decision for ctx in calls] == ["allow"]


@pytest.mark.parametrize("answer", [HookOutcome.deny("no"), rewrite("rm"), False, 42, ("deny", "no")], ids=repr)
def test_what_an_observer_returns_changes_nothing(engine, answer):
    engine.says("looker", answer, mode="observe")
    assert engine.dispatch(shell()) == HookOutcome()


def test_what_an_observer_raises_changes_nothing_but_is_visible(engine):
    engine.says("looker", OSError("disk full"), mode="observe", priority=1)
    second = engine.says("second", mode="observe")
    outcome = engine.dispatch(shell())
    assert outcome.decision == "proceed"
    assert messages_of(outcome) == ["The hook looker failed: OSError: disk full"]
    assert len(second) == 1


def test_what_an_observer_raises_is_tolerated_even_if_it_is_required(engine):
    """An observer has no say, so its failure has none either."""
    engine.says("looker", OSError("disk full"), mode="observe", required=True, on_failure="closed")
    assert engine.dispatch(shell()).decision == "proceed"


def test_hooks_on_an_event_that_is_only_observed_are_observers(engine):
    calls = engine.says("ender", event="session_end")
    assert engine.dispatch(make_context("session_end")).decision == "proceed"
    assert calls[0].outcome == HookOutcome()


def test_a_decision_on_an_event_that_is_only_observed_is_reported(engine):
    engine.says("ender", HookOutcome.deny("no"), event="session_end")
    outcome = engine.dispatch(make_context("session_end"))
    assert outcome.decision == "proceed"
    assert messages_of(outcome) == ["The hook ender failed: it decided 'deny', but session_end knows no decision."]


def test_a_blocked_call_is_only_looked_at_afterwards(engine):
    """after_tool_use of a call that was blocked has no result to judge: only observers hear of it."""
    judged = engine.says("judge", HookOutcome.deny("no"), event="after_tool_use")
    looked = engine.says("looker", event="after_tool_use", mode="observe")
    wrapped = []

    @engine.hook("after_tool_use", wrapper=True)
    def around(ctx):
        wrapped.append(ctx)
        yield

    outcome = engine.dispatch(result(None, was_blocked=True))
    assert (judged, wrapped, outcome.decision) == ([], [], "proceed")
    assert looked[0].was_blocked
