"""The builder: every method gives another builder, and each build an agent of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_hooks import HookContext, HookOutcome, HookPolicy, hookimpl
from agent_hooks.errors import PriorityConflictError, RegistrationError, RunError, UnknownEventError
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.capabilities import UseHook
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.interceptors import PassThrough
from agent_hooks.runtime.python_tools import Tool
from agent_hooks.sources.skills import Skill
from agent_hooks.system.store import MemoryStore
from runtime.agents import boom, call, echo, results, said

if TYPE_CHECKING:
    from agent_hooks.runtime.agent import AgentRuntime

DENY = HookOutcome.deny("no")


def builder_of(*replies: Any, **options: Any) -> AgentBuilder:
    return AgentBuilder(plugins=(), **options).with_driver(ScriptedDriver(*replies)).with_tools(echo, boom)


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
    fields = "driver policy parallel_tools max_steps".split()
    return (
        *(getattr(agent, field) for field in fields),
        agent.identity.replace(agent_id=""),  # another for each
        agent.store if isinstance(agent.store, MemoryStore) else None,
        {name: repr(tool) for name, tool in agent.tools.items()},
        getattr(hooks, "ask", None),
        getattr(hooks, "scopes", None),
        found,
        [] if manager is None else [info.name for info in manager.plugins()],
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
    assert results(first.run_sync("go")) == ["Denied: by the plugin"]
    assert results(second.run_sync("go")) == ["echo: a"]
    assert first.agent_id != second.agent_id


# -- parts -------------------------------------------------------------------------------------------------------------


def test_tools_add_up_in_order_and_later_settings_win():
    builder = AgentBuilder(plugins=()).with_tools(echo).with_tools(boom).with_name("one").with_name("two")
    agent = builder.with_driver(ScriptedDriver("one")).with_driver(ScriptedDriver("two")).build()
    assert (list(agent.tools), agent.name, agent.run_sync("go").output) == (["echo", "boom"], "two", "two")


@pytest.mark.parametrize("is_given", [True, False])
def test_the_policy_rules_hooks_and_loop(is_given):
    def fails(ctx: HookContext) -> None:
        raise RuntimeError("broken")

    policy = HookPolicy(max_forced_continuations=1, on_gate_failure="open")
    builder = builder_of(*["done"] * 5, policy=policy) if is_given else builder_of(*["done"] * 5).with_policy(policy)
    builder = builder.hook("on_stop", lambda ctx: HookOutcome.force_continue("more")).hook("before_step", fails)
    assert builder.build().run_sync("go").step_count == 2


async def yes(ctx: HookContext, reason: str) -> bool:
    return True


@pytest.mark.parametrize(
    ("ask", "fallback", "text"),
    [
        (lambda ctx, reason: (ctx.tool_name, reason) == ("echo", "sure?"), "deny", "echo: a"),
        (lambda ctx, reason: False, "allow", "Denied: sure?"),
        (yes, "deny", "echo: a"),
        (None, "deny", "Denied: sure?"),
        (None, "allow", "echo: a"),
    ],
)
def test_who_answers_an_ask_may_be_said_and_without_anybody_the_policy_answers(ask, fallback, text):
    builder = builder_of(call(), "done", policy=HookPolicy(ask_fallback=fallback)).with_ask(ask)
    state = builder.before_tool_use(lambda ctx: HookOutcome.ask("sure?")).build().run_sync("go")
    assert results(state)[0].startswith(text)


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


@pytest.mark.parametrize(
    ("add", "error", "message"),
    [
        (lambda b: b.hook("before_tool_usage", nothing), UnknownEventError, "before_tool_use"),
        (lambda b: b.before_tool_use(3), RegistrationError, "neither callable nor has execute"),
        (lambda b: b.before_tool_use(nothing, match="(unclosed"), RegistrationError, r"\("),
        (lambda b: b.before_tool_use(nothing, prority=3), TypeError, "prority"),
    ],
)
def test_a_hook_that_could_not_run_is_refused_when_the_agent_is_built(add, error, message):
    with pytest.raises(error, match=message):
        add(builder_of()).build()


# -- priorities --------------------------------------------------------------------------------------------------------


def before(builder: AgentBuilder, **options: Any) -> AgentBuilder:
    """Add a hook without an opinion."""
    return builder.before_tool_use(nothing, **options)


@pytest.mark.parametrize(
    "add",
    [
        lambda b: before(before(b, priority=1), priority=2),
        # Hooks that never meet.
        lambda b: before(before(b, match="echo"), match="boom"),
        lambda b: before(b).hook("before_step", nothing).hook("before_tool_use", nothing, mode="observe"),
        # The default hooks have places of their own, first or last.
        *(
            lambda b, priority=priority: b.process(nothing, priority=priority).continue_when(nothing, priority=priority)
            for priority in (0, 80, 100)
        ),
    ],
)
def test_no_conflict_of_priorities_leaves_the_chain_going(add):
    builder = add(builder_of("done"))
    assert builder.validate_no_priority_conflicts() is builder


@pytest.mark.parametrize(
    "add",
    [
        lambda b: before(before(b, name="one"), name="two"),
        lambda b: before(b, name="one").with_capability(UseHook(nothing, "before_tool_use", name="two")),
    ],
)
def test_two_hooks_of_one_priority_are_a_conflict_that_is_named_also_those_of_capabilities(add):
    with pytest.raises(PriorityConflictError, match="one and two both run on before_tool_use with priority 0"):
        add(builder_of("done")).validate_no_priority_conflicts()
