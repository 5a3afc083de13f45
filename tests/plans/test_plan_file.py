"""The files of plans: only those that nobody else can have written count, and none is needed."""

from __future__ import annotations

import json
import marshal
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

import agent_hooks_core
from agent_hooks.cli.quick import shape_of
from agent_hooks.system import plan_file

from .conftest import same

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .conftest import World

REFUSES = """
@hookimpl
def user_input(prompt):
    return HookOutcome.deny("the plugin refuses")
"""


@pytest.fixture
def forged(world: World) -> Path:
    """A plan that says that no hook is about prompts, although one refuses them."""
    world.command.install(REFUSES, "other")
    world.event = {"hook_event_name": "UserPromptSubmit", "prompt": "hello"}
    assert "the plugin refuses" in world.ask().said
    (path,) = world.kept
    key, plan = marshal.loads(path.read_bytes())
    shape = shape_of(world.payload(), "UserPromptSubmit")
    path.write_bytes(marshal.dumps((key, {**plan, "quiet": {shape: ("", "", 0)}})))
    assert not world.ask().said  # who can write as the user can do so
    return path


def half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def garbage(path: Path) -> None:
    path.write_bytes(os.urandom(2000))


def emptied(path: Path) -> None:
    path.write_bytes(b"")


def no_pair(path: Path) -> None:
    path.write_bytes(marshal.dumps(5))


def of_another_key(path: Path) -> None:
    key, plan = marshal.loads(path.read_bytes())
    path.write_bytes(marshal.dumps((("another", *key), plan)))


def no_table(path: Path) -> None:
    key, _ = marshal.loads(path.read_bytes())
    path.write_bytes(marshal.dumps((key, [1])))


def without_stamps(path: Path) -> None:
    key, plan = marshal.loads(path.read_bytes())
    del plan["seen"]
    path.write_bytes(marshal.dumps((key, plan)))


def readable_for_others(path: Path) -> None:
    path.chmod(0o644)


def writable_for_others(path: Path) -> None:
    path.chmod(0o602)


def executable(path: Path) -> None:
    path.chmod(0o700)


def in_a_folder_that_others_can_write(path: Path) -> None:
    path.parent.chmod(0o777)


def in_a_folder_that_others_can_list(path: Path) -> None:
    path.parent.chmod(0o755)


def behind_a_link(path: Path) -> None:
    path.symlink_to(path.rename(path.parent.parent / "elsewhere"))


def in_a_folder_behind_a_link(path: Path) -> None:
    path.parent.symlink_to(path.parent.rename(path.parent.with_name("elsewhere")))


def a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir(0o700)


def of_another_user(path: Path) -> None:
    os.chown(path, 12345, -1)


def in_a_folder_of_another_user(path: Path) -> None:
    os.chown(path.parent, 12345, -1)


TAMPERED: list[Callable[[Path], None]] = [
    half,
    garbage,
    emptied,
    no_pair,
    of_another_key,
    no_table,
    without_stamps,
    readable_for_others,
    writable_for_others,
    executable,
    in_a_folder_that_others_can_write,
    in_a_folder_that_others_can_list,
    behind_a_link,
    in_a_folder_behind_a_link,
    a_pipe,
    a_folder,
    of_another_user,
    in_a_folder_of_another_user,
]


@pytest.mark.parametrize("tamper", TAMPERED)
def test_a_plan_does_not_count_that_is(tamper: Callable[[Path], None], forged: Path, world: World):
    if tamper in (of_another_user, in_a_folder_of_another_user) and os.geteuid() != 0:
        pytest.skip("only root can give files away")
    tamper(forged)
    assert "the plugin refuses" in world.ask().said


def test_code_in_a_plan_does_not_run(forged: Path, world: World):
    canary = world.folder / "canary"
    code = compile(f"open({str(canary)!r}, 'w')", "x", "exec")
    key, plan = marshal.loads(forged.read_bytes())
    for part in ("rows", "quiet", "tables", "policies", "protection", "projects"):
        forged.write_bytes(marshal.dumps((key, {**plan, "quiet": {}, part: code})))
        assert world.ask().exit_code == 2
    assert not canary.exists()


def test_plans_are_for_the_user_alone(world: World):
    world.ask()
    (path,) = world.kept
    assert path.stat().st_mode == 0o100600
    assert path.parent.stat().st_mode == 0o040700


def test_a_plan_has_no_text_of_the_event(world: World):
    world.event["tool_input"] = {"command": "echo SECRETWORD"}
    world.ask(transcript_path="/SECRETPATH")
    world.ask()
    (path,) = world.kept
    assert b"SECRET" not in path.read_bytes()


