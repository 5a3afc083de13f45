"""Shortening a conversation: the last exchange is kept whole, hooks may refuse, and a failure changes nothing."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks import AgentState, HookOutcome, Message, ModelRequest, ModelResponse, ScriptedDriver, ToolCall, Usage
from agent_hooks.errors import RunError
from agent_hooks.model.state import hook_message
from agent_hooks.runtime.compaction import divided, without_prompt
from agent_hooks.runtime.conversations import MemoryConversations
from agent_hooks.runtime.session import SessionRunner
from runtime.agents import Recorder, assert_well_formed
from runtime.sessions import builder, names, only, seen, texts

if TYPE_CHECKING:
    from agent_hooks.runtime.builder import AgentBuilder as Builder

CALL = ToolCall("echo", {"text": "a"}, id="c1")


def user(text: str) -> Message:
    return Message(role="user", content=text)


EXCHANGE = st.builds(
    lambda calls, context: [
        user("prompt"),
        *([hook_message("by the way")] if context else []),
        *([Message(role="assistant", tool_calls=(CALL,) * calls)] if calls else []),
        *[Message(role="tool", name="echo", content="a", tool_call_id="c1")] * calls,
        Message(role="assistant", content="answer"),
    ],
    st.integers(0, 3),
    st.booleans(),
)


@given(st.lists(EXCHANGE, max_size=5), st.booleans())
def test_a_conversation_is_never_divided_within_an_exchange(exchanges: list[list[Message]], has_prompt: bool):
    messages = [message for exchange in exchanges for message in exchange] + [user("next")] * has_prompt
    old, before, after = divided(messages)
    kept = (*before, *after)
    assert [*old, *kept] == messages
    assert_well_formed(old)
    assert_well_formed(kept)
    last = [user("next")] if has_prompt else (exchanges[-1] if exchanges else [])
    assert list(kept) == last or not old


@pytest.mark.parametrize("messages", [[], [user("one")], [user("one"), user("two")], [hook_message("x")] * 3])
def test_where_nothing_can_be_gained_nothing_is_shortened(messages: list[Message]):
    assert divided(messages) == ((), tuple(messages), ())


def test_only_a_prompt_that_nobody_has_worked_on_is_taken_away():
    asked = AgentState(messages=(user("one"), Message(role="assistant", content="1"), user("two"), hook_message("x")))
    assert len(without_prompt(asked).messages) == 2
    answered = asked.with_messages(Message(role="assistant", content="2"))
    assert without_prompt(answered) is answered
    told = AgentState(messages=(hook_message("It is Monday."),))
    assert without_prompt(told) is told


# -- in a session ------------------------------------------------------------------------------------------------------


def opened(made: Builder, prompts: int = 2, **options: Any) -> SessionRunner:
    """A session of so many turns."""
    session = SessionRunner(made.build(), **options)
    session.start_sync()
    for number in range(prompts):
        session.send_sync(f"Prompt {number}.")
    return session


def test_a_summary_takes_the_place_of_all_but_the_last_exchange():
    recorder = Recorder()
    summary = ModelResponse(content=" They said hello. ", usage=Usage(input_tokens=50), model="small")
    driver = ScriptedDriver("One.", CALL, "Two.", summary, "Three.")

    session = opened(builder(recorder=recorder).with_driver(driver), store=MemoryConversations())
    recorder.seen.clear()
    state = session.compact_sync("Keep the names.")
    assert texts(state) == [
        "A summary of our conversation so far:\n\nThey said hello.",
        *["Prompt 1.", "", "echo: a", "Two."],
    ]
    assert state.model_usage["small"] == Usage(input_tokens=50)
    assert_well_formed(session.send_sync("Prompt 2.").messages)
    assert driver.requests[-1].messages[0].content.endswith("They said hello.")
    assert names(recorder)[:6] == [
        *["before_compact", "before_inference", "after_inference", "after_compact"],
        *["before_conversation_save", "after_conversation_save"],
    ]
    before, after = only(recorder, "before_compact"), only(recorder, "after_compact")
    assert (before.trigger, before.message_count, before.payload) == (
        "manual",
        6,
        {"custom_instructions": "Keep the names."},
    )
    assert (after.trigger, after.message_count) == ("manual", 5)


def test_what_is_summarised_reaches_the_model_as_data_with_what_matters():
    driver = ScriptedDriver("One.", "Two.", "Short.")
    made = builder().with_driver(driver).hook("before_compact", lambda ctx: HookOutcome.with_context("Keep dates."))

    opened(made).compact_sync("Keep names.")
    request = driver.requests[-1]
    (message,) = request.messages
    assert json.loads(message.content) == {
        "conversation": [said.as_dict() for said in driver.requests[1].messages[:2]],
        "instructions": "Keep names.\n\nKeep dates.",
    }
    assert "not for you" in request.system_prompt
    assert request.tools == ()


def test_a_hook_may_refuse_it_and_the_conversation_stays(caplog: pytest.LogCaptureFixture):
    recorder = Recorder()
    made = builder("One.", "Two.", recorder=recorder).hook("before_compact", lambda ctx: ("deny", "Keep it all."))

    assert len(opened(made).compact_sync().messages) == 4
    assert "after_compact" not in names(recorder)
    told = seen(recorder, "notification")[-1]
    assert (told.notification_type, told.message) == ("conversation_not_compacted", "Keep it all.")


def test_a_long_conversation_is_shortened_before_the_next_turn():
    recorder = Recorder()
    summary = ModelResponse(content="Short.", usage=Usage(input_tokens=7), model="small")
    state = opened(builder("One.", "Two.", summary, "Three.", recorder=recorder), 3, compact_at=4).state
    assert texts(state)[1:] == ["Prompt 1.", "Two.", "Prompt 2.", "Three."]
    assert only(recorder, "before_compact").trigger == "auto"
    assert state.model_usage["small"] == Usage(input_tokens=7), "what it has cost is on record in the turn"


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (OSError("no network"), "OSError: no network"),
        *((reply, "RunError: The summary is empty") for reply in ("", "  ", CALL)),
        (ModelResponse(content="Half a", finish_reason="length"), "RunError: The summary was cut off (length)"),
    ],
)
def test_without_a_summary_the_conversation_stays_and_the_turn_goes_on(
    reply: Any, why: str, caplog: pytest.LogCaptureFixture
):
    recorder = Recorder()

    session: Any = opened(builder("One.", "Two.", reply, reply, "Three.", recorder=recorder), compact_at=4)
    with pytest.raises((OSError, RunError)):
        session.compact_sync()
    assert len(session.state.messages) == 4
    assert session.send_sync("Prompt 2.").output == "Three."
    assert len(session.state.messages) == 6
    told = seen(recorder, "notification")[-2]
    assert told.notification_type == "conversation_not_compacted"
    assert told.message.startswith(f"It cannot be shortened: {why}")
    assert f"conversation_not_compacted: {why.partition(':')[0]}" in caplog.text
    assert "no network" not in caplog.text


class Summarising(ScriptedDriver):
    """Plays its replies, but answers each request for a summary with ``summary``; an exception is raised."""

    def __init__(self, summary: Any, *replies: Any) -> None:
        super().__init__(*replies)
        self.summary = summary
        self.summaries: list[ModelRequest] = []

    async def respond(self, request: ModelRequest) -> ModelResponse:
        if "summary" not in request.system_prompt:
            return await super().respond(request)
        self.summaries.append(request)
        if isinstance(self.summary, Exception):
            raise self.summary
        return ModelResponse.of(self.summary)


def test_a_summary_that_failed_is_not_paid_for_again_until_the_conversation_has_grown_by_half():
    driver = Summarising(OSError("no network"), *[f"{number}." for number in range(13)])

    assert len(opened(builder().with_driver(driver), 13, compact_at=4).state.messages) == 26
    tried = [len(json.loads(request.messages[0].content)["conversation"]) + 2 for request in driver.summaries]
    assert tried == [4, 6, 10, 16, 24]


# -- counted in tokens -------------------------------------------------------------------------------------------------


def size(request: ModelRequest) -> int:
    return sum(len(str(message.content)) for message in request.messages) // 4


def test_a_conversation_is_shortened_by_the_tokens_that_the_model_reports():
    counted = [ModelResponse(content=f"{n}.", usage=Usage(input_tokens=n * 100)) for n in (1, 9, 1)]
    driver = Summarising("Short.", *counted)
    opened(builder().with_driver(driver), 3, compact_at_tokens=900)
    assert len(driver.summaries) == 0, "what would be gained is not worth it"
    driver = Summarising("Short.", "x" * 2_000, *counted)
    opened(builder().with_driver(driver), 4, compact_at_tokens=900)
    assert len(driver.summaries) == 1


def test_a_conversation_whose_tokens_nobody_reports_is_estimated():
    driver = Summarising("Short.", "x" * 2_000, "\u4e16\u754c" * 400, "2.")
    opened(builder().with_driver(driver), 3, compact_at_tokens=1_000)
    assert len(driver.summaries) == 1


@pytest.mark.parametrize("limit", [{"compact_at_tokens": 3_000}, {"compact_at": 8}])
def test_one_long_turn_fits_because_it_is_shortened_before_a_step(limit: dict[str, int]):
    recorder = Recorder()
    steps = [ToolCall("look", {"at": number}) for number in range(20)]
    driver = Summarising("Looked at some pages.", "Hello.", *steps, "Done.")

    def look(at: int) -> str:
        return f"page {at} " + "x" * 2_000

    state = opened(builder(recorder=recorder).with_driver(driver).with_tools(look), **limit).state
    assert (state.output, state.step_count) == ("Done.", 21)
    assert max(map(size, driver.requests)) < 4_000
    assert 1 <= len(driver.summaries) <= 10
    for request in driver.requests[1:]:
        assert_well_formed(request.messages)
        assert [m.content for m in request.messages if m.role == "user" and not m.metadata][-1] == "Prompt 1."
    assert "Looked at some pages." in str(driver.requests[-1].messages)
    assert {ctx.trigger for ctx in seen(recorder, "before_compact")} == {"auto"}


@given(st.lists(EXCHANGE, max_size=3), st.integers(0, 5), st.booleans())
def test_a_turn_is_never_divided_between_a_call_and_its_result(
    exchanges: list[list[Message]], steps: int, is_shortened: bool
):
    summary = [Message(role="user", content="before", metadata={"source": "compaction"})] * is_shortened
    step = [Message(role="assistant", tool_calls=(CALL,)), Message(role="tool", name="echo", tool_call_id="c1")]
    messages = [message for exchange in exchanges for message in exchange] + [user("next"), *summary, *step * steps]
    old, prompt, last = divided(messages, in_turn=True)
    for part in (old, prompt, last):
        assert_well_formed(part)
    assert sorted(map(str, (*old, *prompt, *last))) == sorted(map(str, messages))
    assert not old or (prompt, list(last)) == ((user("next"),), step)


@pytest.mark.parametrize("is_async", [False, True])
def test_an_application_may_write_the_summary_itself(is_async: bool):
    given: list[Any] = []

    def short(messages: tuple[Message, ...], instructions: str) -> str:
        given.append((len(messages), instructions))
        return "By hand."

    async def slowly(messages: tuple[Message, ...], instructions: str) -> str:
        await asyncio.sleep(0)
        return short(messages, instructions)

    state = opened(builder("One.", "Two."), compactor=slowly if is_async else short).compact_sync("Keep names.")
    assert state.messages[0].content.endswith("By hand.")
    assert given == [(2, "Keep names.")]


def test_a_hook_may_keep_the_request_for_a_summary_from_being_sent():
    def no_summaries(ctx: Any) -> Any:
        return ("deny", "No.") if "summary" in ctx.request.system_prompt else None

    session = opened(builder("One.", "Two.").hook("before_inference", no_summaries))
    with pytest.raises(RunError, match="refused: No"):
        session.compact_sync()
    assert len(session.state.messages) == 4
