"""How a run ends: stop signals and the status, hooks that want another round, and states that are run again."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_hooks import AgentState, HookManager, HookOutcome, hookimpl
from agent_hooks.errors import RunError, StopRunError
from agent_hooks.model.state import StopReason, Usage
from agent_hooks.runtime.agent import AgentRuntime
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.driver import ScriptedDriver
from runtime.agents import Trial, assert_well_formed, call, count, echo, reply, signal_of, signals
from runtime.cases import check

REASONS = (
    "error stop_requested user_requested steps_limit token_limit time_limit retry_limit finish_reason completed unknown"
).split()
STOP = HookOutcome.stop("that is enough")
ON = HookOutcome.force_continue("there is more to do")
FORCING = ["after_step", "should_continue", "before_step", "on_stop"]


# -- stop signals and the status ---------------------------------------------------------------------------------------


def test_the_reasons_tried_here_are_all_there_are():
    assert [getattr(StopReason, reason.upper()).rank for reason in REASONS] == list(range(10))


@pytest.mark.parametrize("reason", REASONS)
def test_the_status_follows_the_reason(reason):
    status = "completed" if reason in ("completed", "finish_reason") else "stopped"
    hook = {"event": "after_step", "signals": [{"reason": reason}]}
    check({"replies": [{"call": "echo"}], "hooks": [hook]}, gives={"stop_signal.reason": reason, "status": status})


@pytest.mark.parametrize("first", range(len(REASONS)))
def test_the_most_authoritative_signal_is_reported(first):
    """Whatever the order in which they were added; those of an outranked reason stay on record."""
    reasons = REASONS[first:][::-1]
    signals = [[{"reason": reason, "source": reason}] for reason in reasons]
    hooks = [{"event": "before_step", "name": f"hook {at}", "signals": each} for at, each in enumerate(signals)]
    gives = {"signals": reasons, "stop_signal.source": REASONS[first]}
    check({"replies": ["done"], "hooks": hooks}, gives=gives)


# -- another round -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", FORCING)
@pytest.mark.parametrize("most", [0, 1, 3])
def test_forced_rounds_are_capped(event, most, caplog):
    """A hook that always wants more gets ``max_forced_continuations`` rounds and no more, and the log says so."""
    trial = Trial(*(["done"] * 9 if event != "before_step" else [call()] * 9), max_forced_continuations=most)
    if event == "before_step":
        trial.on("before_step", signals("unknown"), when=lambda ctx: ctx.step_index > 0, priority=1)
    trial.on(event, ON, when=None if event in ("after_step", "on_stop") else lambda ctx: ctx.step_index > 0)
    state = trial.run()
    assert len(trial.requests) == 1 + most
    assert count("there is more to do", state.messages) == most
    assert f"forced {most} rounds" in caplog.text


@pytest.mark.parametrize("event", FORCING)
def test_a_round_that_would_come_anyway_does_not_count_as_forced(event):
    trial = Trial(*[call()] * 5, "done", max_forced_continuations=1)
    trial.on(event, ON, when=lambda ctx: ctx.step_index < 5)
    assert (trial.run().output, len(trial.requests)) == ("done", 6)


def test_on_stop_is_shown_the_reported_signal_and_what_the_model_said_last_and_told_of_a_repeat():
    trial = Trial(reply("Let me see.", call()), "one", "two", "three")
    asked = trial.on("on_stop", ON, when=lambda ctx: ctx.step_index < 4)
    state = trial.run()
    assert [(ctx.prompt, ctx.output) for ctx in asked.calls] == [("go", "one"), ("go", "two"), ("go", "three")]
    assert [ctx.stop_hook_active for ctx in asked.calls] == [False, True, True]
    assert asked.calls[-1].stop_signal == signal_of(state)


def test_on_stop_before_anything_was_said_has_nothing_to_show():
    trial = Trial("done")
    trial.on("before_execution", HookOutcome.stop("No."))
    asked = trial.on("on_stop")
    trial.run()
    assert [ctx.output for ctx in asked.calls] == [None]


def test_a_wish_on_stop_does_not_answer_a_stop_that_comes_after_it():
    """The hook was shown that the model has finished, not that another one wants the run to end."""
    trial = Trial("a", "b")
    trial.on("on_stop", HookOutcome.force_continue("Go on."), times=1)
    budget = trial.on("should_continue", HookOutcome.stop("budget is gone"), when=lambda _ctx: len(budget.calls) == 3)
    state = trial.run()
    assert (state.status, signal_of(state).message, state.step_count) == ("stopped", "budget is gone", 1)


class Persistent:
    """A plugin that wants the run to go on, whatever happens."""

    @hookimpl
    def on_stop(self) -> HookOutcome:
        return ON

    @hookimpl
    def after_step(self) -> HookOutcome:
        return ON


class StateChanging:
    """The same, by way of the state."""

    @hookimpl
    def on_stop(self, state: AgentState) -> HookOutcome:
        return HookOutcome.with_state(state.replace(continuation_requested=True))


class Stops:
    """A plugin whose hook after a tool gives an outcome."""

    def __init__(self, outcome: HookOutcome) -> None:
        self.outcome = outcome

    @hookimpl
    def after_tool_use(self) -> HookOutcome:
        return self.outcome


def goes_on(*plugins: tuple[Any, str]) -> bool:
    """Whether a run with these plugins of these sources makes more than its first step."""
    manager = HookManager(load_plugins=False)
    for plugin, source in plugins:
        manager.register(plugin, type(plugin).__name__, source=source)
    driver = ScriptedDriver(call(), "done", "done", "done", "done")
    AgentRuntime(driver, tools=[echo], hooks=manager).run_sync("go")
    return len(driver.requests) > 1


RANKED = ["skill", "project", "plugin", "code", "managed"]


@pytest.mark.parametrize("forcing_source", [*RANKED, "user"])
@pytest.mark.parametrize("source", [*RANKED, "user"])
def test_a_stop_is_overridden_only_by_its_own_or_a_higher_source(source, forcing_source):
    """User and code have the same rank."""
    stop, force = (RANKED.index("code" if one == "user" else one) for one in (source, forcing_source))
    assert goes_on((Stops(STOP), source), (Persistent(), forcing_source)) == (force >= stop)


@pytest.mark.parametrize("outcome", [STOP, signals("stop_requested")], ids=["outcome", "signal"])
@pytest.mark.parametrize("plugin", [Persistent(), StateChanging()], ids=["outcome", "state"])
def test_a_plugin_cannot_override_a_stop_by_code_in_any_form(outcome, plugin):
    assert not goes_on((Stops(outcome), "code"), (plugin, "plugin"))


def test_a_plugin_whose_hook_has_the_name_of_anothers_has_still_its_own_rank():
    class Impostor:
        @hookimpl(name="boss")
        def on_stop(self) -> HookOutcome:
            return ON

    class Boss:
        @hookimpl(name="boss", priority=100)
        def on_stop(self) -> None:
            return None

    assert not goes_on((Stops(STOP), "code"), (Boss(), "code"), (Impostor(), "plugin"))


def test_the_same_holds_for_an_agent_from_the_builder():
    """A plugin object that an application registers speaks for the application."""
    stop = {"event": "after_tool_use", "decision": "stop", "reason": "enough"}
    force = {"event": "after_step", "decision": "force_continue", "reason": "more", "times": 1, "source": "plugin"}
    check({"replies": [{"call": "echo"}, "done"], "hooks": [stop, force]}, gives={"requests": 1})
    trial = Trial(call(), "done")
    trial.on("after_tool_use", STOP)
    trial.builder = trial.builder.plugin(Persistent())
    trial.run()
    assert len(trial.requests) > 1


# -- limits ------------------------------------------------------------------------------------------------------------


def endless(limit: Any) -> Trial:
    """An agent whose model wants the same tool until a hook has had enough after 120 steps."""
    trial = Trial()
    trial.builder = trial.builder.with_driver(ScriptedDriver(*[lambda _request: call()] * 500))
    trial.on("before_step", HookOutcome.stop("Enough."), when=lambda ctx: ctx.step_index == 120)
    if limit != "default":
        trial.builder = trial.builder.with_limits(max_steps=limit)
    return trial


@pytest.mark.parametrize(("limit", "made"), [(1, 1), (3, 3), (110, 110), (None, 120), ("default", 100)])
def test_a_model_that_never_ends_is_stopped_at_the_limit_of_steps(limit, made):
    state = endless(limit).run()
    signal = signal_of(state)
    assert (state.status, state.step_count) == ("stopped", made)
    assert (signal.reason == "steps_limit") == (limit is not None)
    if limit == "default":
        assert dict(signal.context) == {"currentSteps": 100, "maxSteps": 100}
        assert signal.message.startswith("Step limit reached: 100/100. AgentBuilder.with_limits(max_steps=...)")


@pytest.mark.parametrize("limit", [0, -1, True, 2.5, "many"])
def test_a_limit_that_is_none_is_refused(limit):
    with pytest.raises(RunError, match="max_steps is a whole number from 1, or None"):
        Trial().builder.with_limits(max_steps=limit)
    with pytest.raises(RunError, match="max_steps"):
        AgentRuntime(ScriptedDriver(), max_steps=limit)


# -- running a state again ---------------------------------------------------------------------------------------------

ENDINGS = {"completed": "done", "stopped": StopRunError("enough"), "failed": ConnectionError("no answer")}


@pytest.mark.parametrize("status", ENDINGS)
def test_a_finished_state_forgets_its_execution_and_keeps_the_rest_also_through_json(status):
    trial = Trial(reply("", call(), tokens=5), ENDINGS[status], reply("fine", tokens=2))
    trial.on(
        "before_execution", lambda ctx: HookOutcome.with_state(ctx.state.with_metadata("kept", value=True)), times=1
    )
    ended = trial.run("one", AgentState(system_prompt="Be kind.", response_format="text"))
    assert ended.status == status
    before = AgentState.from_dict(ended.as_dict())
    asked = trial.on("before_execution")
    after = trial.run("two", before)
    (ctx,) = asked.calls
    fresh = ctx.state
    assert fresh is not None
    assert (fresh.steps, fresh.current_step, fresh.usage, fresh.stop_signals) == ((), None, Usage(), ())
    assert (fresh.errors, fresh.output, fresh.continuation_requested) == ((), None, False)
    assert (fresh.status, ctx.step_index) == ("in_progress", 0)
    assert after.messages[: len(before.messages)] == before.messages
    assert (after.metadata, after.system_prompt, after.response_format) == ({"kept": True}, "Be kind.", "text")
    assert (after.agent_id, after.execution_count) == (before.agent_id, 2)
    assert after.execution_id != before.execution_id
    assert (after.status, after.output, after.usage.total, after.step_count) == ("completed", "fine", 2, 1)


@pytest.mark.parametrize("seen", [1, 2])
def test_a_run_that_was_left_can_be_run_again(seen):
    """Leaving ``iterate()`` in the middle leaves a whole state: the next prompt is put to the model."""
    driver = ScriptedDriver(call(), "one", "two")

    async def leave_and_come_back() -> AgentState:
        agent = AgentBuilder(plugins=()).with_driver(driver).with_tools(echo).build()
        run = agent.iterate("first")
        async for state in run:
            if state.step_count == seen:
                break
        driver.replies = (*driver.replies[:seen], "answered")
        return await agent.run("second", run.state)

    state = asyncio.run(leave_and_come_back())
    assert (state.output, len(driver.requests)) == ("answered", seen + 1)
    assert_well_formed(state.messages)


def test_turns_are_a_sessions_outside_of_one_nobody_is_asked_about_them():
    trial = Trial("done", "again")
    asked = trial.on("before_turn", HookOutcome.deny("Not now."))
    trial.run(None, trial.run())
    assert asked.calls == []
