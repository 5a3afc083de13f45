"""The loop: which events happen in which order, how a run stops, continues, fails and ends."""

from __future__ import annotations

import asyncio
import logging
import re
import subprocess
import sys
from typing import Any

import pytest

from agent_hooks import AgentState, HookContext, HookManager, HookOutcome, hookimpl
from agent_hooks.errors import DriverError, PromptRefusedError, RunError, RunFailedError, StopRunError
from agent_hooks.model.inference import ModelRequest, ModelResponse
from agent_hooks.model.state import Message, Step, StopReason, StopSignal, Usage
from agent_hooks.model.tool_call import ErrorInfo
from agent_hooks.runtime.agent import AgentRuntime
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import tool
from runtime.agents import (
    EVENTS,
    Gate,
    OnceWaiting,
    Recorder,
    Trial,
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
    stop_signal,
)

REASONS = (
    "error stop_requested user_requested steps_limit token_limit time_limit retry_limit finish_reason completed unknown"
).split()
# Signals that a request for another round overrides; on_stop, which shows the signal, also decisions of hooks.
SOFT = {"completed", "finish_reason", "unknown"}

BEGINNING = "user_input before_execution"
ASKED = "before_inference after_inference"
ROUND = f"should_continue before_step {ASKED}"
CALL = "before_tool_use after_tool_use"
FAILED_CALL = "before_tool_use on_tool_error after_tool_use"
END = "on_stop after_execution"
ANSWERED = "on_stop before_output after_execution"

STOP = HookOutcome.stop("that is enough")
ON = HookOutcome.force_continue("there is more to do")


def signals(reason: str, **fields: Any) -> HookOutcome:
    return HookOutcome.signal(stop_signal(reason, **fields))


def after_first_step(ctx: HookContext) -> bool:
    return ctx.step_index == 1


# -- the order of events -----------------------------------------------------------------------------------------------


def test_the_events_of_steps_with_tools():
    trial = Trial([call(), call()], call(), "done")
    trial.run()
    steps = f"{ROUND} {CALL} {CALL} after_step {ROUND} {CALL} after_step {ROUND} after_step"
    assert trial.events == f"{BEGINNING} {steps} should_continue {ANSWERED}".split()


def test_a_state_alone_has_no_prompt_to_take():
    trial = Trial("done")
    state = trial.run(AgentState(messages=(Message(role="user", content="hello"),)))
    assert trial.events[0] == "before_execution"
    assert said(state.messages) == [("user", "hello"), ("assistant", "done")]


def test_the_events_of_a_driver_that_fails():
    trial = Trial(ConnectionError("no answer"))
    trial.run()
    events = f"{BEGINNING} should_continue before_step before_inference on_error after_step {END}"
    assert trial.events == events.split()


def test_the_events_of_a_driver_that_fails_later():
    trial = Trial(call(), ConnectionError("no answer"))
    trial.run()
    failing = "should_continue before_step before_inference on_error after_step"
    assert trial.events == f"{BEGINNING} {ROUND} {CALL} after_step {failing} {END}".split()


# The events up to that of the stop, then those that still follow.
AFTER_A_STOP = {
    "user_input": ("user_input", ""),
    "before_execution": (BEGINNING, END),
    "should_continue": (f"{BEGINNING} should_continue", END),
    "before_step": (f"{BEGINNING} should_continue before_step", END),
    "before_inference": (f"{BEGINNING} should_continue before_step before_inference", f"after_step {END}"),
    "after_inference": (f"{BEGINNING} {ROUND}", f"after_step {END}"),
    "before_tool_use": (f"{BEGINNING} {ROUND} before_tool_use", f"after_tool_use after_step {END}"),
    "on_tool_error": (f"{BEGINNING} {ROUND} before_tool_use on_tool_error", f"after_tool_use after_step {END}"),
    "after_tool_use": (f"{BEGINNING} {ROUND} {FAILED_CALL}", f"after_step {END}"),
    "after_step": (f"{BEGINNING} {ROUND} {FAILED_CALL} {FAILED_CALL} after_step", END),
}


@pytest.mark.parametrize("event", AFTER_A_STOP)
def test_what_happens_after_a_stop(event):
    """A stop ends the run at the next place where it can end, and its signal names the source and the reason."""
    trial = Trial([call("boom"), call("boom")], "done")
    trial.on(event, STOP)
    state = trial.run()
    before, after = AFTER_A_STOP[event]
    assert trial.events == f"{before} {after}".split()
    assert signal_of(state) == stop_signal(
        "stop_requested",
        message="that is enough",
        context={"event": event},
        source=f"{event} hook",
        decided_by="code",
    )
    assert len(trial.requests) == (1 if event in EVENTS[EVENTS.index("after_inference") :] else 0)


@pytest.mark.parametrize("event", ["on_stop", "before_output"])
def test_a_stop_where_the_run_ends_anyway(event):
    trial = Trial("done")
    trial.on(event, STOP)
    state = trial.run()
    assert trial.events == f"{BEGINNING} {ROUND} after_step should_continue {ANSWERED}".split()
    assert [str(signal.reason) for signal in state.stop_signals] == ["completed", "stop_requested"]
    assert (state.status, signal_of(state).message) == ("stopped", "that is enough")


def test_a_stop_without_a_reason_still_has_a_message():
    trial = Trial("done")
    trial.on("before_step", HookOutcome.stop())
    assert signal_of(trial.run()).message


@pytest.mark.parametrize("event", ["before_execution", "before_step"])
def test_a_deny_reads_as_a_stop_where_there_is_nothing_to_refuse(event):
    trial = Trial("done")
    trial.on(event, HookOutcome.deny("not today"))
    state = trial.run()
    assert trial.events[-3:] == [event, *END.split()]
    assert (state.status, signal_of(state).message) == ("stopped", "not today")


@pytest.mark.parametrize("event", ["before_execution", "should_continue", "before_step"])
def test_a_signal_before_the_step_stops_as_a_stop_does(event):
    """Straight to the end: a signal of ``before_execution`` is not even followed by ``should_continue``."""
    trial = Trial("done")
    trial.on(event, signals("steps_limit"))
    state = trial.run()
    assert trial.events[-3:] == [event, *END.split()]
    assert (state.status, trial.requests, state.steps) == ("stopped", [], ())


def test_should_continue_is_asked_before_the_first_step_too():
    trial = Trial(call(), "done")
    hook = trial.on("should_continue")
    trial.run()
    asked = [(ctx.step_index, ctx.step and ctx.step.index) for ctx in hook.calls]
    assert asked == [(0, None), (1, 0), (2, 1)]


def test_a_step_that_before_step_refuses_has_no_after_step():
    trial = Trial(call(), "done")
    trial.on("before_step", STOP, when=after_first_step)
    state = trial.run()
    assert (trial.events.count("before_step"), trial.events.count("after_step")) == (2, 1)
    assert state.step_count == 1


# Everything that can become of a step once before_step has let it begin.
WAYS_THROUGH_A_STEP = {
    "an answer": ("done", None, None),
    "tools": ([call(), call("boom")], None, None),
    "the driver fails": (ConnectionError("no answer"), None, None),
    "the driver stops": (StopRunError("out of money"), None, None),
    "the driver exits": (SystemExit(3), None, None),
    "the request is refused": ("done", "before_inference", HookOutcome.deny("no")),
    "the request is stopped": ("done", "before_inference", STOP),
    "the request's gate fails": ("done", "before_inference", RuntimeError("broken")),
    "the response is withheld": ("done", "after_inference", HookOutcome.deny("no")),
    "the response is stopped": (call(), "after_inference", STOP),
    "the response is never good enough": (lambda _: "done", "after_inference", HookOutcome.retry()),
    "a tool stops": (call("quit"), None, None),
    "a call is stopped": ([call(), call()], "before_tool_use", STOP),
}


