"""Subagents: started by tools and hooks, under the parent's gates, with events, usage, depth limits and resumption."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agent_hooks import (
    AgentBuilder,
    AgentState,
    ErrorInfo,
    HookOutcome,
    ScriptedDriver,
    StopReason,
    StopSignal,
    SubagentError,
    Usage,
    count_usage,
    current_run,
    run_subagent,
    tool,
)
from agent_hooks.errors import SuspensionError
from agent_hooks.runtime.loop import AgentRun
from agent_hooks.system.store import MemoryStore
from runtime.agents import (
    Gate,
    Says,
    Trial,
    WaitingDriver,
    call,
    cancelled_at,
    child,
    count,
    echo,
    parent,
    reply,
    requests_of,
    said,
    signal_of,
    spawning,
)

# -- the child's run ---------------------------------------------------------------------------------------------------


def test_its_answer_is_the_tools_result_and_its_messages_stay_its_own():
    trial, states = parent(child(call(text="1"), "one"))
    state = trial.run()
    assert said(state.messages)[2] == ("tool", "one")
    assert count("echo: 1", state.messages) == 0
    assert count("echo: 1", states[0].messages) == 1
    assert state.status == "completed"


def test_its_events_say_whose_child_it_is_and_how_deep():
    trial, _ = parent(child(call(text="1"), "one"))
    state = trial.run()
    inner, outer = [
        next(ctx for ctx in trial.seen("before_tool_use") if ctx.tool_name == name) for name in ("echo", "spawn")
    ]
    assert (outer.parent_agent_id, outer.depth) == (None, 0)
    assert (inner.parent_agent_id, inner.depth) == (state.agent_id, 1)
    assert inner.agent_id not in ("", outer.agent_id)


def test_it_works_in_the_session_the_directory_and_the_project_of_its_parent(tmp_path):
    trial, _ = parent(child(call(text="1"), "one"))
    trial.builder = trial.builder.with_session("s1").with_cwd(tmp_path)
    agent = trial.builder.build()
    agent.identity = agent.identity.replace(project_dir=str(tmp_path))
    agent.run_sync("go")
    inner = next(ctx for ctx in trial.seen("before_tool_use") if ctx.tool_name == "echo")
    assert (inner.session_id, inner.cwd, inner.project_dir) == ("s1", str(tmp_path), str(tmp_path))


def test_the_skill_that_is_active_in_its_parent_is_active_in_it_too():
    trial, _ = parent(child(call(text="1"), "one"))
    gate = trial.on("before_tool_use", HookOutcome.deny("Not in here."), when=lambda ctx: ctx.skill and ctx.depth)

    async def run():
        async for _ in AgentRun(trial.build(), AgentState(), "go", skill="deploy"):
            pass

    asyncio.run(run())
    assert [(ctx.depth, ctx.skill) for ctx in gate.calls] == [(0, "deploy"), (1, "deploy")]


def test_a_session_of_its_own_does_not_count():
    inner = AgentBuilder(plugins=()).with_driver(ScriptedDriver(call(text="1"), "one")).with_tools(echo)
    trial, _ = parent(inner.with_session("other").build())
    trial.builder = trial.builder.with_session("s1")
    trial.run()
    assert {ctx.session_id for ctx in trial.recorder.seen} == {"s1"}


def test_a_state_that_hooks_of_the_boundary_bring_undoes_nothing_that_happened_meanwhile():
    trial, _ = parent(child("one"))
    trial.on("after_subagent", lambda ctx: HookOutcome.proceed(state=ctx.state.replace(messages=())))
    assert said(trial.run().messages)[0] == ("user", "go")


def test_outside_of_a_run_it_runs_like_any_agent():
    state = asyncio.run(run_subagent(child("one"), "count"))
    assert (state.output, state.parent_agent_id) == ("one", None)


# -- the boundary ------------------------------------------------------------------------------------------------------


def test_before_subagent_is_shown_the_task_and_after_subagent_the_result():
    trial, _ = parent(child("one"), name="counter", max_depth=2)
    trial.run()
    (before,), (after,) = trial.seen("before_subagent"), trial.seen("after_subagent")
    assert (before.name, before.task, before.depth, before.max_depth) == ("counter", "count", 0, 2)
    assert (after.name, after.task, after.result, after.status) == ("counter", "count", "one", "completed")


def test_before_subagent_may_change_the_task():
    inner = child("one")
    trial, _ = parent(inner)
    trial.on("before_subagent", HookOutcome.update(task="count to two"))
    trial.run()
    assert requests_of(inner)[0].messages[0].content == "count to two"


def test_a_denied_subagent_is_not_started_and_does_not_make_the_run_failed():
    inner = child("one")
    trial, _ = parent(inner)
    trial.on("before_subagent", HookOutcome.deny("Not today."))
    state = trial.run()
    assert requests_of(inner) == []
    assert count("Denied: Not today.", state.messages) == 1
    assert state.status == "completed"


def test_a_decision_to_stop_before_it_stops_the_run():
    inner = child("one")
    trial, _ = parent(inner, [call("spawn", task="count"), call(text="never")], "done")
    trial.on("before_subagent", HookOutcome.stop("Enough."))
    state = trial.run()
    assert (state.status, signal_of(state).message) == ("stopped", "Enough.")
    assert requests_of(inner) == []
    assert [execution.was_blocked for execution in state.steps[0].executions] == [False, True]


def test_after_subagent_may_change_the_result():
    trial, _ = parent(child("one"))
    trial.on("after_subagent", HookOutcome.update(result="uno"))
    assert said(trial.run().messages)[2] == ("tool", "uno")


def test_a_denied_result_becomes_an_error_that_says_why():
    trial, _ = parent(child("eins"))
    trial.on("after_subagent", HookOutcome.deny("Too short."))
    state = trial.run()
    assert count("eins", state.messages) == 0
    assert count("Too short.", state.messages) == 1


def test_what_hooks_of_the_boundary_tell_the_model_stands_with_the_result():
    trial, _ = parent(child("one"))
    trial.on("before_subagent", HookOutcome.proceed(context="Before."))
    trial.on("after_subagent", HookOutcome.proceed(context="After."))
    assert said(trial.run().messages)[2] == ("tool", "one\n\nBefore.\n\nAfter.")


def test_a_failed_child_is_an_error_of_the_tool_and_told_of():
    trial, _ = parent(child(ValueError("no fuel")))
    state = trial.run()
    assert count("Subagent 'helper' failed: no fuel", state.messages) == 1
    assert trial.seen("after_subagent")[0].status == "failed"


def test_a_child_that_was_stopped_says_what_there_is_and_why():
    trial, states = parent(child(reply("So far so good.", call(text="1"))))
    trial.on(
        "before_step",
        HookOutcome.signal(StopSignal(reason=StopReason.STEPS_LIMIT, message="Step limit reached: 1/1")),
        when=lambda ctx: ctx.depth == 1 and ctx.step_index == 1,
    )
    trial.run()
    assert states[0].output == "So far so good.\n\n(Stopped: Step limit reached: 1/1)"


def test_a_task_that_the_hooks_of_prompts_refuse_is_denied():
    trial, _ = parent(child("one"))
    trial.on("user_input", HookOutcome.deny("Say please."), when=lambda ctx: ctx.depth == 1)
    assert count("Denied: Say please.", trial.run().messages) == 1


# -- depth and cost ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("most", "deepest"), [(1, 1), (3, 3)])
def test_no_subagent_is_started_below_the_greatest_depth(most, deepest):
    depths = []

    @tool(kind="subagent")
    async def spawn(task: str) -> Any:
        run = current_run()
        assert run is not None
        depths.append(run.depth + 1)
        return (await run_subagent(child(call("spawn", task="on"), "up", tools=(spawn,)), task, max_depth=most)).output

    trial = Trial(call("spawn", task="on"), "done", tools=(spawn,))
    told = Says(None)
    trial.builder = trial.builder.hook("after_tool_use", told, mode="observe", name="told")
    trial.run()
    assert max(depths) == deepest + 1
    errors = [str(ErrorInfo.of(ctx.error).message) for ctx in told.calls if ctx.error]
    assert errors == [f"Maximum nesting depth ({most}) reached for subagent 'helper'."]


def test_what_a_child_uses_counts_for_the_parent_too():
    trial, _ = parent(child(reply("one", tokens=7)), reply(None, call("spawn", task="count"), tokens=3), "done")
    state = trial.run()
    assert state.model_usage["scripted"].input_tokens == 10
    assert state.usage.input_tokens == 3


def test_it_counts_also_where_the_child_fails():
    trial, _ = parent(child(reply(None, call(text="1"), tokens=7), ValueError("no fuel")))
    assert trial.run().model_usage["scripted"].input_tokens == 7


def test_what_a_hook_and_a_tool_use_on_the_side_is_counted():
    @tool
    def costly() -> str:
        count_usage("tiny", Usage(input_tokens=1))
        return "ok"

    trial = Trial(call("costly"), "done", tools=(costly,))
    trial.on("before_tool_use", lambda ctx: count_usage("judge", Usage(input_tokens=5)))
    state = trial.run()
    used = {model: usage.input_tokens for model, usage in state.model_usage.items()}
    assert used == {"judge": 5, "tiny": 1, "scripted": 0}


def test_outside_of_a_run_there_is_none_and_nothing_is_counted():
    count_usage("judge", Usage(input_tokens=5))
    assert current_run() is None


def test_hooks_and_tools_know_the_run_they_are_called_for():
    found = {}

    @tool
    def look() -> str:
        found["tool"] = current_run()
        return ""

    trial = Trial(call("look"), "done", tools=(look,))
    trial.on("before_tool_use", lambda ctx: found.update(hook=current_run()))
    agent = trial.build()
    run = agent.iterate("go")

    async def to_the_end():
        async for _ in run:
            pass

    asyncio.run(to_the_end())
    assert found == {"hook": run, "tool": run}
    assert current_run() is None


def test_a_checker_in_a_hook_is_not_told_of_but_gated_and_counted():
    checker = child(call(text="secret"), reply("fine", tokens=2), name="checker")
    states = []

    async def check(ctx):
        if ctx.depth == 0:
            states.append(await run_subagent(checker, "look", told=False))

    trial = Trial(call(text="a"), "done")
    trial.builder = trial.builder.hook(["before_subagent", "after_subagent"], trial.recorder, name="boundary")
    trial.on("before_tool_use", check, name="checks")
    trial.on(
        "before_tool_use", HookOutcome.deny("No."), when=lambda ctx: ctx.tool_args.get("text") == "secret", name="gate"
    )
    state = trial.run()
    assert states[0].steps[0].executions[0].was_blocked
    assert trial.seen("before_subagent") == trial.seen("after_subagent") == []
    assert state.model_usage["scripted"].input_tokens == 2


# -- waiting for an answer ---------------------------------------------------------------------------------------------


class Waiting:
    """A parent and a child, one of whose calls waits for an answer; each resumption is a new process's."""

    def __init__(self, ask, *, replies=(), inner=None, parallel=False):
        self.store = MemoryStore()
        self.ask = ask
        self.replies = replies or (call("spawn", task="count", id="c1"),)
        self.inner = inner or [call(text="secret", id="i1")]
        self.parallel = parallel
        self.ran = []

    def agent(self, *replies, inner=()):
        @tool
        def noted(text: str) -> str:
            self.ran.append(text)
            return f"noted {text}"

        made = AgentBuilder(plugins=()).with_store(self.store).with_ask("host")
        helper = made.with_driver(ScriptedDriver(*inner)).with_tools(echo, noted).with_name("helper").build()
        spawn, _ = spawning(helper)
        made = made.with_driver(ScriptedDriver(*replies)).with_tools(spawn, noted).with_parallel_tools(self.parallel)
        for event, hook in self.ask.items():
            made = made.hook(event, hook, name=f"asks on {event}")
        return made.build()

    def begin(self):
        return through_json(self.agent(*self.replies, inner=self.inner).run_sync("go"))

    def go_on(self, state, decision, *replies, inner=()):
        return through_json(self.agent(*replies, inner=inner).resume_sync(state, decision))


