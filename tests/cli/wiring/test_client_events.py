"""The events that the program of a client names, against our tables; and what ``doctor`` says of the others."""

from __future__ import annotations

import json
import os

import pytest

from agent_hooks.cli.wiring.client_events import client_events
from agent_hooks.cli.wiring.host_reports import print_reports
from agent_hooks.wire import HOSTS
from cli.wiring.test_examination import examined

# As in the program of Claude Code 2.1.332, with the two that are no events.
CLAUDE = """
PreToolUse PostToolUse PostToolUseFailure PostToolBatch Notification UserPromptSubmit UserPromptExpansion SessionStart
SessionEnd Stop StopFailure SubagentStart SubagentStop PreCompact PostCompact PreModelSwitch PostModelSwitch
PermissionRequest PermissionDenied Setup TeammateIdle TaskCreated TaskCompleted Elicitation ElicitationResult
ConfigChange WorktreeCreate WorktreeRemove InstructionsLoaded CwdChanged FileChanged DirectoryAdded MessageDisplay
PreSkillShellCommand StatusLine FileSuggestion
""".split()
GEMINI = """
BeforeTool AfterTool BeforeAgent Notification AfterAgent SessionStart SessionEnd PreCompress BeforeModel AfterModel
BeforeToolSelection
""".split()


def as_list(names):
    return f"x=1;var e=new Set({json.dumps(names, separators=(',', ':'))});".encode()


def as_enumeration(names):
    return "".join(f'  Names2["{name}"] = "{name}";\n' for name in names).encode()


def unknown_events(host, program):
    """The events of a client that our table of the host lacks, None where its program does not tell."""
    rows = HOSTS[host].rows
    found = client_events(str(program), rows)
    return sorted(found.difference(rows)) if found else None


@pytest.mark.parametrize(("host", "names"), [("claude-code", CLAUDE), ("gemini", GEMINI)])
@pytest.mark.parametrize("form", [as_list, as_enumeration])
def test_every_event_of_the_recorded_clients_is_in_our_table(tmp_path, host, names, form):
    program = tmp_path / "client"
    program.write_bytes(b"\0\xff" * 9000 + form(names) + b"\0" * 9000)
    assert unknown_events(host, program) == []
    program.write_bytes(b"\0\xff" * 9000 + form([*names, "PreFuture"]) + b"\0" * 9000)
    assert unknown_events(host, program) == ["PreFuture"]


def test_events_are_found_beside_a_program_that_is_a_link(tmp_path):
    (tmp_path / "package/chunks").mkdir(parents=True)
    (tmp_path / "package/cli.js").write_text("import './chunks/a.js'")
    (tmp_path / "package/chunks/a.js").write_bytes(as_enumeration([*GEMINI, "AfterFuture"]))
    (tmp_path / "gemini").symlink_to("package/cli.js")
    assert unknown_events("gemini", tmp_path / "gemini") == ["AfterFuture"]


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", as_list(["SessionStart", *"abcdefgh"])])
def test_a_program_that_does_not_tell_has_none(tmp_path, content):
    (tmp_path / "claude").write_bytes(content)
    assert unknown_events("claude-code", tmp_path / "claude") is None
    assert unknown_events("claude-code", tmp_path / "missing") is None


def test_doctor_names_the_events_that_nobody_is_asked_about(home, monkeypatch):
    home.install("claude-code", events=["before_tool_use"])
    program = home.path / "bin/claude"
    program.parent.mkdir()
    program.write_bytes(b"#!/bin/sh\necho 9.9.9\nexit\n" + as_list([*CLAUDE, "PreFuture"]))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}/usr/bin:/bin")
    facts = examined(home, "claude-code")
    assert {"PreFuture", "Setup", "WorktreeCreate"} <= {*facts["unasked"]}
    assert {"PreToolUse", "PreSkillShellCommand", "StatusLine"}.isdisjoint(facts["unasked"])
    assert [each for each in facts["cautions"] if "does not know" in each and "about them: PreFuture." in each]
    home.capsys.readouterr()
    print_reports([facts])
    assert "not asked" in home.capsys.readouterr().out
