"""Which hosts a command reaches, wherever it names them: a metadata service is denied, everyday work is left alone."""

from __future__ import annotations

import pytest

from agent_hooks import HookContext, ToolCall
from agent_hooks_guards import ShellGuard
from agent_hooks_guards.places.paths import Place
from agent_hooks_guards.settings.guard_set import judge
from tables import tables

TABLES = tables(__file__)

PLACE = Place("/home/dev/project", "/home/dev", "/home/dev/project")
GUARD = ShellGuard()


@pytest.mark.parametrize("command", TABLES["reaching"].splitlines())
def test_a_metadata_service_is_not_reached(command):
    assert ("deny", "exfiltration-metadata") in [
        (decision, each.rule.id) for decision, each in GUARD.decide(command, PLACE)
    ]


@pytest.fixture
def home(monkeypatch):
    monkeypatch.setenv("HOME", PLACE.home)


@pytest.mark.usefixtures("home")
@pytest.mark.parametrize("command", TABLES["honest"].splitlines())
def test_everyday_requests_are_left_alone(command):
    call = ToolCall("Bash", {"command": command}, kind="shell")
    assert (
        judge(HookContext("before_tool_use", tool_call=call, cwd=PLACE.cwd, project_dir=PLACE.project), call, [])
        is None
    )
