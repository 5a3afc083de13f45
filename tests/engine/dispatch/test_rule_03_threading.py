"""Rule 3: each hook sees the context as the hooks before it left it, and what they bring adds up."""

from __future__ import annotations

import pytest

from agent_hooks import AgentState, HookOutcome, hookimpl
from agent_hooks.testing import make_context
from engine import messages_of, result, shell


def test_state_is_threaded_from_hook_to_hook(engine):
    @engine.hook("before_step", priority=2)
    def first(state):
        return HookOutcome.with_state(state.with_metadata("seen", ["first"]))

    @engine.hook("before_step", priority=1)
    def second(state):
        return HookOutcome.with_state(state.with_metadata("seen", [*state.metadata["seen"], "second"]))

    outcome = engine.dispatch(make_context("before_step", state=AgentState()))
    assert outcome.state.metadata == {"seen": ["first", "second"]}


def test_the_context_that_was_given_stays_as_it_was(engine):
    engine.says("rewriter", HookOutcome.update(tool_args={"command": "rm"}, context="x", metadata={"k": 1}))
    ctx = shell("ls")
    before = ctx.as_dict()
    engine.dispatch(ctx)
    assert ctx.as_dict() == before


def test_an_outcome_applied_to_its_context_brings_everything(engine):
    engine.says("rewriter", HookOutcome.update(tool_args={"command": "ls -l"}, context="x", metadata={"k": 1}))
    ctx = shell("ls")
    after = ctx.with_outcome(engine.dispatch(ctx))
    assert (after.tool_args, after.context, after.metadata) == ({"command": "ls -l"}, "x", {"k": 1})


def test_a_hook_is_given_what_it_names(engine):
    """As in pluggy, a hook takes only the arguments it wants, in any order."""
    given: list[object] = []

    @engine.hook("after_tool_use")
    def named(result, ctx, tool_call):
        given.append((result, ctx.event, tool_call.name))

    @engine.hook("after_tool_use")
    def nothing():
        given.append(())

    engine.dispatch(result("42"))
    assert given == [("42", "after_tool_use", "Bash"), ()]


# -- what is dropped is visible ----------------------------------------------------------------------------------------

DROPPED = {
    "a state beside a deny": (HookOutcome.deny("no", state=AgentState()), {}, "its 'state' was dropped"),
    "a field of the context": (lambda ctx: ctx.replace(cwd="/elsewhere"), {}, "cannot mutate 'cwd'"),
    "the subject of another event": (HookOutcome.update(prompt="p"), {}, "cannot mutate 'prompt'"),
    "a state of a gate": (HookOutcome.with_state(AgentState()), {"mode": "gate"}, "its change of 'state' was dropped"),
    "an allow of a project": (HookOutcome.allow(), {"source": "project"}, "which does not count"),
}


@pytest.mark.parametrize("contracts", ["off", "diagnostic"])
@pytest.mark.parametrize("case", DROPPED.values(), ids=DROPPED)
def test_what_was_dropped_is_logged_once_in_the_findings_and_told(engine, caplog, case, contracts):
    answer, options, message = case
    told = []

    class Watcher:
        @hookimpl
        def agent_hooks_executed(self, hook_name, findings):
            told.append((hook_name, [finding.message for finding in findings]))

    engine = engine.with_policy(contracts=contracts)
    engine.manager.register(Watcher())

    def writer(ctx):
        return answer(ctx) if callable(answer) else answer

    engine.hook(**options)(writer)
    outcomes = [engine.dispatch(shell("secret-value")) for _ in range(3)]
    for outcome in outcomes:
        assert [message in each for each in messages_of(outcome)] == [True]
    assert told == [("writer", messages_of(outcomes[0]))] * 3
    (record,) = [each for each in caplog.records if each.name == "agent_hooks"]
    assert record.levelname == "WARNING"
    assert message in record.getMessage()
    assert "secret-value" not in caplog.text


def test_a_wrapper_that_returns_the_outcome_it_saw_has_lost_nothing(engine):
    engine.says("talker", HookOutcome.with_context("c"))

    @engine.hook(wrapper=True)
    def around(ctx):
        outcome = yield
        return outcome.replace()

    outcome = engine.dispatch(shell())
    assert (outcome.context, outcome.findings) == ("c", ())


def test_a_hook_that_keeps_to_its_event_is_not_logged(engine, caplog):
    engine.says("writer", HookOutcome.with_args({"command": "ls -l"}))
    engine.says("talker", HookOutcome.with_context("c"), mode="gate")
    assert engine.dispatch(shell()).findings == ()
    assert [record for record in caplog.records if record.name == "agent_hooks"] == []
