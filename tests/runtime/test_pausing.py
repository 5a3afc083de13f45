"""Suspended runs: what waits, what answers are valid, and how a run goes on."""

from __future__ import annotations

import pytest

from agent_hooks import (
    AgentBuilder,
    AgentState,
    HookOutcome,
    HookPolicy,
    ModelResponse,
    ScriptedDriver,
    ToolCall,
    Usage,
)
from agent_hooks.errors import SuspensionError
from agent_hooks.runtime.interceptors import PassThrough
from hook_sets import field
from runtime.cases import Hook, reply_of
from runtime.pauses import (
    ASKS_ABOUT_B,
    LS,
    SUSPENDS_B,
    World,
    about,
    asks,
    calls,
    suspended,
    suspends,
    texts,
    through_json,
)
from tables import tables

ASK_OR_SUSPEND = pytest.mark.parametrize("hook", [asks, suspends])
BOTH_WAYS = pytest.mark.parametrize("decision", ["ask", "suspend"])
AGAIN = HookOutcome.retry("Once more.")


@pytest.fixture
def world():
    return World()


WAITS = tables(__file__)["waits"]


@pytest.mark.parametrize("name", WAITS)
def test_a_run_waits_and_goes_on_as_its_case_says(world, name):
    """Each answer is given to the state as JSON, by an agent whose hooks are those of the case or the answer's own."""
    case = WAITS[name]
    waits = case.get("commands")
    first = calls(waits) if waits else LS
    state, hooks = AgentState(), []
    known = set("hooks replies commands policy parallel then resume gives none texts ran calls".split())
    for step in [case, *case.get("then", ())]:
        assert step.keys() <= known, step.keys() - known
        hooks = [Hook(**{"event": "before_tool_use", **fields}) for fields in step.get("hooks", case["hooks"])]
        replies = map(reply_of, step["replies"]) if "replies" in step else [first if step is case else "done"]
        builder = world.builder(*replies).with_policy(HookPolicy(**case.get("policy", {})))
        for place, hook in enumerate(hooks):
            options = {"name": f"hook {place}", "priority": len(hooks) - place, **hook.options}
            builder = builder.hook(hook.event, hook, **options)
        agent = builder.with_parallel_tools(case.get("parallel", False)).build()
        if "resume" in step:
            answer = step["resume"]
            given = answer if isinstance(answer, str) else HookOutcome.from_dict(answer)
            state = agent.resume_sync(through_json(state), given)
        else:
            state = agent.run_sync("go")
        gives = step.get("gives", {})
        assert {path: field(state, path) for path in gives} == gives
        assert [path for path in step.get("none", ()) if field(state, path) is not None] == []
        assert texts(state) == step.get("texts", texts(state))
        assert world.ran == step.get("ran", world.ran)
        assert [len(hook.calls) for hook in hooks] == step.get("calls", [len(hook.calls) for hook in hooks])


# -- a call that waits -------------------------------------------------------------------------------------------------


@ASK_OR_SUSPEND
def test_an_answer_is_good_for_one_time_and_goes_on_with_the_same_run(world, hook):
    first = world.paused(hook)
    state = world.resume(first, hook)
    assert (state.execution_id, state.step_count) == (first.execution_id, 2)
    for use in (lambda: world.resume(first, hook), lambda: world.agent(hook).abandon(first)):
        with pytest.raises(SuspensionError, match="resumed before"):
            use()
    assert world.ran == ["ls"]


@ASK_OR_SUSPEND
@pytest.mark.parametrize("refusal", ["deny", HookOutcome.deny("Ann says no.")], ids=["word", "outcome"])
@pytest.mark.parametrize("is_gone", [False, True], ids=["asking", "gone"])
def test_a_refused_call_is_denied_and_the_model_is_told_although_the_hook_is_gone(world, hook, refusal, is_gone):
    first = world.paused(hook)
    state = world.resume(first, [] if is_gone else hook, refusal)
    assert (world.ran, state.steps[0].executions[0].was_blocked) == ([], True)
    assert texts(state)[1].startswith("Denied: " if refusal == "deny" else "Denied: Ann says no.")


