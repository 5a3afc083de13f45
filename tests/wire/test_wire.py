"""The hosts by name."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agent_hooks.errors import WireError
from agent_hooks.wire import HOSTS, get_host
from wire.golden_files import payloads


def test_a_host_is_found_by_the_name_its_contexts_carry():
    for name in HOSTS:
        assert get_host(name).name == name
        assert get_host(name).read(next(iter(payloads(name).values()))).host == name


@pytest.mark.parametrize(("wrong", "near"), [("claude", "claude-code"), ("Codex", "codex"), ("codx", "codex")])
def test_a_wrong_name_is_answered_with_the_nearest(wrong, near):
    with pytest.raises(WireError, match=f"Did you mean '{near}'"):
        get_host(wrong)


def test_a_name_near_to_none_is_answered_with_all():
    with pytest.raises(WireError, match="claude-code, codex"):
        get_host("zzz")


@pytest.mark.parametrize("name", HOSTS)
def test_a_process_loads_the_module_of_its_own_host_and_nothing_heavy(name):
    program = "import sys, agent_hooks.wire as wire; wire.get_host(sys.argv[1]); print(*sys.modules)"
    command = [sys.executable, "-c", program, name]
    loaded = set(subprocess.run(command, capture_output=True, text=True, check=True).stdout.split())
    modules = {other: type(HOSTS[other]).__module__ for other in HOSTS}
    assert modules[name] in loaded
    assert loaded & {"asyncio", "pydantic", "pluggy", "dataclasses", "inspect", "subprocess"} == set()
    bases = {base.__module__ for base in type(HOSTS[name]).__mro__}
    assert loaded & ({*modules.values()} - bases) == set()
