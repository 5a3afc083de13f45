"""The builder: every method gives another builder, and each build an agent of its own."""

from __future__ import annotations

import sys
import textwrap
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks import AgentState, HookContext, HookOutcome, HookPolicy, hookimpl
from agent_hooks.errors import (
    AgentHooksError,
    PriorityConflictError,
    RegistrationError,
    RunError,
    UnknownEventError,
    UnknownHookError,
)
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.capabilities import UseHook
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.interceptors import PassThrough
from agent_hooks.runtime.python_tools import Tool
from agent_hooks.sources.skills import Skill
from agent_hooks.system.store import MemoryStore
from runtime.agents import Trial, boom, call, echo, said, signal_of

if TYPE_CHECKING:
    from agent_hooks.runtime.agent import AgentRuntime

DENY = HookOutcome.deny("no")


def builder_of(*replies: Any, **options: Any) -> AgentBuilder:
    return AgentBuilder(plugins=(), **options).with_driver(ScriptedDriver(*replies)).with_tools(echo, boom)


def tool_texts(state: AgentState) -> list[Any]:
    return [content for role, content in said(state.messages) if role == "tool"]


class Denies:
    """A plugin."""

    @hookimpl(match="echo")
    def before_tool_use(self) -> HookOutcome:
        return HookOutcome.deny("by the plugin")


# -- immutability ------------------------------------------------------------------------------------------------------

ASK = {True: lambda ctx, reason: True, False: lambda ctx, reason: False}


def nothing(ctx: HookContext) -> None:
    """Have no opinion."""


class Quiet:
    """The same as a gate."""

    mode = "gate"

    def execute(self, ctx: HookContext) -> None:
        """Have no opinion."""


# Every method that returns another builder, with a call of it; the number makes names and values differ.
METHODS: dict[str, Any] = {
    "with_driver": lambda b, n: b.with_driver(ScriptedDriver(str(n))),
    "with_tools": lambda b, n: b.with_tools(Tool(echo.function, name=f"tool_{n}")),
    "with_capability": lambda b, n: b.with_capability(UseHook(nothing, "on_stop", priority=n, name=f"capability {n}")),
    "with_policy": lambda b, n: b.with_policy(HookPolicy(max_retries=n)),
    "with_config": lambda b, n: b.with_config(n % 2 == 0),
    "with_ask": lambda b, n: b.with_ask(ASK[n % 2 == 0]),
    "with_debug": lambda b, n: b.with_debug(n % 2 == 0),
    "with_interceptor": lambda b, n: b.with_interceptor(PassThrough()),
    "with_name": lambda b, n: b.with_name(f"agent {n}"),
    "with_session": lambda b, n: b.with_session(f"session {n}"),
    "with_cwd": lambda b, n: b.with_cwd(f"/directory/{n}"),
    "with_parallel_tools": lambda b, n: b.with_parallel_tools(n % 2 == 0),
    "with_scope": lambda b, n: b.with_scope(f"scope {n}"),
    "with_limits": lambda b, n: b.with_limits(max_steps=n + 1),
    "with_skills": lambda b, n: b.with_skills(Skill(f"skill {n}", body="Do it.")),
    "with_store": lambda b, n: b.with_store(MemoryStore()),
    "hook": lambda b, n: b.hook("before_step", nothing, priority=n, name=f"hook {n}"),
    "before_tool_use": lambda b, n: b.before_tool_use(nothing, match="echo", name=f"before {n}"),
    "after_tool_use": lambda b, n: b.after_tool_use(nothing, match="echo", name=f"after {n}"),
    "continue_when": lambda b, n: b.continue_when(nothing, name=f"continue {n}"),
    "process": lambda b, n: b.process(nothing, name=f"process {n}"),
    "plugin": lambda b, n: b.plugin(Denies(), f"plugin {n}"),
    "without_default": lambda b, n: b.without_default("accumulate_usage"),
    "replace_default": lambda b, n: b.replace_default("append_messages", Quiet()),
    "validate_no_priority_conflicts": lambda b, n: b.with_interceptor(PassThrough()),
}


