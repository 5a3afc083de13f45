"""The state of a session across processes."""

from __future__ import annotations

import pytest

from agent_hooks.cli.host_hooks import unseen
from agent_hooks.model.context import HookContext

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