def through_json(state):
    return AgentState.from_dict(json.loads(json.dumps(state.as_dict())))


def asks_about(text):
    return lambda ctx: HookOutcome.ask("Really?") if ctx.tool_args.get("text") == text else None


def test_a_child_that_waits_makes_the_run_wait_and_goes_on_with_the_answer():
    waiting = Waiting({"before_tool_use": asks_about("secret")})
    state = waiting.begin()
    assert state.status == "suspended"
    assert (state.suspended.reason, state.suspended.tool_call.args["text"]) == ("Really?", "secret")
    state = waiting.go_on(state, "allow", "done", inner=["one"])
    assert state.status == "completed"
    assert said(state.messages)[1:] == [("assistant", ""), ("tool", "one"), ("assistant", "done")]


def test_a_refusal_reaches_the_child():
    waiting = Waiting({"before_tool_use": asks_about("secret")})
    seen = []
    state = waiting.begin()

    def answer(request):
        seen.extend(said(request.messages))
        return "then not"

    helper = [answer]
    state = waiting.go_on(state, "deny", "done", inner=helper)
    assert any("Denied" in str(content) for role, content in seen if role == "tool")
    assert said(state.messages)[2] == ("tool", "then not")


def test_the_answer_works_once():
    waiting = Waiting({"before_tool_use": asks_about("secret")})
    state = waiting.begin()
    waiting.go_on(state, "allow", "done", inner=["one"])
    with pytest.raises(SuspensionError):
        waiting.go_on(state, "allow", "done", inner=["one"])


