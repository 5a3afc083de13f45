"""Rule 10: wrappers see the outcome and may return only a stricter one; nothing else gets past them or through them."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agent_hooks import HookManager, HookOutcome, RegistrationError, hookimpl
from engine import Engine, called, shell
from hook_sets import check

pytestmark = pytest.mark.interpreter

DENY = HookOutcome.deny("no")
STRICTER = [
    *(("proceed", "ask"), ("proceed", "deny"), ("allow", "deny")),
    *(("ask", "suspend"), ("suspend", "deny"), ("deny", "stop")),
]


@pytest.fixture(params=["plain", "async"])
def wrappers(request):
    """Either kind of generator."""
    return request.param


def inside(inner: str, outer: str, **then: Any) -> dict[str, Any]:
    """A hook that decides so inside a wrapper that decides so, and what comes of it."""
    around = {"name": "around", "wrapper": True, "decision": outer, "reason": "around"}
    return {"ask": "host", "hooks": [{"name": "hook", "decision": inner}, around], **then}


@pytest.mark.parametrize(("inner", "outer"), STRICTER)
def test_a_stricter_outcome_replaces_the_one_inside(engine, wrappers, inner, outer):
    outcome = {"decision": outer, "reason": "around", "hook": "around"}
    check(engine, inside(inner, outer, outcome=outcome, findings=0), wrappers=wrappers)


@pytest.mark.parametrize(("outer", "inner"), STRICTER)
def test_a_looser_outcome_is_dropped_and_reported(engine, wrappers, inner, outer):
    reported = [] if outer == "proceed" else [["'around'", f"{outer} was dropped"]]
    case = inside(inner, outer, outcome={"decision": inner, "hook": "hook"}, message_says=reported)
    check(engine, case, wrappers=wrappers)


# -- mistakes of wrappers ----------------------------------------------------------------------------------------------


def twice(ctx):
    yield
    yield DENY


async def thrice(ctx):
    yield
    yield
    yield


def never(ctx):
    if ctx.depth > 99:
        yield


def early(ctx):
    if ctx.depth == 0:
        raise KeyError("k")
    yield


MISTAKES = [
    (twice, "a wrapper yields once; it yielded twice"),
    (thrice, "a second time to answer; it yielded a third time"),
    (never, "it ended before its yield"),
    (early, "KeyError"),
]


@pytest.mark.parametrize(("wrapper", "reason"), MISTAKES, ids=called)
def test_a_wrapper_that_yields_in_a_wrong_way_or_raises_before_it_fails(engine, wrapper, reason):
    asked = engine.says("hook")
    engine.hook(wrapper=True)(wrapper)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.failed, outcome.hook) == ("deny", True, wrapper.__name__)
    assert reason in outcome.reason
    assert len(asked) == (wrapper in (twice, thrice))


@pytest.mark.parametrize(("setting", "decision", "asked_by"), [("open", "proceed", ()), ("ask", "ask", ("early",))])
def test_a_wrapper_that_may_fail_is_passed_over_or_asks(engine, setting, decision, asked_by):
    engine.ask = "host"
    engine.hook(wrapper=True, on_failure=setting)(early)
    asked = engine.says("hook", HookOutcome.with_context("still asked"))
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.asked_by, len(asked)) == (decision, asked_by, 1)
    assert outcome.context == "still asked"
    assert [finding.hook for finding in outcome.findings] == ["early"] * (setting == "open")


# -- cancellation and interrupts ---------------------------------------------------------------------------------------


async def cancel_while_waiting(engine: Engine) -> bool:
    """Dispatch with a hook that waits, cancel the caller, and return whether the cancellation came out."""
    waiting = asyncio.Event()

    @engine.hook()
    async def waits(ctx):
        waiting.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(engine.hooks.dispatch(shell()))
    await waiting.wait()
    task.cancel()
    await asyncio.wait([task])
    return task.cancelled()


def test_a_real_cancellation_goes_through_the_wrappers_and_is_raised_again():
    engine, heard = Engine("async"), []

    @engine.hook(wrapper=True)
    def plain(ctx):
        try:
            yield
        except asyncio.CancelledError:
            heard.append("plain")
            raise

    @engine.hook(wrapper=True)
    async def asynchronous(ctx):
        try:
            yield
        finally:
            heard.append("async")

    assert asyncio.run(cancel_while_waiting(engine))
    assert heard == ["async", "plain"]


def test_a_wrapper_cannot_swallow_a_cancellation():
    engine = Engine("async")

    @engine.hook(wrapper=True)
    def swallows(ctx):
        try:
            yield
        except asyncio.CancelledError:
            return HookOutcome.deny("not cancelled")

    @engine.hook(wrapper=True)
    async def swallows_too(ctx):
        try:
            yield
        except asyncio.CancelledError:
            yield HookOutcome.deny("not cancelled")

    assert asyncio.run(cancel_while_waiting(engine))


def test_a_wrapper_that_raises_at_a_cancellation_does_not_replace_it():
    engine = Engine("async")

    @engine.hook(wrapper=True)
    def replaces(ctx):
        try:
            yield
        finally:
            raise ValueError("instead")

    assert asyncio.run(cancel_while_waiting(engine))


@pytest.mark.parametrize("place", ["hook", "match", "observer", "wrapper", "wrapper before its yield"])
def test_an_interrupt_passes(engine, place):
    """A person who presses Ctrl-C is heard, wherever the program is."""

    def interrupt(ctx):
        raise KeyboardInterrupt

    if place == "match":
        engine.says("hook", match=interrupt, on_failure="open")
    elif "wrapper" in place:

        @engine.hook(wrapper=True, on_failure="open")
        def around(ctx):
            if place == "wrapper":
                yield
            raise KeyboardInterrupt

    else:
        mode = "observe" if place == "observer" else "transform"
        engine.says("hook", KeyboardInterrupt(), mode=mode, on_failure="open")
    with pytest.raises(KeyboardInterrupt):
        engine.dispatch(shell())


def test_a_wrapper_hears_an_interrupt_but_cannot_swallow_it(engine):
    heard = []

    @engine.hook(wrapper=True)
    def around(ctx):
        try:
            yield
        except KeyboardInterrupt:
            heard.append(True)

    engine.says("hook", KeyboardInterrupt())
    with pytest.raises(KeyboardInterrupt):
        engine.dispatch(shell())
    assert heard == [True]


def test_a_plain_wrapper_cannot_have_a_timeout():
    class Timed:
        @hookimpl(wrapper=True, timeout=1)
        def before_tool_use(self):
            yield

    with pytest.raises(RegistrationError, match="only an async wrapper can have a timeout"):
        HookManager(load_plugins=False).register(Timed())


@pytest.mark.parametrize("error", [StopAsyncIteration, StopIteration])
@pytest.mark.parametrize("when", ["before", "after", "answered"])
@pytest.mark.parametrize("is_async", [False, True])
def test_a_wrapper_that_raises_what_ends_generators_has_failed(error, when, is_async):
    """A plain generator may raise StopAsyncIteration; that is no return."""
    engine = Engine("async" if is_async else "plain")

    def plain(ctx):
        if when == "before":
            raise error
        yield
        raise error

    async def asynchronous(ctx):
        if when == "before":
            raise error
        yield
        if when == "answered":
            yield None
        raise error

    engine.hook(wrapper=True, name="around")(asynchronous if is_async else plain)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.failed, outcome.hook) == ("deny", True, "around")
