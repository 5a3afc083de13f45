"""The Claude Agent SDK under the conformance suite: its own CLI, whose model is a server on loopback."""

from __future__ import annotations

import asyncio
import inspect
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anthropic_api import serving
from claude_agent_sdk import (
    AgentDefinition,
    ClaudeAgentOptions,
    ClaudeSDKClient,
    ResultMessage,
    SdkMcpTool,
    StreamEvent,
    create_sdk_mcp_server,
    query,
)
from hosting import Ran

from agent_hooks_frameworks.claude_agent_sdk import FRAMEWORK, AgentHooks, protect

if TYPE_CHECKING:
    from hosting import Child, Script

SERVER = "tools"
ROOT = "You are the agent under test."


class ClaudeAgentSDKHost:
    """Runs a ``ClaudeSDKClient``; its session and its home are what another process needs to go on."""

    framework = FRAMEWORK
    has_sync = False
    raises = False

    def named(self, tool: str) -> str:
        """The name that the CLI has for a function, or for a subagent."""
        return "Agent" if tool == "helper" else f"mcp__{SERVER}__{tool}"

    def run(self, script: Script, tools: Any, *, prompt: str = "Go.", **options: Any) -> Ran:
        return self.perform(script, tools, prompt, {}, **options)

    def resume(self, paused: str, answer: bool, script: Script, tools: Any, **options: Any) -> Ran:
        return self.perform(script, tools, None, {**json.loads(paused), "answer": answer}, **options)

    def perform(
        self,
        script: Script,
        tools: Any,
        prompt: str | None,
        kept: dict[str, Any],
        *,
        manager: Any = None,
        sync: bool = False,
        stream: bool = False,
        child: Child | None = None,
        kinds: Any = None,
        ask: Any = "host",
        tmp_path: Any = None,
        options: Any = None,
        told: Any = None,
        is_query: bool = False,
    ) -> Ran:
        """``options``: further ones of the session; ``told``: gets the requests of the child."""
        home = Path(kept.get("home") or tempfile.mkdtemp(dir=tmp_path))
        every = {each.__name__: each for each in (*tools, *(child.tools if child is not None else ()))}
        scripts = {ROOT: self.replies(script, child)}
        agents = {}
        if child is not None:
            system = f"You are {child.name}."
            inner = [self.named(each.__name__) for each in child.tools]
            agents[child.name] = AgentDefinition(description="A helper.", prompt=system, tools=inner)
            scripts[system] = self.replies(child.script, None)
        ran = Ran()
        with serving(scripts) as model:
            given = ClaudeAgentOptions(
                system_prompt=ROOT,
                tools=["Agent"] if agents else [],
                mcp_servers={SERVER: create_sdk_mcp_server(SERVER, tools=list(map(made, every.values())))},
                allowed_tools=["Agent", *map(self.named, every)],
                agents=agents,
                setting_sources=[],
                include_partial_messages=stream,
                resume=kept.get("session"),
                env=environment(home, model.url),
            )
            given = replace(given, **(options or {}))
            if manager is not None:
                hooks = AgentHooks(
                    manager, kinds={self.named(name): kind for name, kind in (kinds or {}).items()}, ask=ask
                )
                protect(given, hooks)
                for call in kept.get("calls", ()):
                    hooks.answer(call, kept["answer"], kept.get("args"))
            try:
                result = asyncio.run((self.queried if is_query else self.awaited)(given, prompt, ran))
            except Exception as error:
                ran.error = error
                return ran
            finally:
                ran.seen = model.seen[ROOT]
                if told is not None and child is not None:
                    told += model.seen[f"You are {child.name}."]
        if result.stop_reason == "tool_deferred" and result.deferred_tool_use is not None:
            ran.waiting = [result.deferred_tool_use.id]
            ran.paused = json.dumps({"session": result.session_id, "home": str(home), "calls": ran.waiting})
        elif result.is_error:
            ran.error = RuntimeError(result.result)
        elif result.stop_reason == "end_turn":  # a prompt that was refused has none
            ran.output = result.result or None
        return ran

    def replies(self, script: Script, child: Child | None) -> list[Any]:
        """The replies in the form of the API."""

        def block(each: Any, turn: int, place: int) -> Any:
            if isinstance(each, str):
                return each
            name, args = self.named(each.name), each.args
            if child is not None and each.name == child.name:
                (task,) = args.values()
                args = {"description": "as scripted", "prompt": task, "subagent_type": child.name}
            return each.id or f"toolu_{turn}_{place}", name, args

        blocks = [each if isinstance(each, (list, Exception)) else [each] for each in script]
        return [
            each if isinstance(each, Exception) else [block(part, turn, place) for place, part in enumerate(each)]
            for turn, each in enumerate(blocks)
        ]

    async def queried(self, options: ClaudeAgentOptions, prompt: str | None, ran: Ran) -> ResultMessage:
        messages = [message async for message in query(prompt=prompt or "", options=options)]
        return next(message for message in messages if isinstance(message, ResultMessage))

    async def awaited(self, options: ClaudeAgentOptions, prompt: str | None, ran: Ran) -> ResultMessage:
        async with ClaudeSDKClient(options) as client:
            if prompt is not None:
                await client.query(prompt)
            async for message in client.receive_response():
                if isinstance(message, StreamEvent):
                    text = message.event.get("delta", {}).get("text")
                    ran.chunks += [text] if text else []
                elif isinstance(message, ResultMessage):
                    return message
        raise RuntimeError("The CLI ended without a result.")


def environment(home: Path, url: str) -> dict[str, str]:
    """What the CLI needs to ask a model at a URL, and to read nothing of this machine's user."""
    return {
        "HOME": str(home),
        "CLAUDE_CONFIG_DIR": str(home / ".claude"),
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": "none",
        "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
    }


def made(function: Any) -> SdkMcpTool[Any]:
    async def call(args: dict[str, Any]) -> dict[str, Any]:
        result = function(**args)
        result = await result if inspect.isawaitable(result) else result
        return {"content": [{"type": "text", "text": str(result)}]}

    types = {name: each.annotation for name, each in inspect.signature(function, eval_str=True).parameters.items()}
    return SdkMcpTool(function.__name__, function.__doc__ or "", types, call)
