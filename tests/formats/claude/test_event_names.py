"""The table of Claude Code's events says the same as the one that its payloads are read by."""

from __future__ import annotations

import pytest

from agent_hooks.formats.claude.event_names import ANY_TYPE, EVENTS, IF_EVENTS, default_timeout
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import find_event
from agent_hooks.wire.claude_code import ROWS


def test_the_events_are_those_of_the_wire():
    assert len(EVENTS) == 34
    wired = {name: row.event for name, row in ROWS.items()} | {"PreSkillShellCommand": "on_host_event"}
    assert {name: str(event.event) for name, event in EVENTS.items()} == wired


@pytest.mark.parametrize("name", EVENTS)
def test_a_gate_is_what_the_wire_refuses_when_something_broke(name):
    row = ROWS[name]
    refuses = row.refuse not in ("", "go_on") and EVENTS[name].event.closed in ("deny", "stop")
    assert EVENTS[name].gate == refuses


@pytest.mark.parametrize("name", EVENTS)
def test_a_command_has_the_time_that_the_wire_knows(name):
    assert default_timeout(name, "command") == ROWS[name].seconds


def test_handlers_with_a_model_have_their_own_time_at_every_event():
    assert default_timeout("UserPromptSubmit", "prompt") == 30.0
    assert default_timeout("UserPromptSubmit", "agent") == 60.0
    assert default_timeout("PreToolUse", "slack") is None


def test_an_event_with_a_name_here_has_it_as_an_alias():
    assert all(find_event(name) == event.event for name, event in EVENTS.items() if name in ("PreToolUse", "Stop"))
    named = {name: event.event for name, event in EVENTS.items() if event.event != "on_host_event"}
    assert {name: find_event(name) for name in named if find_event(name) is not None} == {
        name: event for name, event in named.items() if name != "StopFailure"
    }


@pytest.mark.parametrize("name", EVENTS)
def test_a_subject_is_something_that_contexts_have(name):
    subject = EVENTS[name].subject
    kind, _, key = subject.partition(".")
    assert subject in ("", "tool", "error") or hasattr(HookContext, kind)
    assert (kind == "payload") == bool(key)


def test_if_is_looked_at_where_there_is_a_tool():
    assert {name for name, event in EVENTS.items() if event.subject == "tool"} - IF_EVENTS == {"PreSkillShellCommand"}


def test_only_a_turn_and_a_tool_may_ask_a_model():
    asks = {name for name, event in EVENTS.items() if event.types == ANY_TYPE}
    assert asks == {
        *("PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied"),
        *("Stop", "SubagentStop", "TaskCreated", "TaskCompleted", "TeammateIdle"),
        *("UserPromptSubmit", "UserPromptExpansion"),
    }
