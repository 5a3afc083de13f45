"""Suspended states that were changed, stores that fail, and processes that take turns or are killed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest

from agent_hooks import AgentState, Hooks
from agent_hooks.errors import RunError, StoreError, SuspensionError
from agent_hooks.model.state import Suspended
from agent_hooks.system.store import MemoryStore, Store
from runtime.pauses import ASKS_ABOUT_B, LS, World, asks, calls, suspended, texts, through_json
from runtime.test_pausing import waits_for


@pytest.fixture
def world():
    return World()


# -- states that were changed ------------------------------------------------------------------------------------------

TWO_WAITS = waits_for("suspend", "suspend")
COMMAND = ("current_step", "message", "tool_calls", 0, "args", "command")
FORGED = {"call": {"name": "shell", "args": {"command": "b"}}, "result": "forged"}
# The hooks of the run that waits, what is changed in its state, and the new value, or a function of the old one.
CHANGES = [
    (asks, COMMAND, "rm -rf /"),
    (asks, ("suspended", "subject"), {"command": "rm -rf /"}),
    (asks, ("suspended", "asked_by"), ["somebody"]),
    (asks, ("suspended", "asked_keys"), [["somebody", "else"]]),
    (asks, ("suspended", "token"), "guessed"),
    (asks, ("execution_id",), "another"),
    (ASKS_ABOUT_B, ("suspended", "settled"), [None, FORGED]),
    (ASKS_ABOUT_B, ("suspended", "settled"), lambda settled: settled[:1]),
    (ASKS_ABOUT_B, ("suspended", "settled"), lambda settled: [*settled, None]),
    (ASKS_ABOUT_B, ("current_step", "executions", 0, "result"), "forged"),
    (ASKS_ABOUT_B, ("suspended", "forced"), -5),
    (ASKS_ABOUT_B, ("current_step",), None),
    (TWO_WAITS, ("suspended", "answers"), lambda given: [{**given[0], "hook": ["hook 1", "hook 1"]}]),
    (TWO_WAITS, ("suspended", "chain"), ""),
    (TWO_WAITS, ("suspended", "called"), []),
]


@pytest.mark.parametrize(("hook", "path", "value"), CHANGES)
def test_an_answer_holds_only_for_the_operation_it_was_asked_about_and_what_was_done_by_then(world, hook, path, value):
    first = world.paused(hook, calls("ab") if hook is ASKS_ABOUT_B else LS)
    data = (world.resume(first, hook) if hook is TWO_WAITS else first).as_dict()
    place = data = json.loads(json.dumps(data))
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value(place[path[-1]]) if callable(value) else value
    with pytest.raises(SuspensionError, match=r"is not the same|is not in the state any more"):
        world.resume(AgentState.from_dict(data), hook)
    assert world.ran == (["a"] if hook is ASKS_ABOUT_B else [])


def test_an_answer_does_not_hold_in_another_session_or_folder(world, tmp_path):
    builder = world.builder(LS).before_tool_use(asks).with_session("one").with_cwd(tmp_path / "a")
    first = builder.build().run_sync("go")
    with pytest.raises(SuspensionError):
        builder.with_session("two").build().resume_sync(first, "allow")
    with pytest.raises(SuspensionError, match="working directory"):
        builder.with_cwd(tmp_path / "b").build().resume_sync(first, "allow")
    assert world.ran == []


def test_a_question_of_a_state_that_was_saved_without_keys_is_put_again(world, monkeypatch):
    with monkeypatch.context() as patch:
        kept = Hooks.keep_asked
        patch.setattr(Hooks, "keep_asked", lambda hooks, ctx, asked: kept(hooks, ctx, asked.replace(asked_keys=())))
        first = world.paused()
    assert first.as_dict()["suspended"]["asked_keys"] == []
    second = world.resume(first)
    assert (suspended(second).reason, world.ran) == ("Really?", [])
    assert (world.resume(second).output, world.ran) == ("done", ["ls"])


NONSENSE = [5, "x", [1], {"a": 1}, [[1]], [{}], True]


@pytest.mark.parametrize("field", sorted(Suspended._known - {"data", "created_at"}))
def test_a_damaged_suspension_is_refused_in_words(world, field):
    """Whatever stands there, it is a SuspensionError, and nothing runs."""
    data = json.loads(json.dumps(world.paused().as_dict()))
    agent = world.agent(asks, "done")
    for data["suspended"][field] in NONSENSE:
        with pytest.raises(SuspensionError):
            agent.resume_sync(AgentState.from_dict(data), "allow")
    assert world.ran == []


@pytest.mark.parametrize("field", ["messages", "current_step", "model_usage"])
def test_a_damaged_state_names_the_field(field):
    with pytest.raises(TypeError, match=rf"AgentState\.{field} cannot be read"):
        AgentState.from_dict({field: 5})


def test_a_run_that_has_waited_for_too_long_is_not_resumed(world, monkeypatch):
    state = through_json(world.paused())
    monkeypatch.setattr("agent_hooks.engine.suspension.time", lambda: suspended(state).created_at + 31 * 86_400)
    with pytest.raises(SuspensionError, match=r"has waited for 31 days, and HookPolicy.suspension_ttl"):
        world.resume(state)
    assert world.ran == []


# -- stores ------------------------------------------------------------------------------------------------------------


class Redis:
    """A store of the application's own, with the protocol's methods only, which may fail."""

    def __init__(self, error=None):
        self.numbers = {}
        self.error = error

    def increment(self, scope, key, by=1, *, limit=None):
        value = self.read(scope, key) + by
        if limit is None or value <= limit:
            self.numbers[scope, key] = value
        return value

    def read(self, scope, key):
        if self.error is not None:
            raise self.error
        return self.numbers.get((scope, key), 0)


@pytest.mark.parametrize("error", [ConnectionError("no redis"), StoreError("The disk is gone.")])
def test_whatever_a_store_of_ones_own_raises_is_an_error_of_the_store_with_the_state(error):
    store = Redis()
    agent = World(store).agent(asks, LS, LS, "done")
    waiting = agent.run_sync("go")
    store.error = error
    with pytest.raises(StoreError, match=str(error)) as caught:
        agent.run_sync("go")
    assert caught.value.state
    assert caught.value.state.status == "stopped"
    with pytest.raises(SuspensionError, match=rf"could not be recorded.*{error}"):
        agent.resume_sync(waiting, "allow")
    store.error = None
    assert agent.resume_sync(waiting, "allow").output == "done"
    with pytest.raises(SuspensionError, match="resumed before"):
        agent.resume_sync(waiting, "allow")


async def remote(scope, key):
    return 0


HALF_ASYNC = SimpleNamespace(increment=print, read=remote)


@pytest.mark.parametrize("store", [object(), MemoryStore, {}, "redis://", HALF_ASYNC])
def test_what_is_no_store_is_refused_with_what_it_lacks(store):
    with pytest.raises(RunError, match=r"it needs increment\(scope, key, by, limit=…\) and read.*, not async"):
        World(store).builder()


@pytest.mark.parametrize(
    ("store", "why"),
    [
        (Store("/dev/null/store.sqlite3"), "File exists"),
        (Redis(ConnectionError("no redis")), "ConnectionError: no redis"),
    ],
)
def test_a_store_that_cannot_be_used_is_told_when_an_agent_is_built_whose_host_answers(store, why):
    with pytest.raises(StoreError, match=rf'with_ask\("host"\) suspends runs, .*{why}.*with_store'):
        World(store).builder(LS).build()


def test_a_run_is_not_given_up_with_a_store_that_does_not_know_that_it_waits(world):
    """The token would be used up there, and good for an answer where it is known."""
    with pytest.raises(SuspensionError, match="waits in another store"):
        World().agent(asks, "x").abandon(world.paused())


def put_in_the_way(folder):
    """Put a file where a folder would be: not even root can write below it."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.write_text("in the way")


