"""What a tool is, by the name its host calls it."""

from __future__ import annotations

import pytest

from agent_hooks import HookContext, HookManager, HookOutcome, hookimpl
from agent_hooks.model.values import plain
from agent_hooks.wire import HOSTS
from agent_hooks.wire.tables import tool_call
from tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize(("host", "name", "args", "facts", "names"), TABLES["tools"])
def test_a_tool_is_what_its_host_means_by_the_name(host, name, args, facts, names):
    call = tool_call(name, args, HOSTS[host].kinds)
    assert {fact: plain(getattr(call, fact)) for fact in facts} == facts
    assert {*names.split()} <= {*call.names, *call.weak_names}


def test_an_mcp_tool_never_answers_to_its_bare_name():
    assert "Read" not in tool_call("mcp__evil__Read", {"path": "x"}, HOSTS["claude-code"].kinds).names


def test_a_write_of_cursor_meets_rules_for_edits_as_well():
    call = HOSTS["cursor"].read({"hook_event_name": "preToolUse", "tool_name": "Write", "tool_input": {}}).tool_call
    assert call is not None
    assert {"write", "Write", "edit", "Edit"} <= set(call.names)


@pytest.mark.parametrize("name", ["functions.shell", "functions.exec_command", "container.Bash"])
@pytest.mark.parametrize("match", ["shell", "Bash"])
def test_a_dotted_name_of_a_shell_meets_a_deny_with_its_command_and_never_an_allow(name, match):
    class Rules:
        @hookimpl(match=match)
        def before_tool_use(self, ctx):
            return HookOutcome.deny("no rm") if "rm" in ctx.tool_call.command else HookOutcome.allow()

    manager = HookManager(load_plugins=False)
    manager.register(Rules())
    for command, decision in (("rm -rf /", "deny"), ("ls", "proceed")):
        ctx = HookContext("before_tool_use", tool_call=tool_call(name, {"command": command}, HOSTS["codex"].kinds))
        assert manager.hooks().dispatch_sync(ctx).decision == decision
