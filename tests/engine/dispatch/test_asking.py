"""An ask is remembered; when nothing blocks, one question is put: to permission hooks, the application, the policy."""

from __future__ import annotations

import asyncio

import pytest

from agent_hooks import HookManager, HookOutcome, HookRegistration
from agent_hooks.model.policy import RANKS
from agent_hooks.testing import make_context
from engine import Engine, rewrite, shell

ASK = HookOutcome.ask("sure?")


def test_one_question_is_put_with_all_reasons_about_the_final_subject(engine):
    asked = []

    def ask(ctx, reason):
        asked.append((ctx.event, ctx.tool_args, ctx.asked_by, reason))
        return True

    engine.ask = ask
    engine.says("one", HookOutcome.ask("first?"), priority=2)
    engine.says("rewriter", rewrite("ls -l"), priority=1)
    engine.says("two", HookOutcome.ask("second?"))
    outcome = engine.dispatch(shell("ls"))
    assert asked == [("permission_request", {"command": "ls -l"}, ("one", "two"), "first?\n\nsecond?")]
    assert (outcome.decision, outcome.asked_by, outcome.tool_args) == ("allow", ("one", "two"), {"command": "ls -l"})


# -- who answers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("said", "decision"), [(True, "allow"), (False, "deny"), (None, "deny"), ("yes", "deny")])
def test_the_application_is_asked(engine, said, decision):
    """Only True is a yes."""
    engine.ask = lambda ctx, reason: said
    engine.says("asker", ASK)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.asked_by) == (decision, ("asker",))


def test_the_application_may_answer_asynchronously(engine):
    async def ask(ctx, reason):
        return True

    engine.ask = ask
    engine.says("asker", ASK)
    assert engine.dispatch(shell()).decision == "allow"


def test_an_application_that_waits_cannot_answer_a_sync_call():
    async def ask(ctx, reason):
        await asyncio.sleep(0)
        return True

    engine = Engine("plain")
    engine.ask = ask
    engine.says("asker", ASK)
    outcome = engine.dispatch(shell())
    assert outcome.decision == "deny"
    assert "use `await hooks.dispatch(ctx)`" in outcome.reason


def test_an_application_that_fails_to_answer_refuses(engine):
    def ask(ctx, reason):
        raise OSError("no terminal")

    engine.ask = ask
    engine.says("asker", ASK)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.reason) == ("deny", "sure? (Asking failed: OSError: no terminal)")


def test_the_policy_does_not_allow_what_a_hook_of_the_machine_asks(engine):
    engine = engine.with_policy(ask_fallback="allow")
    engine.says("asker", ASK)
    engine.says("machine", ASK, source="managed")
    assert engine.dispatch(shell()).decision == "deny"


def test_a_lower_permission_hook_does_not_grant_what_a_wrapper_of_a_higher_source_asks_as_well(engine):
    engine.says("asker", ASK)
    engine.says("granter", HookOutcome.allow(), event="permission_request", source="user")

    @engine.hook(wrapper=True, source="managed")
    def around(ctx):
        yield
        return ASK

    assert engine.dispatch(shell()).decision == "deny"


# -- allow, skip and the ranks -----------------------------------------------------------------------------------------

SOURCES = ["plugin", "code", "user", "managed"]


@pytest.mark.parametrize("allowing", SOURCES)
@pytest.mark.parametrize("asking", ["skill", "project", *SOURCES])
def test_an_allow_answers_the_asks_of_its_own_and_lower_sources(engine, allowing, asking):
    engine.says("allower", HookOutcome.allow(), source=allowing, priority=1)
    engine.says("asker", ASK, source=asking)
    answered = RANKS[allowing] >= RANKS[asking]
    assert engine.dispatch(shell()).decision == ("allow" if answered else "deny")


def test_whoever_is_asked_may_answer_with_a_future():
    async def asked() -> HookOutcome:
        answer = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(answer.set_result, True)
        manager = HookManager(load_plugins=False)
        manager.add(HookRegistration(event="before_tool_use", action=lambda ctx: ("ask", "May I?")))
        return await manager.hooks(ask=lambda ctx, reason: answer).dispatch(make_context(tool="Bash"))

    assert asyncio.run(asked()).decision == "allow"


def test_whoever_is_asked_may_leave_the_question_to_the_host(engine):
    """A callable that knows only some answers: the others stay in the outcome."""
    engine.ask = lambda ctx, reason: True if reason == "known" else "host"
    engine.says("asker", HookOutcome.ask("another"))
    assert engine.dispatch(shell()).decision == "ask"


def test_a_view_may_ask_somebody_else(manager):
    manager.add(HookRegistration(event="before_tool_use", action=lambda ctx: ("ask", "May I?")))
    hooks = manager.hooks()
    assert hooks.dispatch_sync(make_context(tool="Bash")).decision == "deny"
    assert hooks.asking(lambda ctx, reason: True).dispatch_sync(make_context(tool="Bash")).decision == "allow"
    assert hooks.dispatch_sync(make_context(tool="Bash")).decision == "deny"
