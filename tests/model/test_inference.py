"""Requests to a model and its responses."""

from __future__ import annotations

import pytest

from agent_hooks import ModelRequest, ModelResponse, ToolCall
from agent_hooks.errors import DriverError
from agent_hooks.model.state import Message, Usage

CALL = ToolCall("read_file", {"path": "a"})


def test_text_is_a_response_that_ends_the_turn():
    assert ModelResponse.of("Done.") == ModelResponse(content="Done.", finish_reason="stop")


@pytest.mark.parametrize("reply", [CALL, [CALL], (CALL, CALL)])
def test_calls_are_a_response_that_wants_tools(reply):
    calls = (reply,) if reply is CALL else tuple(reply)
    assert ModelResponse.of(reply) == ModelResponse(tool_calls=calls, finish_reason="tool_calls")


def test_a_response_is_taken_as_it_is():
    response = ModelResponse(content=1, usage=Usage(input_tokens=1))
    assert ModelResponse.of(response) is response
    with pytest.raises(DriverError, match="The usage of a response is a Usage"):
        ModelResponse.of(ModelResponse(usage={"input_tokens": 1}))  # type: ignore[arg-type]


@pytest.mark.parametrize("reply", [None, [], 3, {"content": "x"}, [CALL, "text"]])
def test_anything_else_is_no_reply(reply):
    with pytest.raises(DriverError, match="is not a reply: give text, a ToolCall"):
        ModelResponse.of(reply)


@pytest.mark.parametrize(
    "value",
    [
        ModelRequest(model="m", messages=(Message(role="user", content="hi"),), tools=({"name": "t"},)),
        ModelRequest(settings={"temperature": 0.5}),
        ModelResponse(content="x", tool_calls=(CALL,), usage=Usage(input_tokens=1), metadata={"id": "r"}),
    ],
)
def test_they_are_restored_as_they_were_written(value):
    assert type(value).from_dict(value.as_dict()) == value
