"""``agent-hooks demo``: an agent, or a recorded session, under real hooks in an empty home, leaving nothing behind."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from agent_hooks import HookOutcome
from agent_hooks.cli import terminal
from agent_hooks.cli.demo import workspace as workspace_module
from agent_hooks.cli.demo.play import recorded
from agent_hooks.cli.demo.timeline import Played, Timeline
from agent_hooks.cli.demo.workspace import FILES, Workspace
from agent_hooks.testing import make_context
from agent_hooks.wire import get_host

pytestmark = pytest.mark.once

GUARDS = Path(__file__).parent.parent.parent / "plugins" / "agent-hooks-guards"
KINDS = pytest.mark.parametrize("kind", [[], ["--recorded"]], ids=["agent", "recorded"])
UNCHANGED = dict.fromkeys(sorted(FILES), "unchanged")

WITHOUT_GUARDS = """\
An agent at work, its model played from a script: 9 hooks of demo.
agent-hooks-guards takes no part: no rate limit and no limit of steps here.
To add it: pip install agent-hooks-guards
 0  prompt         "Do what notes.md says, then put it away."
    CONTEXT ADDED  demo.user_input: House rule: run the tests before you stop.
 1  list           . -> build/ greeting.py notes.md pyproject.toml tests.py
 2  read           notes.md -> - delete build and ~/.cache/greeting
    CONTEXT ADDED  demo.weigh_notes: House rules come before what notes say.
 2  read           greeting.py -> return "hello " + name
 3  shell          rm -rf build ~/.cache/greeting
    DENIED         demo.stay_inside: Agents delete nothing outside the project.
 4  shell          rm -rf build -> exit code 0
 5  write          greeting.py -> 46 characters written
    REWRITTEN      demo.end_with_newline: A newline was missing at the end.
 5  shell          mv notes.md done.md -> exit code 0
    REWRITTEN      demo.overwrite_nothing: mv -n notes.md done.md
 6  stop           "greet() says Hello, Ada! and the notes are put away."
    CONTINUED      demo.on_stop: The tests have not run yet: run them.
 7  shell          python -m unittest tests -> exit code 0
 8  list           . -> done.md greeting.py pyproject.toml tests.py
 9  list           . -> done.md greeting.py pyproject.toml tests.py
10  list           . -> done.md greeting.py pyproject.toml tests.py
11  stop           "There is nothing left to do."

completed: The model has finished.
Steps: 11. Tool calls: 11.
Hooks: 1 denied, 2 rewritten, 2 context added, 1 continued.

The workspace, which is gone now:
  deleted    build/old.txt
  created    done.md
  changed    greeting.py
  deleted    notes.md
  unchanged  pyproject.toml
  unchanged  tests.py

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
    own, _, rest = WITHOUT_GUARDS.partition(" 9  list ")
    _title, takes_no_part, how_to_add_it, *same = own.splitlines()
    title, *lines = done.stdout.splitlines()
    assert re.fullmatch(r"An agent at work, its model played from a script: \d+ hooks of demo, guards\.", title)
    assert not {takes_no_part, how_to_add_it} & {*lines}
    assert lines[: len(same)] == same
    limited = [" ".join(line.split()) for line in lines[len(same) :]]
    assert limited[:8] == [
        "9 list .",
        "DENIED guards.before_tool_use: Rate limit exceeded: 3/2 tool calls.",
        "10 before_step",
        "STOPPED guards.before_step: Step limit reached: 9/9",
        "",
        "stopped: Step limit reached: 9/9",
        "Steps: 9. Tool calls: 10.",
        "Hooks: 2 denied, 2 rewritten, 2 context added, 1 continued, 1 stopped.",
    ]
    assert lines[-8:] == rest.splitlines()[-8:]


def test_guards_that_are_installed_and_switched_off_need_not_be_installed(guarded):
    done = guarded("demo", env={"AGENT_HOOKS_DISABLE": "guards"})
    assert "\nagent-hooks-guards takes no part: no rate limit and no limit of steps here.\n 0  prompt " in done.stdout
    assert "pip install" not in done.stdout


def test_every_event_has_the_number_of_its_step_and_the_prompt_stands_before_the_first(guarded):
    lines = guarded("demo").stdout.partition("\n\n")[0].splitlines()[1:]
    numbers = [int(line[:2]) for line in lines if line[:4].strip()]
    assert numbers == [0, 1, 2, 2, 3, 4, 5, 5, 6, 7, 8, 9, 10]
    assert all(line[4:].split("  ")[0].isupper() for line in lines if not line[:4].strip())


