"""What a subagent inherits: the gates of its parent, above whatever it has of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_hooks import (
    AgentBuilder,
    AgentState,
    HookManager,
    HookOutcome,
    HookPolicy,
    HookRegistration,
    RunError,
    ScriptedDriver,
    ToolCall,
    hookimpl,
)
from agent_hooks.engine.guarded_run import GuardedRun
from agent_hooks.engine.hooks import Hooks
from agent_hooks.model.events import HookEvent
from agent_hooks.runtime.interceptors import PassThrough, inheriting
from agent_hooks.runtime.pausing import hooks_in
from runtime.agents import Recorder, Says, Trial, call, child, count, echo, parent, spawning


def test_a_hook_that_both_have_is_asked_once():
    recorder = Recorder()

    class Plugin:
        @hookimpl(mode="observe")
        def before_tool_use(self, ctx):
            recorder.execute(ctx)

    plugin = Plugin()
    inner = AgentBuilder(plugins=()).plugin(plugin, "shared").with_tools(echo)
    trial, _ = parent(inner.with_driver(ScriptedDriver(call(text="1"), "one")).build())
    trial.builder = trial.builder.plugin(plugin, "shared")
    trial.run()
    assert [ctx.tool_name for ctx in recorder.seen] == ["spawn", "echo"]


class Shared:
    """A plugin that parent and child have, each registered in its own way."""

    @hookimpl(mode="gate")
    def before_tool_use(self, tool_call):
        return HookOutcome.deny("No.") if tool_call.name == "echo" else None


@pytest.mark.parametrize("above", [{"shadow": True}, {"scope": ("directory", "/elsewhere")}])
def test_a_gate_that_the_parent_has_in_another_way_takes_nothing_from_the_childs_own(above):
    shared = Shared()
    managers = [HookManager(load_plugins=False) for _ in range(2)]
    for manager, options in zip(managers, (above, {}), strict=True):
        manager.register(shared, "shared", **options)
    trial, states = parent(child(call(text="a"), "done").with_interceptor(managers[1]))
    trial.build().with_interceptor(managers[0]).run_sync("go")
    assert blocked(states) == [True]


# -- gates are inherited -----------------------------------------------------------------------------------------------


def is_echo(ctx: Any) -> bool:
    return str(ctx.tool_name) == "echo"


def blocked(states: list[AgentState]) -> list[bool]:
    """Of each call of the children whether it was blocked."""
    return [execution.was_blocked for state in states for step in state.steps for execution in step.executions]


@pytest.mark.parametrize("answer", [HookOutcome.deny("No."), ValueError("broken")], ids=["denies", "fails"])
@pytest.mark.parametrize("priority", [-1000, 1000])
def test_a_call_is_blocked_that_a_gate_of_the_parent_denies_or_fails_on(answer, priority):
    """Whatever hooks of the child are asked besides, a test with generated ones shows below."""
    policy = HookPolicy(on_gate_failure="open", ask_fallback="allow")
    inner = AgentBuilder(plugins=(), policy=policy).with_tools(echo).with_name("helper")
    trial, states = parent(inner.with_driver(ScriptedDriver(call(text="secret"), "done")).build())
    trial.on("before_tool_use", answer, when=is_echo, priority=priority)
    trial.run()
    assert blocked(states) == [True]
    assert count("Denied: No.", states[0].messages) == isinstance(answer, HookOutcome)


def test_it_holds_for_children_that_work_at_the_same_time():
    trial, states = parent(
        child(*[call(text="secret"), call(text="secret"), "a", "b"]),
        [call("spawn", task="a", id="1"), call("spawn", task="b", id="2")],
        "done",
    )
    trial.builder = trial.builder.with_parallel_tools()
    gate = trial.on("before_tool_use", HookOutcome.deny("No."), when=is_echo)
    trial.run()
    assert len([ctx for ctx in gate.calls if ctx.tool_name == "echo"]) == 2
    assert blocked(states) == [True, True]


def test_who_is_asked_is_the_parents_to_say():
    inner = AgentBuilder(plugins=()).with_driver(ScriptedDriver(call(text="secret"), "done")).with_tools(echo)
    trial, states = parent(inner.with_ask(lambda ctx, reason: True).build())
    asked = []

    def refuse(_ctx, reason):
        asked.append(reason)
        return False

    trial.builder = trial.builder.with_ask(refuse)
    trial.on("before_tool_use", HookOutcome.ask("Really?"), when=is_echo)
    trial.run()
    assert asked == ["Really?"]
    assert blocked(states) == [True]


@pytest.mark.parametrize("policy", [None, "ask"])
@pytest.mark.parametrize("source", ["code", "skill"])
def test_a_failing_gate_of_the_child_blocks_whatever_the_parents_policy_says(source, policy):
    class Broken:
        @hookimpl(mode="gate")
        def before_tool_use(self):
            raise ValueError

    manager = HookManager(load_plugins=False, policy=HookPolicy(on_gate_failure=policy))
    manager.register(Broken(), "broken", source=source)
    inner = child(call(text="a"), "done").with_interceptor(manager)
    spawn, states = spawning(inner)
    trial = Trial(call("spawn", task="go"), "done", tools=(spawn, echo), on_gate_failure="open")
    trial.on("before_tool_use", None)
    trial.run()
    assert blocked(states) == [True]


def test_a_gate_that_is_registered_later_holds_at_once():
    trial, states = parent(child(call(text="1"), call(text="2"), "done"))
    agent = trial.build()
    manager = hooks_in(agent.interceptor).manager

    class Late:
        @hookimpl
        def before_tool_use(self, tool_call):
            return HookOutcome.deny("Too late.") if tool_call.args.get("text") == "2" else None

    def register(ctx):
        if ctx.tool_name == "echo" and not manager.has_plugin("late"):
            manager.register(Late(), "late")

    manager.add(HookRegistration("after_tool_use", register, mode="observe", name="registers"))
    agent.run_sync("go")
    assert blocked(states) == [False, True]


def test_what_is_inherited_is_asked_before_what_has_the_same_priority():
    order = []
    inner = child(call(text="1"), "done", before_tool_use=lambda ctx: order.append("child"))
    trial, _ = parent(inner)
    agent = trial.build()
    late = HookRegistration("before_tool_use", lambda ctx: order.append("parent"), name="registered late")
    hooks_in(agent.interceptor).manager.add(late)
    agent.run_sync("go")
    assert order == ["parent", "parent", "child"]


# -- whatever the child does -------------------------------------------------------------------------------------------

PASSING = [
    HookOutcome.allow(),
    HookOutcome.allow(final=True),
    HookOutcome.skip(),
    HookOutcome.proceed(),
    HookOutcome.force_continue("on"),
    HookOutcome.retry(),
    HookOutcome.ask("may I?"),
    HookOutcome.update(tool_args={"text": "secret"}),
    ValueError("broken"),
    {"decision": "approve"},
    "approve",
]
OWN_HOOKS = st.lists(
    st.tuples(
        st.sampled_from(
            ["before_tool_use", "permission_request", "after_tool_use", "before_step", "on_stop", "on_error"]
        ),
        st.sampled_from(PASSING),
        st.integers(-1000, 1000),
        st.sampled_from([{}, {"tryfirst": True}, {"trylast": True}, {"on_failure": "open"}, {"required": True}]),
    ),
    max_size=6,
)


@given(hooks=OWN_HOOKS, asks=st.booleans(), depth=st.integers(1, 3), policy=st.sampled_from(["allow", "deny"]))
def test_no_hooks_of_a_descendant_let_through_what_a_gate_of_the_parent_does_not(hooks, asks, depth, policy):
    ran = []

    def touch(text: str) -> str:
        ran.append(text)
        return text

    def own(builder):
        for number, (event, answer, priority, options) in enumerate(hooks):
            builder = builder.hook(event, Says(answer), priority, name=f"own {number}", **options)
        return builder.with_ask(lambda _ctx, _reason: True)

    made: tuple[Any, ...] = (call("touch", text="secret"), call("touch", text="fine"))
    tools = [touch]
    for _ in range(depth):
        built = AgentBuilder(plugins=(), policy=HookPolicy(on_gate_failure="open", ask_fallback=policy))
        # Hooks may force rounds: the script has replies for them.
        driver = ScriptedDriver(*made, *(["done"] * 20))
        spawn, _ = spawning(own(built).with_driver(driver).with_tools(*tools).build(), max_depth=5)
        made, tools = (call("spawn", task="go"),), [spawn]
    trial = Trial(*made, *(["done"] * 20), tools=tools)
    gate = HookOutcome.ask("Really?") if asks else HookOutcome.deny("No.")
    trial.on("before_tool_use", gate, when=lambda ctx: ctx.tool_args.get("text") == "secret")
    trial.run()
    assert "secret" not in ran


# -- how the hooks are put together ------------------------------------------------------------------------------------


def test_an_interceptor_without_hooks_can_neither_inherit_nor_leave_anything():
    hooks = child("one").interceptor
    for own, above in ((PassThrough(), hooks), (hooks, PassThrough())):
        with pytest.raises(RunError, match=r"PassThrough.*has no hooks"):
            inheriting(own, above)


def test_hooks_that_dispatch_in_a_way_of_their_own_are_not_inherited_in_part():
    class Own(Hooks):
        async def dispatch(self, ctx):
            return HookOutcome.deny("No.") if ctx.event == "before_tool_use" else await super().dispatch(ctx)

    own = Own(HookManager(load_plugins=False))
    with pytest.raises(RunError, match="has no hooks that a subagent could inherit"):
        inheriting(child("one").interceptor, own)


@pytest.mark.parametrize("depth", [1, 2])
def test_a_failure_of_an_observer_is_counted_where_it_was_registered(depth):
    class Broken:
        @hookimpl(mode="observe")
        def before_tool_use(self, ctx):
            if ctx.depth == depth:
                raise ValueError

    managers = [HookManager(load_plugins=False) for _ in range(2)]
    managers[0].register(Broken(), "broken")
    lowest = child(call(text="a"), "done")
    between, _ = spawning(lowest)
    between = child(call("spawn", task="on"), "done", tools=[between]).with_interceptor(managers[1])
    trial, _ = parent(between)
    trial.build().with_interceptor(managers[0]).run_sync("go")
    assert [manager.tolerated for manager in managers] == [{"broken.before_tool_use": 1}, {}]


def test_views_of_a_session_a_skill_and_a_directory_keep_what_is_inherited():
    trial, _ = parent(child("one"))
    trial.on("before_tool_use", HookOutcome.deny("No."))
    hooks = inheriting(hooks_in(child("one").interceptor), hooks_in(trial.build().interceptor))
    assert isinstance(hooks, Hooks)
    for view in (hooks.in_session("s"), hooks.with_skill("k"), hooks.at("/tmp"), hooks.asking(None)):
        assert view.listens(HookEvent.BEFORE_TOOL_USE)


def test_the_frameworks_own_observers_of_both_hear_of_a_dispatch():
    heard = []

    class Watcher:
        def __init__(self, name):
            self.name = name

        @hookimpl
        def agent_hooks_dispatched(self, event, outcome):
            heard.append((self.name, str(event)))

    inner = AgentBuilder(plugins=()).plugin(Watcher("child"), "watcher").with_tools(echo)
    trial, _ = parent(inner.with_driver(ScriptedDriver(call(text="1"), "one")).build())
    trial.builder = trial.builder.plugin(Watcher("parent"), "watcher")
    trial.on("before_tool_use", None)
    trial.run()
    assert heard.count(("child", "before_tool_use")) == 1
    assert heard.count(("parent", "before_tool_use")) == 2


def test_what_a_hook_asks_the_childs_model_is_judged_by_the_parents_gates():
    asked = []

    async def asks(ctx):
        try:
            asked.append(await ctx.runtime.ask_model(ctx.runtime.request(ctx.state), ctx))
        except RunError as error:
            asked.append(str(error))

    inner = child(call(text="1"), "done", before_tool_use=asks)
    trial, _ = parent(inner)
    trial.on("before_inference", HookOutcome.deny("Not aside."), when=_is_aside)
    trial.run()
    assert asked == ["A request on behalf of before_tool_use was refused: Not aside."]


def _is_aside(ctx):
    """Whether the model is asked while a step has its answer already."""
    return ctx.depth == 1 and ctx.state.current_step is not None and ctx.state.current_step.message is not None


def test_an_agent_that_a_tool_of_another_loop_starts_is_under_the_hooks_of_that_loop(manager):
    seen: list[Any] = []

    def gate(ctx: Any) -> HookOutcome | None:
        seen.append((ctx.tool_name, ctx.depth, ctx.session_id, ctx.parent_agent_id))
        return HookOutcome.deny("No.") if ctx.tool_name == "echo" else None

    inner = AgentBuilder(plugins=()).with_driver(ScriptedDriver(call(text="1"), "one")).with_tools(echo).build()
    manager.add(HookRegistration("before_tool_use", gate))
    outer = GuardedRun(manager.hooks(), session_id="s", agent_name="root")

    async def helper(_: ToolCall) -> AgentState:
        return await inner.run("Go.")

    use = asyncio.run(outer.tool(ToolCall("helper"), helper))
    assert use.returned.steps[0].executions[0].was_blocked
    assert seen == [("helper", 0, "s", None), ("echo", 1, "s", "root")]
