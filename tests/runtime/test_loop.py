"""The loop: the events of a run, what hooks may change of its state, and what ends it at once.

What follows what hooks, tools and drivers do, and what the model reads, `test_lifecycle.py` compares with a model.
"""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_hooks import AgentState, HookContext, HookOutcome
from agent_hooks.model.inference import ModelResponse
from agent_hooks.model.state import Usage
from agent_hooks.model.tool_call import ErrorInfo
from runtime.agents import EVENTS, Trial, call, reply, signal_of, signals, stop_signal

NO = ConnectionError("no answer")
STOP = HookOutcome.stop("that is enough")
ON = HookOutcome.force_continue("there is more to do")


def after_first_step(ctx: HookContext) -> bool:
    return ctx.step_index == 1


@pytest.mark.parametrize("event", [*EVENTS[1:9], "after_step"])
def test_the_signal_of_a_stop_names_its_source_its_event_and_the_reason(event):
    trial = Trial([call("boom"), call("boom")], "done")
    trial.on(event, STOP)
    assert signal_of(trial.run()) == stop_signal(
        "stop_requested", message="that is enough", context={"event": event}, source=f"{event} hook", decided_by="code"
    )


def test_after_step_may_correct_the_record_of_its_step():
    trial = Trial(call("boom"), "done")
    trial.on(
        "after_step", lambda ctx: HookOutcome.with_state(ctx.state.replace(current_step=ctx.step.replace(errors=())))
    )
    state = trial.run()
    assert ([step.errors for step in state.steps], state.status) == ([(), ()], "completed")


# -- hooks and the state -----------------------------------------------------------------------------------------------

CHANGING = [event for event in EVENTS if event != "before_output"]


@pytest.mark.parametrize("waits", [False, True])
def test_each_event_sees_the_state_as_the_hooks_before_it_left_it_also_those_that_wait(waits):
    def note(ctx: Any) -> HookOutcome:
        events = (*ctx.state.metadata.get("events", ()), str(ctx.event))
        return HookOutcome.with_state(ctx.state.with_metadata("events", events))

    async def wait_and_note(ctx: Any) -> HookOutcome:
        await asyncio.sleep(0)
        return note(ctx)

    trial = Trial([call(), call("boom")], call(), NO)
    trial.builder = trial.builder.hook(CHANGING, wait_and_note if waits else note)
    state = trial.run()
    assert list(state.metadata["events"]) == trial.events
    assert set(trial.events) == set(CHANGING)


OWN = {
    "agent_id": "another",
    "parent_agent_id": "another",
    "execution_id": "another",
    "execution_count": 99,
    "status": "completed",
    "steps": (),
    "model_usage": {},
    "stop_signals": (),
    "errors": (),
}


@pytest.mark.parametrize("name", OWN)
def test_a_state_that_a_hook_brings_cannot_change_what_is_the_runs_own(name):
    """Neither the identity of the run nor its history, its usage or its stop signals, whichever event brings it."""
    changes = {name: OWN[name], "metadata": {"brought": True}}

    def run_with(answer: Any) -> AgentState:
        trial = Trial(reply("", call(), tokens=3), reply("", call(), tokens=4), NO)
        trial.on("after_step", signals("unknown"), when=after_first_step)
        trial.on("on_stop", ON, times=1, priority=9)
        for event in ("before_step", "before_inference", "after_tool_use", "after_step", "on_stop"):
            trial.on(event, answer)
        return trial.run("go", AgentState(agent_id="mine", parent_agent_id="parent"))

    honest, tampered = run_with(None), run_with(lambda ctx: HookOutcome.with_state(ctx.state.replace(**changes)))
    assert tampered.metadata == {"brought": True}
    for own in OWN:
        if own not in ("execution_id", "steps"):
            assert getattr(tampered, own) == getattr(honest, own)
    assert [step.message for step in tampered.steps] == [step.message for step in honest.steps]


def test_a_state_that_a_hook_brings_may_add_wishes_to_stop_and_errors():
    def adds(ctx: Any) -> HookOutcome:
        state = ctx.state.with_stop_signal(stop_signal("time_limit"))
        return HookOutcome.with_state(state.replace(errors=(*state.errors, ErrorInfo(type="Mine"))))

    trial = Trial(call(), "done")
    trial.on("after_step", adds)
    state = trial.run()
    assert ([error.type for error in state.errors], signal_of(state).reason) == (["Mine"], "time_limit")


@pytest.mark.parametrize(
    "junk",
    [
        {"errors": None},
        {"stop_signals": None},
        {"model_usage": None},
        {"model_usage": {"scripted": 3}},
        {"current_step": "x"},
    ],
)
def test_a_brought_state_that_is_none_is_dropped_and_the_run_goes_on(junk, caplog):
    trial = Trial(reply("", call(), tokens=3), "done")
    trial.on("after_tool_use", lambda ctx: HookOutcome.with_state(ctx.state.replace(**junk)))
    assert trial.run().status == "completed"
    assert "is none, and is dropped" in caplog.text


def test_a_brought_state_cannot_move_tokens_from_one_kind_to_another():
    def moves(ctx: Any) -> HookOutcome:
        usage = {model: Usage(input_tokens=used.total) for model, used in ctx.state.model_usage.items()}
        return HookOutcome.with_state(ctx.state.replace(model_usage=usage))

    trial = Trial(ModelResponse(content="x", usage=Usage(output_tokens=1000)))
    trial.on("after_step", moves)
    (used,) = trial.run().model_usage.values()
    assert (used.input_tokens, used.output_tokens) == (0, 1000)


def test_metadata_of_an_outcome_lives_in_one_dispatch_only():
    trial = Trial(call(), "done")
    for event in EVENTS:
        trial.on(event, HookOutcome.proceed(metadata={"of": event}), priority=1)
    hooks = {event: trial.on(event) for event in EVENTS}
    assert dict(trial.run().metadata) == {}
    for event, asked in hooks.items():
        assert [ctx.metadata for ctx in asked.calls] == [{"of": event}] * len(asked.calls)


@pytest.mark.parametrize("event", ["before_execution", "before_step", "before_tool_use", "after_step", "the driver"])
def test_a_keyboard_interrupt_ends_everything(event):
    trial = Trial(KeyboardInterrupt() if event == "the driver" else call())
    if event != "the driver":
        trial.on(event, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        trial.run()
    assert not {"on_error", "after_execution"} & set(trial.events)
