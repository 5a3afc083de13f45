"""The plugins of a builder: installed ones, named ones and objects."""

from __future__ import annotations

from typing import Any

import pytest

from agent_hooks import HookOutcome, hookimpl
from agent_hooks.errors import AgentHooksError, RegistrationError, RunError, UnknownHookError
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.driver import ScriptedDriver
from runtime.agents import call, echo, results
from runtime.test_builder import DENY, Denies, builder_of, nothing

GUARD = """
    from agent_hooks import HookOutcome, hookimpl

    @hookimpl(match="echo")
    def before_tool_use(ctx):
        return HookOutcome.deny("by {name}")
"""


@pytest.fixture
def install(install):
    """Install a plugin that denies echo."""
    return lambda name: install(name, GUARD)


def texts_with(plugins: Any) -> list[Any]:
    builder = AgentBuilder(plugins=plugins).with_driver(ScriptedDriver(call(), "done")).with_tools(echo)
    return results(builder.build().run_sync("go"))


def test_installed_plugins_are_loaded_unless_left_out(install):
    install("alpha")
    assert texts_with(None) == ["Denied: by alpha"]
    assert texts_with(()) == ["echo: a"]


@pytest.mark.parametrize("make", ["new", "base"])
def test_a_new_builder_has_the_installed_plugins_and_the_default_hooks(make, install):
    install("alpha")
    agent = getattr(AgentBuilder, make)().with_driver(ScriptedDriver(call(), "done")).with_tools(echo).build()
    state = agent.run_sync("go")
    assert (results(state), state.status) == (["Denied: by alpha"], "completed")


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
        assert results(agent.run_sync("go")) == ["Denied: by alpha"]


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
    assert results(agent.run_sync("go")) == ["Denied: by the plugin"]


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
