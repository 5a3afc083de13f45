"""``agent-hooks demo``: a recorded session through real hooks, in an empty home, leaving nothing behind."""

from __future__ import annotations

import json
import re

import pytest

from agent_hooks.cli.demo.play import recorded
from agent_hooks.wire import get_host


def test_every_decision_occurs_and_the_last_line_counts_them(command):
    done = command("demo")
    assert done.exit_code == 0
    assert done.stderr == ""
    for word in ("CONTEXT ADDED", "DENIED", "ASKED", "REWRITTEN", "CONTINUED"):
        assert word in done.stdout
    summary, following = done.stdout.splitlines()[-2:]
    assert summary == "25 events: 2 denied, 1 asked, 1 rewritten, 1 context added, 1 continued."
    assert following.startswith("Next: agent-hooks check ")


def test_an_event_and_its_decision_are_two_lines(command):
    lines = command("demo").stdout.splitlines()
    at = next(number for number, line in enumerate(lines) if "git push --force origin" in line)
    assert re.fullmatch(r"19  PreToolUse +Bash git push --force origin tidy +\d+\.\d\d ms", lines[at])
    assert lines[at + 1].split() == "REWRITTEN demo.push_with_lease: git push --force-with-lease origin tidy".split()


def test_without_a_terminal_it_is_plain_text_of_width_100(command):
    done = command("demo", env={"TERM": "xterm-256color", "COLORTERM": "truecolor", "FORCE_COLOR": "1"})
    assert "\x1b" not in done.stdout
    assert max(len(line) for line in done.stdout.splitlines()) <= 100


def test_json_is_one_object_per_line_with_durations_in_milliseconds(command):
    lines = [json.loads(line) for line in command("demo", "--json").stdout.splitlines()]
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
    assert [(one["hook"], one["walk"]) for one in rewritten["hooks"]][-1] == ("demo.keep_the_home_folder", 2)


def test_it_leaves_nothing_behind(command, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    before = {path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts}
    assert command("demo", env={"TMPDIR": str(temporary)}).exit_code == 0
    assert {path for path in tmp_path.rglob("*") if "__pycache__" not in path.parts} == before


def test_installed_hooks_take_part_and_keep_what_they_count(command):
    command.install("""
        from agent_hooks.store import Store

        print("plugins may print")

        @hookimpl(match="read", priority=500)
        async def before_tool_use(ctx):
            if Store().increment(ctx.session_id, "house", limit=1) > 1:
                return HookOutcome.deny("one file is enough")
    """)
    done = command("demo")
    assert done.exit_code == 0
    assert done.stdout.count("house.before_tool_use: one file is enough") == 3
    assert "7 hooks of demo, house" in done.stdout
    json_lines = command("demo", "--json").stdout.splitlines()
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


@pytest.mark.parametrize("speed", ["-1", "fast"])
def test_a_wrong_speed_is_a_wrong_usage(command, speed):
    assert command("demo", "--speed", speed).exit_code == 2
