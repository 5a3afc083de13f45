"""The blocklist."""

from __future__ import annotations

import pytest
from making import about, judged

from agent_hooks import HookContext, RegistrationError
from agent_hooks.errors import HookMisuseError
from agent_hooks_guards import ToolBlocklist


def test_a_listed_tool_is_denied_with_its_name_in_the_reason():
    outcome = judged(ToolBlocklist(["deploy", "rollback"]), about("deploy"))
    assert outcome.decision == "deny"
    assert outcome.reason == 'Tool "deploy" is not permitted in this environment.'


def test_any_other_tool_is_none_of_its_business():
    assert ToolBlocklist(["deploy"]).execute(about("deploy_docs")) is None


@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("shell", about("run_terminal_cmd", kind="shell")),
        ("Bash", about("run_terminal_cmd", kind="shell")),
        ("mcp__*", about("mcp__files__remove", kind="mcp")),
        ("deploy|rollback", about("rollback")),
        ("remove", about("files.remove")),
        ("legacy_name", about("new_name", aliases=("legacy_name",))),
        ("*", about("B\u0430sh with a Cyrillic letter")),
        ("^mcp__.*__(delete|drop)_", about("mcp__db__drop_table")),
    ],
)
def test_a_tool_is_listed_by_name_kind_claude_name_glob_last_part_alias_or_expression(text, context):
    assert judged(ToolBlocklist([text]), context).decision == "deny"


def test_one_text_is_one_entry_and_not_a_list_of_letters():
    guard = ToolBlocklist("rm")
    assert judged(guard, about("rm")).decision == "deny"
    assert guard.execute(about("r")) is None


def test_the_message_may_be_ones_own():
    assert judged(ToolBlocklist(["x"], message="{tool}: ask {ops} first."), about("x")).reason == "x: ask {ops} first."


@pytest.mark.parametrize("tools", [[], [""], ["  "], "", ["shell", ""]])
def test_an_empty_entry_is_refused_because_it_would_mean_every_tool(tools):
    with pytest.raises(RegistrationError, match="not blank"):
        ToolBlocklist(tools)


def test_an_event_without_a_tool_call_is_a_mistake_said_plainly():
    with pytest.raises(HookMisuseError, match="ToolBlocklist judges tool calls and 'before_step' has none"):
        ToolBlocklist(["x"]).execute(HookContext("before_step"))
