"""Hooks that are made for the engine without a manager of plugins."""

from __future__ import annotations

from agent_hooks import HookManager, HookOutcome, HookPolicy, hookimpl
from agent_hooks.engine.known_tools import matched_kinds
from agent_hooks.engine.registry import HookRegistry
from agent_hooks.model.events import HookEvent
from engine import Plugin, shell


def hooks_of(**options):
    """The hooks of a plugin with one gate."""

    @hookimpl(**options)
    def before_tool_use():
        return HookOutcome.deny("no")

    manager = HookManager(load_plugins=False)
    manager.register(Plugin(before_tool_use=before_tool_use))
    return manager.all_hooks()


def test_inserted_hooks_are_asked_on_their_event_alone():
    registry = HookRegistry(HookPolicy())
    (hook,) = hooks_of()
    before = registry.generation
    registry.insert(hook)
    assert registry.generation > before
    assert registry.hooks_on(HookEvent.BEFORE_TOOL_USE) == [hook]
    assert registry.hooks_on(HookEvent.AFTER_TOOL_USE) == []
    assert registry.hooks().dispatch_sync(shell()).reason == "no"


def test_a_hook_of_a_scope_is_in_the_chains_of_that_scope_alone():
    registry = HookRegistry(HookPolicy())
    (hook,) = hooks_of()
    hook.scope = ("skill", "lint")
    registry.insert(hook)
    assert registry.compile(HookEvent.BEFORE_TOOL_USE) is None
    assert registry.compile(HookEvent.BEFORE_TOOL_USE, frozenset({("skill", "other")})) is None
    chain = registry.compile(HookEvent.BEFORE_TOOL_USE, frozenset({("skill", "lint")}))
    assert chain is not None
    assert [*chain.hooks] == [hook]


def test_the_kinds_that_deciding_hooks_match_are_those_of_their_plain_names():
    hooks = [
        *hooks_of(match="shell"),
        *hooks_of(match="Read|Write"),
        *hooks_of(match="fet*"),
        *hooks_of(match="other"),
        *hooks_of(match="my_tool"),
        *hooks_of(match="search", mode="observe"),
    ]
    assert matched_kinds(hooks) == {"shell", "read", "write"}
