"""Rule 1: tryfirst, then priority from high to low, then trylast; ties as registered; wrappers outermost."""

from __future__ import annotations

import types
from typing import Any

import pluggy

from agent_hooks import CLEANUP, DEFAULT, GUARD, OBSERVE, SECURITY, TRANSFORM, hookimpl
from agent_hooks.testing import make_context
from engine import Engine, Plugin, shell


def order_of(engine: Engine, *hooks: tuple[str, Any]) -> list[str]:
    """Register the hooks, dispatch once, and return the order in which they ran."""
    ran: list[str] = []
    for name, options in hooks:

        def hook(ctx, name=name):
            ran.append(name)

        hook.__name__ = name
        engine.hook(**options)(hook)
    engine.dispatch(shell())
    return ran


def test_a_plugin_registered_again_runs_after_those_that_stayed(engine):
    order_of(engine, ("a", {}), ("b", {}))
    plugin = engine.manager.unregister(name="a")
    engine.manager.register(plugin, "a")
    assert [hook.name for hook in engine.manager.describe("before_tool_use")] == ["b", "a"]


def test_ties_within_a_plugin_run_in_the_order_of_its_lines(engine):
    ran: list[str] = []

    def zulu(ctx):
        ran.append("zulu")

    def alpha(ctx):
        ran.append("alpha")

    mark = hookimpl(specname="before_step")
    engine.manager.register(Plugin(a=mark(alpha), z=mark(zulu)))  # pluggy goes through the names by the alphabet
    engine.dispatch(make_context("before_step"))
    assert ran == ["zulu", "alpha"]


def test_the_bands_are_in_the_order_of_their_purpose():
    assert [GUARD, SECURITY, TRANSFORM, OBSERVE, DEFAULT, CLEANUP] == [200, 100, 50, 10, 0, -200]


def test_wrappers_are_outermost_whatever_their_priority(engine):
    ran: list[str] = []

    @engine.hook(tryfirst=True)
    def first(ctx):
        ran.append("first")

    @engine.hook(wrapper=True, priority=-1)
    def inner(ctx):
        ran.append("inner in")
        yield
        ran.append("inner out")

    @engine.hook(wrapper=True, priority=5)
    def outer(ctx):
        ran.append("outer in")
        yield
        ran.append("outer out")

    engine.dispatch(shell())
    assert ran == ["outer in", "inner in", "first", "inner out", "outer out"]


def test_the_order_is_not_pluggys_last_registered_first(manager):
    """What a plain pluggy marker says is in our order all the same."""
    plain = pluggy.HookimplMarker("agent_hooks")
    ran: list[str] = []
    for name in ("one", "two"):
        module = types.ModuleType(name)
        vars(module)["before_tool_use"] = plain(lambda ctx, name=name: ran.append(name))
        manager.register(module)
    manager.hooks().dispatch_sync(shell())
    assert ran == ["one", "two"]
