"""The hosts by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agent_hooks.errors import WireError
from agent_hooks.wire import HOSTS, get_host


def test_a_host_is_found_by_the_name_its_contexts_carry():
    for name in HOSTS:
        assert get_host(name).name == name
        assert get_host(name).read({"hook_event_name": "SessionEnd"}).host == name


@pytest.mark.parametrize(("wrong", "near"), [("claude", "claude-code"), ("Codex", "codex"), ("codx", "codex")])
def test_a_wrong_name_is_answered_with_the_nearest(wrong, near):
    with pytest.raises(WireError, match=f"Did you mean '{near}'"):
        get_host(wrong)


def test_a_name_near_to_none_is_answered_with_all():
    with pytest.raises(WireError, match="claude-code, codex"):
        get_host("zzz")


def test_the_wire_loads_nothing_heavy():
    program = "import sys, agent_hooks.wire; print(*sys.modules)"
    command = [sys.executable, "-c", program]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    assert "agent_hooks.wire.codex" in loaded
    assert loaded & {"asyncio", "pydantic", "pluggy", "dataclasses", "inspect", "subprocess"} == set()
