"""Subagents whose calls wait for an answer: the run waits with them, and goes on where it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import (
    AgentBuilder,
    AgentState,
    HookManager,
    HookOutcome,
    ModelRequest,
    ScriptedDriver,
    StopRunError,
    ToolCall,
    run_subagent,
    tool,
)
from agent_hooks.errors import SuspensionError
from agent_hooks.system.store import MemoryStore
from runtime.agents import Says, Trial, call, child, count, echo, reply, results, said, spawning
from runtime.pauses import suspended, through_json

if TYPE_CHECKING:
    from agent_hooks.runtime.agent import AgentRuntime

SECRET = call(text="secret", id="i1")


def asks_about(text: str) -> Any:
    return lambda ctx: HookOutcome.ask("Really?") if ctx.tool_args.get("text") == text else None


class Waiting:
    """A parent and a child, one of whose calls waits for an answer; each resumption is a new process's."""

    def __init__(self, hooks: Any = None, *, replies: Any = None, inner: Any = (SECRET,), parallel: bool = False):
        self.store = MemoryStore()
        self.hooks = {"before_tool_use": asks_about("secret"), **(hooks or {})}
        self.replies = replies or [call("spawn", task="count", id="c1")]
        self.inner = inner
        self.parallel = parallel
        self.ran: list[str] = []

    def agent(self, *replies: Any, inner: Any = ()) -> AgentRuntime:
        @tool
        def noted(text: str) -> str:
            self.ran.append(text)
            return f"noted {text}"

        made = AgentBuilder(plugins=()).with_store(self.store).with_ask("host")
        helper = made.with_driver(ScriptedDriver(*inner)).with_tools(echo, noted).with_name("helper").build()
        spawn, _ = spawning(helper)
        made = made.with_driver(ScriptedDriver(*replies)).with_tools(spawn, noted).with_parallel_tools(self.parallel)
        for event, hook in self.hooks.items():
            for place, one in enumerate(hook if isinstance(hook, list) else [hook]):
                made = made.hook(event, one, name=f"asks {place} on {event}")
        return made.build()

    def begin(self) -> AgentState:
        return through_json(self.agent(*self.replies, inner=self.inner).run_sync("go"))

    def go_on(self, state: AgentState, decision: Any = "allow", *, inner: Any = ("one",)) -> AgentState:
        return through_json(self.agent("done", inner=inner).resume_sync(state, decision))


def test_a_child_that_waits_makes_the_run_wait_and_goes_on_once_with_the_answer():
    waiting = Waiting()
    first = waiting.begin()
    assert first.status == "suspended"
    assert (suspended(first).reason, suspended(first).tool_call.args["text"]) == ("Really?", "secret")
    state = waiting.go_on(first)
    assert (state.status, results(state), state.output) == ("completed", ["one"], "done")
    with pytest.raises(SuspensionError):
        waiting.go_on(first)


@pytest.mark.parametrize("part", ["call", "request"])
def test_a_child_started_in_a_call_or_request_of_a_loop_of_others_makes_the_run_wait(part):
    hooks = HookManager().hooks()

    class Wrapped(Waiting):
        def agent(self, *replies: Any, inner: Any = ()) -> AgentRuntime:
            agent = super().agent(*replies, inner=inner)
            spawn = agent.tools["spawn"]

            async def within(task: str) -> Any:
                def run(_given: Any) -> Any:
                    return spawn.call({"task": task})

                if part == "call":
                    used: Any = await hooks.call_tool(ToolCall("t", {}), run)
                else:
                    used = await hooks.call_model(ModelRequest(messages=()), run)
                self.ran.append("the rest of the tool")
                return used.result if part == "call" else used.response.content

            within.__name__ = "spawn"
            return agent._with(tools=[within, agent.tools["noted"]])

    waiting = Wrapped()
    first = waiting.begin()
    assert suspended(first).tool_call.args["text"] == "secret"
    assert results(waiting.go_on(first)) == ["one"]
    assert waiting.ran == ["the rest of the tool"]


def test_a_refusal_reaches_the_child():
    seen: list[Any] = []

    def answer(request: Any) -> str:
        seen.extend(said(request.messages))
        return "then not"

    waiting = Waiting()
    state = waiting.go_on(waiting.begin(), "deny", inner=[answer])
    assert any("Denied" in str(content) for role, content in seen if role == "tool")
    assert results(state) == ["then not"]