def test_a_wait_that_cannot_be_kept_loses_nothing_of_what_was_done(tmp_path):
    world = World(Store(tmp_path / "state" / "store.sqlite3"))
    agent = world.agent(ASKS_ABOUT_B, calls("ab"))
    put_in_the_way(tmp_path / "state")
    with pytest.raises(StoreError, match=r"`error\.state` is its state\. The store .* cannot be used") as caught:
        agent.run_sync("go")
    state = caught.value.state
    assert state
    assert (world.ran, state.status) == (["a"], "stopped")
    assert texts(state) == ["go", "ran a", "Error: Not run: the run was stopped."]


UNWRITABLE = """
from agent_hooks import AgentBuilder, HookOutcome, ScriptedDriver, StoreError, ToolCall
from agent_hooks.system.store import MemoryStore

def run(command: str) -> str:
    print("ran", command)

driver = ScriptedDriver(ToolCall("run", {{"command": "ls"}}), "Done.")
agent = AgentBuilder(plugins=()).with_tools(run).with_driver(driver){more}.build()
print("built")
try:
    print(agent.run_sync("Go.").status)
except StoreError as error:
    print(error.state.status)
"""
SUSPENDS = ".before_tool_use(lambda ctx: HookOutcome.suspend('Wait.'), name='waits')"


