"""An agent that works elsewhere passes the gates of a trusted project whose files it touches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tables import tables

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import Victim

GATE = "echo 'not here' >&2; exit 2"
HOOKCONF = """
from agent_hooks import HookOutcome, hookimpl

@hookimpl
def before_tool_use(tool_call):
    return HookOutcome.deny("not here")
"""
TABLES = tables(__file__)
CALLS, OTHERS = TABLES["calls"], TABLES["others"]


@pytest.fixture
def elsewhere(victim: Victim) -> Path:
    """Another repository, in which the agent works."""
    folder = victim.folder / "elsewhere"
    (folder / ".git").mkdir(parents=True)
    (folder / "link").symlink_to(victim.repo)
    victim.write("src/x.py", "")
    return folder


def refuses(victim: Victim, cwd: Path, name: str, args: dict[str, Any]) -> bool:
    written = {key: value.format(repo=victim.repo) for key, value in args.items()}
    done = victim.run(cwd=cwd, tool_name=name, tool_input=written)
    return done.exit_code == 2 and "not here" in done.said


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("kind", ["settings", "hookconf"])
def test_the_gates_of_a_trusted_project_hold_for_its_paths(
    victim: Victim, elsewhere: Path, kind: str, call: tuple[str, dict[str, Any]]
):
    if kind == "settings":
        victim.write("agent-hooks.toml", victim.table(GATE))
    else:
        victim.write("hookconf.py", HOOKCONF)
    victim.trust()
    assert refuses(victim, elsewhere, *call)


@pytest.mark.parametrize("call", OTHERS.values(), ids=OTHERS)
def test_what_touches_no_path_of_the_project_is_not_its_business(
    victim: Victim, elsewhere: Path, call: tuple[str, dict[str, Any]]
):
    victim.write("agent-hooks.toml", victim.table(GATE))
    victim.trust()
    assert not refuses(victim, elsewhere, *call)


def test_a_project_that_nobody_trusted_neither_runs_nor_is_spoken_of(victim: Victim, elsewhere: Path):
    victim.write("agent-hooks.toml", victim.table(f"{victim.touch}; {GATE}"))
    victim.write("hookconf.py", victim.python)
    done = victim.run(cwd=elsewhere, tool_name="Write", tool_input={"file_path": f"{victim.repo}/x", "content": ""})
    assert (done.exit_code, done.said, victim.was_hit) == (0, "", False)


def test_a_trusted_project_that_has_changed_is_spoken_of(victim: Victim, elsewhere: Path):
    victim.write("agent-hooks.toml", victim.table(GATE))
    victim.trust()
    victim.write("agent-hooks.toml", victim.table(victim.touch))
    done = victim.run(cwd=elsewhere, tool_name="Write", tool_input={"file_path": f"{victim.repo}/x", "content": ""})
    assert "files changed since they were trusted" in done.said
    assert not victim.was_hit


@pytest.mark.parametrize("cwd", ["/" + "x" * 80_000, "/" + "x/" * 40_000, "/tmp\0x"])
def test_a_working_directory_that_no_system_has_is_answered(victim: Victim, cwd: str):
    victim.agent_hooks.configure(victim.table(GATE))
    payload = {**victim._payload("PreToolUse", None, {}), "cwd": cwd}
    done = victim.agent_hooks.answer("codex", payload)
    assert done.exit_code == 2
    assert "not here" in done.stderr