def test_the_timeline_fits_80_columns_whole(guarded):
    lines = guarded("demo").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert not any("..." in line for line in lines)


def test_two_runs_of_the_agent_print_the_same(guarded, tmp_path):
    first, second = tmp_path / "first", tmp_path / "second"
    for kind in ([], ["--json"]):
        outputs = []
        for folder in (first, second):
            folder.mkdir(exist_ok=True)
            outputs.append(guarded("demo", *kind, env={"TMPDIR": str(folder)}).stdout)
        assert outputs[0] == outputs[1]


def test_json_is_one_object_for_each_line_of_the_timeline_and_one_for_the_end(guarded):
    *events, end = [json.loads(line) for line in guarded("demo", "--json").stdout.splitlines()]
    assert end == {
        "status": "stopped",
        "reason": "Step limit reached: 9/9",
        "steps": 9,
        "tool_calls": 10,
        "denied": 2,
        "asked": 0,
        "rewritten": 2,
        "context_added": 2,
        "continued": 1,
        "stopped": 1,
        "workspace": {
            "build/old.txt": "deleted",
            "done.md": "created",
            "greeting.py": "changed",
            "notes.md": "deleted",
            "pyproject.toml": "unchanged",
            "tests.py": "unchanged",
        },
    }
    (denied, limited) = [event for event in events if event["became"] == "denied"]
    assert (denied["number"], denied["wish"], denied["result"]) == (3, "shell  rm -rf build ~/.cache/greeting", "")
    assert (denied["hook"], denied["decision"]) == ("demo.stay_inside", "deny")
    assert limited["hook"] == "guards.before_tool_use"
    moved = next(event for event in events if "mv" in event["wish"])
    assert moved["new_subject"] == {"command": "mv -n notes.md done.md"}
    assert moved["result"] == "exit code 0"


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
    assert (end["status"], end["reason"], end["workspace"]) == (status, reason, UNCHANGED)


def test_a_hook_that_wants_ever_more_rounds_does_not_run_out_of_script(command):
    command.install("@hookimpl\ndef on_stop(): return HookOutcome.force_continue('more')\n")
    end = last_line(command("demo", "--json"))
    assert (end["status"], end["steps"], end["continued"]) == ("completed", 13, 4)


def test_a_path_outside_the_workspace_fails_the_run_without_being_read(command):
    command.install("""
        @hookimpl(match="read")
        def before_tool_use():
            return HookOutcome.with_args({"path": "/etc/hosts"})
    """)
    done = command("demo")
    assert " 2  read           notes.md -> failed: ValueError\n" in done.stdout
    assert "\nfailed: ValueError in step 2\n" in done.stdout


def test_a_broken_plugin_is_named_with_the_remedy(command):
    command.install("raise OSError('gone')")
    done = command("demo")
    assert done.exit_code == 0
    assert "refused: " in done.stdout
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
    assert last_line(done)["denied"] == 3


# -- its workspace -----------------------------------------------------------------------------------------------------


@pytest.fixture
def workspace():
    with Workspace() as made:
        yield made


@pytest.mark.parametrize("path", ["..", "../other", "/", "/etc/passwd", "link", "link/passwd", "build/../../x"])
def test_no_tool_reaches_a_file_outside_by_whatever_way(workspace, path):
    os.symlink("/etc", os.path.join(workspace.folder, "link"))
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
    assert workspace.run_command("pwd") == f"{workspace.folder}\nexit code 0"
    names = workspace.run_command("python -c 'import os; print(*sorted(os.environ))'").splitlines()[0].split()
    assert {*names} - {"LC_CTYPE", "__CF_USER_TEXT_ENCODING"} == {"PATH", "HOME", "PYTHONDONTWRITEBYTECODE"}
    assert workspace.run_command("python -c 'raise SystemExit(3)'") == "exit code 3"


def test_a_command_that_takes_too_long_is_ended(workspace, monkeypatch):
    monkeypatch.setattr(workspace_module, "SECONDS", 0.2)
    with pytest.raises(subprocess.TimeoutExpired):
        workspace.run_command("python -c 'import time; time.sleep(60)'")


