"""``agent-hooks run`` for hosts whose payloads do not name their event, or that run another host's hooks."""

from __future__ import annotations

import json

import pytest

from agent_hooks.cli.quick import event_of, folders_of, shape_of
from commands import Command

DENY = """
    @hookimpl(match="shell")
    def before_tool_use(tool_call):
        return HookOutcome.deny("not here")

    @hookimpl
    def user_input(prompt):
        return HookOutcome.deny("not this")
"""
STOPPED = """
    @hookimpl
    def on_stop():
        return HookOutcome.force_continue("the tests are red")
"""


@pytest.mark.parametrize(
    ("payload", "options", "event"),
    [
        ({"hook_event_name": "Stop"}, {}, "Stop"),
        ({"hook_event_name": "Stop"}, {"--event": "Stop"}, "Stop"),
        ({"hook_event_name": "Stop"}, {"--event": "PreToolUse"}, None),
        ({}, {"--event": "agentStop"}, "agentStop"),
        ({"hook_event_name": 1}, {}, None),
        ({}, {}, None),
    ],
)
def test_the_event_is_the_options_where_the_payload_has_none(payload, options, event):
    assert event_of(payload, options) == event


def test_an_event_of_cursor_happens_in_its_workspace():
    assert folders_of({"workspace_roots": ["/a", "/b"]}, "cursor") == ("/a",)
    assert folders_of({"workspace_roots": ["/a"], "cwd": "/a/b"}, "cursor") == ("/a/b",)
    with pytest.raises(KeyError):
        folders_of({"workspace_roots": []}, "cursor")


def test_the_ends_of_a_run_of_cursor_are_several_events():
    """A plan that knows that nobody listens to the one must not be taken for the other."""
    done, failed = ({"hook_event_name": "stop", "status": status} for status in ("completed", "error"))
    assert shape_of(done, "stop") != shape_of(failed, "stop")


@pytest.mark.once
@pytest.mark.parametrize("agent", ["copilot", "claude-code"])
def test_copilot_is_answered_flat_also_where_it_runs_claudes_hooks(command, payload, agent):
    command.install(DENY)
    done = command.answer(agent, payload("copilot", "PreToolUse"))
    assert json.loads(done.stdout) == {"permissionDecision": "deny", "permissionDecisionReason": "not here"}
    assert done.exit_code == 2
    refused = command.answer(agent, payload("copilot", "UserPromptSubmit"))
    assert (json.loads(refused.stdout)["decision"], refused.exit_code) == ("block", 0)


@pytest.mark.once
@pytest.mark.parametrize(
    ("agent", "file", "event", "expected"),
    [
        ("copilot", "unnamed/preToolUse", "preToolUse", {"permissionDecision": "deny"}),
        ("cursor", "documented/preToolUse", "preToolUse", {"permission": "deny", "agent_message": "not here"}),
        ("cursor", "documented/beforeSubmitPrompt", "beforeSubmitPrompt", {"continue": False}),
        ("opencode", "UserPromptSubmit", "UserPromptSubmit", {"decision": "block", "reason": "not this"}),
    ],
)
def test_a_gate_is_answered_in_the_hosts_words(command, payload, agent, file, event, expected):
    command.install(DENY)
    done = command("run", "--agent", agent, "--event", event, stdin=json.dumps(payload(agent, file)))
    assert expected.items() <= json.loads(done.stdout).items()


@pytest.mark.once
@pytest.mark.parametrize(("file", "goes_on"), [("stop", True), ("stop.error", False), ("stop.aborted", False)])
def test_cursor_goes_on_after_a_finished_run_alone(command, payload, file, goes_on):
    command.install(STOPPED)
    done = command("run", "--agent", "cursor", stdin=json.dumps(payload("cursor", f"documented/{file}")))
    said = json.loads(done.stdout or "{}")
    assert said == ({"followup_message": "the tests are red"} if goes_on else {})


@pytest.mark.once
@pytest.mark.parametrize(
    ("agent", "file", "event"),
    [
        ("copilot", "unnamed/agentStop", "agentStop"),
        ("cursor", "documented/stop", "stop"),
        ("vscode", "documented/Stop", "Stop"),
        ("claude-code", "../copilot/Stop", "Stop"),
    ],
)
def test_an_event_that_no_hook_is_about_is_answered_from_the_plan(tmp_path, payload, agent, file, event):
    command = Command(tmp_path, planning=True)
    place = {"workspace_roots": [str(tmp_path)]} if agent == "cursor" else {"cwd": str(tmp_path)}
    text = json.dumps(payload(agent, file, **place))
    for _ in range(2):
        done = command("run", "--agent", agent, "--event", event, stdin=text)
        assert (done.stdout, done.stderr, done.exit_code) == ("", "", 0)
    *_, last = command.processes()
    assert "agent_hooks.wire" not in last
