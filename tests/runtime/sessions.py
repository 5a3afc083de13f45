"""Sessions to try: a scripted model, hooks by event, and whole conversations in one call."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from agent_hooks import AgentBuilder, HookOutcome, HookPolicy, HookTriggers, ScriptedDriver
from agent_hooks.runtime.session import SessionRunner
from agent_hooks.system.store import MemoryStore
from runtime.agents import Recorder, echo, said

if TYPE_CHECKING:
    from collections.abc import Coroutine

    from agent_hooks import AgentState
    from runtime.agents import Gate

WAITS = {"ask": HookOutcome.ask("Really?"), "suspend": HookOutcome.suspend("Wait for Ann.", data={"ticket": 7})}


def builder(*replies: Any, recorder: Recorder | None = None, **policy: Any) -> AgentBuilder:
    made = AgentBuilder(plugins=(), policy=HookPolicy(**policy)).with_driver(ScriptedDriver(*replies))
    made = made.with_tools(echo).with_store(MemoryStore())
    return made.hook(HookTriggers.all(), recorder, name="recorder") if recorder is not None else made


def session(
    *replies: Any,
    on: dict[str, Any] | None = None,
    recorder: Recorder | None = None,
    driver: Any = None,
    answers: MemoryStore | None = None,
    **options: Any,
) -> SessionRunner:
    """A session of an agent whose host answers, with a hook by event: its answer, or a function."""
    made = builder(*replies, recorder=recorder).with_ask("host")
    for event, answer in (on or {}).items():
        is_fixed = isinstance(answer, HookOutcome | tuple)
        made = made.hook(event, (lambda ctx, answer=answer: answer) if is_fixed else answer)
    made = made if driver is None else made.with_driver(driver)
    return SessionRunner((made if answers is None else made.with_store(answers)).build(), **options)


async def turns(session: SessionRunner, *prompts: Any) -> AgentState:
    """Open the session, send the prompts, close it, and return what is left."""
    async with session:
        for prompt in prompts:
            await session.send(prompt)
    return session.state


def talk(session: SessionRunner, *prompts: Any) -> AgentState:
    """Do the same without an event loop."""
    return asyncio.run(turns(session, *prompts))


async def cancel_at(gate: Gate, working: Coroutine[Any, Any, Any]) -> None:
    """Cancel once it has come to the gate."""
    task = asyncio.create_task(working)
    await asyncio.wait_for(gate.entered.wait(), 30)
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled()


def texts(state: AgentState | None) -> list[Any]:
    assert state is not None
    return [text for _, text in said(state.messages)]


def names(recorder: Recorder) -> list[str]:
    return [str(ctx.event) for ctx in recorder.seen]


def seen(recorder: Recorder, event: str) -> list[Any]:
    return [ctx for ctx in recorder.seen if ctx.event == event]


def only(recorder: Recorder, event: str) -> Any:
    (ctx,) = seen(recorder, event)
    return ctx