def description(agent: AgentRuntime) -> tuple[Any, ...]:
    """Everything an agent is made of."""
    hooks: Any = agent.interceptor
    manager = getattr(hooks, "manager", None)
    defaults = agent.default_hooks
    found = [hooks, defaults and defaults.manager.describe()] if manager is None else manager.describe()
    plugins = [] if manager is None else [info.name for info in manager.plugins()]
    identity = agent.identity.replace(agent_id="")  # another for each
    settings = (agent.driver, agent.policy, identity, agent.parallel_tools, agent.max_steps)
    store = agent.store if isinstance(agent.store, MemoryStore) else None
    return (
        *settings,
        store,
        {name: repr(tool) for name, tool in agent.tools.items()},
        getattr(hooks, "ask", None),
        getattr(hooks, "scopes", None),
        found,
        plugins,
    )


def described(builder: AgentBuilder) -> Any:
    """What the builder builds, or why it does not."""
    try:
        return description(builder.build())
    except RunError as error:  # hooks beside an interceptor
        return str(error)


def test_the_methods_tried_here_are_all_there_are():
    public = {name for name in vars(AgentBuilder) if not name.startswith("_")}
    assert public - {"new", "base", "from_file", "build", "has_limits"} == set(METHODS)


@settings(max_examples=25, derandomize=True, database=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(METHODS)), st.integers(0, 9)), max_size=7))
def test_no_sequence_of_methods_changes_what_earlier_builders_build(steps):
    """Whatever is made of a builder, and from whichever builder of the family."""
    family = [builder_of("done")]
    built = [described(family[0])]
    for number, (method, pick) in enumerate(steps):
        parent = family[pick % len(family)]
        try:
            made = METHODS[method](parent, number)
        except RunError:  # a default that an ancestor has left out already
            assert method == "without_default"
            continue
        assert made is not parent
        family.append(made)
        built.append(described(made))
    assert [described(builder) for builder in family] == built


@pytest.mark.parametrize("method", METHODS)
def test_each_method_changes_what_is_built_from_its_result_and_not_the_builder(method):
    first = builder_of("done").with_debug(False)
    before = description(first.build())
    second = METHODS[method](first, 4)
    assert type(second) is AgentBuilder
    assert description(first.build()) == before
    assert description(second.build()) != before


def test_a_subclass_stays_one():
    class Mine(AgentBuilder):
        def shouting(self) -> Mine:
            return self.process(lambda ctx: HookOutcome.with_context("HEY"))

    made = Mine(plugins=()).with_name("a").shouting().with_driver(ScriptedDriver("done"))
    assert type(made) is Mine
    assert type(Mine.new()) is Mine
    assert ("user", "HEY") in said(made.build().run_sync("go").messages)


def test_each_build_gives_an_agent_with_hooks_of_its_own():
    builder = builder_of(call(), "done", call(), "done")
    first, second = builder.build(), builder.build()
    hooks: Any = first.interceptor
    hooks.manager.register(Denies())
    assert tool_texts(first.run_sync("go")) == ["Denied: by the plugin"]
    assert tool_texts(second.run_sync("go")) == ["echo: a"]
    assert first.agent_id != second.agent_id


# -- parts -------------------------------------------------------------------------------------------------------------


def test_an_agent_without_a_driver_is_refused_with_the_remedy():
    with pytest.raises(RunError, match=r"no driver: give it one with AgentBuilder\(\)\.with_driver"):
        AgentBuilder(plugins=()).build()


def test_tools_add_up_in_order_and_later_settings_win():
    builder = AgentBuilder(plugins=()).with_tools(echo).with_tools(boom).with_name("one").with_name("two")
    agent = builder.with_driver(ScriptedDriver("one")).with_driver(ScriptedDriver("two")).build()
    assert (list(agent.tools), agent.name, agent.run_sync("go").output) == (["echo", "boom"], "two", "two")


@pytest.mark.parametrize(
    ("tools", "text"), [([3], "is no tool"), ([echo, echo.function], "Two tools are called 'echo'")]
)
def test_wrong_tools_are_refused_by_name(tools, text):
    with pytest.raises(RunError, match=text):
        AgentBuilder(plugins=()).with_driver(ScriptedDriver()).with_tools(*tools).build()