@pytest.mark.parametrize("decision", ["perhaps", HookOutcome.skip(), HookOutcome.ask("you?"), None, 1])
def test_an_answer_that_is_none_is_refused_and_uses_nothing_up(world, decision):
    state = world.paused()
    with pytest.raises(Exception, match=r"decides so|is not a decision|an outcome"):
        world.resume(state, asks, decision)
    assert world.resume(state).output == "done"


@pytest.mark.parametrize("brings", [{"tool_args": {"command": "ls -l"}}, {"context": "Mind the step."}])
def test_the_answer_to_a_question_brings_nothing_the_answer_to_a_suspension_may(world, brings):
    """An approval holds for exactly its question; a suspension accepts more."""
    asked = world.paused()
    with pytest.raises(SuspensionError, match="the answer to a question brings nothing"):
        world.resume(asked, asks, HookOutcome.update(**brings))
    assert world.resume(asked).output == "done"
    assert world.resume(world.paused(suspends), suspends, HookOutcome.update(**brings)).output == "done"
    assert world.ran == ["ls", brings.get("tool_args", {"command": "ls"})["command"]]


# -- the calls beside it -----------------------------------------------------------------------------------------------


def test_of_parallel_calls_those_before_the_question_are_made_and_none_twice(world):
    def made(*replies):
        return world.builder(*replies).before_tool_use(about("bd", HookOutcome.ask("?"))).with_parallel_tools().build()

    first = made(calls("abcd")).run_sync("go")
    assert world.ran == ["a"]
    second = made().resume_sync(through_json(first), "allow")
    assert (second.status, sorted(world.ran)) == ("suspended", ["a", "b", "c"])
    assert second.suspended.answers == ()
    with pytest.raises(SuspensionError, match="resumed before"):
        made().resume_sync(through_json(first), "allow")
    state = made("done").resume_sync(through_json(second), "deny")
    assert [execution.was_blocked for execution in state.steps[0].executions] == [False, False, False, True]
    assert sorted(world.ran) == ["a", "b", "c"]


# -- what is counted ---------------------------------------------------------------------------------------------------


def test_what_hooks_brought_to_a_paused_operation_counts_once(world):
    def counts(state, tool_call):
        state = state.with_metadata("seen", state.metadata.get("seen", 0) + 1)
        return HookOutcome.proceed(state=state, context="Mind the step.")

    state = world.resume(world.paused([counts, asks]), [counts, asks])
    assert (state.metadata["seen"], texts(state)[1]) == (1, "ran ls\n\nMind the step.")


# -- other events that wait --------------------------------------------------------------------------------------------


@BOTH_WAYS
def test_a_model_request_can_wait(world, decision):
    begun = []

    def made(*replies):
        answer = getattr(HookOutcome, decision)("This costs money.")
        builder = world.builder(*replies).hook("before_inference", lambda request: answer)
        return builder.hook("before_step", lambda ctx: begun.append(ctx.step_index), mode="observe").build()

    first = made().run_sync("Hello")
    assert suspended(first).event == "before_inference"
    assert made("Hi").resume_sync(through_json(first), "allow").output == "Hi"
    assert begun == [0]


# -- what is refused ---------------------------------------------------------------------------------------------------


def test_what_does_not_fit_together_is_refused(world):
    waiting, agent = world.paused(), world.agent(asks, "done")
    with pytest.raises(SuspensionError, match="waits for an answer"):
        agent.run_sync("again", waiting)
    with pytest.raises(SuspensionError, match="only an agent with Hooks"):
        agent.with_interceptor(PassThrough()).resume_sync(waiting, "allow")
    ended = agent.run_sync("go")
    with pytest.raises(SuspensionError, match="does not wait"):
        agent.resume_sync(ended, "allow")
    with pytest.raises(SuspensionError, match="nothing to abandon"):
        agent.abandon(ended)


# -- runs that are given up --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("waits", [ASKS_ABOUT_B, SUSPENDS_B])
def test_a_run_that_is_given_up_keeps_what_was_done_and_runs_again(world, waits):
    first = world.paused(waits, calls("ab"))
    agent = world.agent(waits, "I see.")
    state = agent.abandon(through_json(first))
    assert (state.status, str(state.stop_signal.reason), state.suspended) == ("stopped", "user_requested", None)
    assert texts(state) == ["go", "ran a", "Error: Not run: the run was stopped."]
    assert texts(agent.run_sync("And now?", state))[-2:] == ["And now?", "I see."]
    with pytest.raises(SuspensionError, match="resumed before"):
        agent.resume_sync(first, "allow")


