"""The capability, and what the limits do to an agent that runs."""

from __future__ import annotations

import asyncio
import dataclasses
import threading
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from making import project

from agent_hooks import (
    CLEANUP,
    GUARD,
    AgentBuilder,
    HookManager,
    HookOutcome,
    ModelRequest,
    ModelResponse,
    RegistrationError,
    ScriptedDriver,
    ToolCall,
    Usage,
    UseSelfCritique,
)
from agent_hooks_guards import Cancellation, CostLimit, FinishReasonLimit, Price, StepsLimit, TimeLimit, UseGuards

NONE: dict[str, Any] = {"max_steps": None, "max_tokens": None, "max_execution_time": None}


def look():
    """Look around."""
    return "Nothing new."


def using(tokens, **fields):
    """A reply that wants the tool, and what it cost."""
    return ModelResponse(tool_calls=(ToolCall("look"),), usage=Usage(input_tokens=tokens), **fields)


def agent(*replies, plugins=()):
    return AgentBuilder(plugins=plugins).with_driver(ScriptedDriver(*replies, model="claude-a")).with_tools(look)


def run(builder):
    return builder.build().run_sync("Go.")


def ended(state):
    """The status, the number of steps, and what was reported."""
    signal = state.stop_signal
    return state.status, state.step_count, signal and str(signal.reason)


# -- what is registered ------------------------------------------------------------------------------------------------


DEFAULTS = [
    ("time_limit", "before_execution", GUARD, "gate"),
    ("steps_limit", "before_step", GUARD, "gate"),
    ("token_limit", "before_step", GUARD, "gate"),
    ("time_limit", "before_step", GUARD, "gate"),
    ("time_limit", "after_execution", GUARD, "gate"),
]


def registered(capability):
    """The hooks that an agent has of it."""
    hooks = agent("Done.").with_capability(capability).build().interceptor.manager.describe()
    own = [hook for hook in hooks if hook.name.startswith("guard:")]
    return [(hook.name.removeprefix("guard:"), hook.event, hook.priority, hook.mode) for hook in own]


def test_three_limits_are_the_default():
    assert registered(UseGuards()) == DEFAULTS
    assert (UseGuards().max_steps, UseGuards().max_tokens, UseGuards().max_execution_time) == (20, 32768, 300.0)


def test_they_limit_the_run_of_a_loop_that_is_not_ours():
    manager = UseGuards(max_steps=2, max_tokens=None).add_to(HookManager(load_plugins=False))
    asked = []

    def model(request):
        asked.append("asked")
        return "more"

    async def loop(turn, prompt):
        while True:
            await turn.model(ModelRequest(), model)

    ending = asyncio.run(manager.hooks().run_turn("Go.", loop))
    assert len(asked) == 2
    assert ending.stop_signal is not None
    assert ending.stop_signal.reason == "steps_limit"


def test_none_leaves_a_limit_out():
    for name, limit in zip(NONE, ("steps_limit", "token_limit", "time_limit"), strict=True):
        assert registered(UseGuards(**{name: None})) == [hook for hook in DEFAULTS if hook[0] != limit]
    assert registered(UseGuards(**NONE, finish_reasons=None)) == []


def test_the_others_are_there_if_they_are_given():
    prices = {"*": Price(1, 1)}
    capability = UseGuards(**NONE, finish_reasons="stop", max_cost=1, prices=prices, cancellation=lambda: False)
    assert registered(capability) == [
        ("cancellation", "before_execution", 250, "gate"),
        ("cancellation", "before_step", 250, "gate"),
        ("cost_limit", "before_step", GUARD, "gate"),
        ("finish_reason", "after_step", CLEANUP, "gate"),
    ]


@pytest.mark.parametrize(("guards", "made"), [({"max_steps": 130}, 130), ({"max_steps": None}, 140), ({}, 20)])
def test_its_limit_of_steps_is_in_place_of_the_runtimes_own(guards, made):
    builder = agent(*[lambda _request: ToolCall("look")] * 140, "Done.")
    given = UseGuards(**{**NONE, **guards}) if guards else UseGuards(max_tokens=None, max_execution_time=None)
    assert run(builder.with_capability(given)).step_count - (made == 140) == made


