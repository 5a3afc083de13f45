"""Processors, criteria and event emitters that know nothing of hooks, as hooks of a running agent."""

from __future__ import annotations

import asyncio
import functools
import re
import threading
from enum import StrEnum
from types import SimpleNamespace

import pytest

from agent_hooks.engine.registration import HookRegistration
from agent_hooks.engine.stack import HookStack
from agent_hooks.errors import RunError
from agent_hooks.model.context import HookContext
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.policy import HookPolicy
from agent_hooks.model.state import AgentState
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.hook_adapters import CriteriaHookAdapter, EventEmittingHook, ProcessorHookAdapter
from runtime.agents import signal_of
from tables import tables

TABLES = tables(__file__)


def work() -> str:
    return "worked"


def builder(*replies) -> AgentBuilder:
    return AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(work)


def counted(state: AgentState) -> AgentState:
    return state.with_metadata("count", state.metadata.get("count", 0) + 1)


async def counted_async(state: AgentState) -> AgentState:
    await asyncio.sleep(0)
    return counted(state)


class Counter:
    def process(self, state):
        return counted(state)


def middleware(state, next):  # noqa: A002
    return counted(next(state.with_metadata("seen_by", "middleware")))


def optional_middleware(state, next=None):  # noqa: A002
    """The form of InstructorPHP's processors, whose `next` may be missing."""
    assert next is not None
    return counted(next(state))


async def async_middleware(state, call_rest):
    return await counted_async(await call_rest(state))


class CallableCounter:
    async def __call__(self, state):
        return await counted_async(state)


class Judge:
    def __init__(self, answer):
        self.answer = answer

    def evaluate(self, state):
        return self.answer


class AsyncJudge(Judge):
    async def evaluate(self, state):
        await asyncio.sleep(0)
        return self.answer


PROCESSORS = {
    "function": counted,
    "lambda": lambda state: counted(state),  # noqa: PLW0108
    "async function": counted_async,
    "object": Counter(),
    "async object": SimpleNamespace(process=counted_async),
    "callable object": CallableCounter(),
    "function that returns a coroutine": lambda state: counted_async(state),  # noqa: PLW0108
    "partial": functools.partial(counted),
    "middleware": SimpleNamespace(process=middleware),
    "middleware with an optional next": SimpleNamespace(process=optional_middleware),
    "async middleware": SimpleNamespace(process=async_middleware),
    "middleware function": middleware,
}


@pytest.mark.parametrize("processor", PROCESSORS.values(), ids=PROCESSORS.keys())
def test_a_processor_changes_the_state_after_each_step(processor):
    agent = builder(ToolCall("work"), "done").process(ProcessorHookAdapter(processor)).build()
    state = agent.run_sync("go")
    assert state.status == "completed"
    assert state.metadata["count"] == 2


@pytest.mark.parametrize("processor", [counted, counted_async], ids=["sync", "async"])
def test_a_processor_before_the_step_or_the_run_changes_the_state_that_the_model_is_asked_with(processor):
    adapter = ProcessorHookAdapter(processor, position="before")
    seen = []
    made = builder("done").hook(adapter.event, adapter).hook("before_execution", adapter)
    made.hook("before_inference", lambda state: seen.append(state.metadata["count"])).build().run_sync("go")
    assert (adapter.event, seen) == ("before_step", [2])


@pytest.mark.parametrize("answer", [lambda state: None, lambda state: state], ids=["None", "the same state"])
def test_a_processor_without_a_change_has_no_opinion(answer):
    ctx = HookContext.after_step(AgentState())
    assert ProcessorHookAdapter(answer).execute(ctx) is None


def test_a_processor_is_only_asked_about_states_that_it_can_process():
    class Picky(Counter):
        def can_process(self, state):
            return state.step_count == 1

    agent = builder(ToolCall("work"), ToolCall("work"), "done").process(ProcessorHookAdapter(Picky())).build()
    assert agent.run_sync("go").metadata["count"] == 1


BROKEN = SimpleNamespace(process=lambda state: {"status": "completed"})