def test_a_state_whose_child_was_changed_meanwhile_is_refused():
    waiting = Waiting({"before_tool_use": asks_about("secret")})
    data = json.loads(json.dumps(waiting.begin().as_dict()).replace("secret", "poison"))
    with pytest.raises(SuspensionError):
        waiting.go_on(AgentState.from_dict(data), "allow", "done", inner=["one"])


def test_a_run_that_was_given_up_cannot_be_gone_on_with():
    waiting = Waiting({"before_tool_use": asks_about("secret")})
    state = waiting.begin()
    given_up = waiting.agent().abandon(state)
    assert given_up.status == "stopped"
    assert "not known" in given_up.messages[2].content
    with pytest.raises(SuspensionError):
        waiting.go_on(state, "allow", "done", inner=["one"])


def test_the_hooks_before_the_call_are_not_asked_again_about_what_is_in_the_middle():
    asked = Says(None)
    waiting = Waiting({"before_tool_use": asks_about("secret"), "before_subagent": asked})
    waiting.go_on(waiting.begin(), "allow", "done", inner=["one"])
    assert len(asked.calls) == 1


def test_what_was_done_before_is_not_done_again():
    waiting = Waiting(
        {"before_tool_use": asks_about("secret")},
        inner=[[call("noted", text="first", id="i0"), call(text="secret", id="i1")]],
    )
    waiting.go_on(waiting.begin(), "allow", "done", inner=["one"])
    assert waiting.ran == ["first"]


