"""Commands for people, with a plugin that ends the process while it is imported."""

from __future__ import annotations

import os
import signal
import subprocess

import pytest

pytestmark = pytest.mark.interpreter

DEADLY = {
    "exits": ("import os; os._exit(0)", "ended with exit code 0"),
    "crashes": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", f"ended by signal {int(signal.SIGSEGV)}"),
}
COMMANDS = (["plugins"], ["plugins", "--json"], ["check", "Stop"], ["demo"], ["--help"], ["rules"])


@pytest.mark.parametrize("typed", ["install --dry-run claude-code", "status", "doctor"])
def test_a_plugin_that_hangs_at_its_import_holds_up_no_command_that_only_looks(command, typed):
    """It ends itself with the signal of the limit, since nobody wants to wait for that."""
    command.install("import signal; signal.raise_signal(signal.SIGALRM)", "stuck")
    (command.home / ".claude").mkdir()
    (command.home / ".claude" / "settings.json").write_text("{}")
    done = command(*typed.split())
    assert done.exit_code == 1
    assert "was not ready in 15 s while the import of the plugin 'stuck' of stuck was" in " ".join(done.said.split())


@pytest.mark.parametrize("way", DEADLY)
@pytest.mark.parametrize("typed", COMMANDS, ids=" ".join)
def test_a_plugin_that_ends_the_process_is_named(command, typed, way):
    source, ending = DEADLY[way]
    command.install(source, "deadly")
    done = command(*typed)
    assert done.exit_code == 2
    assert ending in done.stderr
    assert "while the import of the plugin 'deadly' of deadly was running; repair or uninstall it" in done.stderr


def test_a_plugin_that_ends_the_process_while_it_looks_for_faults_is_named(command):
    command.install("import os\n@hookimpl\ndef agent_hooks_findings():\n    os._exit(0)\n", "deadly")
    done = command("doctor")
    assert done.exit_code == 2
    assert "while agent_hooks_findings of the plugin 'deadly' was running" in done.stderr


def test_a_hook_that_ends_the_process_of_check_is_no_silent_success(command):
    command.hook("on_stop", '__import__("os")._exit(0)')
    done = command("check", "Stop")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "while the hooks of on_stop were running" in done.stderr


def test_the_exit_code_of_a_command_is_its_own(command):
    assert command("doctor").exit_code == 0
    assert command("no-such-command").exit_code == 2
    command.install("import no_such_module", "broken")
    assert command("plugins").exit_code == 1


@pytest.mark.parametrize(
    ("typed", "code", "told"),
    [
        ("plugins", "print('importing', flush=True); ", b"importing\n"),
        pytest.param(  # it says so after 10 seconds
            "doctor",
            "",
            b"agent-hooks: still waiting for the import of the plugin 'hanging' of hanging.\n",
            marks=pytest.mark.full,
        ),
    ],
)
def test_a_slow_plugin_is_named_and_the_command_ends_with_the_signal_that_its_parent_gets(command, typed, code, told):
    command.install(f"import time; {code}time.sleep(600)", "hanging")
    process = subprocess.Popen(
        command.arguments(typed), env=command.environment, cwd=command.folder, stderr=subprocess.PIPE
    )
    with process:
        assert process.stderr is not None
        line = process.stderr.readline()
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(timeout=60) == 128 + signal.SIGTERM
        assert (line, process.stderr.read()) == (told, b"")  # once, and the child holds it no longer


@pytest.mark.parametrize("raised", ["raise type('Panic', (BaseException,), {})('odd')", "raise GeneratorExit('odd')"])
def test_a_plugin_that_fails_with_no_exception_is_broken(command, raised):
    """As a compiled module does that panics while it is imported."""
    command.install(raised, "panics")
    done = command("doctor")
    assert (done.exit_code, done.stderr) == (1, "")
    assert "The plugin 'panics' of panics is broken" in done.stdout
    assert "panics_rules.py:" in done.stdout


def test_status_says_what_is_wired_though_a_plugin_hangs(command):
    command.install("@hookimpl\ndef before_tool_use():\n    return None\n", "house")
    assert command("install", "claude-code").exit_code == 0
    command.install("import signal; signal.raise_signal(signal.SIGALRM)", "stuck")
    done = command("status")
    assert done.exit_code == 1
    assert "wired: PreToolUse" in done.stdout
    assert "'stuck'" in done.stdout
