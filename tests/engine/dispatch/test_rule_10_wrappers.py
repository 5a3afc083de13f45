"""Rule 10: wrappers see the outcome and may return only a stricter one; nothing else gets past them or through them."""

from __future__ import annotations

import asyncio
import contextlib

import pytest

from agent_hooks import HookManager, HookOutcome, RegistrationError, StopReason, StopSignal, hookimpl
from agent_hooks.testing import make_context
from engine import Engine, messages_of, rewrite, shell

pytestmark = pytest.mark.interpreter

PROCEED, DENY, STOP = HookOutcome(), HookOutcome.deny("hook"), HookOutcome.stop("hook")
ASK, SUSPEND, ALLOW = HookOutcome.ask("hook"), HookOutcome.suspend("hook"), HookOutcome.allow()
NOTHING = object()


@pytest.fixture(params=["sync generator", "async generator"])
def wraps(request, engine):
    """Register a wrapper that gives ``answer``, in either kind of generator; it returns the outcomes that it saw."""

    def register(name, answer=NOTHING, **options):
        seen = []

        def generator(ctx):
            seen.append((yield))
            return None if answer is NOTHING else answer

        async def asynchronous(ctx):
            seen.append((yield))
            if answer is not NOTHING:
                yield answer

        function = generator if request.param == "sync generator" else asynchronous
        function.__name__ = name
        engine.hook(wrapper=True, **options)(function)
        return seen

    return register


def test_a_wrapper_sees_the_settled_outcome(engine, wraps):
    engine.says("rewriter", rewrite("ls -l"))
    seen = wraps("around")
    outcome = engine.dispatch(shell("ls"))
    assert [saw.tool_args for saw in seen] == [{"command": "ls -l"}]
    assert outcome.tool_args == {"command": "ls -l"}


@pytest.mark.parametrize("inner", [PROCEED, ALLOW, DENY, STOP], ids=lambda answer: str(answer.decision))
def test_returning_nothing_keeps_the_outcome(engine, wraps, inner):
    engine.says("hook", inner)
    wraps("around")
    assert (outcome := engine.dispatch(shell())).decision == inner.decision
    assert outcome.findings == ()


STRICTER = [(PROCEED, ASK), (PROCEED, DENY), (ALLOW, DENY), (ASK, SUSPEND), (SUSPEND, DENY), (DENY, STOP)]


@pytest.mark.parametrize(("inner", "outer"), STRICTER, ids=lambda answer: str(answer.decision))
def test_a_stricter_outcome_replaces_the_one_inside(engine, wraps, inner, outer):
    engine.ask = "host"
    engine.says("hook", inner)
    wraps("around", outer.replace(reason="around"))
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.reason, outcome.hook) == (outer.decision, "around", "around")
    assert outcome.findings == ()


@pytest.mark.parametrize(("inner", "outer"), [(b, a) for a, b in STRICTER], ids=lambda answer: str(answer.decision))
def test_a_looser_outcome_is_dropped_and_reported(engine, wraps, inner, outer):
    engine.ask = "host"
    engine.says("hook", inner)
    wraps("around", outer)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.hook) == (inner.decision, "hook")
    if outer is not PROCEED:
        assert messages_of(outcome) == [
            f"The wrapper 'around' may only return a stricter outcome; {outer.decision} was dropped."
        ]


def test_a_stricter_outcome_is_judged_by_the_wrappers_outside(engine, wraps):
    engine.says("hook", PROCEED)
    wraps("inner", HookOutcome.ask("inner"))
    outer = wraps("outer", HookOutcome.deny("outer"), priority=1)
    assert engine.dispatch(shell()).reason == "outer"
    assert [saw.decision for saw in outer] == ["ask"]


def test_asking_comes_after_the_wrappers(engine, wraps):
    asked = engine.asks(True)
    engine.says("hook", ASK)
    wraps("around", DENY)
    assert (engine.dispatch(shell()).decision, asked) == ("deny", [])


def test_a_wrappers_block_keeps_what_it_and_the_hooks_said(engine, wraps):
    signal = StopSignal(reason=StopReason.ERROR)
    engine.says("hook", HookOutcome.with_context("inside"))
    wraps("around", HookOutcome.deny("no", context="outside", metadata={"k": 1}, signal=signal))
    outcome = engine.dispatch(shell())
    assert (outcome.context, outcome.metadata, outcome.signals) == ("inside\n\noutside", {"k": 1}, (signal,))


def test_a_wrappers_block_brings_no_new_subject(engine, wraps):
    engine.says("hook", rewrite("ls -l"))
    wraps("around", HookOutcome.deny("no", tool_args={"command": "rm"}))
    assert engine.dispatch(shell("ls")).tool_args is None


def test_a_wrapper_whose_match_says_no_is_passed_over(engine, wraps):
    seen = wraps("around", DENY, match="Read")
    assert (engine.dispatch(shell()).decision, seen) == ("proceed", [])


