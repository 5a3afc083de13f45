"""The agent: how it is run, its fields in events, and that its runs do not mix."""

from __future__ import annotations

import asyncio
import gc
import os
import warnings
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import AgentState, HookContext, HookOutcome, HookRegistration
from agent_hooks.engine.hooks import Hooks
from agent_hooks.errors import HookMisuseError, RunError
from agent_hooks.model.state import Message
from agent_hooks.runtime.agent import AgentRuntime
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.defaults import DEFAULTS
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import tool
from runtime.agents import EVENTS, Recorder, Trial, boom, call, echo, reply, results, said

if TYPE_CHECKING:
    from agent_hooks.model.inference import ModelRequest, ModelResponse


# -- ways to run -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", [0, 1])
def test_a_state_may_be_given_in_place_of_the_prompt(place):
    before = AgentState(messages=(Message(role="user", content="hello"),))
    arguments: list[Any] = [*[None] * place, before]
    state = Trial("done").build().run_sync(*arguments)
    assert said(state.messages) == [("user", "hello"), ("assistant", "done")]


def test_a_request_on_behalf_of_a_hook_that_is_suspended_leaves_nothing_waiting():
    refusals: list[str] = []

    async def asks(ctx: HookContext) -> None:
        try:
            await ctx.runtime.ask_model(ctx.runtime.request(ctx.state), ctx)
        except RunError as error:
            refusals.append(str(error))

    trial = Trial("done", "aside")
    trial.on("before_inference", HookOutcome.suspend("Wait."), when=lambda ctx: ctx.state and ctx.state.step_count)
    trial.builder = trial.builder.hook("on_stop", asks)
    agent = trial.build()
    state = agent.run_sync("go")
    assert (state.status, len(refusals)) == ("completed", 1)
    assert isinstance(agent.interceptor, Hooks)
    assert agent.interceptor.manager.suspended == {}


@pytest.mark.parametrize("outcome", [HookOutcome.deny("No."), HookOutcome.retry()], ids=lambda each: each.decision)
def test_a_response_on_behalf_of_a_hook_that_is_withheld_says_so_and_nothing_else(outcome):
    given: list[ModelResponse] = []

    async def asks(ctx: HookContext) -> None:
        given.append(await ctx.runtime.ask_model(ctx.runtime.request(ctx.state), ctx))

    trial = Trial("done", "aside")
    trial.on("after_inference", outcome, when=lambda ctx: ctx.response.content == "aside")
    trial.builder = trial.builder.hook("on_stop", asks)
    trial.run()
    assert [(response.content, response.finish_reason) for response in given] == [(None, "withheld")]


@pytest.mark.parametrize("state", [{"status": "ready"}, "state", 3])
def test_what_is_no_state_is_refused_with_how_to_read_one(state):
    agent = Trial("done").build()
    uses = (agent.abandon, lambda state: agent.run_sync("go", state), lambda state: agent.resume_sync(state, "allow"))
    for use in uses:
        with pytest.raises(RunError, match=r"AgentState\.from_dict"):
            use(state)


@pytest.mark.parametrize("run", ["run_sync", "iterate"])
def test_with_neither_there_is_nothing_to_run(run):
    with pytest.raises(RunError, match="give a prompt, a state, or both"):
        getattr(Trial().build(), run)()


def test_run_sync_where_a_loop_runs_is_refused_with_what_to_write_and_leaves_nothing_behind():
    agent = Trial("done").build()

    async def inside() -> None:
        with pytest.raises(HookMisuseError, match=r"await run\(\.\.\.\)"):
            agent.run_sync("go")

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(inside())
        gc.collect()
    assert isinstance(agent.driver, ScriptedDriver)
    assert agent.driver.requests == []


# -- step by step ------------------------------------------------------------------------------------------------------


async def states_of(run: Any) -> list[AgentState]:
    return [state async for state in run]


