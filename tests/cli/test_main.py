"""Which command goes where, and what each of them needs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import agent_hooks
from commands import SCRIPT

pytestmark = pytest.mark.interpreter

WITHOUT = "import sys\nsys.modules[{name!r}] = None\n" + SCRIPT


@pytest.mark.parametrize(
    ("name", "typed"), [("click", ["demo"]), ("click", ["check", "Stop"]), ("click", []), ("rich", ["demo"])]
)
def test_without_the_extra_people_are_told_how_to_install_it(command, name, typed):
    command.script.write_text(WITHOUT.format(name=name))
    done = command(*typed)
    assert (done.exit_code, done.stdout) == (2, "")
    assert "pip install 'agent-hooks-core[cli]'" in done.stderr
    assert name in done.stderr


@pytest.mark.parametrize("name", ["click", "rich", "pydantic"])
def test_run_needs_no_extra(command, payload, name):
    command.hook("before_tool_use", 'HookOutcome.deny("not here")')
    command.script.write_text(WITHOUT.format(name=name))
    assert command.answer("codex", payload("codex", "PreToolUse")).why == "not here"


def test_a_broken_installation_refuses(command, payload):
    """Exit code 1 would let a tool call through."""
    command.script.write_text(WITHOUT.format(name="agent_hooks.wire"))
    done = command.answer("codex", payload("codex", "PreToolUse"))
    assert (done.exit_code, done.stdout) == (2, "")
    assert "cannot be used" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_package_runs_as_a_module_and_imports_nothing_from_the_folder_it_is_run_in(command):
    (command.folder / "click.py").write_text("raise SystemExit('imported')\n")
    done = subprocess.run(
        [sys.executable, "-m", "agent_hooks", "--version"],
        env=command.environment,
        cwd=command.folder,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"agent-hooks, version {agent_hooks.__version__}\n".encode())


COMMANDS = {
    *("check", "demo", "doctor", "events", "init", "install", "new", "plugins", "run", "schema", "serve", "status"),
    *("trust", "uninstall", "untrust"),
}


def test_help_lists_every_command_and_each_explains_itself(command):
    listed = command("--help").stdout.partition("Commands:")[2].splitlines()
    assert {line.split()[0] for line in listed if line.strip()} == COMMANDS
    for name in COMMANDS:
        done = command(name, "--help")
        assert (done.exit_code, f"agent-hooks {name}" in done.stdout) == (0, True), name
        expected = name in ("demo", "plugins", "events", "check", "trust", "doctor", "status")
        assert ("--json" in done.stdout) == expected, name


@pytest.mark.parametrize(
    "typed",
    [
        *("--version", "demo", "demo --recorded", "doctor", "plugins", "events", "schema", "trust --show", "init"),
        *("check Stop", "new plugin a-rule", "install --dry-run codex", "uninstall codex", "install codex --trust"),
        "untrust",
    ],
)
def test_every_command_comes_to_its_end_in_a_process_of_its_own_on_every_python(started_command, typed):
    done = started_command(*typed.split())
    assert (done.exit_code, done.stderr) == (int(typed == "untrust"), "")  # 1: it was not trusted
    assert done.stdout


def test_an_unknown_command_is_a_wrong_usage(command):
    done = command("rnu", "--agent", "codex", stdin=json.dumps({}))
    assert done.exit_code == 2
    assert "rnu" in done.stderr