@pytest.mark.parametrize(
    ("more", "printed", "is_told"),
    [
        (SUSPENDS, "built stopped", True),
        (f"{SUSPENDS}.with_store(MemoryStore())", "built suspended", False),
        (".before_tool_use(print, mode='observe').hook('after_tool_use', lambda ctx: None)", "built ran ls", False),
        ("", "built ran ls completed", False),
    ],
    ids=["suspends", "in memory", "only looks", "no hooks"],
)
def test_a_state_folder_that_cannot_be_written_is_told_where_a_hook_may_suspend(tmp_path, more, printed, is_told):
    put_in_the_way(tmp_path / "state")
    env = {**os.environ, "AGENT_HOOKS_STATE_DIR": str(tmp_path / "state" / "mine")}
    command = [sys.executable, "-c", UNWRITABLE.format(more=more)]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert set(printed.split()) <= set(done.stdout.split())
    assert ("A run that waits suspends could not wait" in done.stderr) is is_told
    assert is_told or done.stderr == ""
    assert (tmp_path / "state").read_text() == "in the way"


# -- processes ------------------------------------------------------------------------------------------------------


def test_of_two_who_answer_at_the_same_time_one_is_heard(tmp_path):
    world = World(Store(tmp_path / "store.sqlite3"))
    first, refused = world.paused(), []

    def answer():
        try:
            world.resume(first)
        except SuspensionError as error:
            refused.append(error)

    threads = [threading.Thread(target=answer) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (len(refused), world.ran) == (5, ["ls"])


KILLED = """
import json, os, signal, sys
from pathlib import Path
from agent_hooks import AgentBuilder, AgentState, HookOutcome, ScriptedDriver, ToolCall, tool

where, decision = sys.argv[1:]

def killed_at(place):
    if where == place:
        os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))

@tool(kind="shell")
def shell(command: str) -> str:
    with open("ran", "a") as file:
        file.write(command)
    killed_at("in the tool")
    return "fine"

def waits(ctx):
    return HookOutcome.{kind}("Really?")

def looks(ctx):
    if Path("state").exists():
        killed_at("before the tool")

def goes_on(ctx):
    if ctx.state.steps:
        killed_at("after the tool")

builder = AgentBuilder(plugins=()).with_tools(shell).with_ask("host")
builder = builder.before_tool_use(waits, priority=1).before_tool_use(looks).hook("before_step", goes_on)
if Path("state").exists():
    state = AgentState.from_dict(json.loads(Path("state").read_text()))
    state = builder.with_driver(ScriptedDriver("done")).build().resume_sync(state, decision)
else:
    call = ToolCall("shell", {{"command": "ls "}}, id="1")
    state = builder.with_driver(ScriptedDriver(call)).build().run_sync("go")
Path("state").write_text(json.dumps(state.as_dict()))
print(state.status, state.suspended.reason if state.suspended else state.output)
"""


class Killed:
    """A run that one process begins and others go on with: ``process(where it is killed, decision)``."""

    def __init__(self, kind, folder):
        self.kind = kind
        self.folder = folder

    def __call__(self, where="", decision="allow"):
        command = [sys.executable, "-c", KILLED.format(kind=self.kind), where, decision]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)
        return (done.stdout or done.stderr).strip()

    @property
    def ran(self):
        path = self.folder / "ran"
        return path.read_text().split() if path.exists() else []


@pytest.fixture(params=["ask", "suspend"])
def process(request, tmp_path, monkeypatch):
    monkeypatch.setenv("AGENT_HOOKS_STATE_DIR", str(tmp_path / "store"))
    made = Killed(request.param, tmp_path)
    assert made() == "suspended Really?"
    return made


def test_an_approval_holds_once_also_for_a_run_that_was_killed_before_its_call_started(process):
    file = process.folder / "state"
    waiting = file.read_text()
    assert process("before the tool") == ""
    assert process.ran == []
    assert process() == "completed done"
    assert process.ran == ["ls"]
    file.write_text(waiting)
    assert "SuspensionError: The operation was resumed before" in process()
    assert process.ran == ["ls"]


@pytest.mark.parametrize(("where", "decision"), [("in the tool", "allow"), ("after the tool", "deny")])
def test_a_call_that_was_started_by_a_killed_run_is_asked_about_again(process, where, decision):
    """It never runs twice on one answer, and the new question states that its effect is unknown."""
    asked = []
    for times in (1, 2):
        assert process(where) == ""
        assert process.ran == ["ls"] * times
        asked.append(process())
        assert process.ran == ["ls"] * times
    assert asked[0].startswith("suspended This was started before")
    assert asked[0].endswith("what came of it is not known. Really?")
    assert asked[1] == asked[0]
    assert process("", decision) == "completed done"
    assert process.ran == ["ls"] * (3 if decision == "allow" else 2)