def test_the_start_of_a_subagent_may_wait_too():
    waiting = Waiting({"before_subagent": Says(HookOutcome.ask("Start it?"))})
    state = waiting.begin()
    assert (state.suspended.event, state.suspended.subject) == ("before_subagent", "count")
    state = waiting.go_on(state, "allow", "done", inner=["one"])
    assert said(state.messages)[2] == ("tool", "one")


def test_a_start_that_is_refused_is_a_denied_call():
    waiting = Waiting({"before_subagent": Says(HookOutcome.suspend("Wait for Ann."))})
    state = waiting.go_on(waiting.begin(), "deny", "done", inner=["one"])
    assert count("Denied", state.messages) == 1
    assert state.output == "done"


def test_a_child_that_waits_twice_is_answered_twice():
    waiting = Waiting({"before_tool_use": lambda ctx: HookOutcome.ask("?") if ctx.tool_name == "echo" else None})
    state = waiting.go_on(waiting.begin(), "allow", inner=[call(text="again", id="i2")])
    assert state.suspended.tool_call.args["text"] == "again"
    state = waiting.go_on(state, "allow", "done", inner=["one"])
    assert state.output == "done"
    assert state.status == "completed"


@pytest.mark.parametrize("parallel", [True, False])
def test_two_children_that_wait_are_answered_one_after_the_other(parallel):
    calls = [call("spawn", task="a", id="c1"), call("spawn", task="b", id="c2"), call("noted", text="own", id="c3")]
    secrets = [call(text="secret", id="i1"), call(text="secret", id="i2")]
    waiting = Waiting(
        {"before_tool_use": asks_about("secret")},
        replies=[calls],
        inner=secrets[: 2 if parallel else 1],
        parallel=parallel,
    )
    state = waiting.begin()
    state = waiting.go_on(state, "allow", inner=["one"] if parallel else ["one", secrets[1]])
    assert state.status == "suspended"
    assert [begun.call.id for begun in state.suspended.begun] == ["c2"]
    state = waiting.go_on(state, "allow", "done", inner=["two"])
    assert said(state.messages)[2:] == [
        ("tool", "one"),
        ("tool", "two"),
        ("tool", "noted own"),
        ("assistant", "done"),
    ]
    assert waiting.ran == ["own"]


