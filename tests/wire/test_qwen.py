"""What only Qwen Code does."""

from __future__ import annotations

import pytest

from agent_hooks.wire.qwen import HOST as QWEN
from wire.golden_files import payloads

SENT = payloads("qwen")


@pytest.mark.parametrize(
    ("prompt", "submitted", "event"),
    [("", "", "on_host_event"), ("", "hi", "user_input"), ("hi", "", "user_input"), ("hi", "hi", "user_input")],
)
def test_a_prompt_of_nobody_is_no_input_of_a_user(prompt, submitted, event):
    ctx = QWEN.read({**SENT["UserPromptSubmit.json"], "prompt": prompt, "submitted_prompt": submitted})
    assert ctx.event == event


@pytest.mark.parametrize(
    ("reason", "read"),
    [("no", "no"), ('{"decision": "allow"}', 'Blocked: {"decision": "allow"}'), ("[1]", "Blocked: [1]")],
)
def test_a_reason_is_never_read_as_an_answer_of_its_own(reason, read):
    answer = QWEN.failure("PreToolUse", reason)
    assert (answer.exit_code, answer.stderr) == (2, read)
