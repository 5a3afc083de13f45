"""Commands as a shell and ``find`` read them: whole expressions, defaults of variables, open files."""

from __future__ import annotations

import os
from datetime import date, timedelta
from typing import Any

import pytest
from making import about, executed

from agent_hooks import HookContext, HookManager, ToolCall
from agent_hooks_guards import RuleException, ShellGuard
from tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize("command", TABLES["denied"].splitlines())
def test_harm_is_denied(command):
    assert executed(command) == "deny"


@pytest.mark.parametrize("command", TABLES["left_alone"].splitlines())
def test_a_harmless_neighbour_is_left_alone(command):
    assert executed(command) == ""


def _installed(command: str, cwd: object, **fields: Any) -> str:
    """The decision of the installed guards."""
    call = ToolCall("Bash", {"command": command}, kind="shell")
    ctx = HookContext("before_tool_use", tool_call=call, cwd=str(cwd), project_dir=str(cwd), **fields)
    return HookManager().hooks(ask="host").dispatch_sync(ctx).decision


@pytest.mark.parametrize("folder", ["/proc/self/fd", "/dev/fd"])
@pytest.mark.parametrize("opened", ["/etc", "/dev/null", "the workspace"])
def test_an_open_file_of_the_guards_process_is_not_the_commands(tmp_path, folder, opened):
    (tmp_path / "certs").mkdir()
    here = os.open(tmp_path if opened == "the workspace" else opened, os.O_RDONLY)
    try:
        assert _installed(f"tar -cf {folder}/{here} certs", tmp_path) == "proceed"
    finally:
        os.close(here)


@pytest.mark.parametrize("stream", ["/dev/stdout", "/dev/stderr", "/dev/fd/2", "/proc/self/fd/1"])
def test_a_link_to_an_output_is_that_output(tmp_path, stream):
    (tmp_path / "log").symlink_to(stream)
    (tmp_path / "again").symlink_to("log")
    assert _installed("echo x > log && cp a again && echo y | tee -a again", tmp_path) == "proceed"


def test_an_exception_ends_by_the_time_of_the_call():
    rule = "git-reset-hard"
    until = date.today()  # noqa: DTZ011 - the day of whoever writes it
    guard = ShellGuard(exceptions=[RuleException(rule, command="git reset *", until=until)])
    for days, expected in ((0, None), (2, "deny"), (-2, None)):
        at = about("Bash", "shell", args={"command": "git reset --hard"}, cwd="/home/dev/project")
        outcome = guard.execute(at.replace(created_at=at.created_at + timedelta(days=days).total_seconds()))
        assert (None if outcome is None else outcome.decision) == expected, days


@pytest.mark.parametrize("workspace", ["/srv", "/opt", "/mnt", "/media"])
@pytest.mark.parametrize(
    ("command", "decision"), TABLES["in_a_workspace_at_the_top_files_are_the_projects_command_decision"]
)
def test_in_a_workspace_at_the_top_files_are_the_projects(workspace, command, decision):
    assert _installed(command.format(workspace), workspace) == decision


@pytest.mark.parametrize(("path", "decision"), [("/srv/app/x", "proceed"), ("/etc/x", "deny")])
def test_a_tool_writes_in_a_workspace_at_the_top(path, decision):
    call = ToolCall("Write", {"file_path": path, "content": "x"}, kind="write")
    ctx = HookContext("before_tool_use", tool_call=call, cwd="/srv", project_dir="/srv")
    assert HookManager().hooks(ask="host").dispatch_sync(ctx).decision == decision
