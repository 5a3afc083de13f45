"""A plain function that answers in turns: other tasks run meanwhile, and it is asked in every colour."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookContext, HookManager, HookOutcome, HookRegistration, ToolCall
from agent_hooks.engine.calling import InTurns

if TYPE_CHECKING:
    from collections.abc import Generator

pytestmark = pytest.mark.interpreter

TURNS = 5
CTX = HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": "ls"}))


def deny_in_turns(ctx: HookContext) -> InTurns:
    def work() -> Generator[None, None, HookOutcome]:
        for _ in range(TURNS):
            yield
        return HookOutcome.deny(f"No {ctx.tool_call and ctx.tool_call.command}.")

    return InTurns(work())


def manager(**options: Any) -> HookManager:
    made = HookManager(load_plugins=False)
    made.add(HookRegistration("before_tool_use", deny_in_turns, name="slow", **options))
    return made


def test_other_tasks_have_their_turn_between_its_pieces():
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def main() -> HookOutcome:
        task = asyncio.create_task(other())
        outcome = await manager().hooks().dispatch(CTX)
        task.cancel()
        return outcome

    assert asyncio.run(main()).reason == "No ls."
    assert turns >= TURNS


@pytest.mark.parametrize("options", [{}, {"timeout": 60}], ids=["inline", "in a thread"])
def test_it_answers_with_and_without_an_event_loop(options):
    hooks = manager(**options).hooks()

    async def main() -> list[HookOutcome]:
        return [await hooks.dispatch(CTX), hooks.dispatch_sync(CTX)]

    assert [each.reason for each in (hooks.dispatch_sync(CTX), *asyncio.run(main()))] == ["No ls."] * 3