def test_a_call_that_was_made_is_not_said_to_be_not_run_when_its_retry_is_given_up(world):
    builder = world.builder(calls("ab")).before_tool_use(lambda ctx: HookOutcome.ask("Again?") if world.ran else None)
    agent = builder.after_tool_use(lambda ctx: AGAIN).build()
    state = agent.abandon(agent.run_sync("go"))
    assert world.ran == ["a"]
    assert texts(state)[1:] == [
        "Error: The run ended before this call had a result; what it did is not known.",
        "Error: Not run: the run was stopped.",
    ]


def test_what_a_refused_answer_has_cost_is_on_record_when_the_wait_for_the_next_is_given_up(world):
    def asks_again(ctx):
        return HookOutcome.ask("Spend?") if ctx.state.current_step.usage.total else None

    builder = world.builder(ModelResponse(content="no", usage=Usage(input_tokens=50)))
    agent = builder.hook("before_inference", asks_again).hook("after_inference", lambda ctx: AGAIN).build()
    state = agent.abandon(agent.run_sync("go"))
    assert (state.usage.total, state.model_usage["scripted"].total) == (50, 50)


# -- several answers to one operation ----------------------------------------------------------------------------------


def waits_for(*kinds):
    """Hooks on a call, of which each asks or suspends, the first first."""
    return [getattr(HookOutcome, kind)(f"{kind} {place}?") for place, kind in enumerate(kinds)]


def test_an_answer_to_one_hook_is_none_to_another_plugins_hook_of_the_same_name(world):
    def made(later, *replies):
        builder = world.builder(*replies).before_tool_use(asks, name="house")
        return builder.before_tool_use(later, name="house").build()

    first = made(lambda tool_call: None, LS).run_sync("go")
    assert suspended(first).asked_keys == (("house", "house"),)
    agent = made(lambda tool_call: HookOutcome.ask("And this?"), "done")
    second = agent.resume_sync(through_json(first), "allow")
    assert (suspended(second).asked_keys, suspended(second).reason) == ((("house#2", "house"),), "And this?")
    assert world.ran == []
    assert agent.resume_sync(through_json(second), "allow").output == "done"


def test_a_call_that_waits_is_counted_once(world):
    """A limit of one call does not deny the one that a person has just approved, in whichever process."""
    counted = []

    def counts(ctx):
        if not ctx.rechecking:
            counted.append(ctx.tool_call.id)
        return HookOutcome.deny("Rate limit exceeded.") if len(counted) > 1 else None

    hooks = [counts, *waits_for("suspend", "ask")]
    state = world.paused(hooks)
    while state.status == "suspended":
        state = world.resume(state, hooks)
    assert (world.ran, counted) == (["ls"], ["call_1"])


@pytest.mark.parametrize("waits", [2, 3])
def test_answers_to_one_operation_start_it_once_whichever_is_given_last(world, waits):
    hooks = waits_for(*["suspend"] * waits)
    one = other = world.paused(hooks)
    for _ in range(waits - 1):
        one, other = world.resume(one, hooks), world.resume(other, hooks)
    assert world.resume(one, hooks).output == "done"
    with pytest.raises(SuspensionError, match="resumed before"):
        world.resume(other, hooks)
    assert world.ran == ["ls"]


@BOTH_WAYS
def test_an_approval_of_one_type_does_not_hold_for_another(world, decision):
    """A hook that rewrites the arguments may do so otherwise the next time."""
    paid = []

    def pay(amount: float) -> str:
        paid.append(amount)
        return "paid"

    def made(amount, *replies):
        builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(pay).with_ask("host")
        builder = builder.before_tool_use(lambda ctx: HookOutcome.with_args({"amount": amount}), priority=9)
        (waits,) = waits_for(decision)
        return builder.before_tool_use(lambda ctx: waits).with_store(world.store).build()

    state = made(1, ToolCall("pay", {"amount": 5}, id="1")).run_sync("go")
    assert made(True, "done").resume_sync(through_json(state), "allow").status == "suspended"
    assert paid == []
