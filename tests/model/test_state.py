"""Messages, tool calls, usage, stop signals, steps and the state of a run."""

from __future__ import annotations

import pytest

from agent_hooks import AgentState, ErrorInfo, Message, Step, StopReason, StopSignal, ToolCall, ToolExecution, Usage
from agent_hooks.errors import ReadOnlyError

REASONS = (
    "error stop_requested user_requested steps_limit token_limit time_limit retry_limit finish_reason completed unknown"
).split()


def test_usage_adds_up():
    total = Usage(input_tokens=1, output_tokens=2) + Usage(input_tokens=10, cached_tokens=5, reasoning_tokens=1)
    assert total == Usage(input_tokens=11, output_tokens=2, cached_tokens=5, reasoning_tokens=1)
    assert total.total == 13


def test_an_error_becomes_data():
    assert ErrorInfo.of(ValueError("why")) == ErrorInfo(type="ValueError", message="why")
    info = ErrorInfo(type="X")
    assert ErrorInfo.of(info) is info


def test_the_arguments_of_a_call_are_copied_and_read_only():
    args = {"a": [1]}
    call = ToolCall("t", args)
    args["a"].append(2)
    assert call.args == {"a": [1]}
    with pytest.raises(ReadOnlyError):
        call.args["a"].append(2)


def test_a_call_has_the_kind_of_claude_codes_tool_of_its_name_unless_it_says_otherwise():
    assert (ToolCall("Bash").kind, ToolCall("bsh").kind, ToolCall("Task", kind="read").kind) == (
        "shell",
        "other",
        "read",
    )
    odd = ToolCall("Task", kind="other")
    assert (odd.kind, ToolCall.from_dict(odd.as_dict()).kind) == ("other", "other")


def test_a_kind_that_does_not_exist_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="'shall' is not a kind of tool; use one of shell, read"):
        ToolCall("t", kind="shall")


def test_a_call_with_other_arguments_is_the_same_call():
    call = ToolCall("t", {"a": 1}, id="7", kind="read")
    assert call.with_args({"b": 2}) == ToolCall("t", {"b": 2}, id="7", kind="read")


def test_a_blocked_call_is_an_execution_that_failed():
    execution = ToolExecution.denied(ToolCall("t"), "not allowed")
    assert (execution.was_blocked, execution.failed, execution.reason, execution.name) == (
        True,
        True,
        "not allowed",
        "t",
    )
    assert execution.error == ErrorInfo(type="ToolBlocked", message="not allowed")


def test_context_for_the_model_is_added_to_an_execution():
    execution = ToolExecution(call=ToolCall("t"), result=1)
    assert execution.with_added_context("a").with_added_context("b").context == "a\n\nb"
    assert not execution.failed


@pytest.mark.parametrize(("rank", "name"), list(enumerate(REASONS)))
def test_stop_reasons_are_ranked(rank, name):
    reason = StopReason(name)
    assert (reason.rank, reason) == (rank, name)
    assert getattr(StopReason, name.upper()) is reason
    assert reason.was_force_stopped == (name not in ("completed", "finish_reason"))


def test_an_unknown_stop_reason_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="'tired' is not a stop reason; use one of error, stop_requested"):
        StopReason("tired")


def test_the_most_authoritative_signal_is_reported_and_the_first_of_equals():
    first = StopSignal(reason=StopReason.TOKEN_LIMIT, source="first")
    state = (
        AgentState()
        .with_stop_signal(StopSignal(reason=StopReason.COMPLETED))
        .with_stop_signal(first)
        .with_stop_signal(StopSignal(reason=StopReason.TOKEN_LIMIT, source="second"))
    )
    assert state.stop_signal is first
    assert len(state.stop_signals) == 3
    assert AgentState().stop_signal is None


def test_a_persons_wish_to_stop_is_a_signal():
    signal = StopSignal.user_requested("enough")
    assert (signal.reason, signal.message, signal.source) == (StopReason.USER_REQUESTED, "enough", "user")


@pytest.mark.parametrize(
    ("step", "kind"),
    [
        (Step(), "final_response"),
        (Step(message=Message(role="assistant", content="done")), "final_response"),
        (Step(message=Message(role="assistant", tool_calls=(ToolCall("t"),))), "tool_execution"),
        (Step(executions=(ToolExecution(call=ToolCall("t")),)), "tool_execution"),
        (Step(executions=(ToolExecution(call=ToolCall("t")),), errors=(ErrorInfo(type="X"),)), "error"),
    ],
)
def test_a_step_has_a_type(step, kind):
    assert step.type == kind


def test_every_change_of_a_state_is_a_copy():
    state = AgentState()
    changed = (
        state.with_metadata("a", 1)
        .with_metadata("b", 2)
        .with_messages(Message(role="user"), Message(role="assistant"))
        .with_system_prompt("Be brief.")
    )
    assert (changed.metadata, len(changed.messages), changed.system_prompt) == ({"a": 1, "b": 2}, 2, "Be brief.")
    assert state == AgentState()
    with pytest.raises(ReadOnlyError):
        changed.metadata["c"] = 3  # type: ignore[index]


def test_steps_are_counted():
    assert AgentState(steps=(Step(), Step(index=1))).step_count == 2
