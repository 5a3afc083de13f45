"""A repository that was only cloned: nothing of it runs, is imported or is sent for, whichever command looks at it."""

from __future__ import annotations

import json
import os
import sys
from socket import create_server
from typing import TYPE_CHECKING, Any

import pytest

from tables import tables

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Victim

TABLES = tables(__file__)
RUNS, NEVER_RUNS = TABLES["runs_once_trusted"], TABLES["never_runs"]
RUNS_ONCE_TRUSTED = pytest.mark.parametrize("files", RUNS.values(), ids=RUNS)

# -- what runs once it is trusted: each is tried both ways, so that none of these attacks is a dud ---------------------


@RUNS_ONCE_TRUSTED
def test_nothing_of_a_cloned_repository_runs_and_who_works_in_it_is_told_what_to_type(victim: Victim, files: Any):
    victim.lay(files)
    answer = victim.run(cwd=where(victim), program=witnessed(victim))
    assert (answer.exit_code, victim.was_hit, victim.seen) == (0, False, "")
    assert "nobody has trusted" in answer.said
    assert f"`agent-hooks trust {victim.repo}`" in answer.said


@RUNS_ONCE_TRUSTED
def test_the_same_repositories_are_no_duds(victim: Victim, files: Any):
    victim.lay(files)
    victim.trust()
    assert victim.asked(cwd=where(victim)).decision == "proceed"
    assert victim.was_hit


def where(victim: Victim) -> Path:
    folder = victim.repo / "src" / "deep"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def witnessed(victim: Victim) -> tuple[str, str]:
    victim.environment |= {"WITNESS_FOLDER": str(victim.repo), "WITNESS_LOG": str(victim.log)}
    return sys.executable, str(victim.witnessed)


# -- what never runs, trusted or not -----------------------------------------------------------------------------------


@pytest.mark.parametrize("files", NEVER_RUNS.values(), ids=NEVER_RUNS)
def test_what_is_no_hook_of_the_project_never_runs(victim: Victim, files: Any):
    victim.lay(files)
    victim.run(program=witnessed(victim))
    assert (victim.was_hit, victim.seen) == (False, "")
    victim.write("tools/agent-hooks.toml", 'claude_plugins = []\n[policy]\non_gate_failure = "closed"\n')
    victim.trust()
    assert victim.asked().decision in ("proceed", "deny")
    assert not victim.was_hit


def test_other_spellings_are_told_about(victim: Victim):
    victim.lay(NEVER_RUNS["other_spellings"])
    said = victim.command("doctor").said
    assert "HookConf.py\n  It is not read, because its name is not written hookconf.py." in said
    assert "Agent-Hooks.toml\n  It is not read, because its name is not written agent-hooks.toml." in said


def test_no_command_and_no_event_runs_anything(victim: Victim):
    for files in (*RUNS.values(), *NEVER_RUNS.values()):
        victim.lay(files)
    for arguments in (
        ("check", "PreToolUse", "--tool", "Bash", "--arg", "command=make"),
        ("plugins",),
        ("doctor",),
        ("trust",),
        ("trust", "--diff"),
        ("untrust",),
    ):
        victim.command(*arguments, program=witnessed(victim))
        assert (arguments, victim.was_hit, victim.seen) == (arguments, False, "")
    for event in ("SessionStart", "Stop"):
        victim.run(event, program=witnessed(victim), source="startup")
        assert (event, victim.was_hit, victim.seen) == (event, False, "")


def test_nothing_is_sent_for_a_cloned_repository(victim: Victim):
    with create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}/"
        hook = {"type": "http", "url": url, "headers": {"x": "$SECRET"}, "allowedEnvVars": ["SECRET"]}
        victim.write(".claude/settings.json", {"hooks": {"PreToolUse": [{"hooks": [hook]}]}})
        victim.write_own(
            ".config/agent-hooks/agent-hooks.toml", '[permits]\nhosts = ["127.0.0.1"]\nheader_env = ["SECRET"]\n'
        )
        answer = victim.run(env={"SECRET": "s3cr3t"}, program=witnessed(victim))
        assert (answer.exit_code, victim.seen) == (0, "")
        assert "nobody has trusted" in answer.said
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()


def test_the_library_runs_nothing_either(victim: Victim):
    for files in (*RUNS.values(), *NEVER_RUNS.values()):
        victim.lay(files)
    manager, loader = victim.load()
    assert not victim.was_hit
    assert any("nobody has trusted" in note for note in manager.notes)
    assert [source.is_trusted for source in loader.projects] == [False]
    assert [plugin.name for plugin in manager.plugins()] == ["agent_hooks.protection"]


