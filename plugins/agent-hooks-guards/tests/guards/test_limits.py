"""The limits that are read off a run's state: steps, tokens, finish reasons."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from making import stop_of

from agent_hooks import (
    CLEANUP,
    GUARD,
    AgentState,
    HookContext,
    HookManager,
    HookRegistration,
    RegistrationError,
    Step,
    StopReason,
    StopSignal,
    Usage,
)
from agent_hooks_guards import FinishReasonLimit, StepsLimit, TokenLimit


def after_steps(count, **fields):
    """A state in which ``count`` steps are made."""
    return AgentState(steps=tuple(Step(index=index) for index in range(count)), **fields)


def hooks(*plugins):
    manager = HookManager(load_plugins=False)
    for plugin in plugins:
        manager.register(plugin)
    return manager.hooks()


def signals(outcome):
    assert (outcome.decision, outcome.findings) == ("proceed", ())
    return outcome.signals


# -- steps -------------------------------------------------------------------------------------------------------------


def test_the_signal_of_the_steps_limit_says_all_there_is_to_know():
    (signal,) = signals(hooks(StepsLimit(10)).dispatch_sync(HookContext.before_step(after_steps(10))))
    assert signal == StopSignal(
        reason=StopReason.STEPS_LIMIT,
        message="Step limit reached: 10/10",
        context={"currentSteps": 10, "maxSteps": 10},
        source="StepsLimit",
    )
    assert StopSignal.from_dict(signal.as_dict()) == signal


@given(made=st.integers(0, 30), most=st.integers(0, 30))
def test_the_steps_limit_is_reached_at_its_number_and_not_before(made, most):
    outcome = StepsLimit(most).handle(HookContext.before_step(after_steps(made)))
    assert (outcome is not None) == (made >= most)


def test_twenty_steps_are_the_default():
    limit = StepsLimit()
    assert limit.handle(HookContext.before_step(after_steps(19))) is None
    assert stop_of(limit.handle(HookContext.before_step(after_steps(20)))).message == "Step limit reached: 20/20"


def test_a_step_counter_says_what_a_step_is():
    limit = StepsLimit(2, step_counter=lambda state: state.metadata["rounds"])
    assert limit.handle(HookContext.before_step(after_steps(9, metadata={"rounds": 1}))) is None
    outcome = limit.handle(HookContext.before_step(AgentState(metadata={"rounds": 3})))
    assert stop_of(outcome).message == "Step limit reached: 3/2"


def test_a_step_counter_that_fails_stops_the_run():
    outcome = hooks(StepsLimit(2, step_counter=lambda state: state.metadata["rounds"])).dispatch_sync(
        HookContext.before_step(AgentState())
    )
    assert (outcome.decision, outcome.failed, outcome.hook) == ("stop", True, "StepsLimit.before_step")


# -- tokens ------------------------------------------------------------------------------------------------------------


def test_the_signal_of_the_token_limit_says_all_there_is_to_know():
    state = AgentState(usage=Usage(input_tokens=30, output_tokens=12, cached_tokens=20, reasoning_tokens=5))
    (signal,) = signals(hooks(TokenLimit(40)).dispatch_sync(HookContext.before_step(state)))
    assert signal == StopSignal(
        reason=StopReason.TOKEN_LIMIT,
        message="Token limit reached: 42/40",
        context={"totalTokens": 42, "maxTotalTokens": 40},
        source="TokenLimit",
    )


@given(tokens=st.integers(0, 100), more=st.integers(0, 100), most=st.integers(0, 200))
def test_the_token_limit_counts_input_and_output_and_is_reached_at_its_number(tokens, more, most):
    state = AgentState(usage=Usage(input_tokens=tokens, output_tokens=more))
    outcome = TokenLimit(most).handle(HookContext.before_step(state))
    assert (outcome is not None) == (tokens + more >= most)


def test_32768_tokens_are_the_default():
    limit = TokenLimit()
    assert limit.handle(HookContext.before_step(AgentState(usage=Usage(input_tokens=32767)))) is None
    assert limit.handle(HookContext.before_step(AgentState(usage=Usage(input_tokens=32768)))) is not None


# -- finish reasons ----------------------------------------------------------------------------------------------------


def test_the_signal_of_the_finish_reason_says_all_there_is_to_know():
    state = AgentState(current_step=Step(finish_reason="length"))
    (signal,) = signals(hooks(FinishReasonLimit(["length", "refusal"])).dispatch_sync(HookContext.after_step(state)))
    assert signal == StopSignal(
        reason=StopReason.FINISH_REASON,
        message='Finish reason "length" matched stop condition',
        context={"finishReason": "length", "stopReasons": ["length", "refusal"]},
        source="FinishReasonLimit",
    )
    assert StopSignal.from_dict(signal.as_dict()) == signal


@pytest.mark.parametrize(
    ("reasons", "finish_reason", "stops"),
    [
        ("stop", "stop", True),
        ("stop", "sto", False),
        (["length"], "stop", False),
        ([], "stop", False),
        ([""], "", False),
    ],
)
def test_only_a_reason_on_the_list_stops(reasons, finish_reason, stops):
    """A single text is one reason, not a list of letters; no reason is none."""
    ctx = HookContext("after_step", step=Step(finish_reason=finish_reason))
    assert (FinishReasonLimit(reasons).handle(ctx) is not None) == stops


def test_the_reason_is_that_of_the_step_else_of_the_states_current_step():
    limit = FinishReasonLimit(["length"])
    current = AgentState(current_step=Step(finish_reason="length"))
    assert limit.handle(HookContext("after_step", state=current)) is not None
    assert limit.handle(HookContext("after_step", state=current, step=Step(finish_reason="stop"))) is None
    assert limit.handle(HookContext("after_step", state=AgentState())) is None


def test_a_resolver_says_where_the_reason_is():
    limit = FinishReasonLimit(["length"], finish_reason_resolver=lambda state: state.metadata.get("ended"))
    assert limit.handle(HookContext.after_step(AgentState(metadata={"ended": "length"}))) is not None
    assert limit.handle(HookContext.after_step(AgentState())) is None
    assert limit.handle(HookContext("after_step", step=Step(finish_reason="length"))) is None


# -- all of them -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [StepsLimit(0), TokenLimit(0), FinishReasonLimit(["stop"])])
@pytest.mark.parametrize("event", ["before_step", "should_continue", "after_step"])
def test_without_a_state_there_is_nothing_to_say(limit, event):
    assert limit.handle(HookContext(event)) is None


@pytest.mark.parametrize(
    ("limit", "event", "priority", "on_failure"),
    [
        (StepsLimit(0), "before_step", GUARD, "closed"),
        (TokenLimit(0), "before_step", GUARD, "closed"),
        (FinishReasonLimit(["stop"]), "after_step", CLEANUP, "open"),
    ],
)
def test_a_limit_is_a_plugin_with_one_gate(limit, event, priority, on_failure):
    manager = HookManager(load_plugins=False)
    name = manager.register(limit)
    manager.check_pending()
    (hook,) = manager.describe()
    assert (hook.event, hook.name, hook.priority, hook.mode, hook.on_failure) == (
        event,
        f"{name}.{event}",
        priority,
        "gate",
        on_failure,
    )


@pytest.mark.parametrize(("limit", "message"), [(StepsLimit(3), "Step limit"), (TokenLimit(5), "Token limit")])
@pytest.mark.parametrize("event", ["should_continue", "before_step", "before_execution"])
def test_a_limit_is_an_action_that_judges_the_same_on_any_event_and_is_a_gate(limit, message, event):
    registration = HookRegistration(event, limit)
    manager = HookManager(load_plugins=False)
    manager.add(registration)
    reached = after_steps(3, usage=Usage(output_tokens=5))
    (signal,) = signals(manager.hooks().dispatch_sync(HookContext(event, state=reached)))
    assert signal.message.startswith(message)
    assert signals(manager.hooks().dispatch_sync(HookContext(event, state=after_steps(2)))) == ()
    assert registration.mode == "gate"


@pytest.mark.parametrize("limit", [-1, 1.5, True, "3", None])
def test_a_limit_that_is_no_number_is_refused(limit):
    with pytest.raises(RegistrationError, match="max_steps must be a whole number from 0, not"):
        StepsLimit(limit)
    with pytest.raises(RegistrationError, match="max_total_tokens must be a whole number from 0, not"):
        TokenLimit(limit)