def test_a_wrapper_is_never_thrown_a_hooks_failure(engine, wraps):
    """It sees the outcome that the failure became."""
    engine.says("faulty", OSError("gone"))
    seen = wraps("around")
    outcome = engine.dispatch(shell())
    assert [(saw.decision, saw.failed) for saw in seen] == [("deny", True)]
    assert outcome.hook == "faulty"


def test_a_wrapper_in_shadow_enforces_nothing(engine, wraps):
    seen = wraps("around", DENY, shadow=True)
    assert engine.dispatch(shell()).decision == "proceed"
    assert len(seen) == 1


# -- mistakes of wrappers ----------------------------------------------------------------------------------------------


def deny_of(engine: Engine, generator) -> str:
    """Register the generator as a wrapper and return the reason of the deny that it causes."""
    engine.hook(wrapper=True)(generator)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.failed, outcome.hook) == ("deny", True, generator.__name__)
    return outcome.reason


def test_a_wrapper_that_yields_twice_fails(engine):
    def twice(ctx):
        yield
        yield DENY

    assert "a wrapper yields once; it yielded twice" in deny_of(engine, twice)


def test_an_async_wrapper_that_yields_three_times_fails(engine):
    async def thrice(ctx):
        yield
        yield
        yield

    assert "a second time to answer; it yielded a third time" in deny_of(engine, thrice)


def test_a_wrapper_that_never_yields_fails(engine):
    asked = engine.says("hook")

    def never(ctx):
        if ctx.depth > 99:
            yield

    assert "it ended before its yield" in deny_of(engine, never)
    assert asked == []


def test_a_wrapper_that_raises_before_its_yield_fails(engine):
    def early(ctx):
        if ctx.depth == 0:
            raise KeyError("k")
        yield

    assert "KeyError" in deny_of(engine, early)


def test_a_wrapper_that_raises_after_its_yield_fails(engine):
    def late(ctx):
        yield
        raise KeyError("k")

    assert "KeyError" in deny_of(engine, late)


def test_a_wrapper_that_may_fail_is_passed_over(engine):
    @engine.hook(wrapper=True, on_failure="open")
    def early(ctx):
        if ctx.depth == 0:
            raise KeyError("k")
        yield

    engine.says("hook", HookOutcome.with_context("still asked"))
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.context) == ("proceed", "still asked")
    assert outcome.findings[0].hook == "early"


def test_a_wrapper_that_fails_may_lead_to_a_question(engine):
    engine.ask = "host"

    @engine.hook(wrapper=True, on_failure="ask")
    def early(ctx):
        if ctx.depth == 0:
            raise KeyError("k")
        yield

    asked = engine.says("hook")
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.asked_by, len(asked)) == ("ask", ("early",), 1)


def test_a_wrapper_cannot_return_what_is_no_outcome(engine):
    def odd(ctx):
        yield
        return 42

    assert "it returned 42" in deny_of(engine, odd)


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


@pytest.mark.parametrize("place", ["hook", "match", "observer", "wrapper"])
def test_an_interrupt_passes(engine, place):
    """A person who presses Ctrl-C is heard, wherever the program is."""

    def interrupt(ctx):
        raise KeyboardInterrupt

    if place == "match":
        engine.says("hook", match=interrupt, on_failure="open")
    elif place == "wrapper":

        @engine.hook(wrapper=True, on_failure="open")
        def around(ctx):
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


def test_a_hook_cannot_swallow_the_cancellation_of_its_caller():
    class Stubborn:
        @hookimpl
        async def before_tool_use(self):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()

    async def cancelled() -> None:
        manager = HookManager(load_plugins=False)
        manager.register(Stubborn())
        task = asyncio.create_task(manager.hooks().dispatch(make_context(tool="Bash", args={"command": "ls"})))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


def test_a_wrapper_that_decides_is_named_with_its_source(engine, wraps):
    wraps("around", DENY, source="user")
    outcome = engine.dispatch(shell())
    assert (outcome.hook, outcome.source) == ("around", "user")


@pytest.mark.parametrize("error", [StopAsyncIteration, StopIteration])
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_wrapper_that_raises_what_ends_generators_has_failed(engine, error, when):
    """A plain generator may raise StopAsyncIteration; that is no return."""

    @engine.hook(wrapper=True)
    def around(ctx):
        if when == "before":
            raise error
        yield
        raise error

    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.failed, outcome.hook) == ("deny", True, "around")


@pytest.mark.parametrize("error", [StopAsyncIteration, StopIteration])
@pytest.mark.parametrize("when", ["before", "after", "answered"])
def test_an_async_wrapper_that_raises_what_ends_generators_has_failed(error, when):
    engine = Engine("async")

    @engine.hook(wrapper=True)
    async def around(ctx):
        if when == "before":
            raise error
        yield
        if when == "answered":
            yield None
        raise error

    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.failed, outcome.hook) == ("deny", True, "around")
