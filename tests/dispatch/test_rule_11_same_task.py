"""Rule 11: hooks run in the caller's own task and context, timed plain functions and background observers excepted."""

from __future__ import annotations

import asyncio
import contextvars
import threading

from engine import Engine, shell

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


def test_a_variable_that_an_async_hook_sets_is_visible_to_the_caller():
    engine = Engine("async")

    @engine.hook()
    async def sets(ctx):
        await asyncio.sleep(0)
        VARIABLE.set("by the hook")

    async def call():
        await engine.hooks.dispatch(shell())
        return VARIABLE.get()

    assert asyncio.run(call()) == "by the hook"


def test_a_variable_that_a_plain_hook_sets_is_visible_to_the_caller():
    engine = Engine("plain")

    @engine.hook()
    def sets(ctx):
        VARIABLE.set("by the hook")

    def call():
        engine.dispatch(shell())
        return VARIABLE.get()

    assert contextvars.copy_context().run(call) == "by the hook"


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
