"""Code of other languages is known by its string literals."""

from __future__ import annotations

import pytest

from agent_hooks_guards.code import Found, scan
from agent_hooks_guards.model.values import Data
from tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize(("language", "code"), TABLES["strings_of_code_that_starts_processes_are_command_lines"])
def test_strings_of_code_that_starts_processes_are_command_lines(language, code):
    assert Data("halt -f") in scan(language, Data(code), []).shells


@pytest.mark.parametrize(("language", "code"), TABLES["a_folder_that_is_deleted_is_told"])
def test_a_folder_that_is_deleted_is_told(language, code):
    assert ["rm", "-rf", "/x"] in scan(language, Data(code), []).programs


@pytest.mark.parametrize(
    ("language", "code"),
    [("r", "system(cmd)"), ("applescript", "do shell script c"), ("c", "int main() { system(s); }")],
)
def test_a_command_line_that_is_no_literal_is_a_doubt(language, code):
    assert scan(language, Data(code), []).doubts


@pytest.mark.parametrize(("language", "code"), TABLES["code_that_starts_nothing_finds_nothing"])
def test_code_that_starts_nothing_finds_nothing(language, code):
    found = scan(language, Data(code), [])
    assert found == Found(doubts=[])


def test_more_strings_than_are_looked_at_are_a_doubt_where_code_starts_processes():
    strings = "x = '';" * 100
    assert scan("r", Data(f"{strings} system('halt')"), []).doubts
    assert not scan("r", Data(strings), []).doubts
