"""Rule 13: what is in shadow runs as an observer; what it would have decided is recorded, and nothing happens."""

from __future__ import annotations

import pytest

from agent_hooks import HookManager, HookOutcome, HookPolicy, Shadowed, hookimpl
from agent_hooks.testing import make_context
from engine import Plugin, rewrite, shell
from hook_sets import check
from tables import tables

CASES = tables(__file__)["cases"]


@pytest.mark.parametrize("case", CASES)
def test_hook_sets(engine, case):
    check(engine, CASES[case])


class Recorder:
    """Hears what each hook did."""

    def __init__(self):
        self.heard = []

    @hookimpl
    def agent_hooks_executed(self, hook_name, outcome, error, shadow):
        said = str(outcome.decision) if outcome is not None else error and type(error).__name__
        self.heard.append((hook_name, said, shadow))


@pytest.fixture
def heard(engine):
    recorder = Recorder()
    engine.manager.register(recorder)
    return recorder.heard


def test_a_hook_in_shadow_blocks_nothing_and_is_recorded(engine, heard):
    engine.says("shadow", HookOutcome.deny("would"), shadow=True, priority=1)
    engine.says("real")
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.reason, outcome.hook) == ("proceed", "", None)
    assert heard == [("real", None, False), ("shadow", "deny", True)]


@pytest.mark.parametrize(
    "answer", [rewrite("rm"), HookOutcome.ask("?"), HookOutcome.allow(), HookOutcome.with_context("c")]
)
def test_a_hook_in_shadow_changes_nothing(engine, answer):
    engine.says("shadow", answer, shadow=True)
    assert engine.dispatch(shell()).replace(shadowed=()) == HookOutcome()


@pytest.mark.parametrize("decision", ["deny", "stop", "ask", "suspend", "skip"])
def test_what_a_hook_in_shadow_would_have_decided_is_in_the_outcome(engine, decision):
    engine.says("guard", HookOutcome(decision=decision, reason="because"), source="user", shadow=True)
    outcome = engine.dispatch(shell())
    assert outcome.decision == "proceed"
    assert outcome.shadowed == (Shadowed(hook="guard", source="user", decision=decision, reason="because"),)
    assert HookOutcome.from_dict(outcome.as_dict()) == outcome


def test_a_gate_in_shadow_that_rewrites_would_have_denied(engine):
    engine.says("shadow", rewrite("rm"), mode="gate", shadow=True)
    (recorded,) = engine.dispatch(shell()).shadowed
    assert (recorded.decision, "a gate may not change it" in recorded.reason) == ("deny", True)


def test_a_failure_in_shadow_that_would_have_closed_is_recorded(engine):
    engine.says("shadow", OSError("gone"), shadow=True)
    engine.says("tolerant", OSError("gone"), shadow=True, on_failure="open")
    (recorded,) = engine.dispatch(shell()).shadowed
    assert (recorded.hook, recorded.decision) == ("shadow", "deny")
    assert recorded.reason == "The hook shadow failed: OSError: gone"


def test_a_wrapper_in_shadow_is_recorded(engine):
    @engine.hook(wrapper=True, shadow=True)
    def around(ctx):
        yield
        return HookOutcome.deny("would")

    outcome = engine.dispatch(shell())
    assert (outcome.decision, [(each.hook, each.decision) for each in outcome.shadowed]) == (
        "proceed",
        [("around", "deny")],
    )


def test_a_permission_hook_in_shadow_is_recorded(engine):
    engine.asks(True)
    engine.says("asker", HookOutcome.ask("sure?"))
    engine.says("denier", HookOutcome.deny("never"), event="permission_request", source="user", shadow=True)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, [each.hook for each in outcome.shadowed]) == ("allow", ["denier"])


def test_observers_are_told_what_was_decided_in_shadow_whatever_their_priority(engine):
    seen = engine.says("trail", mode="observe", priority=200)
    engine.says("guard", HookOutcome.deny("would"), shadow=True)
    engine.dispatch(shell())
    assert [each.reason for each in seen[0].outcome.shadowed] == ["would"]


def test_a_plugin_that_is_never_in_shadow_holds_in_a_policy_that_is(engine):
    engine = engine.with_policy(shadow=True)
    gate = Plugin(before_tool_use=hookimpl(engine.coloured(lambda: HookOutcome.deny("no"))))
    engine.manager.register(gate, "protection", shadow=False)
    assert engine.dispatch(shell()).reason == "no"


def test_a_hook_in_shadow_sees_the_final_context(engine):
    seen = engine.says("shadow", shadow=True, priority=1)
    engine.says("rewriter", rewrite("ls -l"))
    engine.dispatch(shell("ls"))
    assert [(ctx.tool_args, ctx.outcome.tool_args) for ctx in seen] == [({"command": "ls -l"}, {"command": "ls -l"})]


def test_a_failure_in_shadow_is_recorded_and_tolerated(engine, heard):
    engine.says("shadow", OSError("gone"), shadow=True, required=True)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, [f.hook for f in outcome.findings]) == ("proceed", ["shadow"])
    assert heard == [("shadow", "OSError", True)]


@pytest.mark.parametrize("when", ["before its yield", "after its yield"])
def test_a_failing_wrapper_in_shadow_is_tolerated(engine, when):
    @engine.hook(wrapper=True, shadow=True)
    def around(ctx):
        if when == "before its yield":
            raise KeyError("k")
        yield
        raise KeyError("k")

    outcome = engine.dispatch(shell())
    assert (outcome.decision, [f.hook for f in outcome.findings]) == ("proceed", ["around"])
    assert engine.manager.tolerated == {"around": 1}


def test_a_plugin_in_shadow_has_all_its_hooks_there(engine, heard):
    plugin = Plugin(
        before_tool_use=hookimpl(engine.coloured(lambda: HookOutcome.deny("would"))),
        before_step=hookimpl(engine.coloured(lambda: HookOutcome.stop("would"))),
    )
    engine.manager.register(plugin, "team", shadow=True)
    assert engine.dispatch(shell()).decision == "proceed"
    assert engine.dispatch(make_context("before_step")).decision == "proceed"
    assert [(said, shadow) for _, said, shadow in heard] == [("deny", True), ("stop", True)]


def test_a_whole_policy_in_shadow_enforces_nothing(engine):
    engine = engine.with_policy(shadow=True)
    engine.says("guard", HookOutcome.deny("would"))
    engine.says("faulty", OSError("gone"))

    @engine.hook(wrapper=True)
    def around(ctx):
        yield
        return HookOutcome.deny("would")

    assert engine.dispatch(shell()).decision == "proceed"


def test_a_whole_policy_in_shadow_is_announced_in_each_answer():
    manager = HookManager(load_plugins=False, policy=HookPolicy(shadow=True))
    assert manager.notes == ("agent_hooks: the whole policy is in shadow, nothing is enforced but managed hooks.",)


def test_hooks_in_shadow_are_shown_as_such(engine):
    engine.says("shadow", shadow=True)
    engine.says("real")
    assert {hook.name: hook.shadow for hook in engine.manager.describe()} == {"shadow": True, "real": False}
