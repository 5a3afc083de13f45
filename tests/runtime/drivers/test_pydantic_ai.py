"""The driver for real models: agents on pydantic-ai's test models, and on a server that speaks the OpenAI protocol."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
from pydantic_ai.messages import ModelResponse as Answer
from pydantic_ai.messages import TextPart, ToolCallPart
from pydantic_ai.models.fallback import FallbackModel
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.models.wrapper import WrapperModel
from pydantic_ai.providers.openai import OpenAIProvider

from agent_hooks import HookOutcome, tool
from agent_hooks.errors import DriverError
from agent_hooks.model.inference import ModelRequest
from agent_hooks.model.state import Message, Usage
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.drivers.pydantic_ai import PydanticAIDriver
from runtime.drivers.chat_server import completion, response

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import Model
    from pydantic_ai.models.function import AgentInfo

    from agent_hooks import AgentState
    from agent_hooks.model.inference import ModelResponse
    from runtime.drivers.chat_server import ChatServer

KEY = "sk-not-for-your-eyes"
QUESTION = ModelRequest(messages=(Message(role="user", content="Hello?"),))
READ = ("read_file", '{"path": "a.txt"}')


def read_file(path: str) -> str:
    """Return the text of a file."""
    if path.startswith("/"):
        raise PermissionError("not there")
    return f"(the text of {path})"


class Played:
    """A model of pydantic-ai that plays answers; ``asked`` holds the requests, ``model`` is the driver's part."""

    def __init__(self, *answers: Any, **options: Any) -> None:
        self.asked: list[tuple[list[Any], Any]] = []
        self.answers = list(answers)
        self.model = FunctionModel(self.answer, model_name="played", **options)

    def answer(self, messages: list[ModelMessage], info: AgentInfo) -> Answer:
        self.asked.append((messages, info))
        answer = self.answers.pop(0)
        if isinstance(answer, str):
            return Answer([TextPart(answer)])
        return answer if isinstance(answer, Answer) else Answer(answer)


def chat_model(server: ChatServer | str, name: str = "gpt-test", **options: Any) -> OpenAIChatModel:
    url = server if isinstance(server, str) else server.url
    return OpenAIChatModel(name, provider=OpenAIProvider(base_url=url, api_key=KEY), **options)


def builder(model: str | Model, **options: Any) -> AgentBuilder:
    return AgentBuilder(plugins=()).with_driver(PydanticAIDriver(model, **options)).with_tools(read_file)


def run(model: str | Model, prompt: str = "Hello?", **options: Any) -> AgentState:
    return builder(model, **options).build().run_sync(prompt)


def respond(model: str | Model, request: ModelRequest = QUESTION, **options: Any) -> ModelResponse:
    return asyncio.run(PydanticAIDriver(model, **options).respond(request))


# -- which model -------------------------------------------------------------------------------------------------------