@pytest.mark.parametrize("way", WAYS_THROUGH_A_STEP)
def test_after_step_follows_whatever_became_of_the_step(way):
    @tool(name="quit")
    def leave() -> None:
        raise StopRunError("I am out")

    answer, event, outcome = WAYS_THROUGH_A_STEP[way]
    trial = Trial(*[answer] * 3, *["done"] * 3, tools=(echo, boom, leave))
    trial.on("should_continue", STOP, when=after_first_step)
    if event is not None:
        trial.on(event, outcome)
    state = trial.run()
    assert trial.events.count("before_step") == trial.events.count("after_step") == 1
    assert trial.events[-1] == "after_execution"
    assert state.current_step is None


def test_after_step_sees_the_step_and_what_it_left():
    trial = Trial([call(), call("boom")], reply("done", tokens=7))
    hook = trial.on("after_step")
    trial.run()
    first, last = [ctx.step for ctx in hook.calls]
    assert first is not None
    assert last is not None
    assert [execution.name for execution in first.executions] == ["echo", "boom"]
    assert (first.type, last.type) == ("error", "final_response")
    assert last.message == Message(role="assistant", content="done")
    assert hook.calls[1].state is not None
    assert hook.calls[1].state.usage.total == 7


def test_after_step_may_correct_the_record_of_its_step():
    def forget(ctx: HookContext) -> HookOutcome:
        assert ctx.state is not None
        assert ctx.step is not None
        return HookOutcome.with_state(ctx.state.replace(current_step=ctx.step.replace(errors=())))

    trial = Trial(call("boom"), "done")
    trial.on("after_step", forget)
    state = trial.run()
    assert ([step.errors for step in state.steps], state.status) == ([(), ()], "completed")


def test_after_execution_does_not_see_the_final_status_in_the_state_but_is_told_it():
    """The state is settled after these hooks, which may still change it."""
    for replies, seen in ((["done"], "in_progress"), ([ConnectionError("no")], "failed")):
        trial = Trial(*replies)
        hook = trial.on("after_execution")
        state = trial.run()
        (ctx,) = hook.calls
        assert ctx.state is not None
        assert (ctx.state.status, ctx.status) == (seen, state.status)
        assert ctx.stop_signal == state.stop_signal


def test_the_state_that_after_execution_leaves_is_the_last():
    trial = Trial("done")
    trial.on("after_execution", lambda ctx: HookOutcome.with_state(ctx.state.with_metadata("seen", value=True)))
    state = trial.run()
    assert (state.metadata["seen"], state.status) == (True, "completed")


def test_the_events_that_stand_outside_any_step_happen_once():
    trial = Trial(call(), call(), "done")
    trial.run()
    for event in ("user_input", "before_execution", "on_stop", "before_output", "after_execution"):
        assert trial.events.count(event) == 1


# -- hooks and the state -----------------------------------------------------------------------------------------------

CHANGING = [event for event in EVENTS if event != "before_output"]


@pytest.mark.parametrize("event", CHANGING)
def test_a_change_of_the_state_persists_from_every_event(event):
    replies = [ConnectionError("no")] if event == "on_error" else [call("boom"), "done"]
    trial = Trial(*replies)
    trial.on(event, lambda ctx: HookOutcome.with_state(ctx.state.with_metadata("changed by", event)))
    assert trial.run().metadata == {"changed by": event}


def test_each_event_sees_the_state_as_the_hooks_before_it_left_it():
    trial = Trial([call(), call("boom")], call(), "done")

    def number(ctx: HookContext) -> HookOutcome:
        assert ctx.state is not None
        return HookOutcome.with_state(ctx.state.with_metadata("n", ctx.state.metadata.get("n", 0) + 1))

    for event in CHANGING:
        trial.on(event, number)
    state = trial.run()
    assert state.metadata["n"] == len(trial.events) - trial.events.count("before_output")


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
@pytest.mark.parametrize("event", ["before_step", "before_inference", "after_tool_use", "after_step", "on_stop"])
def test_a_state_that_a_hook_brings_cannot_change_what_is_the_runs_own(name, event):
    """Neither the identity of the run nor its history, its usage or its stop signals."""

    def tampers(ctx: HookContext) -> HookOutcome:
        assert ctx.state is not None
        return HookOutcome.with_state(ctx.state.replace(**{name: OWN[name], "metadata": {"brought": True}}))

    def trial_with(hook: Any) -> AgentState:
        trial = Trial(reply("", call(), tokens=3), reply("", call(), tokens=4), ConnectionError("no"))
        trial.on("after_step", signals("unknown"), when=lambda ctx: ctx.step_index == 1)
        trial.on("on_stop", ON, times=1, priority=9)
        trial.on(event, hook)
        return trial.run("go", AgentState(agent_id="mine", parent_agent_id="parent"))

    honest, tampered = trial_with(None), trial_with(tampers)
    assert tampered.metadata == {"brought": True}
    for own in OWN:
        if own not in ("execution_id", "steps"):
            assert getattr(tampered, own) == getattr(honest, own)
    assert [step.message for step in tampered.steps] == [step.message for step in honest.steps]


def test_a_state_that_a_hook_brings_may_add_wishes_to_stop_and_errors():
    def adds(ctx: HookContext) -> HookOutcome:
        assert ctx.state is not None
        state = ctx.state.with_stop_signal(stop_signal("time_limit"))
        return HookOutcome.with_state(state.replace(errors=(*state.errors, ErrorInfo(type="Mine"))))

    trial = Trial(call(), "done")
    trial.on("after_step", adds)
    state = trial.run()
    assert ([error.type for error in state.errors], signal_of(state).reason) == (["Mine"], "time_limit")


def test_what_each_model_has_cost_is_added_up_also_for_answers_that_were_not_taken():
    def by(model: str, content: str, tokens: int) -> ModelResponse:
        return ModelResponse(content=content, model=model, usage=Usage(input_tokens=tokens))

    trial = Trial(by("small", "no", 3), by("large", "yes", 5), by("large", "really", 7))
    trial.on("after_inference", HookOutcome.retry(), times=1)
    trial.on("on_stop", ON, times=1)
    state = trial.run()
    assert {model: usage.total for model, usage in state.model_usage.items()} == {"small": 3, "large": 12}
    assert state.usage.total == 15


def test_metadata_of_an_outcome_lives_in_one_dispatch_only():
    trial = Trial(call(), "done")
    for event in EVENTS:
        trial.on(event, HookOutcome.proceed(metadata={"of": event}), priority=1)
    hooks = {event: trial.on(event) for event in EVENTS}
    state = trial.run()
    assert dict(state.metadata) == {}
    for event, hook in hooks.items():
        assert [ctx.metadata for ctx in hook.calls] == [{"of": event}] * len(hook.calls)


def test_a_hook_may_change_the_system_prompt_for_the_steps_that_follow():
    trial = Trial(call(), call(), "done")

    def hurry(ctx: HookContext) -> HookOutcome | None:
        assert ctx.state is not None
        return HookOutcome.with_state(ctx.state.with_system_prompt("Hurry.")) if ctx.state.step_count else None

    trial.on("before_step", hurry)
    trial.run()
    assert [request.system_prompt for request in trial.requests] == ["", "Hurry.", "Hurry."]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("error", [RuntimeError("broken"), SystemExit(3)], ids=["error", "exit"])
def test_no_failure_of_a_hook_escapes_wherever_it_is(event, error):
    """A failed gate closes its event, another failure is passed over; the run ends as it would."""
    replies = [ConnectionError("no")] if event == "on_error" else [call("boom"), "done"]
    trial = Trial(*replies)
    trial.on(event, error)
    if event == "user_input":
        with pytest.raises(PromptRefusedError, match="user_input hook"):
            trial.run()
        return
    state = trial.run()
    assert trial.events[-1] == "after_execution"
    closed = event in ("before_execution", "should_continue", "before_step", "before_inference", "after_inference")
    stops = [signal for signal in state.stop_signals if signal.context.get("failed")]
    assert len(stops) == (closed or event == "before_output")
    assert bool(state.output) == (event not in ("on_error", "before_output") and not closed)