def test_a_grandchild_waits_through_its_parents():
    store = MemoryStore()

    def agent(*replies, middle=(), inner=()):
        made = AgentBuilder(plugins=()).with_store(store).with_ask("host")
        lowest = made.with_driver(ScriptedDriver(*inner)).with_tools(echo).with_name("lowest").build()
        spawn, _ = spawning(lowest)
        between = made.with_driver(ScriptedDriver(*middle)).with_tools(spawn).with_name("between").build()
        spawn, _ = spawning(between)
        made = made.hook("before_tool_use", asks_about("secret"))
        return made.with_driver(ScriptedDriver(*replies)).with_tools(spawn).build()

    go = call("spawn", task="on", id="c1")
    state = through_json(agent(go, middle=[go], inner=[call(text="secret", id="i1")]).run_sync("go"))
    assert state.suspended.tool_call.args["text"] == "secret"
    state = agent("done", middle=["middle"], inner=["inner"]).resume_sync(state, "allow")
    assert [content for role, content in said(state.messages) if role == "tool"] == ["middle"]


def test_a_tool_that_starts_several_agents_goes_on_with_the_one_that_waited():
    store, started = MemoryStore(), []

    def agent(*replies, inner=()):
        made = AgentBuilder(plugins=()).with_store(store).with_ask("host")
        helper = made.with_driver(ScriptedDriver(*inner)).with_tools(echo).with_name("helper").build()

        @tool(kind="subagent")
        async def relay() -> Any:
            texts = []
            for task in ("one", "two"):
                state = await run_subagent(helper, task)
                texts.append(state.output)
            return " ".join(texts)

        def counted(ctx):
            started.append(ctx.task)

        made = made.hook("before_subagent", counted).hook("before_tool_use", asks_about("secret"))
        return made.with_driver(ScriptedDriver(*replies)).with_tools(relay).build()

    state = agent(call("relay", id="c1"), inner=["first", call(text="secret", id="i1")]).run_sync("go")
    state = agent("done", inner=["second"]).resume_sync(through_json(state), "allow")
    assert said(state.messages)[2] == ("tool", "first second")
    assert started == ["one", "two"]


def test_a_call_whose_own_hooks_wait_comes_after_the_child_that_waits():
    calls = [call("spawn", task="a", id="c1"), call("noted", text="asked", id="c2")]
    asks = {"before_tool_use": lambda ctx: HookOutcome.ask("?") if ctx.tool_args.get("text") else None}
    waiting = Waiting(asks, replies=[calls], parallel=True)
    state = waiting.go_on(waiting.begin(), "allow", inner=["one"])
    assert state.suspended.tool_call.args["text"] == "asked"
    state = waiting.go_on(state, "allow", "done")
    assert [content for role, content in said(state.messages) if role == "tool"] == ["one", "noted asked"]


def test_a_child_that_was_answered_on_its_own_makes_the_answer_to_the_run_useless():
    waiting = Waiting({"before_tool_use": asks_about("secret")})
    state = waiting.begin()
    (inner,) = state.suspended.begun[0].agents
    alone = AgentBuilder(plugins=()).with_store(waiting.store).with_driver(ScriptedDriver("one")).with_tools(echo)
    assert alone.build().resume_sync(inner, "allow").output == "one"
    with pytest.raises(SuspensionError):
        waiting.go_on(state, "allow", "done", inner=["one"])


def test_a_child_whose_call_several_hooks_wait_on_is_answered_once_by_each():
    def waits(kind, name):
        def hook(ctx):
            return getattr(HookOutcome, kind)(name) if ctx.tool_call.name == "echo" else None

        return hook

    def made(*replies, inner=()):
        helper = AgentBuilder(plugins=()).with_store(store).with_driver(ScriptedDriver(*inner)).with_tools(echo)
        spawn, _ = spawning(helper.with_name("helper").build())
        parent = AgentBuilder(plugins=()).with_store(store).with_driver(ScriptedDriver(*replies)).with_tools(spawn)
        for place, kind in enumerate(("suspend", "ask", "suspend")):
            parent = parent.before_tool_use(waits(kind, f"{kind} {place}"), name=f"hook {place}")
        return parent.with_ask("host").build()

    store = MemoryStore()
    state = made(call("spawn", task="count", id="c1"), inner=[call(text="secret", id="i1")]).run_sync("go")
    first, asked = state, []
    while state.status == "suspended":
        asked.append(state.suspended.reason)
        assert len(asked) <= 3, asked
        state = made("done", inner=["counted"]).resume_sync(through_json(state), "allow")
    assert (asked, state.output) == (["suspend 0", "suspend 2", "ask 1"], "done")
    with pytest.raises(SuspensionError):
        made("done", inner=["counted"]).resume_sync(through_json(first), "allow")


