"""What a tool is, by the name its host calls it."""

from __future__ import annotations

import pytest

from agent_hooks import HookContext, HookManager, HookOutcome, hookimpl
from agent_hooks.wire import HOSTS
from agent_hooks.wire.tables import tool_call

PATCH = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Delete File: b.txt\n*** End Patch\n"


def claude(name, **args):
    return tool_call(name, args, HOSTS["claude-code"].kinds)


def codex(name, **args):
    return tool_call(name, args, HOSTS["codex"].kinds)


@pytest.mark.parametrize(
    ("name", "kind", "claude_name"),
    [
        ("Bash", "shell", "Bash"),
        ("PowerShell", "shell", "Bash"),
        ("Monitor", "shell", "Bash"),
        ("Read", "read", "Read"),
        ("NotebookEdit", "edit", "Edit"),
        ("Glob", "search", "Grep"),
        ("WebFetch", "fetch", "WebFetch"),
        ("Task", "subagent", "Agent"),
        ("Agent", "subagent", "Task"),
    ],
)
def test_a_rule_for_the_kind_or_claudes_name_of_it_holds(name, kind, claude_name):
    names = claude(name).names
    assert {name, kind, claude_name} <= set(names)


def test_a_rule_for_a_former_name_holds_for_the_tool_and_the_other_way_round():
    assert {"KillShell", "KillBash"} <= set(claude("TaskStop").names)
    assert {"TaskStop", "KillBash"} <= set(claude("KillShell").names)
    assert "ProposeGoal" in claude("SetGoal").names


def test_an_unknown_tool_is_of_no_kind():
    call = claude("Skill", skill="deploy")
    assert (call.kind, call.aliases) == ("other", ())


def test_an_mcp_tool_answers_to_its_server_and_never_to_its_bare_name():
    call = claude("mcp__evil__Read", path="x")
    assert call.kind == "mcp"
    assert call.aliases == ("mcp__evil",)
    assert "Read" not in call.names
    assert claude("mcp__plugin_a_b__tool").aliases == ("mcp__plugin_a_b",)
    assert claude("mcp__broken").aliases == claude("mcp____x").aliases == ()


def test_apply_patch_is_an_edit_of_files_and_no_shell_although_its_argument_is_called_command():
    call = codex("apply_patch", command=PATCH)
    assert (call.kind, call.command) == ("edit", "")
    assert [(operation.kind, operation.path) for operation in call.file_operations] == [
        ("write", "a.txt"),
        ("delete", "b.txt"),
    ]
    assert {"Edit", "Write"} <= {*call.names, *call.weak_names}


def test_codex_reports_its_shell_tools_as_bash():
    call = codex("Bash", command="ls")
    assert (call.kind, call.command) == ("shell", "ls")


@pytest.mark.parametrize(
    ("name", "kind"),
    [("view_image", "read"), ("spawn_agent", "subagent"), ("exec_command", "shell"), ("Write", "write")],
)
def test_a_host_adds_kinds_to_those_that_names_have_everywhere(name, kind):
    """A tool that Codex does not list is what its name says, as with any other host."""
    assert codex(name).kind == kind


def test_a_write_of_cursor_meets_rules_for_edits_as_well():
    call = HOSTS["cursor"].read({"hook_event_name": "preToolUse", "tool_name": "Write", "tool_input": {}}).tool_call
    assert call is not None
    assert {"write", "Write", "edit", "Edit"} <= set(call.names)


@pytest.mark.parametrize(
    ("host", "name", "kind"),
    [
        ("copilot", "view", "read"),
        ("copilot", "create", "write"),
        ("vscode", "run_in_terminal", "shell"),
        ("vscode", "fetch_webpage", "fetch"),
        ("vscode", "mcp_github_get", "mcp"),
        ("cursor", "Shell", "shell"),
        ("cursor", "StrReplace", "edit"),
        ("cursor", "MCP:get", "mcp"),
        ("opencode", "patch", "edit"),
        ("opencode", "list", "search"),
    ],
)
def test_each_host_has_its_own_names(host, name, kind):
    assert tool_call(name, {}, HOSTS[host].kinds).kind == kind


@pytest.mark.parametrize("name", ["functions.shell", "functions.exec_command", "container.Bash"])
@pytest.mark.parametrize("match", ["shell", "Bash"])
def test_a_dotted_name_of_a_shell_meets_a_deny_with_its_command_and_never_an_allow(name, match):
    class Rules:
        @hookimpl(match=match)
        def before_tool_use(self, tool_call):
            return HookOutcome.deny("no rm") if "rm" in tool_call.command else HookOutcome.allow()

    manager = HookManager(load_plugins=False)
    manager.register(Rules())
    for command, decision in (("rm -rf /", "deny"), ("ls", "proceed")):
        ctx = HookContext("before_tool_use", tool_call=codex(name, command=command))
        assert manager.hooks().dispatch_sync(ctx).decision == decision


def test_several_edits_in_one_call_are_all_content():
    call = claude(
        "MultiEdit", file_path="a", edits=[{"old_string": "x", "new_string": "one"}, {"new_string": "two"}, "odd"]
    )
    assert call.content == "one\ntwo"
    assert call.paths == ("a",)
