"""Random lives of an agent against the plain model of them (`lifecycle_model.py`).

A fortieth of `AGENT_HOOKS_EXAMPLES` in the environment says how many lives are generated, 50 at least.
"""

from __future__ import annotations

import logging
import os
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule, run_state_machine_as_test

from agent_hooks import HookManager, HookRegistration
from agent_hooks.errors import PromptRefusedError, StopRunError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.inference import ModelResponse
from agent_hooks.model.outcome import Decision, HookOutcome
from agent_hooks.model.state import AgentState, Message, StopReason, StopSignal, Usage
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import Tool
from runtime.lifecycle_model import (
    EVENTS,
    TOOLS,
    UNKNOWN,
    WITHIN_STEP,
    Hook,
    Lifecycle,
    Reply,
    Seen,
    reason_of,
    rewritten,
    use,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_hooks.model.context import HookContext

EXAMPLES = int(os.environ.get("AGENT_HOOKS_EXAMPLES", "1000"))


@pytest.fixture(autouse=True, scope="module")
def _quiet() -> Iterator[None]:
    """Keep the engine from reporting every tolerated failure."""
    logger = logging.getLogger("agent_hooks")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    yield
    logger.setLevel(level)


ONE = Usage(input_tokens=1)
ERROR = Reply(raises="error")

# -- generated records ------------------------------------------------------------------------------------------------

REASONS = ["unknown", "finish_reason", "stop_requested", "time_limit", "user_requested"]
REWRITES = ("tool_args", "prompt", "result", "error_text", "output")


def what_hooks_do(event: HookEvent) -> list[str]:
    """Return the possible actions of a hook on this event; those that end a run are rare, so that runs get long."""
    does = sorted(event.decisions - {"ask", "suspend", "deny", "stop"}) * 3
    does += ["context"] * 2 + ["message"] * 2 * ("messages" in event.changes) + ["note"] * ("state" in event.changes)
    does += ["rewrite"] * 3 * (event.subject in REWRITES)
    does += ["signal"] * (event not in ("user_input", "after_execution"))
    return [*does, *sorted(event.decisions & {"deny", "stop"}), "raise"]


@st.composite
def a_hook(draw: st.DrawFn) -> Hook:
    event = draw(st.sampled_from([*EVENTS[2:13] * 3, *EVENTS]))  # mostly those of a round, which may come again
    return Hook(
        name="",
        event=event,
        does=draw(st.sampled_from(what_hooks_do(HookEvent.parse(event)))),
        priority=draw(st.sampled_from([0, 0, 10, -10])),
        silent=draw(st.sampled_from([False, False, False, True])),
        nth=draw(st.sampled_from([1, 0, 2, 3])),
        reason=draw(st.sampled_from(REASONS)),
    )


HOOKS = st.lists(a_hook(), min_size=1, max_size=16, unique_by=lambda hook: (hook.event, hook.does))
CALLS = st.tuples(
    st.sampled_from(["work", "work", "flaky", "broken", "missing", "quit"]),
    st.sampled_from([{"text": "a"}, {"text": "b"}, {"other": "c"}]),
)
USES = st.lists(CALLS, min_size=1, max_size=3).map(lambda calls: Reply("let me see", calls=tuple(calls)))
OTHERS = st.sampled_from([Reply("an answer"), ERROR, Reply(raises="stop")])
SCRIPTS = st.lists(st.one_of(USES, USES, USES, OTHERS), max_size=6)


# -- the runtime, driven by the same records ---------------------------------------------------------------------------


def worked(name: str, text: str, used: list[tuple[str, dict[str, str]]]) -> str:
    """Do what the model of a run says of a tool, and note its use."""
    before = sum(name == other for other, _ in used)
    used.append((name, {"text": text}))
    result = use(name, {"text": text}, before)
    if result == "quit":
        raise StopRunError("enough")
    if result is None:
        raise ValueError("it does not work")
    return result


def seen_in(ctx: HookContext) -> Seen:
    """Return what an observer notices of an event."""
    assert ctx.outcome is not None
    return Seen(
        event=str(ctx.event),
        step=ctx.step_index if ctx.event in WITHIN_STEP else None,
        tool=ctx.tool_name,
        was_blocked=ctx.was_blocked,
        stop_hook_active=ctx.stop_hook_active,
        decision=str(ctx.outcome.decision),
        status=ctx.status,
    )


def managed(hooks: list[Hook], look: Callable[[HookContext], None]) -> HookManager:
    """Return a manager with the hooks that the records require, and an observer of every event."""
    manager = HookManager(load_plugins=False)
    for hook in hooks:
        manager.add(HookRegistration(hook.event, acting(hook), priority=hook.priority, name=hook.name))
    for event in EVENTS:
        manager.add(HookRegistration(event, look, mode="observe", name=f"look-{event}"))
    return manager


class Workshop:
    """Real tools that act as the model requires, and a list of their uses in this run."""

    def __init__(self) -> None:
        self.used: list[tuple[str, dict[str, str]]] = []
        self.tools = [self.tool(name) for name in TOOLS]

    def tool(self, name: str) -> Tool:
        def run(text: str) -> str:
            return worked(name, text, self.used)

        return Tool(run, name=name)


class Agent:
    """A real agent that acts as the records require, with the notes of its observers and its driver."""

    def __init__(self, hooks: list[Hook], replies: list[Reply], tools: list[Tool]) -> None:
        self.seen: list[Seen] = []
        self.driver = ScriptedDriver(*map(spoken, replies), *[spoken(Reply("done"))] * 40)
        builder = AgentBuilder(plugins=()).with_driver(self.driver).with_tools(*tools)
        for hook in hooks:
            builder = builder.hook(hook.event, acting(hook), priority=hook.priority, name=hook.name)
        self.runtime = builder.hook(EVENTS, self.look, mode="observe", name="look").build()

    def look(self, ctx: HookContext) -> None:
        self.seen.append(seen_in(ctx))


def spoken(reply: Reply) -> Any:
    """What the scripted driver is given for a reply."""
    if reply.raises:
        return StopRunError("enough") if reply.raises == "stop" else ConnectionError("no answer")
    calls = [ToolCall(name, args, id=f"call-{place}") for place, (name, args) in enumerate(reply.calls)]
    return ModelResponse(content=reply.text, tool_calls=tuple(calls), usage=ONE)


def acting(hook: Hook) -> Any:
    """Return the real hook that acts as the record requires."""
    calls = 0

    def act(ctx: HookContext) -> Any:
        nonlocal calls
        calls += 1
        assert ctx.state is not None
        is_time = ctx.state.step_count >= hook.nth if hook.does == "limit" else hook.nth in (0, calls)
        if not is_time:
            return None
        said = reason_of(hook.name)
        match hook.does:
            case "raise":
                raise LookupError("the hook is broken")
            case "rewrite":
                return HookOutcome(**{str(ctx.event.subject): rewritten(ctx.subject, hook.name)})
            case "signal" | "limit":
                return HookOutcome.signal(StopSignal(reason=StopReason.parse(hook.reason), source=hook.name))
            case "context":
                return HookOutcome.with_context(said)
            case "message":
                return HookOutcome(messages=(Message(role="user", content=said),))
            case "note":
                return HookOutcome.with_state(ctx.state.with_metadata(hook.name, calls))
        return HookOutcome(decision=Decision.parse(hook.does), reason="" if hook.silent else said)

    return act


def compare_messages(messages: Iterable[Message], expected: list[tuple[str, str]]) -> None:
    """Compare roles and texts, where the model may leave a part of a text open."""
    messages = list(messages)
    assert [message.role for message in messages] == [role for role, _ in expected]
    for message, (_, text) in zip(messages, expected, strict=True):
        pattern = ".*".join(map(re.escape, text.split(UNKNOWN)))
        assert re.fullmatch(pattern, message.content, re.DOTALL), (message, text)


class Life:
    """Compare one agent, run after run, with the model."""

    def __init__(self) -> None:
        self.state: AgentState | None = None
        self.model = Lifecycle()
        self.workshop = Workshop()

    def compare_run(self, hooks: list[Hook], replies: list[Reply], prompt: str | None) -> None:
        self.workshop.used.clear()
        before, model = self.state, self.model
        agent = Agent(hooks, replies, self.workshop.tools)
        model.run(hooks, replies, prompt)
        try:
            self.state = agent.runtime.run_sync(prompt, before)
        except PromptRefusedError:
            assert model.refused
        else:
            assert not model.refused
        assert agent.seen == model.seen
        assert self.workshop.used == model.used
        assert len(agent.driver.requests) == len(model.requests)
        for request, messages in zip(agent.driver.requests, model.requests, strict=True):
            compare_messages(request.messages, messages)
        if self.state is not None and not model.refused:
            self.compare_states(self.state)
            self.compare_with_before(before, self.state)

    def compare_states(self, state: AgentState) -> None:
        model = self.model
        assert state.status == model.status
        assert len(state.stop_signals) == len(model.signals)
        for signal, expected in zip(state.stop_signals, model.signals, strict=True):
            assert (str(signal.reason), "failed" in signal.context) == (expected.reason, expected.failed)
            assert signal.source == expected.source or not expected.source
        assert (state.stop_signal and str(state.stop_signal.reason)) == model.reported
        assert (state.output, state.usage.total) == (model.output, model.usage)
        assert (bool(state.errors), state.current_step, state.continuation_requested) == (
            model.status == "failed",
            None,
            False,
        )
        assert dict(state.metadata) == model.metadata
        assert state.execution_count == model.executions
        assert [step.index for step in state.steps] == list(range(len(model.steps)))
        assert [bool(step.errors) for step in state.steps] == [step.failed for step in model.steps]
        compare_messages(state.messages, model.messages)

    def compare_with_before(self, before: AgentState | None, after: AgentState) -> None:
        """A further run keeps the agent and its conversation; it is another execution."""
        if before is not None:
            assert after.agent_id == before.agent_id
            assert after.execution_id != before.execution_id
            assert after.messages[: len(before.messages)] == before.messages


@pytest.mark.parametrize("event", EVENTS)
def test_each_thing_that_a_hook_may_do_on_an_event(event):
    """Always and only in its second call; with all that can become of a tool call, and a driver that fails."""
    calls = [(name, {"text": "a"}) for name in ("work", "flaky", "missing", "flaky")]
    first = [Reply("let me see", calls=tuple(calls)), Reply("once more", calls=(("work", {"other": "b"}),))]
    for does in dict.fromkeys(what_hooks_do(HookEvent.parse(event))):
        life = Life()
        life.compare_run([limit(4), Hook("h", event, does)], first, "a prompt")
        life.compare_run([limit(4), Hook("h", event, does)], [ERROR], "another prompt")
        life.compare_run([limit(4), Hook("h", event, does, nth=2)], first, "a third prompt")


def test_errors_of_the_driver_that_a_hook_has_tried_again():
    life = Life()
    for errors in range(5):
        life.compare_run([limit(4), Hook("h", "on_error", "retry")], [ERROR] * errors, "a prompt")


OTHER_REASONS = ["error", "steps_limit", "token_limit", "retry_limit", "completed"]
STOPS = [
    *(Hook("stop", event, does, nth=2) for event in EVENTS[2:5] for does in ("stop", "raise")),
    *(Hook("stop", "after_step", "signal", nth=1, reason=reason) for reason in [*REASONS, *OTHER_REASONS]),
]


@pytest.mark.parametrize("event", ["after_step", "should_continue", "before_step", "on_stop"])
def test_going_on_against_each_kind_of_stop(event):
    """Also beside a soft one, which alone would let the run go on."""
    life = Life()
    soft = Hook("soft", "after_step", "signal", nth=1)
    for stop in STOPS:
        life.compare_run([limit(6), stop, Hook("on", event, "force_continue")], [], "a prompt")
        life.compare_run([limit(6), stop, soft, Hook("on", event, "force_continue")], [], "a prompt")


def test_what_an_earlier_run_has_answered_stays_as_it_was():
    """Also where a later one gives the same answer, and a hook keeps it or changes it."""
    life = Life()
    life.compare_run([limit(4)], [Reply("yes")], "is two even?")
    for does in ("rewrite", "deny"):
        life.compare_run([limit(4), Hook("h", "before_output", does)], [Reply("yes")], "is four odd?")


def limit(steps: int) -> Hook:
    """The hook that bounds a run."""
    return Hook("limit", "before_step", "limit", priority=200, nth=steps, reason="steps_limit")


class Lives(RuleBasedStateMachine):
    """Combine hooks and a script, run, and run again on the resulting state."""

    @initialize(steps=st.sampled_from([4, 6, 3, 2, 1]), hooks=HOOKS)
    def begin(self, steps: int, hooks: list[Hook]) -> None:
        self.life = Life()
        self.limit = limit(steps)
        self.replace_hooks(hooks)

    @rule(hooks=HOOKS)
    def replace_hooks(self, hooks: list[Hook]) -> None:
        self.hooks = [self.limit, *(replace(hook, name=f"h{n}") for n, hook in enumerate(hooks))]

    @rule(prompt=st.sampled_from(["a prompt", "another prompt"]), replies=SCRIPTS)
    def run(self, prompt: str, replies: list[Reply]) -> None:
        self.life.compare_run(self.hooks, replies, prompt)

    @precondition(lambda self: self.life.state is not None)
    @rule(replies=SCRIPTS)
    def run_the_state_alone(self, replies: list[Reply]) -> None:
        self.life.compare_run(self.hooks, replies, None)


def test_lives_of_agents_are_what_the_model_says():
    lives = settings(
        max_examples=max(50, EXAMPLES // 40),
        stateful_step_count=8,
        derandomize=True,
        database=None,
        report_multiple_bugs=False,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )
    run_state_machine_as_test(Lives, settings=lives)
