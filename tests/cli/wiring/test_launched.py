"""The command lines that are installed, run by a shell as a host runs them, from a real environment."""

from __future__ import annotations

import json
import subprocess

import pytest

from environments import Gated

EVENT = {"session_id": "s", "transcript_path": "", "permission_mode": "default", "tool_use_id": "1"}
ATTACKS = ("agent-hooks uninstall --all", "rm -f FILE", "rm -rf ENV", "ln -sf /bin/true ENV/bin/python")


@pytest.fixture
def installed(tmp_path):
    """An environment of its own, with Claude Code and Codex wired by its command."""
    with Gated(tmp_path, inside=False) as gated:
        (gated.home / ".claude").mkdir()
        (gated.home / ".codex").mkdir()
        done = run(gated, "install", "--all", "--trust")
        assert done.returncode == 0, done.stdout + done.stderr
        yield gated


def run(gated, *arguments):
    line = [gated.environment.bin / "python", gated.environment.bin / "agent-hooks", *arguments]
    return subprocess.run(
        line, env=gated.variables, cwd=gated.project, capture_output=True, text=True, timeout=60, check=False
    )


def asked(gated, file, command, event="PreToolUse"):
    """Run the line that is wired for an event, and return how it ended."""
    groups = json.loads((gated.home / file).read_text())["hooks"][event]
    payload = {**EVENT, "hook_event_name": event, "cwd": str(gated.project)}
    payload |= {"tool_name": "Bash", "tool_input": {"command": gated.filled(command)}}
    line = ["sh", "-c", groups[0]["hooks"][0]["command"]]
    return subprocess.run(
        line,
        input=json.dumps(payload),
        env={"PATH": "/usr/bin:/bin", "HOME": str(gated.home), "CI": "1"},
        cwd=gated.project,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("file", [".claude/settings.json", ".codex/hooks.json"])
def test_the_installed_line_decides_and_its_own_parts_are_kept(installed, file):
    assert asked(installed, file, "ls").returncode == 0
    for command in ATTACKS:
        done = asked(installed, file, command.replace("FILE", f"~/{file}"))
        assert (done.returncode, "denied to agents" in done.stderr) == (2, True), command


def test_an_environment_that_is_gone_closes_gates_where_the_exit_code_does_it(installed):
    installed.environment.folder.rename(installed.environment.folder.with_name("away"))
    done = asked(installed, ".codex/hooks.json", "ls")
    assert (done.returncode, bool(done.stderr)) == (2, True)
    settings = json.loads((installed.home / ".claude/settings.json").read_text())
    assert settings["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"] == "block"


def test_uninstalling_leaves_nothing_behind_in_the_hosts_folders(installed):
    assert run(installed, "status").returncode == 0
    assert run(installed, "uninstall", "--all").returncode == 0
    assert not any((installed.home / folder).exists() and [*(installed.home / folder).iterdir()]
                   for folder in (".claude", ".codex"))  # fmt: skip
    assert run(installed, "status").returncode == 1


def test_wrong_usage_is_told(installed):
    done = run(installed, "install")
    assert (done.returncode, "Name hosts, or give --all. Found here: claude-code, codex" in done.stderr) == (2, True)
    assert run(installed, "install", "nothing").returncode == 2
    assert run(installed, "install", "claude-code", "--trust").returncode == 2
    assert run(installed, "uninstall", "codex", "--all").returncode == 2
