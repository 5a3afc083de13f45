"""A run of a loop of others that hooks stop from elsewhere than its next step, and one that goes on after its end."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_hooks import (
    HookManager,
    HookOutcome,
    Message,
    ModelRequest,
    ModelResponse,
    RunStoppedError,
    SubagentDeniedError,
    ToolCall,
)
from agent_hooks.engine.guarded_run import GuardedRun
from engine import managed

LS = ToolCall("Bash", {"command": "ls"}, id="c1")
REQUEST = ModelRequest(model="m", messages=(Message(role="user", content="hello"),))
CALLING = ModelResponse(tool_calls=(LS, LS.replace(id="c2")))


def turn(manager: HookManager, loop: Any) -> Any:
    return asyncio.run(manager.hooks().run_turn("Go.", loop))


@pytest.mark.parametrize("event", ["before_subagent", "after_subagent"])
def test_a_stop_of_a_subagent_stops_the_other_calls_of_the_step_and_its_context_is_told(event: str):
    manager = managed((event, lambda ctx: HookOutcome.stop("enough", context="about the agent")))
    made: list[str] = []

    async def loop(run: GuardedRun, prompt: str) -> str:
        await run.model(REQUEST, lambda request: CALLING)
        if event == "before_subagent":
            await run.before_subagent("helper", "work")
        else:
            await run.after_subagent(name="helper", task="work", result="done")
        use = await run.tool(LS, lambda call: made.append(call.id))
        assert [message.content for message in run.added] == ["about the agent"]
        return use.text

    if event == "before_subagent":
        with pytest.raises(SubagentDeniedError):
            turn(manager, loop)
    else:
        turn(manager, loop)
    assert made == []


def test_a_second_request_in_flight_does_not_undo_the_stop_of_the_first():
    stops = iter([HookOutcome.stop("enough"), None])
    manager = managed(("after_inference", lambda ctx: next(stops)))
    made: list[str] = []

    async def loop(run: GuardedRun, prompt: str) -> str:
        first_is_done = asyncio.Event()

        async def second(request: ModelRequest) -> ModelResponse:
            await first_is_done.wait()
            return CALLING

        async def first() -> None:
            await run.model(REQUEST, lambda request: CALLING)
            first_is_done.set()

        started = asyncio.create_task(run.model(REQUEST, second))
        await asyncio.sleep(0)
        await first()
        await started
        return (await run.tool(LS, lambda call: made.append(call.id))).text

    turn(manager, loop)
    assert made == []


def test_a_stop_before_the_request_of_a_forced_round_keeps_it_from_being_sent():
    sent: list[str] = []
    manager = managed(
        ("on_stop", lambda ctx: None if ctx.stop_hook_active else HookOutcome.force_continue("again")),
        ("before_tool_use", lambda ctx: HookOutcome.stop("enough")),
    )

    async def loop(run: GuardedRun, prompt: str) -> str:
        if prompt == "again":
            await run.tool(LS, lambda call: "")

        def respond(request: ModelRequest) -> str:
            sent.append(prompt)
            return "hi"

        await run.model(REQUEST, respond)
        return "done"

    ending = turn(manager, loop)
    assert (sent, ending.stop_signal.message) == (["Go."], "enough")


def test_a_loop_that_asks_again_after_its_end_goes_on_and_its_next_answer_is_judged():
    judged: list[str] = []

    async def twice() -> Any:
        run = GuardedRun(managed(("before_output", lambda ctx: judged.append(ctx.output))).hooks())
        await run.start("Go.")
        for answer in ("one", "two"):
            await run.model(REQUEST, lambda request: "hi")
            ending = await run.end(answer)
        return ending

    assert (asyncio.run(twice()).output, judged) == ("two", ["one", "two"])


def test_a_stopped_loop_that_asks_again_is_not_asked_about_again():
    asked: list[str] = []
    manager = managed(
        ("before_step", lambda ctx: HookOutcome.stop("enough")),
        ("on_stop", lambda ctx: asked.append("on_stop")),
    )

    async def stubborn() -> None:
        run = GuardedRun(manager.hooks())
        await run.start("Go.")
        for _ in range(2):
            with pytest.raises(RunStoppedError, match="enough"):
                await run.model(REQUEST, lambda request: "hi")

    asyncio.run(stubborn())
    assert asked == ["on_stop"]


def test_a_round_without_an_answer_has_none():
    manager = managed(("on_stop", lambda ctx: None if ctx.stop_hook_active else HookOutcome.force_continue("wrong")))
    answers = iter(["wrong", None])
    assert turn(manager, lambda run, prompt: next(answers)).output is None


def test_a_subagent_that_recovered_from_an_error_of_a_tool_has_none():
    heard: list[Any] = []
    manager = managed(("after_subagent", lambda ctx: heard.append((ctx.error, ctx.result))))

    async def helper(run: GuardedRun, task: str) -> str:
        await run.model(REQUEST, lambda request: CALLING)
        await run.tool(LS, lambda call: 1 / 0)
        return "fine"

    async def loop(run: GuardedRun, prompt: str) -> str:
        await run.tool(LS, lambda call: manager.hooks().run_turn("work", helper, agent_name="helper"))
        return "done"

    turn(manager, loop)
    assert heard == [(None, "fine")]
