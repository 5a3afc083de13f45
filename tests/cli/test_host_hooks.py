"""The state of a session across processes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from agent_hooks.cli.host_hooks import unseen
from agent_hooks.model.context import HookContext
from commands import as_written

if TYPE_CHECKING:
    from commands import Command
    from projects import Project

NOTES = ("the project is not trusted", "a hook is in shadow")


@pytest.fixture(autouse=True)
def state(tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "state"))


def event(name, session="s"):
    return HookContext(name, session_id=session, host="claude-code")


def test_a_note_is_said_once_in_a_session():
    assert unseen(NOTES, event("user_input"), is_shown=True) == NOTES
    assert unseen(NOTES, event("user_input"), is_shown=True) == ()
    assert unseen(NOTES, event("notification"), is_shown=False) == ()
    assert unseen(NOTES, event("user_input", "another"), is_shown=True) == NOTES


def test_a_note_that_nobody_saw_is_said_once_more():
    assert unseen(NOTES, event("notification"), is_shown=False) == NOTES
    assert unseen(NOTES, event("notification"), is_shown=False) == ()
    assert unseen(NOTES, event("user_input"), is_shown=True) == NOTES


def test_a_session_that_begins_again_hears_it_again():
    assert unseen(NOTES, event("user_input"), is_shown=True) == NOTES
    assert unseen(NOTES, event("session_start"), is_shown=True) == NOTES
    assert unseen(NOTES, event("user_input", ""), is_shown=True) == NOTES


# -- a project that is not as the session has seen it ------------------------------------------------------------------

GATE = """
from agent_hooks import HookOutcome, hookimpl

@hookimpl(match="WebFetch")
def before_tool_use(ctx):
    return HookOutcome.deny("no")
"""
PLANNED = """
[[hooks.before_tool_use]]
matcher = "WebFetch"
hooks = [{ type = "command", command = ["false"] }]
"""


@pytest.mark.parametrize("name", ["hookconf.py", "agent-hooks.toml"])
def test_a_session_does_nothing_without_a_project_that_it_has_seen(command: Command, project: Project, name: str):
    """How it is taken away does not matter, and neither does whether a plan has answered before."""
    text = GATE if name == "hookconf.py" else PLANNED
    command.trust(project.write({name: text}))

    def asked(session: str, tool: str = "Read") -> str:
        args = {"command": "git stash"} if tool == "Bash" else {"file_path": "a"}
        payload = {"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": args, "session_id": session}
        done = command.answer("claude-code", {**payload, "cwd": str(project.root)})
        said = as_written(str(done.specific.get("permissionDecisionReason")))
        return f"{done.specific.get('permissionDecision')} {said}"

    assert [asked("makes a plan"), asked("s")] == ["None None"] * 2
    for change in ((project.root / name).unlink, lambda: project.write({name: f"{text}\nchanged = 1\n"})):
        change()
        for tool in ("Bash", "Read"):
            said = asked("s", tool)
            assert said.startswith("deny This session has seen hooks that do not hold any more")
            assert f"`agent-hooks trust {project.root}`" in said
            assert f"a person types `agent-hooks untrust {project.root}`" in said
        assert asked("begins later", "Bash") == "None None"
    project.write({name: text})
    assert asked("s") == "None None"
    (project.root / name).unlink()
    assert command("untrust", cwd=project.root).exit_code == 0
    assert asked("s") == "None None"


def test_a_session_that_has_lost_a_project_starts_no_subagent(command: Command, project: Project):
    """Cursor asks about one by itself, and not only about the call of a tool."""
    command.trust(project.write({"hookconf.py": GATE}))

    def permission(session: str) -> str | None:
        payload = {"hook_event_name": "subagentStart", "conversation_id": session, "subagent_type": "x", "task": "t"}
        done = command.answer("cursor", {**payload, "workspace_roots": [str(project.root)]})
        return (done.json or {}).get("permission")

    assert permission("s") is None
    (project.root / "hookconf.py").unlink()
    assert [permission("s"), permission("begins later")] == ["deny", None]
