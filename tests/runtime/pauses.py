"""Runs that wait for an answer: a shell tool that records what it ran, hooks that ask or suspend, and answers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from agent_hooks import AgentBuilder, AgentState, HookOutcome, ScriptedDriver, ToolCall, tool
from agent_hooks.system.store import MemoryStore

if TYPE_CHECKING:
    from agent_hooks.runtime.agent import AgentRuntime

LS = ToolCall("shell", {"command": "ls"}, id="call_1")


def asks(tool_call: ToolCall) -> HookOutcome:
    return HookOutcome.ask("Really?")


def suspends(tool_call: ToolCall) -> HookOutcome:
    return HookOutcome.suspend("Wait for Ann.", data={"ticket": 7})


def calls(commands: str) -> list[ToolCall]:
    """Calls of the shell with these commands, a letter each."""
    return [ToolCall("shell", {"command": command}, id=command) for command in commands]


def about(commands: str, outcome: HookOutcome) -> Any:
    """A hook that gives the outcome to these commands."""
    return lambda ctx: outcome if ctx.tool_call.command in commands else None


ASKS_ABOUT_B = about("b", HookOutcome.ask("b?"))
SUSPENDS_B = about("b", HookOutcome.suspend())


class World:
    """What stays from one process to the next: the store, and the commands that were run."""

    def __init__(self, store: Any = None) -> None:
        self.store = MemoryStore() if store is None else store
        self.ran: list[str] = []

    def builder(self, *replies: Any) -> AgentBuilder:
        @tool(kind="shell")
        def shell(command: str) -> str:
            self.ran.append(command)
            return f"ran {command}"

        builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(shell)
        return builder.with_store(self.store).with_ask("host")

    def agent(self, hook: Any, *replies: Any) -> AgentRuntime:
        """An agent with a hook before its calls, or with several: the first is asked first, each under its index."""
        builder = self.builder(*replies)
        hooks = hook if isinstance(hook, list) else [hook]
        for index, one in enumerate(hooks):
            answer = (lambda ctx, one=one: one) if isinstance(one, HookOutcome) else one
            builder = builder.before_tool_use(answer, name=f"hook {index}", priority=len(hooks) - index)
        return builder.build()

    def paused(self, hook: Any = asks, reply: Any = LS) -> AgentState:
        """A run that waits."""
        state = self.agent(hook, reply).run_sync("go")
        assert state.status == "suspended"
        return state

    def resume(self, state: AgentState, hook: Any = asks, decision: Any = "allow", reply: Any = "done") -> AgentState:
        """Answer the run from another process."""
        return self.agent(hook, reply).resume_sync(through_json(state), decision)


def through_json(state: AgentState) -> AgentState:
    """The state as another process would read it."""
    return AgentState.from_dict(json.loads(json.dumps(state.as_dict())))


def suspended(state: AgentState) -> Any:
    """What the run waits for."""
    assert state.suspended is not None
    return state.suspended


def texts(state: AgentState) -> list[Any]:
    return [message.content for message in state.messages if message.content]
