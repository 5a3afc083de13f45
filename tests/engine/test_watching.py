"""The framework's own observers of dispatches: told of each start and end, cheaply, and of nothing twice."""

from __future__ import annotations

import asyncio

import pytest

from agent_hooks import HookManager, HookOutcome, hookimpl
from agent_hooks.engine.dispatch import Dispatch
from engine import Plugin, shell


class Watcher:
    def __init__(self):
        self.heard = []

    @hookimpl
    def agent_hooks_dispatch_started(self, event, ctx):
        self.heard.append(f"{event} starts")
        return lambda ctx, outcome, seconds: self.heard.append((ctx.tool_args, outcome, seconds >= 0))

    @hookimpl
    def agent_hooks_dispatched(self, outcome):
        self.heard.append(f"{outcome.decision}")


@pytest.fixture
def watcher(engine):
    watcher = Watcher()
    engine.manager.register(watcher)
    return watcher


def test_a_watched_dispatch_takes_the_fast_path(engine, watcher, monkeypatch):
    """As long as nobody hears of each hook."""
    monkeypatch.setattr(Dispatch, "run", None)
    engine.says("silent")
    engine.says("adds", HookOutcome.update(context="Careful."))
    outcome = engine.dispatch(shell("ls"))
    assert outcome.context == "Careful."
    assert watcher.heard == ["before_tool_use starts", "proceed", ({"command": "ls"}, outcome, True)]


def test_the_end_is_told_with_the_context_as_hooks_left_it(engine, watcher):
    engine.says("rewriter", HookOutcome.update(tool_args={"command": "pwd"}))
    outcome = engine.hooks.dispatch_sync(shell("ls"))
    assert watcher.heard[-1] == ({"command": "pwd"}, outcome, True)


@pytest.mark.parametrize("raised", [asyncio.CancelledError, KeyboardInterrupt])
def test_a_dispatch_that_is_cut_off_ends_without_an_outcome(engine, watcher, raised):
    async def waits():
        await asyncio.sleep(0)
        raise raised

    async def run():
        task = asyncio.current_task()
        if task is not None and raised is asyncio.CancelledError:
            asyncio.get_running_loop().call_soon(task.cancel)
        await engine.hooks.dispatch(shell("ls"))

    engine.manager.register(Plugin(before_tool_use=hookimpl(waits)))
    with pytest.raises(raised):
        asyncio.run(run())
    assert watcher.heard == ["before_tool_use starts", ({"command": "ls"}, None, True)]


def test_a_cancellation_that_nobody_asked_for_is_an_observers_failure(engine):
    class Broken:
        @hookimpl
        def agent_hooks_dispatch_started(self):
            raise asyncio.CancelledError

        agent_hooks_dispatched = hookimpl(agent_hooks_dispatch_started)

    engine.manager.register(Broken())
    engine.says("no", HookOutcome.deny("No."))
    assert engine.hooks.dispatch_sync(shell("ls")).decision == "deny"
    assert asyncio.run(engine.hooks.dispatch(shell("ls"))).decision == "deny"


def test_a_question_and_a_resumption_are_dispatches_too(engine, watcher):
    engine.says("waits", HookOutcome.suspend("Wait."), mode="gate")
    engine.says("asks", HookOutcome.ask("Really?"), mode="gate", priority=1)
    engine.says("answers", HookOutcome.allow(), event="permission_request")
    waiting = engine.hooks.dispatch_sync(shell("ls"))
    engine.hooks.resume_sync(waiting.token, "allow")
    starts = [each for each in watcher.heard if "starts" in each]
    assert starts == ["before_tool_use starts"] * 2 + ["permission_request starts"]


def test_errors_of_observers_and_of_the_functions_they_return_are_tolerated(engine):
    def fails(event, *_given):
        raise OSError

    engine.manager.register(Plugin(agent_hooks_dispatch_started=hookimpl(lambda event: fails)), "ends")
    engine.manager.register(Plugin(agent_hooks_dispatch_started=hookimpl(fails)), "starts")
    engine.says("no", HookOutcome.deny("No."))
    assert engine.hooks.dispatch_sync(shell("ls")).reason == "No."
    assert engine.manager.tolerated == {
        "ends.agent_hooks_dispatch_started": 1,
        "starts.agent_hooks_dispatch_started": 1,
    }


def test_a_subagents_dispatch_is_told_to_the_observers_of_both_and_once(engine, watcher):
    """Also where it inherits nothing, and where the parent is watched later."""
    other, child = Watcher(), HookManager(load_plugins=False)
    child.register(Plugin(before_tool_use=hookimpl(lambda: None), after_turn=hookimpl(lambda: None)))
    child.register(watcher)
    hooks = child.hooks().under(engine.hooks)
    hooks.dispatch_sync(shell("ls"))
    assert watcher.heard.count("before_tool_use starts") == 1
    engine.manager.register(other)
    hooks.dispatch_sync(shell("ls"))
    assert other.heard.count("before_tool_use starts") == 1
    assert watcher.heard.count("before_tool_use starts") == 2
