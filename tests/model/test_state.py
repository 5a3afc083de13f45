"""Messages, tool calls, usage, stop signals, steps and the state of a run."""

from __future__ import annotations

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest

from agent_hooks import (
    AgentState,
    ErrorInfo,
    HookEvent,
    HookOutcome,
    Message,
    Step,
    StopReason,
    StopSignal,
    ToolCall,
    ToolExecution,
    Usage,
)
from agent_hooks.errors import ReadOnlyError, RunFailedError, StopRunError, SuspensionError
from agent_hooks.model.state import BegunCall, Suspended
from tables import tables

TABLES = tables(__file__)
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
    assert (signal.source, StopSignal.user_requested("enough", source="a person").source) == ("", "a person")
    assert (signal.reason, signal.message) == (StopReason.USER_REQUESTED, "enough")


@pytest.mark.parametrize(("step", "kind"), TABLES["steps"])
def test_a_step_has_a_type(step, kind):
    assert Step.from_dict(step).type == kind


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


def _said(text: str) -> Message:
    return Message(role="user", content=text)


def test_a_state_is_not_changed_by_what_is_added_to_another_that_grew_from_it() -> None:
    base = AgentState().with_messages(_said("a"), _said("b"))
    left = base.with_messages(_said("left"))
    right = base.with_messages(_said("right")).with_messages(_said("further"))
    texts = [[message.content for message in state.messages] for state in (base, left, right)]
    assert texts == [["a", "b"], ["a", "b", "left"], ["a", "b", "right", "further"]]
    assert len(base.messages) == 2


def test_adding_a_message_or_a_step_copies_none_of_those_before() -> None:
    before = AgentState(messages=(_said("a"),)).with_messages(_said("b")).with_step(Step())
    after = before.with_messages(_said("c")).with_step(Step(index=1))
    for name in ("messages", "steps"):
        assert after._fields[name]._items is before._fields[name]._items


def test_messages_and_steps_that_grew_are_tuples_to_whoever_reads_them() -> None:
    grown = AgentState().with_messages(_said("a")).with_messages(_said("b")).with_step(Step())
    made = AgentState(messages=(_said("a"), _said("b")), steps=(Step(),), current_step=None)
    assert [type(grown.messages), type(grown.steps)] == [tuple, tuple]
    assert grown.messages is grown.messages
    assert grown == made
    assert made == grown
    assert grown != made.with_messages(_said("c"))
    assert repr(grown.replace(current_step=None)) == repr(made)
    assert AgentState.from_dict(grown.as_dict()) == pickle.loads(pickle.dumps(grown)) == copy.copy(grown) == made
    assert grown.replace(messages=grown.messages[:1]).messages == (_said("a"),)


def test_the_last_step_is_none_before_the_first() -> None:
    assert AgentState().last_step is None
    assert AgentState(steps=(Step(), Step(index=1))).last_step == Step(index=1)
    assert AgentState().with_step(Step(index=2)).last_step == Step(index=2)


def test_threads_that_add_to_one_state_each_keep_their_own() -> None:
    base = AgentState().with_messages(_said("a"))
    with ThreadPoolExecutor(8) as pool:
        states = list(pool.map(lambda number: base.with_messages(_said(str(number))), range(500)))
    assert [state.messages[1].content for state in states] == [str(number) for number in range(500)]
    assert all(len(state.messages) == 2 for state in states)


CALLED = ToolCall("t")


@pytest.mark.parametrize(("fields", "context", "text"), TABLES["texts"])
def test_an_execution_has_a_text_for_the_model(fields, context, text):
    assert ToolExecution(call=CALLED, **fields).with_added_context(context).text == text


def test_the_text_of_an_execution_says_why_there_is_no_result():
    assert ToolExecution.denied(CALLED, "not allowed").text == "Denied: not allowed"
    assert ToolExecution(call=CALLED, error=ErrorInfo(type="X", message="broken")).text == "Error: broken"
    assert ToolExecution(call=CALLED, result="secret").withheld("a key").text == "Result withheld: a key"


def test_a_withheld_result_is_gone():
    execution = ToolExecution(call=CALLED, result="secret").withheld("a key")
    assert (execution.result, execution.failed, execution.was_blocked) == (None, True, False)


def test_a_failed_run_is_raised_with_its_errors_and_any_other_is_itself():
    state = AgentState(errors=(ErrorInfo(type="KeyError", message="KeyError: 'k'"), ErrorInfo(type="X")))
    assert state.raise_for_error() is state
    with pytest.raises(RunFailedError, match=r"^KeyError: 'k'; X$"):
        state.replace(status="failed").raise_for_error()
    with pytest.raises(RunFailedError, match=r"^The run failed\.$"):
        AgentState(status="failed").raise_for_error()


def test_usage_of_a_model_is_added_to_that_model():
    one, two = Usage(input_tokens=1), Usage(output_tokens=2)
    state = AgentState().with_model_usage("a", one).with_model_usage("b", two).with_model_usage("a", two)
    assert dict(state.model_usage) == {"a": one + two, "b": two}
    assert (one + two) - two == one


def test_a_hooks_decision_to_stop_is_a_signal():
    event = HookEvent.BEFORE_STEP
    signal = StopSignal.decided(event, HookOutcome.stop("enough").replace(hook="limit", source="managed"))
    assert (signal.reason, signal.message, signal.source, signal.decided_by, dict(signal.context)) == (
        *("stop_requested", "enough", "limit", "managed"),
        {"event": "before_step"},
    )
    signal = StopSignal.decided(event, HookOutcome(decision="stop", failed=True))
    assert (signal.message, signal.decided_by) == ("Stop hook forced termination", "code")
    assert dict(signal.context) == {"event": "before_step", "failed": True}


def test_a_tool_that_requests_a_stop_is_the_source_of_the_signal_unless_it_names_another():
    signals = [StopSignal.requested(StopRunError("enough", source=source), "tool") for source in ("", "other")]
    assert [(signal.message, signal.source) for signal in signals] == [("enough", "tool"), ("enough", "other")]


ASKED = Suspended(token="t", event="on_stop", decision="ask")
SUSPENDED = ASKED.replace(
    event="before_tool_use",
    hook=("plugin", "hook"),
    begun=(BegunCall(call=CALLED, agents=(AgentState(status="suspended", suspended=ASKED),)),),
    settled=(None, ToolExecution(call=CALLED, result=1)),
    created_at=1.5,
)


def test_a_suspended_run_is_restored_as_it_was_written():
    assert Suspended.from_dict(SUSPENDED.as_dict()) == SUSPENDED


@pytest.mark.parametrize(
    ("field", "value"), [("event", 3), ("made", "1"), ("created_at", "now"), ("hook", [1, 2]), ("settled", [3])]
)
def test_a_damaged_state_of_a_suspended_run_is_refused(field, value):
    with pytest.raises(SuspensionError, match="The state of the suspended run is damaged; use it as it was saved"):
        Suspended.from_dict({**SUSPENDED.as_dict(), field: value})


def test_a_run_waits_inside_a_call_if_the_first_agent_that_waits_has_asked():
    waiting = AgentState(status="suspended")
    inside = BegunCall(call=CALLED, agents=(AgentState(status="completed"), *SUSPENDED.begun[0].agents))
    assert [
        ASKED.replace(begun=begun).is_inside
        for begun in ((), (BegunCall(call=CALLED, agents=(waiting,)),), (inside,), SUSPENDED.begun)
    ] == [False, False, True, True]
