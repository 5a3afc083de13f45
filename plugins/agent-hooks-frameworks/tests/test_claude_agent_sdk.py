"""Hooks in the Claude Agent SDK, with its own CLI."""

from __future__ import annotations

import asyncio
import json
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("claude_agent_sdk")
pytestmark = pytest.mark.frameworks

from claude_agent_sdk import (  # noqa: E402
    ClaudeAgentOptions,
    ClaudeSDKClient,
    HookMatcher,
    PermissionResultAllow,
    PermissionResultDeny,
)
from claude_agent_sdk_host import ClaudeAgentSDKHost  # noqa: E402
from conformance import DELETE, LIST, Conformance, Shell, asks_rm, denies_rm, managed, on  # noqa: E402
from hosting import Call, Child, Script  # noqa: E402

from agent_hooks import HookOutcome, RegistrationError, protect  # noqa: E402
from agent_hooks_frameworks.claude_agent_sdk import EVENTS, AgentHooks  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path


class TestClaudeAgentSDK(Conformance):
    host = ClaudeAgentSDKHost()


HOST = ClaudeAgentSDKHost()
CLOSES = any(each.name == "on_failure" for each in fields(HookMatcher))


def pre(**specific: Any) -> Any:
    """A matcher of the application's own before a tool."""

    async def callback(payload: Any, tool_use_id: Any, context: Any) -> Any:
        return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **specific}}

    return {"PreToolUse": [HookMatcher(hooks=[callback])]}


def test_a_person_of_the_application_is_asked_about_the_arguments_as_they_would_run():
    def rewrite(ctx: Any) -> HookOutcome | None:
        return HookOutcome.with_args({"command": "rm -r build"}) if "-rf" in ctx.tool_args["command"] else None

    for answer, expected in ((PermissionResultAllow(), ["rm -r build"]), (PermissionResultDeny(message="no"), [])):
        shell = Shell()
        asked: list[Any] = []

        async def person(name: str, args: Any, context: Any, answer: Any = answer, asked: Any = asked) -> Any:
            asked.append((args, context.decision_reason))
            return answer

        manager = managed(on("before_tool_use", rewrite), on("before_tool_use", asks_rm))
        HOST.run(
            [Call("shell", DELETE), "done"],
            [shell.tool()],
            manager=manager,
            options={"can_use_tool": person, "allowed_tools": []},
        )
        assert shell.commands == expected
        ((args, reason),) = asked
        assert args == {"command": "rm -r build"}
        assert "really?" in reason


def test_a_suspended_call_waits_although_a_person_is_there():
    async def person(name: str, args: Any, context: Any) -> Any:
        return PermissionResultAllow()

    shell = Shell()
    manager = managed(on("before_tool_use", lambda ctx: HookOutcome.suspend("needs a ticket")))
    ran = HOST.run(
        [Call("shell", LIST, "one"), "done"],
        [shell.tool()],
        manager=manager,
        options={"can_use_tool": person, "allowed_tools": []},
    )
    assert (ran.waiting, shell.commands) == (["one"], [])


def test_of_two_calls_that_have_to_wait_none_is_made():
    shell = Shell()
    script: Script = [[Call("shell", DELETE, "one"), Call("shell", {"command": "rm x"}, "two")], "done"]
    ran = HOST.run(script, [shell.tool()], manager=managed(on("before_tool_use", asks_rm)))
    assert (len(ran.waiting), shell.commands) == (1, [])


def test_an_approval_holds_for_exactly_the_arguments_that_were_asked_about(tmp_path: Path):
    def rewrite(ctx: Any) -> HookOutcome | None:
        return HookOutcome.with_args({"command": "rm -r build"}) if "-rf" in ctx.tool_args["command"] else None

    hooks = [on("before_tool_use", rewrite), on("before_tool_use", asks_rm)]
    for manager, args, expected in (
        (managed(*hooks), None, []),  # another process knows only what the model wanted
        (managed(*hooks), {"command": "rm -r build"}, ["rm -r build"]),
    ):
        shell = Shell()
        script: Script = [Call("shell", DELETE, "one"), "done"]
        ran = HOST.run(script, [shell.tool()], manager=managed(*hooks), tmp_path=tmp_path)
        paused = json.dumps({**json.loads(ran.paused or ""), "args": args})
        then = HOST.resume(paused, True, ["done"], [shell.tool()], manager=manager, tmp_path=tmp_path)
        assert shell.commands == expected
        assert bool(then.waiting) is not bool(expected)