@pytest.mark.parametrize(
    ("replies", "steps"),
    [
        (["done"], [1]),
        ([call(), "done"], [1, 2]),
        ([call(), call(), "done"], [1, 2, 3]),
        ([call(), ConnectionError("no answer")], [1, 2]),
    ],
)
def test_iterate_yields_a_state_for_each_completed_step_the_last_one_at_the_end(replies, steps):
    run = Trial(*replies).build().iterate("go")

    async def twice() -> tuple[list[AgentState], list[AgentState]]:
        return await states_of(run), await states_of(run)

    states, again = asyncio.run(twice())
    assert again == []
    assert [state.step_count for state in states] == steps
    assert all(state.current_step is None for state in states)
    assert [state.status in ("completed", "failed") for state in states] == [*[False] * (len(steps) - 1), True]
    assert run.state == states[-1]


@pytest.mark.parametrize("event", ["user_input", "before_execution", "before_step"])
def test_iterate_yields_once_where_there_is_no_step(event):
    trial = Trial("done")
    trial.on(event, HookOutcome.stop("no"))
    (state,) = asyncio.run(states_of(trial.build().iterate("go")))
    assert (state.status, state.step_count) == ("stopped", 0)


def test_nothing_happens_before_the_first_state_is_asked_for_and_no_more_than_asked():
    trial = Trial(call(), "done")

    async def one_state() -> None:
        run = trial.build().iterate("go")
        assert trial.events == []
        async for state in run:
            assert (state.step_count, run.state) == (1, state)
            break
        assert (len(trial.requests), trial.events[-1]) == (1, "before_step")
        assert run.state.step_count == 1

    asyncio.run(one_state())


def test_no_state_is_shown_whose_answer_has_not_been_let_out():
    """Whoever reads the states as they come sees nothing that before_output withholds."""
    trial = Trial(call(), "the secret", "the secret")
    trial.on("on_stop", HookOutcome.force_continue("more"), times=1)
    trial.on("before_output", HookOutcome.deny("not for you"))
    states = asyncio.run(states_of(trial.build().iterate("go")))
    assert "the secret" not in str(states[-1].steps[-1])
    assert states[-1].output is None
    assert [state.step_count for state in states] == [1, 2, 3]


# -- event fields ------------------------------------------------------------------------------------------------------


def test_every_event_says_whose_it_is_and_where(tmp_path):
    trial = Trial([call("boom"), call()], "done")
    builder = trial.builder.with_name("tidy").with_session("s-1").with_cwd(str(tmp_path))
    agent = builder.build()
    state = agent.run_sync("go")
    seen = trial.recorder.seen
    assert {str(ctx.event) for ctx in seen} == set(EVENTS) - {"on_error"}
    for ctx in seen:
        assert (ctx.agent_name, ctx.session_id, ctx.cwd) == ("tidy", "s-1", str(tmp_path))
        assert (ctx.agent_id, ctx.execution_id) == (state.agent_id, state.execution_id)
        assert ctx.runtime is agent
        assert (ctx.depth, ctx.parent_agent_id) == (0, None)
        assert (ctx.state.agent_id, ctx.state.execution_id) == (state.agent_id, state.execution_id)
    assert state.agent_id == agent.agent_id


def test_the_directory_is_the_current_one_when_the_run_begins(tmp_path, monkeypatch):
    trial = Trial("done")
    agent = trial.build()
    monkeypatch.chdir(tmp_path)
    agent.run_sync("go")
    assert {ctx.cwd for ctx in trial.recorder.seen} == {os.path.realpath(tmp_path)}


@pytest.mark.parametrize(("session", "text"), [("s-1", "Denied: no"), ("s-2", "echo: a")])
def test_session_hooks_are_live_in_their_session_only(session, text):
    trial = Trial(call(), "done")
    trial.on("before_tool_use", HookOutcome.deny("no"), scope=("session", "s-1"))
    trial.builder = trial.builder.with_session(session)
    assert results(trial.run()) == [text]


# -- many at once ------------------------------------------------------------------------------------------------------


