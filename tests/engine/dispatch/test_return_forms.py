"""What a hook may return: outcomes, changed contexts, tuples and dicts; what they come to in a dispatch."""

from __future__ import annotations

import pytest

from agent_hooks import HookOutcome, Message, StopReason, StopSignal, ToolCall, ToolExecution
from agent_hooks.errors import InvalidOutcomeError
from agent_hooks.model.outcome import read_answer
from agent_hooks.testing import make_context
from engine import result, shell


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


def test_the_same_context_is_no_opinion(engine):
    @engine.hook()
    def same(ctx):
        return ctx

    assert engine.dispatch(shell()) == HookOutcome()


def test_a_changed_execution_changes_the_result(engine):
    call = ToolCall("Bash")
    ctx = make_context("after_tool_use", tool_call=call)
    execution = ToolExecution(call=call, result="secret")

    @engine.hook("after_tool_use")
    def redacts(ctx):
        return ctx.replace(tool_execution=ctx.tool_execution.replace(result="***"))

    assert engine.dispatch(ctx.replace(tool_execution=execution, result="secret")).result == "***"


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
