"""A suspended operation waits; its token resumes it once, and all the other hooks are asked again."""

from __future__ import annotations

import pytest

from agent_hooks import HookOutcome, HookPolicy, ToolCall
from agent_hooks.errors import SuspensionError
from engine import Engine, shell

SUSPEND = HookOutcome.suspend("a person must look", data={"ticket": 7})


def test_tokens_cannot_be_guessed(engine):
    engine.says("gate", SUSPEND)
    tokens = {engine.dispatch(shell()).token for _ in range(5)}
    assert len(tokens) == 5
    assert min(map(len, tokens)) >= 20


# -- the answers to several waits --------------------------------------------------------------------------------------


@pytest.fixture
def suspended(engine):
    """The outcome of an operation that the hook ``gate`` suspended."""
    engine.says("gate", SUSPEND, priority=1)
    return engine.dispatch(shell("deploy"))


def test_a_token_works_once(engine, suspended):
    engine.resume(suspended.token, "allow")
    with pytest.raises(SuspensionError, match="already resumed"):
        engine.resume(suspended.token, "allow")


def test_an_unknown_token_resumes_nothing(engine, suspended):
    with pytest.raises(SuspensionError, match="Nothing is suspended"):
        engine.resume("no-such-token", "allow")


def test_a_token_is_bound_to_the_id_of_its_call(engine, suspended):
    call = ToolCall("Bash", {"command": "deploy"}, id="call-2", kind="shell")
    with pytest.raises(SuspensionError, match="belongs to another operation"):
        engine.resume(suspended.token, "allow", shell("deploy", tool_call=call))


def test_a_call_that_waits_is_counted_once(engine):
    """A hook that was called about it before is rechecking; what it brings still counts."""
    seen = []

    @engine.hook(priority=1)
    def counter(ctx):
        seen.append(ctx.rechecking)
        if not ctx.rechecking and seen.count(False) > 1:
            return HookOutcome.deny("Rate limit exceeded.")
        return HookOutcome.with_context("Counted.")

    engine.says("gate", SUSPEND)
    after = engine.says("after")
    outcome = engine.resume(engine.dispatch(shell("deploy")).token, "allow")
    assert (outcome.decision, outcome.context, seen) == ("proceed", "Counted.", [False, True])
    assert [ctx.rechecking for ctx in after] == [False]
    assert engine.dispatch(shell("deploy")).reason == "Rate limit exceeded."


@pytest.mark.parametrize("is_other", [False, True])
@pytest.mark.parametrize(("decision", "answered"), [("suspend", "proceed"), ("ask", "allow")])
def test_an_answer_about_an_object_without_a_form_in_json_is_not_one_about_another(
    engine, decision, answered, is_other
):
    """Both would be the same text."""

    class Thing:
        def __str__(self) -> str:
            return "thing"

    things = [Thing(), Thing()]

    @engine.hook(priority=9)
    def chooses(ctx):
        chosen = things[is_other] if ctx.rechecking else things[0]
        return None if ctx.tool_args["it"] is chosen else HookOutcome.update(tool_args={"it": chosen})

    engine.says("gate", SUSPEND if decision == "suspend" else HookOutcome.ask("Really?"), priority=1)
    engine.ask = "host"
    call = ToolCall("Bash", {"it": "this"}, id="call-1", kind="shell")
    outcome = engine.dispatch(shell(tool_call=call))
    token = outcome.token or engine.manager.hooks().keep_asked(shell(tool_call=call), outcome).token
    assert engine.resume(token, "allow").decision == (decision if is_other else answered)


def test_a_token_holds_where_its_dispatch_was_cut_off(engine, suspended):
    done: list[int] = []
    engine.says("interrupted", KeyboardInterrupt(), match=lambda ctx: not done)
    with pytest.raises(KeyboardInterrupt):
        engine.resume(suspended.token, "allow")
    done.append(1)
    assert engine.resume(suspended.token, "allow").decision == "proceed"


DAY = 86_400.0


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until it is moved on."""
    now = [1_700_000_000.0]
    monkeypatch.setattr("agent_hooks.engine.suspension.time", lambda: now[0])
    return now


@pytest.mark.parametrize("is_removed", [False, True])
def test_what_has_waited_for_too_long_is_not_resumed_and_the_error_says_for_how_long(clock, engine, is_removed):
    engine.says("gate", SUSPEND, priority=1)
    token = engine.dispatch(shell("deploy")).token
    clock[0] += 31 * DAY
    if is_removed:
        engine.dispatch(shell("other"))
    with pytest.raises(SuspensionError, match=r"has waited for 31 days, and HookPolicy.suspension_ttl .* 30 days"):
        engine.resume(token, "allow")


def test_what_has_waited_for_less_is_resumed(clock, engine):
    engine.says("gate", SUSPEND, priority=1)
    token = engine.dispatch(shell("deploy")).token
    clock[0] += 29 * DAY
    engine.dispatch(shell("other"))
    assert engine.resume(token, "allow").decision == "proceed"


def test_what_is_never_resumed_does_not_pile_up(clock, engine):
    engine.says("gate", SUSPEND, priority=1)
    for _ in range(100):
        clock[0] += DAY
        engine.dispatch(shell("deploy"))
    assert len(engine.manager.suspended) <= 31


@pytest.mark.parametrize(("ttl", "is_resumed"), [(60.0, False), (None, True)])
def test_the_policy_says_how_long_an_operation_waits(clock, colour, ttl, is_resumed):
    engine = Engine(colour, policy=HookPolicy(suspension_ttl=ttl))
    engine.says("gate", SUSPEND, priority=1)
    token = str(engine.dispatch(shell("deploy")).token)
    clock[0] += 400 * DAY if is_resumed else 61
    if is_resumed:
        assert engine.resume(token, "allow").decision == "proceed"
    else:
        with pytest.raises(SuspensionError, match=r"61 s.* 60 s"):
            engine.resume(token, "allow")
