"""What a command writes into a file and then runs by its program's name alone is judged as what it runs."""

from __future__ import annotations

import pytest
from making import decision

from tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize("command", TABLES["harmful"])
def test_what_a_program_finds_by_itself_is_run(command):
    assert decision(command) == "deny"


@pytest.mark.parametrize("command", TABLES["honest"])
def test_what_is_not_run_or_does_no_harm_is_left_alone(command):
    assert decision(command) == ""
