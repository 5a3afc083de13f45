"""Debug mode: every hook that runs, in the log, and none of the values it ran on."""

from __future__ import annotations

import logging
import re
from typing import Any

import pytest

from agent_hooks import HookOutcome
from runtime.agents import Trial, call

SECRET = "hunter2"


@pytest.fixture
def trace(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    caplog.set_level(logging.DEBUG, logger="agent_hooks.trace")
    return caplog


def ours(trace: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in trace.records if record.name == "agent_hooks.trace"]


def lines(trace: pytest.LogCaptureFixture) -> list[str]:
    """The log, times left out."""
    return [re.sub(r" \([\d.]+ ms\)", "", r.getMessage()) for r in ours(trace)]


def debugged(*replies: Any) -> Trial:
    trial = Trial(*replies)
    trial.builder = trial.builder.with_debug()
    return trial


def test_every_hook_is_logged_with_its_event_name_decision_and_time(trace):
    trial = debugged(call(), "done")
    trial.on("before_tool_use", HookOutcome.deny("no"), name="check paths")
    trial.on("before_step", name="look")
    trial.run()
    found = lines(trace)
    for line in (
        "step 0 before_tool_use 'echo': check paths: deny",
        "step 0 before_tool_use: deny by check paths",
        "step 1 before_step: look: no opinion",
        "step 1 before_step: proceed",
        "step 1 after_step: append_messages: proceed",
        "step 2 after_execution: recorder: no opinion",
    ):
        assert found.count(line) == 1
    assert all(re.search(r" \(\d+\.\d{3} ms\)$", record.getMessage()) for record in ours(trace))
    assert {record.levelname for record in ours(trace)} == {"DEBUG"}


def test_a_failing_hook_is_logged_with_the_kind_of_its_error(trace):
    trial = debugged("done")
    trial.on("on_stop", RuntimeError(f"the password is {SECRET}"), name="breaks")
    trial.run()
    assert any("breaks: failed (RuntimeError)" in line for line in lines(trace))


def test_no_value_of_an_event_is_logged(trace):
    trial = debugged(call(text=SECRET), f"the password is {SECRET}")
    for event in ("before_tool_use", "after_tool_use", "before_output", "user_input", "after_inference", "after_step"):
        trial.on(event, HookOutcome.with_context(f"psst: {SECRET}"))
        trial.on(event, RuntimeError(SECRET), on_failure="open")
    trial.run(f"it is {SECRET}")
    assert len(lines(trace)) > 10
    assert SECRET not in "".join(lines(trace))


def test_a_name_of_the_models_making_cannot_forge_a_line(trace):
    trial = debugged(call("echo\nstep 0 before_tool_use: allow by boss"), "done")
    trial.run()
    assert any("boss" in line for line in lines(trace))
    assert not any("\n" in line for line in lines(trace))


@pytest.mark.parametrize("switch", [lambda builder: builder, lambda builder: builder.with_debug().with_debug(False)])
def test_nothing_is_logged_unless_asked_for(switch, trace):
    trial = Trial("done")
    trial.builder = switch(trial.builder)
    trial.run()
    assert lines(trace) == []


def test_debug_mode_changes_nothing_else(trace):
    with_debug, without = debugged(call("boom"), "done"), Trial(call("boom"), "done")
    assert with_debug.run().messages == without.run().messages
    assert with_debug.events == without.events