def test_a_call_that_is_made_again_starts_its_agents_anew():
    again = Says(HookOutcome.retry("Again."), times=1)
    waiting = Waiting({"before_tool_use": asks_about("secret"), "after_tool_use": again})
    waiting.inner = ["bad", call(text="secret", id="i1")]
    state = waiting.go_on(waiting.begin(), "allow", "done", inner=["good"])
    assert said(state.messages)[2] == ("tool", "good")


def test_a_run_that_another_tool_stops_does_not_wait():
    from agent_hooks import StopRunError

    @tool
    def stop() -> str:
        raise StopRunError("Enough.")

    inner = child(call(text="secret"))
    spawn, _ = spawning(inner)
    trial = Trial([call("spawn", task="a"), call("stop")], tools=(spawn, stop))
    trial.builder = trial.builder.with_parallel_tools().with_ask("host")
    trial.on("before_tool_use", asks_about("secret"))
    state = trial.run()
    assert state.status == "stopped"
    assert "not known" in state.messages[2].content


def test_what_it_used_before_it_waited_is_counted_once():
    waiting = Waiting({"before_tool_use": asks_about("secret")})
    waiting.inner = [reply(None, call(text="secret", id="i1"), tokens=7)]
    state = waiting.begin()
    assert state.model_usage["scripted"].input_tokens == 7
    state = waiting.go_on(state, "allow", "done", inner=[reply("one", tokens=2)])
    assert state.model_usage["scripted"].input_tokens == 9


def test_an_agent_that_a_hook_of_the_boundary_starts_cannot_wait_either():
    helper = child(call(text="secret"), "fine", name="checker")

    async def check(ctx):
        if ctx.name != "checker":
            await run_subagent(helper, "look")

    trial, _ = parent(child("one"))
    trial.builder = trial.builder.with_ask("host")
    trial.on("before_subagent", check)
    trial.on("before_tool_use", asks_about("secret"), name="gate")
    state = trial.run()
    assert state.status == "completed"
    assert count("needs approval, and a hook cannot wait", state.messages) == 1


def test_a_tool_that_catches_exceptions_lets_the_wait_through():
    waiting = Waiting({"before_tool_use": asks_about("secret")})
    helper = (
        AgentBuilder(plugins=())
        .with_store(waiting.store)
        .with_driver(ScriptedDriver(call(text="secret", id="i1")))
        .with_tools(echo)
        .build()
    )

    @tool(kind="subagent")
    async def careful() -> Any:
        try:
            return (await run_subagent(helper, "go")).output
        except Exception as error:  # noqa: BLE001 - as a careful author writes it
            return f"caught {error}"

    made = AgentBuilder(plugins=()).with_store(waiting.store).with_ask("host")
    made = made.hook("before_tool_use", asks_about("secret")).with_tools(careful)
    assert made.with_driver(ScriptedDriver(call("careful"))).build().run_sync("go").status == "suspended"


def test_a_child_in_a_hook_that_would_have_to_wait_is_an_error_of_that_hook():
    errors = []

    async def check(ctx):
        if ctx.depth:
            return
        try:
            await run_subagent(child(call(text="secret"), "fine"), "look", told=False)
        except SubagentError as error:
            errors.append(str(error))

    trial = Trial(call(text="a"), "done")
    trial.builder = trial.builder.with_ask("host")
    trial.on("before_tool_use", check, name="checks")
    trial.on("before_tool_use", asks_about("secret"), name="gate")
    assert trial.run().status == "completed"
    assert errors == ["Subagent 'helper' needs approval, and a hook cannot wait for it: Really?"]


def test_cancelling_the_parent_cancels_the_child_and_keeps_what_it_used():
    gate = Gate()
    inner = AgentBuilder(plugins=()).with_driver(WaitingDriver(gate, reply(None, call(text="1"), tokens=7), gate))
    trial, _ = parent(inner.with_tools(echo).build())

    async def run():
        return await cancelled_at(trial.build().iterate("go"), gate)

    state = asyncio.run(run())
    assert state.status == "stopped"
    assert state.model_usage["scripted"].input_tokens == 7
