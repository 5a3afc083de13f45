"""Outcomes: the factories, the decisions, and the forms that a hook may return."""

from __future__ import annotations

import pytest

from agent_hooks import AgentState, Decision, HookContext, HookEvent, HookOutcome, StopReason, StopSignal, ToolCall
from agent_hooks.errors import InvalidOutcomeError, ReadOnlyError
from agent_hooks.model.outcome import BLOCKING, PASSING, read_answer
from tables import tables

TABLES = tables(__file__)

SIGNAL = StopSignal(reason=StopReason.STEPS_LIMIT)


@pytest.mark.parametrize(("name", "given", "more", "fields"), TABLES["factories"])
def test_each_factory_says_what_it_is_called(name, given, more, fields):
    assert getattr(HookOutcome, name)(*given, **more) == HookOutcome(**fields)
    assert HookOutcome.signal(SIGNAL) == HookOutcome(signals=(SIGNAL,))
    assert HookOutcome.with_state(AgentState()) == HookOutcome(state=AgentState())


def test_the_arguments_an_outcome_brings_are_read_only():
    args = HookOutcome.with_args({"a": [1]}).tool_args
    assert args is not None
    with pytest.raises(ReadOnlyError):
        args["a"].append(2)


def test_an_outcome_cannot_be_changed():
    with pytest.raises(ReadOnlyError, match=r"HookOutcome\.reason is read-only"):
        HookOutcome.deny("a").reason = "b"  # type: ignore[misc]


def test_a_signal_is_added_to_the_signals():
    other = StopSignal(reason=StopReason.ERROR)
    outcome = HookOutcome.deny("no", signals=(SIGNAL,), signal=other)
    assert (outcome.signals, outcome.stop_signal) == ((SIGNAL, other), other)
    assert HookOutcome().stop_signal is None


@pytest.mark.parametrize(
    ("name", "known", "ends", "blocks"),
    [
        *((name, BLOCKING, True, True) for name in ("deny", "stop", "suspend")),
        *((name, PASSING, True, False) for name in ("skip", "force_continue", "retry")),
        *((name, (name,), False, name == "ask") for name in ("proceed", "allow", "ask")),
    ],
)
def test_a_decision_may_end_the_chain_and_block(name, known, ends, blocks):
    """An ask that is left in an outcome must not be passed over: until it is answered, it blocks."""
    decision = Decision(name)
    assert decision in known
    assert (decision.is_terminal, HookOutcome(decision=name).blocks) == (ends, blocks)
    assert decision.is_blocking == (known is BLOCKING)


@pytest.mark.parametrize(
    ("word", "decision"),
    [("ok", "proceed"), ("block", "deny"), ("ask_user", "ask"), ("pending", "suspend"), ("approve", "allow")],
)
def test_the_words_of_the_seeds_are_understood(word, decision):
    assert Decision(word) is Decision(decision)
    assert getattr(Decision, decision.upper()) is Decision(decision)


def test_an_unknown_decision_is_refused_with_those_there_are():
    with pytest.raises(InvalidOutcomeError, match="'maybe' is not a decision; use one of proceed, allow, deny"):
        Decision("maybe")
    with pytest.raises(InvalidOutcomeError):
        HookOutcome(decision="maybe")


def test_a_field_that_does_not_exist_is_refused():
    with pytest.raises(TypeError, match="HookOutcome has no field args"):
        HookOutcome.update(args={})  # type: ignore[call-arg]


# -- reading answers ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "fields"),
    [
        (None, {}),
        (True, {}),
        (("deny", "r"), {"decision": "deny", "reason": "r"}),
        (("stop", "r"), {"decision": "stop", "reason": "r"}),
        (("ask", "r"), {"decision": "ask", "reason": "r"}),
        (("pending", {"k": 1}), {"decision": "suspend", "data": {"k": 1}}),
        ({"updated_state": AgentState(agent_id="a")}, {"state": {"agent_id": "a"}}),
        *TABLES["forms"],
    ],
    ids=lambda value: repr(value)[:60],
)
def test_every_form_is_read(answer, fields):
    assert read_answer(answer) == HookOutcome.from_dict(fields)