@pytest.mark.parametrize("limits_first", [True, False])
def test_a_stricter_limit_of_the_builder_stays(limits_first):
    builder = agent(*[ToolCall("look")] * 9)
    guards = UseGuards(max_steps=None)
    if limits_first:
        builder = builder.with_limits(max_steps=5).with_capability(guards)
    else:
        builder = builder.with_capability(guards).with_limits(max_steps=5)
    assert ended(run(builder)) == ("stopped", 5, "steps_limit")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"max_steps": -1}, "max_steps must be a whole number"),
        ({"max_tokens": 1.5}, "max_total_tokens must be a whole number"),
        ({"max_execution_time": "5"}, "max_seconds must be a number"),
        ({"max_cost": 1}, "prices must give a Price"),
        ({"prices": {"*": Price(1, 1)}}, "has prices but no max_cost"),
        ({"cancellation": 3}, "Cancellation needs a function"),
    ],
)
def test_what_a_guard_refuses_is_refused_at_once(given, said):
    with pytest.raises(RegistrationError, match=said):
        UseGuards(**given)


def test_a_capability_does_not_change():
    with pytest.raises(dataclasses.FrozenInstanceError):
        UseGuards().max_steps = 3  # type: ignore[misc]


# -- steps -------------------------------------------------------------------------------------------------------------


@given(most=st.integers(0, 6), wanted=st.integers(1, 6))
@settings(max_examples=20)
def test_exactly_so_many_steps_are_made_and_a_run_that_ends_by_itself_at_the_limit_is_completed(most, wanted):
    """The model wants ``wanted`` steps, of which the last is its answer."""
    replies = [using(1)] * (wanted - 1) + ["Done."]
    state = run(agent(*replies).with_capability(UseGuards(max_steps=most)))
    if wanted <= most:
        assert (ended(state), state.output) == (("completed", wanted, "completed"), "Done.")
    else:
        assert (ended(state), state.output) == (("stopped", most, "steps_limit"), None)
        assert state.stop_signal.message == f"Step limit reached: {most}/{most}"


def test_as_a_criterion_it_speaks_at_the_same_event_as_the_natural_end_and_its_signal_is_the_one_reported():
    state = run(agent(using(1), "Done.").continue_when(StepsLimit(2)))
    assert (ended(state), state.output) == (("stopped", 2, "steps_limit"), "Done.")


def test_each_run_of_an_agent_has_its_own_steps():
    built = agent(*[using(1)] * 4).with_capability(UseGuards(max_steps=2)).build()
    first = built.run_sync("Go.")
    again = built.run_sync("Go on.", state=first)
    assert [ended(state) for state in (first, again)] == [("stopped", 2, "steps_limit")] * 2


def test_a_hook_that_forces_a_round_does_not_get_past_a_limit():
    def more(ctx):
        return HookOutcome.force_continue("More!")

    builder = agent(*[using(1)] * 9).with_capability(UseGuards(max_steps=2))
    for event in ("after_step", "on_stop", "before_step"):
        builder = builder.hook(event, more)
    assert ended(run(builder)) == ("stopped", 2, "steps_limit")


# -- tokens, time, finish reasons --------------------------------------------------------------------------------------


def test_tokens_may_go_beyond_their_limit_by_one_step():
    state = run(agent(*[using(400)] * 9).with_capability(UseGuards(max_tokens=1000)))
    assert ended(state) == ("stopped", 3, "token_limit")
    assert state.stop_signal.message == "Token limit reached: 1200/1000"


