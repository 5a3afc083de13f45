"""Rule 13: what is in shadow runs as an observer; what it would have decided is recorded, and nothing happens."""

from __future__ import annotations

import pytest

from agent_hooks import HookManager, HookOutcome, HookPolicy, hookimpl
from agent_hooks.testing import make_context
from engine import Plugin, shell


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


def test_a_plugin_that_is_never_in_shadow_holds_in_a_policy_that_is(engine):
    engine = engine.with_policy(shadow=True)
    gate = Plugin(before_tool_use=hookimpl(engine.coloured(lambda: HookOutcome.deny("no"))))
    engine.manager.register(gate, "protection", shadow=False)
    assert engine.dispatch(shell()).reason == "no"


def test_a_failure_in_shadow_is_recorded_and_tolerated(engine, heard):
    engine.says("shadow", OSError("gone"), shadow=True, required=True)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, [f.hook for f in outcome.findings]) == ("proceed", ["shadow"])
    assert heard == [("shadow", "OSError", True)]


def test_a_wrapper_in_shadow_that_fails_before_its_yield_is_tolerated(engine):
    @engine.hook(wrapper=True, shadow=True)
    def around(ctx):
        if ctx.depth == 0:
            raise KeyError("k")
        yield

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


def test_a_whole_policy_in_shadow_is_announced_in_each_answer():
    manager = HookManager(load_plugins=False, policy=HookPolicy(shadow=True))
    assert manager.notes == ("agent_hooks: the whole policy is in shadow, nothing is enforced but managed hooks.",)


def test_what_is_recorded_goes_through_json(engine):
    engine.says("guard", HookOutcome.deny("because"), source="user", shadow=True)
    outcome = engine.dispatch(shell())
    assert outcome.shadowed
    assert HookOutcome.from_dict(outcome.as_dict()) == outcome


def test_hooks_in_shadow_are_shown_as_such(engine):
    engine.says("shadow", shadow=True)
    engine.says("real")
    assert {hook.name: hook.shadow for hook in engine.manager.describe()} == {"shadow": True, "real": False}
