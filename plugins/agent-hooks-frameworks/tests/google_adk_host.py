"""Google ADK under test, with a model of its own interface."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import TYPE_CHECKING, Any

from google.adk.agents import LlmAgent
from google.adk.agents.run_config import RunConfig, StreamingMode
from google.adk.events import Event
from google.adk.models import BaseLlm, LlmRequest, LlmResponse
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.runners import Runner
from google.adk.sessions import InMemorySessionService
from google.adk.tools import FunctionTool
from google.genai import types
from hosting import Child, Ran, Script, Setup
from pydantic import PrivateAttr

from agent_hooks_frameworks.google_adk import FRAMEWORK

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

PLACE: Any = {"app_name": "app", "user_id": "user"}
ASKS = "adk_request_confirmation"


class Scripted(BaseLlm):
    """A model that plays a script, streamed or not, and keeps what it read."""

    model: str = "scripted"
    _replies: Any = PrivateAttr()
    _seen: list[str] = PrivateAttr()
    _ids: Any = PrivateAttr()

    @classmethod
    def of(cls, script: Script, seen: list[str]) -> Scripted:
        made = cls()
        made._replies, made._seen, made._ids = list(script), seen, count(1)
        return made

    async def generate_content_async(
        self, llm_request: LlmRequest, stream: bool = False
    ) -> AsyncGenerator[LlmResponse, None]:
        contents = [content.model_dump(mode="json", exclude_none=True) for content in llm_request.contents]
        self._seen.append("\n".join([str(llm_request.config.system_instruction or ""), json.dumps(contents)]))
        reply = self._replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        parts = [self.part(part) for part in (reply if isinstance(reply, list) else [reply])]
        if stream:
            for part in parts:
                if part.text:
                    yield LlmResponse(content=types.Content(role="model", parts=[part]), partial=True)
        used = types.GenerateContentResponseUsageMetadata(prompt_token_count=5, candidates_token_count=5)
        yield LlmResponse(content=types.Content(role="model", parts=parts), usage_metadata=used)

    def part(self, part: Any) -> types.Part:
        if isinstance(part, str):
            return types.Part(text=part)
        call_id = part.id or f"call-{next(self._ids)}"
        return types.Part(function_call=types.FunctionCall(id=call_id, name=part.name, args=part.args))


class Empty(BasePlugin):
    async def before_tool_callback(self, **about: Any) -> None:
        return None


class GoogleADKHost:
    framework = FRAMEWORK
    has_sync = True
    raises = True

    def runner(self, script: Script, tools: Any, seen: list[str], setup: Setup) -> Any:
        made = [*tools, *([started(setup.child)] if setup.child is not None else [])]
        agent = LlmAgent(name="root", model=Scripted.of(script, seen), tools=made)
        runner = Runner(app_name="app", agent=agent, session_service=InMemorySessionService())
        for number in range(setup.empty):
            runner.plugin_manager.register_plugin(Empty(name=f"empty-{number}"))
        return setup.protected(runner)

    def run(self, script: Script, tools: Any, *, prompt: str = "Go.", **options: Any) -> Ran:
        ran, setup = Ran(), Setup(**options)
        return self.perform(self.runner(script, tools, ran.seen, setup), ran, [], said(prompt), setup)

    def resume(self, paused: str, answer: bool, script: Script, tools: Any, **options: Any) -> Ran:
        ran, setup, kept = Ran(), Setup(**options), json.loads(paused)
        answers = [
            types.Part(function_response=types.FunctionResponse(id=each, name=ASKS, response={"confirmed": answer}))
            for each in kept["asked"]
        ]
        message = types.Content(role="user", parts=answers)
        return self.perform(self.runner(script, tools, ran.seen, setup), ran, kept["events"], message, setup)

    def perform(self, runner: Runner, ran: Ran, events: list[Any], message: Any, setup: Setup) -> Ran:
        asked: list[str] = []

        def take(event: Event) -> None:
            parts = event.content.parts or [] if event.content else []
            text = "".join(part.text for part in parts if part.text)
            if event.partial:
                ran.chunks.append(text)
            for call in event.get_function_calls():
                if call.name == ASKS:
                    asked.append(call.id or "")
                    ran.waiting.append(call.args["originalFunctionCall"]["id"])  # type: ignore[index]
            if event.author != "user" and event.is_final_response() and text:
                ran.output = text

        async def prepare() -> str:
            session = await runner.session_service.create_session(**PLACE, session_id="s1")
            for event in events:
                await runner.session_service.append_event(session, Event.model_validate(event))
            return session.id

        async def awaited(session_id: str) -> None:
            config = RunConfig(streaming_mode=StreamingMode.SSE if setup.stream else StreamingMode.NONE)
            options: Any = {"user_id": "user", "session_id": session_id, "new_message": message, "run_config": config}
            async for event in runner.run_async(**options):
                take(event)

        session_id = asyncio.run(prepare())
        try:
            if setup.sync:
                for event in runner.run(user_id="user", session_id=session_id, new_message=message):
                    take(event)
            else:
                asyncio.run(awaited(session_id))
        except Exception as error:
            ran.error = error
            return ran
        if ran.waiting:
            session = asyncio.run(runner.session_service.get_session(**PLACE, session_id=session_id))
            assert session is not None
            kept = [event.model_dump(mode="json") for event in session.events]
            ran.output, ran.paused = None, json.dumps({"events": kept, "asked": asked})
        return ran


def said(text: str) -> types.Content:
    return types.Content(role="user", parts=[types.Part(text=text)])


def started(child: Child) -> FunctionTool:
    inner = LlmAgent(name=child.name, model=Scripted.of(child.script, []), tools=list(child.tools))

    async def delegate(task: str) -> str:
        """Let a helper do it."""
        runner = Runner(app_name="app", agent=inner, session_service=InMemorySessionService())
        session = await runner.session_service.create_session(**PLACE)
        answer = ""
        async for event in runner.run_async(user_id="user", session_id=session.id, new_message=said(task)):
            if event.is_final_response() and event.content and event.content.parts:
                answer = event.content.parts[0].text or ""
        return answer

    tool = FunctionTool(delegate)
    tool.name = child.name
    return tool