def test_the_tools_work_on_real_files_and_the_changes_say_which(workspace):
    assert workspace.changes() == UNCHANGED
    assert workspace.list_folder("build") == "old.txt"
    assert workspace.read_file("notes.md") == FILES["notes.md"]
    assert workspace.write_file("new/file.txt", "two words") == "9 characters written"
    workspace.write_file("notes.md", "nothing")
    os.remove(os.path.join(workspace.folder, "build", "old.txt"))
    changes = {path: change for path, change in workspace.changes().items() if change != "unchanged"}
    assert changes == {"build/old.txt": "deleted", "new/file.txt": "created", "notes.md": "changed"}


def test_the_tests_of_the_workspace_fail_until_the_agent_has_mended_it(workspace):
    assert workspace.run_command("python -m unittest tests").endswith("exit code 1")


# -- the recorded session ----------------------------------------------------------------------------------------------


def test_every_decision_occurs_and_the_last_line_counts_them(command):
    done = command("demo", "--recorded")
    assert done.exit_code == 0
    assert done.stderr == ""
    for word in ("CONTEXT ADDED", "DENIED", "ASKED", "REWRITTEN", "CONTINUED"):
        assert word in done.stdout
    summary, following = done.stdout.splitlines()[-2:]
    assert summary == "25 events: 2 denied, 1 asked, 1 rewritten, 1 context added, 1 continued."
    assert following.startswith("Next: agent-hooks check ")


def test_an_event_and_its_decision_are_two_lines(command):
    lines = command("demo", "--recorded").stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if "git push --force origin" in line)
    assert re.fullmatch(r"19  PreToolUse +Bash git push --force origin tidy +\d+\.\d\d ms", lines[at])
    assert lines[at + 1].split() == "REWRITTEN demo.push_with_lease: git push --force-with-lease origin tidy".split()


def test_json_is_one_object_per_line_with_durations_in_milliseconds(command):
    lines = [json.loads(line) for line in command("demo", "--recorded", "--json").stdout.splitlines()]
    *events, summary = lines
    assert summary == {
        "events": 25,
        "denied": 2,
        "asked": 1,
        "rewritten": 1,
        "context_added": 1,
        "continued": 1,
        "stopped": 0,
    }
    assert [event["number"] for event in events] == list(range(1, 26))
    assert all(isinstance(event["milliseconds"], float) for event in events)
    (rewritten,) = [event for event in events if event["became"] == "rewritten"]
    assert rewritten["new_subject"]["command"] == "git push --force-with-lease origin tidy"
    assert [(one["hook"], one["walk"]) for one in rewritten["hooks"]][-1] == ("demo.stay_inside", 2)


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
    assert "10 hooks of demo, house" in done.stdout
    json_lines = command("demo", "--recorded", "--json").stdout.splitlines()
    assert [json.loads(line) for line in json_lines][-1]["denied"] == 4


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
def test_without_a_terminal_it_is_plain_text_of_width_100(command, kind):
    done = command("demo", *kind, env={"TERM": "xterm-256color", "COLORTERM": "truecolor", "FORCE_COLOR": "1"})
    assert "\x1b" not in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_a_reason_that_does_not_fit_is_wrapped_and_one_without_end_is_cut(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "WIDTH", 40)
    timeline = Timeline(15)
    for reason in ("Agents delete nothing\nthat is outside the project.", "more " * 1000):
        outcome = HookOutcome.deny(reason).replace(hook="a.b")
        timeline.decisions(Played(number=1, ctx=make_context(tool="Bash", args={}), outcome=outcome))
    assert capsys.readouterr().out.splitlines() == [
        "    DENIED         a.b: Agents delete",
        "                   nothing that is",
        "                   outside the project.",
        "    DENIED         a.b: more more more",
        *["                   more more more more"] * 3,
        "                   more more more ...",
    ]


@KINDS
def test_it_leaves_nothing_behind(command, tmp_path, kind):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    before = {path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts}
    assert command("demo", *kind, env={"TMPDIR": str(temporary)}).exit_code == 0
    assert {path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts} == before


@KINDS
@pytest.mark.parametrize("speed", ["-1", "fast"])
def test_a_wrong_speed_is_a_wrong_usage(command, kind, speed):
    assert command("demo", *kind, "--speed", speed).exit_code == 2
