"""HookStack: hooks composed by hand."""

from __future__ import annotations

import asyncio

from agent_hooks import HookOutcome, HookPolicy, HookRegistration, HookStack
from agent_hooks.testing import make_context
from engine import shell


def say(text):
    return lambda ctx: HookOutcome.with_context(text)


def test_a_stack_is_never_changed():
    empty = HookStack()
    one = empty.with_hook(say("one"), "before_step")
    two = one.with_hook(say("two"), "before_step")
    assert (len(empty), len(one), len(two)) == (0, 1, 2)
    ctx = make_context("before_step")
    assert [stack.dispatch_sync(ctx).context for stack in (empty, one, two)] == ["", "one", "one\n\ntwo"]


def test_hooks_are_ordered_by_priority_whenever_they_were_added():
    stack = (
        HookStack()
        .with_hook(say("low"), "before_step", priority=-1)
        .with_hook(say("high"), "before_step", priority=100)
        .with_hook(say("middle"), "before_step", name="named")
    )
    assert stack.dispatch_sync(make_context("before_step")).context == "high\n\nmiddle\n\nlow"
    assert [info.name for info in stack.describe()] == ["<lambda>", "named", "<lambda>"]


def test_a_registration_is_a_hook_too():
    stack = HookStack().with_registration(HookRegistration("before_tool_use", say("hi"), match="Read"))
    assert stack.dispatch_sync(shell()).context == ""
    assert stack.dispatch_sync(make_context(tool="Read", args={})).context == "hi"


def test_a_stack_keeps_its_policy():
    def faulty(ctx):
        raise OSError("gone")

    stack = HookStack(policy=HookPolicy(on_gate_failure="open")).with_hook(faulty, "before_tool_use")
    assert stack.dispatch_sync(shell()).decision == "proceed"


def test_a_stack_knows_no_installed_plugins():
    assert [info.plugin for info in HookStack().with_hook(say("x"), "before_step", name="mine").describe()] == ["mine"]


def test_a_subclass_stays_one_with_what_it_has_of_its_own():
    class Audited(HookStack):
        def __init__(self, owner):
            super().__init__()
            self.owner = owner

    empty = Audited("ops")
    one = empty.with_hook(say("one"), "before_step")
    assert (type(one), one.owner, len(one), len(empty)) == (Audited, "ops", 1, 0)
    assert one.dispatch_sync(make_context("before_step")).context == "one"
    assert one.with_hook(say("two"), "before_step").dispatch_sync(make_context("before_step")).context == "one\n\ntwo"


def test_a_stack_answers_async_calls():
    async def deny(ctx):
        await asyncio.sleep(0)
        return HookOutcome.deny("no")

    assert asyncio.run(HookStack().with_hook(deny, "before_tool_use").dispatch(shell())).reason == "no"