@pytest.mark.parametrize("text", ['"secret"', '"count"', '"noted own"'])
def test_a_state_with_a_changed_call_of_the_child_or_call_or_result_of_its_own_is_refused(text):
    waiting = Waiting(replies=[[call("noted", text="own", id="c0"), call("spawn", task="count", id="c1")]])
    saved = json.dumps(waiting.begin().as_dict())
    assert text in saved
    data = json.loads(saved.replace(text, '"poison"'))
    with pytest.raises(SuspensionError):
        waiting.go_on(AgentState.from_dict(data))


def test_a_run_that_was_given_up_cannot_be_gone_on_with():
    waiting = Waiting()
    state = waiting.begin()
    given_up = waiting.agent().abandon(state)
    assert (given_up.status, "not known" in results(given_up)[0]) == ("stopped", True)
    with pytest.raises(SuspensionError):
        waiting.go_on(state)


def test_a_child_that_was_answered_on_its_own_makes_the_answer_to_the_run_useless():
    waiting = Waiting()
    state = waiting.begin()
    (inner,) = suspended(state).begun[0].agents
    alone = AgentBuilder(plugins=()).with_store(waiting.store).with_driver(ScriptedDriver("one")).with_tools(echo)
    assert alone.build().resume_sync(inner, "allow").output == "one"
    with pytest.raises(SuspensionError):
        waiting.go_on(state)


def test_what_was_done_asked_and_used_before_it_waited_is_not_again():
    asked = Says(None)
    first = [call("noted", text="first", id="i0"), SECRET]
    waiting = Waiting({"before_subagent": asked}, inner=[reply(None, *first, tokens=7)])
    state = waiting.begin()
    assert state.model_usage["scripted"].input_tokens == 7
    state = waiting.go_on(state, inner=[reply("one", tokens=2)])
    assert (len(asked.calls), waiting.ran, state.model_usage["scripted"].input_tokens) == (1, ["first"], 9)


@pytest.mark.parametrize("decision", ["allow", "deny"])
def test_the_start_of_a_subagent_may_wait_too(decision):
    """A start that is refused is a denied call."""
    waiting = Waiting({"before_subagent": Says(HookOutcome.ask("Start it?"))})
    state = waiting.begin()
    assert (suspended(state).event, suspended(state).subject) == ("before_subagent", "count")
    state = waiting.go_on(state, decision)
    assert (results(state) == ["one"], count("Denied", state.messages)) == (decision == "allow", decision == "deny")
    assert state.output == "done"


def test_a_child_that_waits_twice_is_answered_twice():
    waiting = Waiting({"before_tool_use": lambda ctx: HookOutcome.ask("?") if ctx.tool_name == "echo" else None})
    state = waiting.go_on(waiting.begin(), inner=[call(text="again", id="i2")])
    assert suspended(state).tool_call.args["text"] == "again"
    state = waiting.go_on(state)
    assert (state.output, state.status) == ("done", "completed")


def test_two_children_that_wait_are_answered_one_after_the_other(parallel):
    calls = [call("spawn", task="a", id="c1"), call("spawn", task="b", id="c2"), call("noted", text="own", id="c3")]
    secrets = [SECRET, call(text="secret", id="i2")]
    waiting = Waiting(replies=[calls], inner=secrets[: 2 if parallel else 1], parallel=parallel)
    state = waiting.go_on(waiting.begin(), inner=["one"] if parallel else ["one", secrets[1]])
    assert [begun.call.id for begun in suspended(state).begun] == ["c2"]
    state = waiting.go_on(state, inner=["two"])
    assert (results(state), state.output, waiting.ran) == (["one", "two", "noted own"], "done", ["own"])


def test_a_call_whose_own_hooks_wait_comes_after_the_child_that_waits():
    calls = [call("spawn", task="a", id="c1"), call("noted", text="asked", id="c2")]
    asks = {"before_tool_use": lambda ctx: HookOutcome.ask("?") if ctx.tool_args.get("text") else None}
    waiting = Waiting(asks, replies=[calls], parallel=True)
    state = waiting.go_on(waiting.begin())
    assert suspended(state).tool_call.args["text"] == "asked"
    assert results(waiting.go_on(state)) == ["one", "noted asked"]


