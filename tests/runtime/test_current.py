"""Concurrent agents started by one tool call: their records, and that none outlives the call."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import AgentBuilder, AgentState, HookOutcome, ScriptedDriver, SubagentError, run_subagent, tool
from runtime.agents import Gate, Says, call, cancelled_at, child, said

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine

    from agent_hooks import AgentRuntime

pytestmark = pytest.mark.interpreter


class Team:
    """Agents that note what they do, and a parent whose tool starts them as ``starts`` says."""

    def __init__(self) -> None:
        self.ran: list[str] = []
        self.errors: list[str] = []

    def worker(self, *texts: str, name: str = "") -> AgentRuntime:
        """An agent that notes each of the texts; ``secret …`` needs an approval, and ``slow …`` takes a while."""

        @tool
        async def note(text: str) -> str:
            for _ in range(5 if text.startswith("slow") else 0):
                await asyncio.sleep(0)
            self.ran.append(text)
            return text

        name = name or texts[-1]
        calls = [call("note", text=text, id=f"{name}{number}") for number, text in enumerate(texts)]
        return child(*calls, f"{name} done", tools=[note], name=name)

    async def failing(self, agent: AgentRuntime, task: str = "t") -> None:
        try:
            await run_subagent(agent, task)
        except SubagentError as error:
            self.errors.append(f"{type(error).__name__}: {error}")

    def parent(self, starts: Callable[[], Awaitable[Any]], **hooks: Any) -> AgentRuntime:
        @tool(kind="subagent")
        async def start() -> Any:
            return await starts()

        def asks(ctx):
            return HookOutcome.ask("Really?") if str(ctx.tool_args.get("text")).startswith("secret") else None

        made = AgentBuilder(plugins=()).with_driver(ScriptedDriver(call("start", id="c1"), "done")).with_tools(start)
        for event, hook in {"before_tool_use": asks, **hooks}.items():
            made = made.hook(event, hook, name=f"asks on {event}")
        return made.with_ask("host").build()

    def answered(self, starts: Callable[[], Awaitable[Any]], *answers: str, **hooks: Any) -> tuple[str, list[Any]]:
        """Run, answer the questions one by one, and return the tool's result and the subjects of the questions."""
        agent, asked = self.parent(starts, **hooks), []
        state = agent.run_sync("go")
        for answer in answers or ("allow",) * 5:
            if state.suspended is None:
                break
            asked.append(state.suspended.tool_call.args["text"] if state.suspended.tool_call else "start")
            state = agent.resume_sync(AgentState.from_dict(state.as_dict()), answer)
        assert state.status == "completed"
        return said(state.messages)[2][1], asked


async def outputs(*running: Awaitable[AgentState]) -> str:
    return " ".join(state.output for state in await asyncio.gather(*running))


async def in_tasks(*running: Coroutine[Any, Any, AgentState]) -> None:
    async with asyncio.TaskGroup() as group:
        for each in running:
            group.create_task(each)


async def in_group(*agents: AgentRuntime) -> str:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(run_subagent(agent, "t")) for agent in agents]
    return " ".join(task.result().output for task in tasks)


async def returned(*agents: AgentRuntime) -> str:
    """The tool handles exceptions like results."""
    states = await asyncio.gather(*(run_subagent(agent, "t") for agent in agents), return_exceptions=True)
    return " ".join(str(getattr(state, "output", state)) for state in states)


async def in_threads(*agents: AgentRuntime) -> str:
    def alone(agent: AgentRuntime) -> AgentState:
        return asyncio.run(run_subagent(agent, "t"))

    return await outputs(*(asyncio.to_thread(alone, agent) for agent in agents))


async def gathered(*agents: AgentRuntime) -> str:
    return await outputs(*(run_subagent(agent, "t") for agent in agents))


@pytest.mark.parametrize("together", [gathered, in_group, returned, in_threads])
def test_while_one_waits_the_others_come_to_their_end_and_do_nothing_twice(together):
    team = Team()
    waits, works = team.worker("secret"), team.worker("slow 1", "slow 2")
    result, asked = team.answered(lambda: together(waits, works))
    assert (result, asked) == ("secret done slow 2 done", ["secret"])
    # A thread that has not begun when the other one waits starts its agent when that is answered.
    late = ["secret", "slow 1", "slow 2"] if together is in_threads else []
    assert team.ran in (["slow 1", "slow 2", "secret"], late)


@pytest.mark.parametrize("together", [gathered, in_group, returned])
@pytest.mark.parametrize("name", ["", "same"])
def test_several_that_wait_are_answered_one_by_one_each_with_its_own_answer(together, name):
    """Also if all are the same agent."""
    team = Team()
    agents = [team.worker(f"secret {number}", name=name) for number in range(3)]
    result, asked = team.answered(lambda: together(*agents), "allow", "deny", "allow")
    assert asked == ["secret 0", "secret 1", "secret 2"]
    assert result == " ".join(f"{name or text} done" for text in asked)
    assert team.ran == ["secret 0", "secret 2"]


def test_one_that_has_yet_to_be_started_is_answered_in_its_turn():
    team = Team()
    agents = [team.worker("secret 0"), team.worker("one"), team.worker("secret 2")]
    starts = Says(HookOutcome.ask("Start it?"), when=lambda ctx: ctx.name == "one")
    _, asked = team.answered(lambda: gathered(*agents), before_subagent=starts)
    assert asked == ["secret 0", "start", "secret 2"]
    assert team.ran == ["secret 0", "one", "secret 2"]


