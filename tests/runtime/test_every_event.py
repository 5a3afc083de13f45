"""Every event there is fires: those of a run and those around it, in one session of an agent."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import AgentBuilder, HookEvent, HookOutcome, ScriptedDriver, ToolCall
from agent_hooks.runtime.conversations import MemoryConversations
from agent_hooks.runtime.session import SessionRunner
from agent_hooks.runtime.subagents import run_subagent
from agent_hooks.sources.skills import Skill
from runtime.agents import Recorder, boom, echo

if TYPE_CHECKING:
    from agent_hooks import HookContext

# Only a host has events that have no name here.
FOREIGN = frozenset({HookEvent.ON_HOST_EVENT})


async def delegate(task: str) -> Any:
    """Let another agent do it."""
    helper = AgentBuilder(plugins=()).with_driver(ScriptedDriver("Helped.")).with_name("helper").build()
    return (await run_subagent(helper, task)).output


def asks(ctx: HookContext) -> Any:
    return HookOutcome.ask("May it?") if ctx.tool_name == "echo" else None


@pytest.fixture(scope="module")
def fired() -> set[HookEvent]:
    """The events of one session, in which everything happens once."""
    recorder = Recorder()
    calls = [ToolCall("echo", {"text": "a"}), ToolCall("boom"), ToolCall("delegate", {"task": "help"})]
    agent = (
        AgentBuilder(plugins=())
        .with_driver(ScriptedDriver(calls, OSError("no network"), "Done.", "A summary."))
        .with_tools(echo, boom, delegate)
        .with_ask(lambda ctx, reason: True)
        .before_tool_use(asks)
        .hook(tuple(HookEvent.all()), recorder, name="recorder")
        .build()
    )

    async def main() -> None:
        skills = [Skill("deploy", body="Deploy.")]
        async with SessionRunner(agent, store=MemoryConversations(), skills=skills) as session:
            await session.send("Go.")
            await session.activate("deploy")
            await session.send("And on.")
            await session.compact()

    asyncio.run(main())
    return {ctx.event for ctx in recorder.seen}


@pytest.mark.parametrize("event", [event for event in HookEvent.all() if event not in FOREIGN], ids=str)
def test_an_event_fires(event: HookEvent, fired: set[HookEvent]):
    assert event in fired


def test_no_event_of_a_host_is_made_up(fired: set[HookEvent]):
    assert not fired & FOREIGN
