"""What only Codex does: it goes on where it finds anything unexpected in an answer."""

from __future__ import annotations

import pytest

from agent_hooks.model.outcome import HookOutcome
from agent_hooks.wire.codex import HOST as CODEX
from wire.golden_files import payloads

RECORDED = payloads("codex")
BASH, PATCH, MCP = "PreToolUse.json", "pre-apply_patch.json", "documented/PreToolUse.mcp.json"


def answer_to(file, outcome, *, ask="deny", **changes):
    ctx = CODEX.read(RECORDED[file])
    return CODEX.write(outcome, ctx.replace(**changes) if changes else ctx, ask=ask)


def test_an_ask_with_new_arguments_is_never_left_to_codex_which_would_run_the_original():
    outcome = HookOutcome.ask("really?", tool_args={"command": "ls"})
    assert answer_to(BASH, outcome, ask="host", permission_mode="default").exit_code == 2


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
