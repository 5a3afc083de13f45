"""A state that hooks return changes neither the past nor the identity of a run."""

from __future__ import annotations

import pytest

from agent_hooks.engine.state_changes import guarded
from agent_hooks.model.state import AgentState, Message, StopReason, StopSignal, Usage
from agent_hooks.model.tool_call import ErrorInfo

FIRST, SECOND = StopSignal(reason=StopReason.STEPS_LIMIT), StopSignal(reason=StopReason.USER_REQUESTED)
OWN = AgentState(
    agent_id="agent",
    execution_count=3,
    stop_signals=(FIRST,),
    errors=(ErrorInfo(type="Before", message="before"),),
    usage=Usage(input_tokens=5, output_tokens=2),
    model_usage={"m": Usage(input_tokens=5)},
)


def test_messages_and_metadata_are_the_hooks_to_change():
    brought = OWN.with_messages(Message(role="user", content="hi")).with_metadata("key", 1)
    assert guarded(OWN, brought) is brought


@pytest.mark.parametrize(
    ("field", "value"),
    [("agent_id", "other"), ("execution_count", 0), ("status", "failed"), ("parent_agent_id", "p"), ("steps", ())],
)
def test_the_identity_and_the_past_stay(field, value):
    assert getattr(guarded(OWN, OWN.replace(**{field: value})), field) == getattr(OWN, field)


def test_signals_and_errors_are_added_and_never_removed():
    later = ErrorInfo(type="Later", message="later")
    state = guarded(OWN, OWN.replace(stop_signals=(SECOND,), errors=(later,)))
    assert (state.stop_signals, state.errors) == ((FIRST, SECOND), (*OWN.errors, later))
    state = guarded(OWN, OWN.replace(stop_signals=(SECOND, FIRST), errors=()))
    assert (state.stop_signals, state.errors) == ((FIRST, SECOND), OWN.errors)
    longer = OWN.replace(stop_signals=(FIRST, SECOND))
    assert guarded(OWN, longer) is longer


def test_usage_grows_and_never_shrinks():
    for usage in (Usage(), Usage(input_tokens=9, output_tokens=1)):
        assert guarded(OWN, OWN.replace(usage=usage)).usage == OWN.usage
        assert guarded(OWN, OWN.replace(model_usage={"other": usage})).model_usage == OWN.model_usage
    more = OWN.replace(usage=Usage(input_tokens=5, output_tokens=3), model_usage={"m": Usage(input_tokens=6)})
    assert guarded(OWN, more) is more


def test_a_current_step_is_a_step():
    with pytest.raises(TypeError, match="its current_step is no Step"):
        guarded(OWN, OWN.replace(current_step="a step"))
