"""What the model gets to see of a step."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks.engine.messages import messages_of
from agent_hooks.model.snapshot import as_text
from agent_hooks.model.state import Message, Step
from agent_hooks.model.tool_call import WITHHELD_TYPE, ErrorInfo, ToolCall, ToolExecution

CALL = ToolCall("echo", {"text": "a"}, id="call-1")
FAILED = ToolExecution(call=CALL, error=ErrorInfo(type="ValueError", message="no fuel"))
WITHHELD = ToolExecution(call=CALL, error=ErrorInfo(type=WITHHELD_TYPE, message="no"), reason="no")


@pytest.mark.parametrize(
    ("execution", "text", "is_error"),
    [
        (ToolExecution(call=CALL, result="done"), "done", False),
        (ToolExecution(call=CALL, result={"a": 1}), '{"a":1}', False),
        (ToolExecution(call=CALL), "", False),
        (FAILED, "Error: no fuel", True),
        (ToolExecution.denied(CALL, "no rm"), "Denied: no rm", True),
        (WITHHELD, "Result withheld: no", True),
    ],
)
@pytest.mark.parametrize("context", ["", "mind the gap"])
def test_a_call_is_told_by_its_result_or_why_there_is_none_and_what_hooks_add(execution, text, is_error, context):
    execution = execution.replace(context=context)
    expected = f"{text}\n\n{context}" if context else text
    (asked, answer) = messages_of(Step(message=Message(role="assistant", tool_calls=(CALL,)), executions=(execution,)))
    assert asked.tool_calls == (CALL,)
    assert (answer.role, answer.name, answer.tool_call_id, answer.content) == ("tool", "echo", "call-1", expected)
    assert answer.metadata == ({"is_error": True} if is_error else {})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@settings(max_examples=50)
@given(JSON)
def test_a_result_that_json_can_write_can_be_read_from_its_text(value):
    text = as_text(value)
    if isinstance(value, str):
        assert text == value
    elif value is None:
        assert text == ""
    else:
        assert json.loads(text) == value


class Odd:
    def __repr__(self) -> str:
        return "odd"


@pytest.mark.parametrize(
    ("value", "text"), [(date(2026, 1, 2), '"2026-01-02"'), (Odd(), '"odd"'), ([Odd()], '["odd"]'), ((1, 2), "[1,2]")]
)
def test_what_json_does_not_know_is_written_as_text(value, text):
    assert as_text(value) == text


def test_a_result_that_contains_itself_has_a_text_too():
    loop: list[Any] = [1]
    loop.append(loop)
    assert "1" in as_text(loop)
