"""FastMCP under test: a server, and a client that plays a script as an agent would, over a connection in memory."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import Any

from fastmcp import Client, FastMCP
from fastmcp.server.middleware import Middleware
from hosting import Call, Child, Ran, Script, Setup
from mcp.server.request_state import RequestStateSecurity
from mcp_types import ElicitResult, InputRequiredResult

from agent_hooks_frameworks.fastmcp import FRAMEWORK

# Another process opens the questions of this one.
KEYS = RequestStateSecurity(keys=["k" * 32], audience="tests")


class Empty(Middleware):
    async def on_call_tool(self, context: Any, call_next: Any) -> Any:
        return await call_next(context)


def server_of(tools: Any, setup: Setup) -> Any:
    server: Any = FastMCP("root", request_state_security=KEYS, middleware=[Empty() for _ in range(setup.empty)])
    for tool in tools:
        server.tool(tool)
    return setup.protected(server)


async def unused(*_: Any) -> Any:
    raise AssertionError("the host answers questions itself")


class FastMCPHost:
    framework = FRAMEWORK
    has_sync = False
    raises = False

    def run(self, script: Script, tools: Any, *, prompt: str = "Go.", **options: Any) -> Ran:
        setup = Setup(**options)
        server = server_of([*tools, *([started(setup.child)] if setup.child else [])], setup)
        return asyncio.run(self.play(server, list(script), [f"user: {prompt}"]))

    def resume(self, paused: str, answer: bool, script: Script, tools: Any, **options: Any) -> Ran:
        kept = json.loads(paused)
        content: Any = {"allow": True} if answer else None
        said = ElicitResult(action="accept" if answer else "decline", content=content)
        calls = [(Call(**call), dict.fromkeys(keys, said), state) for call, keys, state in kept["calls"]]
        return asyncio.run(self.play(server_of(tools, Setup(**options)), list(script), kept["messages"], calls))

    async def play(self, server: Any, script: Script, messages: list[str], calls: Any = None) -> Ran:
        ran, ids = Ran(), count(1)
        async with Client(server, elicitation_handler=unused) as client:
            try:
                while ran.output is None:
                    if calls is None:
                        ran.seen.append("\n".join(messages))
                        reply = script.pop(0)
                        if isinstance(reply, Exception):
                            raise reply
                        if isinstance(reply, str):
                            ran.output = reply
                            break
                        given = reply if isinstance(reply, list) else [reply]
                        calls = [(Call(c.name, c.args, c.id or f"call-{next(ids)}"), None, None) for c in given]
                    made: Any = [self.call(client, *each) for each in calls]
                    made = await asyncio.gather(*made)
                    if waiting := [kept for kept in made if not isinstance(kept, str)]:
                        ran.waiting = [call["id"] for call, _, _ in waiting]
                        ran.paused = json.dumps({"calls": waiting, "messages": messages})
                        break
                    messages += made
                    calls = None
            except Exception as error:
                ran.error = error
        return ran

    async def call(self, client: Any, call: Call, responses: Any, state: Any) -> Any:
        result = await client.session.call_tool(
            call.name,
            call.args,
            meta={"claudecode/toolUseId": call.id},
            input_responses=responses,
            request_state=state,
            allow_input_required=True,
        )
        if isinstance(result, InputRequiredResult):
            return vars(call), list(result.input_requests or {}), result.request_state
        return "\n".join(["tool:", *(block.text for block in result.content)])


def started(child: Child) -> Any:
    async def helper(task: str) -> str:
        """Help."""
        ran = await FastMCPHost().play(server_of(child.tools, Setup()), list(child.script), [task])
        return str(ran.output)

    helper.__name__ = child.name
    return helper
