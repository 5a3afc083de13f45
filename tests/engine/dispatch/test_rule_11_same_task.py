"""Rule 11: hooks run in the caller's own task and context, timed plain functions and background observers excepted."""

from __future__ import annotations

import asyncio
import contextvars
import threading

import pytest

from agent_hooks import HookOutcome
from engine import Engine, shell

pytestmark = pytest.mark.interpreter

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE", default="unset")


def test_hooks_of_every_kind_run_in_the_callers_task():
    engine, tasks = Engine("async"), []

    @engine.hook()
    async def waits(ctx):
        await asyncio.sleep(0)
        tasks.append(asyncio.current_task())

    @engine.hook(mode="observe")
    async def looks(ctx):
        await asyncio.sleep(0)
        tasks.append(asyncio.current_task())

    @engine.hook(wrapper=True)
    async def around(ctx):
        await asyncio.sleep(0)
        tasks.append(asyncio.current_task())
        yield

    @engine.hook(wrapper=True)
    def around_too(ctx):
        tasks.append(asyncio.current_task())
        yield

    async def call():
        await engine.hooks.dispatch(shell())
        return asyncio.current_task()

    caller = asyncio.run(call())
    assert len(tasks) == 4
    assert set(tasks) == {caller}


def test_a_variable_that_a_hook_sets_is_visible_to_the_caller(engine):
    @engine.hook()
    def sets(ctx):
        VARIABLE.set("by the hook")

    async def call():
        await engine.hooks.dispatch(shell())
        return VARIABLE.get()

    def call_sync():
        engine.dispatch(shell())
        return VARIABLE.get()

    found = asyncio.run(call()) if engine.colour == "async" else contextvars.copy_context().run(call_sync)
    assert found == "by the hook"


def test_plain_hooks_run_in_the_callers_thread(engine):
    threads = []

    @engine.hook()
    def looks(ctx):
        threads.append(threading.current_thread())

    engine.dispatch(shell())
    assert threads == [threading.current_thread()]


def test_an_async_hook_that_waits_in_an_async_call_may_use_what_belongs_to_its_task():
    """asyncio.timeout() and task groups only work in the task that entered them."""
    engine, done = Engine("async"), []

    @engine.hook(timeout=10)
    async def uses_its_task(ctx):
        async with asyncio.timeout(10), asyncio.TaskGroup() as group:
            group.create_task(asyncio.sleep(0))
        done.append(True)

    assert engine.dispatch(shell()).decision == "proceed"
    assert done == [True]


# -- a sync call with an async hook ------------------------------------------------------------------------------------


async def sleeps():
    await asyncio.sleep(0.01)


async def yields():
    await asyncio.sleep(0)


async def uses_a_thread():
    await asyncio.to_thread(int)


async def starts_tasks():
    async with asyncio.TaskGroup() as group:
        group.create_task(yields())


async def has_a_timeout():
    async with asyncio.timeout(1):
        await asyncio.sleep(0.01)


async def wants_the_loop():
    await asyncio.get_running_loop().create_future()


async def waits_for_an_event():
    await asyncio.Event().wait()


async def waits_for_a_queue():
    await asyncio.Queue().get()


WAITING = [sleeps, yields, uses_a_thread, has_a_timeout, wants_the_loop, waits_for_an_event, waits_for_a_queue]


@pytest.mark.parametrize("waits", WAITING)
@pytest.mark.parametrize("kind", ["hook", "wrapper", "before the yield"])
def test_an_async_hook_that_waits_in_a_sync_call_fails_and_names_the_ways_out(waits, kind):
    """Whatever it waits with: no loop runs there."""
    engine = Engine("plain")
    if kind == "hook":

        @engine.hook()
        async def hook(ctx):
            await waits()

    else:

        @engine.hook(wrapper=True)
        async def hook(ctx):
            if kind == "before the yield":
                await waits()
            yield
            await waits()

    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.failed) == ("deny", True)
    assert outcome.reason == (
        "The hook hook failed: it waits, and this is a sync call: use `await hooks.dispatch(ctx)`, or "
        "`hooks.run_sync(ctx)`, which starts an event loop."
    )


@pytest.mark.parametrize("waits", [sleeps, uses_a_thread, starts_tasks, has_a_timeout])
def test_run_sync_runs_an_async_hook_that_waits(waits):
    engine = Engine("plain")

    @engine.hook()
    async def hook(ctx):
        await waits()

    assert engine.hooks.run_sync(shell()).decision == "proceed"


@pytest.mark.parametrize("error", [RuntimeError("no event loop"), AttributeError("future"), OSError("x")])
def test_an_error_of_the_hooks_own_keeps_its_words(error):
    engine = Engine("plain")

    @engine.hook()
    async def hook(ctx):
        raise error

    assert engine.dispatch(shell()).reason == f"The hook hook failed: {type(error).__name__}: {error}"


def test_an_async_hook_that_never_waits_is_asked_in_a_sync_call():
    engine = Engine("plain")

    @engine.hook()
    async def hook(ctx):
        async with asyncio.Lock():
            return HookOutcome.deny("no")

    assert engine.dispatch(shell()).reason == "no"
