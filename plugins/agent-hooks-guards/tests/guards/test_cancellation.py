"""Cancellation."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path

import pytest
from making import stop_of

from agent_hooks import (
    AgentState,
    HookContext,
    HookManager,
    HookRegistration,
    RegistrationError,
    StopReason,
    StopSignal,
)
from agent_hooks_guards import Cancellation, StepsLimit

pytestmark = pytest.mark.interpreter

EVENTS = ("before_execution", "before_step")


def hooks(source):
    manager = HookManager(load_plugins=False)
    manager.register(Cancellation(source))
    return manager.hooks()


def dispatched(source, event="before_step", **fields):
    return hooks(source).dispatch_sync(HookContext(event, **fields))


@pytest.mark.parametrize("event", EVENTS)
def test_a_function_that_says_so_stops_the_run(event):
    assert dispatched(lambda: False, event).signals == ()
    assert dispatched(lambda: None, event).signals == ()
    outcome = dispatched(lambda: True, event)
    assert outcome.decision == "proceed"
    assert outcome.signals == (
        StopSignal(reason=StopReason.USER_REQUESTED, message="Cancellation requested", source="Cancellation"),
    )


def test_a_text_is_the_message():
    assert dispatched(lambda: "Needed elsewhere.").stop_signal.message == "Needed elsewhere."
    assert dispatched(lambda: "").signals == ()


@pytest.mark.parametrize("event", EVENTS)
def test_an_event_that_is_set_stops_the_run(event):
    for flag in (threading.Event(), asyncio.Event()):
        view = hooks(flag)
        assert view.dispatch_sync(HookContext(event)).signals == ()
        flag.set()
        assert view.dispatch_sync(HookContext(event)).stop_signal.reason == "user_requested"
        flag.clear()
        assert view.dispatch_sync(HookContext(event)).signals == ()


@pytest.mark.parametrize("as_text", [True, False])
def test_a_file_that_is_there_stops_the_run_and_is_named(tmp_path, as_text):
    path = tmp_path / "STOP"
    view = hooks(str(path) if as_text else path)
    assert view.dispatch_sync(HookContext("before_step")).signals == ()
    path.touch()
    signal = view.dispatch_sync(HookContext("before_step")).stop_signal
    assert signal.message == f"Cancellation requested: there is a file {path}"
    path.unlink()
    path.symlink_to(tmp_path / "nowhere")
    assert view.dispatch_sync(HookContext("before_step")).stop_signal is not None


def test_a_relative_path_is_below_the_directory_in_which_it_was_given(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    view = hooks("STOP")
    monkeypatch.chdir("/")
    Path(tmp_path / "STOP").touch()
    assert view.dispatch_sync(HookContext("before_step")).stop_signal is not None


def test_a_path_may_begin_in_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "STOP").touch()
    assert dispatched("~/STOP").stop_signal is not None


def test_an_async_source_is_waited_for():
    async def source():
        await asyncio.sleep(0)
        return "Enough."

    class Source:
        async def __call__(self):
            return True

    async def run(source):
        return (await hooks(source).dispatch(HookContext("before_step"))).stop_signal.message

    assert asyncio.run(run(source)) == "Enough."
    assert asyncio.run(run(Source())) == "Cancellation requested"
    assert dispatched(Source()).stop_signal is not None  # it never really waits


@pytest.mark.parametrize(
    "fields",
    [
        {"signals": (StopSignal(reason=StopReason.STEPS_LIMIT),)},
        {"state": AgentState(stop_signals=(StopSignal(reason=StopReason.STEPS_LIMIT),))},
    ],
)
@pytest.mark.parametrize("event", EVENTS)
def test_the_source_is_not_asked_where_the_run_is_about_to_stop(event, fields):
    asked = []

    def source():
        asked.append(1)
        return True

    guard = Cancellation(source)
    assert asyncio.run(guard.handle(HookContext(event, **fields))) is None
    assert asked == []
    assert asyncio.run(guard.handle(HookContext(event))) is not None
    assert asked == [1]


@pytest.mark.parametrize("event", EVENTS)
def test_a_source_that_fails_stops_the_run(event, tmp_path):
    def broken():
        raise OSError("gone")

    looped = tmp_path / "loop"
    looped.symlink_to(looped)
    for source in (broken, looped / "STOP", lambda: 1, list):
        outcome = dispatched(source, event)
        assert (outcome.decision, outcome.failed, outcome.hook) == ("stop", True, f"Cancellation.{event}")
    assert "The source of Cancellation must answer True, False or a message, not []" in outcome.reason


@pytest.mark.parametrize("source", [None, 3, True])
def test_what_cannot_say_anything_is_refused(source):
    with pytest.raises(RegistrationError, match="Cancellation needs a function, a path or an object with is_set"):
        Cancellation(source)


@pytest.mark.parametrize("source", ["", "  "])
def test_a_blank_path_is_refused(source):
    with pytest.raises(RegistrationError, match="not a blank text"):
        Cancellation(source)


def test_it_is_a_plugin_that_is_asked_before_the_limits():
    manager = HookManager(load_plugins=False)
    manager.register(StepsLimit(0))
    manager.register(Cancellation(lambda: True))
    assert [(hook.event, hook.plugin, hook.priority, hook.mode, hook.on_failure) for hook in manager.describe()] == [
        ("before_execution", "Cancellation", 250, "gate", "closed"),
        ("before_step", "Cancellation", 250, "gate", "closed"),
        ("before_step", "StepsLimit", 200, "gate", "closed"),
    ]
    outcome = manager.hooks().dispatch_sync(HookContext("before_step", state=AgentState()))
    assert [str(signal.reason) for signal in outcome.signals] == ["user_requested", "steps_limit"]
    assert stop_of(outcome).reason == "user_requested"


def test_it_is_an_action_on_any_event_of_a_run():
    manager = HookManager(load_plugins=False)
    registration = HookRegistration("should_continue", Cancellation(lambda: True))
    manager.add(registration)
    assert registration.mode == "gate"
    assert stop_of(manager.hooks().dispatch_sync(HookContext("should_continue"))).reason == "user_requested"
