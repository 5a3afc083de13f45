"""Rule 3: each hook sees the context as the hooks before it left it, and what they bring adds up."""

from __future__ import annotations

import pytest

from agent_hooks import AgentState, HookOutcome, Message, StopReason, StopSignal, hookimpl
from agent_hooks.testing import make_context
from engine import messages_of, result, rewrite, shell


def test_state_is_threaded_from_hook_to_hook(engine):
    @engine.hook("before_step", priority=2)
    def first(state):
        return HookOutcome.with_state(state.with_metadata("seen", ["first"]))

    @engine.hook("before_step", priority=1)
    def second(state):
        return HookOutcome.with_state(state.with_metadata("seen", [*state.metadata["seen"], "second"]))

    outcome = engine.dispatch(make_context("before_step", state=AgentState()))
    assert outcome.state.metadata == {"seen": ["first", "second"]}


def test_the_last_change_of_state_wins(engine):
    engine.says("one", HookOutcome.with_state(AgentState(agent_id="one")), event="before_step")
    engine.says("two", HookOutcome.with_state(AgentState(agent_id="two")), event="before_step")
    assert engine.dispatch(make_context("before_step")).state.agent_id == "two"


def test_a_subject_is_replaced_whole(engine):
    engine.says("rewriter", HookOutcome.update(tool_args={"path": "/b"}))
    outcome = engine.dispatch(make_context(tool="Read", args={"path": "/a", "limit": 3}))
    assert outcome.tool_args == {"path": "/b"}


def test_the_next_hook_sees_the_new_subject(engine):
    engine.says("rewriter", rewrite("ls -l"), priority=1)
    after = engine.says("after")
    engine.dispatch(shell("ls"))
    assert [ctx.tool_call.command for ctx in after] == ["ls -l"]


def test_an_equal_subject_is_no_change(engine):
    """Subjects are compared by value: the chain is not walked again, and the outcome brings none."""
    engine.says("copier", HookOutcome.update(tool_args={"command": "ls"}), priority=1)
    after = engine.says("after")
    outcome = engine.dispatch(shell("ls"))
    assert "tool_args" not in outcome.as_dict()
    assert len(after) == 1


def test_each_event_threads_its_own_subject(engine):
    engine.says("editor", HookOutcome.update(prompt="please"), event="user_input", priority=1)
    after = engine.says("after", event="user_input")
    outcome = engine.dispatch(make_context("user_input", prompt="now!"))
    assert (after[0].prompt, outcome.prompt) == ("please", "please")


def test_context_is_joined_with_blank_lines(engine):
    engine.says("one", HookOutcome.with_context("The tests are slow."), priority=2)
    engine.says("silent", priority=1)
    engine.says("two", HookOutcome.with_context("Run them in parallel."))
    assert engine.dispatch(shell()).context == "The tests are slow.\n\nRun them in parallel."


def test_the_separator_of_context_is_a_setting(engine):
    engine = engine.with_policy(context_separator=" | ")
    engine.says("one", HookOutcome.with_context("a"))
    engine.says("two", HookOutcome.with_context("b"))
    assert engine.dispatch(shell()).context == "a | b"


def test_messages_are_appended_in_the_order_the_hooks_ran(engine):
    for name, priority in (("late", 1), ("early", 2)):
        engine.says(
            name,
            HookOutcome.update(messages=(Message(role="user", content=name),)),
            event="before_step",
            priority=priority,
        )
    outcome = engine.dispatch(make_context("before_step"))
    assert [message.content for message in outcome.messages] == ["early", "late"]


def test_metadata_merges_and_is_seen_by_later_hooks(engine):
    engine.says("one", HookOutcome.update(metadata={"a": 1, "b": 1}), priority=1)
    after = engine.says("two", HookOutcome.update(metadata={"b": 2}))
    outcome = engine.dispatch(shell(metadata={"given": True}))
    assert after[0].metadata == {"given": True, "a": 1, "b": 1}
    assert outcome.metadata == {"given": True, "a": 1, "b": 2}