# -- where no plan can be kept -----------------------------------------------------------------------------------------


def test_a_decision_needs_no_cache(world: World):
    (world.home / ".cache").write_text("no folder")
    world.event["tool_input"] = {"command": "forbidden"}
    for _ in range(2):
        assert "the house says no" in world.ask().reason
    assert not world.kept


def test_a_decision_needs_no_home(world: World):
    world.home.rmdir()
    world.home.write_text("no folder")
    world.event["tool_input"] = {"command": "forbidden"}
    for _ in range(2):
        assert "the house says no" in world.ask().reason


def test_a_decision_needs_no_account(world: World):
    script = world.command.script
    text = script.read_text()
    start = text.index("pwd.getpwuid = ")
    line = text[start : text.index("\n", start)]
    script.write_text(text.replace(line, "def unknown(uid): raise KeyError(uid)\npwd.getpwuid = unknown"))
    world.event["tool_input"] = {"command": "forbidden"}
    for _ in range(2):
        answer = world.ask()
        assert "the house says no" in answer.reason
        assert same(answer, world.ask_without())
    assert not world.kept


def test_nothing_is_kept_with_no_plan(world: World):
    world.ask_without()
    assert not world.kept


def test_processes_that_write_at_once_leave_one_whole_plan(world: World):
    data = json.dumps(world.payload()).encode()
    processes = [
        subprocess.Popen(
            world.command.arguments("run", "--agent", "codex"),
            env=world.environment,
            cwd=world.folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for _ in range(4)
    ]
    for process in processes:
        assert process.stdin
        process.stdin.write(data)
        process.stdin.close()
        process.stdin = None
    for process in processes:
        assert process.communicate(timeout=60) == (b"", b"")
        assert process.returncode == 0
    (path,) = world.kept
    assert marshal.loads(path.read_bytes())
    world.ask()
    assert world.is_planned()


def test_old_plans_go(world: World):
    world.ask()
    (path,) = world.kept
    for number in range(100):
        old = path.with_name(f"{number:032x}")
        old.write_bytes(path.read_bytes())
        os.utime(old, (number, number))
    world.cwd = world.repo / "src"
    world.cwd.mkdir()
    world.ask()
    assert len(world.kept) == plan_file._KEPT
    assert path in world.kept


# -- the other ways in -------------------------------------------------------------------------------------------------


def launch(world: World, *arguments: str, **fields: Any) -> subprocess.CompletedProcess[bytes]:
    """Run the file itself, in a Python without its site: the account is the real one, whose plans are not touched."""
    words = [sys.executable, "-I", "-S", agent_hooks_core.__file__, "run", "--agent", "codex", *arguments]
    data = json.dumps(world.payload(**fields)).encode()
    return subprocess.run(
        words, env=world.environment, cwd=world.folder, input=data, capture_output=True, timeout=60, check=False
    )


@pytest.mark.parametrize("event", ["PreToolUse", "UserPromptSubmit", "SessionStart", "Stop"])
def test_the_file_itself_answers_like_the_script_in_a_python_without_its_site(world: World, event: str):
    fields = {"UserPromptSubmit": {"prompt": "hello"}, "SessionStart": {"source": "startup"}}.get(event, {})
    if event != "PreToolUse":
        world.event = {"hook_event_name": event, **fields}
    launched, answer = launch(world, "--no-plan"), world.ask_without()
    assert (launched.returncode, launched.stdout.decode()) == (answer.exit_code, answer.stdout)


@pytest.mark.parametrize(
    "part", ["folders", "path", "policies", "prefixes", "projects", "protection", "rows", "tables"]
)
def test_a_plan_with_a_part_missing_or_odd_is_not_used_and_made_anew(part: str, world: World):
    said = world.ask(tool_input={"command": "forbidden"})
    for damage in ({}, {part: 5}):
        (path,) = world.kept
        key, plan = marshal.loads(path.read_bytes())
        del plan[part]
        path.write_bytes(marshal.dumps((key, {**plan, **damage})))
        assert same(world.ask(tool_input={"command": "forbidden"}), said)
    assert same(world.ask(tool_input={"command": "forbidden"}), said)
    assert world.is_planned()


def test_a_plan_without_the_gate_that_protects_it_is_not_used(world: World):
    said = world.ask(tool_input={"command": "forbidden"})
    (path,) = world.kept
    key, plan = marshal.loads(path.read_bytes())
    path.write_bytes(marshal.dumps((key, {**plan, "rows": []})))
    assert same(world.ask(tool_input={"command": "forbidden"}), said)
