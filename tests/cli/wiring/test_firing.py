"""The command lines of gates, run with faults by the command ``agent-hooks doctor HOST --fire``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_hooks.cli.wiring.entries import launcher
from agent_hooks.cli.wiring.firing import FAULTS, HANG, MISSING, Gate
from agent_hooks.wire import get_host
from commands import Command, as_written

PAGE = (Path(__file__).parents[3] / "docs" / "coding-agents.md").read_text(encoding="utf-8")
HOSTS = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}


@pytest.fixture(scope="module")
def wired(tmp_path_factory):
    """A home with Claude Code and Codex wired."""
    command = Command(tmp_path_factory.mktemp("wired"))
    done = command("install", *HOSTS, "--trust", "--events", "before_tool_use")
    assert done.exit_code == 0, done
    return command


def verdicts(done, host):
    """The verdict on each fault in a host."""
    (facts,) = (each for each in done.json["hosts"] if each["host"] == host)
    return {each["fault"]: each["verdict"] for each in facts["fired"]}


def test_each_fault_is_blocked_and_nothing_else(wired):
    done = wired("doctor", *HOSTS, "--fire", "--json")
    for host in HOSTS:
        assert verdicts(done, host) == {"harmless": "would run", **dict.fromkeys([*FAULTS, MISSING], "blocked")}
    assert done.exit_code == 0
    for facts in done.json["hosts"]:
        assert all(each["is_reached"] and each["is_right"] for each in facts["fired"])
        assert facts["milliseconds"] > 0
        said = {each["fault"]: each["said"] for each in facts["fired"]}
        assert "A hook of agent-hooks doctor denies." in said["deny"]
        assert "was ended by signal 9" in said["crash"]
        assert "ended with exit code 0 before it answered, while the import of" in said["exit at import"]
        assert [key for key in (*facts, *facts["fired"][0]) if f"`{key}`" not in PAGE] == []
    assert not (wired.home / ".config" / "agent-hooks").exists()  # nothing is configured or trusted that was not


@pytest.mark.full
def test_a_gate_that_is_open_is_shown_and_exits_1(wired):
    files = {host: wired.home / file for host, file in HOSTS.items()}
    before = {host: file.read_text() for host, file in files.items()}
    try:
        files["claude-code"].write_text(before["claude-code"].replace("onFailure", "onSuccess"))
        files["codex"].write_text(before["codex"].replace("--timeout 119", "--timeout 130"))
        done = wired("doctor", *HOSTS, "--fire", "--json")
        assert done.exit_code == 1
        # Where the command is missing, the line refuses by itself.
        assert [fault for fault, found in verdicts(done, "claude-code").items() if found == "would run"] == ["harmless"]
        assert [fault for fault, found in verdicts(done, "codex").items() if found == "would run"] == ["harmless", HANG]
        problems = {each["host"]: each["problems"] for each in done.json["hosts"]}
        assert any("goes on where the command cannot start" in problem for problem in problems["claude-code"])
        assert any(problem.startswith(f"PreToolUse, {HANG}: would run.") for problem in problems["codex"])
    finally:
        for host, file in files.items():
            file.write_text(before[host])


def test_the_report_is_one_fact_in_a_line(wired):
    done = wired("doctor", "claude-code")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == f"Claude Code: {wired.home}/.claude/settings.json"
    for start in ("wired\tPreToolUse", "timeout\t120 s there, 119 s here", "matcher\tnone", "trust\t", "files\t"):
        assert sum(line.startswith(start) for line in lines) == 1, start
    assert "PreToolUse\tharmless\twould run\t0\t" in lines
    assert "Nothing is wrong." in lines


def test_a_hook_that_was_not_asked_shows_nothing(tmp_path, monkeypatch):
    """Where the command line names another configuration, in the form without a shell."""
    monkeypatch.setenv("HOME", str(tmp_path))
    program, *words = launcher()
    args = [*words, "run", "--agent", "claude-code", "--event", "PreToolUse", "--config-dir", str(tmp_path / "other")]
    gate = Gate(
        get_host("claude-code"),
        "PreToolUse",
        {"command": program, "args": args},
        str(tmp_path),
        closes=False,
        is_late=False,
    )
    found = {each["fault"]: (each["verdict"], each["is_reached"], each["is_right"]) for each in gate.fire()}
    assert found == {**dict.fromkeys(FAULTS, ("would run", False, False)), MISSING: ("would run", True, False)}


def test_where_a_harmless_event_is_blocked_no_fault_is_tried(wired):
    wired.configure(f"[[hooks.before_tool_use]]\nhooks = {json_hooks('echo never >&2; exit 2')}\n")
    try:
        done = wired("doctor", "codex", "--fire", "--json", env={"AGENT_HOOKS_CONFIG_DIR": str(wired.config)})
    finally:
        (wired.config / "agent-hooks.toml").unlink()
        wired.config.rmdir()
    assert (done.exit_code, verdicts(done, "codex")) == (1, {"harmless": "blocked"})
    assert any("PreToolUse, harmless: blocked. never" in as_written(each) for each in done.json["hosts"][0]["problems"])


def test_a_skill_that_would_be_denied_makes_no_harmless_event_wrong(tmp_path):
    command = Command(tmp_path)
    rule = '@hookimpl(match="shell")\ndef before_tool_use(tool_call):\n    '
    command.install(rule + 'return HookOutcome.deny("no") if "push" in tool_call.command else None')
    (command.folder / ".claude/skills/push").mkdir(parents=True)
    (command.folder / ".claude/skills/push/SKILL.md").write_text("!`git push`\n")
    assert command("install", "claude-code").exit_code == 0
    assert verdicts(command("doctor", "claude-code", "--json"), "claude-code") == {"harmless": "would run"}


def json_hooks(command):
    return '[{ type = "command", command = ' + json.dumps(command) + " }]"
