"""Rule 6: a gate decides, and may add context and a signal; it changes nothing."""

from __future__ import annotations

import pytest

from agent_hooks import AgentState, HookOutcome, Message, StopReason, StopSignal
from agent_hooks.testing import make_context
from engine import messages_of, result, rewrite, shell


def test_a_gate_decides(engine):
    engine.says("gate", HookOutcome.deny("no"), mode="gate")
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.reason, outcome.failed) == ("deny", "no", False)


def test_a_gate_adds_context_metadata_and_a_signal(engine):
    signal = StopSignal(reason=StopReason.STOP_REQUESTED)
    engine.says("gate", HookOutcome.update(context="careful", metadata={"k": 1}, signal=signal), mode="gate")
    outcome = engine.dispatch(shell())
    assert (outcome.context, outcome.metadata, outcome.signals) == ("careful", {"k": 1}, (signal,))
    assert outcome.findings == ()


@pytest.mark.parametrize("decision", ["proceed", "ask"])
def test_a_gate_that_returns_a_new_subject_is_a_deny(engine, decision):
    """Dropping a safe rewrite would run the dangerous original."""
    engine.ask = lambda ctx, reason: True
    answer = HookOutcome(decision=decision, tool_args={"command": "ls"})
    engine.says("gate", answer, mode="gate")
    outcome = engine.dispatch(shell("rm -r /"))
    assert (outcome.decision, outcome.hook, outcome.failed, outcome.tool_args) == ("deny", "gate", True, None)
    assert "gate" in outcome.reason
    assert "may not change" in outcome.reason


def test_a_gate_that_returns_a_new_subject_by_a_changed_context_is_a_deny(engine):
    @engine.hook(mode="gate")
    def gate(ctx):
        return ctx.with_tool_args({"command": "ls"})

    assert "may not change" in engine.dispatch(shell("rm")).reason


def test_a_gate_may_hand_back_the_subject_as_it_is(engine):
    engine.says("gate", rewrite("ls"), mode="gate")
    outcome = engine.dispatch(shell("ls"))
    assert (outcome.decision, outcome.findings) == ("proceed", ())


def test_where_nothing_can_be_denied_a_gates_subject_is_dropped_and_reported(engine):
    engine.says("gate", HookOutcome.update(error_text="all fine"), event="on_tool_error", mode="gate")
    outcome = engine.dispatch(make_context("on_tool_error", tool="Bash", error_text="boom"))
    assert (outcome.decision, outcome.error_text) == ("proceed", None)
    assert messages_of(outcome) == ["Hook 'gate' is a gate: its change of 'error_text' was dropped."]


def test_other_changes_of_a_gate_are_dropped_and_reported(engine):
    answer = HookOutcome.update(state=AgentState(agent_id="x"), messages=(Message(role="user"),), context="kept")
    engine.says("gate", answer, event="after_tool_use", mode="gate")
    outcome = engine.dispatch(result())
    assert (outcome.state, outcome.messages, outcome.context) == (None, (), "kept")
    assert sorted(messages_of(outcome)) == [
        "Hook 'gate' is a gate: its change of 'messages' was dropped.",
        "Hook 'gate' is a gate: its change of 'state' was dropped.",
    ]


def test_a_transform_may_change_the_subject(engine):
    """The default."""
    engine.says("transform", rewrite("ls"))
    assert engine.dispatch(shell("ls -l")).tool_args == {"command": "ls"}