def test_time_is_measured_from_the_beginning_of_the_run():
    now = [0.0]

    def slow(request):
        now[0] += 2
        return using(1)

    limit = TimeLimit(5, clock=lambda: now[0])
    builder = agent(*[slow] * 9).hook(limit.events, limit, priority=limit.priority, name=limit.name)
    first, second = run(builder), run(builder)
    assert [ended(state) for state in (first, second)] == [("stopped", 3, "time_limit")] * 2
    assert first.stop_signal.message == "Execution time limit reached: 6.00s/5.00s"


def test_a_finish_reason_ends_the_run_in_good_order():
    state = run(agent(using(1, finish_reason="length")).with_capability(UseGuards(finish_reasons=["length"])))
    assert ended(state) == ("completed", 1, "finish_reason")
    assert state.stop_signal.source == "FinishReasonLimit"


def test_as_a_criterion_the_finish_reason_is_that_of_the_last_step():
    state = run(agent(using(1, finish_reason="length")).continue_when(FinishReasonLimit(["length"])))
    assert ended(state) == ("completed", 1, "finish_reason")


def test_of_several_signals_the_most_authoritative_is_reported():
    cancelled = threading.Event()

    def last(request):
        cancelled.set()
        return using(100, finish_reason="length")

    guards: dict[str, Any] = {"max_steps": 1, "max_tokens": 100, "max_execution_time": 0.0, "cancellation": cancelled}
    # On before_execution nothing is known yet: all of them speak before the second step, or the first.
    state = run(agent(last).with_capability(UseGuards(**{**guards, "max_execution_time": None})))
    assert ended(state) == ("stopped", 1, "user_requested")
    assert {str(signal.reason) for signal in state.stop_signals} == {"user_requested", "steps_limit", "token_limit"}
    del guards["cancellation"]
    guards["max_steps"] = guards["max_tokens"] = 0
    state = run(agent().with_capability(UseGuards(**guards)))
    assert ended(state) == ("stopped", 0, "steps_limit")
    assert {str(signal.reason) for signal in state.stop_signals} == {"steps_limit", "token_limit", "time_limit"}


# -- cancellation and cost ---------------------------------------------------------------------------------------------


def test_a_run_is_cancelled_between_two_steps_and_can_be_run_again():
    wanted = threading.Event()

    def reply(request):
        wanted.set()
        return using(1)

    built = agent(reply, "Done.").with_capability(UseGuards(cancellation=wanted)).build()
    state = built.run_sync("Go.")
    assert ended(state) == ("stopped", 1, "user_requested")
    assert built.run_sync("Go on.", state=state).step_count == 0
    wanted.clear()
    assert ended(built.run_sync("Go on.", state=state)) == ("completed", 1, "completed")


def test_a_run_that_is_cancelled_before_it_begins_asks_no_model_and_the_source_once():
    asked = []

    def source():
        asked.append(1)
        return "Not now."

    state = run(agent().hook(Cancellation.events, Cancellation(source), priority=Cancellation.priority))
    assert ended(state) == ("stopped", 0, "user_requested")
    assert (state.stop_signal.message, asked) == ("Not now.", [1])


def test_money_may_go_beyond_its_limit_by_one_step():
    capability = UseGuards(**NONE, max_cost="1.00", prices={"claude": Price(3, 15)})
    state = run(agent(*[using(100_000)] * 9).with_capability(capability))
    assert ended(state) == ("stopped", 4, "token_limit")
    assert state.stop_signal.message == "Cost limit reached: 1.2000/1.00"
    assert CostLimit(1, {"claude": Price(3, 15)}).cost_of(state) == Decimal("1.2")


def test_a_model_without_a_price_is_stopped_after_the_step_that_used_it():
    capability = UseGuards(**NONE, max_cost=1, prices={"claude": Price(3, 15)})
    state = run(agent(using(1), using(1, model="gpt"), using(1)).with_capability(capability))
    assert ended(state) == ("stopped", 2, "token_limit")
    assert "no price for the model 'gpt'" in state.stop_signal.message