@pytest.mark.parametrize("event", CHANGING)
def test_hooks_may_be_async_and_really_wait(event):
    async def note(ctx: HookContext) -> HookOutcome:
        await asyncio.sleep(0)
        assert ctx.state is not None
        return HookOutcome.with_state(ctx.state.with_metadata("noted", str(ctx.event)))

    replies = [ConnectionError("no")] if event == "on_error" else [call("boom"), "done"]
    trial = Trial(*replies)
    trial.builder = trial.builder.hook(event, note)
    assert trial.run().metadata == {"noted": event}


# -- messages for the model --------------------------------------------------------------------------------------------

# The position of each event's context: the message before it in the model's next conversation.
TELLING = {
    "user_input": ("user", "go"),
    "before_execution": ("user", "go"),
    "should_continue": ("user", "go"),
    "before_step": ("user", "go"),
    "before_inference": ("user", "go"),
    "after_inference": ("tool", "Error: no fuel"),
    "after_step": ("tool", "Error: no fuel"),
}


@pytest.mark.parametrize("event", EVENTS)
def test_context_of_every_event_reaches_the_model_exactly_once(event):
    """At the latest with the next prompt; and the conversation stays one that models accept."""
    trial = Trial(*(["done"] if event != "on_error" else []), call("boom"), "well", "again")
    if event == "on_error":
        trial = Trial(ConnectionError("no"), call("boom"), "well", "again")
    trial.on(event, HookOutcome.with_context("mind the gap"), times=1)
    state = trial.run()
    state = trial.run("and then?", state)
    state = trial.run("and now?", state)
    assert [count("mind the gap", request.messages) for request in trial.requests][-1] == 1
    assert count("mind the gap", state.messages) == 1
    for request in trial.requests:
        assert_well_formed(request.messages)


@pytest.mark.parametrize("event", TELLING)
def test_context_stands_where_it_belongs(event):
    trial = Trial(call("boom"), "done")
    trial.on(event, HookOutcome.with_context("mind the gap"), times=1)
    trial.run()
    request = next(request for request in trial.requests if count("mind the gap", request.messages))
    texts = said(request.messages)
    assert texts[texts.index(("user", "mind the gap")) - 1] == TELLING[event]
    assert request is trial.requests[event in ("after_inference", "after_step")]


@pytest.mark.parametrize("event", ["before_tool_use", "on_tool_error", "after_tool_use"])
def test_context_about_a_tool_call_stands_in_its_result(event):
    trial = Trial(call("boom"), "done")
    trial.on(event, HookOutcome.with_context("mind the gap"))
    state = trial.run()
    assert said(state.messages)[2] == ("tool", "Error: no fuel\n\nmind the gap")


def test_context_of_hooks_is_marked_as_theirs():
    trial = Trial("done")
    trial.on("before_step", HookOutcome.with_context("mind the gap"))
    (message,) = [message for message in trial.run().messages if message.content == "mind the gap"]
    assert (message.role, message.metadata) == ("user", {"source": "hooks"})


@pytest.mark.parametrize("event", ["before_execution", "before_step", "after_step", "after_tool_use"])
def test_messages_of_hooks_reach_the_model_once_and_never_part_a_call_from_its_result(event):
    trial = Trial([call(), call("boom")], "done")
    trial.on(event, HookOutcome.proceed(messages=(Message(role="user", content="from a hook"),)), times=1)
    state = trial.run()
    assert count("from a hook", trial.requests[-1].messages) == count("from a hook", state.messages) == 1
    assert_well_formed(state.messages)


def test_context_brought_again_for_a_retry_reaches_the_model_once():
    trial = Trial("no", "yes")
    trial.on("before_inference", HookOutcome.with_context("mind the gap"))
    trial.on("after_inference", HookOutcome.retry(), times=1)
    trial.run()
    assert [count("mind the gap", request.messages) for request in trial.requests] == [1, 1]


def test_what_is_added_after_the_answer_stands_behind_it():
    trial = Trial("done")
    trial.on("after_step", HookOutcome.with_context("noted"))
    assert said(trial.run().messages) == [("user", "go"), ("assistant", "done"), ("user", "noted")]


# -- the prompt --------------------------------------------------------------------------------------------------------


def test_a_refused_prompt_raises_with_the_reason_and_nothing_of_the_run_happens():
    trial = Trial("done")
    trial.on("user_input", HookOutcome.deny("no secrets, please"))
    with pytest.raises(PromptRefusedError, match=r"^no secrets, please$"):
        trial.run("the password is 1234")
    assert (trial.events, trial.requests) == (["user_input"], [])


def test_a_prompt_that_stops_the_run_leaves_a_stopped_state_without_it():
    trial = Trial("done")
    trial.on("user_input", STOP)
    state = trial.run()
    assert (state.status, state.messages, trial.events) == ("stopped", (), ["user_input"])
    assert signal_of(state).message == "that is enough"


def test_a_rewritten_prompt_is_the_one_the_model_reads():
    trial = Trial("done")
    trial.on("user_input", lambda ctx: HookOutcome.proceed(prompt=ctx.prompt.replace("swordfish", "****")))
    state = trial.run("the password is swordfish")
    assert said(trial.requests[0].messages) == [("user", "the password is ****")]
    assert "swordfish" not in str(state)


def test_context_about_the_prompt_stands_right_behind_it():
    trial = Trial("done")
    trial.on("user_input", HookOutcome.with_context("It is Monday."))
    trial.run()
    assert said(trial.requests[0].messages) == [("user", "go"), ("user", "It is Monday.")]


def test_a_prompt_may_be_made_of_parts():
    parts = [{"type": "text", "text": "look"}, {"type": "image", "url": "x.png"}]
    trial = Trial("done")
    trial.run(parts)
    (message,) = trial.requests[0].messages
    assert [dict(part) for part in message.content] == parts


def test_an_empty_prompt_is_a_prompt():
    trial = Trial("done")
    trial.run("")
    assert said(trial.requests[0].messages) == [("user", "")]


# -- stop signals and the status ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("reason", REASONS)
def test_the_status_follows_the_reason(reason):
    trial = Trial(call())
    trial.on("after_step", signals(reason))
    state = trial.run()
    assert signal_of(state).reason == reason
    assert state.status == ("completed" if reason in ("completed", "finish_reason") else "stopped")


@pytest.mark.parametrize("first", range(len(REASONS)))
def test_the_most_authoritative_signal_is_reported(first):
    """Whatever the order in which they were added; those of an outranked reason stay on record."""
    trial = Trial("done")
    for reason in reversed(REASONS[first:]):
        trial.on("before_step", signals(reason, source=reason))
    state = trial.run()
    assert [str(signal.reason) for signal in state.stop_signals] == REASONS[first:][::-1]
    assert signal_of(state).source == REASONS[first]


def test_of_equal_reasons_the_first_is_reported():
    trial = Trial("done")
    trial.on("before_step", signals("time_limit", source="second"), priority=1)
    trial.on("before_step", signals("time_limit", source="first"), priority=2)
    assert signal_of(trial.run()).source == "first"


def test_signals_do_not_end_the_chain_and_a_stop_does():
    """Several guards may each add a signal; no hook runs after an outcome that stops."""
    trial = Trial("done")
    trial.on("before_step", signals("time_limit"), priority=3)
    trial.on("before_step", HookOutcome.stop("now", signal=stop_signal("token_limit")), priority=2)
    last = trial.on("before_step", signals("steps_limit"), priority=1)
    state = trial.run()
    assert [str(signal.reason) for signal in state.stop_signals] == ["time_limit", "token_limit", "stop_requested"]
    assert last.calls == []


def test_the_signals_of_on_stop_count_too():
    """Guards there may change the reported result, and so the status."""
    trial = Trial("done")
    trial.on("on_stop", signals("time_limit"))
    state = trial.run()
    assert (signal_of(state).reason, state.status) == ("time_limit", "stopped")


def test_on_stop_is_told_the_signal_that_is_reported():
    trial = Trial("done")
    trial.on("before_step", signals("time_limit"))
    hook = trial.on("on_stop")
    state = trial.run()
    assert [(ctx.stop_signal, ctx.stop_hook_active) for ctx in hook.calls] == [(signal_of(state), False)]


