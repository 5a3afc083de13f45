"""Conversion of conversations to pydantic-ai's messages, and of its answers to responses."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic_ai.messages import BinaryContent, ImageUrl, ModelRequest, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.messages import ModelResponse as Answer
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.profiles import ModelProfile

from agent_hooks import HookOutcome
from agent_hooks.errors import DriverError
from agent_hooks.model import inference
from agent_hooks.model.state import AgentState, Message
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.drivers.pydantic_ai import PydanticAIDriver
from agent_hooks.runtime.drivers.pydantic_ai_messages import OUTPUT_TOOL, conversation, response_of
from tables import tables

if TYPE_CHECKING:
    from pydantic_ai.models import Model

TABLES = tables(__file__)

SCHEMA = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
THOUGHT = ThinkingPart("Hm.", signature="sig", id="t1", provider_name="anthropic", provider_details={"a": [1]})


def user(content: Any) -> Message:
    return Message(role="user", content=content)


def told(*messages: Message, system_prompt: str = "") -> list[Any]:
    """What a model is sent."""
    return conversation(inference.ModelRequest(system_prompt=system_prompt, messages=messages))


def shape(messages: list[Any]) -> list[tuple[str, ...]]:
    return [(message.kind, *(part.part_kind for part in message.parts)) for message in messages]


def read(*parts: Any, **fields: Any) -> inference.ModelResponse:
    """What the runtime reads from an answer to a question without a schema."""
    return response_of(Answer(parts, **fields), ModelRequestParameters())


def back(response: inference.ModelResponse, **changes: Any) -> Any:
    """The answer as it goes back with the next request, after the state was written to JSON and read again."""
    fields = {"content": response.content or "", "tool_calls": response.tool_calls, "metadata": response.metadata}
    message = Message(role="assistant", **{**fields, **changes})
    sent, *_ = told(Message.from_dict(json.loads(json.dumps(message.as_dict()))))
    return sent


# -- a conversation ----------------------------------------------------------------------------------------------------


def test_a_conversation_is_sent_in_its_order_with_what_belongs_together_in_one_message():
    calls = (ToolCall("a", {"x": 1}, id="c1"), ToolCall("b", id="c2"))
    messages = told(
        user("Hello."),
        Message(role="assistant", content="One moment.", tool_calls=calls),
        Message(role="tool", content="1", name="a", tool_call_id="c1"),
        Message(role="tool", content="2", name="b", tool_call_id="c2"),
        user("(a hook says)"),
        Message(role="assistant", content="Done."),
        Message(role="system", content="Be brief now."),
        user("Thanks."),
        system_prompt="Be kind.",
    )
    assert shape(messages) == [
        ("request", "system-prompt", "user-prompt"),
        ("response", "text", "tool-call", "tool-call"),
        ("request", "tool-return", "tool-return", "user-prompt"),
        ("response", "text"),
        ("request", "system-prompt", "user-prompt"),
    ]
    assert [(part.tool_name, part.args, part.tool_call_id) for part in messages[1].parts[1:]] == [
        ("a", {"x": 1}, "c1"),
        ("b", {}, "c2"),
    ]


def test_an_answer_that_says_nothing_is_left_out_and_a_system_prompt_alone_is_sent():
    messages = (user("Hello."), Message(role="assistant", content=""), user("Still there?"))
    assert shape(told(*messages)) == [("request", "user-prompt", "user-prompt")]
    assert shape(told(system_prompt="Begin.")) == [("request", "system-prompt")]


@pytest.mark.parametrize(("content", "sent"), [({"a": 1}, '{"a":1}'), (None, ""), (3, "3"), (["a", 1], '["a",1]')])
def test_content_that_is_no_text_is_sent_as_json(content, sent):
    (request,) = told(user(content))
    assert request.parts[0].content == sent


def test_pictures_and_documents_are_sent_as_they_are():
    content = ["What?", ImageUrl("https://example.com/cat.png"), BinaryContent(b"%PDF", media_type="application/pdf")]
    (request,) = told(user(content))
    assert request.parts[0].content == content


def test_a_call_without_a_result_is_answered_that_nothing_is_known_of_it():
    messages = told(user("Go."), Message(role="assistant", tool_calls=(ToolCall("a", id="c1"),)), user("And?"))
    result, prompt = messages[2].parts
    assert (result.tool_name, result.tool_call_id, result.outcome) == ("a", "c1", "failed")
    assert "what it did is not known" in result.content
    assert prompt.content == "And?"


def test_calls_without_ids_are_told_apart_and_keep_their_results():
    _, answer, results = told(
        user("Go."),
        Message(role="assistant", tool_calls=(ToolCall("a"), ToolCall("b"))),
        Message(role="tool", content="1"),
        Message(role="tool", content="2"),
    )
    ids = [part.tool_call_id for part in answer.parts]
    assert len(set(ids)) == 2
    assert [(part.tool_name, part.tool_call_id, part.content) for part in results.parts] == [
        ("a", ids[0], "1"),
        ("b", ids[1], "2"),
    ]


@pytest.mark.parametrize(
    "before",
    [
        (),
        (user("Go."),),
        (Message(role="assistant", content="Done."),),
        (Message(role="assistant", tool_calls=(ToolCall("a", id="c2"),)),),
    ],
)
def test_a_result_without_its_call_is_an_error_that_says_what_to_do(before):
    with pytest.raises(DriverError, match=r"'c1' stands in the conversation without that call.*takes out both"):
        told(*before, Message(role="tool", content="1", name="a", tool_call_id="c1"))


def test_half_a_character_is_replaced_wherever_it_stands():
    messages = told(
        user("a\ud800"),
        user(["b\udc00", ImageUrl("https://example.com/cat.png")]),
        Message(role="assistant", content="c\ud800", tool_calls=(ToolCall("t", {"x\ud800": ["d\ud800", 1]}, id="1"),)),
        Message(role="tool", content="e\ud83d\ude00", tool_call_id="1"),
        system_prompt="f\ud800",
    )
    system, first, second = messages[0].parts
    assert (system.content, first.content, second.content[0]) == ("f\ufffd", "a\ufffd", "b\ufffd")
    assert (messages[1].parts[0].content, messages[1].parts[1].args) == ("c\ufffd", {"x\ufffd": ["d\ufffd", 1]})
    assert messages[2].parts[0].content == "e😀"


def test_a_message_in_no_role_is_an_error():
    with pytest.raises(DriverError, match="not 'narrator'"):
        told(Message(role="narrator", content="Once upon a time"))


# -- sent back ---------------------------------------------------------------------------------------------------------


def test_the_provider_of_thoughts_goes_back_with_them():
    origin = {"provider_name": "anthropic", "provider_url": "https://api.anthropic.com", "model_name": "m"}
    sent = back(read(THOUGHT, ToolCallPart("a", {"x": 1}, "c1"), **origin))
    assert {name: getattr(sent, name) for name in origin} == origin


def test_nothing_is_kept_of_a_last_answer_and_of_one_without_thoughts():
    assert read(THOUGHT, TextPart("Done.")).metadata == {}
    assert read(TextPart("See."), ToolCallPart("a", {}, "c1"), provider_name="openai").metadata == {}


def test_what_hooks_have_changed_goes_back_changed_and_the_old_words_are_gone():
    response = read(
        THOUGHT,
        TextPart("The key is 123.", id="m1", provider_name="openai"),
        ToolCallPart("a", {"key": 123}, "c1", id="f1", provider_name="openai"),
        ToolCallPart("b", {"key": 123}, "c2", id="f2", provider_name="openai"),
    )
    calls = (ToolCall("a", {"key": 0}, id="c1"), ToolCall("new", {"key": 0}, id="c3"))
    sent = back(response, content="The key is ***.", tool_calls=calls)
    assert sent.parts == [
        THOUGHT,
        TextPart("The key is ***."),
        ToolCallPart("a", {"key": 0}, "c1"),
        ToolCallPart("new", {"key": 0}, "c3"),
    ]
    assert "123" not in json.dumps(response.metadata)


A = ToolCallPart("a", {}, "c1")


@pytest.mark.parametrize(
    ("parts", "changes", "text"),
    [
        ([THOUGHT, A], {"content": "Wait."}, "Wait."),
        ([THOUGHT, TextPart("A", id="1", provider_name="x"), TextPart("B"), A], {}, "AB"),
    ],
)
def test_text_goes_back_as_one_before_the_calls_also_what_hooks_have_added(parts, changes, text):
    assert back(read(*parts), **changes).parts == [THOUGHT, TextPart(text), A]


@pytest.mark.parametrize(
    "kept",
    ["x", {}, {"parts": 3}, {"parts": [{}]}, {"parts": [{"part_kind": "thought"}]}, {"parts": [{"part_kind": "text"}]}],
)
def test_metadata_that_is_not_the_drivers_own_is_an_error_that_says_so(kept):
    with pytest.raises(
        DriverError, match=r"metadata\['pydantic_ai'\] of a message of the model is not what this driver"
    ):
        told(Message(role="assistant", content="a", metadata={"pydantic_ai": kept}))


extras = st.fixed_dictionaries(
    {"id": st.none() | st.text(), "provider_details": st.none() | st.dictionaries(st.text(), st.integers() | st.text())}
).map(lambda given: {**given, "provider_name": "openai"})
words = st.text(min_size=1)
arguments = st.dictionaries(
    st.text(), st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False)
)
thoughts = st.builds(lambda content, more: ThinkingPart(content, **more), words, extras)
texts = st.builds(lambda content, more: TextPart(content, **more), words, extras)


@given(
    st.lists(thoughts, min_size=1, max_size=3),
    st.lists(texts, max_size=1),
    st.lists(st.tuples(st.sampled_from(["read", "run_it", "Mcp-2"]), arguments, extras), min_size=1, max_size=3),
)
def test_an_answer_with_calls_goes_back_as_it_came(thinking, text, called):
    calls = [ToolCallPart(name, args, f"c{n}", **more) for n, (name, args, more) in enumerate(called)]
    parts = [*thinking, *text, *calls]
    assert back(read(*parts)).parts == parts


# -- an answer after a schema ------------------------------------------------------------------------------------------


def ask(model: Model, schema: Any = SCHEMA) -> inference.ModelResponse:
    """Ask a model for an answer after a schema."""
    agent = AgentBuilder(plugins=()).with_driver(PydanticAIDriver(model)).build()
    state = agent.run_sync(state=AgentState(response_format=schema).with_messages(user("Well?")))
    if state.errors:
        raise DriverError(state.errors[0].message)
    return inference.ModelResponse(content=state.output, finish_reason=state.steps[-1].finish_reason)


class Judge:
    """A model that can do so much of structured output, and answers so."""

    def __init__(self, *parts: Any, finish_reason: Any = "stop", **profile: bool) -> None:
        self.answer = Answer(parts, finish_reason=finish_reason)
        self.modes: list[str] = []
        self.output_tools: list[str] = []
        self.instructions = ""
        self.model = FunctionModel(self.play, profile=ModelProfile(**profile))  # type: ignore[typeddict-item]

    def play(self, _messages: list[Any], info: Any) -> Answer:
        self.modes.append(info.model_request_parameters.output_mode)
        self.output_tools = [tool.name for tool in info.output_tools]
        self.instructions = info.instructions or ""
        return self.answer


def test_a_model_with_structured_output_of_its_own_is_held_to_the_schema_by_it():
    judge = Judge(TextPart('{"ok": true}'), supports_json_schema_output=True)
    assert ask(judge.model).content == {"ok": True}
    assert judge.modes == ["native"]


def test_a_model_that_has_only_tools_answers_by_calling_one():
    judge = Judge(ToolCallPart(OUTPUT_TOOL, '{"ok": false}', "c1"), finish_reason="tool_call")
    response = ask(judge.model)
    assert (response.content, response.finish_reason) == ({"ok": False}, "stop")
    assert (judge.modes, judge.output_tools) == (["tool"], [OUTPUT_TOOL])


@pytest.mark.parametrize("text", ['{"ok": true}', '```json\n{"ok": true}\n```', '\n```\n{"ok": true}\n```\n'])
def test_a_model_that_has_neither_is_told_in_words(text):
    judge = Judge(TextPart(text), supports_tools=False)
    assert ask(judge.model).content == {"ok": True}
    assert judge.modes == ["prompted"]
    assert '"ok"' in judge.instructions


def test_several_models_in_one_choose_for_themselves_and_the_test_model_answers_too():
    judge = Judge(ToolCallPart(OUTPUT_TOOL, {"ok": True}, "c1"), supports_tools=True)
    assert ask(FallbackModel(judge.model, judge.model)).content == {"ok": True}
    assert judge.modes == ["tool"]
    assert ask(TestModel()).content == {"ok": False}


ANSWERS = TABLES["answers"]


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        *(([TextPart(text)], "is not the JSON object that was asked for") for text in ("", *ANSWERS)),
        ([ToolCallPart(OUTPUT_TOOL, '{"ok": tr', "c1")], "is not the JSON object that was asked for"),
        ([ToolCallPart(OUTPUT_TOOL, {"ok": ok}) for ok in (True, False)], "several answers"),
    ],
)
def test_an_answer_that_is_not_one_json_object_is_an_error(parts, problem):
    has_schema = isinstance(parts[0], TextPart)
    with pytest.raises(DriverError, match=problem):
        ask(Judge(*parts, supports_json_schema_output=has_schema, supports_tools=True).model)


@pytest.mark.parametrize("reason", ["length", "content_filter", "error"])
def test_an_answer_that_was_cut_off_is_left_as_it_is(reason):
    judge = Judge(TextPart('{"ok": tr'), finish_reason=reason, supports_json_schema_output=True)
    response = ask(judge.model)
    assert (response.content, response.finish_reason) == ('{"ok": tr', reason)


@pytest.mark.parametrize("schema", ["json", {}, {"type": "array"}, True])
def test_a_response_format_that_is_no_schema_of_an_object_is_an_error(schema):
    with pytest.raises(DriverError, match="A response_format is a JSON Schema"):
        ask(Judge().model, schema)


def test_calls_of_tools_come_before_the_answer():
    parameters = ModelRequestParameters(output_mode="tool", output_tools=[], allow_text_output=False)
    response = response_of(Answer([TextPart("no JSON"), ToolCallPart("a", {}, "c1")]), parameters)
    assert (response.content, response.tool_calls) == ("no JSON", (ToolCall("a", id="c1"),))


def test_an_answer_beside_calls_is_dropped_and_asked_for_again():
    asked: list[Any] = []

    def answer(messages: list[Any], _info: Any) -> Answer:
        asked.append(messages)
        verdict = ToolCallPart(OUTPUT_TOOL, {"ok": True}, f"v{len(asked)}")
        return Answer([THOUGHT, ToolCallPart("look", {}, "c1"), verdict] if len(asked) == 1 else [verdict])

    def look() -> str:
        """Look."""
        return "dark"

    model = FunctionModel(answer, profile=ModelProfile())
    builder = AgentBuilder(plugins=()).with_tools(look).with_driver(PydanticAIDriver(model))
    denied = builder.before_tool_use(lambda ctx: HookOutcome.deny("Too dark."), match="look").build()
    state = denied.run_sync(state=AgentState(response_format=SCHEMA).with_messages(user("Well?")))
    assert (state.output, [execution.name for execution in state.steps[0].executions]) == ({"ok": True}, ["look"])
    assert [part.part_kind for part in asked[1][1].parts] == ["thinking", "tool-call"]
    assert isinstance(asked[1][2], ModelRequest)
