"""pluggy's own ways to look at a manager tell the truth about ours."""

from __future__ import annotations

import asyncio

import pluggy
import pytest

from agent_hooks import HookOutcome, define_event, hookimpl, hookspec
from agent_hooks.errors import RegistrationError
from engine import Plugin, shell


def deny(ctx):
    return HookOutcome.deny("No.")


def test_a_monitor_is_told_of_each_dispatch_until_it_is_ended(manager):
    manager.register(Plugin(before_tool_use=hookimpl(deny)), "gate")
    heard: list[tuple[object, ...]] = []
    stop = manager.add_hookcall_monitoring(
        lambda name, impls, given: heard.append((name, [impl.plugin_name for impl in impls], given["tool_call"].name)),
        lambda result, name, impls, given: heard.append((name, result.get_result().reason)),
    )
    hooks = manager.hooks()
    hooks.dispatch_sync(shell("ls"))
    assert heard == [("before_tool_use", ["gate"], "Bash"), ("before_tool_use", "No.")]
    asyncio.run(hooks.dispatch(shell("ls")))
    assert len(heard) == 4
    stop()
    hooks.dispatch_sync(shell("ls"))
    assert len(heard) == 4


def test_a_monitor_that_fails_changes_no_decision(manager):
    manager.register(Plugin(before_tool_use=hookimpl(deny)), "gate")
    manager.add_hookcall_monitoring(lambda *_: 1 / 0, lambda *_: None)
    assert manager.hooks().dispatch_sync(shell("ls")).reason == "No."
    assert manager.tolerated == {"a monitor of hook calls": 1}


def test_a_cancelled_dispatch_ends_with_an_exception(manager):
    async def wait(ctx):
        await asyncio.Event().wait()

    manager.register(Plugin(before_tool_use=hookimpl(wait)), "waits")
    found = []
    manager.add_hookcall_monitoring(lambda *_: None, lambda result, *_: found.append(type(result.exception)))

    async def run():
        task = asyncio.ensure_future(manager.hooks().dispatch(shell("ls")))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())
    assert found == [asyncio.CancelledError]


def test_enable_tracing_writes_each_dispatch(manager):
    manager.register(Plugin(before_tool_use=hookimpl(deny)), "gate")
    lines: list[str] = []
    manager.trace.root.setwriter(lines.append)
    manager.enable_tracing()
    manager.hooks().dispatch_sync(shell("ls"))
    assert lines[0].strip().startswith("before_tool_use [hook]")
    assert "finish before_tool_use -->" in lines[-1]


def test_an_impl_says_whether_it_is_a_wrapper(manager):
    async def around(ctx):
        yield

    def plainly_around(ctx):
        return (yield)

    manager.register(Plugin(before_tool_use=hookimpl(wrapper=True)(around)), "async")
    manager.register(Plugin(before_tool_use=hookimpl(wrapper=True)(plainly_around)), "plain")
    manager.register(Plugin(before_tool_use=hookimpl(deny)), "gate")
    found = {impl.plugin_name: impl.wrapper for impl in manager.hook.before_tool_use.get_hookimpls()}
    assert found == {"async": True, "plain": True, "gate": False}


def test_a_subset_lists_the_other_plugins(manager):
    one, other = Plugin(before_tool_use=hookimpl(deny)), Plugin(pre_tool_use=hookimpl(deny))
    manager.register(one, "one")
    manager.register(other, "other")
    subset = manager.subset_hook_caller("before_tool_use", [one])
    assert [impl.plugin_name for impl in subset.get_hookimpls()] == ["other"]


@pytest.mark.parametrize("kind", [ValueError, pluggy.PluginValidationError])
def test_a_registration_error_is_one_of_pluggys_and_a_value_error(manager, kind):
    with pytest.raises(kind, match="cannot be a plugin") as caught:
        manager.register(Plugin)
    assert type(caught.value) is RegistrationError


@pytest.mark.parametrize("marker", [hookimpl, pluggy.HookimplMarker("agent_hooks")])
def test_an_old_wrapper_is_refused_with_the_new_one(manager, marker):
    def around(ctx):
        yield

    with pytest.raises(RegistrationError, match=r"use wrapper=True, and `return \(yield\)`"):
        manager.register(Plugin(before_tool_use=marker(hookwrapper=True)(around)), "old")


def test_a_hookspec_warns_those_who_implement_it(manager, own_events):
    define_event("before_the_old_lunch", decisions="deny")

    class Specs:
        @hookspec(warn_on_impl=DeprecationWarning("Use before_lunch."))
        def before_the_old_lunch(self, ctx):
            """Deprecated."""

    manager.add_hookspecs(Specs)
    with pytest.warns(DeprecationWarning, match="Use before_lunch"):
        manager.register(Plugin(before_the_old_lunch=hookimpl(deny)), "late")


def test_a_historic_hookspec_is_impossible():
    with pytest.raises(RegistrationError, match="agent_hooks_register"):
        hookspec(historic=True)  # type: ignore[call-overload]
