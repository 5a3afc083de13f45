"""The OpenAI Agents SDK under test, with a model of its own interface."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import TYPE_CHECKING, Any

from agents import (
    Agent,
    FunctionTool,
    Model,
    ModelResponse,
    RunConfig,
    Runner,
    RunState,
    ToolGuardrailFunctionOutput,
    Usage,
    function_tool,
    tool_input_guardrail,
)
from hosting import Call, Child, Ran, Script, Setup
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

from agent_hooks_frameworks.openai_agents import FRAMEWORK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

# Traces would be sent to the network.
QUIET = RunConfig(tracing_disabled=True)


class Scripted(Model):
    """A model that plays a script, streamed or not, and keeps what it read."""

    def __init__(self, script: Script, seen: list[str]) -> None:
        self.replies, self.seen, self.ids = list(script), seen, count(1)

    def next(self, system: str | None, given: Any) -> list[Any]:
        self.seen.append("\n".join([system or "", given if isinstance(given, str) else json.dumps(given)]))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return [self.item(part) for part in (reply if isinstance(reply, list) else [reply])]

    def item(self, part: Any) -> Any:
        if not isinstance(part, (str, Call)):
            return part
        if isinstance(part, str):
            text = ResponseOutputText(text=part, type="output_text", annotations=[])
            return ResponseOutputMessage(
                id=f"msg-{next(self.ids)}", type="message", role="assistant", content=[text], status="completed"
            )
        call_id = part.id or f"call-{next(self.ids)}"
        arguments = json.dumps(part.args)
        return ResponseFunctionToolCall(call_id=call_id, type="function_call", name=part.name, arguments=arguments)

    async def get_response(self, *args: Any, **options: Any) -> ModelResponse:
        output = self.next(*given_to(args, options))
        return ModelResponse(output=output, usage=Usage(1, 5, output_tokens=5, total_tokens=10), response_id=None)

    async def stream_response(self, *args: Any, **options: Any) -> AsyncIterator[Any]:
        output, numbers = self.next(*given_to(args, options)), count()
        for index, item in enumerate(output):
            if isinstance(item, ResponseOutputMessage):
                yield ResponseTextDeltaEvent(
                    content_index=0,
                    delta=item.content[0].text,  # type: ignore[union-attr]
                    item_id=item.id,
                    logprobs=[],
                    output_index=index,
                    sequence_number=next(numbers),
                    type="response.output_text.delta",
                )
        response = Response(
            id="resp-1",
            created_at=0,
            model="scripted",
            object="response",
            output=output,
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(response=response, sequence_number=next(numbers), type="response.completed")


@tool_input_guardrail
def nothing(data: Any) -> ToolGuardrailFunctionOutput:
    return ToolGuardrailFunctionOutput.allow()


class OpenAIAgentsHost:
    framework = FRAMEWORK
    has_sync = True
    raises = True

    def agent(self, script: Script, tools: Any, seen: list[str], setup: Setup) -> Any:
        made = [tool if hasattr(tool, "name") else function_tool(tool) for tool in tools]
        if setup.child is not None:
            made.append(started(setup.child))
        for tool in made if setup.empty else ():
            tool.tool_input_guardrails = [nothing] * setup.empty
        return setup.protected(Agent(name="root", model=Scripted(script, seen), tools=made))

    def run(self, script: Script, tools: Any, *, prompt: str = "Go.", **options: Any) -> Ran:
        ran, setup = Ran(), Setup(**options)
        return self.perform(self.agent(script, tools, ran.seen, setup), ran, lambda: given(prompt), setup)

    def resume(self, paused: str, answer: bool, script: Script, tools: Any, **options: Any) -> Ran:
        ran, setup = Ran(), Setup(**options)
        agent = self.agent(script, tools, ran.seen, setup)

        async def restored() -> Any:
            state = await RunState.from_string(agent, paused)
            for item in state.get_interruptions():
                (state.approve if answer else state.reject)(item)
            return state

        return self.perform(agent, ran, restored, setup)

    def perform(self, agent: Any, ran: Ran, prompt: Any, setup: Setup) -> Ran:
        loop = asyncio.new_event_loop()  # run_sync takes the current one, and leaves it open
        asyncio.set_event_loop(loop)
        try:
            given = loop.run_until_complete(prompt())
            if setup.sync:
                result = Runner.run_sync(agent, given, run_config=QUIET)
            else:
                result = loop.run_until_complete(self.awaited(agent, given, ran, stream=setup.stream))
        except Exception as error:
            ran.error = error
            return ran
        finally:
            loop.run_until_complete(loop.shutdown_default_executor())
            asyncio.set_event_loop(None)
            loop.close()
        if result.interruptions:
            ran.waiting = [item.raw_item.call_id for item in result.interruptions]
            ran.paused = result.to_state().to_string()
        else:
            ran.output = result.final_output
        return ran

    async def awaited(self, agent: Any, given: Any, ran: Ran, *, stream: bool) -> Any:
        if not stream:
            return await Runner.run(agent, given, run_config=QUIET)
        result = Runner.run_streamed(agent, given, run_config=QUIET)
        async for event in result.stream_events():
            if event.type == "raw_response_event" and event.data.type == "response.output_text.delta":
                ran.chunks.append(event.data.delta)
        return result


def given_to(args: Any, options: Any) -> Any:
    return args[:2] if args else (options["system_instructions"], options["input"])


async def given(prompt: Any) -> Any:
    return prompt


def started(child: Child) -> FunctionTool:
    inner = Agent(
        name=child.name, model=Scripted(child.script, []), tools=[function_tool(tool) for tool in child.tools]
    )

    @function_tool(name_override=child.name)
    async def delegate(task: str) -> str:
        """Let a helper do it."""
        return str((await Runner.run(inner, task, run_config=QUIET)).final_output)

    return delegate