def test_a_child_whose_call_several_hooks_wait_on_is_answered_once_by_each():
    def waits(kind: str, name: str) -> Any:
        return lambda ctx: getattr(HookOutcome, kind)(name) if ctx.tool_call.name == "echo" else None

    hooks = [waits(kind, f"{kind} {place}") for place, kind in enumerate(("suspend", "ask", "suspend"))]
    waiting, asked = Waiting({"before_tool_use": hooks}), []
    state = first = waiting.begin()
    while state.status == "suspended":
        asked.append(suspended(state).reason)
        assert len(asked) <= 3, asked
        state = waiting.go_on(state)
    assert (asked, state.output) == (["suspend 0", "suspend 2", "ask 1"], "done")
    with pytest.raises(SuspensionError):
        waiting.go_on(first)


def test_a_call_that_is_made_again_starts_its_agents_anew():
    again = Says(HookOutcome.retry("Again."), times=1)
    waiting = Waiting({"after_tool_use": again}, inner=["bad", SECRET])
    assert results(waiting.go_on(waiting.begin(), inner=["good"])) == ["good"]


def test_a_run_that_another_tool_stops_does_not_wait():
    @tool
    def stop() -> str:
        raise StopRunError("Enough.")

    spawn, _ = spawning(child(call(text="secret")))
    trial = Trial([call("spawn", task="a"), call("stop")], tools=(spawn, stop))
    trial.builder = trial.builder.with_parallel_tools().with_ask("host")
    trial.on("before_tool_use", asks_about("secret"))
    state = trial.run()
    assert (state.status, "not known" in results(state)[0]) == ("stopped", True)


# -- tools that do more than start one agent ---------------------------------------------------------------------------


def builder(store: MemoryStore, *replies: Any, tools: Any) -> AgentBuilder:
    made = AgentBuilder(plugins=()).with_store(store).with_ask("host").with_tools(*tools)
    return made.with_driver(ScriptedDriver(*replies))


def test_a_grandchild_waits_through_its_parents():
    store = MemoryStore()

    def agent(*replies: Any, middle: Any, inner: Any) -> AgentRuntime:
        to_lowest, _ = spawning(builder(store, *inner, tools=[echo]).with_name("lowest").build())
        to_middle, _ = spawning(builder(store, *middle, tools=[to_lowest]).with_name("between").build())
        return builder(store, *replies, tools=[to_middle]).hook("before_tool_use", asks_about("secret")).build()

    go = call("spawn", task="on", id="c1")
    state = through_json(agent(go, middle=[go], inner=[SECRET]).run_sync("go"))
    assert suspended(state).tool_call.args["text"] == "secret"
    assert results(agent("done", middle=["middle"], inner=["inner"]).resume_sync(state, "allow")) == ["middle"]


def test_a_tool_that_starts_several_agents_goes_on_with_the_one_that_waited():
    store, started = MemoryStore(), []

    def agent(*replies: Any, inner: Any) -> AgentRuntime:
        helper = builder(store, *inner, tools=[echo]).with_name("helper").build()

        @tool(kind="subagent")
        async def relay() -> Any:
            return " ".join([(await run_subagent(helper, task)).output for task in ("one", "two")])

        made = builder(store, *replies, tools=[relay]).hook("before_subagent", lambda ctx: started.append(ctx.task))
        return made.hook("before_tool_use", asks_about("secret")).build()

    state = agent(call("relay", id="c1"), inner=["first", SECRET]).run_sync("go")
    state = agent("done", inner=["second"]).resume_sync(through_json(state), "allow")
    assert (results(state), started) == (["first second"], ["one", "two"])


def test_a_tool_that_catches_exceptions_lets_the_wait_through():
    store = MemoryStore()
    helper = builder(store, SECRET, tools=[echo]).build()

    @tool(kind="subagent")
    async def careful() -> Any:
        try:
            return (await run_subagent(helper, "go")).output
        except Exception as error:  # noqa: BLE001 - as a careful author writes it
            return f"caught {error}"

    made = builder(store, call("careful"), tools=[careful]).hook("before_tool_use", asks_about("secret"))
    assert made.build().run_sync("go").status == "suspended"
