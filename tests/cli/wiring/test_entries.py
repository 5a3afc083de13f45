"""The entries that are written for each event of a host."""

from __future__ import annotations

import os

import pytest

from agent_hooks.cli.wiring.entries import events_of, launcher
from agent_hooks.cli.wiring.hosts import WIRINGS
from agent_hooks.formats.claude.fields import plain_line
from agent_hooks.formats.claude.settings import read_claude
from agent_hooks.wire import HOSTS

from .conftest import KNOWN

EVENTS = ("before_tool_use", "on_stop")
CLOSED_BY = {"claude-code": ("onFailure", "block"), "cursor": ("failClosed", True)}


@pytest.mark.parametrize("host", KNOWN)
def test_each_entry_has_our_limit_below_its_own_and_is_closed_where_the_host_refuses(home, host):
    wiring = WIRINGS[host]
    readers = [HOSTS[name] for name in wiring.readers or [host]]
    home.install(host, events=[*events_of(wiring)])
    handlers = home.hooks(host)
    assert handlers.keys() == events_of(wiring).keys()
    for event, handler in handlers.items():
        command = handler["command"].removesuffix(" || exit 2")
        assert ("; exec " in command) == (command == handler["command"] and host != "cursor")
        python, isolated, no_site, script, *words = plain_line(command).split()
        assert [python, isolated, no_site, script] == launcher()
        assert words[:5] == ["run", "--agent", wiring.agent or host, "--event", event]
        seconds = int(words[6])
        assert handler["timeout"] == (seconds + 1) * (1000 if host in ("gemini", "qwen") else 1)
        assert isinstance(handler["timeout"], int)
        answers, field = [each.failure(event, "why") for each in readers if event in each.rows], CLOSED_BY.get(host)
        is_gate = any(answer.exit_code == 2 or (field and answer.stdout) for answer in answers)
        is_gate = is_gate and event not in ("TaskCompleted", "TodoCompleted", "TeammateIdle")
        assert (handler.get(field[0]) == field[1] if field else handler["command"] != command) == is_gate
        is_stop = any(event in each.rows and each.rows[event].refuse == "go_on" for each in readers)
        if is_stop or "stop" in event.lower() or event == "AfterAgent":
            assert handler["command"] == command
            assert handler.keys() <= {"name", "type", "command", "timeout"}


def test_the_short_limits_of_codex_are_kept(home):
    home.install("codex", events=["SessionEnd", "Interrupt"])
    assert {handler["timeout"] for handler in home.hooks("codex").values()} == {3}


@pytest.mark.parametrize(("version", "is_old"), [("2.1.330", False), ("2.1.294 (Claude Code)", True), ("", False)])
def test_an_older_claude_code_is_closed_by_the_exit_code_and_that_is_said(home, version, is_old):
    program = home.path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho '{version}'\n")
    program.chmod(0o755)
    os.environ["PATH"] += f":{program.parent}"
    said = home.install("claude-code", events=EVENTS)[1]
    assert ("ignores onFailure" in said) == is_old
    handlers = home.hooks("claude-code")
    assert handlers["PreToolUse"]["command"].endswith(" || exit 2") == is_old
    assert (handlers["PreToolUse"].get("onFailure") == "block") != is_old
    assert not handlers["Stop"]["command"].endswith(" || exit 2")
    assert home.status()[0] == 0


@pytest.mark.parametrize("folder", ["plain", "with a blank", "it's (a) & b; c", 'é $HOME `x` "q"'])
def test_what_is_written_is_known_for_our_own_whatever_the_path(home, monkeypatch, folder):
    script = home.path / folder / "agent_hooks_core.py"
    monkeypatch.setattr("agent_hooks.cli.wiring.entries.FOLDER", str(script.parent))
    home.install("claude-code", "codex", events=EVENTS)
    for host in ("claude-code", "codex"):
        file = read_claude(home.file(host).read_bytes(), path="settings.json", source="user")
        assert file.entries == ()
        assert {finding.kind for finding in file.findings} == {"own-command"}
    assert "already wired" in home.install("claude-code", events=EVENTS)[1]
    home.uninstall("claude-code")
    assert not home.file("claude-code").exists()


def test_a_path_that_no_command_line_can_hold_is_refused(home, monkeypatch):
    monkeypatch.setattr("agent_hooks.cli.wiring.entries.FOLDER", "/a\nb")
    code, said = home.install("claude-code", events=EVENTS)
    assert (code, "install agent-hooks-core elsewhere" in said) == (1, True)
