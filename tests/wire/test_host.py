"""Reading and writing as hosts share it."""

from __future__ import annotations

import json
import re

import pytest

from agent_hooks.errors import WireError
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.wire import HOSTS
from agent_hooks.wire.host import place_of
from agent_hooks.wire.opencode import plugin_text
from tables import tables

TABLES = tables(__file__)

BASE = {"session_id": "s", "transcript_path": None, "cwd": "/repo"}
# Those that take Claude Code's form as it is.
FAMILY = ("claude-code", "codex")
hosts = pytest.mark.parametrize("host", [HOSTS[name] for name in FAMILY], ids=FAMILY)


def tool(event="PreToolUse", **more):
    call = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "t1"}
    return {**BASE, "hook_event_name": event, "permission_mode": "default", **call, **more}


# -- reading -----------------------------------------------------------------------------------------------------------


@hosts
@pytest.mark.parametrize(("event", "fields", "problem"), TABLES["unreadable"])
def test_what_cannot_be_read_says_why(host, event, fields, problem):
    with pytest.raises(WireError, match=problem):
        host.read({**BASE, "hook_event_name": event, **fields})


@hosts
@pytest.mark.parametrize("payload", [[], None, "{}", {}, {"hook_event_name": 3}])
def test_what_is_no_event_cannot_be_read(host, payload):
    with pytest.raises(WireError, match=r"one JSON object, not|'hook_event_name' (is|must)"):
        host.read(payload)


@hosts
@pytest.mark.parametrize(("key", "value"), TABLES["of_any_type"])
def test_what_no_hook_judges_may_be_anything_and_stays_in_the_payload(host, key, value):
    ctx = host.read(tool(**{key: value}))
    assert ctx.payload[key] == value
    field = "agent_name" if key == "agent_type" else key
    assert not getattr(ctx, field)


@hosts
def test_an_id_may_be_a_number(host):
    ctx = host.read(tool(session_id=7, tool_use_id=8, agent_id=9, agent_type="explorer"))
    assert (ctx.session_id, ctx.tool_call.id, ctx.agent_id, ctx.payload) == ("7", "8", "9", None)
    assert ctx.agent_name == "explorer"


@hosts
def test_an_explicit_event_goes_before_the_payloads_own_and_a_tool_may_have_no_arguments(host):
    assert host.read(BASE, "Stop").event == "on_stop"
    assert host.read({**BASE, "hook_event_name": "SessionEnd"}, "Stop").event == "on_stop"
    assert host.read(tool(tool_input=None)).tool_args == {}


@hosts
def test_a_prompts_origin_that_is_no_text_does_not_refuse_the_prompt(host):
    ctx = host.read({**BASE, "hook_event_name": "UserPromptSubmit", "prompt": "hi", "source": 1})
    assert (ctx.prompt, ctx.source, ctx.payload["source"]) == ("hi", "", 1)


@hosts
def test_what_a_hook_is_given_is_read_only(host):
    ctx = host.read(tool("PostToolUse", tool_response={"stdout": "x"}, extra={"a": []}))
    for value in (ctx.tool_args, ctx.result, ctx.payload["extra"]):
        with pytest.raises(TypeError):
            value["new"] = 1


@hosts
def test_an_event_without_a_name_here_keeps_its_own_and_the_whole_payload(host):
    payload = {**BASE, "hook_event_name": "FromTheFuture", "tool_name": "Bash", "novelty": [1]}
    ctx = host.read(payload)
    assert (ctx.event, ctx.host_event, ctx.payload) == ("on_host_event", "FromTheFuture", payload)
    assert ctx.session_id == "s"


# -- writing -----------------------------------------------------------------------------------------------------------


RULES = {
    "house.before_tool_use": "house.before_tool_use",
    "/srv/shop/hookconf.py.before_tool_use": "hookconf.py.before_tool_use",
    ".claude/settings.json:6": "settings.json",
}


@hosts
@pytest.mark.parametrize("hook", RULES)
def test_a_decision_names_its_rule_and_a_failure_has_no_such_beginning(host, hook):
    """Hosts say "hook error" before both, and a model that cannot tell them apart tries again."""
    ctx, outcome = host.read(tool()), HookOutcome.deny("no").replace(hook=hook)
    assert host.write(outcome, ctx).stderr == f"Blocked by policy ({RULES[hook]}): no"
    assert host.write(outcome.replace(reason="no [no-push]"), ctx).stderr == "Blocked by policy (no-push): no [no-push]"
    assert host.write(outcome.replace(failed=True), ctx).stderr == "no"
    assert host.failure(ctx.host_event, "it broke").stderr == "it broke"


@hosts
def test_a_deny_without_a_reason_gets_one_that_names_the_hook(host):
    answer = host.write(HookOutcome.deny().replace(hook="guards.no_force"), host.read(tool()))
    assert answer.stderr == "Blocked by policy (guards.no_force): guards.no_force gave no reason."


