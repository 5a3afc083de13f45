"""Whether a host goes on, against what the clients were seen to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_hooks.cli.wiring.verdicts import ASKED, BLOCKED, RUNS, Ended, verdict
from agent_hooks.wire import get_host

GOLDEN = Path(__file__).parents[2] / "wire" / "golden"
EVENTS = {"gemini": "BeforeTool", "cursor": "preToolUse"}
MEASURED = [
    (file.name.partition(".")[0], case)
    for file in sorted(GOLDEN.glob("*.measured.json"))
    for case in json.loads(file.read_text(encoding="utf-8"))["cases"]
    if case.get("event", "PreToolUse") in ("PreToolUse", "UserPromptSubmit")
]


def of(host, *, event="", closes=False, **ended):
    """The verdict before a tool."""
    return verdict(get_host(host), event or EVENTS.get(host, "PreToolUse"), Ended(**ended), closes=closes)


@pytest.mark.parametrize(("host", "case"), MEASURED, ids=lambda each: each if isinstance(each, str) else each["name"])
def test_the_verdict_is_what_the_client_was_seen_to_do(host, case):
    event = EVENTS.get(host, case.get("event", "PreToolUse"))
    found = of(host, event=event, code=case["exit_code"], stdout=case["stdout"], stderr=case.get("stderr", ""))
    effect = case["effect"] if isinstance(case["effect"], str) else case["effect"]["happens"]
    # Without a terminal, a question is a deny.
    assert (found != RUNS) is (effect in ("blocked", "no")), case


def test_every_host_lets_a_late_command_through_unless_its_entry_closes():
    for host in ("claude-code", "codex", "gemini", "qwen", "copilot", "vscode", "cursor"):
        assert of(host, code=None) == RUNS, host
    assert of("claude-code", code=None, closes=True) == BLOCKED
    assert of("cursor", code=None, closes=True) == BLOCKED


@pytest.mark.parametrize(
    ("host", "found"),
    [
        *((host, RUNS) for host in ("claude-code", "codex", "qwen", "vscode", "cursor")),
        *((host, BLOCKED) for host in ("gemini", "copilot", "opencode")),
    ],
)
def test_a_command_that_is_missing_blocks_where_the_host_or_the_line_says_so(host, found):
    text = "sh: 1: /gone: not found"
    assert of(host, code=127, stderr=text) == found
    assert of(host, code=2, stderr=text) == BLOCKED  # its line ends in ` || exit 2`
    assert of(host, code=127, stderr=text, closes=True) == BLOCKED


def test_a_process_that_was_killed_blocks_where_its_entry_or_the_host_closes():
    for host in ("claude-code", "codex", "gemini", "qwen"):
        assert of(host, code=-9) == RUNS, host
    assert of("copilot", code=-9) == BLOCKED
    assert of("claude-code", code=-9, closes=True) == BLOCKED


def test_a_prompt_is_refused_in_the_words_of_its_host():
    assert of("copilot", event="UserPromptSubmit", code=2, stderr="no") == RUNS
    assert of("copilot", event="UserPromptSubmit", code=0, stdout='{"decision": "block", "reason": "no"}') == BLOCKED
    assert of("cursor", event="beforeSubmitPrompt", code=0, stdout='{"continue": false}') == BLOCKED
    assert of("codex", event="PreCompact", code=2, stderr="no") == RUNS
    assert of("codex", event="PreCompact", code=0, stdout='{"continue": false, "stopReason": "no"}') == BLOCKED
    assert of("codex", event="UserPromptSubmit", code=0, stdout='{"decision": "block"}') == RUNS


def test_a_question_is_one_where_the_host_puts_it():
    asking = json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "ask"}})
    assert [of(host, code=0, stdout=asking) for host in ("claude-code", "vscode", "codex")] == [ASKED, ASKED, RUNS]
