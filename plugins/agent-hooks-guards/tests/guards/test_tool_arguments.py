"""Calls of tools of MCP servers: their arguments are judged by their keys, whatever the tools are called."""

from __future__ import annotations

import pytest
from making import about

from agent_hooks import HookManager
from tables import tables

TABLES = tables(__file__)

# Each with the rule that it breaks.


LEVEL = "[guards.shell]\nlevel = 'strict'\n"
ALLOWED = "[[guards.allow]]\nrule = 'tools-destroy'\ncommand = 'tool: mcp github delete repository'\n"
OFF = "[guards.shell]\nrules = { tools = 'off' }\n"


def judged(name, args, tmp_path):
    name = name if " " in name else f"mcp__{name}"
    kind = "mcp" if name.startswith("mcp__") else "other"
    folder = str(tmp_path)
    return (
        HookManager().hooks(ask="host").dispatch_sync(about(name, kind=kind, args=args, cwd=folder, project_dir=folder))
    )


@pytest.mark.parametrize(("name", "args", "rule"), TABLES["harmful"], ids=str)
def test_harmful_arguments_of_any_tool_are_stopped(tmp_path, name, args, rule):
    outcome = judged(name, args, tmp_path)
    assert outcome.decision in ("deny", "ask")
    assert f"[{rule}]" in outcome.reason


@pytest.mark.parametrize(("name", "args"), TABLES["honest"], ids=str)
def test_honest_arguments_of_any_tool_pass(tmp_path, name, args):
    outcome = judged(name, args, tmp_path)
    assert (outcome.decision, outcome.reason) == ("proceed", "")


@pytest.mark.parametrize(
    ("settings", "name", "decision"),
    [
        (LEVEL, "github__remove_label", "ask"),
        (LEVEL, "gmail__send_email", "ask"),
        (LEVEL, "github__get_issue", "proceed"),
        (LEVEL, "map__reset_view", "proceed"),
        (ALLOWED, "github__delete_repository", "proceed"),
        (ALLOWED, "gitlab__delete_repository", "ask"),
        (OFF, "gitlab__delete_repository", "proceed"),
    ],
)
def test_settings_ask_about_other_verbs_and_free_a_tool(tmp_path, settings, name, decision):
    (tmp_path / "config").mkdir(exist_ok=True)
    (tmp_path / "config" / "agent-hooks.toml").write_text(settings, encoding="utf-8")
    assert judged(name, {}, tmp_path).decision == decision


def test_a_refused_tool_tells_people_what_frees_it(tmp_path):
    told = judged("github__delete_repository", {}, tmp_path).metadata["for_people"]
    assert "agent-hooks allow tools-destroy --command 'tool: mcp github delete repository'" in told
