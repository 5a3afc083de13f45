"""Rule 2: a hook whose match says no is not called and leaves no record; a match that raises is its hook's failure."""

from __future__ import annotations

import pytest

from agent_hooks import HookManager, HookOutcome, RegistrationError, ToolNameMatcher, hookimpl
from engine import Plugin, rewrite, shell


def test_a_hook_is_asked_only_where_its_match_says_yes(engine):
    engine.says("shells", HookOutcome.deny("no shells"), match="shell")
    engine.says("readers", HookOutcome.deny("no reading"), match="Read")
    assert engine.dispatch(shell()).hook == "shells"


def test_a_hook_that_is_passed_over_leaves_no_record(engine):
    calls = engine.says("other", HookOutcome.deny("never"), match="Read")
    after = engine.says("after")
    told = []

    def agent_hooks_executed(hook_name):
        told.append(hook_name)

    engine.manager.register(Plugin(agent_hooks_executed=hookimpl(agent_hooks_executed)))
    outcome = engine.dispatch(shell())
    assert calls == []
    assert told == ["after"]
    assert after[0].previous_results == ()
    assert outcome == HookOutcome()


def test_a_match_that_raises_is_its_hooks_failure(engine):
    """On a gate the call is denied, and the reason names the hook."""

    def broken(ctx):
        raise LookupError("no table")

    calls = engine.says("guard", match=broken)
    outcome = engine.dispatch(shell())
    assert calls == []
    assert (outcome.decision, outcome.hook, outcome.failed) == ("deny", "guard", True)
    assert outcome.reason == "The hook guard failed: LookupError: no table"


def test_a_match_that_raises_is_tolerated_where_its_hook_may_fail(engine):
    def broken(ctx):
        raise LookupError("no table")

    engine.says("guard", match=broken, on_failure="open")
    after = engine.says("after")
    outcome = engine.dispatch(shell())
    assert outcome.decision == "proceed"
    assert [(finding.hook, finding.kind) for finding in outcome.findings] == [("guard", "failure")]
    assert len(after) == 1


def test_a_match_that_raises_in_an_observer_changes_nothing(engine):
    def broken(ctx):
        raise LookupError("no table")

    calls = engine.says("looker", mode="observe", match=broken)
    outcome = engine.dispatch(shell())
    assert (calls, outcome.decision) == ([], "proceed")
    assert outcome.findings[0].hook == "looker"


def test_a_match_sees_the_context_as_the_hooks_before_left_it(engine):
    engine.says("rewriter", rewrite("safe"), priority=1, match=lambda ctx: ctx.tool_args["command"] == "risky")
    judged = engine.says("judge", match=lambda ctx: ctx.tool_args["command"] == "safe")
    assert engine.dispatch(shell("risky")).tool_args == {"command": "safe"}
    assert [ctx.tool_args for ctx in judged] == [{"command": "safe"}]


async def _async_predicate(ctx):
    return True


class _AsyncCallable:
    async def __call__(self, ctx):
        return True


@pytest.mark.parametrize("predicate", [_async_predicate, _AsyncCallable()])
def test_an_async_predicate_is_refused_at_registration(predicate):
    """A coroutine is true, whatever it would have answered."""
    manager = HookManager(load_plugins=False)
    with pytest.raises(RegistrationError, match="is async"):
        manager.register(Plugin(before_tool_use=hookimpl(match=predicate)(lambda ctx: None)))
    assert not manager.hooks().listens("before_tool_use")


@pytest.mark.parametrize("compose", [lambda a, b: a & b, lambda a, b: a | b])
def test_an_async_predicate_is_refused_inside_a_matcher(compose):
    with pytest.raises(RegistrationError, match="is async"):
        compose(ToolNameMatcher("Bash"), _async_predicate)
