"""Hooks in Microsoft Agent Framework."""

from __future__ import annotations

import asyncio
import copy
from typing import Any

import pytest

pytest.importorskip("agent_framework")
pytestmark = pytest.mark.frameworks

import agent_framework  # noqa: E402
from agent_framework import (  # noqa: E402
    Agent,
    AgentMiddleware,
    AgentResponse,
    AgentSession,
    Content,
    FunctionMiddleware,
    FunctionTool,
    Message,
    MiddlewareTermination,
)
from agent_framework_host import AgentFrameworkHost, Client  # noqa: E402
from conformance import DELETE, LIST, Conformance, Shell, asks_rm, denies_rm, managed, named_as_hosted, on  # noqa: E402
from hosting import Call  # noqa: E402
from same_run import SameRun  # noqa: E402

from agent_hooks import HookOutcome, RegistrationError, protect  # noqa: E402
from agent_hooks_frameworks.agent_framework import AgentHooks  # noqa: E402


class TestAgentFramework(SameRun, Conformance):
    host = AgentFrameworkHost()


def agent(script: Any, *tools: Any, **options: Any) -> Agent:
    return Agent(Client(script=script), name="root", tools=list(tools), **options)


def run(*turns: Any, of: Agent, session: AgentSession | None = None) -> Any:
    async def take() -> Any:
        for turn in turns:
            response = await of.run(turn, session=session)
        return response

    return asyncio.run(take())


def test_a_middleware_object_in_the_constructor_does_the_same():
    shell = Shell()
    hooks = AgentHooks(managed(on("before_tool_use", denies_rm)))
    assert run("Go.", of=agent([Call("shell", DELETE), "done"], shell.tool(), middleware=[hooks])).text == "done"
    assert shell.commands == []


def test_hooks_judge_what_another_middleware_made_of_the_arguments():
    class Other(FunctionMiddleware):
        async def process(self, context: Any, call_next: Any) -> None:
            context.arguments = DELETE
            await call_next()

    shell = Shell()
    hooks = AgentHooks(managed(on("before_tool_use", denies_rm)))
    run("Go.", of=agent([Call("shell", LIST), "done"], shell.tool(), middleware=[hooks, Other()]))
    assert shell.commands == []


def test_an_approval_of_the_framework_does_not_answer_a_question_of_hooks():
    shell, session = Shell(), AgentSession()
    deploy = FunctionTool(name="shell", func=shell.tool(), approval_mode="always_require")
    guarded = agent([Call("shell", DELETE, "one"), "done"], deploy)
    protect(guarded, managed(on("before_tool_use", asks_rm)))

    async def take() -> list[Any]:
        asked, response = [], await guarded.run("Go.", session=session)
        while response.user_input_requests:
            (request,) = response.user_input_requests
            asked.append((request.additional_properties.get("reason"), list(shell.commands)))
            answer = Message(role="user", contents=[request.to_function_approval_response(approved=True)])
            response = await guarded.run([answer], session=session)
        return asked

    asked = asyncio.run(take())
    assert asked[0] == (None, [])
    # Releases before 1.19 do not ask a second time, and make no call.
    assert (asked[1:], shell.commands) in [([("really?", [])], ["rm -rf build"]), ([], [])]


def test_a_question_shows_the_arguments_as_hooks_rewrote_them():
    def rewrite(ctx: Any) -> HookOutcome | None:
        return HookOutcome.with_args({"command": "rm -r build"}) if "-rf" in ctx.tool_args["command"] else None

    guarded = agent([Call("shell", DELETE), "done"], Shell().tool())
    protect(guarded, managed(on("before_tool_use", rewrite), on("before_tool_use", asks_rm)))
    (request,) = run("Go.", of=guarded, session=AgentSession()).user_input_requests
    assert request.function_call.parse_arguments() == {"command": "rm -r build"}


def test_a_result_that_hooks_leave_is_the_tools_own():
    def look() -> list[Content]:
        """Look."""
        return [Content.from_text("seen"), Content.from_uri("https://example.org/a.png", media_type="image/png")]

    seen: list[Any] = []
    guarded = agent([Call("look", {}), "done"], look)
    protect(guarded, managed(on("after_tool_use", lambda ctx: seen.append(ctx.result), mode="observe")))
    response = run("Go.", of=guarded)
    (result,) = [each for message in response.messages for each in message.contents if each.type == "function_result"]
    assert [item.type for item in result.items] == ["text", "uri"]
    assert seen[0][1]["uri"] == "https://example.org/a.png"


def test_a_child_that_has_to_ask_fails_and_does_nothing():
    shell = Shell()
    child = agent([Call("shell", DELETE), "helped"], shell.tool()).as_tool(name="helper", arg_name="task")
    guarded = agent([Call("helper", {"task": "tidy"}), "done"], child)
    protect(guarded, managed(on("before_tool_use", asks_rm, match="shell")), kinds={"helper": "subagent"})
    run("Go.", of=guarded, session=AgentSession())
    assert shell.commands == []


