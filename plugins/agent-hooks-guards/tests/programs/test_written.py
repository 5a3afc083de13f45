"""What a command writes into a file and then runs by its program's name alone is judged as what it runs."""

from __future__ import annotations

import pytest
from tables import tables

from agent_hooks_guards import ShellGuard
from agent_hooks_guards.places.paths import Place

TABLES = tables(__file__)

PLACE = Place("/home/dev/app", "/home/dev", "/home/dev/app")


def decision(command):
    found = ShellGuard().decide(command, PLACE)
    return found[0][0] if found else ""


@pytest.mark.parametrize("command", TABLES["harmful"])
def test_what_a_program_finds_by_itself_is_run(command):
    assert decision(command) == "deny"


@pytest.mark.parametrize("command", TABLES["honest"])
def test_what_is_not_run_or_does_no_harm_is_left_alone(command):
    assert decision(command) == ""