def test_an_answer_that_was_not_taken_is_paid_for_at_the_price_of_the_model_that_gave_it():
    """A hook refuses what the expensive model said; the cheap one answers in its place."""

    def not_from_opus(ctx):
        return HookOutcome.retry("Cheaper, please.") if ctx.model == "opus" else None

    prices = {"opus": Price(15, 75), "haiku": Price(1, 5)}
    capability = UseGuards(**NONE, max_cost="16.50", prices=prices)
    replies = [using(1_000_000, model="opus"), using(1_000_000, model="haiku"), using(1_000_000, model="haiku")]
    state = run(agent(*replies, "Done.").with_capability(capability).hook("after_inference", not_from_opus))
    assert ended(state) == ("stopped", 2, "token_limit")
    assert state.stop_signal.message == "Cost limit reached: 17.0000/16.50"
    assert CostLimit(1, prices).cost_of(state) == 17


def test_what_the_critic_used_is_paid_for():
    prices = {"claude": Price(1, 1), "judge": Price(30, 1)}
    answer = ModelResponse(content="Done.", usage=Usage(input_tokens=100_000))
    critique = ModelResponse(
        content='{"approved": false, "feedback": "More."}', usage=Usage(input_tokens=100_000), model="judge"
    )
    builder = agent(answer, critique, answer).with_capability(UseSelfCritique())
    state = run(builder.with_capability(UseGuards(**NONE, max_cost=3, prices=prices)))
    assert ended(state) == ("stopped", 1, "token_limit")
    assert CostLimit(1, prices).cost_of(state) == Decimal("3.1")


# -- the installed plugin ----------------------------------------------------------------------------------------------


def test_the_installed_plugin_limits_the_agents_of_a_project(tmp_path):
    folder = project(tmp_path / "p", "[tool.agent_hooks.guards]\nmax_steps = 2\ncancel_file = 'STOP'\n")
    builder = agent(*[using(1)] * 9, plugins=["guards"])
    assert ended(run(builder.with_cwd(folder))) == ("stopped", 2, "steps_limit")
    (tmp_path / "p" / "STOP").touch()
    assert ended(run(builder.with_cwd(folder))) == ("stopped", 0, "user_requested")
    assert ended(run(agent("Done.", plugins=["guards"]).with_cwd(str(tmp_path)))) == ("completed", 1, "completed")


def test_wrong_settings_let_no_agent_begin(tmp_path):
    folder = project(tmp_path / "p", "[tool.agent_hooks.guards]\nmax_step = 2\n")
    state = run(agent(plugins=["guards"]).with_cwd(folder))
    assert ended(state) == ("stopped", 0, "stop_requested")
    assert f"{folder}/pyproject.toml" in state.stop_signal.message


# -- by name -----------------------------------------------------------------------------------------------------------


def test_the_installed_plugin_offers_the_limits_by_name():
    """An application need not import the plugin."""
    state = run(agent(using(1), using(1), "done", plugins=("guards",)).with_capability("guards", max_steps=1))
    assert ended(state) == ("stopped", 1, "steps_limit")


def test_the_limits_of_an_agent_are_no_priority_conflict():
    builder = agent("done").with_capability(UseGuards())
    assert builder.validate_no_priority_conflicts() is builder


def test_a_hook_that_hides_what_was_used_hides_it_from_no_limit():
    """What a run has used is the run's own; a state that a hook brings cannot take from it."""

    def hides(state):
        return HookOutcome.with_state(state.replace(usage=Usage(), model_usage={}, steps=()))

    builder = agent(*[using(400)] * 9, "done").process(hides)
    limited = builder.with_capability(UseGuards(**{**NONE, "max_tokens": 1000}))
    assert ended(run(limited)) == ("stopped", 3, "token_limit")
    limited = builder.with_capability(UseGuards(**{**NONE, "max_steps": 2}))
    assert ended(run(limited)) == ("stopped", 2, "steps_limit")
    limited = builder.with_capability(UseGuards(**NONE, max_cost=1, prices={"*": Price(input=1000, output=1000)}))
    assert ended(run(limited)) == ("stopped", 3, "token_limit")
