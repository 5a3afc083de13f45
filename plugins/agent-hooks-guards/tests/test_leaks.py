"""Credentials of the environment: where they may go, and where not."""

from __future__ import annotations

import pytest
from making import executed

from tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize("command", TABLES["leaks"].splitlines())
def test_a_credential_goes_to_no_host_but_its_own(command):
    assert executed(command) == "deny"


@pytest.mark.parametrize("command", TABLES["dumps"].splitlines())
def test_a_variable_of_the_command_hides_no_other_of_the_environment(command):
    assert executed(command) == "deny"


@pytest.mark.parametrize("command", TABLES["given"].splitlines())
def test_code_reads_the_variables_that_the_command_sets(command):
    assert executed(command) == "deny"


@pytest.mark.parametrize("command", TABLES["logins"].splitlines())
def test_a_credential_logs_in_to_its_own_host(command):
    assert executed(command) == ""


@pytest.mark.parametrize("command", TABLES["asked"].splitlines())
def test_a_person_is_asked_where_the_host_may_be_its_own(command):
    assert executed(command) == "ask"
