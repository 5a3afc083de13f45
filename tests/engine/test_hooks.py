"""The view on the live hooks: what an application calls."""

from __future__ import annotations

import asyncio
import threading

import pytest

from agent_hooks import HookOutcome, HookRegistration
from agent_hooks.errors import HookMisuseError
from agent_hooks.testing import make_context
from engine import shell


async def waits_and_denies(ctx):
    await asyncio.sleep(0)
    return HookOutcome.deny("after waiting")


def test_the_same_hooks_answer_sync_and_async_calls(manager):
    manager.add(HookRegistration("before_tool_use", lambda ctx: HookOutcome.with_context("plain"), priority=1))

    async def never_waits(ctx):
        return HookOutcome.deny("async")

    manager.add(HookRegistration("before_tool_use", never_waits))
    hooks = manager.hooks()
    outcomes = [hooks.dispatch_sync(shell()), asyncio.run(hooks.dispatch(shell())), hooks.run_sync(shell())]
    assert [(outcome.reason, outcome.context) for outcome in outcomes] == [("async", "plain")] * 3


def test_run_sync_starts_an_event_loop_where_none_runs(manager):
    manager.add(HookRegistration("before_tool_use", waits_and_denies))
    assert manager.hooks().run_sync(shell()).reason == "after waiting"


def test_run_sync_says_what_to_call_where_a_loop_runs(manager):
    async def call():
        return manager.hooks().run_sync(shell())

    with pytest.raises(HookMisuseError, match=r"use `await hooks.dispatch\(ctx\)`"):
        asyncio.run(call())


def test_a_sync_call_inside_a_loop_does_not_disturb_it(manager):
    manager.add(HookRegistration("before_tool_use", lambda ctx: HookOutcome.deny("no")))

    async def call():
        return manager.hooks().dispatch_sync(shell())

    assert asyncio.run(call()).reason == "no"


def test_dispatches_at_the_same_time_do_not_meet(manager):
    """Two tasks are in the middle of their chains at once; each sees only its own context."""

    async def call():
        both_wait = asyncio.Barrier(2)

        async def marks(ctx):
            await both_wait.wait()
            return HookOutcome.with_context(ctx.tool_call.command)

        manager.add(HookRegistration("before_tool_use", marks, priority=1))
        manager.add(HookRegistration("before_tool_use", lambda ctx: HookOutcome.update(metadata={"saw": ctx.context})))
        hooks = manager.hooks()
        return await asyncio.gather(hooks.dispatch(shell("a")), hooks.dispatch(shell("b")))

    outcomes = asyncio.run(call())
    assert [(outcome.context, outcome.metadata) for outcome in outcomes] == [("a", {"saw": "a"}), ("b", {"saw": "b"})]


def test_dispatches_in_threads_do_not_meet(manager):
    both_wait = threading.Barrier(2, timeout=10)

    def marks(ctx):
        both_wait.wait()
        return HookOutcome.with_context(ctx.tool_call.command)

    manager.add(HookRegistration("before_tool_use", marks))
    hooks, said = manager.hooks(), {}

    def call(command):
        said[command] = hooks.dispatch_sync(shell(command)).context

    threads = [threading.Thread(target=call, args=(command,)) for command in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert said == {"a": "a", "b": "b"}


def test_a_hook_may_dispatch_itself(manager):
    """A subagent's tool call inside a hook of its parent's."""
    manager.add(HookRegistration("before_step", lambda ctx: HookOutcome.with_context("inner")))
    hooks = manager.hooks()

    def outer(ctx):
        return HookOutcome.with_context("outer and " + hooks.dispatch_sync(make_context("before_step")).context)

    manager.add(HookRegistration("before_tool_use", outer))
    assert hooks.dispatch_sync(shell()).context == "outer and inner"