@pytest.mark.parametrize("most", [0, 1, 3])
def test_a_limit_before_each_step_is_the_number_of_steps(most):
    trial = Trial(*[call()] * 5)
    trial.on("before_step", signals("steps_limit"), when=lambda ctx: ctx.step_index >= most)
    state = trial.run()
    assert (state.step_count, len(trial.requests), state.status) == (most, most, "stopped")


def test_a_run_that_ends_by_itself_at_its_limit_is_completed():
    trial = Trial(call(), "done")
    trial.on("before_step", signals("steps_limit"), when=lambda ctx: ctx.step_index >= 2)
    state = trial.run()
    assert (state.step_count, state.status, signal_of(state).reason) == (2, "completed", "completed")


def test_a_wish_to_stop_in_the_state_itself_is_honoured():
    trial = Trial("done")
    trial.on("before_step", lambda ctx: HookOutcome.with_state(ctx.state.with_stop_signal(stop_signal("time_limit"))))
    state = trial.run()
    assert (trial.requests, state.status) == ([], "stopped")


# -- another round -----------------------------------------------------------------------------------------------------


def forcing(event: str, reason: str, **outcome: Any) -> Trial:
    """A run that ``reason`` would end after its first step, and a hook on ``event`` that wants another."""
    trial = Trial(call(), "done")
    place = "after_step" if event == "on_stop" else event
    when = None if place == "after_step" else after_first_step
    trial.on(place, signals(reason, **outcome), times=1, when=when, priority=1)
    trial.on(event, ON, times=1, when=None if event in ("after_step", "on_stop") else after_first_step)
    return trial


FORCING = ["after_step", "should_continue", "before_step", "on_stop"]


@pytest.mark.parametrize("event", FORCING)
@pytest.mark.parametrize("reason", REASONS)
def test_a_hook_may_force_another_round_against_soft_reasons_and_never_against_hard_ones(event, reason):
    trial = forcing(event, reason)
    state = trial.run()
    if reason in SOFT or (event, reason) == ("on_stop", "stop_requested"):
        assert (len(trial.requests), state.status, state.output) == (2, "completed", "done")
        assert [str(signal.reason) for signal in state.stop_signals] == ["completed"]
        assert count("there is more to do", trial.requests[1].messages) == 1
    else:
        assert (len(trial.requests), signal_of(state).reason, state.status) == (1, reason, "stopped")
        assert count("there is more to do", state.messages) == 0


@pytest.mark.parametrize("event", FORCING)
def test_a_soft_reason_is_not_overridden_beside_a_hard_one(event):
    trial = forcing(event, "unknown")
    trial.on("after_step", signals("time_limit"), times=1, priority=2)
    state = trial.run()
    assert (len(trial.requests), signal_of(state).reason) == (1, "time_limit")
    assert {str(signal.reason) for signal in state.stop_signals} >= {"unknown", "time_limit"} - (
        {"unknown"} if event in ("should_continue", "before_step") else set()
    )


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
    state = trial.run()
    assert (state.output, len(trial.requests)) == ("done", 6)


def test_each_run_has_its_own_forced_rounds():
    trial = Trial(*["done"] * 9, max_forced_continuations=1)
    trial.on("on_stop", ON)
    state = trial.run()
    assert len(trial.requests) == 2
    trial.run("and again", state)
    assert len(trial.requests) == 4


def test_a_forced_round_without_a_reason_tells_the_model_so():
    trial = Trial("done", "really done")
    trial.on("on_stop", HookOutcome.force_continue(), times=1)
    trial.run()
    message = trial.requests[1].messages[-1]
    assert (message.role, message.metadata) == ("user", {"source": "hooks"})
    assert "continu" in str(message.content)


def test_on_stop_is_told_that_it_is_a_repeat_and_asked_again():
    trial = Trial("one", "two", "three")
    hook = trial.on("on_stop", ON, when=lambda ctx: ctx.step_index < 3)
    state = trial.run()
    assert [ctx.stop_hook_active for ctx in hook.calls] == [False, True, True]
    assert (state.output, state.step_count) == ("three", 3)


def test_a_round_forced_elsewhere_is_a_repeat_for_on_stop_too():
    trial = Trial("one", "two")
    trial.on("after_step", ON, times=1)
    hook = trial.on("on_stop")
    trial.run()
    assert [ctx.stop_hook_active for ctx in hook.calls] == [True]


def test_a_forced_round_goes_through_should_continue_and_before_step():
    trial = Trial("one", "two")
    trial.on("on_stop", ON, times=1)
    trial.run()
    steps = f"{ROUND} after_step should_continue on_stop {ROUND} after_step should_continue"
    assert trial.events == f"{BEGINNING} {steps} {ANSWERED}".split()


def test_before_step_may_refuse_a_forced_round():
    trial = Trial("one", "two")
    trial.on("on_stop", ON)
    trial.on("before_step", signals("steps_limit"), when=after_first_step)
    state = trial.run()
    assert (len(trial.requests), signal_of(state).reason, state.output) == (1, "steps_limit", "one")


def test_only_the_last_answer_is_let_out():
    trial = Trial("one", "two")
    trial.on("on_stop", ON, times=1)
    hook = trial.on("before_output")
    state = trial.run()
    assert ([ctx.output for ctx in hook.calls], state.output) == (["two"], "two")


def test_the_state_may_carry_the_wish_for_another_round():
    def ask_for_more(ctx: HookContext) -> HookOutcome:
        assert ctx.state is not None
        return HookOutcome.with_state(ctx.state.replace(continuation_requested=True))

    trial = Trial("one", "two")
    trial.on("after_step", ask_for_more, times=1)
    state = trial.run()
    assert (state.output, state.continuation_requested) == ("two", False)


def test_a_deny_on_stop_reads_as_a_wish_to_go_on():
    trial = Trial("one", "two")
    trial.on("on_stop", HookOutcome.deny("the tests still fail"), times=1)
    state = trial.run()
    assert state.output == "two"
    assert count("the tests still fail", trial.requests[1].messages) == 1


def test_of_should_continue_all_are_asked_and_stop_beats_going_on():
    trial = Trial("done")
    trial.on("should_continue", ON, priority=2)
    other = trial.on("should_continue", STOP, priority=1)
    last = trial.on("should_continue")
    state = trial.run()
    assert (len(other.calls), len(last.calls), trial.requests, state.status) == (1, 1, [], "stopped")


@pytest.mark.parametrize("event", ["before_execution", "should_continue", "before_step", "before_inference"])
@pytest.mark.parametrize("forcing_event", FORCING)
def test_the_stop_of_a_failed_gate_is_never_overridden(event, forcing_event):
    trial = Trial("done", "more")
    trial.on(event, RuntimeError("broken"), times=1)
    trial.on(forcing_event, ON)
    state = trial.run()
    assert (trial.requests, state.status) == ([], "stopped")
    assert signal_of(state).context["failed"] is True
    assert f"{event} hook" in signal_of(state).message


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


def stopped_by(source: str, forcing_source: str, outcome: HookOutcome, plugin: Any = None) -> ScriptedDriver:
    """A run that a hook of one source stops after a step, and that a plugin of another source wants to go on."""

    class Stops:
        @hookimpl
        def after_tool_use(self) -> HookOutcome:
            return outcome

    manager = HookManager(load_plugins=False)
    manager.register(Stops(), "stops", source=source)
    manager.register(plugin or Persistent(), "persistent", source=forcing_source)
    driver = ScriptedDriver(call(), "done", "done", "done", "done")
    AgentRuntime(driver, tools=[echo], hooks=manager).run_sync("go")
    return driver


RANKED = ["skill", "project", "plugin", "code", "managed"]


@pytest.mark.parametrize("forcing_source", RANKED)
@pytest.mark.parametrize("source", RANKED)
def test_a_stop_is_overridden_only_by_its_own_or_a_higher_source(source, forcing_source):
    driver = stopped_by(source, forcing_source, STOP)
    goes_on = RANKED.index(forcing_source) >= RANKED.index(source)
    assert (len(driver.requests) > 1) == goes_on


def test_user_and_code_have_the_same_rank():
    assert len(stopped_by("user", "code", STOP).requests) > 1
    assert len(stopped_by("code", "user", STOP).requests) > 1