class Conversing:
    """A driver for many runs at once: asks each for a tool, then repeats the tool's result and the prompt."""

    model = "conversing"

    async def respond(self, request: ModelRequest) -> ModelResponse:
        await asyncio.sleep(0)
        texts = [str(message.content) for message in request.messages]
        if request.messages[-1].role == "tool":
            return reply(f"{texts[0]} {texts[-1]}", tokens=1)
        return reply("", call(text=texts[0]), tokens=len(texts[0]))


@pytest.mark.parametrize("parallel", [False, True])
def test_concurrent_runs_of_one_agent_do_not_mix(parallel):
    recorder = Recorder()

    async def note(ctx: HookContext) -> HookOutcome:
        await asyncio.sleep(0)
        assert ctx.state is not None
        return HookOutcome.with_state(ctx.state.with_metadata("prompt", ctx.state.messages[0].content))

    builder = AgentBuilder(plugins=()).with_driver(Conversing()).with_tools(echo).with_parallel_tools(parallel)
    agent = builder.hook(EVENTS, recorder).before_tool_use(note).build()

    async def many() -> list[AgentState]:
        return await asyncio.gather(*(agent.run("x" * n) for n in range(1, 20)))

    states = asyncio.run(many())
    for n, state in enumerate(states, 1):
        prompt = "x" * n
        assert state.output == f"{prompt} echo: {prompt}"
        assert (state.metadata, state.usage.total, state.status) == ({"prompt": prompt}, n + 1, "completed")
        own = [ctx for ctx in recorder.seen if ctx.execution_id == state.execution_id]
        assert [str(ctx.event) for ctx in own][-1] == "after_execution"
        assert {ctx.state.messages[0].content for ctx in own if ctx.state and ctx.state.messages} == {prompt}
    first = next(i for i, ctx in enumerate(recorder.seen) if ctx.event == "after_execution")
    assert len({ctx.execution_id for ctx in recorder.seen[:first]}) > 1, "the runs did not run at the same time"


def test_forced_rounds_of_concurrent_runs_are_counted_for_each():
    builder = AgentBuilder(plugins=()).with_driver(Conversing()).with_tools(echo)
    agent = builder.hook("on_stop", lambda ctx: HookOutcome.force_continue("more")).build()

    async def many() -> list[AgentState]:
        return await asyncio.gather(*(agent.run("go") for _ in range(3)))

    forced = [said(state.messages).count(("user", "more")) for state in asyncio.run(many())]
    assert forced == [3, 3, 3]


# -- parts -------------------------------------------------------------------------------------------------------------


def test_the_least_agent_is_a_driver_and_tools_which_may_be_bare_functions():
    def add(a: int, b: int) -> int:
        """Add."""
        return a + b

    agent = AgentRuntime.default(ScriptedDriver(reply("", call("add", a=1, b=2), tokens=5), "done"), add)
    state = agent.run_sync("go")
    assert (state.output, state.usage.total, results(state)) == ("done", 5, ["3"])


@pytest.mark.parametrize(
    ("tools", "problem"),
    [
        ([3], "3 is no tool"),
        (["echo"], "'echo' is no tool"),
        ([None], "None is no tool"),
        ([echo, tool(boom.function, name="echo")], "Two tools are called 'echo'"),
    ],
)
def test_what_is_no_tool_or_has_the_name_of_another_is_refused(tools, problem):
    with pytest.raises(RunError, match=problem):
        AgentRuntime(ScriptedDriver(), tools=tools)


def test_an_agent_describes_its_hooks_in_the_order_in_which_they_run(manager):
    manager.add(HookRegistration("after_step", lambda ctx: None, priority=300, name="mine", match="*"))
    described = AgentRuntime(ScriptedDriver("Hi."), hooks=manager).describe()
    after_step = [(info.name, info.priority, info.source) for info in described if info.event == "after_step"]
    assert after_step[-1] == ("mine", 300, "code")
    assert [name for name, _, _ in after_step[:-1]] == [
        default.name for default in DEFAULTS if "after_step" in default.event
    ]
    assert AgentRuntime.default(ScriptedDriver("Hi.")).describe()[0].event == described[0].event
