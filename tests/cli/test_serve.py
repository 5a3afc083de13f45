"""``agent-hooks serve``: events that are answered by a resident process, and are answered as without it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agent_hooks.cli.warming import LoadedFiles
from commands import PACKAGES, SCRIPT
from projects import denying, toml
from residents import RULES, bash
from waiting import eventually

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no resident process on this system"),
]

AGENTS = ["claude-code", "codex"]
PLANNED = """
[[hooks.before_tool_use]]
matcher = "WebFetch"
hooks = [{ type = "command", command = ["false"] }]
"""


@pytest.fixture
def command(started_command):
    return started_command


def hookconf(reason):
    return (
        "from agent_hooks import HookOutcome, hookimpl\n\n"
        f"@hookimpl\ndef before_tool_use():\n    return HookOutcome.deny({reason!r})\n"
    )


def shown(done):
    return done.exit_code, done.stdout, done.stderr


# -- the same answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("agent", AGENTS)
def test_hooks_of_a_plugin_answer_as_without_it(command, payload, serve, agent):
    command.install(RULES)
    events = [bash(payload, agent, text) for text in ("ls", "deny", "ask", "allow")]
    events.append(payload(agent, "UserPromptSubmit", prompt="tidy up"))
    without = [shown(command.answer(agent, event)) for event in events]
    running = serve()
    assert [shown(command.answer(agent, event)) for event in events] == without
    assert running.answered == len(events)


@pytest.mark.parametrize("agent", AGENTS)
def test_our_own_hooks_answer_as_without_it_however_often(command, payload, serve, agent):
    events = [bash(payload, agent, "cat ~/.config/agent-hooks/trust"), bash(payload, agent, "ls")]
    events.append(bash(payload, agent, "echo > ~/.config/agent-hooks/agent-hooks.toml"))
    events.append(payload(agent, "UserPromptSubmit", prompt="tidy up"))
    without = [shown(command.answer(agent, event)) for event in events]
    running = serve()
    for _ in range(2):
        assert [shown(command.answer(agent, event)) for event in events] == without
    assert running.answered == 2 * len(events)


def test_a_change_of_settings_counts_at_the_next_event(command, payload, serve):
    serve()
    event = bash(payload, "claude-code", "ls")
    assert command.answer("claude-code", event).exit_code == 0
    command.configure(toml(denying("first")))
    assert "first" in command.answer("claude-code", event).stderr
    file = command.config / "agent-hooks.toml"
    before = file.stat()
    file.write_text(file.read_text().replace("first", "other"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert "other" in command.answer("claude-code", event).stderr
    file.unlink()
    assert command.answer("claude-code", event).exit_code == 0


def test_trust_given_and_taken_counts_at_the_next_event(command, payload, project, serve):
    serve()
    project.write({"hookconf.py": hookconf("not in this project")})
    event = bash(payload, "claude-code", "ls", cwd=str(project.root))
    assert command.answer("claude-code", event).exit_code == 0
    command.trust(project)
    assert command.answer("claude-code", event).why == "not in this project"
    project.write({"hookconf.py": hookconf("changed")})
    assert "has seen hooks that do not hold" in command.answer("claude-code", event).said
    assert command.answer("claude-code", {**event, "session_id": "begins later"}).exit_code == 0


def test_a_session_is_held_to_a_project_that_it_has_seen(command, payload, project, serve):
    running = serve()
    command.trust(project.write({"agent-hooks.toml": PLANNED}))
    event = bash(payload, "claude-code", "ls", cwd=str(project.root), session_id="s")
    assert command.answer("claude-code", event).exit_code == 0
    (project.root / "agent-hooks.toml").unlink()
    for _ in range(2):
        assert "has seen hooks that do not hold" in command.answer("claude-code", event).said
    assert running.answered == 3


def test_a_plugin_installed_meanwhile_is_asked(command, payload, serve):
    running = serve()
    event = bash(payload, "claude-code", "deny")
    assert command.answer("claude-code", event).exit_code == 0
    command.install(RULES)
    assert command.answer("claude-code", event).why == "not here"
    assert running.answered == 2


def test_a_wrong_payload_is_refused(command, serve):
    without = command("run", "--agent", "claude-code", "--event", "PreToolUse", stdin="[]")
    serve()
    done = command("run", "--agent", "claude-code", "--event", "PreToolUse", stdin="[]")
    assert done.exit_code == 2
    assert shown(done) == shown(without)


def test_one_that_was_started_from_a_terminal_answers(command, payload, serve):
    command.install(RULES)
    above, below = os.openpty()
    running = serve(stdin=below)
    os.close(below)
    assert command.answer("claude-code", bash(payload, "claude-code", "deny")).why == "not here"
    assert running.answered == 1
    os.close(above)


def test_a_number_in_place_of_a_truth_value_is_a_change(command, payload, serve):
    running = serve()
    event = bash(payload, "claude-code", "ls")
    for value, denies in (("true", False), ("1", True), ("true", False)):
        command.configure(f"[policy]\nallow_shell = {value}\n")
        done = command.answer("claude-code", event)
        assert shown(done) == shown(command.answer("claude-code", event, "--no-plan"))
        assert done.denies == denies
    assert running.answered == 3


# -- its life ----------------------------------------------------------------------------------------------------------


def test_it_says_whether_it_runs_and_leaves_when_asked(command, serve):
    before = command("serve", "--status")
    assert (before.exit_code, before.stdout.split(":")[0]) == (1, "No resident process runs here")
    running = serve()
    assert f"process {running.process.pid}" in command("serve", "--status").stdout
    assert f"process {running.process.pid}" in command("doctor").stdout
    second = command("serve")
    assert (second.exit_code, "already running" in second.stderr) == (1, True)
    assert command("serve", "--stop").exit_code == 0
    assert "asked to stop" in running.wait()
    assert command("serve", "--stop").exit_code == 1


def test_of_two_that_start_at_once_one_stays(command):
    command.script.write_text(SCRIPT)
    both = [
        subprocess.Popen(command.arguments("serve"), env=command.environment, stderr=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    assert eventually(lambda: any(each.poll() is not None for each in both), 30)
    assert eventually(lambda: command("serve", "--status").exit_code == 0, 30)
    command("serve", "--stop")
    assert sorted(each.wait(30) for each in both) == [0, 1]
    said = [each.communicate()[1] for each in both]
    assert sum("already running" in text for text in said) == 1


def test_starting_it_asks_no_hook_of_anybody_and_writes_nothing(command, tmp_path, serve):
    command.install(f"""
        open({str(tmp_path / "imported")!r}, "w").close()

        @hookimpl
        def user_input(prompt):
            open({str(tmp_path / "asked")!r}, "w").close()
    """)
    command.configure(f'[guards.audit]\npath = "{tmp_path}/trail.jsonl"\n')
    serve()
    assert not {"imported", "asked", "trail.jsonl"} & {path.name for path in tmp_path.iterdir()}


def test_it_leaves_when_it_has_had_nothing_to_do(serve):
    assert "nothing happened" in serve("--idle", "0.3").wait()


def test_it_leaves_at_a_signal(serve):
    running = serve()
    running.process.send_signal(signal.SIGTERM)
    assert "SIGTERM" in running.wait()


def test_it_leaves_when_its_files_change(command, payload, tmp_path, serve):
    packages = tmp_path / "copy"
    shutil.copytree(Path(PACKAGES) / "agent_hooks", packages / "agent_hooks")
    for module in ("agent_hooks_core.py", "agent_hooks_launcher.py"):
        shutil.copy(Path(PACKAGES) / module, packages)
    command.environment["PYTHONPATH"] = os.pathsep.join((str(command.site), str(packages)))
    command.install(RULES)
    running = serve()
    event = bash(payload, "claude-code", "deny")
    assert command.answer("claude-code", event).why == "not here"
    assert running.answered == 1
    changed = packages / "agent_hooks" / "wire" / "answer.py"
    before = changed.stat()
    changed.write_text(changed.read_text())
    os.utime(changed, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert command.answer("claude-code", event).why == "not here"
    assert "answer.py has changed" in running.wait()


def test_a_wrong_option_is_an_error(command):
    for arguments in (["--idle", "soon"], ["--idle", "-1"], ["--what"]):
        assert command("serve", *arguments).exit_code == 2
    assert "--idle SECONDS" in command("serve", "--help").stdout


def test_agents_cannot_write_where_the_socket_is(command, payload):
    folder = command.home / ".local" / "state" / "agent-hooks" / "serve"
    for text in (f"touch {folder}/x", f"rm -rf {folder}", f"mv {folder.parent} /tmp/x"):
        event = bash(payload, "claude-code", text)
        assert command.answer("claude-code", event, env={"XDG_STATE_HOME": "/tmp/elsewhere"}).denies
    assert command.answer("claude-code", bash(payload, "claude-code", "agent-hooks serve --stop")).exit_code == 0


# -- what it watches ---------------------------------------------------------------------------------------------------


if sys.platform == "linux":

    def test_processes_of_one_sandbox_are_alike():
        from agent_hooks.cli.confinement import confinement_of

        assert confinement_of(os.getpid()) == confinement_of(os.getppid()) is not None
        assert confinement_of(0) is None


def test_files_that_say_what_is_installed_are_watched(tmp_path):
    folder = tmp_path / "site"  # as that of a user, which need not be there yet
    files = LoadedFiles(frozenset(), [str(folder)])
    assert files.changed() == ""
    (folder / "house-1.0.dist-info").mkdir(parents=True)
    points = folder / "house-1.0.dist-info" / "entry_points.txt"
    points.write_text("[agent_hooks]\nhouse = house_rules\n")
    assert files.changed() == ""  # each worker sees that something was installed
    points.write_text("[agent_hooks]\nhouse = mouse_rules\n")
    assert files.changed() == str(points)
    files = LoadedFiles(frozenset(), [str(folder)])
    (folder / "new.pth").write_text("/elsewhere\n")
    assert files.changed() == str(folder)
    files = LoadedFiles(frozenset(), [str(folder)])
    assert files.changed() == ""
    (folder / "new.pth").write_text("/different\n")
    assert files.changed() == str(folder / "new.pth")


def test_a_module_that_takes_the_place_of_a_loaded_one_is_noticed(tmp_path):
    files = LoadedFiles(frozenset(("json", "json.decoder")), [str(tmp_path)])
    (tmp_path / "decoder.py").write_text("")
    assert files.changed() == ""
    (tmp_path / "json").mkdir()
    assert files.changed() == str(tmp_path)


def test_a_file_that_changes_while_it_starts_is_noticed(tmp_path):
    (tmp_path / "new.pth").write_text("/elsewhere\n")
    files = LoadedFiles(frozenset(), [str(tmp_path)])
    changed_ns = (tmp_path / "new.pth").stat().st_ctime_ns
    assert files.changed_since(changed_ns) == str(tmp_path / "new.pth")
    assert files.changed_since(changed_ns + 1) == ""