@pytest.mark.parametrize("outcome", [STOP, signals("stop_requested")], ids=["outcome", "signal"])
@pytest.mark.parametrize("plugin", [Persistent(), StateChanging()], ids=["outcome", "state"])
def test_a_plugin_cannot_override_a_stop_by_code_in_any_form(outcome, plugin):
    assert len(stopped_by("code", "plugin", outcome, plugin).requests) == 1


def test_a_plugin_whose_hook_has_the_name_of_anothers_has_still_its_own_rank():
    class Stops:
        @hookimpl
        def after_step(self) -> HookOutcome:
            return STOP

    class Impostor:
        @hookimpl(name="boss")
        def on_stop(self) -> HookOutcome:
            return ON

    class Boss:
        @hookimpl(name="boss", priority=100)
        def on_stop(self) -> None:
            return None

    manager = HookManager(load_plugins=False)
    manager.register(Stops(), "stops", source="code")
    manager.register(Boss(), "boss", source="code")
    manager.register(Impostor(), "impostor", source="plugin")
    driver = ScriptedDriver(call(), "done", "done", "done", "done")
    AgentRuntime(driver, tools=[echo], hooks=manager).run_sync("go")
    assert len(driver.requests) == 1


def test_the_same_holds_for_an_agent_from_the_builder():
    """A plugin object that an application registers speaks for the application."""
    trial = Trial(call(), "done")
    trial.on("after_tool_use", STOP)
    trial.on("after_step", ON, times=1, source="plugin")
    trial.run()
    assert len(trial.requests) == 1
    trial = Trial(call(), "done")
    trial.on("after_tool_use", STOP)
    trial.builder = trial.builder.plugin(Persistent())
    trial.run()
    assert len(trial.requests) > 1


# -- the request and the response --------------------------------------------------------------------------------------


def test_the_request_says_everything_the_model_is_asked():
    trial = Trial("done")
    schema = {"type": "object"}
    trial.run("go", AgentState(system_prompt="Be kind.", response_format=schema))
    (request,) = trial.requests
    assert (request.model, request.system_prompt, request.response_format) == ("scripted", "Be kind.", schema)
    assert [tool["name"] for tool in request.tools] == ["echo", "boom"]
    assert request.tools[0]["description"] == "Say it again."
    assert request.tools[0]["parameters"]["required"] == ["text"]
    assert said(request.messages) == [("user", "go")]


@pytest.mark.parametrize("event", ["before_inference", "after_inference"])
def test_inference_hooks_are_told_what_they_match_and_measure(event):
    trial = Trial(reply("done"))
    yes, no = trial.on(event, match="script"), trial.on(event, match="other")
    trial.run()
    assert no.calls == []
    (ctx,) = yes.calls
    assert (ctx.model, ctx.message_count, ctx.tool_count) == ("scripted", 1, 2)
    assert isinstance(ctx.request, ModelRequest)
    assert ctx.response == (None if event == "before_inference" else reply("done"))


def test_after_inference_is_told_the_model_that_answered():
    trial = Trial(ModelResponse(content="done", model="scripted-2026"))
    hook = trial.on("after_inference")
    state = trial.run()
    assert (hook.calls[0].model, state.steps[0].model) == ("scripted-2026", "scripted-2026")


def test_a_rewritten_request_is_the_one_that_is_sent_and_leaves_the_conversation():
    trial = Trial("done")

    def shorten(ctx: HookContext) -> HookOutcome:
        return HookOutcome.proceed(request=ctx.request.replace(messages=(), settings={"temperature": 0}))

    trial.on("before_inference", shorten)
    state = trial.run()
    assert (trial.requests[0].messages, trial.requests[0].settings) == ((), {"temperature": 0})
    assert said(state.messages) == [("user", "go"), ("assistant", "done")]


def test_context_is_added_to_a_rewritten_request_too():
    trial = Trial("done")
    trial.on(
        "before_inference", lambda ctx: HookOutcome.proceed(request=ctx.request.replace(messages=()), context="Hi")
    )
    trial.run()
    assert said(trial.requests[0].messages) == [("user", "Hi")]


@pytest.mark.parametrize("outcome", [HookOutcome.deny("too dear"), HookOutcome.stop("too dear"), RuntimeError("bang")])
def test_a_refused_request_is_not_sent_and_no_step_is_recorded(outcome):
    trial = Trial("done")
    trial.on("before_inference", outcome)
    state = trial.run()
    assert (trial.requests, state.steps, state.status, state.output) == ([], (), "stopped", None)
    assert said(state.messages) == [("user", "go")]
    assert len(state.stop_signals) == 1


def test_a_rewritten_response_takes_the_place_of_the_models():
    trial = Trial(reply("my key is swordfish", tokens=5))
    trial.on(
        "after_inference", lambda ctx: HookOutcome.proceed(response=ctx.response.replace(content="my key is ****"))
    )
    state = trial.run()
    assert (state.output, state.usage.total) == ("my key is ****", 5)
    assert "swordfish" not in str(state)


def test_an_earlier_hooks_rewrite_is_kept_where_a_later_one_stops():
    """What was taken out of an answer does not come back because the run ends."""
    trial = Trial("my key is swordfish")
    trial.on("after_inference", HookOutcome.proceed(response="my key is ****"), priority=2)
    trial.on("after_inference", STOP, priority=1)
    state = trial.run()
    assert (state.output, state.status) == ("my key is ****", "stopped")
    assert "swordfish" not in str(state)


def test_hooks_after_a_rewritten_request_are_told_what_is_in_it():
    trial = Trial("done")
    changes = {"model": "claude-opus-4", "messages": (), "tools": ()}
    trial.on("before_inference", lambda ctx: HookOutcome.proceed(request=ctx.request.replace(**changes)), priority=1)
    hook = trial.on("before_inference")
    trial.run()
    ctx = hook.calls[-1]
    assert (ctx.model, ctx.message_count, ctx.tool_count) == ("claude-opus-4", 0, 0)


def test_a_response_may_be_rewritten_into_a_call():
    trial = Trial("I would rather not", "done")
    trial.on("after_inference", HookOutcome.proceed(response=call()), times=1)
    state = trial.run()
    assert ("tool", "echo: a") in said(state.messages)


def test_a_withheld_response_is_recorded_without_its_message_and_with_its_cost():
    trial = Trial(reply("the secret", call(), tokens=5, finish_reason="tool_calls"))
    trial.on("after_inference", HookOutcome.deny("not for you"))
    state = trial.run()
    (step,) = state.steps
    assert step == Step(model="scripted", usage=Usage(input_tokens=5), finish_reason="withheld")
    assert (state.usage.total, state.status, state.output) == (5, "stopped", None)
    assert signal_of(state).message == "not for you"
    assert "the secret" not in str(state)
    assert "before_tool_use" not in trial.events


def test_a_response_that_stops_is_recorded_and_its_tools_are_not_run():
    ran: list[str] = []

    @tool
    def work(text: str) -> None:
        ran.append(text)

    trial = Trial([call("work", text="a"), call("work", text="b")], tools=[work])
    trial.on("after_inference", STOP)
    state = trial.run()
    assert ran == []
    assert [(e.was_blocked, e.reason) for e in state.steps[0].executions] == [
        (True, "Not run: the run was stopped.")
    ] * 2
    assert not set(trial.events) & {"before_tool_use", "after_tool_use"}
    assert_well_formed(state.messages)
    assert state.status == "stopped"


def test_a_signal_after_inference_lets_the_tools_run():
    """Only an outcome that stops is a decision; a signal ends the run after the step."""
    trial = Trial(call(), "done")
    trial.on("after_inference", signals("time_limit"))
    state = trial.run()
    assert (said(state.messages)[-1], len(trial.requests)) == (("tool", "echo: a"), 1)


def test_a_final_answer_that_stops_is_still_the_output():
    trial = Trial("done")
    trial.on("after_inference", STOP)
    state = trial.run()
    assert (state.output, state.status) == ("done", "stopped")


# -- once more ---------------------------------------------------------------------------------------------------------


