"""Rule 9: async hooks have a timer, armed when they first wait; a plain function only if it asks, in a thread."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading

import pytest

from agent_hooks import HookManager, HookOutcome, SettingsError, hookimpl
from agent_hooks.model.policy import HookPolicy
from agent_hooks.testing import make_context
from engine import Engine, shell

VARIABLE: contextvars.ContextVar[str] = contextvars.ContextVar("VARIABLE", default="unset")


class RecordingLoop(asyncio.SelectorEventLoop):
    """An event loop that remembers how many timers were armed."""

    timers = 0

    def call_at(self, *args, **kwargs):  # type: ignore[override]
        self.timers += 1
        return super().call_at(*args, **kwargs)


def timers_armed(engine: Engine) -> int:
    """Dispatch once, and return how many timers that took."""
    with asyncio.Runner(loop_factory=RecordingLoop) as runner:
        runner.run(engine.hooks.dispatch(shell()))
        loop = runner.get_loop()
        assert isinstance(loop, RecordingLoop)
        return loop.timers


def test_an_async_hook_that_does_not_wait_needs_no_timer():
    engine = Engine("async")
    engine.says("quick", timeout=5)
    assert timers_armed(engine) == 0


def test_an_async_hook_that_waits_gets_one_timer():
    engine = Engine("async")

    @engine.hook(timeout=5)
    async def waits(ctx):
        await asyncio.sleep(0)
        await asyncio.sleep(0)

    assert timers_armed(engine) == 1


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

    assert timers_armed(engine) == 0
    assert engine.dispatch(shell()).reason == "done"


@pytest.mark.parametrize("timeout", [0, -1, True, "5"])
def test_a_timeout_is_a_number_above_zero(timeout):
    with pytest.raises(SettingsError, match=r"HookPolicy.timeout must be a number above 0"):
        HookPolicy(timeout=timeout)


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


def test_an_answer_after_the_timeout_is_dropped_although_the_hook_swallowed_its_cancellation():
    class Late:
        @hookimpl(timeout=0.01, name="late")
        async def before_tool_use(self):
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            return HookOutcome.allow()

    manager = HookManager(load_plugins=False)
    manager.register(Late())
    outcome = manager.hooks().run_sync(make_context(tool="Bash", args={"command": "ls"}))
    assert (outcome.decision, outcome.hook, outcome.failed) == ("deny", "late", True)
    assert "no answer after 0.01 s" in outcome.reason
