"""``agent-hooks run`` for hosts whose payloads do not name their event, or that run another host's hooks."""

from __future__ import annotations

import json

import pytest

from commands import as_written
from projects import denying, toml

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


@pytest.mark.parametrize("agent", ["copilot", "claude-code"])
def test_copilot_is_answered_flat_also_where_it_runs_claudes_hooks(command, payload, agent):
    command.install(DENY)
    done = command.answer(agent, payload("copilot", "PreToolUse"))
    assert json.loads(as_written(done.stdout)) == {"permissionDecision": "deny", "permissionDecisionReason": "not here"}
    assert done.exit_code == 2
    refused = command.answer(agent, payload("copilot", "UserPromptSubmit"))
    assert (json.loads(refused.stdout)["decision"], refused.exit_code) == ("block", 0)


@pytest.mark.parametrize("option", [True, False])
def test_cursor_is_answered_by_the_exit_code_where_it_runs_claudes_hooks(command, payload, option):
    def ask(file: str, event: str, **changed: object) -> tuple[str, str, int]:
        options = ["--event", event] if option else []
        text = json.dumps(payload("cursor", f"documented/{file}", **changed))
        done = command("run", "--agent", "claude-code", *options, stdin=text)
        return done.stdout, done.why, done.exit_code

    command.install(DENY + STOPPED)
    assert ask("preToolUse", "PreToolUse") == ("", "not here", 2)
    assert ask("preToolUse", "PreToolUse", tool_name="Read", tool_input={"file_path": "a"}) == ("", "", 0)
    assert ask("beforeSubmitPrompt", "UserPromptSubmit") == ("", "not this", 2)
    # It goes on after a finished run alone.
    assert ask("stop", "Stop") == ('{"followup_message":"the tests are red"}', "", 0)
    if not option:
        assert ask("stop.error", "") == ask("stop.aborted", "") == ("", "", 0)


@pytest.mark.parametrize(
    ("agent", "stop", "prompt"), [("gemini", "AfterAgent", "BeforeAgent"), ("copilot", "Stop", "UserPromptSubmit")]
)
def test_a_prompt_that_is_the_reason_of_a_forced_round_is_marked_once(command, payload, agent, stop, prompt):
    command.install(STOPPED)
    command.hook("user_input(ctx)", 'HookOutcome.deny(f"forced: {ctx.stop_hook_active}")', name="second")
    told = json.loads(command.answer(agent, payload(agent, stop, session_id="s")).stdout)["reason"]
    answers = [
        json.loads(command.answer(agent, payload(agent, prompt, session_id=session, prompt=text)).stdout)["reason"]
        for session, text in (("s", "hello"), ("another", told), ("s", told), ("s", told))
    ]
    assert [*map(as_written, answers)] == ["forced: False", "forced: False", "forced: True", "forced: False"]


FAILING = toml("exit 1") + toml("exit 1", "on_host_event")
# Where the model reads the reason: keys of the answer, or stderr.
REASONS = {
    "claude-code": ("PreToolUse", ("hookSpecificOutput", "permissionDecisionReason")),
    "codex": ("PreToolUse", ("hookSpecificOutput", "permissionDecisionReason")),
    "gemini": ("BeforeTool", ("reason",)),
    "qwen": ("PreToolUse", ("hookSpecificOutput", "permissionDecisionReason")),
}


@pytest.mark.parametrize("agent", REASONS)
def test_people_are_told_the_line_of_a_hook_that_failed_and_the_model_its_file(command, payload, agent):
    command.configure(FAILING)
    event, keys = REASONS[agent]
    done = command.answer(agent, payload(agent, event))
    place = f"{command.config / 'agent-hooks.toml'}:2"
    reason = done.json
    for key in keys:
        reason = reason[key]
    assert f"deny by {place}" in done.json["systemMessage"]
    assert "The hook agent-hooks.toml failed" in reason
    read = [reason, done.stderr] if agent in ("codex", "qwen") else [reason]
    assert not any(str(command.config) in text for text in read)


@pytest.mark.parametrize(("agent", "event"), [("claude-code", "TaskCompleted"), ("qwen", "TodoCompleted")])
def test_a_hook_that_fails_does_not_keep_a_task_open_and_one_that_denies_does(command, payload, agent, event):
    command.configure(FAILING)
    done = command.answer(agent, payload(agent, f"documented/{event}"))
    assert done.exit_code == 0
    assert "so this goes on although a hook refused it" in done.json["systemMessage"]
    command.configure(FAILING.replace("exit 1", denying("the tests are red")))
    done = command.answer(agent, payload(agent, f"documented/{event}"))
    assert (done.exit_code, as_written(done.stderr)) == (2, "the tests are red")
