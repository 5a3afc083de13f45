"""Runs that are cancelled: in a hook, the driver or a tool; what was done is kept, and the state can be run again."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import AgentState, HookContext, HookOutcome
from agent_hooks.model.state import Message
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import tool
from runtime.agents import (
    EVENTS,
    Gate,
    OnceWaiting,
    Recorder,
    WaitingDriver,
    assert_well_formed,
    boom,
    call,
    cancelled_at,
    count,
    echo,
    reply,
    said,
    signal_of,
)

if TYPE_CHECKING:
    from agent_hooks.runtime.agent import AgentRuntime


def agent_of(*replies: Any, tools: Any = (echo, boom), parallel: bool = False, **hooks: Any) -> AgentRuntime:
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(*tools)
    for event, hook in hooks.items():
        builder = builder.hook(event, hook)
    return builder.with_parallel_tools(parallel).build()


def cancelled(agent: AgentRuntime, gate: Gate) -> AgentState:
    """The state of a run of the agent that was cancelled at the gate."""
    return asyncio.run(cancelled_at(agent.iterate("go"), gate))


def assert_can_be_run_again(agent: AgentRuntime, state: AgentState) -> AgentState:
    assert (state.status, signal_of(state).reason, state.current_step) == ("stopped", "user_requested", None)
    assert_well_formed(state.messages)
    again = asyncio.run(agent.with_driver(ScriptedDriver("fine")).run("again", state))
    assert (again.status, again.output, again.execution_count) == ("completed", "fine", 2)
    assert_well_formed(again.messages)
    return again


def waiting(gate: Gate) -> Any:
    """A tool that waits at the gate."""

    @tool
    async def waits() -> None:
        await gate.wait()

    return waits


@pytest.mark.parametrize("event", EVENTS)
def test_a_run_cancelled_in_a_hook_leaves_a_state_that_can_be_run_again(event):
    gate, recorder = Gate(), Recorder()
    replies = [ConnectionError("no")] if event == "on_error" else [[call("boom"), call()], "one"]
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(echo, boom)
    agent = builder.hook(event, OnceWaiting(gate), name="waits").hook(EVENTS, recorder).build()
    state = cancelled(agent, gate)
    assert event not in [ctx.event for ctx in recorder.seen]
    again = assert_can_be_run_again(agent, state)
    assert ("go" in [text for _, text in said(again.messages)]) == (event != "user_input")


def test_a_run_cancelled_in_the_driver_leaves_the_steps_before():
    gate = Gate()
    agent = AgentBuilder(plugins=()).with_driver(WaitingDriver(gate, call(), gate)).with_tools(echo).build()
    state = cancelled(agent, gate)
    assert (state.step_count, state.output) == (1, None)
    assert said(state.messages) == [("user", "go"), ("assistant", ""), ("tool", "echo: a")]
    again = assert_can_be_run_again(agent, state)
    assert [str(signal.reason) for signal in again.stop_signals] == ["completed"]


def test_a_run_cancelled_after_its_step_has_the_step_once():
    """What tools and hooks left of it too: nothing is in the conversation twice."""
    gate = Gate()
    note = HookOutcome.proceed(messages=(Message(role="user", content="from a hook"),))
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(reply("", call(), call("boom"), tokens=5)))
    builder = builder.with_tools(echo, boom).after_tool_use(lambda ctx: note, match="echo")
    state = cancelled(builder.hook("after_step", OnceWaiting(gate)).build(), gate)
    assert [message.role for message in state.messages] == ["user", "assistant", "tool", "tool", "user"]
    assert count("from a hook", state.messages) == 1
    (step,) = state.steps
    assert (len(step.messages), [error.message for error in step.errors]) == (1, ["no fuel"])
    assert state.usage.total == 5


@pytest.mark.parametrize("event", ["after_step", "should_continue", "on_stop"])
@pytest.mark.parametrize("is_judged", [False, True])
def test_an_answer_that_was_there_before_the_cancellation_is_kept_unless_a_hook_would_have_had_to_judge_it(
    event, is_judged
):
    class Once(OnceWaiting):
        async def execute(self, ctx: HookContext) -> None:
            if ctx.state is not None and said(ctx.state.messages)[-1] == ("assistant", "the secret"):
                await super().execute(ctx)

    gate = Gate()
    hooks: dict[str, Any] = {event: Once(gate)}
    if is_judged:
        hooks["before_output"] = lambda ctx: HookOutcome.deny("not for you")
    state = cancelled(agent_of(reply("the secret", tokens=5), **hooks), gate)
    assert (state.usage.total, state.status, state.output) == (5, "stopped", None)
    assert [message.role for message in state.messages] == ["user", "assistant"]
    assert ("the secret" in str(state)) == (not is_judged)


# -- in tool calls -----------------------------------------------------------------------------------------------------


def test_cancelled_in_a_tool_what_was_done_before_it_is_kept_and_what_was_not_begun_is_said_to_be():
    gate = Gate()
    agent = agent_of([call(), call("waits"), call()], tools=[echo, waiting(gate)])
    state = cancelled(agent, gate)
    executions = state.steps[0].executions
    assert [(e.result, e.was_blocked, e.failed) for e in executions] == [
        ("echo: a", False, False),
        (None, False, True),
        (None, False, True),
    ]
    done, begun, not_begun = [str(message.content) for message in state.messages if message.role == "tool"]
    assert (done, "not run" in begun.lower(), "not run" in not_begun.lower()) == ("echo: a", False, True)
    assert_can_be_run_again(agent, state)


def test_cancelled_in_parallel_tools_all_are_ended_and_what_was_done_is_kept():
    gate, ended = Gate(), []

    @tool
    async def waits(n: int) -> None:
        try:
            await gate.wait()
        finally:
            ended.append(n)

    agent = agent_of([call("waits", n=0), call(), call("waits", n=1)], tools=[echo, waits], parallel=True)
    state = cancelled(agent, gate)
    assert sorted(ended) == [0, 1]
    assert [e.result for e in state.steps[0].executions] == [None, "echo: a", None]
    assert_can_be_run_again(agent, state)


@pytest.mark.parametrize(
    ("name", "hooks"),
    [
        ("echo", {"after_tool_use": lambda ctx: HookOutcome.deny("not for you")}),
        ("boom", {"on_tool_error": lambda ctx: HookOutcome.update(error_text="***")}),
    ],
)
def test_what_no_hook_has_judged_is_not_told_when_parallel_tools_are_cancelled(name, hooks):
    """A gate would have withheld the result or the error, so it must not come in by way of a cancellation."""
    gate = Gate()
    calls = [call(name, text="the secret"), call("waits")]
    state = cancelled(agent_of(calls, tools=[echo, boom, waiting(gate)], parallel=True, **hooks), gate)
    assert "the secret" not in str([message.content for message in state.messages])
    assert "echo: the secret" not in str(state)
    assert_well_formed(state.messages)


@pytest.mark.parametrize("event", ["before_tool_use", "on_tool_error", "after_tool_use"])
def test_cancelled_in_a_hook_of_a_call(event, parallel):
    gate = Gate()
    agent = agent_of([call("boom"), call()], parallel=parallel, **{event: OnceWaiting(gate)})
    state = cancelled(agent, gate)
    assert len(state.steps[0].executions) == 2
    assert_can_be_run_again(agent, state)


def test_tools_that_had_ended_are_on_record_when_a_hook_after_them_is_cancelled(parallel):
    """Each result whose hooks have judged it."""
    gate = Gate()

    async def wait_at_the_last(ctx: HookContext) -> None:
        if ctx.tool_args["text"] == "3":
            await gate.wait()

    agent = agent_of([call(text=n) for n in "123"], parallel=parallel, after_tool_use=wait_at_the_last)
    assert [e.result for e in cancelled(agent, gate).steps[0].executions][:2] == ["echo: 1", "echo: 2"]
