"""Where the command of a wrapper starts."""

from __future__ import annotations

import pytest

from agent_hooks.shell.programs import command_line, command_start, unwrapped
from tables import tables

TABLES = tables(__file__)


@pytest.mark.parametrize(("command", "inner"), TABLES["unwrapped"])
def test_the_command_that_is_run_in_the_end(command, inner):
    assert unwrapped(command.split()) == inner.split()


@pytest.mark.parametrize("command", ["sudo", "env A=1", "timeout 5", "xargs -n 1", "find . -exec"])
def test_a_wrapper_alone_runs_nothing(command):
    assert list(unwrapped(command.split())) == []
    assert command_start(command.split()) == len(command.split())


@pytest.mark.parametrize(("words", "line"), TABLES["line"])
def test_a_command_line_for_a_shell(words, line):
    assert command_line(words) == (line or None)
