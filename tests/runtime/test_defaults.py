"""What an agent does by default is hooks: they can be seen, left out and replaced."""

from __future__ import annotations

from typing import Any

import pytest

from agent_hooks import HookOutcome, HookRegistration
from agent_hooks.engine.hooks import Hooks
from agent_hooks.errors import RunError
from agent_hooks.runtime.agent import AgentRuntime
from agent_hooks.runtime.defaults import DEFAULTS
from agent_hooks.runtime.driver import ScriptedDriver
from runtime.agents import Trial, call, child, echo, said


def test_the_defaults_are_three_hooks_by_code():
    found = [([str(e) for e in hook.event], hook.name, hook.priority, hook.source) for hook in DEFAULTS]
    assert found == [
        (["after_step"], "accumulate_usage", 100, "code"),
        (["after_step"], "append_messages", 80, "code"),
        (["should_continue"], "stop_without_tool_calls", 0, "code"),
    ]


def test_a_replacement_takes_the_place_of_a_default():
    def in_capitals(ctx: Any) -> HookOutcome:
        loud = ctx.step.message.replace(content=ctx.step.message.content.upper())
        return HookOutcome.with_state(ctx.state.with_messages(loud))

    trial = Trial("done")
    trial.builder = trial.builder.replace_default("append_messages", in_capitals)
    hook = trial.on("after_step", priority=1000)
    state = trial.run()
    assert said(state.messages) == [("user", "go"), ("assistant", "DONE")]
    assert said(hook.calls[0].state.messages)[-1] == ("assistant", "DONE")


def test_a_replacement_has_the_name_and_the_place_of_what_it_replaces():
    def places(builder):
        infos = builder.build().interceptor.manager.describe("after_step")
        return [(info.name, info.priority) for info in infos if info.mode != "observe"]

    trial = Trial("done")
    other = trial.builder.replace_default("accumulate_usage", lambda ctx: None)
    assert places(other) == places(trial.builder) == [("accumulate_usage", 100), ("append_messages", 80)]


def test_a_replacement_can_be_replaced_and_left_out():
    trial = Trial("done")
    trial.builder = trial.builder.replace_default("append_messages", lambda ctx: HookOutcome.with_context("loud"))
    trial.builder = trial.builder.replace_default("append_messages", lambda ctx: HookOutcome.with_context("quiet"))
    assert said(trial.run().messages) == [("user", "go"), ("user", "quiet")]
    trial.builder = trial.builder.without_default("append_messages")
    assert "append_messages" not in [info.name for info in trial.build().interceptor.manager.describe()]  # type: ignore[attr-defined]


@pytest.mark.parametrize("change", ["without", "replace"])
def test_a_default_that_there_is_not_is_refused_with_those_there_are(change):
    builder = Trial().builder.without_default("append_messages")
    for name in ("append_messages", "nonsense"):
        with pytest.raises(RunError, match="There is no default hook") as caught:
            builder.without_default(name) if change == "without" else builder.replace_default(name, lambda ctx: None)
        assert name in str(caught.value)
        assert "accumulate_usage, stop_without_tool_calls" in str(caught.value)


def test_an_agent_may_be_made_with_other_defaults():
    driver = ScriptedDriver("done")
    state = AgentRuntime(driver, tools=[echo], defaults=DEFAULTS[1:]).run_sync("go")
    assert (state.output, said(state.messages)[-1]) == ("done", ("assistant", "done"))


@pytest.mark.parametrize("built", [True, False])
def test_a_policy_in_shadow_enforces_nothing_and_the_agent_still_runs_to_its_end(built):
    trial = Trial(call(), "done", shadow=True)
    trial.on("before_tool_use", HookOutcome.deny("No."))
    agent = trial.build()
    if not built:
        agent = AgentRuntime(agent.driver, tools=(echo,), policy=agent.policy)
    state = agent.run_sync("go")
    assert said(state.messages)[1:] == [("assistant", ""), ("tool", "echo: a"), ("assistant", "done")]
    assert state.status == "completed"


def test_where_only_defaults_listen_a_step_needs_no_dispatch(monkeypatch):
    dispatched: list[str] = []
    dispatch = Hooks.dispatch

    async def note(hooks, ctx):
        dispatched.append(str(ctx.event))
        return await dispatch(hooks, ctx)

    monkeypatch.setattr(Hooks, "dispatch", note)
    child(call(), call(), "done").run_sync("go")
    assert dispatched == ["should_continue"]  # with the signal that ends the run


def test_a_hook_that_is_added_during_a_run_is_heard():
    seen: list[object] = []

    def add_once(ctx):
        if not seen:
            seen.append("added")
            late = HookRegistration("after_step", lambda ctx: seen.append(ctx.step_index), name="late")
            ctx.runtime.interceptor.manager.add(late)

    child(call(), call(), "done", before_inference=add_once).run_sync("go")
    assert seen == ["added", 0, 1, 2]
