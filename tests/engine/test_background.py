"""Background observers: started after the decision, bounded, joined at the end of the run."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from agent_hooks import HookOutcome, HookPolicy
from engine import Engine, shell

pytestmark = pytest.mark.interpreter

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE", default="unset")


def test_a_background_observer_is_not_waited_for():
    """The dispatch is over before the observer may go on."""
    engine, may_go_on, done = Engine("plain"), threading.Event(), []

    @engine.hook(mode="observe", background=True)
    def slow(ctx):
        assert may_go_on.wait(10)
        done.append(ctx.outcome.decision)

    engine.says("guard", HookOutcome.deny("no"))
    assert engine.dispatch(shell()).decision == "deny"
    assert done == []
    may_go_on.set()
    assert engine.hooks.join_sync() == 0
    assert done == ["deny"]


def test_an_async_background_observer_is_a_task_that_join_waits_for():
    engine, done = Engine("async"), []

    async def run():
        may_go_on = asyncio.Event()

        @engine.hook(mode="observe", background=True)
        async def slow(ctx):
            await may_go_on.wait()
            done.append(ctx.outcome.decision)

        hooks = engine.hooks
        await hooks.dispatch(shell())
        assert done == []
        may_go_on.set()
        return await hooks.join()

    assert asyncio.run(run()) == 0
    assert done == ["proceed"]


def test_run_sync_joins_what_it_started():
    engine, done = Engine("async"), []

    @engine.hook(mode="observe", background=True)
    async def slow(ctx):
        await asyncio.sleep(0)
        done.append(True)

    engine.hooks.run_sync(shell())
    assert done == [True]


def test_no_more_than_the_limit_are_at_work_at_once():
    """The next one is run by the dispatch itself, so that nothing is lost and nothing piles up."""
    engine, may_go_on, threads = Engine("plain", HookPolicy(max_background=2)), threading.Event(), []

    @engine.hook(mode="observe", background=True)
    def slow(ctx):
        threads.append(threading.current_thread())
        if threading.current_thread() is not threading.main_thread():
            assert may_go_on.wait(10)

    for _ in range(3):
        engine.dispatch(shell())
    assert [thread is threading.main_thread() for thread in threads].count(True) == 1
    may_go_on.set()
    assert engine.hooks.join_sync() == 0
    assert len(threads) == 3


def test_join_waits_only_so_long_and_says_how_many_did_not_finish():
    engine, may_go_on = Engine("plain"), threading.Event()

    @engine.hook(mode="observe", background=True)
    def slow(ctx):
        may_go_on.wait(10)

    engine.dispatch(shell())
    assert engine.hooks.join_sync(0.01) == 1
    may_go_on.set()
    assert engine.hooks.join_sync() == 0


def test_join_cancels_the_tasks_that_did_not_finish():
    engine, cancelled = Engine("async"), []

    @engine.hook(mode="observe", background=True)
    async def slow(ctx):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def run():
        hooks = engine.hooks
        await hooks.dispatch(shell())
        late = await hooks.join(0.01)
        await asyncio.sleep(0)
        return late, await hooks.join()

    assert asyncio.run(run()) == (1, 0)
    assert cancelled == [True]


@pytest.mark.parametrize("failure", [OSError("gone"), SystemExit(2)], ids=repr)
def test_a_failure_in_the_background_is_counted_and_disturbs_nobody(engine, failure):
    engine.says("slow", failure, mode="observe", background=True)

    async def run():
        outcome = await engine.hooks.dispatch(shell())
        await engine.hooks.join()
        return outcome

    if engine.colour == "plain":
        outcome = engine.dispatch(shell())
        engine.hooks.join_sync()
    else:
        outcome = asyncio.run(run())
    assert outcome == HookOutcome()
    assert engine.manager.tolerated == {"slow": 1}


def test_an_async_background_observer_has_its_timer():
    engine = Engine("async")
    engine.waits("slow", mode="observe", background=True, timeout=0.01)

    async def run():
        await engine.hooks.dispatch(shell())
        return await engine.hooks.join()

    assert asyncio.run(run()) == 0
    assert engine.manager.tolerated == {"slow": 1}


def test_an_async_background_observer_of_a_sync_call_has_a_loop_of_its_own():
    engine, done = Engine("plain"), []

    @engine.hook(mode="observe", background=True)
    async def slow(ctx):
        await asyncio.sleep(0)
        done.append(threading.current_thread() is threading.main_thread())

    engine.dispatch(shell())
    assert engine.hooks.join_sync() == 0
    assert done == [False]


def test_a_background_observer_has_a_copy_of_the_context_variables(engine):
    seen = []

    @engine.hook(mode="observe", background=True)
    def slow(ctx):
        seen.append(VARIABLE.get())
        VARIABLE.set("changed in the background")

    def call():
        VARIABLE.set("set by the caller")
        engine.hooks.run_sync(shell())
        return VARIABLE.get()

    assert contextvars.copy_context().run(call) == "set by the caller"
    assert seen == ["set by the caller"]


def test_a_run_joins_its_own_observers_only():
    """The observers of another run in the same loop are neither waited for nor cancelled."""

    async def two_runs():
        engine, gate, ended = Engine("async"), asyncio.Event(), []

        @engine.hook(mode="observe", background=True)
        async def slow(ctx):
            if ctx.execution_id == "slow":
                await gate.wait()
            ended.append(ctx.execution_id)

        await engine.hooks.dispatch(shell(execution_id="slow"))
        await engine.hooks.dispatch(shell(execution_id="fast"))
        assert await engine.hooks.join(execution_id="fast") == 0
        assert ended == ["fast"]
        gate.set()
        assert await engine.hooks.join() == 0
        return ended

    assert asyncio.run(two_runs()) == ["fast", "slow"]


def test_observers_of_another_event_loop_are_not_waited_for():
    engine, started, release = Engine("async"), threading.Event(), threading.Event()

    @engine.hook(mode="observe", background=True)
    async def slow(ctx):
        started.set()
        await asyncio.to_thread(release.wait, 10)

    async def other_loop():
        await engine.hooks.dispatch(shell())
        return await engine.hooks.join()

    thread = threading.Thread(target=lambda: asyncio.run(other_loop()))
    thread.start()
    assert started.wait(10)
    assert asyncio.run(engine.hooks.join()) == 0
    release.set()
    thread.join()
