"""Strands under test, with a model that plays a script."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import count
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from hosting import Child, Ran, Script, Setup
from strands import Agent, tool
from strands.hooks import AfterToolCallEvent, BeforeToolCallEvent, HookProvider
from strands.models import Model
from strands.session.file_session_manager import FileSessionManager

from agent_hooks_frameworks.strands import FRAMEWORK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


class Scripted(Model):
    """A model that plays a script, and keeps what it read."""

    def __init__(self, script: Script, seen: list[str]) -> None:
        self.replies, self.seen, self.ids = list(script), seen, count(1)

    def update_config(self, **model_config: Any) -> None:
        """It has no configuration."""

    def get_config(self) -> Any:
        return {}

    def structured_output(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    async def stream(
        self, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        self.seen.append("\n".join([system_prompt or "", json.dumps(messages, default=str)]))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        yield {"messageStart": {"role": "assistant"}}
        for part in reply if isinstance(reply, list) else [reply]:
            if isinstance(part, str):
                yield {"contentBlockStart": {"start": {}}}
                for piece in re.split(r"(?<=\s)", part):
                    yield {"contentBlockDelta": {"delta": {"text": piece}}}
            else:
                use = {"name": part.name, "toolUseId": part.id or f"call-{next(self.ids)}"}
                yield {"contentBlockStart": {"start": {"toolUse": use}}}
                yield {"contentBlockDelta": {"delta": {"toolUse": {"input": json.dumps(part.args)}}}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "end_turn" if isinstance(reply, str) else "tool_use"}}
        usage = {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5}
        yield {"metadata": {"usage": usage, "metrics": {"latencyMs": 1}}}


class Empty(HookProvider):
    def register_hooks(self, registry: Any, **kwargs: Any) -> None:
        registry.add_callback(BeforeToolCallEvent, lambda event: None)
        registry.add_callback(AfterToolCallEvent, lambda event: None)


class StrandsHost:
    framework = FRAMEWORK
    has_sync = True
    raises = True

    def run(self, script: Script, tools: Any, *, prompt: str = "Go.", **options: Any) -> Ran:
        ran, setup = Ran(), Setup(**options)
        folder = str(setup.tmp_path or mkdtemp())
        return self.perform(self.agent(script, tools, ran.seen, folder, setup), ran, prompt, folder, setup)

    def resume(self, paused: str, answer: bool, script: Script, tools: Any, **options: Any) -> Ran:
        ran, setup, kept = Ran(), Setup(**options), json.loads(paused)
        agent = self.agent(script, tools, ran.seen, kept["folder"], setup)
        answers = [{"interruptResponse": {"interruptId": each, "response": answer}} for each in kept["interrupts"]]
        return self.perform(agent, ran, answers, kept["folder"], setup)

    def agent(self, script: Script, tools: Any, seen: list[str], folder: str, setup: Setup) -> Any:
        made = [tool(each) for each in tools]
        if setup.child is not None:
            made.append(self.delegate(setup.child))
        agent = Agent(
            Scripted(script, seen),
            tools=made,
            name="root",
            callback_handler=None,
            hooks=[Empty() for _ in range(setup.empty)],
            session_manager=FileSessionManager("conversation-1", storage_dir=folder),
        )
        return setup.protected(agent)

    def delegate(self, child: Child) -> Any:
        inner = Agent(Scripted(child.script, []), tools=[tool(t) for t in child.tools], callback_handler=None)

        async def delegate(task: str) -> str:
            """Let a helper do it."""
            return str(await inner.invoke_async(task))

        return tool(name=child.name)(delegate)

    def perform(self, agent: Any, ran: Ran, prompt: Any, folder: str, setup: Setup) -> Ran:
        try:
            if setup.stream:
                result = asyncio.run(self.streamed(agent, ran, prompt))
            else:
                result = agent(prompt) if setup.sync else asyncio.run(agent.invoke_async(prompt))
        except Exception as error:
            ran.error = error
            return ran
        if result.stop_reason == "interrupt":
            ran.waiting = [each.reason["call_id"] for each in result.interrupts]
            ran.paused = json.dumps({"folder": folder, "interrupts": [each.id for each in result.interrupts]})
        else:
            ran.output = str(result).rstrip("\n")
        return ran

    async def streamed(self, agent: Any, ran: Ran, prompt: Any) -> Any:
        async for event in agent.stream_async(prompt):
            if "data" in event:
                ran.chunks.append(event["data"])
            result = event.get("result")
        return result