# -- a repository that speaks for itself -------------------------------------------------------------------------------


def a_trust_store_of_its_own(victim: Victim) -> None:
    victim.lay(RUNS["settings"])
    victim.trust()
    for record in sorted((victim.config / "trust").iterdir()):
        for place in (".agent-hooks/trust", ".config/agent-hooks/trust", "settings/trust", "trust"):
            victim.write(f"{place}/{record.name}", record.read_bytes(), 0o600)
        record.unlink()


def settings_that_ignore_what_is_found(victim: Victim) -> None:
    victim.lay(RUNS["settings"])
    _, loader = victim.load()
    ids = [finding.id for finding in loader.findings]
    victim.write("agent-hooks.toml", f"ignore = {json.dumps(ids)}\n")


@pytest.mark.parametrize(
    "build", [a_trust_store_of_its_own, settings_that_ignore_what_is_found, *TABLES["vouches_for_itself"]]
)
def test_a_repository_cannot_vouch_for_itself(victim: Victim, build: Any):
    build(victim) if callable(build) else victim.lay(TABLES["vouches_for_itself"][build])
    answer = victim.run()
    assert not victim.was_hit
    assert "nobody has trusted" in answer.said
    assert f"`agent-hooks trust {victim.repo}`" in answer.said


def test_who_wants_all_gates_or_nothing_is_refused_with_what_to_type(victim: Victim):
    victim.lay(RUNS["settings"])
    victim.write_own(".config/agent-hooks/agent-hooks.toml", "[policy]\nrequire_project_gates = true\n")
    answer = victim.run()
    assert answer.denies
    assert not victim.was_hit
    assert f"`agent-hooks trust {victim.repo}`" in answer.reason


# -- where nobody can be asked -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stdin", "env"),
    [
        pytest.param(b"y\n" * 50, {}, id="yes_in_a_pipe"),
        pytest.param(b"", {}, id="nobody_there"),
        pytest.param(b"y\n", {"CI": "true", "GITHUB_ACTIONS": "true"}, id="headless_in_ci"),
        pytest.param(b"y\n", {"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1", "TERM": "xterm"}, id="looks_like_a_terminal"),
        pytest.param(b"y\n", {"AGENT_HOOKS_TRUST": "1", "AGENT_HOOKS_YES": "1"}, id="variables"),
    ],
)
def test_without_a_terminal_nothing_is_trusted(victim: Victim, stdin: bytes, env: dict[str, str]):
    victim.lay(RUNS["settings"])
    answer = victim.command("trust", stdin=stdin, env=env)
    assert answer.exit_code == 1
    assert "Nothing was trusted, because there is no terminal to ask." in answer.stdout
    assert "agent-hooks trust --digest sha256:" in answer.stdout
    victim.run(env=env)
    assert not victim.was_hit


@pytest.mark.parametrize("option", ["--settings", "--config=evil.json", "--trust", "--plugins"])
def test_no_settings_come_from_the_command_line(victim: Victim, option: str):
    victim.write("evil.json", victim.hooks(victim.touch))
    answer = victim.command("run", "--agent", "codex", option, "evil.json", stdin=b'{"hook_event_name": "PreToolUse"}')
    assert answer.denies
    assert not victim.was_hit
    assert f"takes no {option.partition('=')[0]!r}" in answer.reason


def test_a_folder_that_everybody_can_write_is_nobodys_project(victim: Victim):
    shared = victim.folder / "shared"
    mine = shared / "mine"
    mine.mkdir(parents=True)
    (shared / ".git").mkdir()
    (shared / "hookconf.py").write_text(victim.python)
    os.chmod(shared, 0o1777)
    answer = victim.run(cwd=mine)
    assert not victim.was_hit
    assert answer.said == ""


def test_what_a_terminal_would_obey_is_shown_as_text(victim: Victim):
    name = "\x1b]0;trusted\x07\x1b[2K\r\u202eyp.fnockooh\n  trusted, as it is now"
    (victim.repo / name).mkdir()
    victim.write(f"{name}/hookconf.py", victim.python)
    for option in ("--show", "--diff"):
        answer = victim.command("trust", option)
        assert not {"\x1b", "\x07", "\r", "\u202e"} & set(answer.said)
        assert "\n  trusted" not in answer.said
        assert r"\x1b]0;trusted\x07" in answer.said