def test_context_of_hooks_stays_in_the_requests_of_its_run():
    guarded = agent([Call("shell", LIST), "done", "again"], Shell().tool())
    protect(guarded, managed(on("user_input", lambda ctx: HookOutcome.update(context="it is Tuesday"))))
    run("Go.", of=guarded)
    assert ["it is Tuesday" in text for text in guarded.client.seen] == [True, True]


def test_hooks_change_options_and_tools_of_a_request():
    given: list[Any] = []

    class Options(Client):
        def _reply(self, messages: Any, options: Any) -> list[Content]:
            given.append(options)
            return super()._reply(messages, options)

    def change(request: Any) -> HookOutcome:
        changed = request.replace(system_prompt="Be brief.", tools=(), settings={"temperature": 0.5})
        return HookOutcome.update(request=changed)

    guarded = Agent(Options(script=["done"]), instructions="Be long.", tools=[Shell().tool()])
    run("Go.", of=protect(guarded, managed(on("before_inference", change))))
    assert (given[0]["instructions"], given[0]["tools"], given[0]["temperature"]) == ("Be brief.", [], 0.5)


class Short(AgentMiddleware):
    """Ends a run with an answer of its own, and has registered a change of streamed pieces before."""

    async def process(self, context: Any, call_next: Any) -> None:
        if not context.stream:
            context.result = AgentResponse(messages=[Message(role="assistant", contents=["the s3cret"])])
            raise MiddlewareTermination
        context.stream_transform_hooks.append(self.shout)
        await call_next()

    def shout(self, update: Any) -> Any:
        update.contents = [Content.from_text(each.text.upper()) for each in update.contents if each.type == "text"]
        return update


def hidden() -> Any:
    return on("before_output", lambda output: HookOutcome.update(output=output.replace("s3cret", "[hidden]")))


def test_an_answer_of_another_middleware_is_judged():
    hooks = AgentHooks(managed(hidden()))
    assert run("Go.", of=agent(["done"], middleware=[hooks, Short()])).text == "the [hidden]"


def test_another_middleware_changes_a_stream():
    async def text() -> str:
        guarded = agent(["one two"], middleware=[AgentHooks(managed()), Short()])
        return "".join([update.text async for update in guarded.run("Go.", stream=True)])

    assert asyncio.run(text()) == "ONE TWO"


@pytest.mark.parametrize("stream", [False, True])
def test_text_beside_a_question_is_not_shown_before_it_is_judged(stream: bool):
    async def take() -> tuple[str, int]:
        guarded = agent([["the s3cret", Call("shell", DELETE)]], Shell().tool())
        protect(guarded, managed(hidden(), on("before_tool_use", asks_rm)))
        if not stream:
            response = await guarded.run("Go.", session=AgentSession())
            return response.text, len(response.user_input_requests)
        updates = guarded.run("Go.", session=AgentSession(), stream=True)
        text = "".join([update.text async for update in updates])
        return text, len((await updates.get_final_response()).user_input_requests)

    assert asyncio.run(take()) == ("", 1)


def test_the_tokens_of_a_stream_are_counted():
    used: list[int] = []
    hook = on("before_step", lambda state: used.append(state.usage.total))
    host = AgentFrameworkHost()
    host.run([Call("shell", LIST), "done"], [Shell().tool()], manager=managed(hook), stream=True)
    assert used == [0, 3]


def test_an_agent_is_protected_once_and_needs_middleware():
    guarded = protect(agent(["done"]), managed())
    with pytest.raises(RegistrationError, match="already"):
        protect(guarded, managed())
    with pytest.raises(RegistrationError, match="no middleware"):
        protect(agent_framework.RawAgent(Client(script=[])), managed())


@pytest.mark.filterwarnings("ignore:.*experimental")
def test_their_hooks_of_the_same_name_need_another_package():
    make: Any = getattr(agent_framework, "create_agent_hooks_middleware", None)
    if make is None:
        return  # of a release before they came
    with pytest.raises(ImportError, match="cannot import name"):
        make([])


def test_a_tool_of_the_provider_is_named_and_stands_in_the_request():
    tool = {"type": "web_search"}
    named_as_hosted("web_search", lambda manager: run("Go.", of=protect(agent(["done"], tool), manager)))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_a_protected_agent_is_protected(copied: Any):
    shell, gates = Shell(), managed(on("before_tool_use", denies_rm))
    made = copied(protect(agent([Call("shell", DELETE), "done"], shell.tool()), gates))
    assert (run("Go.", of=made).text, shell.commands) == ("done", [])
