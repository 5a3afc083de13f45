"""What a tool is, by the name its host calls it."""

from __future__ import annotations

import pytest

from agent_hooks.wire import toolnames
from agent_hooks.wire.toolnames import tool_call

PATCH = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Delete File: b.txt\n*** End Patch\n"


def claude(name, **args):
    return tool_call(name, args, toolnames.CLAUDE_CODE)


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
    call = tool_call("apply_patch", {"command": PATCH}, toolnames.CODEX)
    assert (call.kind, call.command) == ("edit", "")
    assert [(operation.kind, operation.path) for operation in call.file_operations] == [
        ("write", "a.txt"),
        ("delete", "b.txt"),
    ]
    assert {"Edit", "Write"} <= set(call.names)


def test_codex_reports_its_shell_tools_as_bash():
    call = tool_call("Bash", {"command": "ls"}, toolnames.CODEX)
    assert (call.kind, call.command) == ("shell", "ls")


def test_several_edits_in_one_call_are_all_content():
    call = claude(
        "MultiEdit", file_path="a", edits=[{"old_string": "x", "new_string": "one"}, {"new_string": "two"}, "odd"]
    )
    assert call.content == "one\ntwo"
    assert call.paths == ("a",)