def test_a_retried_response_goes_through_before_inference_again():
    trial = Trial(reply("no", tokens=3), reply("yes", tokens=4))
    trial.on("after_inference", HookOutcome.retry("say yes"), when=lambda ctx: ctx.response.content == "no")
    state = trial.run()
    assert (
        trial.events
        == f"{BEGINNING} should_continue before_step {ASKED} {ASKED} after_step should_continue {ANSWERED}".split()
    )
    assert (said(state.messages), state.step_count) == ([("user", "go"), ("assistant", "yes")], 1)
    assert state.usage.total == state.steps[0].usage.total == 7


def test_the_model_is_told_why_it_is_asked_again_and_only_then():
    trial = Trial("no", "yes", "well")
    trial.on("after_inference", HookOutcome.retry("say yes"), when=lambda ctx: ctx.response.content == "no")
    trial.run("and now?", trial.run())
    assert [count("say yes", request.messages) for request in trial.requests] == [0, 1, 0]


@pytest.mark.parametrize("most", [0, 1, 2])
def test_retries_of_a_response_are_limited(most):
    trial = Trial(*[reply("no", call(), tokens=2)] * 9, max_retries=most)
    trial.on("after_inference", HookOutcome.retry())
    state = trial.run()
    assert len(trial.requests) == 1 + most
    assert (signal_of(state).reason, state.status, state.usage.total) == ("retry_limit", "stopped", 2 * (1 + most))
    assert "before_tool_use" not in trial.events


@pytest.mark.parametrize("outcome", [HookOutcome.deny("no"), STOP, RuntimeError("bang")], ids=["deny", "stop", "fails"])
def test_what_a_retried_response_has_cost_is_counted_even_if_the_next_request_is_refused(outcome):
    trial = Trial(reply("no", tokens=3), "yes")
    trial.on("after_inference", HookOutcome.retry())
    trial.on("before_inference", outcome, when=lambda _: trial.requests)
    state = trial.run()
    assert (len(trial.requests), state.usage.total) == (1, 3)


@pytest.mark.parametrize("error", [ConnectionError("no"), StopRunError("no")], ids=["error", "stop"])
def test_what_a_retried_response_has_cost_is_counted_even_if_the_driver_then_fails(error):
    trial = Trial(reply("no", tokens=3), error)
    trial.on("after_inference", HookOutcome.retry())
    state = trial.run()
    assert (len(trial.requests), state.usage.total) == (2, 3)


def test_a_failed_request_may_be_tried_again():
    trial = Trial(ConnectionError("no answer"), "done")
    hook = trial.on("on_error", HookOutcome.retry())
    state = trial.run()
    assert (state.status, state.output, state.errors, len(hook.calls)) == ("completed", "done", (), 1)
    again = "before_inference on_error before_inference after_inference"
    assert (
        trial.events == f"{BEGINNING} should_continue before_step {again} after_step should_continue {ANSWERED}".split()
    )


@pytest.mark.parametrize("most", [0, 1, 2])
def test_retries_of_a_failing_request_are_limited_and_its_error_is_not_lost(most):
    trial = Trial(*[ConnectionError("no answer")] * 9, max_retries=most)
    trial.on("on_error", HookOutcome.retry())
    state = trial.run()
    assert len(trial.requests) == 1 + most
    assert (state.status, [error.message for error in state.errors][-1:]) == ("failed", ["no answer"])


@pytest.mark.parametrize(("source", "shown"), [("quota", "quota"), ("", "stops")])
def test_a_tool_that_stops_the_run_may_say_who_wants_it(source, shown):
    @tool
    def stops() -> None:
        raise StopRunError("Enough.", source=source, limit=3)

    signal = signal_of(Trial(call("stops"), tools=(stops,)).run())
    assert (signal.source, signal.message, dict(signal.context)) == (shown, "Enough.", {"limit": 3})


# -- limits ------------------------------------------------------------------------------------------------------------


def endless() -> Trial:
    """An agent whose model wants the same tool for ever."""
    trial = Trial()
    trial.builder = trial.builder.with_driver(ScriptedDriver(*[lambda _request: call()] * 500))
    return trial


def test_a_model_that_never_ends_is_stopped_after_a_hundred_steps_and_the_state_says_how_to_change_that():
    trial = endless()
    state = trial.run()
    assert (state.status, state.step_count) == ("stopped", 100)
    signal = signal_of(state)
    assert (signal.reason, dict(signal.context)) == ("steps_limit", {"currentSteps": 100, "maxSteps": 100})
    assert signal.message.startswith("Step limit reached: 100/100. AgentBuilder.with_limits(max_steps=...)")


@pytest.mark.parametrize(("limit", "made"), [(1, 1), (3, 3), (120, 120), (None, 150)])
def test_the_limit_of_steps_is_a_setting_and_none_is_none(limit, made):
    trial = endless()
    trial.on("before_step", HookOutcome.stop("Enough."), when=lambda ctx: ctx.step_index == 150)
    trial.builder = trial.builder.with_limits(max_steps=limit)
    assert trial.run().step_count == made


def test_a_run_that_finishes_with_its_last_step_is_completed():
    trial = Trial(call(), "done")
    trial.builder = trial.builder.with_limits(max_steps=2)
    state = trial.run()
    assert (state.status, state.output) == ("completed", "done")


@pytest.mark.parametrize("event", ["on_stop", "should_continue"])
def test_no_hook_goes_beyond_the_limit_of_steps(event):
    trial = Trial("one", "two", "three", max_forced_continuations=9)
    trial.on(event, HookOutcome.force_continue("More."))
    trial.builder = trial.builder.with_limits(max_steps=2)
    state = trial.run()
    assert (state.status, state.step_count, signal_of(state).reason) == ("stopped", 2, "steps_limit")


@pytest.mark.parametrize("limit", [0, -1, True, 2.5, "many"])
def test_a_limit_that_is_none_is_refused(limit):
    with pytest.raises(RunError, match="max_steps is a whole number from 1, or None"):
        Trial().builder.with_limits(max_steps=limit)
    with pytest.raises(RunError, match="max_steps"):
        AgentRuntime(ScriptedDriver(), max_steps=limit)


# -- errors ------------------------------------------------------------------------------------------------------------

FAILING = """
from agent_hooks import AgentBuilder, ScriptedDriver, ToolCall

def pay(card: str) -> None:
    raise ValueError(f"no such card: {card}")

agent = AgentBuilder(plugins=()).with_driver(ScriptedDriver(ToolCall("pay", {"card": "4111"}), ConnectionError("4111")))
state = agent.with_tools(pay).with_name("shop").build().run_sync("Pay with 4111.")
print(state.status, [error.type for error in state.errors])
state.raise_for_error()
"""


