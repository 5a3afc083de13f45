"""Microsoft Agent Framework under the conformance suite: a chat client that plays a script."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from agent_framework import (
    Agent,
    AgentSession,
    BaseChatClient,
    ChatMiddlewareLayer,
    ChatResponse,
    ChatResponseUpdate,
    Content,
    FunctionInvocationLayer,
    FunctionMiddleware,
    FunctionTool,
    Message,
    ResponseStream,
)
from hosting import Ran, Script, Setup

from agent_hooks_frameworks.agent_framework import FRAMEWORK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence


def _text(content: Content) -> str:
    """All that a content tells the model."""
    parts = [content.text, content.arguments, content.result]
    return "\n".join(part if isinstance(part, str) else json.dumps(part, default=str) for part in parts if part)


USAGE: Any = {"input_token_count": 2, "output_token_count": 1, "total_token_count": 3}


class Scripted(BaseChatClient):
    """Gives the replies of a script one after the other, and keeps what it was asked."""

    def __init__(self, *, script: list[Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.script = list(script)
        self.seen: list[str] = []

    def _inner_get_response(
        self, *, messages: Sequence[Message], stream: bool, options: Mapping[str, Any], **kwargs: Any
    ) -> Any:
        if stream:
            return ResponseStream(self._pieces(messages, options), finalizer=ChatResponse.from_updates)
        return self._whole(messages, options)

    async def _whole(self, messages: Sequence[Message], options: Mapping[str, Any]) -> ChatResponse:
        contents = self._reply(messages, options)
        message = Message(role="assistant", contents=contents)
        return ChatResponse(messages=[message], model="scripted", usage_details=USAGE)

    async def _pieces(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncIterator[ChatResponseUpdate]:
        for content in self._reply(messages, options):
            pieces = [content]
            if content.type == "text" and content.text:
                pieces = [Content.from_text(piece) for piece in content.text.split(" ")]
                pieces = [Content.from_text(f"{piece.text} ") for piece in pieces[:-1]] + pieces[-1:]
            for piece in pieces:
                yield ChatResponseUpdate(role="assistant", contents=[piece], message_id="m", response_id="r")
                await asyncio.sleep(0)
        yield ChatResponseUpdate(
            role="assistant", contents=[Content.from_usage(USAGE)], message_id="m", response_id="r"
        )

    def _reply(self, messages: Sequence[Message], options: Mapping[str, Any]) -> list[Content]:
        given = [str(options.get("instructions") or "")]
        given += [_text(content) for message in messages for content in message.contents]
        self.seen.append("\n".join(filter(None, given)))
        reply = self.script.pop(0) if self.script else "Done."
        if isinstance(reply, Exception):
            raise reply
        parts = reply if isinstance(reply, list) else [reply]
        return [
            Content.from_text(call)
            if isinstance(call, str)
            else Content.from_function_call(
                call.id or f"call-{len(self.seen)}-{index}", call.name, arguments=json.dumps(call.args)
            )
            for index, call in enumerate(parts)
        ]


class Client(FunctionInvocationLayer, ChatMiddlewareLayer, Scripted):
    """The layers of the framework's own clients, without telemetry."""


class Empty(FunctionMiddleware):
    """Does nothing."""

    async def process(self, context: Any, call_next: Any) -> None:
        await call_next()


class AgentFrameworkHost:
    """Runs an ``Agent``; its session is what another process needs to go on."""

    framework = FRAMEWORK
    has_sync = False
    raises = True

    def run(self, script: Script, tools: Any, *, prompt: str = "Go.", **options: Any) -> Ran:
        return self.perform(script, tools, prompt, AgentSession(), Setup(**options))

    def resume(self, paused: str, answer: bool, script: Script, tools: Any, **options: Any) -> Ran:
        kept = json.loads(paused)
        requests = map(Content.from_dict, kept["requests"])
        answers = [each.to_function_approval_response(approved=answer) for each in requests]
        session = AgentSession.from_dict(kept["session"])
        return self.perform(script, tools, [Message(role="user", contents=answers)], session, Setup(**options))

    def perform(
        self,
        script: Script,
        tools: Any,
        prompt: Any,
        session: AgentSession,
        setup: Setup,
    ) -> Ran:
        client, ran = Client(script=script), Ran()
        given = [made(each) for each in tools]
        if (child := setup.child) is not None:
            inner = Agent(Client(script=child.script), name=child.name, tools=[made(each) for each in child.tools])
            given.append(inner.as_tool(arg_name="task"))
        there = [Empty() for _ in range(setup.empty)]
        agent = Agent(client, instructions="You are under test.", name="root", tools=given, middleware=there)
        agent = setup.protected(agent)
        ran.seen = client.seen
        try:
            response = asyncio.run(self.awaited(agent, prompt, session, ran, stream=setup.stream))
        except Exception as error:
            ran.error = error
            return ran
        requests = [each for each in response.user_input_requests if each.type == "function_approval_request"]
        ran.waiting = [each.function_call.call_id for each in requests]
        if requests:
            asked = [each.to_dict() for each in requests]
            ran.paused = json.dumps({"session": session.to_dict(), "requests": asked})
        else:
            ran.output = response.text or None
        return ran

    async def awaited(self, agent: Agent, prompt: Any, session: AgentSession, ran: Ran, *, stream: bool) -> Any:
        if not stream:
            return await agent.run(prompt, session=session)
        updates = agent.run(prompt, session=session, stream=True)
        async for update in updates:
            ran.chunks += [content.text for content in update.contents if content.type == "text" and content.text]
        return await updates.get_final_response()


def made(function: Any) -> FunctionTool:
    return FunctionTool(name=function.__name__, description=function.__doc__ or "", func=function)
