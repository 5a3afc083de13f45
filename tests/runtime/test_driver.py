"""Drivers: requests to a model, its responses, and the scripted driver."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_hooks.errors import DriverError, ReadOnlyError, RunError
from agent_hooks.model.inference import ModelRequest, ModelResponse
from agent_hooks.model.state import Message
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.agent import AgentRuntime
from agent_hooks.runtime.driver import ScriptedDriver

CALL = ToolCall("echo", {"text": "a"})
REQUEST = ModelRequest(model="scripted", messages=(Message(role="user", content="go"),))


def ask(driver: ScriptedDriver, request: ModelRequest = REQUEST) -> ModelResponse:
    return asyncio.run(driver.respond(request))


def test_a_script_is_played_in_order_and_its_requests_are_kept():
    """Text, calls and responses are replies as `ModelResponse.of` takes them."""
    driver = ScriptedDriver("one", lambda request: f"two of {request.model}", [CALL])
    assert [ask(driver).content, ask(driver, ModelRequest(model="other")).content] == ["one", "two of other"]
    assert ask(driver) == ModelResponse(tool_calls=(CALL,), finish_reason="tool_calls")
    assert driver.requests == [REQUEST, ModelRequest(model="other"), REQUEST]
    with pytest.raises(DriverError, match="The script has 3 replies"):
        ask(driver)
    assert [driver.model, ScriptedDriver(model="claude-opus-4").model] == ["scripted", "claude-opus-4"]


def test_an_exception_in_the_script_is_raised_as_it_is():
    error = ConnectionError("no answer")
    driver = ScriptedDriver(error, lambda _: error, "done")
    for _ in range(2):
        with pytest.raises(ConnectionError) as caught:
            ask(driver)
        assert caught.value is error
    assert ask(driver).content == "done"


def test_requests_and_responses_are_immutable():
    for value in (REQUEST, ModelResponse(content="done")):
        with pytest.raises(ReadOnlyError):
            value.model = "other"  # type: ignore[misc]


class Driver:
    """The least that is a driver."""

    model = "mine"

    async def respond(self, request: ModelRequest) -> ModelResponse:
        return ModelResponse(content=f"hello from {request.model}")


class WithoutModel:
    async def respond(self, request: ModelRequest) -> ModelResponse:
        raise NotImplementedError


class WithoutRespond:
    model = "mine"


class WithOddModel(Driver):
    model = 3  # type: ignore[assignment]


LACKS = r"is not a driver: it needs `model`, a text, and `async def respond"


@pytest.mark.parametrize(
    ("driver", "problem"),
    [
        *((wrong, LACKS) for wrong in (WithoutModel(), WithoutRespond(), WithOddModel(), "gpt", object())),
        (None, r"no driver: give it one with AgentBuilder\(\)\.with_driver"),
    ],
)
def test_what_is_no_driver_is_refused_with_what_it_lacks(driver: Any, problem: str):
    with pytest.raises(RunError, match=problem):
        AgentRuntime(driver)


class PlainDriver:
    model = "plain"

    def __init__(self, reply: Any) -> None:
        self.reply = reply

    def respond(self, request: ModelRequest) -> Any:
        return self.reply


def test_a_driver_may_be_a_plain_function() -> None:
    assert AgentRuntime(PlainDriver("Hello.")).run_sync("Hi").output == "Hello."


@pytest.mark.parametrize(
    ("reply", "problem"),
    [(ModelResponse(content="x", usage={"input_tokens": 3}), "Usage(input_tokens=..., ...)"), (42, "42")],  # type: ignore[arg-type]
)
def test_a_reply_that_is_none_fails_the_run_and_says_why(reply: Any, problem: str) -> None:
    (error,) = AgentRuntime(PlainDriver(reply)).run_sync("Hi").errors
    assert (error.type, problem in error.message) == ("DriverError", True)


def test_what_a_driver_keeps_of_a_response_comes_back_to_it_with_the_message():
    kept = {"mine": {"signature": "s", "parts": [1]}}
    driver = ScriptedDriver(ModelResponse(tool_calls=(CALL,), metadata=kept), "done")
    state = AgentRuntime.default(driver).run_sync("go")
    assert driver.requests[1].messages[1].metadata == kept
    assert ModelResponse.from_dict(ModelResponse(metadata=kept).as_dict()).metadata == kept
    assert [message.metadata.get("mine") for message in state.messages] == [None, kept["mine"], None, None]
