"""LangChain under test, with a chat model that plays a script."""

from __future__ import annotations

import asyncio
import json
import re
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from hosting import Child, Ran, Script, Setup
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware
from langchain.messages import AIMessage, AIMessageChunk
from langchain.tools import tool
from langchain_core.language_models import BaseChatModel
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.types import Command

from agent_hooks_frameworks.langchain import FRAMEWORK

if TYPE_CHECKING:
    from collections.abc import Iterator


_USAGE: Any = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}


class Scripted(BaseChatModel):
    """A model that plays a script, streamed or not, and keeps what it read."""

    replies: Any  # a list would be copied
    seen: Any
    ids: Any = None

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **kwargs: Any) -> Any:
        return self.bind(**kwargs)

    def _next(self, messages: Any) -> AIMessage:
        self.seen.append("\n".join(str(message.content) for message in messages))
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        if isinstance(reply, str):
            return AIMessage(reply, usage_metadata=_USAGE)
        self.ids = self.ids or count(1)
        calls = reply if isinstance(reply, list) else [reply]
        wanted: Any = [{"name": c.name, "args": c.args, "id": c.id or f"call-{next(self.ids)}"} for c in calls]
        return AIMessage("", tool_calls=wanted, usage_metadata=_USAGE)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> Iterator[ChatGenerationChunk]:
        whole = self._next(messages)
        calls: Any = [
            {"name": c["name"], "args": json.dumps(c["args"]), "id": c["id"], "index": index}
            for index, c in enumerate(whole.tool_calls)
        ]
        for text in re.split(r"(?<=\s)", str(whole.content)):
            chunk = ChatGenerationChunk(message=AIMessageChunk(content=text, tool_call_chunks=calls))
            if run_manager:
                run_manager.on_llm_new_token(text, chunk=chunk)
            yield chunk


class Empty(AgentMiddleware):
    def wrap_tool_call(self, request: Any, handler: Any) -> Any:
        return handler(request)

    async def awrap_tool_call(self, request: Any, handler: Any) -> Any:
        return await handler(request)


class LangChainHost:
    framework = FRAMEWORK
    has_sync = True
    raises = True

    def run(self, script: Script, tools: Any, *, prompt: str = "Go.", **options: Any) -> Ran:
        setup = Setup(**options)
        path = str(Path(setup.tmp_path or mkdtemp()) / "checkpoints.sqlite")
        asked = {"messages": [{"role": "user", "content": prompt}]}
        return self.perform(path, asked, script, tools, setup)

    def resume(self, paused: str, answer: bool, script: Script, tools: Any, **options: Any) -> Ran:
        kept = json.loads(paused)
        asked: Any = Command(resume=dict.fromkeys(kept["interrupts"], answer))
        return self.perform(kept["path"], asked, script, tools, Setup(**options))

    def perform(self, path: str, asked: Any, script: Script, tools: Any, setup: Setup) -> Ran:
        ran = Ran()
        try:
            if setup.sync:
                with SqliteSaver.from_conn_string(path) as saver:
                    state = self.agent(script, tools, ran, saver, setup).invoke(asked, _CONFIG)
            else:
                state = asyncio.run(self.awaited(path, asked, script, tools, ran, setup))
        except Exception as error:
            ran.error = error
            return ran
        if interrupts := state.get("__interrupt__"):
            ran.waiting = [each.value["agent_hooks"]["call_id"] for each in interrupts]
            ran.paused = json.dumps({"path": path, "interrupts": [each.id for each in interrupts]})
        else:
            ran.output = str(state["messages"][-1].text)
        return ran

    async def awaited(self, path: str, asked: Any, script: Script, tools: Any, ran: Ran, setup: Setup) -> Any:
        async with AsyncSqliteSaver.from_conn_string(path) as saver:
            agent = self.agent(script, tools, ran, saver, setup)
            if not setup.stream:
                return await agent.ainvoke(asked, _CONFIG)
            state: Any = {}
            async for mode, part in agent.astream(asked, _CONFIG, stream_mode=["messages", "values"]):
                if mode == "values":
                    state = part
                elif isinstance(part[0], (AIMessage, AIMessageChunk)):
                    ran.chunks.append(str(part[0].text))
            return state

    def agent(self, script: Script, tools: Any, ran: Ran, saver: Any, setup: Setup) -> Any:
        made = [tool(each) for each in tools]
        if setup.child is not None:
            made.append(self.delegate(setup.child, sync=setup.sync))
        model = Scripted(replies=list(script), seen=ran.seen)
        middleware = [type(f"Empty{number}", (Empty,), {})() for number in range(setup.empty)]
        return setup.protected(create_agent(model, made, checkpointer=saver, name="root", middleware=middleware))

    def delegate(self, child: Child, *, sync: bool) -> Any:
        model = Scripted(replies=list(child.script), seen=[])
        inner: Any = create_agent(model, [tool(each) for each in child.tools], name=child.name)

        def delegate(task: str) -> str:
            """Let a helper do it."""
            return str(inner.invoke({"messages": [("user", task)]})["messages"][-1].text)

        async def adelegate(task: str) -> str:
            """Let a helper do it."""
            return str((await inner.ainvoke({"messages": [("user", task)]}))["messages"][-1].text)

        return tool(child.name)(delegate if sync else adelegate)


_CONFIG: Any = {"configurable": {"thread_id": "conversation-1"}}