def test_the_policy_rules_hooks_and_loop():
    policy = HookPolicy(max_forced_continuations=1, on_gate_failure="open")
    for builder in (builder_of(*["done"] * 5, policy=policy), builder_of(*["done"] * 5).with_policy(policy)):

        def fails(ctx: HookContext) -> None:
            raise RuntimeError("broken")

        builder = builder.hook("on_stop", lambda ctx: HookOutcome.force_continue("more"))
        agent = builder.hook("before_step", fails).build()
        assert agent.run_sync("go").step_count == 2


@pytest.mark.parametrize(("answer", "text"), [(True, "echo: a"), (False, "Denied: sure?")])
def test_who_answers_an_ask_may_be_said(answer, text):
    asked: list[tuple[str, str]] = []

    def ask(ctx: HookContext, reason: str) -> bool:
        asked.append((ctx.tool_name, reason))
        return bool(answer)

    builder = builder_of(call(), "done").before_tool_use(lambda ctx: HookOutcome.ask("sure?"))
    state = builder.with_ask(ask).build().run_sync("go")
    assert tool_texts(state)[0].startswith(text)
    assert asked == [("echo", "sure?")]


def test_who_answers_may_be_async():
    async def ask(ctx: HookContext, reason: str) -> bool:
        return True

    builder = builder_of(call(), "done").before_tool_use(lambda ctx: HookOutcome.ask("sure?"))
    assert tool_texts(builder.with_ask(ask).build().run_sync("go")) == ["echo: a"]


@pytest.mark.parametrize(("fallback", "text"), [("deny", "Denied: sure?"), ("allow", "echo: a")])
def test_without_anybody_the_policy_answers_an_ask(fallback, text):
    builder = builder_of(call(), "done", policy=HookPolicy(ask_fallback=fallback))
    state = builder.before_tool_use(lambda ctx: HookOutcome.ask("sure?")).build().run_sync("go")
    assert tool_texts(state)[0].startswith(text)


def test_no_opinion_of_who_answers_makes_it_the_policys():
    builder = builder_of(call(), "done").before_tool_use(lambda ctx: HookOutcome.ask("sure?")).with_ask(None)
    assert tool_texts(builder.build().run_sync("go"))[0].startswith("Denied: sure?")


@pytest.mark.parametrize("wrong", [True, "user", 3])
def test_who_answers_is_somebody_who_can(wrong):
    with pytest.raises(RunError, match=r'takes a callable .* "host" or None'):
        builder_of().with_ask(wrong)


GIVEN: dict[str, Any] = {
    "hook": lambda b: b.before_tool_use(nothing, name="mine"),
    "plugin": lambda b: b.plugin(Denies()),
    "with_ask": lambda b: b.with_ask("host"),
    "with_debug": lambda b: b.with_debug(),
    "capability": lambda b: b.with_capability(UseHook(nothing, "on_stop", name="mine")),
    "plugins": lambda b: AgentBuilder([Denies()]).with_driver(ScriptedDriver()),
}


@pytest.mark.parametrize("given", GIVEN)
def test_hooks_that_an_interceptor_would_silence_are_refused_by_name(given):
    builder = GIVEN[given](builder_of("done")).with_interceptor(PassThrough())
    with pytest.raises(RunError, match="would never be asked") as caught:
        builder.build()
    assert any(name in str(caught.value) for name in ("mine", "Denies", "with_ask", "with_debug"))


# -- hooks -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", ["before_step", "StepStart", "step.start"])
def test_a_hook_is_added_under_any_name_of_its_event(event):
    trial = Trial("done")
    hook = trial.on(event)
    trial.run()
    assert [str(ctx.event) for ctx in hook.calls] == ["before_step"]


def test_one_hook_on_several_events():
    trial = Trial("done")
    hook = trial.on(("before_step", "AfterStep", "on_stop"))  # type: ignore[arg-type]
    trial.run()
    assert [str(ctx.event) for ctx in hook.calls] == ["before_step", "after_step", "on_stop"]


def test_the_short_forms_say_their_event():
    seen: dict[str, list[str]] = {}

    def note(key: str) -> Any:
        return lambda ctx: seen.setdefault(key, []).append(f"{ctx.event} {ctx.tool_name}".strip())

    builder = builder_of([call(), call("boom")], "done")
    builder = builder.before_tool_use(note("before"), "echo").after_tool_use(note("after"), "boom")
    builder.continue_when(note("continue"), 5).process(note("process"), 5).build().run_sync("go")
    assert seen == {
        "continue": ["should_continue"] * 3,
        "before": ["before_tool_use echo"],
        "after": ["after_tool_use boom"],
        "process": ["after_step"] * 2,
    }


