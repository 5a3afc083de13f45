"""The time limit, by a clock that the tests turn."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks import GUARD, AgentState, HookContext, HookManager, RegistrationError, StopReason, StopSignal
from agent_hooks_guards import TimeLimit
from agent_hooks_guards.guards import limits

pytestmark = pytest.mark.interpreter

ALL = ("before_execution", "before_step", "after_execution")


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


def told(limit, event, run="e1"):
    """The message of the signal that the limit leaves."""
    outcome = limit.handle(HookContext(event, execution_id=run))
    return None if outcome is None else outcome.stop_signal.message


def test_the_signal_says_all_there_is_to_know(clock):
    manager = HookManager(load_plugins=False)
    manager.register(TimeLimit(2.5, clock=clock))
    view = manager.hooks()
    view.dispatch_sync(HookContext.before_execution(AgentState(), execution_id="e1"))
    clock.now += 3.25
    (signal,) = view.dispatch_sync(HookContext.before_step(AgentState(), execution_id="e1")).signals
    assert signal == StopSignal(
        reason=StopReason.TIME_LIMIT,
        message="Execution time limit reached: 3.25s/2.50s",
        context={"elapsedSeconds": 3.25, "maxSeconds": 2.5},
        source="TimeLimit",
    )


@given(
    taken=st.floats(0, 1000, allow_nan=False).map(lambda x: round(x, 3)),
    most=st.floats(0, 1000).map(lambda x: round(x, 3)),
)
def test_the_limit_is_reached_at_its_number_and_not_before(taken, most):
    clock = Clock()
    clock.now = 0.0
    limit = TimeLimit(most, clock=clock)
    assert told(limit, "before_execution") is None
    clock.now = taken
    assert (told(limit, "before_step") is not None) == (taken >= most)


def test_five_minutes_are_the_default(clock):
    limit = TimeLimit(clock=clock)
    told(limit, "before_execution")
    clock.now += 299.99
    assert told(limit, "before_step") is None
    clock.now += 0.01
    assert told(limit, "before_step") == "Execution time limit reached: 300.00s/300.00s"


def test_no_time_at_all_stops_before_the_first_step(clock):
    limit = TimeLimit(0, clock=clock)
    assert [told(limit, event) for event in ("before_execution", "before_step")] == [
        None,
        "Execution time limit reached: 0.00s/0.00s",
    ]


def test_each_run_has_its_own_time_and_a_run_that_begins_again_has_it_anew(clock):
    limit = TimeLimit(10, clock=clock)
    told(limit, "before_execution", "e1")
    clock.now += 6
    told(limit, "before_execution", "e2")
    clock.now += 5
    assert told(limit, "before_step", "e1") == "Execution time limit reached: 11.00s/10.00s"
    assert told(limit, "before_step", "e2") is None
    told(limit, "before_execution", "e1")
    assert told(limit, "before_step", "e1") is None


@pytest.mark.parametrize("event", ["before_step", "should_continue"])
def test_a_run_whose_beginning_was_not_seen_counts_from_when_it_is_first_heard_of(clock, event):
    limit = TimeLimit(10, clock=clock)
    assert told(limit, event) is None
    clock.now += 10
    assert told(limit, event) is not None


def test_a_run_is_known_by_its_execution_else_by_the_states_else_by_its_session(clock):
    limit = TimeLimit(10, clock=clock)
    state = AgentState(execution_id="e1")
    limit.handle(HookContext("before_execution", execution_id="e1", session_id="s"))
    limit.handle(HookContext("before_execution", session_id="s"))
    clock.now += 10
    told(limit, "before_execution", "e2")
    assert limit.handle(HookContext.before_step(state, session_id="other")) is not None
    assert limit.handle(HookContext.before_step(AgentState(), session_id="s")) is not None
    assert limit.handle(HookContext.before_step(AgentState(), session_id="new")) is None


def test_what_has_ended_is_forgotten(clock):
    limit = TimeLimit(10, clock=clock)
    told(limit, "before_execution")
    clock.now += 10
    assert told(limit, "after_execution") is None
    assert told(limit, "before_step") is None


def test_runs_that_never_end_do_not_fill_the_memory_and_push_out_none_that_is_at_work(clock, monkeypatch):
    monkeypatch.setattr(limits, "MAX_RUNS", 3)
    limit = TimeLimit(10, clock=clock)
    for run in ("at work", "lost"):
        told(limit, "before_execution", run)
    clock.now += 10
    for run in map(str, range(20)):
        told(limit, "before_execution", run)
        assert told(limit, "before_step", "at work") is not None
    assert told(limit, "before_step", "lost") is None


def test_threads_may_share_a_limit(monkeypatch):
    """Runs come and go in several threads at once, more of them than are remembered."""
    monkeypatch.setattr(limits, "MAX_RUNS", 2)
    limit = TimeLimit(0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work(run):
        return [told(limit, event, run) is not None for _ in range(500) for event in ALL]

    try:
        with ThreadPoolExecutor(4) as threads:
            answers = [*threads.map(work, "abcd")]
    finally:
        sys.setswitchinterval(interval)
    assert answers == [[False, True, False] * 500] * 4


def test_it_is_a_plugin_with_two_gates_and_an_observer():
    manager = HookManager(load_plugins=False)
    manager.register(TimeLimit(1))
    assert [(hook.event, hook.mode, hook.priority, hook.on_failure) for hook in manager.describe()] == [
        ("before_execution", "gate", GUARD, "closed"),
        ("before_step", "gate", GUARD, "closed"),
        ("after_execution", "observe", GUARD, "open"),
    ]


@pytest.mark.parametrize("limit", [-0.1, True, "3", None, float("nan")])
def test_a_limit_that_is_no_number_is_refused(limit):
    with pytest.raises(RegistrationError, match="max_seconds must be a number of seconds from 0, not"):
        TimeLimit(limit)
