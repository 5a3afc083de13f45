"""A coroutine that stops in the middle, and lets its caller do a part of its work."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_hooks_frameworks.stepwise import Stepwise, Stop


def run(work: Any, *replies: Any) -> tuple[list[Any], Any]:
    """Run ``work(pause)``; return the values that it handed over and its result."""

    async def caller() -> tuple[list[Any], Any]:
        steps, values, left = Stepwise(work(Stop)), [], list(replies)
        async for value in steps:
            values.append(value)
            reply = left.pop(0)
            if isinstance(reply, Exception):
                steps.throw(reply)
            else:
                steps.answer(reply)
        return values, steps.result

    return asyncio.run(caller())


def test_each_pause_is_answered_and_the_result_is_kept():
    async def work(pause: Any) -> str:
        return str([await pause(1), await pause(2)])

    assert run(work, "a", "b") == ([1, 2], "['a', 'b']")


def test_a_pause_raises_the_error_that_the_caller_met():
    async def work(pause: Any) -> str:
        try:
            await pause(1)
        except ValueError as error:
            return str(await pause(f"after {error}"))
        return ""

    assert run(work, ValueError("it"), "again") == ([1, "after it"], "again")


def test_between_pauses_the_coroutine_waits_in_the_callers_task():
    async def work(pause: Any) -> Any:
        await asyncio.sleep(0)
        task = asyncio.current_task()
        await pause(task)
        async with asyncio.timeout(5):
            await asyncio.sleep(0)
        return task

    (first,), second = run(work, None)
    assert first is second


def test_a_cancellation_reaches_the_coroutine():
    seen: list[str] = []

    async def work(pause: Any) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise

    async def caller() -> None:
        steps = Stepwise(work(Stop))
        async for _ in steps:
            pass

    async def cancel() -> None:
        task = asyncio.create_task(caller())
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert seen == ["cancelled"]


def test_a_coroutine_that_is_closed_cleans_up():
    seen: list[str] = []

    async def work(pause: Any) -> None:
        try:
            await pause(1)
        finally:
            seen.append("closed")

    async def caller() -> None:
        steps = Stepwise(work(Stop))
        async for _ in steps:
            steps.close()
            return

    asyncio.run(caller())
    assert seen == ["closed"]
