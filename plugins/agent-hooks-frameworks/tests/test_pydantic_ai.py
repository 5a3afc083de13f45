"""Hooks in pydantic-ai."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("pydantic_ai")
pytestmark = pytest.mark.frameworks

from conformance import DELETE, Conformance, Shell, asks_rm, denies_rm, managed, named_as_hosted, on  # noqa: E402
from hosting import Call  # noqa: E402
from pydantic import BaseModel, SecretStr  # noqa: E402
from pydantic_ai import (  # noqa: E402
    Agent,
    DeferredToolRequests,
    DeferredToolResults,
    ExternalToolset,
    ModelRetry,
    NativeOutput,
    Tool,
)
from pydantic_ai.agent import WrapperAgent  # noqa: E402
from pydantic_ai.capabilities import NativeTool  # noqa: E402
from pydantic_ai.exceptions import ApprovalRequired, ToolFailed  # noqa: E402
from pydantic_ai.messages import ModelRequest, UserPromptPart  # noqa: E402
from pydantic_ai.native_tools import WebSearchTool  # noqa: E402
from pydantic_ai.tools import RunContext, ToolDefinition  # noqa: E402
from pydantic_ai_host import PydanticAIHost, Scripted  # noqa: E402
from same_run import SameRun  # noqa: E402

from agent_hooks import HookOutcome, protect  # noqa: E402
from agent_hooks.errors import PromptRefusedError, RefusedError, RegistrationError, RunError  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator


class Order(BaseModel):
    command: str
    secret: SecretStr = SecretStr("")


@dataclass
class Place:
    path: Path


class Verb(Enum):
    REMOVE = "rm"


class Answer(BaseModel):
    text: str


def perform(
    order: Order,
    place: Place,
    verb: Verb,
    path: Path,
    secret: SecretStr,
    names: set[str],
    data: bytes,
    orders: list[Order],
) -> str:
    raise NotImplementedError


SENT = {
    "order": {"command": "ls", "secret": "s3cret"},
    "place": {"path": "/a"},
    "verb": "rm",
    "path": "/b",
    "secret": "s3cret",
    "names": ["b", "a"],
    "data": "abc",
    "orders": [{"command": "ls", "secret": "x"}],
}


class TestPydanticAI(SameRun, Conformance):
    host = PydanticAIHost()

    @pytest.fixture(autouse=True)
    def _loop(self) -> Iterator[None]:
        loop = asyncio.new_event_loop()  # otherwise run_sync makes one that nobody closes
        asyncio.set_event_loop(loop)
        yield
        asyncio.set_event_loop(None)
        loop.close()

    def agent(self, script: Any, *hooks: Any, seen: list[str] | None = None, **options: Any) -> Any:
        agent: Any = Agent(Scripted(script, [] if seen is None else seen).model, **options)
        return protect(agent, managed(*hooks))

    # -- arguments ---------------------------------------------------------------------------------------------------

    def performed(self, *hooks: Any) -> tuple[list[dict[str, Any]], list[str]]:
        ran: list[dict[str, Any]] = []
        seen: list[str] = []
        tool = Tool(perform)
        tool.function_schema.function = lambda **args: ran.append(args)
        self.agent([Call("perform", SENT), "done"], *hooks, seen=seen, tools=[tool]).run_sync("Go.")
        return ran, seen

    def test_hooks_see_arguments_as_json_and_the_tool_gets_its_objects(self):
        given: list[Any] = []
        ran, _ = self.performed(on("before_tool_use", lambda ctx: given.append(ctx.tool_args)))
        assert json.loads(json.dumps(given[0])) == {**SENT, "names": ["a", "b"]}
        assert ran[0]["order"] == Order(command="ls", secret=SecretStr("s3cret"))
        assert (ran[0]["verb"], ran[0]["names"], ran[0]["data"]) == (Verb.REMOVE, {"a", "b"}, b"abc")

    def test_rewritten_objects_are_validated(self):
        changed = {**SENT, "order": {"command": "pwd"}, "path": "/c", "orders": [{"command": "pwd"}]}
        ran, _ = self.performed(on("before_tool_use", lambda ctx: HookOutcome.with_args(changed)))
        assert ran[0]["order"] == Order(command="pwd")
        assert (ran[0]["path"], ran[0]["orders"]) == (Path("/c"), [Order(command="pwd")])

    def test_a_call_rewritten_to_nonsense_is_not_made(self):
        ran, seen = self.performed(
            on("before_tool_use", lambda ctx: HookOutcome.with_args({**ctx.tool_args, "order": 3}))
        )
        assert ran == []
        assert "Not run: hooks changed 'order'" in seen[1]

    # -- protect -----------------------------------------------------------------------------------------------------

    def test_an_agent_in_a_wrapper_is_protected_once(self):
        shell = Shell()
        agent: Any = Agent(Scripted([Call("shell", DELETE), "done"], []).model, tools=[shell.tool()])
        protect(WrapperAgent(agent), managed(on("before_tool_use", denies_rm))).run_sync("Go.")
        assert shell.commands == []
        with pytest.raises(RegistrationError, match="already"):
            protect(agent, managed())

    # -- questions ---------------------------------------------------------------------------------------------------

    @pytest.mark.parametrize("is_declared", [True, False])
    def test_an_approval_of_the_framework_answers_no_question_of_a_hook(self, is_declared: bool):
        ran: list[str] = []

        def shell(ctx: RunContext[Any], command: str) -> str:
            if not ctx.tool_call_approved:
                raise ApprovalRequired
            ran.append(command)
            return "ran"

        mood: list[str] = []
        asks = on("before_tool_use", lambda ctx: HookOutcome.ask("really?") if mood else None)
        tool = Tool(shell, requires_approval=is_declared)
        types: Any = [str, DeferredToolRequests]
        agent = self.agent([Call("shell", DELETE, "c1"), "done"], asks, tools=[tool], output_type=types)
        first = agent.run_sync("Go.")
        mood.append("asks")
        second = self.approved(agent, first)
        question = second.output.metadata["c1"]["agent_hooks"]
        assert (ran, question) == ([], {"reason": "really?", "args": DELETE})
        assert self.approved(agent, second).output == "done"
        assert ran == [DELETE["command"]]

    def approved(self, agent: Any, result: Any) -> Any:
        requests = result.output
        approvals: Any = {call.tool_call_id: True for call in requests.approvals}
        results = DeferredToolResults(approvals=approvals, metadata=requests.metadata)
        return agent.run_sync(message_history=result.all_messages(), deferred_tool_results=results)

    def test_a_question_that_nobody_can_answer_denies(self):
        shell, seen = Shell(), list[str]()
        ask = on("before_tool_use", asks_rm)
        agent = self.agent([Call("shell", DELETE), "done"] * 2, ask, seen=seen, tools=[shell.tool()])
        assert agent.run_sync("Go.").output == "done"
        assert (shell.commands, "really?" in seen[1]) == ([], True)
        assert isinstance(agent.run_sync("Go.", output_type=[str, DeferredToolRequests]).output, DeferredToolRequests)

    def test_calls_that_the_application_makes_are_judged(self):
        schema = {"type": "object", "properties": {"command": {"type": "string"}}}
        toolset: Any = ExternalToolset([ToolDefinition(name="shell", parameters_json_schema=schema)])
        types: Any = [str, DeferredToolRequests]
        script = [[Call("shell", DELETE, "c1"), Call("shell", {"command": "ls"}, "c2")]]
        hook = on("before_tool_use", denies_rm)
        output = self.agent(script, hook, toolsets=[toolset], output_type=types).run_sync("Go.").output
        assert [call.tool_call_id for call in output.calls] == ["c2"]

    # -- children, prompts and errors --------------------------------------------------------------------------------

    def test_an_agent_that_instructions_start_is_a_child(self):
        shell = Shell()
        child: Any = Agent(Scripted([Call("shell", DELETE), "done"], []).model, tools=[shell.tool()])
        agent = self.agent(["done"], on("before_tool_use", denies_rm))

        @agent.instructions
        async def instructions() -> str:
            return str((await child.run("Go.")).output)

        agent.run_sync("Go.")
        assert shell.commands == []

    def test_a_prompt_at_the_end_of_the_history_is_judged(self):
        seen: list[str] = []
        hide = on("user_input", lambda prompt: HookOutcome.update(prompt=prompt.replace("xyzzy", "[number]")))
        history: Any = [ModelRequest([UserPromptPart("it is xyzzy")])]
        self.agent(["done"], hide, seen=seen).run_sync(message_history=history)
        assert "it is [number]" in seen[0]
        assert history[0].parts[0].content == "it is xyzzy"
        with pytest.raises(PromptRefusedError):
            self.agent([], on("user_input", lambda ctx: HookOutcome.deny("no"))).run_sync(message_history=history)

    @pytest.mark.parametrize("error", [ModelRetry("s3cret"), ToolFailed("s3cret")])
    def test_hooks_judge_what_a_tool_raises_for_the_model(self, error: Exception):
        heard, seen = list[str](), list[str]()

        def fails() -> str:
            raise error

        hooks = [on("on_tool_error", lambda error: heard.append(str(error)), mode="observe")]
        script = [Call("fails", {}), "done"]
        assert self.agent(script, *hooks, seen=seen, tools=[fails]).run_sync("Go.").output == "done"
        assert (heard, "s3cret" in seen[1]) == (["s3cret"], True)
        hooks.append(on("after_tool_use", lambda ctx: HookOutcome.deny("withheld")))
        self.agent(script, *hooks, seen=seen, tools=[fails]).run_sync("Go.")
        assert ("s3cret" in seen[3], "withheld" in seen[3]) == (False, True)

    def test_a_request_is_sent_again_and_the_run_ends_once(self):
        ends: list[Any] = []
        end = on("after_execution", ends.append, mode="observe")
        again = on("on_error", lambda ctx: HookOutcome.retry("again"))
        agent = self.agent([ConnectionError("no line"), "done"], again, end)
        assert agent.run_sync("Go.").output == "done"
        with pytest.raises(ConnectionError):
            self.agent([ConnectionError("no line")] * 9, again, end).run_sync("Go.")
        assert [ctx.status for ctx in ends] == ["completed", "failed"]

    def test_a_refused_response_is_counted_once(self):
        polite = on("after_inference", lambda response: HookOutcome.retry("no") if response.content == "no" else None)
        usage = self.agent(["no", "gladly"], polite).run_sync("Go.").usage
        plain = self.agent(["gladly"]).run_sync("Go.").usage
        assert (usage.requests, usage.output_tokens) == (2, plain.output_tokens + 1)

    # -- answers -----------------------------------------------------------------------------------------------------

    def test_hooks_on_responses_leave_structured_answers_alone(self):
        seen: list[Any] = []
        look = on("after_inference", seen.append, mode="observe")
        script = ["What?", Call("final_result", {"text": "fine"})]
        assert self.agent(script, look, output_type=Answer).run_sync("Go.").output == Answer(text="fine")
        assert [(ctx.response.content, [call.name for call in ctx.response.tool_calls]) for ctx in seen] == [
            ("What?", []),
            ("", ["final_result"]),
        ]
        script = ["{not json", '{"text": "fine"}']
        agent = self.agent(script, on("after_inference", lambda ctx: None), output_type=NativeOutput(Answer))
        assert agent.run_sync("Go.").output == Answer(text="fine")

    def test_an_output_function_is_judged_as_a_tool(self):
        ran: list[str] = []

        def publish(text: str) -> str:
            ran.append(text)
            return text

        deny = on("before_tool_use", lambda ctx: HookOutcome.deny("no") if "bad" in ctx.tool_args["text"] else None)
        script = [Call("final_result", {"text": "bad"}), Call("final_result", {"text": "good"})]
        assert self.agent(script, deny, output_type=publish).run_sync("Go.").output == "good"
        assert ran == ["good"]

    def streamed(self, script: Any, *hooks: Any, **options: Any) -> tuple[str, str]:
        shown: list[Any] = []

        async def show(_ctx: Any, events: Any) -> None:
            shown.extend([event async for event in events])

        output = self.agent(script, *hooks, **options).run_sync("Go.", event_stream_handler=show).output
        return output, str(shown)

    def test_a_stream_shows_texts_as_judged(self):
        ends: list[str] = []
        hide = on("before_output", lambda output: HookOutcome.update(output=output.replace("s3cret", "[hidden]")))
        hooks = [hide, on("after_execution", lambda ctx: ends.append("end"), mode="observe")]
        output, shown = self.streamed(["the s3cret"], *hooks)
        assert (output, "s3cret" in shown, "the [hidden]" in shown) == ("the [hidden]", False, True)
        script = [["first the s3cret", Call("shell", DELETE)], "done"]
        output, shown = self.streamed(script, *hooks, tools=[Shell().tool()])
        assert (output, "s3cret" in shown, "first the [hidden]" in shown) == ("done", False, True)
        assert ends == ["end", "end"]

    def test_a_stream_of_what_cannot_be_judged_is_refused(self):
        script = [Call("final_result", {"text": "s3cret"})]
        with pytest.raises(RunError, match=r"before_output.*run\(\)"):
            self.streamed(script, on("before_output", lambda ctx: None), output_type=Answer)
        withhold = on("before_output", lambda ctx: HookOutcome.deny("no"))
        with pytest.raises(RefusedError):
            self.agent(script, withhold, output_type=Answer).run_sync("Go.")

    def test_a_stream_that_hooks_would_continue_ends_once(self):
        ends: list[Any] = []
        more = on("on_stop", lambda ctx: HookOutcome.force_continue("once more"))
        agent = self.agent(["done"], more, on("after_execution", ends.append, mode="observe"))

        async def stream() -> str:
            async with agent.run_stream("Go.") as result:
                return str(await result.get_output())

        assert asyncio.run(stream()) == "done"
        assert [ctx.status for ctx in ends] == ["completed"]

    def test_an_agent_in_a_thread_with_the_context_is_a_child(self):
        shell = Shell()

        def delegate(task: str) -> str:
            child: Any = Agent(Scripted([Call("shell", DELETE), "done"], []).model, tools=[shell.tool()])
            with ThreadPoolExecutor(1) as pool:
                return str(pool.submit(copy_context().run, asyncio.run, child.run(task)).result().output)

        script = [Call("delegate", {"task": "t"}), "done"]
        self.agent(script, on("before_tool_use", denies_rm, match="shell"), tools=[delegate]).run_sync("Go.")
        assert shell.commands == []


def test_a_tool_of_the_provider_is_named_and_stands_in_the_request():
    made = Agent(Scripted(["done"], []).model, capabilities=[NativeTool(WebSearchTool())])
    named_as_hosted("web_search", lambda manager: asyncio.run(protect(made, manager).run("Go.")))
