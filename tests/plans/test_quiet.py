"""Events that no hook is about are answered from the plan alone, and only these."""

from __future__ import annotations

import json
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from projects import Project, denying, toml

from .changes import saying
from .conftest import same

if TYPE_CHECKING:
    from pathlib import Path

    from .conftest import World

# The events about a tool call after it was allowed, with what they bring.
OF_CALLS = {
    "PostToolUse": ("after_tool_use", {"tool_response": "text", "tool_use_id": "1"}),
    "PermissionRequest": ("permission_request", {}),
}
PROMPT = toml(denying("the project refuses"), "user_input")


@pytest.fixture
def quiet(world: World) -> World:
    """A world whose plan says that no hook is about prompts."""
    world.event = {"hook_event_name": "UserPromptSubmit", "prompt": "hello"}
    world.ask()
    world.ask()
    return world


def is_quiet(world: World) -> bool:
    """Whether the last event was answered by one process, without the engine."""
    processes = world.command.processes()
    return len(processes) == 1 and not any(name.startswith("agent_hooks.engine") for name in processes[0])


def test_a_quiet_event_takes_one_process_and_no_engine(quiet: World):
    answer = quiet.ask()
    assert is_quiet(quiet)
    assert (answer.exit_code, answer.said) == (0, "")


def test_the_values_of_a_quiet_event_do_not_matter(quiet: World):
    assert not quiet.ask(prompt="something else entirely", model="another").said
    assert is_quiet(quiet)


@pytest.mark.parametrize(
    "fields", [{"new": 1}, {"prompt": 5}, {"prompt": None}, {"prompt": ["x"]}, {"model": []}, {"agent_id": "a"}]
)
def test_a_payload_of_another_shape_is_read_as_without_a_plan(quiet: World, fields: dict[str, Any]):
    answer = quiet.ask(**fields)
    assert same(answer, quiet.ask_without(**fields))


