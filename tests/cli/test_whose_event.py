"""``agent-hooks run`` for a host named wrongly, or not at all: gates stay closed, and no agent is kept running."""

from __future__ import annotations

import json

import pytest

from commands import as_written

DENY = """
    @hookimpl(match="shell")
    def before_tool_use(tool_call):
        return HookOutcome.deny("not here")

    @hookimpl
    def on_stop():
        return HookOutcome.force_continue("the tests are red")
"""
STOPS = [("claude-code", "Stop"), ("codex", "Stop"), ("gemini", "AfterAgent"), ("qwen", "Stop"), ("copilot", "Stop")]
GATES = [
    *(("claude-code", "PreToolUse"), ("codex", "PreToolUse"), ("gemini", "BeforeTool"), ("qwen", "PreToolUse")),
    ("copilot", "PreToolUse"),
]


@pytest.mark.parametrize("words", ["rum --agent HOST", "run", "run --agent claud"])
def test_misuse_closes_the_gates_of_every_host_and_lets_its_agents_stop(command, payload, words):
    for host, event in STOPS:
        done = command(*words.replace("HOST", host).split(), stdin=json.dumps(payload(host, event)))
        assert (done.exit_code, done.stdout) == (0, ""), (host, done)
        assert done.stderr.startswith("agent-hooks: ")
    for host, event in GATES:
        done = command(*words.replace("HOST", host).split(), stdin=json.dumps(payload(host, event)))
        assert done.exit_code == 2, (host, done)


def test_a_name_of_an_event_that_is_no_text_is_refused_without_a_type_error(command):
    done = command("run", "--agent", "codex", stdin='{"hook_event_name": ["Stop"], "session_id": "s"}')
    assert done.exit_code == 2
    assert "TypeError" not in done.said


@pytest.mark.parametrize(("host", "event"), STOPS)
@pytest.mark.parametrize("agent", ["claude-code", "codex", "gemini", "qwen"])
def test_another_hosts_stop_is_no_further_round(command, payload, agent, host, event):
    done = command("run", "--agent", agent, "--event", "PreToolUse", stdin=json.dumps(payload(host, event)))
    assert (done.exit_code, done.stdout) == (0, "")


@pytest.mark.parametrize(
    ("agent", "host", "file", "expected"),
    [
        ("claude-code", "gemini", "BeforeTool", {"decision": "deny"}),
        ("gemini", "claude-code", "PreToolUse", {"hookSpecificOutput": "permissionDecision"}),
        ("codex", "copilot", "PreToolUse", {"permissionDecision": "deny"}),
    ],
)
def test_another_hosts_gate_is_refused_in_its_own_words(command, payload, agent, host, file, expected):
    done = command("run", "--agent", agent, stdin=json.dumps(payload(host, file)))
    assert done.exit_code == 2
    for key, value in expected.items():
        assert value in done.json[key]
    assert f"--agent {agent}" in done.stderr
    assert f"--agent {host}" in done.stderr


@pytest.mark.parametrize(("host", "event"), GATES)
def test_auto_answers_each_host_in_its_words(command, payload, host, event):
    command.install(DENY)
    sent = json.dumps(payload(host, event))
    found = command("run", "--agent", "auto", stdin=sent, env={"QWEN_PROJECT_DIR": "/repo"})
    named = command("run", "--agent", host, stdin=sent)
    assert (found.stdout, found.stderr, found.exit_code) == (named.stdout, named.stderr, 2)


@pytest.mark.parametrize("agent", ["gemini", "cursor"])
def test_an_event_that_only_others_have_is_refused_and_not_taken_for_a_notice(command, payload, agent):
    sent = {**payload("claude-code", "PreToolUse"), "transcript_path": "/srv/moved/a.jsonl"}
    done = command("run", "--agent", agent, "--event", "PreToolUse", stdin=json.dumps(sent))
    assert done.exit_code == 2
    assert f"--agent {agent}" in done.stderr
    assert "Claude Code" in done.stderr


def test_copilots_permission_request_is_asked_about_under_either_of_its_names(command, payload):
    command.hook("permission_request", 'HookOutcome.deny("not here")')
    sent = json.dumps(payload("copilot", "PermissionRequest"))
    done = command("run", "--agent", "copilot", "--event", "PermissionRequest", stdin=sent)
    assert (done.json["behavior"], as_written(done.json["message"])) == ("deny", "not here")


def test_a_folder_called_like_a_stop_opens_no_gate(command, payload, tmp_path):
    folder = tmp_path / "nonstop"
    sent = json.dumps(payload("claude-code", "PreToolUse"))
    for option in (["--config-dir", str(folder)], [f"--config-dir={folder}"]):
        wrong = ["--agent", "claude-code", "--timeout", "0", *option, "--event", "PreToolUse"]
        assert command("run", *wrong, stdin=sent).exit_code == 2