@hosts
def test_a_suspended_call_waits_and_the_model_does_not_learn_the_token(host):
    answer = host.write(HookOutcome.suspend("a person looks").replace(token="t0k3n"), host.read(tool()))
    assert "waits" in answer.stderr
    assert "t0k3n" not in answer.stdout + answer.stderr


@hosts
def test_a_retry_is_put_to_the_model(host):
    outcome = HookOutcome.retry("the network was down")
    body = json.loads(host.write(outcome, host.read(tool("PostToolUse", tool_response="x"))).stdout)
    assert body["hookSpecificOutput"]["additionalContext"] == "Try this again.\n\nthe network was down"


def test_a_subagents_call_says_its_name_and_task():
    claude, codex = HOSTS["claude-code"], HOSTS["codex"]
    call = claude.read(tool(tool_name="Agent", tool_input={"prompt": "look", "subagent_type": "explorer"}))
    ctx = claude.subagent(call, call.tool_args)
    assert (ctx.event, ctx.name, ctx.task, ctx.cwd, ctx.session_id) == (
        "before_subagent",
        "explorer",
        "look",
        "/repo",
        "s",
    )
    assert claude.subagent(call, {"prompt": "look"}).name == "general-purpose"
    assert codex.subagent(call, {"message": "look", "agent_type": "worker"}).as_dict().items() >= {
        ("name", "worker"),
        ("task", "look"),
    }
    assert codex.subagent(call, {"items": [1]}).task == {"items": [1]}


@hosts
def test_an_ask_can_only_be_denied_or_left_to_the_host(host):
    with pytest.raises(ValueError, match="'deny' or 'host'"):
        host.write(HookOutcome.ask("?"), host.read(tool()), ask="allow")


@hosts
def test_limits_are_the_hosts_own(host):
    assert host.time_limit("PreToolUse") == host.time_limit("FromTheFuture") == 600
    assert host.time_limit("SessionEnd") == {"claude-code": 1.5, "codex": 1.0}[host.name]


def test_where_another_hook_denies_what_a_rule_asks_about_that_hook_is_named():
    rule = {"place of files-x": "rules.toml:3"}
    asked = HookOutcome.ask("May it? [files-x]").replace(metadata=rule)
    assert place_of(asked) == "rules.toml:3"
    assert place_of(HookOutcome.deny("No.").replace(metadata=rule, origin="hookconf.py:2")) == "hookconf.py:2"


def test_new_arguments_that_a_host_does_not_apply_are_an_ask_or_a_deny():
    """As asked before the answer is written: hooks after this one see what will hold."""
    rewrite = HookOutcome(tool_args={"command": "ls -l"})
    claude = HOSTS["claude-code"]
    call = claude.read(tool())
    asked = claude.limited(rewrite, call)
    assert asked is not None
    assert (asked.decision, asked.reason) == ("ask", "A hook changed the arguments.")
    denied = HOSTS["qwen"].limited(rewrite, HOSTS["qwen"].read({**tool(), "timestamp": "2026-01-01T00:00:00Z"}))
    assert denied is not None
    assert denied.decision == "deny"
    assert denied.reason.endswith('{"command": "ls -l"}')
    assert claude.limited(HookOutcome(decision="allow", tool_args={"command": "ls -l"}), call) is None
    for outcome in (HookOutcome.deny("no"), HookOutcome.with_context("seen")):
        assert claude.limited(outcome, call) is None
    assert claude.limited(rewrite, claude.read({**BASE, "hook_event_name": "Notification", "message": "m"})) is None


def test_a_shell_line_of_the_host_is_asked_about_as_a_call_of_its_tool():
    claude = HOSTS["claude-code"]
    ctx = claude.shell_line(claude.read({**BASE, "hook_event_name": "UserPromptSubmit", "prompt": "!ls"}), "Bash", "ls")
    assert (ctx.event, ctx.cwd, ctx.session_id, ctx.prompt) == ("before_tool_use", "/repo", "s", None)
    assert ctx.tool_call is not None
    assert (ctx.tool_call.name, ctx.tool_call.kind, ctx.tool_call.command) == ("Bash", "shell", "ls")


def test_the_plugin_file_of_opencode_has_the_command_line_and_the_time_limits():
    text = plugin_text(["/usr/bin/agent-hooks", 'with "quotes"'], {"PreToolUse": 2, "Stop": 60})
    assert json.dumps(["/usr/bin/agent-hooks", 'with "quotes"']) in text
    assert json.dumps({"PreToolUse": 2, "Stop": 60}) in text
    assert re.findall(r'"@[A-Z]+@"', text) == []
    for seconds in ({"PreToolUse": 1.9}, {"NoEvent": 60}, {"Stop": float("nan")}):
        with pytest.raises(ValueError, match=r"it must be an event of SessionStart, .* with 2 or more"):
            plugin_text(["agent-hooks"], seconds)
