"""Whose payload it is: by its fields alone where that is sure, else by the environment too."""

from __future__ import annotations

import pytest

from agent_hooks.wire import HOSTS
from agent_hooks.wire.detect import AUTO, recognised, sender, sure_sender
from tables import tables
from wire.golden_files import payloads, unnamed

TABLES = tables(__file__)

ALL = [
    (host, file, payload)
    for host in HOSTS
    for file, payload in [*payloads(host).items(), *((file, each) for file, (each, _) in unnamed(host).items())]
]
# Names nothing but the event and the session, so it could be that of several.
VAGUE = {"cursor", "opencode", "vscode"}
ENVIRONMENTS = {"gemini": {"GEMINI_SESSION_ID": "b4771d08"}, "qwen": {"QWEN_PROJECT_DIR": "/repo"}}
each = pytest.mark.parametrize(("host", "file", "payload"), ALL, ids=[f"{host}-{file}" for host, file, _ in ALL])


@each
def test_no_payload_is_surely_another_hosts(host, file, payload):
    assert sure_sender(payload) in ("", host)


@each
def test_the_sender_is_found(host, file, payload):
    found = sender(payload, ENVIRONMENTS.get(host, {})).name
    assert found == host or (host in VAGUE and found == "claude-code") or host == "codex"


@each
def test_a_payload_of_its_own_is_each_hosts(host, file, payload):
    assert recognised(HOSTS[host], payload, {}) == (HOSTS[host], "")


@pytest.mark.parametrize("host", ["copilot", "vscode"])
def test_claudes_guests_run_its_hooks_and_are_answered_as_themselves(host):
    every = [*payloads(host).items(), *((file, each) for file, (each, _) in unnamed(host).items())]
    for file, payload in every:
        if "snake" not in file:
            assert recognised(HOSTS["claude-code"], payload, {}) == (HOSTS[host], ""), file


def test_vs_code_runs_copilots_hooks_and_is_answered_as_itself():
    for file, payload in payloads("vscode").items():
        assert recognised(HOSTS["copilot"], payload, {}) == (HOSTS["vscode"], ""), file


@pytest.mark.parametrize(("named", "sent", "file"), TABLES["refused"])
def test_another_hosts_payload_is_refused_with_both_names(named, sent, file):
    host, wrong = recognised(HOSTS[named], payloads(sent)[file], {})
    assert host is HOSTS[sent]
    assert f"--agent {named}" in wrong
    assert f"--agent {sent}" in wrong
    assert host.title in wrong


def test_auto_stands_for_whichever_host_it_is():
    for host in ("claude-code", "gemini", "copilot"):
        for payload in payloads(host).values():
            assert recognised(AUTO, payload, ENVIRONMENTS.get(host, {})) == (HOSTS[host], "")
    assert recognised(AUTO, [], {}) == (AUTO, "")


STOPS = ["AfterAgent", "Stop", "SubagentStop", "TeammateIdle", "agentStop", "session.idle", "stop", "subagentStop"]


@pytest.mark.parametrize("host", [*HOSTS.values(), AUTO], ids=lambda host: host.name)
def test_a_failure_forces_no_round_whosever_event_it_is(host):
    for event in STOPS:
        answer = host.failure(event, "it broke")
        assert (answer.exit_code, answer.stdout) == (0, ""), event
        assert "it broke" in answer.stderr


def test_the_innermost_folder_says_whose_transcript_it_is():
    sent = {**payloads("codex")["PreToolUse.json"], "transcript_path": "/h/.claude/projects/a/.codex/sessions/b.jsonl"}
    assert recognised(HOSTS["codex"], sent, {}) == (HOSTS["codex"], "")


def test_each_sign_of_a_host_tells_it_by_itself():
    event = {"hook_event_name": "Stop", "timestamp": "2026-01-01T00:00:00Z"}
    assert sure_sender({**event, "cursor_version": "1"}) == "cursor"
    assert sure_sender({**event, "conversation_id": "c", "generation_id": "g"}) == "cursor"
    assert sure_sender({**event, "transcript_path": "/t", "stop_reason": "end_turn"}) == "copilot"
    assert sure_sender({**event, "transcript_path": "/t"}) == ""


def test_a_time_beside_a_mode_is_qwens_wherever_its_transcripts_are():
    sent = {**payloads("qwen")["PreToolUse.json"], "transcript_path": "/srv/moved/a.jsonl"}
    assert recognised(HOSTS["claude-code"], sent, {})[0] is HOSTS["qwen"]
