"""The core's table of wrapper programs and the guards' declarations agree."""

from __future__ import annotations

import pytest

from agent_hooks.shell.programs import RUNNERS, WRAPPERS, command_start
from agent_hooks_guards import ShellGuard
from agent_hooks_guards.places.paths import Place

COMMANDS = [" ".join([name, *["5"] * operands]) for name, (operands, _) in WRAPPERS.items() if name != "hyperfine"]
SUBCOMMANDS = {(name, each) for name, subcommands in RUNNERS.items() for each in subcommands}
OTHERS = {("npm", "dlx"), ("direnv", "exec"), ("mise", "exec"), ("rtx", "exec")}
COMMANDS += [f"{name} {each}" for name, each in sorted(SUBCOMMANDS - OTHERS)]


@pytest.mark.parametrize("wrapper", COMMANDS)
def test_the_guards_look_behind_each_wrapper_of_the_core(wrapper):
    command = f"{wrapper} rm -rf /"
    assert command.split()[command_start(command.split()) :] == ["rm", "-rf", "/"]
    decided = ShellGuard().decide(command, Place("/w", "/home/dev", "/w"), "sh")
    assert decided[0][0] == "deny"