def test_an_outcome_is_itself():
    outcome = HookOutcome.deny("r")
    assert read_answer(outcome) is outcome


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (("deny", "r", "x"), "it returned"),
        (("deny", 3), "must be text"),
        (object(), "a hook returns None, a HookOutcome, a changed context"),
        *TABLES["refused"],
    ],
    ids=lambda value: repr(value).partition(" at 0x")[0][:40],
)
def test_anything_else_is_refused_with_the_likely_cause(answer, says):
    with pytest.raises(InvalidOutcomeError) as error:
        read_answer(answer)
    assert says in str(error.value)


def test_a_long_value_is_cut_in_a_message():
    with pytest.raises(InvalidOutcomeError) as error:
        read_answer(["x" * 1000])
    assert len(str(error.value)) < 300


@pytest.mark.parametrize("outcome", [HookOutcome(), HookOutcome.deny("no"), HookOutcome.allow()], ids=repr)
def test_an_outcome_is_neither_true_nor_false(outcome):
    """`if hooks.dispatch_sync(ctx): run()` would run a denied call."""
    with pytest.raises(TypeError, match=r"ask `if outcome\.blocks:`.*or compare `outcome\.decision`"):
        bool(outcome)
    with pytest.raises(TypeError, match="neither true nor false"):
        assert not outcome


@pytest.mark.parametrize(
    ("made", "arguments", "named"),
    [
        *(
            (getattr(HookOutcome, name), (5,), "HookOutcome.reason must be of the type str, not int")
            for name in ("allow", "deny", "stop", "ask", "suspend", "force_continue", "retry")
        ),
        (HookOutcome.signal, ("no",), "HookOutcome.signal must be of the type StopSignal, not str"),
        (HookOutcome.with_state, ("no",), "HookOutcome.state must be of the type AgentState, not str"),
        (HookOutcome.with_context, (5,), "HookOutcome.context must be of the type str, not int"),
        (HookContext, (5,), "An event is named by a str, not by int"),
        (ToolCall, (5,), "ToolCall.name must be of the type str, not int"),
        (ToolCall, ("ls", 5), "ToolCall.args must be of the type Mapping, not int"),
        (ToolCall, ("ls", "[1]"), "ToolCall.args must be of the type Mapping, not list"),
        (ToolCall, ("ls", "{"), "ToolCall.args must be a mapping or the JSON text of an object"),
        (lambda state: HookContext("before_step", state=state), ("no",), "HookContext.state must be of the type Agent"),
    ],
)
def test_what_is_given_to_a_public_constructor_must_be_of_its_type(made, arguments, named):
    with pytest.raises(TypeError, match=named.replace("[", r"\[")):
        made(*arguments)


def test_the_text_in_which_an_api_delivers_arguments_is_read():
    call = ToolCall("run_shell", '{"command": "ls", "env": {"A": 1}}', kind="shell")
    assert (call.command, call) == ("ls", ToolCall("run_shell", {"command": "ls", "env": {"A": 1}}, kind="shell"))
    assert call.with_args('{"command": "pwd"}').command == "pwd"
    assert ToolCall("run_shell", "").args == {}


@pytest.mark.parametrize(
    ("event", "decision"),
    [("on_stop", "force_continue"), ("before_tool_use", "proceed"), (None, "proceed")],
)
def test_continue_is_another_round_only_where_an_agent_stops(event, decision):
    read = read_answer({"decision": "continue"}, event and HookEvent.parse(event))
    assert read.decision == decision


@pytest.mark.parametrize(("event", "factory"), [("before_step", "stop"), ("before_tool_use", "deny"), (None, "deny")])
def test_for_false_the_block_is_named_that_the_event_knows(event, factory):
    with pytest.raises(InvalidOutcomeError, match=rf"return HookOutcome\.{factory}\(reason\)"):
        read_answer(False, event and HookEvent.parse(event))
