"""What a hook may return: outcomes, changed contexts, tuples and dicts; what they come to in a dispatch."""

from __future__ import annotations

import pytest

from agent_hooks import AgentState, HookOutcome, Message, StopReason, StopSignal, ToolCall, ToolExecution
from agent_hooks.errors import InvalidOutcomeError
from agent_hooks.model.outcome import read_answer
from agent_hooks.testing import make_context
from engine import messages_of, result, shell


@pytest.mark.parametrize(
    "answer", [None, True, "ok", "proceed", HookOutcome.proceed(), {}, {"continue": True}], ids=repr
)
def test_no_opinion(engine, answer):
    engine.says("hook", answer)
    assert engine.dispatch(shell()).decision == "proceed"


@pytest.mark.parametrize(
    "answer",
    [
        HookOutcome.deny("no"),
        ("deny", "no"),
        ("block", "no"),
        {"decision": "block", "reason": "no"},
        {"decision": "deny", "reason": "no"},
        {"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "no"}},
    ],
    ids=repr,
)
def test_a_deny_in_every_form(engine, answer):
    engine.says("hook", answer)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.reason, outcome.failed) == ("deny", "no", False)


def test_a_changed_context_is_a_change(engine):
    """The form of the first PHP design: a hook takes a context and returns one."""
    signal = StopSignal(reason=StopReason.COMPLETED)
    message = Message(role="user", content="hi")

    @engine.hook("after_tool_use")
    def changes(ctx):
        ctx = ctx.with_state(ctx.state.with_metadata("k", 1)).with_metadata("m", 2).with_subject("better")
        return ctx.replace(context="more", messages=(message,), signals=(signal,))

    outcome = engine.dispatch(result("good"))
    assert (outcome.state.metadata, outcome.metadata, outcome.result) == ({"k": 1}, {"m": 2}, "better")
    assert (outcome.context, outcome.messages, outcome.signals) == ("more", (message,), (signal,))


def test_a_changed_context_adds_to_what_was_there(engine):
    """A context accumulates, an outcome adds: nothing may come twice."""
    engine.says("first", HookOutcome.update(context="one", metadata={"a": 1}), priority=1)

    @engine.hook()
    def second(ctx):
        return ctx.replace(context=f"{ctx.context}\n\ntwo")

    assert engine.dispatch(shell()).context == "one\n\ntwo"


def test_the_same_context_is_no_opinion(engine):
    @engine.hook()
    def same(ctx):
        return ctx

    assert engine.dispatch(shell()) == HookOutcome()


def test_a_context_with_other_arguments_rewrites(engine):
    @engine.hook()
    def rewrites(ctx):
        return ctx.with_tool_args({"command": "ls -l"})

    assert engine.dispatch(shell("ls")).tool_args == {"command": "ls -l"}


@pytest.mark.parametrize("block", ["block", "with_tool_execution_blocked"])
def test_a_blocked_context_is_a_deny(engine, block):
    @engine.hook()
    def blocks(ctx):
        return getattr(ctx, block)("not today")

    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.reason, outcome.failed) == ("deny", "not today", False)


def test_a_changed_execution_changes_the_result(engine):
    call = ToolCall("Bash")
    ctx = make_context("after_tool_use", tool_call=call)
    execution = ToolExecution(call=call, result="secret")

    @engine.hook("after_tool_use")
    def redacts(ctx):
        return ctx.replace(tool_execution=ctx.tool_execution.replace(result="***"))

    assert engine.dispatch(ctx.replace(tool_execution=execution, result="secret")).result == "***"


def test_a_change_that_is_nobodys_to_make_is_reported(engine):
    @engine.hook()
    def moves(ctx):
        return ctx.replace(cwd="/elsewhere")

    outcome = engine.dispatch(shell())
    assert messages_of(outcome) == ["Hook 'moves' cannot mutate 'cwd' on trigger 'before_tool_use'."]


def test_a_pending_tuple_suspends_with_its_state(engine):
    engine.says("hook", ("pending", {"step": 2}))
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.data) == ("suspend", {"step": 2})


def test_claudes_updated_input_rewrites(engine):
    engine.says("hook", {"hookSpecificOutput": {"hookEventName": "PreToolUse", "updatedInput": {"command": "ls -l"}}})
    assert engine.dispatch(shell("ls")).tool_args == {"command": "ls -l"}


def test_a_decision_of_allow_in_a_dict_is_only_no_objection(engine):
    """permissionDecision and approve grant, decision: allow does not."""
    engine.says("hook", {"decision": "allow"}, priority=1)
    engine.says("asker", HookOutcome.ask("sure?"))
    assert engine.dispatch(shell()).decision == "deny"


@pytest.mark.parametrize(
    "answer", [{"decision": "approve"}, {"hookSpecificOutput": {"permissionDecision": "allow"}}], ids=repr
)
def test_what_grants_in_a_dict(engine, answer):
    engine.says("hook", answer, priority=1)
    engine.says("asker", HookOutcome.ask("sure?"))
    assert engine.dispatch(shell()).decision == "allow"


def test_continue_false_in_a_dict_stops(engine):
    engine.says("hook", {"continue": False, "stopReason": "enough"})
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.reason) == ("stop", "enough")


def test_state_in_a_dict_is_read(engine):
    engine.says("hook", {"updatedState": AgentState(agent_id="new").as_dict()}, event="before_step")
    assert engine.dispatch(make_context("before_step")).state == AgentState(agent_id="new")


@pytest.mark.parametrize(
    "answer",
    [
        False,
        42,
        "maybe",
        ("deny",),
        ("deny", 1),
        ("maybe", "x"),
        {"verdict": "no"},
        {"continue": "no"},
        object(),
        [],
        b"deny",
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_anything_else_is_a_failure_that_names_the_hook(engine, answer):
    engine.says("guard", answer)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.failed) == ("deny", True)
    assert outcome.reason.startswith("The hook guard failed: ")


@pytest.mark.parametrize(("behavior", "decision"), [("allow", "allow"), ("deny", "deny")])
def test_claudes_answer_to_a_permission_request_is_read(behavior, decision):
    outcome = read_answer({"hookSpecificOutput": {"decision": {"behavior": behavior, "message": "why"}}})
    assert (outcome.decision, outcome.reason) == (decision, "why")


def test_an_answer_to_a_permission_request_without_a_behavior_is_invalid():
    with pytest.raises(InvalidOutcomeError):
        read_answer({"hookSpecificOutput": {"decision": {"message": "why"}}})


def test_of_two_decisions_in_one_answer_the_stricter_counts():
    answer = {"decision": "block", "reason": "no", "hookSpecificOutput": {"permissionDecision": "allow"}}
    assert read_answer(answer).decision == "deny"


def test_to_continue_at_a_stop_is_another_round(engine):
    engine.says("hook", {"decision": "continue", "reason": "more"}, event="on_stop")
    outcome = engine.dispatch(make_context("on_stop"))
    assert (outcome.decision, outcome.reason) == ("force_continue", "more")
