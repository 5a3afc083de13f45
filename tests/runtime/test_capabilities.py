"""Capabilities: pieces of an agent that are added as one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import AgentState, HookOutcome, HookRegistration, hookimpl
from agent_hooks.errors import RunError
from agent_hooks.runtime.capabilities import UseContextConfig, UseHook, UseHooks
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import tool
from runtime.agents import Trial, call, results

if TYPE_CHECKING:
    from agent_hooks.runtime.builder import AgentBuilder


def with_capabilities(trial: Trial, *capabilities: Any) -> Trial:
    for capability in capabilities:
        trial.builder = trial.builder.with_capability(capability)
    return trial


class Adds:
    """A capability that runs a given function, and records the call."""

    def __init__(self, configure: Any, name: str = "adds", log: list[str] | None = None) -> None:
        self.name = name
        self.does = configure
        self.log = log if log is not None else []

    def configure(self, builder: AgentBuilder) -> AgentBuilder:
        self.log.append(self.name)
        made: AgentBuilder = self.does(builder)
        return made


class Nameless:
    def configure(self, builder: AgentBuilder) -> Any:
        return None


def same(builder: AgentBuilder) -> AgentBuilder:
    return builder


# -- any capability ----------------------------------------------------------------------------------------------------


def test_a_capability_may_bring_anything_a_builder_can_be_given():
    @tool
    def more() -> str:
        return "more"

    def configure(builder: AgentBuilder) -> AgentBuilder:
        return (
            builder.with_tools(more)
            .with_name("configured")
            .before_tool_use(lambda ctx: HookOutcome.with_context("psst"), match="more")
            .without_default("accumulate_usage")
        )

    trial = with_capabilities(Trial(call("more"), "done"), Adds(configure))
    state = trial.run()
    assert results(state) == ["more\n\npsst"]
    assert trial.seen("before_step")[0].agent_name == "configured"
    assert list(trial.build().tools) == ["echo", "boom", "more"]


def test_capabilities_are_applied_at_each_build_in_their_order_and_bring_others_in_their_place():
    log: list[str] = []
    outer = Adds(lambda builder: builder.with_capability(Adds(same, "inner", log)), "outer", log)
    last = Adds(lambda builder: builder.with_name("named last"), "last", log)
    trial = with_capabilities(Trial("done"), Adds(lambda builder: builder.with_name("one"), "first", log), outer, last)
    assert log == []
    for build in (1, 2):
        assert trial.build().name == "named last"
        assert log == ["first", "outer", "inner", "last"] * build


def test_a_capability_sees_what_those_before_it_have_added_and_hooks_keep_that_order():
    """Ties of priority go to the capability that came first; hooks of the builder itself come before all."""

    def tells(text: str) -> Adds:
        return Adds(lambda builder: builder.before_tool_use(lambda ctx: HookOutcome.with_context(text)))

    trial = with_capabilities(Trial(call(), "done"), tells("one"), tells("two"))
    trial.on("before_tool_use", HookOutcome.with_context("the builder's own"))
    assert results(trial.run()) == ["echo: a\n\nthe builder's own\n\none\n\ntwo"]


@pytest.mark.parametrize(
    ("capability", "name"),
    [
        *((Adds(lambda builder, returned=returned: returned, "forgetful"), "'forgetful'") for returned in (None, 3)),
        (Adds(lambda builder: builder.with_driver(ScriptedDriver()).build(), "hasty"), "'hasty'"),
        (Nameless(), ".*Nameless.*"),
    ],
)
def test_a_capability_that_does_not_return_the_builder_is_named_with_the_remedy(capability, name):
    with pytest.raises(RunError, match=rf"{name} returned .*configure\(builder\) returns the builder"):
        with_capabilities(Trial("done"), capability).build()


@pytest.mark.parametrize("wrong", [None, 3, UseHooks, Adds, object(), lambda builder: builder])
def test_what_is_no_capability_is_refused_at_once(wrong):
    with pytest.raises(RunError, match=r"is not a capability: give an object with configure\(builder\)"):
        Trial().builder.with_capability(wrong)


class Offers:
    """A plugin that offers a capability under a name."""

    @hookimpl
    def agent_hooks_capabilities(self) -> dict[str, Any]:
        return {"telling": self.telling}

    def telling(self, text: str = "psst") -> Adds:
        return Adds(lambda builder: builder.before_tool_use(lambda ctx: HookOutcome.with_context(text)))


@pytest.mark.parametrize(("options", "text"), [({}, "psst"), ({"text": "hey"}, "hey")])
def test_a_capability_that_a_plugin_offers_is_added_by_name(options, text):
    trial = Trial(call(), "done")
    trial.builder = trial.builder.plugin(Offers()).with_capability("telling", **options)
    assert results(trial.run()) == [f"echo: a\n\n{text}"]


class Broken:
    def __init__(self, offered: Any) -> None:
        self.offered = offered

    @hookimpl
    def agent_hooks_capabilities(self) -> Any:
        if isinstance(self.offered, Exception):
            raise self.offered
        return self.offered


@pytest.mark.parametrize(
    ("plugins", "name", "options", "problem"),
    [
        ([Offers()], "guards", {}, r"No plugin offers a capability 'guards'; .*telling"),
        ([Offers()], "telling", {"loudness": 3}, r"'telling'.* cannot be made: .*loudness"),
        ([Broken(None)], "telling", {}, r"The plugin '.*Broken.*' cannot say what it offers: AttributeError"),
        ([Broken(OSError("gone"))], "telling", {}, r"The plugin '.*Broken.*' cannot say what it offers: OSError"),
        (
            [Offers(), Offers()],
            "telling",
            {},
            r"Several plugins \(.*Offers.*, .*Offers.*\) offer a capability 'telling'",
        ),
    ],
)
def test_a_capability_of_a_plugin_that_cannot_be_had_is_refused_with_the_reason(plugins, name, options, problem):
    builder = Trial().builder
    for plugin in plugins:
        builder = builder.plugin(plugin)
    with pytest.raises(RunError, match=problem):
        builder.with_capability(name, **options).build()


# -- UseHook -----------------------------------------------------------------------------------------------------------


def test_a_hook_has_the_priority_name_match_and_options_it_is_given():
    first = UseHook(lambda ctx: HookOutcome.with_context("low"), "before_tool_use", priority=1, match="read")
    second = UseHook(
        lambda ctx: HookOutcome.with_context("high"), "before_tool_use", 2, name="second", match="echo", mode="gate"
    )
    third = UseHook(lambda ctx: HookOutcome.deny("never"), "before_tool_use", match="shell")
    trial = with_capabilities(Trial(call(), "done"), first, second, third)
    assert results(trial.run()) == ["echo: a\n\nhigh\n\nlow"]
    found = {info.name: info for info in trial.build().interceptor.manager.describe("before_tool_use")}  # type: ignore[attr-defined]
    assert (found["second"].priority, found["second"].mode, found["second"].match) == (2, "gate", "echo")


# -- UseHooks ----------------------------------------------------------------------------------------------------------


class Audit:
    """A plugin with two hooks."""

    def __init__(self) -> None:
        self.trail: list[str] = []

    @hookimpl(match="echo")
    def before_tool_use(self, tool_call: Any) -> HookOutcome:
        self.trail.append(f"before {tool_call.name}")
        return HookOutcome.with_context("audited")

    @hookimpl(mode="observe")
    def after_execution(self, status: str) -> None:
        self.trail.append(status)


def test_registrations_and_plugins_are_added_together_in_order():
    audit = Audit()
    registration = HookRegistration(
        "before_tool_use", lambda ctx: HookOutcome.with_context("registered"), name="second", priority=5, match="read"
    )
    trial = with_capabilities(Trial(call(), "done"), UseHooks(audit, registration))
    assert results(trial.run()) == ["echo: a\n\nregistered\n\naudited"]
    assert audit.trail == ["before echo", "completed"]
    found = {info.name: info for info in trial.build().interceptor.manager.describe("before_tool_use")}  # type: ignore[attr-defined]
    assert (found["second"].priority, found["second"].match) == (5, "read")


# -- UseContextConfig --------------------------------------------------------------------------------------------------


def test_prompt_and_format_are_set_before_the_first_step_of_every_run():
    trial = with_capabilities(Trial(call(), "done", "again"), UseContextConfig("Be kind.", {"type": "object"}))
    state = trial.run()
    trial.run("again", state.with_system_prompt(""))
    for request in trial.requests:
        assert (request.system_prompt, request.response_format) == ("Be kind.", {"type": "object"})
    assert (state.system_prompt, state.response_format) == ("Be kind.", {"type": "object"})


@pytest.mark.parametrize(
    ("prompt", "response_format", "expected"),
    [
        ("", None, ("as it was", "text")),
        ("new", None, ("new", "text")),
        ("", "json", ("as it was", "json")),
        ("new", "json", ("new", "json")),
    ],
)
def test_what_is_empty_leaves_what_the_state_has(prompt, response_format, expected):
    trial = with_capabilities(Trial("done"), UseContextConfig(prompt, response_format))
    trial.run("go", AgentState(system_prompt="as it was", response_format="text"))
    assert (trial.requests[0].system_prompt, trial.requests[0].response_format) == expected
