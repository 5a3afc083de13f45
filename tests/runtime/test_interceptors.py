"""What an agent's events go through: hooks of any make, or anything else that answers in their place."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks import HookContext, HookManager, HookOutcome, HookPolicy, HookStack
from agent_hooks.engine.registration import HookRegistration
from agent_hooks.errors import RunError
from agent_hooks.model.outcome import PROCEED
from agent_hooks.model.state import Message
from agent_hooks.runtime.agent import AgentRuntime
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.interceptors import PassThrough
from runtime.agents import EVENTS, Trial, call, echo, reply, results, said, signal_of, stop_signal
from runtime.test_builder import Denies

if TYPE_CHECKING:
    from agent_hooks.model.events import HookEvent


def manager_of(hook: HookRegistration) -> HookManager:
    manager = HookManager(load_plugins=False)
    manager.add(hook)
    return manager


def denying_manager() -> HookManager:
    manager = HookManager(load_plugins=False)
    manager.register(Denies())
    return manager


def denying_stack() -> HookStack:
    return HookStack().with_hook(lambda ctx: HookOutcome.deny("by the stack"), "before_tool_use")


class Custom:
    """An interceptor of one's own: hears of some events and answers them all the same way."""

    def __init__(self, answer: Any = PROCEED, *events: str) -> None:
        self.answer = answer
        self.events = events or tuple(EVENTS)
        self.seen: list[HookContext] = []

    def listens(self, event: HookEvent | str) -> bool:
        return event in self.events

    async def dispatch(self, ctx: HookContext) -> HookOutcome:
        await asyncio.sleep(0)
        assert ctx.event in self.events, f"it does not listen to {ctx.event}"
        self.seen.append(ctx)
        answer = self.answer(ctx) if callable(self.answer) else self.answer
        assert isinstance(answer, HookOutcome)
        return answer


def agent_with(hooks: Any, *replies: Any, **options: Any) -> AgentRuntime:
    return AgentRuntime(ScriptedDriver(*(replies or (call(), "done"))), tools=[echo], hooks=hooks, **options)


INTERCEPTORS = {
    "nothing": (lambda: None, "echo: a"),
    "pass through": (PassThrough, "echo: a"),
    "manager": (denying_manager, "Denied: by the plugin"),
    "hooks": (lambda: denying_manager().hooks(), "Denied: by the plugin"),
    "stack": (denying_stack, "Denied: by the stack"),
    "empty stack": (HookStack, "echo: a"),
    "custom": (lambda: Custom(HookOutcome.deny("by mine"), "before_tool_use"), "Denied: by mine"),
}


@pytest.mark.parametrize("name", INTERCEPTORS)
@pytest.mark.parametrize("way", ["made with", "with_interceptor", "builder"])
def test_an_agents_events_go_through_any_interceptor_after_its_default_hooks(name, way):
    make, text = INTERCEPTORS[name]
    hooks: Any = make()
    if way == "made with":
        agent = agent_with(hooks)
    elif way == "builder":
        builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(call(), "done")).with_tools(echo)
        agent = builder.with_interceptor(hooks).build() if hooks is not None else builder.build()
    else:
        agent = agent_with(denying_manager())
        agent = agent.with_interceptor(hooks or PassThrough())
    state = agent.run_sync("go")
    assert results(state) == [text]
    assert (state.status, state.output, said(state.messages)[-1]) == ("completed", "done", ("assistant", "done"))


def test_with_interceptor_replaces_the_old_hooks_on_all_events_and_leaves_the_first_agent():
    trial = Trial(call(), "done", call(), "done")
    trial.on("before_tool_use", HookOutcome.deny("by the old hook"))
    first = trial.build()
    mine = Custom()
    second = first.with_interceptor(mine)
    assert results(second.run_sync("go")) == ["echo: a"]
    assert trial.events == []
    assert "after_execution" in [str(ctx.event) for ctx in mine.seen]
    assert results(first.run_sync("go")) == ["Denied: by the old hook"]
    assert (second.driver, second.name, second.agent_id) == (first.driver, first.name, first.agent_id)


def test_with_driver_keeps_the_hooks_and_does_not_double_the_defaults():
    agent = (
        agent_with(denying_stack())
        .with_driver(ScriptedDriver(call(), "done"))
        .with_driver(ScriptedDriver(reply("", call(), tokens=5), "done"))
    )
    state = agent.run_sync("go")
    assert (results(state), state.usage.total, len(state.messages)) == (["Denied: by the stack"], 5, 4)
    other = agent.with_driver(ScriptedDriver("other"))
    assert (other.name, other.agent_id, list(other.tools)) == (agent.name, agent.agent_id, list(agent.tools))


def test_an_interceptor_sees_the_state_as_the_default_hooks_left_it_and_may_change_it():
    def note(ctx: HookContext) -> HookOutcome:
        assert ctx.state is not None
        texts = [message.content for message in ctx.state.messages]
        return HookOutcome.with_state(ctx.state.with_metadata("seen", texts))

    state = agent_with(Custom(note, "after_step"), reply("done", tokens=5)).run_sync("go")
    assert list(state.metadata["seen"]) == ["go", "done"]
    assert (state.usage.total, said(state.messages)[-1]) == (5, ("assistant", "done"))


