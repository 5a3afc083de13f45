"""Our own runtime, under the behaviours that hooks have in every framework."""

from __future__ import annotations

import json
from typing import Any

from hosting import Ran

from agent_hooks import AgentIdentity, AgentRuntime, AgentState, ModelResponse, ScriptedDriver, ToolCall, Usage
from agent_hooks.runtime.python_tools import Tool
from agent_hooks.runtime.subagents import run_subagent
from agent_hooks_frameworks.framework import RUN_EVENTS, Framework

DECLARED = "A tool has the kind that it declares or that its name tells; build() warns of one without."


def reply(wanted: Any) -> Any:
    if isinstance(wanted, (str, Exception)):
        return wanted
    calls = [ToolCall(call.name, call.args, id=call.id) for call in (wanted if isinstance(wanted, list) else [wanted])]
    return ModelResponse(tool_calls=tuple(calls), usage=Usage(input_tokens=3))


class RuntimeHost:
    framework = Framework(
        name="Runtime",
        distribution="agent-hooks-core",
        extra="",
        events=RUN_EVENTS,
        cannot={
            "a tool has the kind that its arguments tell": DECLARED,
            "a tool of unknown kind is named once": DECLARED,
            "two questions in one turn": DECLARED,
            "two questions in one turn are answered in another process": DECLARED,
            "a stream is under the same hooks": "It has no streams.",
        },
    )
    has_sync = True
    raises = False

    def run(
        self, script, tools, *, manager=None, prompt="Go.", sync=False, child=None, kinds=None, ask="host", **_options
    ) -> Ran:
        async def helper(task: str) -> Any:
            return (await run_subagent(self.agent(child.script, child.tools, name=child.name), task)).output

        made = [Tool(each, kind=(kinds or {}).get(each.__name__)) for each in ([helper] if child else tools)]
        agent = self.agent(script, made, None if manager is None else manager.hooks(ask=ask))
        return self.perform(agent, lambda: agent.run_sync(prompt))

    def resume(self, paused, answer, script, tools, *, manager=None, **_options) -> Ran:
        agent, state = self.agent(script, tools, manager.hooks(ask="host")), AgentState.from_dict(json.loads(paused))

        def go_on() -> Any:
            nonlocal state
            while state.suspended is not None:
                state = agent.resume_sync(state, "allow" if answer else "deny")
            return state

        return self.perform(agent, go_on)

    def agent(self, script, tools, hooks=None, name="root") -> AgentRuntime:
        identity = AgentIdentity(name=name, session_id="s")
        return AgentRuntime(ScriptedDriver(*map(reply, script)), tools=tools, hooks=hooks, identity=identity)

    def perform(self, agent, run) -> Ran:
        ran = Ran()
        try:
            state = run()
        except Exception as error:
            ran.error = error
            return ran
        finally:
            ran.seen = ["\n".join(str(m.content) for m in each.messages) for each in agent.driver.requests]
        if state.suspended is not None:
            ran.waiting = [state.suspended.tool_call.id]
            ran.paused = json.dumps(state.as_dict())
        else:
            ran.output = state.output
        return ran
