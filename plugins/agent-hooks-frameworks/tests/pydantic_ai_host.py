"""pydantic-ai under test, with its function model."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import TYPE_CHECKING, Any

from hosting import Call, Child, Ran, Script, Setup
from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, Tool
from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

from agent_hooks_frameworks.pydantic_ai import FRAMEWORK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Scripted:
    """A model that plays a script, streamed or not, and keeps what it read."""

    def __init__(self, script: Script, seen: list[str]) -> None:
        self.replies, self.seen, self.ids = list(script), seen, count(1)
        self.model = FunctionModel(self.respond, stream_function=self.stream, model_name="scripted")

    def next(self, messages: Any, info: AgentInfo) -> list[Any]:
        self.seen.append(
            "\n".join([str(info.instructions or ""), ModelMessagesTypeAdapter.dump_json(messages).decode()])
        )
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        parts = reply if isinstance(reply, list) else [reply]
        return [TextPart(p) if isinstance(p, str) else ToolCallPart(p.name, p.args, self.id(p)) for p in parts]

    def id(self, call: Call) -> str:
        return call.id or f"call-{next(self.ids)}"

    async def respond(self, messages: Any, info: AgentInfo) -> ModelResponse:
        return ModelResponse(self.next(messages, info))

    async def stream(self, messages: Any, info: AgentInfo) -> AsyncIterator[Any]:
        for number, part in enumerate(self.next(messages, info)):
            if isinstance(part, ToolCallPart):
                args = json.dumps(part.args)
                yield {number: DeltaToolCall(part.tool_name, args, tool_call_id=part.tool_call_id)}
            else:
                yield part.content


class Empty(AbstractCapability[Any]):
    async def wrap_tool_execute(self, ctx: Any, *, args: Any, handler: Any, **about: Any) -> Any:
        return await handler(args)


class PydanticAIHost:
    framework = FRAMEWORK
    has_sync = True
    raises = True

    def agent(self, script: Script, tools: Any, seen: list[str], setup: Setup) -> Any:
        tools = [*tools, *([started(setup.child)] if setup.child is not None else [])]
        agent: Any = Agent(
            Scripted(script, seen).model,
            output_type=[str, DeferredToolRequests],
            name="root",
            tools=tools,
            capabilities=[Empty() for _ in range(setup.empty)],
        )
        return setup.protected(agent)

    def run(self, script: Script, tools: Any, *, prompt: str = "Go.", **options: Any) -> Ran:
        ran, setup = Ran(), Setup(**options)
        return self.perform(self.agent(script, tools, ran.seen, setup), ran, setup, user_prompt=prompt)

    def resume(self, paused: str, answer: bool, script: Script, tools: Any, **options: Any) -> Ran:
        ran, setup, kept = Ran(), Setup(**options), json.loads(paused)
        approvals: Any = dict.fromkeys(kept["calls"], answer)
        results = DeferredToolResults(approvals=approvals, metadata=kept["metadata"])
        history = ModelMessagesTypeAdapter.validate_json(kept["messages"])
        agent = self.agent(script, tools, ran.seen, setup)
        return self.perform(agent, ran, setup, message_history=history, deferred_tool_results=results)

    def perform(self, agent: Any, ran: Ran, setup: Setup, **options: Any) -> Ran:
        try:
            if setup.sync:
                output, messages = self.without_loop(agent, **options)
            else:
                output, messages = asyncio.run(self.awaited(agent, ran, stream=setup.stream, **options))
        except Exception as error:
            ran.error = error
            return ran
        if isinstance(output, DeferredToolRequests):
            ran.waiting = [call.tool_call_id for call in output.approvals]
            ran.paused = json.dumps({"messages": messages, "calls": ran.waiting, "metadata": output.metadata})
        else:
            ran.output = output
        return ran

    def without_loop(self, agent: Any, **options: Any) -> Any:
        loop = asyncio.new_event_loop()  # otherwise it makes one that nobody closes
        asyncio.set_event_loop(loop)
        try:
            result = agent.run_sync(**options)
            return result.output, result.all_messages_json().decode()
        finally:
            asyncio.set_event_loop(None)
            loop.close()

    async def awaited(self, agent: Any, ran: Ran, *, stream: bool, **options: Any) -> Any:
        if not stream:
            result = await agent.run(**options)
            return result.output, result.all_messages_json().decode()
        async with agent.run_stream(**options) as result:
            async for text in result.stream_text(delta=True, debounce_by=None):
                ran.chunks.append(text)
            return await result.get_output(), ""


def started(child: Child) -> Any:
    inner = Agent(Scripted(child.script, []).model, name=child.name, tools=child.tools)

    async def delegate(task: str) -> str:
        """Let a helper do it."""
        return (await inner.run(task)).output

    return Tool(delegate, name=child.name)