MAKING: dict[str, Any] = {
    "custom": lambda answer: Custom(answer, "should_continue"),
    "stack": lambda answer: HookStack().with_hook(answer, "should_continue"),
    "manager": lambda answer: manager_of(HookRegistration("should_continue", answer)),
}


@pytest.mark.parametrize("make", MAKING.values(), ids=MAKING.keys())
def test_signals_of_an_interceptor_and_of_the_default_hooks_are_there_once(make):
    outcome = HookOutcome.signal(stop_signal("unknown", source="mine"))
    state = agent_with(make(lambda ctx: outcome if ctx.step_index else PROCEED), "done").run_sync("go")
    assert sorted(str(s.reason) for s in state.stop_signals) == ["completed", "unknown"]
    assert state.status == "completed"


def test_messages_and_context_of_an_interceptor_reach_the_model_once():
    outcome = HookOutcome.proceed(context="psst", messages=(Message(role="user", content="hello"),))
    agent = agent_with(Custom(outcome, "after_step"))
    driver = agent.driver
    assert isinstance(driver, ScriptedDriver)
    agent.run_sync("go")
    texts = [message.content for message in driver.requests[1].messages]
    assert texts == ["go", "", "echo: a", "hello", "psst"]


def test_an_interceptors_stop_is_by_code_and_has_a_message():
    state = agent_with(Custom(HookOutcome.stop(), "before_step")).run_sync("go")
    assert (state.status, signal_of(state).decided_by) == ("stopped", "code")
    assert signal_of(state).message


SEVEN = HookPolicy(max_retries=7)
MANAGER = HookManager(load_plugins=False, policy=SEVEN)


@pytest.mark.parametrize(
    ("agent", "most"),
    [
        (lambda: agent_with(HookStack(policy=SEVEN)), 7),
        (lambda: agent_with(HookStack(policy=SEVEN).hooks()), 7),
        (lambda: agent_with(MANAGER), 7),
        (lambda: agent_with(MANAGER, policy=HookPolicy(max_retries=1)), 1),
        (lambda: agent_with(PassThrough()), HookPolicy().max_retries),
        (lambda: AgentBuilder(()).with_driver(ScriptedDriver("a")).with_interceptor(MANAGER).build(), 7),
        (lambda: AgentBuilder(()).with_driver(ScriptedDriver("a")).build().with_interceptor(MANAGER), 7),
    ],
)
def test_the_policy_is_that_of_the_hooks_unless_another_is_given(agent, most):
    assert agent().policy.max_retries == most


def test_observers_in_the_background_have_finished_when_the_run_has():
    seen: list[str] = []

    async def slowly(ctx: HookContext) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        seen.append(str(ctx.event))

    events = ("before_step", "after_execution")
    stack = HookStack().with_hook(slowly, events, mode="observe", background=True)
    agent_with(stack, "done").run_sync("go")
    assert sorted(seen) == ["after_execution", "before_step"]
    trial = Trial("done")
    trial.builder = trial.builder.hook(events, slowly, mode="observe", background=True)
    trial.run()
    assert len(seen) == 4


def test_pass_through_has_no_opinion_about_anything():
    for event in EVENTS:
        assert not PassThrough().listens(event)
    assert asyncio.run(PassThrough().dispatch(HookContext("on_stop"))) is PROCEED


class OnlyListens:
    def listens(self, event: str) -> bool:
        return True


TAKING: dict[str, Any] = {
    "made with": agent_with,
    "with_interceptor": lambda wrong: agent_with(None).with_interceptor(wrong),
    "builder": lambda wrong: AgentBuilder(()).with_driver(ScriptedDriver()).with_interceptor(wrong).build(),
}


@pytest.mark.parametrize("wrong", [OnlyListens(), "hooks", 3, [Denies()]], ids=["half", "text", "number", "list"])
@pytest.mark.parametrize("way", TAKING)
def test_what_cannot_answer_events_is_refused_with_what_can(wrong, way):
    with pytest.raises(RunError, match="give Hooks, a HookManager, a HookStack, or an object with listens"):
        TAKING[way](wrong)


def test_a_default_hook_that_stops_is_not_overruled_by_an_interceptor_after_it():
    def again(ctx: HookContext) -> HookOutcome:
        return HookOutcome.force_continue("more")

    driver = ScriptedDriver(*(["r"] * 10))
    builder = AgentBuilder(plugins=()).with_driver(driver)
    builder = builder.replace_default("stop_without_tool_calls", lambda state: HookOutcome.stop("budget"))
    state = builder.with_interceptor(HookStack().with_hook(again, "should_continue")).build().run_sync("go")
    assert (state.status, len(driver.requests)) == ("stopped", 0)


def test_default_hooks_are_only_on_events_where_they_may_run_apart():
    gate = HookRegistration("before_tool_use", lambda ctx: HookOutcome.deny("no"), name="gate")
    with pytest.raises(RunError, match="A default hook is one on after_step, should_continue; 'gate' is none"):
        AgentRuntime(ScriptedDriver("x"), hooks=PassThrough(), defaults=(gate,))


def test_a_hook_of_a_default_ones_name_on_another_event_does_not_replace_it():
    def append_messages(ctx: HookContext) -> None: ...

    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver("a")).hook("after_execution", append_messages)
    assert [message.content for message in builder.build().run_sync("q").messages] == ["q", "a"]
