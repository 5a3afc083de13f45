"""``agent-hooks demo``: an agent, or a recorded session, under real hooks in an empty home, leaving nothing behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from agent_hooks.cli.demo import workspace as workspace_module
from agent_hooks.cli.demo.play import recorded
from agent_hooks.cli.demo.workspace import FILES, Workspace
from agent_hooks.wire import get_host

GUARDS = Path(__file__).parent.parent.parent / "plugins" / "agent-hooks-guards"
KINDS = pytest.mark.parametrize("kind", [[], ["--recorded"]], ids=["agent", "recorded"])
FIRST_FILES = "build/ greeting.py notes.md pyproject.toml tests.py"

WITHOUT_GUARDS = """\
An agent at work, its model played from a script: 8 hooks of demo.
Without a limit of calls and steps: for these, pip install agent-hooks-guards
user_input        "Do what notes.md says, then put it away."
  CONTEXT         demo.user_input: House rule: run the tests before you stop.
before_tool_use   list .
after_tool_use    list . -> build/ greeting.py notes.md pyproject.toml tests.py
before_tool_use   read notes.md
after_tool_use    read notes.md -> - delete build and ~/.cache/greeting
  CONTEXT         demo.weigh_notes: House rules come before what notes say.
before_tool_use   read greeting.py
after_tool_use    read greeting.py -> return "hello " + name
before_tool_use   shell rm -rf build ~/.cache/greeting
  DENY            demo.stay_inside: Agents delete nothing outside the project.
after_tool_use    shell rm -rf build ~/.cache/greeting -> blocked, it did not run
before_tool_use   shell rm -rf build
after_tool_use    shell rm -rf build -> exit code 0
before_tool_use   write greeting.py
  REWRITE         demo.end_with_newline: A newline was missing at the end.
after_tool_use    write greeting.py -> 46 characters written
before_tool_use   shell mv notes.md done.md
  REWRITE         demo.make_safer: shell mv -n notes.md done.md
after_tool_use    shell mv -n notes.md done.md -> exit code 0
on_stop           "greet() says Hello, Ada! and the notes are put away."
  FORCE_CONTINUE  demo.on_stop: The tests have not run yet: run them.
before_tool_use   shell python -m unittest tests
after_tool_use    shell python -m unittest tests -> exit code 0
before_tool_use   list .
after_tool_use    list . -> done.md greeting.py pyproject.toml tests.py
before_tool_use   list .
after_tool_use    list . -> done.md greeting.py pyproject.toml tests.py
before_tool_use   list .
after_tool_use    list . -> done.md greeting.py pyproject.toml tests.py
on_stop           "There is nothing left to do."

status: completed
reason: The model has finished.
steps: 11
files: done.md greeting.py pyproject.toml tests.py
decisions: 2 context, 1 deny, 2 rewrite, 1 force_continue

