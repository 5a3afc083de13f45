"""How programs use their arguments."""

from __future__ import annotations

import pytest

from agent_hooks.trust.command_words import CommandWords
from agent_hooks.trust.known_programs import code_files, grows, interpreted, unseen_task, written_files
from tables import tables

TABLES = tables(__file__)


def only(text):
    words = CommandWords({})
    words.parse(text)
    return words.invocations[0]


@pytest.mark.parametrize(("command", "kind", "argument"), TABLES["interpreted"])
def test_the_script_or_code_of_an_interpreter(command, kind, argument):
    found = interpreted(only(command))
    assert (found[0], found[1] and found[1].text) == (kind, argument or None)


@pytest.mark.parametrize(("command", "expected"), TABLES["code"])
def test_the_code_and_rules_of_a_reading_program(command, expected):
    assert [each.text for each in code_files(only(command))] == expected


@pytest.mark.parametrize(("command", "expected"), TABLES["written"])
def test_the_files_that_a_program_writes(command, expected):
    assert [each.text for each in written_files(only(command))] == expected


def test_tasks_and_growing_files_are_known_by_name():
    assert [unseen_task(only(text)) for text in ("npm run check", "make x", "bun run x.ts")] == ["npm run", "make", ""]
    assert grows(".claude/state")
    assert not grows("catalog.txt")
