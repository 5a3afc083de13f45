"""A flag that makes a command harmless counts if it is in force in the end, and only then."""

from __future__ import annotations

import pytest
from making import executed

from tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize("command", TABLES["taken_back"].splitlines())
def test_a_flag_that_is_taken_back_or_means_something_else_changes_nothing(command):
    assert executed(command) in ("deny", "ask")


@pytest.mark.parametrize("command", TABLES["in_force"].splitlines())
def test_a_command_that_only_shows_its_changes_passes(command):
    assert executed(command) == ""