@pytest.mark.parametrize(
    ("adapter", "problem"),
    [
        (ProcessorHookAdapter(BROKEN), "The processor SimpleNamespace returned a dict: return an AgentState, or None."),
        (
            ProcessorHookAdapter(counted, position="before"),
            r"The processor counted stands 'before', and after_step is not there.*register it on before_step",
        ),
    ],
)
def test_a_processor_that_returns_something_else_or_stands_elsewhere_fails_and_changes_nothing(adapter, problem):
    outcome = HookStack().with_hook(adapter, "after_step").dispatch_sync(HookContext.after_step(AgentState()))
    (finding,) = outcome.findings
    assert outcome.state is None
    assert re.search(problem, finding.message)


def test_an_event_without_a_state_is_a_failure_and_not_a_silent_pass():
    stack = HookStack().with_hook(CriteriaHookAdapter(lambda state: True), "should_continue")
    outcome = stack.dispatch_sync(HookContext("should_continue"))
    assert (outcome.decision, outcome.failed) == ("stop", True)
    assert "needs a state, and this should_continue comes without one" in outcome.reason


class AsyncPicky(Counter):
    async def can_process(self, state):  # would always be true
        return False


def three(state, next, more):  # noqa: A002
    return state


@pytest.mark.parametrize(
    ("adapter", "problem"),
    [
        (lambda: ProcessorHookAdapter(Counter), r"is no processor: give an object with process\(state\)"),
        (lambda: ProcessorHookAdapter(3), "is no processor"),
        (lambda: ProcessorHookAdapter(SimpleNamespace(process=3)), "is no processor"),
        (lambda: ProcessorHookAdapter(three), "processor three cannot be called as process"),
        (lambda: ProcessorHookAdapter(AsyncPicky()), r"can_process\(state\) must be a plain function"),
        (lambda: ProcessorHookAdapter(counted, position="around"), "'before' or 'after' the step, not 'around'"),  # type: ignore[arg-type]
        (lambda: CriteriaHookAdapter(Judge), r"is no criterion: give an object with evaluate\(state\)"),
        (lambda: CriteriaHookAdapter("forbid_continuation"), "is no criterion"),
        (lambda: CriteriaHookAdapter(None), "is no criterion"),
        (lambda: EventEmittingHook(None), "must be something to call"),  # type: ignore[arg-type]
        (lambda: EventEmittingHook(print, "StepEnded"), "must be something to call"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_adapted_is_refused_where_it_is_written(adapter, problem):
    with pytest.raises(RunError, match=problem):
        adapter()


def test_a_default_of_a_processor_is_not_mistaken_for_the_rest_of_the_chain():
    def scaled(state, factor=3):
        return state.with_metadata("factor", factor)

    assert builder("done").process(ProcessorHookAdapter(scaled)).build().run_sync("go").metadata["factor"] == 3


def test_a_timeout_holds_for_a_plain_processor_and_for_an_async_one():
    """A plain one runs in a thread then, so its adapter must not be async; an async one is cancelled."""
    release = threading.Event()

    async def never(state):
        await asyncio.Event().wait()

    for processor in (lambda state: release.wait(10) and None, never):
        adapter = ProcessorHookAdapter(processor)
        stack = HookStack().with_hook(adapter, "after_step", timeout_seconds=0.05)
        outcome = asyncio.run(stack.dispatch(HookContext.after_step(AgentState())))
        assert "no answer after 0.05 s" in outcome.findings[0].message
    release.set()


# -- criteria ----------------------------------------------------------------------------------------------------------


class Words(StrEnum):
    FORBID = "forbid_continuation"


def decided(criterion) -> HookOutcome:
    stack = HookStack().with_hook(CriteriaHookAdapter(criterion), "should_continue")
    return asyncio.run(stack.dispatch(HookContext("should_continue", state=AgentState())))


@pytest.mark.parametrize("kind", [Judge, AsyncJudge, lambda answer: lambda state: answer])
@pytest.mark.parametrize(
    ("answer", "decision"),
    [
        *TABLES["what_a_criterion_answers_and_what_is_decided"],
        (None, "proceed"),
        (Words.FORBID, "stop"),
        (HookOutcome.stop("mine"), "stop"),
    ],
)
def test_what_a_criterion_answers_and_what_is_decided(kind, answer, decision):
    outcome = decided(kind(answer))
    assert outcome.decision == decision
    assert not outcome.failed


def test_a_stop_names_the_criterion_and_an_outcome_keeps_its_own_reason():
    assert decided(Judge(False)).reason == "The criterion Judge forbids another step."
    assert decided(Judge(HookOutcome.stop("mine"))).reason == "mine"


@pytest.mark.parametrize("answer", [0, 1, "yes", "stop", [], {"decision": "stop"}, object()])
def test_any_other_answer_is_a_failure_that_names_the_criterion_and_stops(answer):
    outcome = decided(Judge(answer))
    assert (outcome.decision, outcome.failed) == ("stop", True)
    assert "The criterion Judge answered" in outcome.reason


def test_a_criterion_stops_a_run_before_the_step_it_objects_to():
    judge = CriteriaHookAdapter(lambda state: state.step_count < 2)
    state = builder(ToolCall("work"), ToolCall("work"), "never").continue_when(judge).build().run_sync("go")
    assert (state.status, state.step_count, signal_of(state).reason) == ("stopped", 2, "stop_requested")
    assert signal_of(state).message == "The criterion <lambda> forbids another step."


def test_a_criterion_can_ask_for_another_step_after_the_answer():
    class Twice:
        def evaluate(self, state):
            return "request_continuation" if state.step_count == 1 else "allow_stop"

    state = builder("first", "second").continue_when(CriteriaHookAdapter(Twice())).build().run_sync("go")
    assert (state.status, state.output) == ("completed", "second")
    assert "The criterion Twice requests another step." in [message.content for message in state.messages]


# -- events ------------------------------------------------------------------------------------------------------------


class StepEnded:
    def __init__(self, ctx):
        self.index = ctx.step_index


@pytest.mark.parametrize("is_async", [False, True])
def test_an_event_is_emitted_for_each_step_as_what_it_was_asked_to_be(is_async):
    sent: list[StepEnded] = []
    contexts: list[HookContext] = []

    async def emit(event):
        await asyncio.sleep(0)
        sent.append(event)

    made = builder(ToolCall("work"), "done").before_tool_use(EventEmittingHook(contexts.append))
    made.hook("after_step", EventEmittingHook(emit if is_async else sent.append, StepEnded)).build().run_sync("go")
    assert [(type(event), event.index) for event in sent] == [(StepEnded, 0), (StepEnded, 1)]
    assert [(str(ctx.event), ctx.tool_name) for ctx in contexts] == [("before_tool_use", "work")]


@pytest.mark.parametrize(
    "answer",
    [HookOutcome.deny("no"), HookOutcome.stop("no"), HookOutcome.update(tool_args={"x": 1}), False, OSError("down")],
)
def test_what_emit_returns_or_raises_changes_nothing(answer):
    def emit(_):
        if isinstance(answer, OSError):
            raise answer
        return answer

    state = builder(ToolCall("work"), "done").before_tool_use(EventEmittingHook(emit)).build().run_sync("go")
    assert (state.status, state.steps[0].executions[0].result) == ("completed", "worked")


def test_it_is_registered_as_an_observer_and_in_a_mode_of_its_own_only_if_told_so():
    assert HookRegistration("after_step", EventEmittingHook(print)).mode == "observe"
    assert HookRegistration("after_step", EventEmittingHook(print), mode="gate").mode == "gate"


# -- every way to register ---------------------------------------------------------------------------------------------


def test_a_stack_takes_adapters_too_and_an_agent_takes_the_stack():
    stack = (
        HookStack(policy=HookPolicy())
        .with_hook(ProcessorHookAdapter(Counter()), "after_step")
        .with_hook(CriteriaHookAdapter(Judge(True)), "should_continue")
    )
    assert [info.name for info in stack.describe()] == ["Counter", "Judge"]
    state = builder("done").build().with_interceptor(stack).run_sync("go")
    assert (state.status, state.metadata["count"]) == ("completed", 1)
