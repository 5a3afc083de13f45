"""One budget for an agent and all that it starts."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making import Talks, builder, ended, helper, look, run, says, spawn, told, using

from agent_hooks import (
    AgentBuilder,
    AgentState,
    HookContext,
    HookOutcome,
    HookRegistration,
    ModelResponse,
    RegistrationError,
    ToolCall,
    Usage,
    count_usage,
)
from agent_hooks_guards import Price
from agent_hooks_subagents import SharedBudget, UseSubagents, shared_budget


def endless(request):
    return using("look", tokens=100)


def family(budget, **scripts):
    """An agent that starts a child, which works for ever."""
    model = Talks(
        **{"main": [spawn("helper", "child task", tokens=100), says("Done.", 100)], "child": [endless] * 50, **scripts}
    )
    return model, builder(model, helper(max_steps=None)).with_capability(budget)


def test_a_budget_of_steps_is_in_place_of_the_runtimes_own_limit():
    model = Talks(main=[endless] * 130)
    assert run(builder(model, helper()).with_capability(SharedBudget(steps=120))).step_count == 120


@pytest.mark.parametrize(
    ("budget", "reason", "said", "steps"),
    [
        ({"steps": 5}, "steps_limit", "Shared budget: Step limit reached: 5/5", 4),
        ({"tokens": 350}, "token_limit", "Shared budget: Token limit reached: 400/350", 3),
        (
            {"cost": "0.0003", "prices": {"*": Price(1, 1)}},
            "token_limit",
            "Shared budget: Cost limit reached: 0.0003",
            2,
        ),
    ],
)
def test_once_it_is_spent_the_child_stops_and_so_does_the_parent(budget, reason, said, steps):
    model, made = family(SharedBudget(**budget))
    state = run(made)
    assert len(model.of("child")) == steps
    assert said in told(state)[0]
    assert ended(state) == ("stopped", reason)
    assert len(model.of("main")) == 1


def test_time_is_that_of_the_first_run(monkeypatch):
    now = [0.0]
    budget = SharedBudget(seconds=5)
    assert budget._time is not None
    budget._time._starts._clock = lambda: now[0]

    def slow(request):
        now[0] += 2
        return using("look")

    model, made = family(budget, child=[slow] * 9)
    state = run(made)
    assert len(model.of("child")) == 3
    assert "Shared budget: Execution time limit reached: 6.00s/5.00s" in told(state)[0]


def test_what_was_spent_before_a_child_leaves_less_for_it():
    model, made = family(SharedBudget(steps=3), main=[using("look"), spawn("helper", "child task"), says("Done.")])
    run(made)
    assert len(model.of("child")) == 1


def test_each_run_has_the_whole_budget():
    model, made = family(SharedBudget(steps=2))
    agent = made.build()
    run(agent)
    model.scripts["main"] = [spawn("helper", "child task")]
    run(agent)
    assert len(model.of("child")) == 2
    assert len(model.of("main")) == 2


def test_what_was_spent_is_forgotten_when_the_run_has_ended():
    budget = SharedBudget(steps=2)
    _, made = family(budget)
    run(made)
    assert budget._spent == {}


def test_runs_that_never_end_do_not_pile_up(monkeypatch):
    monkeypatch.setattr(shared_budget, "MAX_RUNS", 3)
    budget = SharedBudget(steps=1)
    hooks = hooks_of(budget)
    for number in range(5):
        hooks.dispatch_sync(HookContext("before_step", execution_id=str(number)))
    assert list(budget._spent) == ["2", "3", "4"]


def test_children_at_work_at_once_never_make_more_steps_together_than_there_are():
    calls = [ToolCall("spawn_subagent", {"subagent": "helper", "prompt": f"child {number}"}) for number in range(4)]

    async def waits(request):
        await asyncio.sleep(0)
        return using("look", tokens=1)

    model, made = family(SharedBudget(steps=10), main=[ModelResponse(tool_calls=tuple(calls))], child=[waits] * 50)
    state = run(made.with_parallel_tools())
    assert len(model.of("child")) == 9
    assert ended(state) == ("stopped", "steps_limit")


@given(steps=st.integers(0, 8), children=st.integers(1, 4))
@settings(max_examples=12)
def test_however_the_work_is_shared_exactly_so_many_steps_are_made(steps, children):
    model = Talks(main=[spawn("helper", "child task") for _ in range(children)] + [endless] * 9, child=[endless] * 50)
    made = builder(model, helper(max_steps=2)).with_capability(SharedBudget(steps=steps))
    assert ended(run(made)) == ("stopped", "steps_limit")
    assert len(model.requests) == steps


def test_a_model_without_a_price_stops_the_family():
    _, made = family(SharedBudget(cost=1, prices={"gpt": Price(1, 1)}))
    state = run(made)
    assert "there is no price for the model 'scripted'" in told(state)[0]


def test_what_hooks_use_on_the_side_counts():
    def judge(ctx):
        count_usage("judge", Usage(input_tokens=500))
        return HookOutcome.proceed()

    model = Talks(main=[using("look"), says("Done.")])
    made = AgentBuilder(plugins=()).with_driver(model).with_tools(look).before_tool_use(judge)
    assert ended(run(made.with_capability(SharedBudget(tokens=400)))) == ("stopped", "token_limit")


def test_a_child_cannot_pass_over_it():
    skips = HookRegistration("before_step", lambda ctx: HookOutcome.skip(), tryfirst=True, source="managed")
    model = Talks(main=[spawn("helper", "child task")], child=[endless] * 20)
    made = (
        AgentBuilder(plugins=())
        .with_driver(model)
        .with_tools(look)
        .with_capability(UseSubagents(helper(hooks=[skips])))
        .with_capability(SharedBudget(steps=4))
    )
    run(made)
    assert len(model.of("child")) == 3


def test_events_of_a_host_count_for_their_run():
    budget_hooks = hooks_of(SharedBudget(tokens=10))
    answer = ModelResponse(content="x", usage=Usage(input_tokens=20))
    for run_id in ("one", "two"):
        budget_hooks.dispatch_sync(HookContext("before_execution", execution_id=run_id))
    budget_hooks.dispatch_sync(HookContext("after_inference", execution_id="one", response=answer, model="m"))
    signals = [
        budget_hooks.dispatch_sync(HookContext("before_step", execution_id=run_id)).signals for run_id in ("one", "two")
    ]
    assert [len(each) for each in signals] == [1, 0]


def hooks_of(budget):
    interceptor: Any = builder(Talks(), helper()).with_capability(budget).build().interceptor
    return interceptor.manager.hooks()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "limits nothing"),
        ({"prices": {"*": Price(1, 1)}, "steps": 1}, "has prices but no cost"),
        ({"cost": 1}, "prices must give a Price"),
        ({"steps": -1}, "max_steps must be a whole number"),
        ({"tokens": 1.5}, "max_total_tokens must be a whole number"),
        ({"seconds": "5"}, "max_seconds must be a number"),
    ],
)
def test_what_a_limit_refuses_is_refused_at_once(given, said):
    with pytest.raises(RegistrationError, match=said):
        SharedBudget(**given)


def test_tokens_that_were_used_before_a_run_goes_on_in_another_process_count():
    def made(model):
        return (
            builder(model, helper())
            .with_capability(SharedBudget(tokens=350))
            .before_tool_use(lambda ctx: HookOutcome.ask("Sure?"), match="shell", name="sure")
            .with_ask("host")
            .build()
        )

    first = Talks(
        main=[spawn("helper", "child task", tokens=100, id="a")], child=[using("sh", command="ls", tokens=100)]
    )
    waiting = AgentState.from_dict(json.loads(json.dumps(made(first).run_sync("main").as_dict())))
    model = Talks(child=[endless] * 9)
    state = made(model).resume_sync(waiting, "allow")
    assert len(model.of("child")) == 2
    assert "Shared budget: Token limit reached: 400/350" in told(state)[0]


def test_a_step_that_is_asked_about_again_counts_once():
    budget = SharedBudget(steps=1)
    step = HookContext("before_step", execution_id="run", step_index=0, state=AgentState())
    assert budget.holds(step) is None
    assert budget.holds(step) is None
    assert budget.holds(step.replace(step_index=1)) is not None
