"""All that decides whether the wiring of a host works, as it can be read, and what is run of it."""

from __future__ import annotations

import json
import os

import pytest

from agent_hooks.cli.wiring.examination import examine
from agent_hooks.cli.wiring.host_reports import reports
from agent_hooks.cli.wiring.records import Records
from agent_hooks.cli.wiring.report import statuses


def examined(home, host, *, project=False):
    """The facts of a file of the host, as they can be read."""
    found = [each for each in statuses(str(home.project), Records(), None, [host]) if each["is_project"] is project]
    examine(found[0], str(home.project))
    return found[0]


def changed(home, host, change):
    """Apply a change to the group of PreToolUse in the file of the host."""
    value = home.read(host)
    change(value["hooks"]["PreToolUse"][0])
    home.write(host, json.dumps(value))
    return examined(home, host)


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini", "qwen", "copilot", "vscode", "cursor", "opencode"])
def test_nothing_is_wrong_with_what_was_installed(home, host):
    home.install(host, events=["before_tool_use", "on_stop"], trust=host == "codex")
    facts = examined(home, host)
    assert facts["problems"] == []
    assert facts["matchers"] == {}
    ours = {"opencode": [], "claude-code": [(3, 0)]}.get(host, [(2, 0)])
    assert [(each["ours"], each["others"]) for each in facts["files"]] == ours
    assert {(each["host"], each["ours"]) for each in facts["timeouts"].values()} == {(120.0, 119.0), (600.0, 599.0)}
    assert facts["merging"].startswith("All ")
    assert facts["trust"]


def test_codex_without_trust_is_said(home):
    home.install("codex", events=["before_tool_use"])
    facts = examined(home, "codex")
    assert facts["trust"] == "It does not trust these hooks."
    assert any("does not trust" in problem for problem in facts["problems"])


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda group: group.update(matcher="Bash"), "it asks about 'Bash' alone"),
        (lambda group: group["hooks"][0].update({"async": True}), "its entry has 'async'"),
        (lambda group: group["hooks"][0].update({"if": "Bash(git *)"}), "its entry has 'if'"),
        (lambda group: group["hooks"][0].update(timeout=119), "gives up before there is an answer."),
        (lambda group: group["hooks"][0].pop("onFailure"), "goes on where the command cannot start."),
        (lambda group: group["hooks"][0].update(command="/gone/python -m agent_hooks run"), "there is no /gone/python"),
    ],
)
def test_an_entry_that_was_changed_is_said(home, change, says):
    home.install("claude-code", events=["before_tool_use"])
    problems = changed(home, "claude-code", change)["problems"]
    assert any(problem.startswith("PreToolUse: ") and says in problem for problem in problems), problems


def test_a_late_hook_goes_on_in_a_host_that_nothing_closes(home):
    home.install("codex", events=["before_tool_use"], trust=True)
    problems = changed(home, "codex", lambda group: group["hooks"][0].update(timeout=60))["problems"]
    assert "PreToolUse: where a hook hangs, Codex gives up before there is an answer, and goes on." in problems


def test_hooks_of_others_are_counted(home):
    home.install("claude-code", events=["before_tool_use"])
    facts = changed(home, "claude-code", lambda group: group["hooks"].append({"type": "http", "url": "http://x"}))
    assert [(each["ours"], each["others"]) for each in facts["files"]] == [(2, 1)]


def test_a_version_that_ignores_on_failure_is_said(home, monkeypatch):
    home.install("claude-code", events=["before_tool_use"])
    stub = home.path / "bin" / "claude"
    stub.parent.mkdir()
    stub.write_text("#!/bin/sh\necho '2.1.200 (Claude Code)'\n")
    stub.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stub.parent}{os.pathsep}/usr/bin:/bin")
    facts = examined(home, "claude-code")
    assert facts["version"] == "2.1.200 (Claude Code)"
    assert any("because 2.1.200 (Claude Code) ignores onFailure" in problem for problem in facts["problems"])
    home.install("claude-code", events=["before_tool_use"])  # now with ` || exit 2`
    assert examined(home, "claude-code")["problems"] == []


def test_a_line_that_a_project_has_written_is_not_run(home):
    mark = home.path / "ran"
    script = home.project / "evil"
    script.write_text(f"#!/bin/sh\ntouch {mark}\n")
    script.chmod(0o755)
    line = f"{script} agent-hooks run --agent claude-code --event PreToolUse --timeout 9"
    handler = {"type": "command", "command": line, "onFailure": "block", "timeout": 10}
    hooks = {"hooks": {"PreToolUse": [{"hooks": [handler]}]}}
    home.write("claude-code", json.dumps(hooks), project=True)
    (facts,) = reports(str(home.project), ["claude-code"], fire=True, can_load=True)
    assert not mark.exists()
    assert "PreToolUse: a project may have written this line, so it was not run." in facts["problems"]
    assert facts["fired"] == []


def test_an_event_of_the_other_host_that_reads_the_file_is_no_gate_here(home):
    """VS Code has no ``PostToolUseFailure``, which Copilot has in the same file."""
    home.install("copilot", events=["PostToolUseFailure"])
    (facts,) = reports(str(home.project), ["vscode"], fire=False, can_load=True)
    assert (facts["wired"], facts["fired"]) == (["PostToolUseFailure"], [])


def test_what_keeps_the_host_from_running_any_hook_is_wrong(home):
    home.install("claude-code", events=["on_stop"])
    value = home.read("claude-code")
    home.write("claude-code", json.dumps({**value, "disableAllHooks": True}))
    (facts,) = reports(str(home.project), ["claude-code"], fire=False, can_load=True)
    (problem,) = facts["problems"]
    assert (facts["cautions"], facts["fired"]) == ([], [])
    assert "switches all hooks off (disableAllHooks)" in problem
