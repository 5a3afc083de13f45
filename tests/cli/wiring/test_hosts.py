"""Which coding agents are here, and which file of theirs is the one."""

from __future__ import annotations

import os

import pytest

from agent_hooks.cli.wiring import commands
from agent_hooks.cli.wiring.hosts import WIRINGS
from agent_hooks.errors import SettingsError

EVENTS = ("before_tool_use", "on_stop")


@pytest.mark.parametrize("host", [name for name in WIRINGS if WIRINGS[name].variable])
def test_a_folder_that_the_environment_names_is_used(home, monkeypatch, host):
    wiring = WIRINGS[host]
    monkeypatch.setenv(wiring.variable, str(home.path / "moved"))
    assert wiring.path() == str(home.path / "moved" / wiring.user)
    monkeypatch.setenv(wiring.variable, "relative")
    with pytest.raises(SettingsError, match=f"{wiring.variable} is 'relative'"):
        wiring.path()


def test_opencode_is_where_xdg_says(home, monkeypatch):
    assert WIRINGS["opencode"].path() == str(home.path / ".config/opencode/plugins/agent-hooks.js")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home.path / "xdg"))
    assert WIRINGS["opencode"].path() == str(home.path / "xdg/opencode/plugins/agent-hooks.js")


def test_a_project_gets_its_uncommitted_file_or_a_warning(home):
    said = home.install("claude-code", "codex", events=EVENTS, project=True)[1]
    assert home.file("claude-code", project=True).name == "settings.local.json"
    assert "Claude Code has no file" not in said
    assert "Codex has no file for a project that is not committed" in said
    assert not home.file("claude-code").exists()


def test_the_hosts_that_are_here_are_found(home):
    assert commands.found_hosts() == []
    (home.path / ".codex").mkdir()
    program = home.path / "bin" / "gemini"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    os.environ["PATH"] += f":{program.parent}"
    assert commands.found_hosts() == ["codex", "gemini"]


@pytest.mark.parametrize(
    ("prefix", "warning"),
    [
        ("project/.venv", "which is in the project: what changes it may break them"),
        (".cache/uv/archive-v0/x1", "which does not last: install agent-hooks-core as a tool"),
        (".local/share/uv/tools/agent-hooks-core", ""),
    ],
)
def test_an_environment_that_may_go_away_is_told(home, monkeypatch, prefix, warning):
    monkeypatch.setattr("sys.prefix", str(home.path / prefix))
    said = home.install("claude-code", events=EVENTS)[1]
    assert ("The hooks run from" in said) == bool(warning)
    assert warning in said
