"""A stand-in for a framework, with its adapter: a loop of a dozen lines, for what every adapter must hold."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from hosting import Ran, Script

from agent_hooks import Message, ModelRequest, ModelResponse, ToolCall, Usage
from agent_hooks.engine.calling import drive
from agent_hooks.engine.guarded_run import GuardedRun, current_run
from agent_hooks.engine.turns import run_turn
from agent_hooks.model.values import thaw
from agent_hooks_frameworks.framework import RUN_EVENTS, Framework, FrameworkHooks


class Paused(BaseException):
    """Ends a run whose calls wait; no failure, so hooks do not hear of it as one."""


class Agent:
    """An agent of the framework: its model plays a script. ``waiting``: the calls to make first."""

    def __init__(self, script: Script, tools: Any, name: str = "root") -> None:
        self.script, self.tools, self.name = list(script), {each.__name__: each for each in tools}, name
        self.messages, self.waiting, self.seen = list[Message](), list[ToolCall](), list[str]()

    async def run(self, prompt: Any = None) -> Any:
        self.messages += [] if prompt is None else [Message(role="user", content=prompt)]
        while True:
            for call in list(self.waiting):
                if (result := await made(self.call(call))) is not None:
                    self.waiting.remove(call)
                    self.messages.append(Message(role="tool", content=result, tool_call_id=call.id))
            if self.waiting:
                raise Paused
            response = await made(self.ask(ModelRequest(model="scripted", messages=tuple(self.messages))))
            self.messages.append(Message(role="assistant", content=response.content, tool_calls=response.tool_calls))
            self.waiting = list(response.tool_calls)
            if not self.waiting:
                return response.content

    def call(self, call: ToolCall) -> Any:
        return self.tools[call.name](**call.args)

    def ask(self, request: ModelRequest) -> Any:
        self.seen.append("\n".join(str(message.content) for message in request.messages))
        reply = self.script.pop(0)
        if isinstance(reply, Exception):
            raise reply
        wanted = [] if isinstance(reply, str) else reply if isinstance(reply, list) else [reply]
        calls = tuple(ToolCall(each.name, each.args, id=each.id or f"{id(each)}") for each in wanted)
        return ModelResponse(content="" if calls else reply, tool_calls=calls, usage=Usage(input_tokens=3))


async def made(result: Any) -> Any:
    return await result if hasattr(result, "__await__") else result


class AgentHooks(FrameworkHooks):
    """The adapter."""

    framework = Framework(
        name="Stand-in",
        distribution="stand-in",
        extra="stand-in",
        events=RUN_EVENTS,
        cannot={"a stream is under the same hooks": "It has no streams."},
    )


class GuardedAgent(Agent):
    """What the adapter makes of agents: under their own hooks, or those of the run whose tool starts them.

    ``questions``: what the calls that wait were asked about; ``answers``: the same with an answer each.
    """

    hooks: AgentHooks | None = None
    guard: GuardedRun | None = None
    is_sync = False

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self.questions, self.answers = dict[str, Any](), dict[str, Any]()

    async def run(self, prompt: Any = None) -> Any:
        parent, run = current_run(), super().run
        hooks = AgentHooks.of(parent) if self.hooks is None and parent is not None else self.hooks
        if hooks is None:
            return await run(prompt)
        self.guard = hooks.begin(sync=self.is_sync, agent_name=self.name, session_id="conversation-1")
        return (await run_turn(self.guard, prompt, lambda _, prompt: run(prompt))).output

    async def call(self, call: ToolCall) -> Any:
        run, guard = super().call, self.guard
        if guard is None:
            return await made(run(call))
        call = guard.owner.call(call.name, call.args, call.id, function=self.tools[call.name])
        use = await guard.tool(call, run, **self.answers.pop(call.id, {}))
        if use.token:
            self.questions[call.id] = {"about": thaw(use.call.args), "question": use.reason}
        return None if use.token else use.text

    async def ask(self, request: ModelRequest) -> Any:
        return super().ask(request) if self.guard is None else (await self.guard.model(request, super().ask)).response


class StandInHost:
    framework = AgentHooks.framework
    has_sync = True
    raises = False

    def run(
        self, script, tools, *, manager=None, prompt="Go.", sync=False, child=None, kinds=None, ask="host", **_options
    ) -> Ran:
        async def helper(task: str) -> Any:
            return await GuardedAgent(child.script, child.tools, child.name).run(task)

        agent = GuardedAgent(script, [helper] if child else tools)
        agent.hooks = None if manager is None else AgentHooks(manager, kinds=kinds, ask=ask)
        return self.perform(agent, prompt, sync=sync)

    def resume(self, paused, answer, script, tools, *, manager=None, sync=False, **_options) -> Ran:
        kept, agent = json.loads(paused), GuardedAgent(script, tools)
        agent.hooks = AgentHooks(manager)
        agent.messages = [Message.from_dict(each) for each in kept["messages"]]
        agent.waiting = [ToolCall.from_dict(each) for each in kept["waiting"]]
        agent.answers = {name: {**each, "answer": answer} for name, each in kept["questions"].items()}
        return self.perform(agent, None, sync=sync)

    def perform(self, agent, prompt, *, sync) -> Ran:
        ran, agent.is_sync = Ran(seen=agent.seen), sync
        try:
            ran.output = (drive if sync else asyncio.run)(agent.run(prompt))
        except Paused:
            ran.waiting = list(agent.questions)
            kept = {name: [each.as_dict() for each in getattr(agent, name)] for name in ("messages", "waiting")}
            ran.paused = json.dumps({**kept, "questions": agent.questions})
        except Exception as error:
            ran.error = error
        return ran