def test_the_name_that_hooks_match_has_no_provider(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert PydanticAIDriver("openai:gpt-5").model == "gpt-5"
    assert PydanticAIDriver(Played().model).model == "played"


def test_a_provider_whose_client_is_not_installed_is_an_error_that_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "openai", None)
    for name in [
        name for name in sys.modules if name.startswith(("pydantic_ai.providers.op", "pydantic_ai.models.op"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    with pytest.raises(
        DriverError, match=r"'openai:gpt-5' cannot be asked\. .*pip install \"pydantic-ai-slim\[openai\]"
    ):
        PydanticAIDriver("openai:gpt-5")


def test_without_the_extra_the_error_says_how_to_install_it():
    program = (
        "import sys; sys.modules['pydantic_ai'] = None\n"
        "from agent_hooks import PydanticAIDriver\n"
        "try:\n    PydanticAIDriver('test')\nexcept Exception as error:\n    print(type(error).__name__, error)"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.startswith("DriverError ")
    assert "pip install 'agent-hooks-core[models]'" in said


def test_the_package_the_runtime_and_the_class_itself_do_not_import_pydantic_ai():
    program = (
        "import sys, agent_hooks, agent_hooks.runtime.builder\nfrom agent_hooks import PydanticAIDriver\n"
        "print([name for name in sys.modules if name.split('.')[0] in ('pydantic_ai', 'openai', 'httpx')])"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert said.strip() == "[]"


@pytest.mark.parametrize(
    ("model", "problem"),
    [
        ("openai:gpt-5", r"'openai:gpt-5' cannot be asked\. .*OPENAI_API_KEY"),
        *((name, "cannot be asked") for name in ("gpt-5", "nobody:gpt-5", "")),
        (5, r"A model is a name .*, not 5\."),
    ],
)
def test_what_is_no_model_with_a_provider_and_a_key_is_an_error(model, problem):
    with pytest.raises(DriverError, match=problem):
        PydanticAIDriver(model)


def test_another_model_that_a_hook_names_is_asked_of_the_same_provider(server):
    server.answers = [completion("One."), completion("Two.")]
    small = lambda request: HookOutcome.update(request=request.replace(model="gpt-small"))  # noqa: E731
    agent = builder(chat_model(server)).hook("before_inference", small).build()
    assert [agent.run_sync("Hello?").output, agent.run_sync("And now?").output] == ["One.", "Two."]
    assert [request["model"] for request in server.requests] == ["gpt-small", "gpt-small"]
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    driver: Any = agent.driver
    assert driver._asked("gpt-small") is driver._asked("gpt-small")


def test_a_name_with_its_provider_is_asked_there_and_one_without_of_the_drivers_own(server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    server.answers = [completion(text) for text in ("One.", "Two.", "Three.", "Four.")]
    assert respond("openai-chat:gpt-a").content == "One."
    assert respond("openai-chat:gpt-a", QUESTION.replace(model="gpt-b")).content == "Two."
    assert respond(Played().model, QUESTION.replace(model="openai-chat:gpt-c")).content == "Three."
    assert respond(chat_model(server), QUESTION.replace(model="llama:8b")).content == "Four.", "a colon is no provider"
    assert [request["model"] for request in server.requests] == ["gpt-a", "gpt-b", "gpt-c", "llama:8b"]


def test_a_model_that_cannot_be_another_says_so():
    with pytest.raises(
        DriverError, match=r"'gpt-5' cannot be asked through a FunctionModel: name it with its provider"
    ):
        respond(Played("no").model, QUESTION.replace(model="gpt-5"))


# -- a run -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [TestModel(), "test"], ids=["model", "name"])
def test_pydantic_ais_test_model_calls_the_tools_and_answers(model):
    state = run(model)
    assert (state.status, state.steps[0].executions[0].result) == ("completed", "(the text of a)")
    assert state.output == '{"read_file":"(the text of a)"}'
    assert state.usage.total > 0
    assert [step.model for step in state.steps] == ["test", "test"]


def test_a_run_over_http_sends_the_conversation_and_the_tools(server):
    server.answers = [completion("Let me see.", READ), completion("It is short.")]
    state = run(chat_model(server), "How long is a.txt?")
    assert (state.status, state.output, state.steps[0].finish_reason) == ("completed", "It is short.", "tool_calls")
    assert [(message["role"], message["content"]) for message in server.requests[1]["messages"]] == [
        ("user", "How long is a.txt?"),
        ("assistant", "Let me see."),
        ("tool", "(the text of a.txt)"),
    ]
    assert server.requests[1]["messages"][1]["tool_calls"][0]["id"] == "call-0"
    assert server.requests[1]["messages"][2]["tool_call_id"] == "call-0"
    assert not server.requests[0].get("stream"), "nobody is told of pieces"
    (tool,) = server.requests[0]["tools"]
    assert tool["function"]["description"] == "Return the text of a file."
    assert tool["function"]["parameters"]["properties"] == {"path": {"type": "string"}}


def test_usage_and_the_model_that_answered_are_on_record(server):
    server.answers = [completion("Hello.")]
    state = run(chat_model(server))
    used = Usage(input_tokens=20, output_tokens=7, cached_tokens=4, reasoning_tokens=3)
    assert (state.usage, state.model_usage) == (used, {"gpt-test-2026": used})
    assert state.steps[0].model == "gpt-test-2026"


def test_broken_arguments_of_a_call_reach_the_tool_which_refuses_them(server):
    server.answers = [completion(None, ("read_file", '{"path": a.txt')), completion("Sorry.")]
    state = run(chat_model(server))
    assert state.steps[0].executions[0].call.args == {"arguments": '{"path": a.txt'}
    assert "Missing required parameters: path" in server.requests[1]["messages"][-1]["content"]


@pytest.mark.parametrize("name", ["mcp.files:read/text", "7zip", "final_result", "x" * 200])
def test_a_tool_whose_name_providers_refuse_is_sent_under_another_and_called_by_its_own(server, name):
    def play(handler: Any) -> None:
        (sent,) = [offered["function"]["name"] for offered in server.requests[-1]["tools"]]
        handler.send(200, json.dumps(completion(None, (sent, "{}"))).encode())

    called = []

    @tool(name=name)
    def find() -> str:
        called.append(name)
        return "found"

    server.answers = [play, completion("Done.")]
    agent = AgentBuilder(plugins=()).with_driver(PydanticAIDriver(chat_model(server))).with_tools(find).build()
    state = agent.run_sync("Go.")
    assert (state.output, called) == ("Done.", [name])
    assert state.steps[0].executions[0].name == name
    offered = server.requests[1]["tools"][0]["function"]["name"]
    assert re.fullmatch(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}", offered)
    assert server.requests[1]["messages"][1]["tool_calls"][0]["function"]["name"] == offered


def test_two_tools_that_a_model_could_not_tell_apart_are_an_error(monkeypatch):
    monkeypatch.setattr("agent_hooks.runtime.drivers.pydantic_ai_messages.sent_name", lambda name: "same")
    tools = tuple({"name": name, "description": "", "parameters": {"type": "object"}} for name in ("a.b", "a:b"))
    with pytest.raises(DriverError, match="'a:b' needs another name"):
        respond(Played("Hi.").model, QUESTION.replace(tools=tools))


def test_an_answer_of_no_use_is_counted_for_the_run_that_its_hook_belongs_to(server):
    async def judge(prompt: str) -> None:
        request = ModelRequest(messages=QUESTION.messages, response_format={"type": "object"})
        with pytest.raises(DriverError, match="not the JSON object"):
            await PydanticAIDriver(chat_model(server)).respond(request)

    server.answers = [completion("Fine by me.")]
    agent = AgentBuilder(plugins=()).with_driver(PydanticAIDriver(Played("Done.").model)).hook("user_input", judge)
    used = agent.build().run_sync("Go.").model_usage["gpt-test-2026"]
    assert (used.input_tokens, used.output_tokens) == (20, 7)


def test_a_failed_call_goes_back_as_a_failure():
    played = Played([ToolCallPart("read_file", {"path": "/etc"}, "c1")], "I see.")
    run(played.model)
    (result,) = played.asked[1][0][-1].parts
    assert (result.outcome, result.content, result.tool_call_id) == ("failed", "Error: not there", "c1")


def test_runs_one_after_the_other_and_at_the_same_time_can_use_one_driver(server):
    server.answers = [completion("Yes.")] * 10
    agent = builder(chat_model(server)).build()

    async def all_at_once() -> list[AgentState]:
        return await asyncio.gather(*(agent.run("Hello?") for _ in range(8)))

    states = [agent.run_sync("Hello?"), agent.run_sync("Hello?"), *asyncio.run(all_at_once())]
    assert [state.output for state in states] == ["Yes."] * 10


@pytest.mark.parametrize(("is_open", "connections"), [(True, 1), (False, 3)])
def test_an_open_driver_keeps_its_connection(server, is_open, connections):
    server.answers = [completion(None, READ), completion(None, READ), completion("Done.")]

    async def whole() -> AgentState:
        driver = PydanticAIDriver(chat_model(server))
        agent = AgentBuilder(plugins=()).with_driver(driver).with_tools(read_file).build()
        if not is_open:
            return await agent.run("Hello?")
        async with driver as opened:
            assert opened is driver
            return await agent.run("Hello?")

    assert asyncio.run(whole()).output == "Done."
    assert len(server.connections) == connections


def test_what_a_thinking_model_thought_goes_back_over_the_responses_api(server, monkeypatch):
    """``openai:`` means this API; the reasoning that led to a call has to come back with its result."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", server.url)
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "sealed"}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": READ[0], "arguments": READ[1]}
    text = {"type": "output_text", "text": "It is short.", "annotations": []}
    said = {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [text]}
    server.answers = [response(thought, call), response(thought, said)]
    state = run("openai:gpt-5", "How long is a.txt?")
    assert (state.status, state.output, state.usage.reasoning_tokens) == ("completed", "It is short.", 4)
    sent = {item.get("type", item.get("role")): item for item in server.requests[1]["input"]}
    assert (sent["reasoning"]["id"], sent["reasoning"]["encrypted_content"]) == ("rs_1", "sealed")
    assert (sent["function_call"]["id"], sent["function_call"]["call_id"]) == ("fc_1", "c1")
    assert sent["function_call_output"]["output"] == "(the text of a.txt)"


# -- hooks -------------------------------------------------------------------------------------------------------------


def test_before_inference_changes_messages_system_prompt_tools_and_settings():
    played = Played("Hello.")
    messages = (Message(role="user", content="What time is it?"),)
    changes: Any = {"system_prompt": "Be brief.", "messages": messages, "tools": (), "settings": {"temperature": 0.5}}
    changed = lambda request: HookOutcome.update(request=request.replace(**changes))  # noqa: E731
    builder(played.model).hook("before_inference", changed).build().run_sync("Hello?")
    ((asked,), info) = played.asked[0]
    assert [(part.part_kind, part.content) for part in asked.parts] == [
        ("system-prompt", "Be brief."),
        ("user-prompt", "What time is it?"),
    ]
    assert (info.function_tools, info.model_settings["temperature"]) == ([], 0.5)


# -- settings ----------------------------------------------------------------------------------------------------------


def test_the_settings_of_a_request_win_over_the_drivers_and_those_over_the_models(server):
    server.answers = [completion("Hello.")]
    model = chat_model(server, settings={"temperature": 0.1, "top_p": 0.1, "seed": 1})
    request = QUESTION.replace(settings={"seed": 3, "extra_body": {"deep": [1]}})
    respond(model, request, settings={"top_p": 0.2, "seed": 2, "openai_user": "me"})
    sent = server.requests[0]
    assert (sent["temperature"], sent["top_p"], sent["seed"], sent["user"], sent["deep"]) == (0.1, 0.2, 3, "me", [1])


@pytest.mark.parametrize("wrapped", [lambda model: model, WrapperModel, lambda model: FallbackModel(model, model)])
def test_a_setting_that_no_model_has_is_an_error_that_names_it(server, wrapped):
    server.answers = [completion("Hello.")]
    model = wrapped(chat_model(server))
    with pytest.raises(DriverError, match=r"no setting 'openai_usr', 'temprature' of a model"):
        respond(model, settings={"temprature": 1, "openai_usr": "me", "openai_user": "me"})
    assert respond(model, settings={"openai_user": "me"}).content == "Hello."


# -- usage of pydantic-ai's own models ---------------------------------------------------------------------------------


def test_a_call_without_arguments_has_none():
    played = Played([ToolCallPart("now", None, "c1"), ToolCallPart("now", "", "c2")])
    assert respond(played.model).tool_calls == (ToolCall("now", {}, id="c1"), ToolCall("now", {}, id="c2"))
