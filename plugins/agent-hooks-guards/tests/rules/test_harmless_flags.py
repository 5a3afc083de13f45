"""A flag that makes a command harmless counts if it is in force in the end, and only then."""

from __future__ import annotations

import pytest
from making import about
from tables import tables

from agent_hooks_guards import ShellGuard

TABLES = tables(__file__)

# One command to a line.


def decision(command):
    outcome = ShellGuard().execute(about("Bash", "shell", args={"command": command}, cwd="/home/dev/app"))
    return None if outcome is None else outcome.decision


@pytest.mark.parametrize("command", TABLES["taken_back"].strip().splitlines())
def test_a_flag_that_is_taken_back_or_means_something_else_changes_nothing(command):
    assert decision(command) in ("deny", "ask")


@pytest.mark.parametrize("command", TABLES["in_force"].strip().splitlines())
def test_a_command_that_only_shows_its_changes_passes(command):
    assert decision(command) is None
