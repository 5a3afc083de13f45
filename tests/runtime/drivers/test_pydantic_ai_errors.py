"""The driver for real models where something fails, is cancelled, or is told in pieces."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any

import pytest
from pydantic_ai.messages import ModelResponse as Answer
from pydantic_ai.messages import TextPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import FunctionModel

from agent_hooks import HookOutcome
from agent_hooks.errors import DriverError
from agent_hooks.model.inference import ModelRequest
from agent_hooks.model.state import Usage
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.drivers.pydantic_ai import PydanticAIDriver
from runtime.drivers.chat_server import closed_url, completion, fails, sends, streams, waits
from runtime.drivers.test_pydantic_ai import KEY, QUESTION, READ, Played, builder, chat_model, respond, run

if TYPE_CHECKING:
    from agent_hooks import AgentState


def retrying(error: Exception) -> HookOutcome | None:
    """A hook that waits as long as the provider asks, here in hundredths, and has it tried again."""
    wait = getattr(error.__cause__, "retry_after", None)
    assert wait is None or wait == 7
    return HookOutcome.retry()


# -- errors of a provider ----------------------------------------------------------------------------------------------


def test_a_refusal_is_told_to_hooks_which_have_the_request_made_again(server):
    server.answers = [fails(429, "Slow down.", "rate_limit_exceeded", retry_after="7"), completion("At last.")]
    state = builder(chat_model(server)).hook("on_error", retrying).build().run_sync("Hello?")
    assert (state.status, state.output, len(server.requests)) == ("completed", "At last.", 2)


def test_without_such_a_hook_a_request_is_made_once_and_the_run_fails(server):
    server.answers = [fails(429, "Slow down.", "rate_limit_exceeded", retry_after="0")]
    state = run(chat_model(server))
    assert (state.status, len(server.requests)) == ("failed", 1)
    (error,) = state.errors
    assert error.type == "DriverError"
    assert error.message == "The model 'gpt-test' gave no answer: HTTP status 429 (rate_limit_exceeded): Slow down."


@pytest.mark.parametrize("options", [{"settings": {"max_retries": 1}}, {}])
def test_the_client_repeats_a_request_itself_where_the_setting_says_so(server, options):
    server.answers = [fails(500, "Boom.", x_should_retry="true", retry_after_ms="1"), completion("Hello.")]
    model = chat_model(server, settings=None if options else {"max_retries": 1})
    assert respond(model, **options).content == "Hello."
    assert len(server.requests) == 2


@pytest.mark.parametrize("status", [401, 403])
def test_the_words_about_a_key_that_is_refused_are_not_repeated(server, status):
    server.answers = [fails(status, f"Wrong key: {KEY}", "invalid_api_key")]
    with pytest.raises(DriverError) as raised:
        respond(chat_model(server))
    assert str(raised.value) == f"The model 'gpt-test' gave no answer: HTTP status {status} (invalid_api_key)"


class StatusError(Exception):
    status_code = 404
    body = "no such page"


@pytest.mark.parametrize(
    ("error", "words"), [(StatusError(), "HTTP status 404"), (KeyError("choices"), "KeyError: 'choices'")]
)
def test_an_error_of_the_client_itself_is_an_error_of_the_run_too(error, words):
    def fail(_messages: Any, _info: Any) -> Answer:
        raise error

    state = run(FunctionModel(fail, model_name="m"))
    assert state.errors[0].message == f"The model 'm' gave no answer: {words}"


def test_long_words_of_a_provider_are_cut(server):
    server.answers = [fails(400, "no " * 1000)]
    with pytest.raises(DriverError) as raised:
        respond(chat_model(server))
    assert len(str(raised.value)) < 400


@pytest.mark.parametrize(
    "answer",
    [
        sends(b'{"id": "x", "choi'),
        sends(b"<html>", Content_Type="text/html"),
        sends(b'{"id": 1}'),
        sends(b"null"),
        completion(choices=[]),
        sends(b""),
    ],
    ids=["cut off", "a page", "another object", "nothing", "no choices", "empty"],
)
def test_an_answer_that_cannot_be_read_is_an_error_of_the_run(server, answer):
    server.answers = [answer, completion("Better.")]
    state = run(chat_model(server))
    assert (state.status, [error.type for error in state.errors]) == ("failed", ["DriverError"])
    assert state.errors[0].message.startswith("The model 'gpt-test' gave no answer: ")


def test_a_server_that_is_not_there_is_an_error_of_the_run(server):
    state = run(chat_model(closed_url()))
    assert [error.type for error in state.errors] == ["DriverError"]
    assert "Connection error" in state.errors[0].message


@pytest.mark.parametrize("setting", ["timeout", "request_timeout"])
def test_a_slow_answer_is_waited_for_as_long_as_the_settings_say(server, setting):
    server.answers = [waits]
    with pytest.raises(DriverError, match="timed out"):
        respond(chat_model(server), settings={setting: 0.2})
    assert server.was_left.wait(30)


@pytest.mark.parametrize("on_text", [None, print])
def test_a_run_that_is_cancelled_closes_the_connection(server, on_text):
    server.answers = [waits]
    agent = builder(chat_model(server), on_text=on_text).build()

    async def cancelled() -> AgentState:
        going = agent.iterate("Hello?")
        task = asyncio.create_task(going.run_to_end())
        assert await asyncio.to_thread(server.is_waiting.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return going.state

    state = asyncio.run(cancelled())
    assert server.was_left.wait(30)
    assert (state.status, state.errors) == ("stopped", ())


def test_when_all_of_several_models_fail_it_is_one_error(server):
    server.answers = [fails(500, "Boom."), fails(503, "Busy.")]
    with pytest.raises(DriverError, match="'fallback:gpt-test,gpt-test' gave no answer: All models"):
        respond(FallbackModel(chat_model(server), chat_model(server)))


def test_an_answer_that_the_model_has_only_paused_is_an_error():
    with pytest.raises(DriverError, match="has paused its answer"):
        respond(Played(Answer([TextPart("wait")], state="suspended")).model)


# -- streaming ---------------------------------------------------------------------------------------------------------


def test_the_text_is_told_in_pieces_as_it_comes(server):
    server.answers = [streams("Let ", "me.", calls=(READ,)), streams("Do", "ne.")]
    pieces: list[str] = []
    state = run(chat_model(server), on_text=pieces.append)
    assert pieces == ["Let ", "me.", "Do", "ne."]
    assert (state.status, state.output, state.usage) == ("completed", "Done.", Usage(input_tokens=40, output_tokens=14))
    assert state.steps[0].executions[0].result == "(the text of a.txt)"
    assert server.requests[0]["stream"] is True


def test_who_is_told_may_be_async_and_what_it_raises_changes_nothing(server, caplog):
    server.answers = [streams("To", "day")]
    pieces = []

    async def told(piece: str) -> None:
        await asyncio.sleep(0)
        pieces.append(piece)
        raise ValueError(piece)

    with caplog.at_level(logging.WARNING, "agent_hooks.runtime"):
        assert respond(chat_model(server), on_text=told).content == "Today"
    assert pieces == ["To", "day"]
    assert "on_text raised ValueError" in caplog.text
    assert "Today" not in caplog.text


def test_a_withheld_answer_was_streamed_already(server):
    server.answers = [streams("The password.")]
    pieces: list[str] = []
    withheld = builder(chat_model(server), on_text=pieces.append).hook(
        "after_inference", lambda ctx: HookOutcome.deny("Not that.")
    )
    assert (withheld.build().run_sync("Hello?").output, pieces) == (None, ["The password."])


@pytest.mark.parametrize("by_agent", [False, True])
def test_what_a_hook_asks_the_same_model_is_no_part_of_what_is_told(server, by_agent):
    server.answers = [completion("Fine."), streams("To", "day")]
    pieces: list[str] = []
    driver = PydanticAIDriver(chat_model(server), on_text=pieces.append)

    async def asks(ctx):
        if by_agent:
            await ctx.runtime.ask_model(ctx.runtime.request(ctx.state), ctx)
        else:
            await driver.respond(ModelRequest(model=driver.model, messages=QUESTION.messages))

    built = AgentBuilder(plugins=()).with_driver(driver).hook("before_execution" if by_agent else "user_input", asks)
    assert (built.build().run_sync("When?").output, pieces) == ("Today", ["To", "day"])


def test_a_stream_that_breaks_off_is_an_error(server):
    server.answers = [sends(b'data: {"id": "x", "choi\n\n', Content_Type="text/event-stream")]
    with pytest.raises(DriverError, match="gave no answer"):
        respond(chat_model(server), on_text=str)
