"""Subagents: started by tools and hooks, under the parent's gates, with events, usage and depth limits."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_hooks import (
    AgentBuilder,
    AgentState,
    ErrorInfo,
    HookOutcome,
    ScriptedDriver,
    SubagentError,
    Usage,
    count_usage,
    current_run,
    run_subagent,
    tool,
)
from agent_hooks.runtime.loop import AgentRun
from runtime.agents import Gate, Trial, WaitingDriver, call, cancelled_at, child, count, echo, parent, reply

DENY = HookOutcome.deny("Not today.")


def is_inner(ctx: Any) -> bool:
    return bool(ctx.depth == 1)


# -- the child's run ---------------------------------------------------------------------------------------------------


def test_its_events_say_whose_child_it_is_how_deep_and_in_which_session_directory_and_project(tmp_path):
    """A session of its own does not count."""
    inner = AgentBuilder(plugins=()).with_driver(ScriptedDriver(call(text="1"), "one")).with_tools(echo)
    trial, _ = parent(inner.with_session("other").build())
    trial.builder = trial.builder.with_session("s1").with_cwd(tmp_path)
    agent = trial.build()
    agent.identity = agent.identity.replace(project_dir=str(tmp_path))
    state = agent.run_sync("go")
    called = {ctx.tool_name: ctx for ctx in trial.seen("before_tool_use")}
    assert (called["spawn"].parent_agent_id, called["spawn"].depth) == (None, 0)
    assert (called["echo"].parent_agent_id, called["echo"].depth) == (state.agent_id, 1)
    assert called["echo"].agent_id not in ("", called["spawn"].agent_id)
    places = {(ctx.session_id, ctx.cwd, ctx.project_dir) for ctx in trial.recorder.seen}
    assert places == {("s1", str(tmp_path), str(tmp_path))}


def test_the_skill_that_is_active_in_its_parent_is_active_in_it_too():
    trial, _ = parent(child(call(text="1"), "one"))
    gate = trial.on("before_tool_use", DENY, when=lambda ctx: ctx.skill and ctx.depth)
    asyncio.run(AgentRun(trial.build(), AgentState(), "go", skill="deploy").run_to_end())
    assert [(ctx.depth, ctx.skill) for ctx in gate.calls] == [(0, "deploy"), (1, "deploy")]


def test_outside_of_a_run_it_runs_like_any_agent_and_nothing_is_counted():
    state = asyncio.run(run_subagent(child("one"), "count"))
    assert (state.output, state.parent_agent_id) == ("one", None)
    count_usage("judge", Usage(input_tokens=5))
    assert current_run() is None


# -- depth and cost ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [1, 3])
def test_no_subagent_is_started_below_the_greatest_depth(most):
    depths = []

    @tool(kind="subagent")
    async def spawn(task: str) -> Any:
        run = current_run()
        assert run is not None
        depths.append(run.depth + 1)
        return (await run_subagent(child(call("spawn", task="on"), "up", tools=(spawn,)), task, max_depth=most)).output

    trial = Trial(call("spawn", task="on"), "done", tools=(spawn,))
    told = trial.on("after_tool_use", mode="observe")
    trial.run()
    assert max(depths) == most + 1
    errors = [str(ErrorInfo.of(ctx.error).message) for ctx in told.calls if ctx.error]
    assert errors == [f"Maximum nesting depth ({most}) reached for subagent 'helper'."]


def test_hooks_and_tools_know_the_run_they_are_called_for_and_count_what_they_use_on_the_side():
    found = {}

    def note(key: str, tokens: int) -> None:
        found[key] = current_run()
        count_usage(key, Usage(input_tokens=tokens))

    trial = Trial(call("look"), "done", tools=(tool(lambda: note("tool", 1), name="look"),))
    trial.on("before_tool_use", lambda ctx: note("hook", 5))
    run = trial.build().iterate("go")
    state = asyncio.run(run.run_to_end())
    assert found == {"hook": run, "tool": run}
    assert current_run() is None
    used = {model: usage.input_tokens for model, usage in state.model_usage.items()}
    assert used == {"hook": 5, "tool": 1, "scripted": 0}


def test_a_checker_in_a_hook_is_not_told_of_but_gated_and_counted():
    checker = child(call(text="secret"), reply("fine", tokens=2), name="checker")
    states = []

    async def check(ctx):
        if ctx.depth == 0:
            states.append(await run_subagent(checker, "look", told=False))

    trial = Trial(call(text="a"), "done")
    trial.builder = trial.builder.hook(["before_subagent", "after_subagent"], trial.recorder, name="boundary")
    trial.on("before_tool_use", check, name="checks")
    trial.on("before_tool_use", DENY, when=is_inner, name="gate")
    state = trial.run()
    assert states[0].steps[0].executions[0].was_blocked
    assert trial.seen("before_subagent") == trial.seen("after_subagent") == []
    assert state.model_usage["scripted"].input_tokens == 2


@pytest.mark.parametrize("told", [True, False])
def test_a_child_in_a_hook_that_would_have_to_wait_is_an_error_of_that_hook(told):
    errors = []

    async def check(ctx):
        if ctx.name == "checker" or ctx.depth:
            return
        try:
            await run_subagent(child(call(text="secret"), "fine", name="checker"), "look", told=told)
        except SubagentError as error:
            errors.append(str(error))
            if told:
                raise

    trial, _ = parent(child("one"))
    trial.builder = trial.builder.with_ask("host")
    trial.on("before_subagent" if told else "before_tool_use", check, name="checks")
    trial.on("before_tool_use", HookOutcome.ask("Really?"), when=is_inner, name="gate")
    state = trial.run()
    assert state.status == "completed"
    assert count("needs approval, and a hook cannot wait", state.messages) == told
    assert errors == ["Subagent 'checker' needs approval, and a hook cannot wait for it: Really?"]


def test_cancelling_the_parent_cancels_the_child_and_keeps_what_it_used():
    gate = Gate()
    inner = AgentBuilder(plugins=()).with_driver(WaitingDriver(gate, reply(None, call(text="1"), tokens=7), gate))
    trial, _ = parent(inner.with_tools(echo).build())
    state = asyncio.run(cancelled_at(trial.build().iterate("go"), gate))
    assert (state.status, state.model_usage["scripted"].input_tokens) == ("stopped", 7)
