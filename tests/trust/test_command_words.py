"""The programs of a hook's command, with their arguments."""

from __future__ import annotations

import pytest

from agent_hooks.trust.command_words import TOP, CommandWords
from tables import tables

VALUES = {"CLAUDE_PROJECT_DIR": "/p", "PWD": "/p/sub", TOP: "/p", "0": "/p/hooks/x.sh"}


def invocations(text):
    words = CommandWords(VALUES)
    words.parse(text)
    return words.invocations


def words_of(invocation):
    return [str(each) for each in invocation.arguments]


@pytest.mark.parametrize(("word", "value"), tables(__file__)["words"])
def test_the_value_of_a_word(word, value):
    (run,) = [each for each in invocations(f"run {word}") if each.name == "run"]
    assert run.arguments[1].text == (value or None)


@pytest.mark.parametrize("text", ["X=a; run $X", "export X=a; run ${X}", "X=$(ls); X=a; run $X"])
def test_variables_that_the_command_sets_are_known(text):
    assert list(map(words_of, invocations(text)))[-1] == ["run", "a"]


def test_wrappers_are_apart_and_redirections_known():
    words = CommandWords(VALUES)
    words.parse("timeout 5 env A=1 run a < in >> out 2>&1 <<< text")
    (invocation,) = words.invocations
    assert [each.text for each in invocation.wrappers] == ["timeout", "5", "env", "A=1"]
    assert (words_of(invocation), invocation.name) == (["run", "a"], "run")
    assert [each.text for each in words.reads] == ["in"]
    assert [each.text for each in words.writes] == ["out"]
    assert [each.text for each in invocation.documents] == ["text"]


@pytest.mark.parametrize(
    "text",
    ["bash -c 'run a'", "eval run a", "sh <<E\nrun a\nE", "sudo sh -c 'run a'", "echo $(run a)", "f() { run a; }"],
)
def test_commands_within_a_command_are_parsed(text):
    assert ["run", "a"] in list(map(words_of, invocations(text)))
