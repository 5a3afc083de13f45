"""Rule 9: async hooks have a timer, armed when they first wait; a plain function only if it asks, in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from typing import Any

import pytest

from agent_hooks import HookOutcome, hookimpl
from agent_hooks.model.policy import HookPolicy
from agent_hooks.testing import make_context
from engine import Engine, shell

pytestmark = pytest.mark.interpreter

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE", default="unset")


class Timers(asyncio.SelectorEventLoop):
    """An event loop that keeps its timers."""

    def __init__(self):
        super().__init__()
        self.kept = []

    def call_at(self, when, *args, **kwargs):  # type: ignore[override]
        self.kept.append((round(when - self.time()), super().call_at(when, *args, **kwargs)))
        return self.kept[-1][1]


def test_an_async_hook_without_a_timeout_of_its_own_has_that_of_the_policy():
    engine = Engine("async", HookPolicy(timeout=0.01))
    engine.waits("slow")
    assert engine.dispatch(shell()).reason == "The hook slow failed: HookTimeoutError: no answer after 0.01 s."


def test_the_default_is_a_minute_for_async_hooks_and_none_for_plain_functions(engine):
    engine.says("hook")
    expected = 60.0 if engine.colour == "async" else None
    assert [hook.timeout for hook in engine.manager.describe()] == [expected]


def test_a_policy_may_leave_async_hooks_without_a_timer():
    engine = Engine("async", HookPolicy(timeout=None))

    @engine.hook()
    async def waits(ctx):
        await asyncio.sleep(0)
        return HookOutcome.deny("done")

    with asyncio.Runner(loop_factory=Timers) as runner:
        assert runner.run(engine.hooks.dispatch(shell())).reason == "done"
        assert vars(runner.get_loop())["kept"] == []


def test_a_hooks_own_timeout_error_is_not_taken_for_the_engines():
    engine = Engine("async")

    @engine.hook(timeout=5)
    async def asks(ctx):
        await asyncio.sleep(0)
        raise TimeoutError("the service did not answer")

    assert engine.dispatch(shell()).reason == "The hook asks failed: TimeoutError: the service did not answer"


def test_a_plain_function_runs_inline_unless_it_sets_a_timeout(engine):
    threads = []
    for name, timeout in (("inline", None), ("apart", 5)):

        def hook(ctx):
            threads.append(threading.current_thread())

        hook.__name__ = name
        _plain(engine).hook(timeout=timeout)(hook)
    engine.dispatch(shell())
    assert threads[0] is threading.current_thread()
    assert threads[1] is not threading.current_thread()
    assert threads[1].daemon


def _plain(engine: Engine) -> Engine:
    """The same engine, registering plain functions whatever its colour."""
    other = Engine("plain")
    other.manager = engine.manager
    return other


def test_a_timed_plain_function_has_a_copy_of_the_context_variables(engine):
    seen = []

    def looks(ctx):
        seen.append(VARIABLE.get())
        VARIABLE.set("changed in the thread")

    _plain(engine).hook(timeout=5)(looks)
    token = VARIABLE.set("set by the caller")
    try:
        engine.dispatch(shell())
        assert (seen, VARIABLE.get()) == (["set by the caller"], "set by the caller")
    finally:
        VARIABLE.reset(token)


def test_a_timed_plain_functions_answer_and_error_count(engine):
    plain = _plain(engine)

    def speaks(ctx):
        return HookOutcome.with_context("from the thread")

    def raises(ctx):
        raise ValueError("in the thread")

    plain.hook(timeout=5)(speaks)
    plain.hook(timeout=5)(raises)
    outcome = engine.dispatch(shell())
    assert (outcome.context, outcome.reason) == ("from the thread", "The hook raises failed: ValueError: in the thread")


def test_a_late_answer_of_a_thread_is_dropped(engine):
    """The thread cannot be killed: it goes on, and what it answers then changes nothing."""
    may_finish, finished = threading.Event(), threading.Event()
    after = []

    def late(ctx):
        may_finish.wait()
        finished.set()
        return HookOutcome.deny("too late")

    plain = _plain(engine)
    plain.hook(timeout=0.01, on_failure="open", priority=1)(late)

    @engine.hook()
    def next_hook(ctx):
        after.append(ctx)
        may_finish.set()
        assert finished.wait(10)

    outcome = engine.dispatch(shell())
    assert (outcome.decision, len(after)) == ("proceed", 1)
    assert "no answer after 0.01 s" in outcome.findings[0].message


def test_a_timed_hook_lets_the_event_loop_go_on():
    """While a thread works, other tasks run."""
    engine = Engine("async")
    may_finish = threading.Event()

    def waits_for_the_loop(ctx):
        assert may_finish.wait(10)

    _plain(engine).hook(timeout=10)(waits_for_the_loop)

    async def both():
        async def release():
            may_finish.set()

        outcome, _ = await asyncio.gather(engine.hooks.dispatch(shell()), release())
        return outcome

    assert asyncio.run(both()).decision == "proceed"


def test_an_async_wrapper_has_the_policys_timer_too():
    engine = Engine("async", HookPolicy(timeout=0.01))

    @engine.hook(wrapper=True)
    async def around(ctx):
        await asyncio.Event().wait()
        yield

    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.failed, outcome.hook) == ("deny", True, "around")
    assert "no answer after 0.01 s" in outcome.reason


def test_an_answer_after_the_timeout_is_dropped_although_the_hook_swallowed_its_cancellation(manager):
    class Late:
        @hookimpl(timeout=0.01, name="late")
        async def before_tool_use(self):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            return HookOutcome.allow()

    manager.register(Late())
    outcome = manager.hooks().run_sync(make_context(tool="Bash", args={"command": "ls"}))
    assert (outcome.decision, outcome.hook, outcome.failed) == ("deny", "late", True)
    assert "no answer after 0.01 s" in outcome.reason


@pytest.fixture(params=["alone", "inside a wrapper"])
def waiting(request):
    """An async engine, whose hooks are called by the fast lane, or by the full dispatch inside a wrapper."""
    engine = Engine("async")
    if request.param == "inside a wrapper":

        @engine.hook(wrapper=True)
        def around(ctx):
            yield

    return engine


def test_each_hook_that_waits_has_its_own_timer_until_it_ends(waiting):
    running = []

    def hook(name, waits, timeout):
        async def does(ctx):
            for _ in range(waits):
                await asyncio.sleep(0)
            loop: Any = asyncio.get_running_loop()
            running.append([seconds for seconds, timer in loop.kept if not timer.cancelled()])

        does.__name__ = name
        waiting.hook(timeout=timeout)(does)

    for place, (waits, timeout) in enumerate([(0, 100), (2, 200), (1, 300), (1, None)]):
        hook(f"hook{place}", waits, timeout)
    with asyncio.Runner(loop_factory=Timers) as runner:
        runner.run(waiting.hooks.dispatch(shell()))
        kept: list[Any] = vars(runner.get_loop())["kept"]
        assert [seconds for seconds, _ in kept] == [200, 300, 60]
        assert all(timer.cancelled() for _, timer in kept)
    assert running == [[], [200], [300], [60]]


def _cancelling() -> int:
    task = asyncio.current_task()
    assert task is not None
    return task.cancelling()


def test_the_failure_names_the_hook_that_was_late_and_the_next_one_is_asked_as_ever(waiting):
    cancellations = []

    @waiting.hook()
    async def early(ctx):
        await asyncio.sleep(0)

    @waiting.hook(timeout=0.01, on_failure="open")
    async def late(ctx):
        try:
            await asyncio.Event().wait()
        finally:
            cancellations.append(_cancelling())
            await asyncio.sleep(0)

    @waiting.hook()
    async def after(ctx):
        cancellations.append(_cancelling())
        await asyncio.sleep(0)
        return HookOutcome.deny("by the last")

    outcome = waiting.dispatch(shell())
    assert outcome.reason == "by the last"
    assert [finding.message for finding in outcome.findings] == [
        "The hook late failed: HookTimeoutError: no answer after 0.01 s."
    ]
    assert cancellations == [1, 0]


def test_a_hook_that_fails_while_it_is_cancelled_has_failed_so(waiting):
    @waiting.hook(timeout=0.01)
    async def late(ctx):
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            raise ValueError("cleaning up failed") from None

    assert waiting.dispatch(shell()).reason == "The hook late failed: ValueError: cleaning up failed"


@pytest.mark.parametrize("catches", [True, False])
def test_the_cancellation_of_something_that_a_hook_waits_for_is_its_own_affair(waiting, catches):
    @waiting.hook()
    async def hook(ctx):
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.cancel)
        with contextlib.suppress(asyncio.CancelledError) if catches else contextlib.nullcontext():
            await future
        return HookOutcome.deny("caught")

    @waiting.hook()
    async def after(ctx):
        await asyncio.sleep(0)

    expected = "caught" if catches else "The hook hook failed: CancelledError: no message"
    assert waiting.dispatch(shell()).reason == expected


def test_a_cancelled_call_ends_with_its_hook_though_that_answers(waiting):
    @waiting.hook()
    async def stubborn(ctx):
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    asked = waiting.says("after")

    async def cancelled() -> None:
        task = asyncio.create_task(waiting.hooks.dispatch(shell()))
        await asyncio.sleep(0)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())
    assert asked == []


def test_a_limit_outside_a_task_is_a_failure():
    engine = Engine("async")

    @engine.hook()
    async def hook(ctx):
        await asyncio.sleep(0)

    call = engine.hooks.dispatch(shell())
    with pytest.raises(StopIteration) as ended:
        call.send(None)
    assert ended.value.value.reason.startswith("The hook hook failed: RuntimeError: ")


def test_a_call_that_is_given_up_ends_its_hook():
    engine = Engine("async")
    ended = []

    @engine.hook()
    async def hook(ctx):
        try:
            await asyncio.sleep(0)
        finally:
            ended.append("hook")

    async def given_up() -> None:
        call = engine.hooks.dispatch(shell())
        call.send(None)
        call.close()

    asyncio.run(given_up())
    assert ended == ["hook"]


def test_a_late_hook_after_one_that_caught_a_cancellation_of_its_own_is_late(waiting):
    @waiting.hook()
    async def catches(ctx):
        future = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(future.cancel)
        with contextlib.suppress(asyncio.CancelledError):
            await future

    waiting.waits("late", timeout=0.01)
    assert waiting.dispatch(shell()).reason == "The hook late failed: HookTimeoutError: no answer after 0.01 s."


def test_the_limit_of_a_hook_with_an_opinion_does_not_bind_those_after_it():
    engine = Engine("async", HookPolicy(timeout=None))
    engine.says("asks", HookOutcome.ask("May it?"), timeout=0.01)

    @engine.hook()
    async def unlimited(ctx):
        await asyncio.sleep(0.05)
        return HookOutcome.deny("done")

    assert engine.dispatch(shell()).reason == "done"


def test_a_hook_that_is_asked_again_has_its_limit_again():
    engine = Engine("async")

    @engine.hook(timeout=0.01)
    async def slow(ctx):
        if ctx.rechecking:
            await asyncio.Event().wait()

    engine.says("rewrites", HookOutcome.update(tool_args={"command": "ls -l"}))
    outcome = asyncio.run(asyncio.wait_for(engine.hooks.dispatch(shell("ls")), 5))
    assert outcome.reason == "The hook slow failed: HookTimeoutError: no answer after 0.01 s."
