"""One event has one view of the settings, and the next its own."""

from __future__ import annotations

import pytest
from making import about, own_file, project
from settings_of import OWN_FILE, dispatched, lines_in

import agent_hooks_guards
from agent_hooks import CLEANUP, AgentState, HookContext, HookOutcome
from agent_hooks_guards.settings.project import _found

AUDIT = "[guards.audit]\n"
WRONG = "guards = 1\n"


@pytest.mark.parametrize("event", ["before_execution", "before_step"])
def test_one_event_has_one_view_of_the_settings_and_the_next_its_own_even_with_the_same_context(tmp_path, event):
    ctx = HookContext(event, cwd=str(tmp_path / "p"), state=AgentState(), execution_id="e1")

    def write_wrong_settings():
        own_file(tmp_path / "config", WRONG)

    assert dispatched(ctx, write_wrong_settings).decision == "proceed"
    assert dispatched(ctx).decision == "stop"
    (tmp_path / "config" / OWN_FILE).unlink()
    assert dispatched(ctx).decision == "proceed"


def test_a_call_is_audited_where_its_gate_found_that_this_is_wanted(tmp_path, state_folder):
    own_file(tmp_path / "config", AUDIT)
    ctx = about(cwd=str(tmp_path / "p"))
    dispatched(ctx, (tmp_path / "config" / OWN_FILE).unlink, CLEANUP)
    assert len(lines_in(state_folder / "audit.jsonl")) == 1
    dispatched(ctx)
    assert len(lines_in(state_folder / "audit.jsonl")) == 1


def test_a_call_that_never_got_to_the_gate_is_audited_by_the_settings_of_now(tmp_path, state_folder):
    own_file(tmp_path / "config", AUDIT)
    ctx = about(cwd=str(tmp_path / "p"))
    dispatched(ctx)
    (tmp_path / "config" / OWN_FILE).unlink()
    assert dispatched(ctx, lambda: HookOutcome.deny("No."), priority=999).decision == "deny"
    assert len(lines_in(state_folder / "audit.jsonl")) == 1


def test_what_a_call_found_that_was_broken_off_is_nothing_to_the_next(tmp_path, state_folder):
    """As by the cancellation of a run, between the gate and the audit."""
    own_file(tmp_path / "config", AUDIT)
    folder = str(tmp_path / "p")
    assert agent_hooks_guards.before_tool_use(about(cwd=folder)) is None
    (tmp_path / "config" / OWN_FILE).unlink()
    agent_hooks_guards.audit_call(about(cwd=folder, outcome=HookOutcome()))
    assert lines_in(state_folder / "audit.jsonl") == []


def test_what_events_have_found_is_not_piled_up(tmp_path):
    for number in range(5):
        dispatched(HookContext("after_step", cwd=str(tmp_path / str(number)), state=AgentState()))
    assert len(_found) == 1


@pytest.mark.parametrize("field", ["cwd", "project_dir"])
def test_an_event_in_the_middle_of_another_is_about_its_own_folder(tmp_path, field):
    """Though it may bear the same time."""
    wrong = project(tmp_path / "wrong", "[tool.agent_hooks]\nguards = 1\n")
    here = project(tmp_path / "here", "[tool.agent_hooks.guards]\nmax_steps = 0\n")

    def ctx(folder):
        fields = {"cwd": str(tmp_path), field: folder}
        return HookContext("before_step", state=AgentState(), created_at=1.0, **fields)

    inner = []
    outcome = dispatched(ctx(here), lambda: inner.append(dispatched(ctx(wrong)).decision))
    assert (inner, outcome.decision, outcome.stop_signal.reason) == (["stop"], "proceed", "steps_limit")