def test_hooks_take_the_arguments_they_name():
    seen: list[Any] = []

    def check(tool_call, state):
        seen.append((tool_call.name, state.step_count))

    builder_of(call(), "done").before_tool_use(check).build().run_sync("go")
    assert seen == [("echo", 0)]


def test_priorities_decide_the_order_and_ties_go_to_the_first_added():
    seen: list[str] = []

    def note(key: str) -> Any:
        return lambda ctx: seen.append(key)

    builder = builder_of(call(), "done")
    for key, priority in (("e", -1), ("c", 0), ("a", 9), ("d", 0), ("b", 5)):
        builder = builder.before_tool_use(note(key), priority=priority)
    builder.build().run_sync("go")
    assert seen == list("abcde")


def test_continue_when_may_stop_and_may_force():
    stop = builder_of(call(), "done").continue_when(lambda state: HookOutcome.stop("enough") if state.steps else None)
    state = stop.build().run_sync("go")
    assert (state.status, signal_of(state).message, state.step_count) == ("stopped", "enough", 1)
    more = lambda state: HookOutcome.force_continue("more") if len(state.steps) == 1 else None  # noqa: E731
    assert builder_of("one", "two").continue_when(more).build().run_sync("go").output == "two"


def test_a_hook_on_no_event_is_refused_with_the_nearest():
    with pytest.raises(UnknownEventError, match="before_tool_use"):
        builder_of().hook("before_tool_usage", nothing).build()


@pytest.mark.parametrize("wrong", [3, "deny", None])
def test_what_is_no_hook_is_refused(wrong):
    with pytest.raises(RegistrationError, match="neither callable nor has execute"):
        builder_of().before_tool_use(wrong).build()


def test_a_hook_whose_match_is_wrong_is_refused_when_the_agent_is_built():
    with pytest.raises(RegistrationError, match=r"\("):
        builder_of().before_tool_use(nothing, match="(unclosed").build()


def test_an_unknown_option_is_refused():
    with pytest.raises(TypeError, match="prority"):
        builder_of().before_tool_use(nothing, prority=3)  # type: ignore[call-arg]


# -- plugins -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Install a plugin that denies echo: a module in a distribution of its own, with an entry point."""
    monkeypatch.delenv("AGENT_HOOKS_DISABLE", raising=False)
    source = """
        from agent_hooks import HookOutcome, hookimpl

        @hookimpl(match="echo")
        def before_tool_use(ctx):
            return HookOutcome.deny("by NAME")
    """

    def install(name: str) -> None:
        site = tmp_path / name
        info = site / f"{name}_dist-1.0.dist-info"
        info.mkdir(parents=True)
        module = f"plugin_{name}_{tmp_path.name}".replace("-", "_")
        (site / f"{module}.py").write_text(textwrap.dedent(source).replace("NAME", name))
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-dist\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[agent_hooks]\n{name} = {module}\n")
        monkeypatch.syspath_prepend(str(site))
        modules.append(module)

    modules: list[str] = []
    yield install
    for module in modules:
        sys.modules.pop(module, None)


def texts_with(plugins: Any) -> list[Any]:
    builder = AgentBuilder(plugins=plugins).with_driver(ScriptedDriver(call(), "done")).with_tools(echo)
    return tool_texts(builder.build().run_sync("go"))


def test_installed_plugins_are_loaded_unless_left_out(install):
    install("alpha")
    assert texts_with(None) == ["Denied: by alpha"]
    assert texts_with(()) == ["echo: a"]


@pytest.mark.parametrize("make", ["new", "base"])
def test_a_new_builder_has_the_installed_plugins_and_the_default_hooks(make, install):
    install("alpha")
    agent = getattr(AgentBuilder, make)().with_driver(ScriptedDriver(call(), "done")).with_tools(echo).build()
    state = agent.run_sync("go")
    assert (tool_texts(state), state.status) == (["Denied: by alpha"], "completed")