def test_a_program_whose_run_fails_reads_one_warning_with_the_kinds_of_errors_and_no_values(tmp_path):
    done = subprocess.run([sys.executable, "-c", FAILING], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout == "failed ['ValueError', 'ConnectionError']\n"
    warning, *rest = done.stderr.splitlines()
    assert re.fullmatch(
        r"agent_hooks: the run [0-9a-f]{16} of 'shop' failed: tool pay: ValueError, model scripted: ConnectionError",
        warning,
    )
    assert rest[0].startswith("Traceback")
    assert rest[-1] == "agent_hooks.errors.RunFailedError: ValueError: no such card: 4111; ConnectionError: 4111"


def test_where_a_run_failed_is_logged_at_debug_without_values(caplog):
    with caplog.at_level(logging.DEBUG, logger="agent_hooks.runtime"):
        Trial(call("boom", text="s3cr3t"), call("nothing", text="s3cr3t"), ConnectionError("s3cr3t")).run()
    (warning,) = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    kinds = "tool boom: ValueError, an unknown tool: RunError, model scripted: ConnectionError"
    assert warning.endswith(f"failed: {kinds}")
    assert "in boom" in caplog.text
    assert "s3cr3t" not in caplog.text


def test_a_run_that_did_not_fail_logs_nothing_and_raises_nothing(caplog):
    state = Trial(ConnectionError("no answer"), call(), "done")
    state.on("on_error", HookOutcome.retry())
    done = state.run()
    assert (done.raise_for_error(), caplog.records) == (done, [])


def test_no_traceback_of_a_run_begins_with_a_missing_event_loop():
    trial = Trial("done")
    trial.on("user_input", HookOutcome.deny("No."))
    with pytest.raises(PromptRefusedError) as raised:
        trial.run()
    assert raised.value.__context__ is None


def test_the_type_of_an_error_is_said_once():
    def look(key: str) -> str:
        raise KeyError(key)

    made = AgentBuilder(plugins=()).with_driver(ScriptedDriver(call("look", key="a"), "done"))
    with pytest.raises(RunFailedError, match=r"^KeyError: 'a'$"):
        made.with_tools(look).build().run_sync("Go.").raise_for_error()


def test_errors_of_tools_are_in_the_state_once_and_in_order():
    state = Trial([call("boom", text="a"), call("boom", text="b")], call("boom", text="c"), "done").run()
    assert (state.status, [error.message for error in state.errors]) == ("failed", ["a", "b", "c"])
    with pytest.raises(RunFailedError, match=r"^ValueError: a; ValueError: b; ValueError: c$"):
        state.raise_for_error()


ERRORS = [ConnectionError("no answer"), SystemExit(3), asyncio.CancelledError("its own"), KeyError("k")]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_whatever_a_driver_raises_fails_the_run_and_is_on_record(error):
    trial = Trial(error)
    hook = trial.on("on_error")
    state = trial.run()
    info = ErrorInfo.of(error)
    assert (state.status, state.errors, state.output) == ("failed", (info,), None)
    assert [step.errors for step in state.steps] == [(info,)]
    assert signal_of(state).reason == "error"
    assert info.type in signal_of(state).message
    (ctx,) = hook.calls
    assert ctx.error is error
    assert ctx.error_list == (info,)
    assert ctx.has_errors
    assert ctx.state is not None
    assert ctx.state.status == "failed"


def test_on_error_hears_only_of_the_errors_its_match_names():
    trial = Trial(ConnectionError("no answer"))
    yes, no = trial.on("on_error", match="ConnectionError"), trial.on("on_error", match="KeyError")
    trial.run()
    assert (len(yes.calls), len(no.calls)) == (1, 0)


def test_the_steps_before_an_error_are_kept():
    trial = Trial(call(), ConnectionError("no answer"))
    state = trial.run()
    assert [step.type for step in state.steps] == ["tool_execution", "error"]
    assert said(state.messages)[-1] == ("tool", "echo: a")
    assert_well_formed(state.messages)


def test_an_error_cannot_be_overridden_by_going_on():
    trial = Trial(ConnectionError("no answer"), "done")
    for event in FORCING:
        trial.on(event, ON)
    state = trial.run()
    assert (len(trial.requests), state.status) == (1, "failed")


def test_a_reply_that_is_none_is_an_error_of_the_run():
    class Wrong:
        model = "wrong"

        async def respond(self, request: ModelRequest) -> Any:
            return 42

    state = Trial().builder.with_driver(Wrong()).build().run_sync("go")
    assert (state.status, state.errors[0].type) == ("failed", DriverError.__name__)
    assert "42" in state.errors[0].message


def test_a_response_rewritten_into_nonsense_is_an_error_of_the_run():
    trial = Trial("done")
    trial.on("after_inference", HookOutcome.proceed(response=42))
    state = trial.run()
    assert (state.status, state.errors[0].type) == ("failed", DriverError.__name__)
    assert trial.events.count("on_error") == trial.events.count("after_step") == 1


def test_a_driver_may_stop_the_run():
    """Not an error: no step is recorded, no failure is reported, and the message is the reason."""
    trial = Trial(call(), StopRunError("out of money", spent=12))
    state = trial.run()
    assert (state.status, state.errors, state.step_count) == ("stopped", (), 1)
    assert signal_of(state) == stop_signal(
        "stop_requested", message="out of money", context={"spent": 12}, source="scripted"
    )
    assert "on_error" not in trial.events
    assert trial.events[-4:] == ["before_inference", "after_step", *END.split()]


def test_a_keyboard_interrupt_of_a_driver_ends_everything():
    trial = Trial(KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        trial.run()
    assert "on_error" not in trial.events


# -- the answer --------------------------------------------------------------------------------------------------------


def test_the_output_is_the_last_answer():
    state = Trial(reply("let me see", call()), "done").run()
    assert (state.output, state.status) == ("done", "completed")


def test_the_output_may_be_a_value():
    state = Trial(ModelResponse(content={"answer": 42})).run()
    assert state.output == {"answer": 42}


@pytest.mark.parametrize("event", [None, "on_stop", "after_step", "should_continue"])
@pytest.mark.parametrize("outcome", [HookOutcome.deny("not for you"), HookOutcome.stop("not for you"), RuntimeError()])
def test_a_withheld_answer_is_nowhere_left(outcome, event):
    """Not in the output, the conversation or the steps, also where a hook has added something behind it."""
    trial = Trial("the secret")
    trial.on("before_output", outcome)
    if event is not None:
        trial.on(event, HookOutcome.with_context("a note"), when=lambda ctx: ctx.event != "should_continue" or ctx.step)
    state = trial.run()
    assert (state.output, state.status) == (None, "stopped")
    assert "the secret" not in str(state)
    assert [message.role for message in state.messages][:2] == ["user", "assistant"]
    if isinstance(outcome, HookOutcome):
        assert "not for you" in state.messages[1].content
        assert signal_of(state).message == "not for you"


@pytest.mark.parametrize("event", [None, "on_stop", "after_step"])
def test_a_rewritten_answer_is_so_everywhere(event):
    trial = Trial("the secret is swordfish")
    trial.on("before_output", lambda ctx: HookOutcome.proceed(output=ctx.output.replace("swordfish", "****")))
    if event is not None:
        trial.on(event, HookOutcome.with_context("a note"))
    state = trial.run()
    assert (state.output, said(state.messages)[1]) == ("the secret is ****", ("assistant", "the secret is ****"))
    assert "swordfish" not in str(state)


def test_there_is_no_answer_to_let_out_where_the_last_step_has_none():
    trial = Trial(call())
    trial.on("after_step", STOP)
    state = trial.run()
    assert ("before_output" in trial.events, state.output) == (False, None)


# -- running a state again ---------------------------------------------------------------------------------------------

ENDINGS = {"completed": "done", "stopped": StopRunError("enough"), "failed": ConnectionError("no answer")}


@pytest.mark.parametrize("status", ENDINGS)
def test_a_finished_state_forgets_its_execution_and_keeps_the_rest(status):
    trial = Trial(reply("", call(), tokens=5), ENDINGS[status], reply("fine", tokens=2))
    trial.on(
        "before_execution", lambda ctx: HookOutcome.with_state(ctx.state.with_metadata("kept", value=True)), times=1
    )
    before = trial.run("one", AgentState(system_prompt="Be kind.", response_format="text"))
    assert before.status == status
    hook = trial.on("before_execution")
    after = trial.run("two", before)
    (ctx,) = hook.calls
    fresh = ctx.state
    assert fresh is not None
    assert (fresh.steps, fresh.current_step, fresh.usage, fresh.stop_signals) == ((), None, Usage(), ())
    assert (fresh.errors, fresh.output, fresh.continuation_requested) == ((), None, False)
    assert (fresh.status, ctx.step_index) == ("in_progress", 0)
    assert after.messages[: len(before.messages)] == before.messages
    assert (after.metadata, after.system_prompt, after.response_format) == ({"kept": True}, "Be kind.", "text")
    assert (after.agent_id, after.execution_count) == (before.agent_id, 2)
    assert after.execution_id != before.execution_id
    assert (after.status, after.usage.total, after.step_count) == ("completed", 2, 1)


def test_a_fresh_state_keeps_what_it_was_given():
    """A state that has not run yet is run as it is."""
    trial = Trial("done")
    state = trial.run("go", AgentState(usage=Usage(input_tokens=100), metadata={"role": "admin"}))
    assert (state.usage.total, state.metadata, state.execution_count) == (100, {"role": "admin"}, 1)


def test_a_signal_in_a_fresh_state_stops_its_run():
    trial = Trial("done")
    state = trial.run("go", AgentState().with_stop_signal(StopSignal.user_requested("changed my mind")))
    assert (trial.requests, state.status, signal_of(state).reason) == ([], "stopped", "user_requested")


@pytest.mark.parametrize("status", ENDINGS)
def test_a_finished_state_may_go_through_json_and_run_on(status):
    trial = Trial(call(), ENDINGS[status], "fine")
    state = AgentState.from_dict(trial.run("one").as_dict())
    assert trial.run("two", state).output == "fine"


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


# -- cancellation ------------------------------------------------------------------------------------------------------


def cancelled_in_hook(event: str, *replies: Any) -> tuple[AgentState, AgentRuntime, list[str]]:
    gate, recorder = Gate(), Recorder()
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(echo, boom)
    agent = builder.hook(event, OnceWaiting(gate), name="waits").hook(EVENTS, recorder).build()
    state = asyncio.run(cancelled_at(agent.iterate("go"), gate))
    return state, agent, [str(ctx.event) for ctx in recorder.seen]


@pytest.mark.parametrize("event", EVENTS)
def test_a_run_cancelled_in_a_hook_leaves_a_state_that_can_be_run_again(event):
    replies = [ConnectionError("no")] if event == "on_error" else [[call("boom"), call()], "one"]
    state, agent, events = cancelled_in_hook(event, *replies)
    assert (state.status, signal_of(state).reason, state.current_step) == ("stopped", "user_requested", None)
    assert event not in events
    assert_well_formed(state.messages)
    agent = agent.with_driver(ScriptedDriver("fine"))
    again = asyncio.run(agent.run("again", state))
    assert (again.status, again.output, again.execution_count) == ("completed", "fine", 2)
    assert ("go" in [text for _, text in said(again.messages)]) == (event != "user_input")


def test_a_run_cancelled_in_the_driver_leaves_the_steps_before():
    gate = Gate()
    agent = AgentBuilder(plugins=()).with_driver(WaitingDriver(gate, call(), gate, "fine")).with_tools(echo).build()
    state = asyncio.run(cancelled_at(agent.iterate("go"), gate))
    assert (state.status, state.step_count, state.output) == ("stopped", 1, None)
    assert said(state.messages) == [("user", "go"), ("assistant", ""), ("tool", "echo: a")]
    again = asyncio.run(agent.run("again", state))
    assert (again.output, [str(signal.reason) for signal in again.stop_signals]) == ("fine", ["completed"])


def test_a_run_cancelled_after_its_step_has_the_step_once():
    """What tools and hooks left of it too: nothing is in the conversation twice."""
    gate = Gate()
    note = HookOutcome.proceed(messages=(Message(role="user", content="from a hook"),))
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(reply("", call(), call("boom"), tokens=5)))
    builder = builder.with_tools(echo, boom).after_tool_use(lambda ctx: note, match="echo")
    agent = builder.hook("after_step", OnceWaiting(gate)).build()
    state = asyncio.run(cancelled_at(agent.iterate("go"), gate))
    roles = [message.role for message in state.messages]
    assert roles == ["user", "assistant", "tool", "tool", "user"]
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
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(reply("the secret", tokens=5)))
    builder = builder.hook(event, Once(gate))
    if is_judged:
        builder = builder.hook("before_output", lambda ctx: HookOutcome.deny("not for you"))
    state = asyncio.run(cancelled_at(builder.build().iterate("go"), gate))
    assert (state.usage.total, state.status, state.output) == (5, "stopped", None)
    assert [message.role for message in state.messages] == ["user", "assistant"]
    assert ("the secret" in str(state)) == (not is_judged)


