"""Makefiles are read for their recipes and for what runs while they are read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from making import nothing

from agent_hooks_guards.code.make import scan
from agent_hooks_guards.model.values import UNKNOWN
from tables import tables

if TYPE_CHECKING:
    from agent_hooks_guards.code import Found

TABLES = tables(__file__)

NONE: frozenset[str] = frozenset()


def found(text: str, *arguments: str) -> Found:
    return scan(text, NONE, list(arguments), "make")


def texts(text: str, *arguments: str) -> list[str]:
    return [data.text for data in found(text, *arguments).shells]


@pytest.mark.parametrize("text", TABLES["what_make_gives_to_a_shell_is_told"])
def test_what_make_gives_to_a_shell_is_told(text):
    assert "halt" in [line.strip() for line in texts(text)]


def test_variables_of_the_command_line_win():
    assert texts("X = ls\nall:\n\t$(X)\n", "X=halt") == ["halt"]


def test_dollars_of_the_shell_and_continued_lines_are_kept():
    assert texts("all:\n\tfor i in a; do \\\n\t  echo $$i; \\\n\tdone\n") == [
        "for i in a; do \\\n\t  echo $i; \\\n\tdone"
    ]


def test_what_is_not_known_stays_unknown():
    assert texts("all:\n\trm -rf $(PREFIX)/x\n") == [f"rm -rf {UNKNOWN}/x"]


def test_every_recipe_counts():
    assert texts("a:\n\tls\nb:\n\thalt\n", "a") == ["ls", "halt"]


def test_a_makefile_that_runs_nothing_finds_nothing():
    assert nothing(found("X = rm -rf /\n# halt\ndefine unused\nhalt\nendef\n.PHONY: all\nall: b c\n"))


@pytest.mark.parametrize("text", TABLES["a_computed_recipe_is_unknown"])
def test_a_computed_recipe_is_unknown(text):
    assert UNKNOWN in texts(text)[-1]


@pytest.mark.parametrize(
    "text",
    [
        "$(eval all:;halt)",
        ".RECIPEPREFIX = >\nall:\n>halt\n",
        "SHELL = /usr/bin/python3\nall:\n\timport os\n",
        "x" * 20_001,
    ],
)
def test_a_makefile_that_is_read_in_another_way_is_a_doubt(text):
    assert found(text).doubts
