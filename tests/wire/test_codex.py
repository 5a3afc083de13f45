"""What only Codex does: it goes on where it finds anything unexpected in an answer."""

from __future__ import annotations

import json

import pytest

from agent_hooks.model.outcome import HookOutcome
from agent_hooks.wire.codex import HOST as CODEX
from wire.golden_files import payloads

RECORDED = payloads("codex")
BASH, PATCH, MCP = "PreToolUse.json", "pre-apply_patch.json", "documented/PreToolUse.mcp.json"


def answer_to(file, outcome, *, ask="deny", **changes):
    ctx = CODEX.read(RECORDED[file])
    return CODEX.write(outcome, ctx.replace(**changes) if changes else ctx, ask=ask)


def test_a_bare_allow_is_silence():
    """Codex reports `permissionDecision: allow` without new arguments as a failed hook."""
    assert answer_to(BASH, HookOutcome.allow("fine")).stdout == ""


def test_it_cannot_ask_so_an_ask_denies():
    assert not CODEX.can_ask(CODEX.read(RECORDED[BASH]))
    answer = answer_to(BASH, HookOutcome.ask("really?"))
    assert answer.exit_code == 2
    assert "really?" in answer.stderr


def test_an_ask_can_be_left_to_codexs_own_approval():
    answer = answer_to(BASH, HookOutcome.ask("really?"), ask="host", permission_mode="default")
    assert answer.exit_code == 0
    assert json.loads(answer.stdout) == {"systemMessage": "A hook asks for an approval: really?"}


@pytest.mark.parametrize("mode", ["bypassPermissions", "dontAsk"])
def test_an_ask_left_to_codex_denies_where_codex_approves_everything(mode):
    assert answer_to(BASH, HookOutcome.ask("really?"), ask="host", permission_mode=mode).exit_code == 2


def test_an_ask_with_new_arguments_is_never_left_to_codex_which_would_run_the_original():
    outcome = HookOutcome.ask("really?", tool_args={"command": "ls"})
    assert answer_to(BASH, outcome, ask="host", permission_mode="default").exit_code == 2


@pytest.mark.parametrize("file", [BASH, PATCH])
def test_an_allowed_rewrite_runs_the_new_command(file):
    answer = answer_to(file, HookOutcome.allow(tool_args={"command": "new"}))
    assert json.loads(answer.stdout)["hookSpecificOutput"] == {
        "hookEventName": "PreToolUse",
        "permissionDecision": "allow",
        "updatedInput": {"command": "new"},
    }


def test_a_rewrite_that_is_not_allowed_denies_and_names_the_replacement():
    answer = answer_to(BASH, HookOutcome.proceed(tool_args={"command": "git push --dry-run"}))
    assert answer.exit_code == 2
    assert '{"command": "git push --dry-run"}' in answer.stderr


@pytest.mark.parametrize("args", [{"command": ["ls"]}, {"cmd": "ls"}, {}, {"command": None}])
def test_a_rewrite_that_codex_would_ignore_denies(args):
    answer = answer_to(BASH, HookOutcome.allow(tool_args=args))
    assert answer.exit_code == 2
    assert "nothing but a 'command' that is text" in answer.stderr


@pytest.mark.parametrize(
    "args", [{"command": "ls", "timeout": 1, "cwd": "/a"}, {"command": "ls", "timeout": 2}, {"command": "ls"}]
)
def test_a_rewrite_of_which_codex_would_take_a_part_denies_and_names_the_rest(args):
    recorded = CODEX.read(RECORDED[BASH]).tool_call
    assert recorded is not None
    call = recorded.with_args({"command": "ls -R", "cwd": "/a", "timeout": 2})
    answer = answer_to(BASH, HookOutcome.allow(tool_args=args), tool_call=call)
    lost = {key for key in ("cwd", "timeout") if args.get(key) != call.args[key]}
    assert answer.exit_code == 2
    assert all((repr(key) in answer.stderr.partition("Use this")[0]) == (key in lost) for key in ("cwd", "timeout"))
    assert answer_to(BASH, HookOutcome.allow(tool_args={**call.args, "command": "ls"}), tool_call=call).exit_code == 0


def test_an_mcp_tools_arguments_need_no_command_but_a_depth_that_codex_reads():
    deep: dict[str, object] = {"text": "y"}
    for _ in range(118):  # with the innermost object and its text, 120 levels
        deep = {"inside": deep}
    assert answer_to(MCP, HookOutcome.allow(tool_args=deep)).exit_code == 0
    assert answer_to(MCP, HookOutcome.allow(tool_args={"inside": deep})).exit_code == 2


def test_a_new_result_takes_the_place_of_the_old_whole_and_uncut():
    text = "line\n" * 20_000
    assert answer_to("PostToolUse.json", HookOutcome.proceed(result=text)).stderr == text.strip()
    assert answer_to("PostToolUse.json", HookOutcome.proceed(result="")).stderr == "(no output)"
    assert answer_to("PostToolUse.json", HookOutcome.proceed(result={"a": 1})).stderr == '{"a": 1}'


def test_a_compaction_is_refused_by_halting_because_exit_2_does_not_stop_it():
    answer = answer_to("documented/PreCompact.json", HookOutcome.deny("not now"))
    assert answer.exit_code == 0
    assert json.loads(answer.stdout) == {"continue": False, "stopReason": "Blocked by policy: not now"}


def test_model_requests_are_host_events_because_nothing_said_there_is_heeded():
    for file in ("PreModelRequest.json", "PostModelRequest.json"):
        assert CODEX.read(RECORDED[file]).event == "on_host_event"
        answer = answer_to(file, HookOutcome.deny("no"))
        assert (answer.stdout, answer.exit_code) == ("", 0)
        assert "cannot refuse" in answer.stderr


def test_on_exit_2_stderr_says_what_the_model_needs_and_nothing_that_is_for_people():
    """The model reads all of it."""
    ctx = CODEX.read(RECORDED[BASH])
    answer = CODEX.write(HookOutcome.deny("no", context="read RULES.md"), ctx, notes=("a plugin is off",))
    assert answer.stderr == "Blocked by policy: no\n\nread RULES.md"
    assert json.loads(answer.stdout)["systemMessage"] == "a plugin is off"


def test_a_refusal_tells_the_model_how_to_go_on():
    asked = answer_to(BASH, HookOutcome.ask("really?"))
    assert asked.stderr == (
        "Blocked by policy: This needs an approval that Codex cannot ask for here. really? "
        "Go on without it, or say in your answer what a person has to approve."
    )
    waits = answer_to(BASH, HookOutcome.suspend("Ada looks at it."))
    assert waits.stderr == (
        "Blocked by policy: This waits for somebody's decision and was not done. Ada looks at it. "
        "Go on with something else, or say in your answer what it waits for."
    )
    rewritten = answer_to(BASH, HookOutcome.update(tool_args={"command": "echo safe"}))
    assert rewritten.stderr.endswith('Do it again with this instead: {"command": "echo safe"}')