@pytest.mark.parametrize("event", ["before_execution", "before_step", "before_tool_use", "after_step"])
def test_a_keyboard_interrupt_in_a_hook_ends_everything(event):
    trial = Trial(call())
    trial.on(event, KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        trial.run()
    assert "after_execution" not in trial.events


def test_the_reasons_tried_here_are_all_there_are():
    assert [getattr(StopReason, reason.upper()).rank for reason in REASONS] == list(range(10))


@pytest.mark.parametrize("rewritten", ["short", ModelResponse(content="short")])
def test_what_an_answer_has_cost_is_on_record_however_a_hook_rewrites_it(rewritten):
    trial = Trial(reply("a long answer", tokens=70))
    trial.on("after_inference", HookOutcome.update(response=rewritten))
    state = trial.run()
    assert state.output == "short"
    assert [usage.total for usage in state.model_usage.values()] == [70]


def test_a_wish_on_stop_does_not_answer_a_stop_that_comes_after_it():
    """The hook was shown that the model has finished, not that another one wants the run to end."""
    trial = Trial("a", "b")
    trial.on("on_stop", HookOutcome.force_continue("Go on."), times=1)
    budget = trial.on("should_continue", HookOutcome.stop("budget is gone"), when=lambda _ctx: len(budget.calls) == 3)
    state = trial.run()
    assert (state.status, signal_of(state).message, state.step_count) == ("stopped", "budget is gone", 1)


def test_what_before_inference_hooks_tell_the_model_is_told_also_if_one_of_them_denies():
    trial = Trial("b")
    trial.on("before_inference", HookOutcome.with_context("Mind the step."), priority=1)
    trial.on("before_inference", HookOutcome.deny("Not now."), times=1)
    trial.on("on_stop", HookOutcome.force_continue("Go on."), times=1)
    state = trial.run()
    assert [m.content for m in state.messages] == ["go", "Mind the step.", "Go on.", "Mind the step.", "b"]


def test_context_is_told_once_where_an_error_is_retried_with_context_of_its_own():
    trial = Trial(ConnectionError("no"), "b")
    trial.on("before_inference", HookOutcome.with_context("Mind the step."))
    trial.on("on_error", HookOutcome.retry(context="Once more."))
    state = trial.run()
    assert [m.content for m in state.messages] == ["go", "Mind the step.", "Once more.", "b"]


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
    def moves(ctx: HookContext) -> HookOutcome:
        assert ctx.state is not None
        usage = {model: Usage(input_tokens=used.total) for model, used in ctx.state.model_usage.items()}
        return HookOutcome.with_state(ctx.state.replace(model_usage=usage))

    trial = Trial(ModelResponse(content="x", usage=Usage(output_tokens=1000)))
    trial.on("after_step", moves)
    (used,) = trial.run().model_usage.values()
    assert (used.input_tokens, used.output_tokens) == (0, 1000)


def test_an_answer_that_nobody_has_let_out_is_not_in_the_state_when_an_interceptor_breaks():
    class Breaks:
        def listens(self, event: str) -> bool:
            return event == "before_output"

        async def dispatch(self, ctx: HookContext) -> HookOutcome:
            raise OSError("broken")

    run = AgentRuntime(ScriptedDriver("the secret"), hooks=Breaks()).iterate("go")

    async def run_it() -> None:
        async for _state in run:
            pass

    with pytest.raises(OSError, match="broken"):
        asyncio.run(run_it())
    assert "the secret" not in str(run.state)


def test_turns_are_a_sessions_outside_of_one_nobody_is_asked_about_them():
    trial = Trial("done", "again")
    asked = trial.on("before_turn", HookOutcome.deny("Not now."))
    state = trial.run()
    trial.run(None, state)
    assert asked.calls == []


def test_on_stop_is_shown_what_the_model_said_last():
    trial = Trial(reply("Let me see.", call()), "It is done.", "Yes, it is.")
    asked = trial.on("on_stop", HookOutcome.force_continue("Really?"), times=1)
    trial.run()
    assert [(ctx.prompt, ctx.output) for ctx in asked.calls] == [("go", "It is done."), ("go", "Yes, it is.")]


def test_on_stop_before_anything_was_said_has_nothing_to_show():
    trial = Trial("done")
    trial.on("before_execution", HookOutcome.stop("No."))
    asked = trial.on("on_stop")
    trial.run()
    assert [ctx.output for ctx in asked.calls] == [None]