def test_signals_accumulate_and_the_most_authoritative_is_reported(engine):
    """A signal does not end the chain: several guards may each leave one."""
    for name, reason in (("steps", StopReason.STEPS_LIMIT), ("person", StopReason.USER_REQUESTED)):
        engine.says(name, HookOutcome.signal(StopSignal(reason=reason, source=name)), event="before_step")
    outcome = engine.dispatch(make_context("before_step"))
    assert [signal.source for signal in outcome.signals] == ["steps", "person"]
    assert outcome.stop_signal.source == "person"


def test_a_hook_sees_what_the_hooks_before_it_answered(engine):
    said = HookOutcome.with_context("noted")
    engine.says("one", said, priority=1)
    after = engine.says("two")
    engine.dispatch(shell())
    assert after[0].previous_results == (("one", said),)


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


def test_what_an_event_does_not_list_is_reported_but_kept(engine):
    """contracts="diagnostic", the default."""
    engine.says("writer", HookOutcome.with_state(AgentState(agent_id="new")), event="before_subagent")
    outcome = engine.dispatch(make_context("before_subagent", name="helper", task="t"))
    assert outcome.state.agent_id == "new"
    assert [f.message for f in outcome.findings] == [
        "Hook 'writer' cannot mutate 'state' on trigger 'before_subagent'."
    ]


def test_what_an_event_does_not_list_fails_under_strict_contracts(engine):
    engine = engine.with_policy(contracts="strict")
    engine.says("writer", HookOutcome.with_state(AgentState()), event="before_subagent")
    outcome = engine.dispatch(make_context("before_subagent", name="helper", task="t"))
    assert (outcome.decision, outcome.failed) == ("deny", True)
    assert "cannot mutate 'state'" in outcome.reason


def test_what_an_event_does_not_list_is_kept_in_silence_without_contracts(engine):
    engine = engine.with_policy(contracts="off")
    engine.says("writer", HookOutcome.with_state(AgentState(agent_id="new")), event="before_subagent")
    outcome = engine.dispatch(make_context("before_subagent", name="helper", task="t"))
    assert (outcome.state.agent_id, outcome.findings) == ("new", ())


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


def test_a_wrapper_that_brings_something_without_being_stricter_is_told(engine):
    @engine.hook(wrapper=True)
    def around(ctx):
        yield
        return HookOutcome.with_context("for the model")

    outcome = engine.dispatch(shell())
    assert outcome.context == ""
    assert messages_of(outcome) == ["The wrapper 'around' may only return a stricter outcome; context was dropped."]


def test_a_wrapper_that_returns_the_outcome_it_saw_has_lost_nothing(engine):
    engine.says("talker", HookOutcome.with_context("c"))

    @engine.hook(wrapper=True)
    def around(ctx):
        outcome = yield
        return outcome.replace()

    outcome = engine.dispatch(shell())
    assert (outcome.context, outcome.findings) == ("c", ())


@pytest.mark.parametrize(("again", "dropped"), [("same", False), ("other", True)])
def test_only_what_is_new_of_a_second_call_is_said_to_be_dropped(engine, again, dropped):
    def talker(ctx):
        return HookOutcome.with_context(again if ctx.rechecking else "same")

    engine.hook(priority=1)(talker)
    engine.says("rewriter", HookOutcome.with_args({"command": "ls -l"}))
    outcome = engine.dispatch(shell("ls"))
    assert (outcome.context, len(outcome.findings)) == ("same", dropped)


def test_a_hook_that_keeps_to_its_event_is_not_logged(engine, caplog):
    engine.says("writer", HookOutcome.with_args({"command": "ls -l"}))
    engine.says("talker", HookOutcome.with_context("c"), mode="gate")
    assert engine.dispatch(shell()).findings == ()
    assert [record for record in caplog.records if record.name == "agent_hooks"] == []


@pytest.mark.parametrize("field", ["cwd", "session_id"])
def test_a_field_of_the_context_fails_under_strict_contracts(engine, field):
    engine = engine.with_policy(contracts="strict")

    def mover(ctx):
        return ctx.replace(**{field: "elsewhere"})

    engine.hook()(mover)
    outcome = engine.dispatch(shell())
    assert (outcome.decision, outcome.failed) == ("deny", True)