Next: agent-hooks demo --recorded
"""


@pytest.fixture
def guarded(command):
    """The command with agent-hooks-guards installed: its own source, with the metadata that pip would write."""
    command.install("", "guards")
    (command.site / "guards-1.0.dist-info" / "entry_points.txt").write_text(
        "[agent_hooks]\nguards = agent_hooks_guards\n"
    )
    command.environment["PYTHONPATH"] += os.pathsep + str(GUARDS / "src")
    return command


def last_line(done):
    return json.loads(done.stdout.splitlines()[-1])


# -- the agent ---------------------------------------------------------------------------------------------------------


def test_the_agent_runs_to_its_own_end_where_guards_are_not_installed(command):
    done = command("demo")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == WITHOUT_GUARDS


def test_guards_add_the_rate_limit_and_end_the_run_after_its_steps(guarded):
    done = guarded("demo")
    assert (done.exit_code, done.stderr) == (0, "")
    same = WITHOUT_GUARDS.splitlines()[2:-13]
    title, *lines = done.stdout.splitlines()
    assert not any("..." in line for line in lines)
    assert re.fullmatch(r"An agent at work, its model played from a script: \d+ hooks of demo, guards\.", title)
    assert lines[: len(same)] == same
    assert [" ".join(line.split()) for line in lines[len(same) :]] == [
        "before_tool_use list .",
        "DENY guards.before_tool_use: Rate limit exceeded: 3/2 tool calls.",
        "after_tool_use list . -> blocked, it did not run",
        "STOP guards.before_step: Step limit reached: 9/9",
        "on_stop Step limit reached: 9/9",
        "",
        "status: stopped",
        "reason: Step limit reached: 9/9",
        "steps: 9",
        "files: done.md greeting.py pyproject.toml tests.py",
        "decisions: 2 context, 2 deny, 2 rewrite, 1 force_continue, 1 stop",
        "",
        "Next: agent-hooks demo --recorded",
    ]


def test_two_runs_of_the_agent_print_the_same(guarded, tmp_path):
    guarded.forks = False  # each has hashes of its own
    first, second = tmp_path / "first", tmp_path / "second"
    for kind in ([], ["--json"]):
        outputs = []
        for folder in (first, second):
            folder.mkdir(exist_ok=True)
            outputs.append(guarded("demo", *kind, env={"TMPDIR": str(folder)}).stdout)
        assert outputs[0] == outputs[1]


def test_json_is_one_object_for_each_line_of_the_timeline_and_one_for_the_end(guarded):
    *rows, end = [json.loads(line) for line in guarded("demo", "--json").stdout.splitlines()]
    assert end == {
        "status": "stopped",
        "reason": "Step limit reached: 9/9",
        "steps": 9,
        "decisions": {"context": 2, "deny": 2, "rewrite": 2, "force_continue": 1, "stop": 1},
        "files": "done.md greeting.py pyproject.toml tests.py",
    }
    denied, limited = [row for row in rows if row["decision"] == "deny"]
    assert (denied["hook"], denied["text"]) == ("demo.stay_inside", "Agents delete nothing outside the project.")
    assert rows[rows.index(denied) - 1]["text"] == "shell rm -rf build ~/.cache/greeting"
    assert limited["hook"] == "guards.before_tool_use"
    assert any(row["text"] == "shell mv -n notes.md done.md -> exit code 0" for row in rows)


def test_a_step_is_shown_while_the_agent_works_and_nothing_is_left_when_it_is_interrupted(command, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    # A process that was started in the background ignores the interruption, unless it says that it does not.
    heeding = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    command.script.write_text(heeding + command.script.read_text())
    process = subprocess.Popen(
        command.arguments("demo", "--json", "--speed", "0.01"),
        env={**command.environment, "TMPDIR": str(temporary)},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["event"] == "user_input"
        assert len([*temporary.iterdir()]) == 2
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=30)
    assert process.returncode == 1
    assert stderr.strip() == b"Aborted!"
    assert [*temporary.iterdir()] == []


@pytest.mark.parametrize(
    ("hook", "status", "reason"),
    [
        ("def user_input(): return HookOutcome.deny('not today')", "refused", "not today"),
        ("def user_input(): return HookOutcome.stop('not today')", "stopped", "not today"),
        ("def before_tool_use(): return HookOutcome.suspend('wait for it')", "suspended", "wait for it"),
        ("def before_tool_use(): return HookOutcome.ask('sure?')", "completed", "The model has finished."),
        ("def after_inference(): return HookOutcome.retry('again')", "stopped", "Retry limit reached: 2/2"),
        (
            "def before_execution(): raise OSError('gone')",
            "stopped",
            "The hook house.before_execution failed: OSError: gone",
        ),
    ],
)
def test_the_end_is_told_whatever_installed_hooks_decide_and_no_file_is_touched(command, hook, status, reason):
    command.install(f"@hookimpl\n{hook}\n")
    done = command("demo", "--json")
    assert done.exit_code == 0, done
    end = last_line(done)
    assert (end["status"], end["reason"], end["files"]) == (status, reason, FIRST_FILES)


def test_a_hook_that_wants_ever_more_rounds_does_not_run_out_of_script(command):
    command.install("@hookimpl\ndef on_stop(): return HookOutcome.force_continue('more')\n")
    end = last_line(command("demo", "--json"))
    assert (end["status"], end["steps"], end["decisions"]["force_continue"]) == ("completed", 13, 5)


def test_a_path_outside_the_workspace_fails_the_run_without_being_read(command):
    command.hook("before_tool_use", 'HookOutcome.with_args({"path": "/etc/hosts"})', 'match="read"')
    done = command("demo")
    assert "\nstatus: failed\nreason: ValueError\n" in done.stdout


def test_a_broken_plugin_is_named_with_the_remedy(command):
    command.install("raise OSError('gone')")
    done = command("demo")
    assert done.exit_code == 0
    assert "\nstatus: refused\n" in done.stdout
    assert "AGENT_HOOKS_DISABLE=house" in done.stdout


def test_installed_hooks_judge_the_agent_and_what_they_print_is_kept_out_of_its_json(command):
    command.install("""
        print("plugins may print")

        @hookimpl(match="read", priority=500)
        async def before_tool_use(ctx):
            print("hooks too")
            return HookOutcome.deny("nothing is read here")
    """)
    done = command("demo", "--json")
    assert done.stderr.splitlines() == ["plugins may print", "hooks too", "hooks too"]
    assert last_line(done)["decisions"]["deny"] == 3


# -- its workspace -----------------------------------------------------------------------------------------------------


@pytest.fixture
def workspace(tmp_path):
    return Workspace(str(tmp_path))


@pytest.mark.parametrize("path", ["..", "../other", "/", "/etc/passwd", "link", "link/passwd", "build/../../x"])
def test_no_tool_reaches_a_file_outside_by_whatever_way(workspace, path):
    os.symlink("/etc", os.path.join(workspace.path, "link"))
    for reach in (
        lambda: workspace.read_file(path),
        lambda: workspace.list_folder(path),
        lambda: workspace.write_file(path, "x"),
    ):
        with pytest.raises(ValueError, match="is outside the workspace"):
            reach()


def test_a_command_is_run_by_no_shell_in_the_workspace_with_almost_no_environment(workspace, monkeypatch):
    monkeypatch.setenv("TOKEN", "secret")
    assert workspace.run_command("echo $HOME *; ls") == "$HOME *; ls\nexit code 0"
    assert workspace.run_command("pwd") == f"{workspace.path}\nexit code 0"
    names = workspace.run_command("python -c 'import os; print(*sorted(os.environ))'").splitlines()[0].split()
    assert {*names} - {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"} == {"PATH", "HOME", "PYTHONDONTWRITEBYTECODE"}
    assert workspace.run_command("python -c 'raise SystemExit(3)'") == "exit code 3"


def test_a_command_that_takes_too_long_is_ended(workspace, monkeypatch):
    monkeypatch.setattr(workspace_module, "SECONDS", 0.2)
    with pytest.raises(subprocess.TimeoutExpired):
        workspace.run_command("python -c 'import time; time.sleep(60)'")


def test_the_tools_work_on_real_files(workspace):
    assert workspace.list_folder() == FIRST_FILES
    assert workspace.list_folder("build") == "old.txt"
    assert workspace.read_file("notes.md") == FILES["notes.md"]
    assert workspace.write_file("new/file.txt", "two words") == "9 characters written"
    assert workspace.read_file("new/file.txt") == "two words"


def test_the_tests_of_the_workspace_fail_until_the_agent_has_mended_it(workspace):
    assert workspace.run_command("python -m unittest tests").endswith("exit code 1")


# -- the recorded session ----------------------------------------------------------------------------------------------


def test_a_recorded_session_shows_every_decision_and_its_last_line_counts_them(command):
    done = command("demo", "--recorded")
    assert (done.exit_code, done.stderr) == (0, "")
    *lines, events, decisions, empty, following = done.stdout.splitlines()
    at = lines.index("PreToolUse        Bash git push --force origin tidy")
    assert lines[at + 1] == "  REWRITE         demo.make_safer: Bash git push --force-with-lease origin tidy"
    assert decisions == "decisions: 1 context, 2 deny, 1 ask, 1 rewrite, 1 force_continue"
    assert (events, empty, following.partition(" check ")[0]) == ("events: 25", "", "Next: agent-hooks")
    *rows, summary = [json.loads(line) for line in command("demo", "--recorded", "--json").stdout.splitlines()]
    counts = {"context": 1, "deny": 2, "ask": 1, "rewrite": 1, "force_continue": 1}
    assert summary == {"events": 25, "decisions": counts}
    (rewritten,) = [row for row in rows if row["decision"] == "rewrite"]
    assert (rewritten["event"], rewritten["agent_event"]) == ("before_tool_use", "PreToolUse")


def test_installed_hooks_take_part_and_keep_what_they_count(command):
    command.install("""
        from agent_hooks.system.store import Store

        print("plugins may print")

        @hookimpl(match="read", priority=500)
        async def before_tool_use(ctx):
            if Store().increment(ctx.session_id, "house", limit=1) > 1:
                return HookOutcome.deny("one file is enough")
    """)
    done = command("demo", "--recorded")
    assert done.exit_code == 0
    assert done.stdout.count("house.before_tool_use: one file is enough") == 3
    assert "9 hooks of demo, house" in done.stdout
    json_lines = command("demo", "--recorded", "--json").stdout.splitlines()
    assert [json.loads(line) for line in json_lines][-1]["decisions"]["deny"] == 4


def test_the_recorded_payloads_have_the_shapes_of_recorded_ones(payload):
    """The keys of each event, and of each tool's result, are those that the client sent."""
    shapes = {}
    for name in ("SessionStart", "UserPromptSubmit", "Stop", "SessionEnd", "PreToolUse", "PostToolUse"):
        shapes[name] = set(payload("claude-code", name))
    for tool in ("Read", "Write", "Edit"):
        shapes[tool] = set(payload("claude-code", f"PostToolUse.{tool}")["tool_response"])
    shapes["Bash"] = set(payload("claude-code", "PostToolUse")["tool_response"])
    for sent in recorded():
        assert set(sent) == shapes[sent["hook_event_name"]]
        if "tool_response" in sent:
            assert set(sent["tool_response"]) == shapes[sent["tool_name"]]
        assert get_host("claude-code").read(sent).cwd == "/home/dev/project"


# -- both --------------------------------------------------------------------------------------------------------------


@KINDS
def test_without_a_terminal_it_is_plain_text_of_width_100_and_it_leaves_nothing_behind(command, tmp_path, kind):
    temporary = tmp_path / "temporary"
    temporary.mkdir()

    def left() -> set[Path]:
        return {path for path in tmp_path.rglob("*") if path.is_file() and "__pycache__" not in path.parts}

    before = left()
    colours = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "FORCE_COLOR": "1"}
    done = command("demo", *kind, env={"TMPDIR": str(temporary), **colours})
    assert (done.exit_code, "\x1b" in done.stdout) == (0, False)
    assert max(len(line) for line in done.stdout.splitlines()) <= 100
    assert (left(), [*temporary.iterdir()]) == (before, [])


@pytest.mark.parametrize("speed", ["-1", "fast"])
def test_a_wrong_speed_is_a_wrong_usage(command, speed):
    assert command("demo", "--speed", speed).exit_code == 2
