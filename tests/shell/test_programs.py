"""Where the command of a wrapper starts."""

from __future__ import annotations

import pytest

from agent_hooks.shell.programs import command_line, command_start, unwrapped


@pytest.mark.parametrize(
    ("command", "inner"),
    [
        ("sudo -u me rm x", "rm x"),
        ("sudo A=1 rm x", "rm x"),
        ("env -i A=1 B=2 -u C rm x", "rm x"),
        ("timeout -k 5 10 rm x", "rm x"),
        ("nice -n 5 rm x", "rm x"),
        ("nice -5 rm x", "rm x"),
        ("xargs -r -n 1 rm x", "rm x"),
        ("flock -w 5 lock rm x", "rm x"),
        ("nohup -- rm x", "rm x"),
        ("timeout -k 5 -- 10 rm x", "rm x"),
        ("/usr/bin/env rm x", "rm x"),
        ("sudo nohup timeout 5 rm x", "rm x"),
        ("uv run --with requests rm x", "rm x"),
        ("npm exec -- rm x", "rm x"),
        ("direnv exec . rm x", "rm x"),
        ("mise exec node@22 -- rm x", "rm x"),
        ("find . -name a -exec rm x", "rm x"),
        ("fd a -x rm x", "rm x"),
        ("rm x", "rm x"),
        ("npm install x", "npm install x"),
        ("find . -name a", "find . -name a"),
    ],
)
def test_the_command_that_is_run_in_the_end(command, inner):
    assert unwrapped(command.split()) == inner.split()


@pytest.mark.parametrize("command", ["sudo", "env A=1", "timeout 5", "xargs -n 1", "find . -exec"])
def test_a_wrapper_alone_runs_nothing(command):
    assert list(unwrapped(command.split())) == []
    assert command_start(command.split()) == len(command.split())


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["bash", "-c", "a b"], "a b"),
        (["sh", "-ec", "a b", "name"], "a b"),
        (["bash", "-o", "pipefail", "-c", "a"], "a"),
        (["bash", "x.sh", "-c", "a"], None),
        (["bash", "-c"], None),
        (["eval", "a", "b"], "a b"),
        (["su", "-c", "a b", "me"], "a b"),
        (["flock", "lock", "-c", "a b"], "a b"),
        (["script", "-qac", "a b", "log"], "a b"),
        (["env", "--split-string=a b"], "a b"),
        (["nix-shell", "--run", "a b"], "a b"),
        (["rm", "-c", "a"], None),
        ([], None),
    ],
)
def test_a_command_line_for_a_shell(words, line):
    assert command_line(words) == line