@pytest.mark.parametrize(
    ("is_denied", "error"),
    [(False, "SubagentError: Subagent 'first' failed: boom"), (True, "SubagentDeniedError: Denied: Not that.")],
)
def test_the_answer_reaches_the_one_that_waits_and_another_that_failed_or_was_denied_fails_again(is_denied, error):
    """The tool is called again, and the other one is neither started nor asked about."""
    team = Team()
    first = team.worker("denied", name="first") if is_denied else child(RuntimeError("boom"), name="first")
    waits, gate = team.worker("secret"), Says(HookOutcome.deny("Not that."), when=lambda ctx: ctx.name in denied)
    denied = {"first"} if is_denied else set()

    async def starts():
        await team.failing(first)
        return (await run_subagent(waits, "t")).output

    assert team.answered(starts, before_subagent=gate) == ("secret done", ["secret"])
    assert (team.ran, team.errors) == (["secret"], [error] * 2)
    assert [ctx.name for ctx in gate.calls] == ["first", "secret"]


def test_what_was_done_is_given_back_to_whom_it_belongs_whatever_the_order():
    team = Team()
    first, second = team.worker("slow a"), team.worker("slow b")
    waits, last = team.worker("secret"), team.worker("d")

    async def one_by_one(*agents):
        return [(await run_subagent(agent, "t")).output for agent in agents]

    async def starts():
        return str(await asyncio.gather(one_by_one(first, waits), one_by_one(second, last)))

    result, _ = team.answered(starts)
    assert result == str([["slow a done", "secret done"], ["slow b done", "d done"]])
    assert sorted(team.ran) == ["d", "secret", "slow a", "slow b"]


def test_one_that_the_tool_gives_up_on_is_not_waited_for():
    team = Team()
    waits, works = team.worker("secret"), team.worker("slow a")

    async def starts():
        given_up = asyncio.create_task(run_subagent(waits, "t"))
        state = await run_subagent(works, "t")
        given_up.cancel()
        return state.output

    assert team.answered(starts) == ("slow a done", [])
    assert team.ran == ["slow a"]


@pytest.mark.parametrize("together", [asyncio.gather, in_tasks])
@pytest.mark.parametrize("turns", range(8))
def test_one_that_is_started_while_another_already_waits_does_nothing_twice_either(turns, together):
    team = Team()
    waits, works = team.worker("secret"), team.worker("slow 1", "secret 2")

    async def later():
        for _ in range(turns):
            await asyncio.sleep(0)
        return await run_subagent(works, "t")

    async def starts():
        await together(run_subagent(waits, "t"), later())
        return "both"

    assert team.answered(starts)[0] == "both"
    assert sorted(team.ran) == ["secret", "secret 2", "slow 1"]


def test_one_that_waited_and_is_not_started_again_is_forgotten():
    team, makings = Team(), []
    first, second, third = (team.worker(f"secret {number}") for number in range(3))

    async def starts():
        makings.append(1)
        if len(makings) == 1:
            await gathered(first, second)
        await run_subagent(first, "t")
        return (await run_subagent(third, "t")).output

    result, asked = team.answered(starts)
    assert (result, asked) == ("secret 2 done", ["secret 0", "secret 2"])
    assert team.ran == ["secret 0", "secret 2"]


def test_an_agent_that_is_still_at_work_when_its_call_has_ended_is_cancelled_and_none_is_started_any_more():
    team = Team()
    gate, tasks = Gate(), []

    @tool
    async def stay() -> None:
        await gate.wait()

    stays, late = child(call("stay"), "done", tools=[stay], name="stays"), team.worker("late")

    async def afterwards():
        await released.wait()
        await team.failing(late)

    async def starts():
        tasks.extend([asyncio.create_task(run_subagent(stays, "t")), asyncio.create_task(afterwards())])
        await gate.entered.wait()
        return "gone"

    async def run():
        state = await team.parent(starts).run("go")
        released.set()
        await asyncio.wait(tasks)
        return state

    released = asyncio.Event()
    state = asyncio.run(run())
    assert said(state.messages)[2] == ("tool", "gone")
    assert tasks[0].cancelled()
    assert team.ran == []
    assert team.errors == ["SubagentError: Subagent 'late' is not started: the tool call that it belongs to has ended."]


def test_a_call_that_has_ended_does_not_wait_for_an_agent_that_it_left_waiting():
    team = Team()
    tasks: list[asyncio.Task[AgentState]] = []
    waits, works = team.worker("secret"), team.worker("slow 1", "slow 2")

    async def starts():
        tasks.extend(asyncio.create_task(run_subagent(agent, "t")) for agent in (waits, works))
        for _ in range(3):
            await asyncio.sleep(0)
        return "gone"

    async def run():
        state = await team.parent(starts).run("go")
        return state, [task.cancelled() for task in tasks]

    state, are_cancelled = asyncio.run(run())
    assert said(state.messages)[2] == ("tool", "gone")
    assert are_cancelled == [True, True]


def test_cancelling_the_run_cancels_the_agents_in_tasks_of_the_tool():
    team, gate, tasks = Team(), Gate(), []

    @tool
    async def stay() -> None:
        await gate.wait()

    stays = child(call("stay"), "done", tools=[stay], name="stays")

    async def starts():
        tasks.append(asyncio.create_task(run_subagent(stays, "t")))
        await asyncio.Event().wait()

    async def run():
        await cancelled_at(team.parent(starts).iterate("go"), gate)
        return tasks[0].cancelled()

    assert asyncio.run(run())


def test_in_a_thread_that_carries_the_context_the_gates_hold():
    team, seen = Team(), []
    works = team.worker("a")

    async def starts():
        def alone() -> None:
            seen.append(threading.current_thread())
            asyncio.run(run_subagent(works, "t"))

        await asyncio.to_thread(alone)
        return "done"

    team.answered(starts, before_tool_use=Says(HookOutcome.deny("No."), when=lambda ctx: ctx.depth == 1))
    assert seen
    assert seen[0] is not threading.main_thread()
    assert team.ran == []