def test_plugins_may_be_named_and_given(install):
    install("alpha")
    install("beta")
    assert texts_with(["beta"]) == ["Denied: by beta"]
    assert texts_with([Denies()]) == ["Denied: by the plugin"]
    assert texts_with(["alpha", Denies()])[0] in ("Denied: by alpha", "Denied: by the plugin")
    plugins: Any = AgentBuilder(["beta", Denies()]).with_driver(ScriptedDriver()).build().interceptor
    assert {info.name for info in plugins.manager.plugins()} >= {"beta", "Denies"}
    assert "alpha" not in {info.name for info in plugins.manager.plugins()}


def test_plugins_given_by_a_generator_are_there_at_every_build(install):
    install("alpha")
    builder = AgentBuilder(name for name in ["alpha"]).with_tools(echo)
    for _ in range(2):
        agent = builder.with_driver(ScriptedDriver(call(), "done")).build()
        assert tool_texts(agent.run_sync("go")) == ["Denied: by alpha"]


def test_a_text_is_not_a_list_of_plugins():
    """Each letter would be taken for a plugin."""
    with pytest.raises(RunError, match=r"plugins=\['alpha'\]"):
        AgentBuilder(plugins="alpha")


def test_a_plugin_that_is_not_installed_is_named(install):
    install("alpha")
    with pytest.raises(RegistrationError, match="No installed plugin is called nonsense"):
        texts_with(["alpha", "nonsense"])


def test_an_object_is_registered_under_its_own_or_a_given_name():
    builder = builder_of(call(), "done").plugin(Denies(), "strict")
    agent = builder.build()
    hooks: Any = agent.interceptor
    assert "strict" in {info.name for info in hooks.manager.plugins()}
    assert tool_texts(agent.run_sync("go")) == ["Denied: by the plugin"]


@hookimpl
def before_tool_use() -> HookOutcome:
    """A hook, but no plugin that has it."""
    return DENY


WRONG = ["marked function", "function", "object", "None", "class"]


@pytest.mark.parametrize("wrong", [before_tool_use, nothing, object(), None, Denies], ids=WRONG)
def test_what_has_no_hooks_is_refused(wrong):
    """It would never run, without any sign of it."""
    with pytest.raises(AgentHooksError):
        builder_of().plugin(wrong).build()


def test_a_plugin_with_a_hook_on_no_event_is_refused_when_the_agent_is_built():
    class Typo:
        @hookimpl
        def before_tol_use(self) -> None:
            """Listen to nothing."""

    with pytest.raises(UnknownHookError, match="before_tol_use"):
        builder_of().plugin(Typo()).build()


# -- priorities --------------------------------------------------------------------------------------------------------


def test_an_agent_with_hooks_of_different_priorities_has_no_conflict():
    builder = builder_of("done").before_tool_use(nothing, priority=1).before_tool_use(nothing, priority=2)
    assert builder.validate_no_priority_conflicts() is builder


def test_two_hooks_of_one_priority_are_a_conflict_that_is_named():
    builder = builder_of("done").before_tool_use(nothing, name="one").before_tool_use(nothing, name="two")
    with pytest.raises(PriorityConflictError, match="one and two both run on before_tool_use with priority 0"):
        builder.validate_no_priority_conflicts()


def test_hooks_that_never_meet_are_no_conflict():
    builder = builder_of("done").before_tool_use(nothing, match="echo").before_tool_use(nothing, match="boom")
    builder = builder.hook("before_step", nothing).hook("before_tool_use", nothing, mode="observe")
    assert builder.validate_no_priority_conflicts() is builder


@pytest.mark.parametrize("priority", [0, 80, 100])
def test_the_default_hooks_conflict_with_nobody(priority):
    """They have places of their own, first or last."""
    builder = builder_of("done").process(nothing, priority=priority).continue_when(nothing, priority=priority)
    assert builder.validate_no_priority_conflicts() is builder


def test_hooks_of_capabilities_are_looked_at_too():
    builder = builder_of("done").before_tool_use(nothing, name="one")
    builder = builder.with_capability(UseHook(nothing, "before_tool_use", name="two"))
    with pytest.raises(PriorityConflictError, match="two"):
        builder.validate_no_priority_conflicts()


def test_the_check_can_stand_in_the_middle_of_a_chain():
    agent = builder_of(call(), "done").before_tool_use(lambda ctx: DENY).validate_no_priority_conflicts().build()
    assert tool_texts(agent.run_sync("go")) == ["Denied: no"]
