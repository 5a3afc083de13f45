"""What the programs of a command line run and write."""

from __future__ import annotations

import pytest

from agent_hooks.shell.commands import TOP
from agent_hooks.shell.effects import Programs
from agent_hooks.shell.syntax import UNKNOWN
from tables import tables

TABLES = tables(__file__)
VALUES = {"CLAUDE_PROJECT_DIR": "/p", "PWD": "/p/sub", TOP: "/p", "0": "/p/hooks/x.sh"}


def programs(text):
    found = Programs(VALUES)
    found.parse(text)
    return found


def only(text):
    return programs(text).found[0]


@pytest.mark.parametrize(("command", "kind", "argument"), TABLES["interpreted"])
def test_the_script_or_code_of_an_interpreter(command, kind, argument):
    assert only(command).runs() == (kind, argument)


@pytest.mark.parametrize(("command", "expected"), TABLES["code"])
def test_the_code_and_rules_of_a_reading_program(command, expected):
    assert only(command).code_operands() == expected


@pytest.mark.parametrize(("command", "expected"), TABLES["written"])
def test_the_files_that_a_program_writes(command, expected):
    assert [*only(command).written_files()] == expected


def test_tasks_are_known_by_the_name_of_their_runner():
    assert [only(text).unseen_task() for text in ("npm run check", "make x", "bun run x.ts")] == ["npm run", "make", ""]


@pytest.mark.parametrize(("word", "value"), TABLES["words"])
def test_the_value_of_a_word(word, value):
    (run,) = [each for each in programs(f"run {word}").found if each.name == "run"]
    assert run.words[1] == value if value else UNKNOWN in run.words[1]


@pytest.mark.parametrize("text", ["X=a; run $X", "export X=a; run ${X}", "X=$(ls); X=a; run $X"])
def test_variables_that_the_command_sets_are_known(text):
    assert programs(text).found[-1].words == ["run", "a"]


def test_wrappers_are_apart_and_redirections_known():
    found = programs("timeout 5 env A=1 run a < in >> out 2>&1 <<< text")
    (run,) = found.found
    assert (run.wrappers, run.words, run.name) == (["timeout", "5", "env", "A=1"], ["run", "a"], "run")
    assert (found.reads, found.writes, run.documents) == (["in"], ["out"], ["text"])


@pytest.mark.parametrize(
    "text",
    ["bash -c 'run a'", "eval run a", "sh <<E\nrun a\nE", "sudo sh -c 'run a'", "echo $(run a)", "f() { run a; }"],
)
def test_commands_within_a_command_are_parsed(text):
    assert ["run", "a"] in [each.words for each in programs(text).found]