OPTIONS = {
    "another event": ("--event", "PreToolUse"),
    "an unknown option": ("--fast",),
    "an unknown agent": ("--agent", "nobody"),
    "no value": ("--event",),
    "no time": ("--timeout", "0"),
    "no number": ("--timeout", "soon"),
    "an endless time": ("--timeout", "inf"),
    "an unknown answer to questions": ("--on-ask", "perhaps"),
    "a relative folder of settings": ("--config-dir", "settings"),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_wrong_command_line_is_refused_as_without_a_plan(quiet: World, name: str):
    answer = quiet.ask(*OPTIONS[name])
    assert answer.said
    assert same(answer, quiet.ask("--no-plan", *OPTIONS[name]))


def test_right_options_are_answered_from_the_plan(quiet: World):
    for _ in range(3):
        assert not quiet.ask("--event=UserPromptSubmit", "--timeout", "20").said
    assert is_quiet(quiet)


STDIN = {
    "nothing": b"",
    "no JSON": b"{",
    "a list": b"[]",
    "text behind it": b'{"hook_event_name": "UserPromptSubmit"} x',
    "no event": b"{}",
    "an event that is no text": b'{"hook_event_name": ["UserPromptSubmit"], "cwd": "/"}',
    "no working directory": b'{"hook_event_name": "UserPromptSubmit", "prompt": "hello"}',
    "a working directory that is no text": b'{"hook_event_name": "UserPromptSubmit", "prompt": "hello", "cwd": 5}',
    "no Unicode": b'{"hook_event_name": "UserPromptSubmit", "prompt": "\xff", "cwd": "/"}',
    "a number beyond all": b'{"hook_event_name": "UserPromptSubmit", "prompt": NaN, "cwd": "/"}',
    "a null character": b'{"hook_event_name": "UserPromptSubmit", "prompt": "x", "cwd": "/\\u0000"}',
    "half a character": b'{"hook_event_name": "UserPromptSubmit", "prompt": "x", "cwd": "/\\ud800"}',
}


@pytest.mark.parametrize("name", STDIN)
def test_a_wrong_payload_is_answered_as_without_a_plan(quiet: World, name: str):
    run = ("run", "--agent", "codex")
    for _ in range(2):
        answer = quiet.command(*run, stdin=STDIN[name])
        assert same(answer, quiet.command(*run, "--no-plan", stdin=STDIN[name]))


def test_a_key_that_is_there_twice_is_refused_as_without_a_plan(quiet: World):
    text = json.dumps(quiet.payload())
    twice = f'{{"prompt": "rm", {text[1:]}'
    answer = quiet.command("run", "--agent", "codex", stdin=twice)
    assert same(answer, quiet.command("run", "--agent", "codex", "--no-plan", stdin=twice))
    assert answer.exit_code == 2


@pytest.mark.parametrize("pause", [0.0, 0.3])
def test_a_payload_that_comes_in_pieces_is_answered(quiet: World, pause: float):
    """After the pause, the process has given up waiting for a quick answer."""
    quiet.command.processes()
    data = json.dumps(quiet.payload()).encode()
    process = subprocess.Popen(
        quiet.command.arguments("run", "--agent", "codex"),
        env=quiet.environment,
        cwd=quiet.repo,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    for part in (data[:40], data[40:]):
        process.stdin.write(part)
        process.stdin.flush()
        time.sleep(pause)
    stdout, stderr = process.communicate(timeout=60)
    assert (process.returncode, stdout, stderr) == (0, b"", b"")


# -- where the answer would not be the same ----------------------------------------------------------------------------


@pytest.mark.parametrize("cwd", ["", ".", "repo"])
def test_a_relative_working_directory_is_that_of_the_process(world: World, cwd: str):
    """The payload is the same in every folder, and what it means is not."""
    world.event = {"hook_event_name": "UserPromptSubmit", "prompt": "hello"}
    other = world.command.trust(Project(world.folder, "other").write({"agent-hooks.toml": PROMPT}))
    for folder in (world.repo, world.repo, other.root):
        payload = json.dumps(world.payload(cwd=cwd))
        answer = world.command("run", "--agent", "codex", stdin=payload, cwd=folder)
        without = world.command("run", "--agent", "codex", "--no-plan", stdin=payload, cwd=folder)
        assert same(answer, without), f"{answer}\nnot {without}"
    assert "the project refuses" in answer.said


def of_call(event: str, path: Path) -> dict[str, Any]:
    call = {"tool_name": "Bash", "tool_input": {"command": f"cat {path}"}}
    return {"hook_event_name": event, **call, **OF_CALLS[event][1]}


@pytest.mark.parametrize("event", OF_CALLS)
def test_a_call_in_another_trusted_project_meets_its_hooks(world: World, event: str):
    files = {"agent-hooks.toml": toml(denying("the project objects"), OF_CALLS[event][0]), "a": ""}
    other = world.command.trust(Project(world.folder, "other").write(files))
    world.event = of_call(event, world.repo / "a")
    for _ in range(3):
        assert not world.ask().said
    world.event = of_call(event, other.root / "a")
    assert "the project objects" in world.ask().said


@pytest.mark.parametrize("event", OF_CALLS)
def test_a_call_in_a_folder_with_hooks_meets_them(world: World, event: str):
    files = {"src/agent-hooks.toml": toml(denying("the folder objects"), OF_CALLS[event][0]), "src/a": ""}
    world.event = of_call(event, world.repo / "a")
    for _ in range(3):
        assert not world.ask().said
    world.command.trust(world.project.write(files))
    for _ in range(2):
        assert same(world.ask(), world.ask_without())
    world.event = of_call(event, world.repo / "src" / "a")
    assert "the folder objects" in world.ask().said


def test_a_plugin_edited_while_its_hook_runs_is_not_planned_as_it_was(world: World):
    """A process that is at work for long has imported what is there no longer."""
    edits = f"""
    @hookimpl
    def user_input(prompt):
        with open(__file__, "a") as file:
            file.write({saying("it says no")!r})
    """
    world.command.install(edits, "other")
    world.event = {"hook_event_name": "UserPromptSubmit", "prompt": "hello"}
    assert not world.ask().said
    tool = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "1"}
    world.event = tool
    assert "it says no" in world.ask().said


def test_what_a_hook_does_to_its_process_is_not_planned(world: World):
    changing = """
    import os

    @hookimpl
    def before_tool_use(tool_call):
        os.environ["HOME"] = os.environ["XDG_CONFIG_HOME"] = "/nowhere"
        os.environ["AGENT_HOOKS_DISABLE"] = "house"
    """
    world.command.install(changing, "other")
    for _ in range(3):
        assert not world.ask().said
    assert world.is_planned()
    refused = world.ask(tool_input={"command": "forbidden"})
    assert "the house says no" in refused.said
    assert same(refused, world.ask_without(tool_input={"command": "forbidden"}))


def test_a_hook_that_comes_is_asked_about_a_quiet_event(quiet: World):
    source = '@hookimpl\ndef user_input(prompt):\n    return HookOutcome.deny("the other refuses")\n'
    quiet.command.install(source, "other")
    assert "the other refuses" in quiet.ask().said


def test_observers_of_a_kind_of_event_make_it_no_quiet_one(world: World):
    log = world.folder / "log"
    world.command.install(f"@hookimpl\ndef session_end(ctx):\n    open({str(log)!r}, 'a').write('x')\n", "other")
    world.event = {"hook_event_name": "SessionEnd", "reason": "clear"}
    world.agent = "claude-code"
    for _ in range(3):
        world.ask()
    assert log.read_text() == "xxx"
