"""Every hookspec: an event of its name, arguments a context can give, and one sentence."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

from agent_hooks import HookContext, HookEvent, ToolCall, hookimpl
from agent_hooks.engine import hookspecs
from agent_hooks.engine.checks import OWN_HOOKS
from engine import Plugin

pytestmark = pytest.mark.interpreter

SPECS = {name: value for name, value in vars(hookspecs).items() if hasattr(value, "agent_hooks_spec")}
OF_EVENTS = [name for name in SPECS if name not in OWN_HOOKS]


def test_every_hookspec_is_an_events_or_the_frameworks_own():
    assert set(OF_EVENTS) == set(HookEvent.all())
    assert {
        "agent_hooks_register", "agent_hooks_add_hookspecs", "agent_hooks_handler_types", "agent_hooks_config_sources",
        "agent_hooks_capabilities", "agent_hooks_commands", "agent_hooks_explain", "agent_hooks_findings",
        "agent_hooks_settings",
        "agent_hooks_dispatch_started", "agent_hooks_executed", "agent_hooks_dispatched",
        "agent_hooks_run_started", "agent_hooks_tool_started",
    } == OWN_HOOKS  # fmt: skip


@pytest.mark.parametrize("name", SPECS)
def test_a_hookspec_has_one_sentence(name):
    sentence = inspect.getdoc(SPECS[name]) or ""
    assert re.fullmatch(r"[A-Z][^.!?]*[.]", sentence)
    assert sentence.count("\n") <= 1


@pytest.mark.parametrize("name", OF_EVENTS)
def test_an_events_hookspec_takes_the_context_and_its_subject(name):
    arguments = list(inspect.signature(SPECS[name]).parameters)
    subject = HookEvent(name).subject
    assert arguments[0] == "ctx"
    assert subject is None or subject in arguments


@pytest.mark.parametrize("name", OF_EVENTS)
def test_every_argument_reaches_a_hook_that_names_it(name, manager):
    """Each is a field of the context, or a name for one."""
    arguments = [argument for argument in inspect.signature(SPECS[name]).parameters if argument != "ctx"]
    given: dict[str, object] = {}
    source = (
        f"def hook(ctx, {', '.join(arguments)}):\n    given.update(ctx=ctx, {', '.join(f'{a}={a}' for a in arguments)})"
    )
    namespace: dict[str, Any] = {"given": given}
    exec(source, namespace)
    manager.register(Plugin(**{name: hookimpl(namespace["hook"])}))
    ctx = HookContext(name, tool_call=ToolCall("t", {"a": 1}))
    manager.hooks().dispatch_sync(ctx)
    assert {argument: given[argument] for argument in arguments} == {
        argument: ctx.get(argument) for argument in arguments
    }


@pytest.mark.parametrize("name", OF_EVENTS)
def test_the_first_to_block_settles_exactly_the_events_that_something_can_block(name):
    assert SPECS[name].agent_hooks_spec["firstresult"] == bool(HookEvent(name).decisions)