def test_a_denial_stands_beside_a_hook_of_the_application_that_allows():
    shell = Shell()
    manager = managed(on("before_tool_use", denies_rm))
    own = pre(permissionDecision="allow")
    ran = HOST.run([Call("shell", DELETE), "done"], [shell.tool()], manager=manager, options={"hooks": own})
    assert shell.commands == []
    assert "not here" in ran.seen[1]


def test_a_hook_of_the_application_stays_in_force():
    shell = Shell()
    own = pre(permissionDecision="deny", permissionDecisionReason="the application says no")
    ran = HOST.run([Call("shell", LIST), "done"], [shell.tool()], manager=managed(), options={"hooks": own})
    assert shell.commands == []
    assert "the application says no" in ran.seen[1]


def test_a_failure_of_the_adapter_denies(monkeypatch: pytest.MonkeyPatch):
    def broken(self: Any, ctx: Any) -> Any:
        raise RuntimeError("broken")

    monkeypatch.setattr(AgentHooks, "_dispatch", broken)
    shell = Shell()
    ran = HOST.run([Call("shell", LIST), "done"], [shell.tool()], manager=managed())
    assert (shell.commands, ran.seen) == ([], [])  # the prompt is refused already


@pytest.mark.skipif(not CLOSES, reason="This release has no on_failure.")
def test_the_cli_blocks_where_a_callback_raises(monkeypatch: pytest.MonkeyPatch):
    async def raises(self: Any, payload: Any, tool_use_id: Any, context: Any) -> Any:
        if payload["hook_event_name"] == "PreToolUse":
            raise RuntimeError("broken")
        return {}

    monkeypatch.setattr(AgentHooks, "callback", raises)
    shell = Shell()
    ran = HOST.run([Call("shell", LIST), "done"], [shell.tool()], manager=managed())
    assert (shell.commands, ran.output) == ([], "done")


@pytest.mark.parametrize("is_query", [False, True])
def test_a_session_that_a_tool_starts_is_under_the_hooks_of_the_run(is_query: bool):
    shell = Shell()
    depths: list[int] = []

    def gate(ctx: Any) -> HookOutcome | None:
        depths.append(ctx.depth)
        return denies_rm(ctx)

    outer = AgentHooks(managed(on("before_tool_use", gate))).begin(agent_name="outer")
    with outer.active():
        HOST.run([Call("shell", DELETE), "done"], [shell.tool()], is_query=is_query)
    assert (shell.commands, depths) == ([], [1])


def test_settings_that_disable_hooks_do_not_disable_these():
    shell = Shell()
    options = {"settings": json.dumps({"disableAllHooks": True})}
    manager = managed(on("before_tool_use", denies_rm))
    HOST.run([Call("shell", DELETE), "done"], [shell.tool()], manager=manager, options=options)
    assert shell.commands == []


def test_hooks_answer_a_permission_that_the_cli_requests():
    shell = Shell()
    hook = on("permission_request", lambda ctx: HookOutcome.allow() if ctx.tool_args == LIST else None)
    script: Script = [Call("shell", LIST), Call("shell", DELETE), "done"]
    HOST.run(script, [shell.tool()], manager=managed(hook), options={"allowed_tools": []})
    assert shell.commands == ["ls"]


def test_the_task_of_a_subagent_is_rewritten():
    child = Child("helper", ["helped"], [])
    prompts: list[str] = []
    hook = on("before_subagent", lambda name, task: HookOutcome.update(task=f"{name}, gently {task}"))
    ran = HOST.run([Call("helper", {"task": "tidy"}), "done"], [], manager=managed(hook), child=child, told=prompts)
    assert ran.output == "done"
    assert "helper, gently tidy" in prompts[0]


def test_settings_of_claude_are_left_to_the_cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    settings = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude/settings.json").write_text(json.dumps(settings))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / ".claude"))
    hooks = AgentHooks().manager.all_hooks()
    assert [hook.name for hook in hooks if "exit 2" in hook.name] == []


def test_options_and_a_client_are_protected_once_and_before_they_are_used():
    options = protect(ClaudeAgentOptions(), managed())
    assert set(options.hooks) == set(EVENTS)
    with pytest.raises(RegistrationError, match="already"):
        protect(options, managed())
    client = ClaudeSDKClient(ClaudeAgentOptions())
    assert protect(client, managed()).options.hooks
    later = ClaudeSDKClient(ClaudeAgentOptions())
    later._query = object()
    with pytest.raises(RegistrationError, match="is connected"):
        protect(later, managed())


def test_an_event_that_cannot_be_read_is_refused():
    async def answer(**payload: Any) -> Any:
        return await AgentHooks(managed()).callback(payload, None, None)

    said = asyncio.run(answer(hook_event_name="PreToolUse", tool_input={}))
    assert said["hookSpecificOutput"]["permissionDecision"] == "deny"
