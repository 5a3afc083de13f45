"""Agents to try the runtime on: a scripted model, real hooks and tools, and an observer of all that happens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from agent_hooks import HookOutcome, HookPolicy
from agent_hooks.model.inference import ModelResponse
from agent_hooks.model.state import Message, StopReason, StopSignal, Usage
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import tool
from agent_hooks.runtime.subagents import run_subagent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_hooks import AgentState, HookContext
    from agent_hooks.model.inference import ModelRequest
    from agent_hooks.model.tool_call import ToolExecution
    from agent_hooks.runtime.agent import AgentRuntime
    from agent_hooks.runtime.loop import AgentRun

# Every event of a run, in the order in which one happens for the first time.
EVENTS = (
    "user_input before_execution should_continue before_step before_inference after_inference before_tool_use "
    "on_tool_error after_tool_use on_error after_step on_stop before_output after_execution"
).split()


class Recorder:
    """An observer of all events, with the context as it was once the hooks had decided."""

    mode = "observe"

    def __init__(self) -> None:
        self.seen: list[Any] = []

    def execute(self, ctx: HookContext) -> None:
        self.seen.append(ctx)


class Says:
    """A hook that answers the first ``times`` times it is called (None: always), and only where ``when`` says yes.

    ``answer``: an outcome, an exception to raise, or a function of the context.
    """

    def __init__(self, answer: Any, times: int | None = None, when: Callable[[Any], Any] | None = None) -> None:
        self.answer = answer
        self.times = times
        self.when = when
        self.calls: list[Any] = []
        self.answered = 0

    def execute(self, ctx: HookContext) -> Any:
        self.calls.append(ctx)
        if self.answered == self.times or (self.when is not None and not self.when(ctx)):
            return None
        self.answered += 1
        if isinstance(self.answer, BaseException):
            raise self.answer
        return self.answer(ctx) if callable(self.answer) else self.answer


@tool(kind="read")
def echo(text: str) -> str:
    """Say it again."""
    return f"echo: {text}"


@tool
def boom(text: str = "no fuel") -> str:
    """Fail."""
    raise ValueError(text)


def call(name: str = "echo", /, *, id: str = "", **args: Any) -> ToolCall:  # noqa: A002 - hosts call it so
    """What the model asks for; without arguments ``echo`` of ``a``."""
    return ToolCall(name, args or ({"text": "a"} if name == "echo" else {}), id=id)


def stop_signal(reason: str, **fields: Any) -> StopSignal:
    """A wish to stop for this reason."""
    return StopSignal(reason=StopReason.parse(reason), **fields)


def signals(reason: str, **fields: Any) -> HookOutcome:
    """The outcome that adds such a wish."""
    return HookOutcome.signal(stop_signal(reason, **fields))


def reply(content: Any = None, *calls: ToolCall, tokens: int = 0, finish_reason: str = "") -> ModelResponse:
    """An answer of the model that costs so many tokens."""
    return ModelResponse(
        content=content, tool_calls=calls, usage=Usage(input_tokens=tokens), finish_reason=finish_reason
    )


class Trial:
    """One agent under test: replies of its model, hooks, and the results of a run."""

    def __init__(self, *replies: Any, tools: Iterable[Any] = (echo, boom), **policy: Any) -> None:
        self.driver = ScriptedDriver(*replies)
        self.recorder = Recorder()
        self.builder = (
            AgentBuilder(plugins=(), policy=HookPolicy(**policy))
            .with_driver(self.driver)
            .with_tools(*tools)
            .hook(EVENTS, self.recorder, name="recorder")
        )

    def on(
        self,
        event: str,
        answer: Any = None,
        times: int | None = None,
        when: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> Says:
        """Add a hook."""
        hook = Says(answer, times, when)
        self.builder = self.builder.hook(event, hook, **{"name": f"{event} hook", **options})
        return hook

    def build(self) -> AgentRuntime:
        return self.builder.build()

    def run(self, prompt: Any = "go", state: AgentState | None = None) -> AgentState:
        return self.build().run_sync(prompt, state)

    @property
    def events(self) -> list[str]:
        """The names of past events, in order."""
        return [str(ctx.event) for ctx in self.recorder.seen]

    def seen(self, event: str) -> list[Any]:
        """What observers were shown of an event."""
        return [ctx for ctx in self.recorder.seen if ctx.event == event]

    @property
    def requests(self) -> list[ModelRequest]:
        return self.driver.requests


def trial_of(parallel: bool, *replies: Any, **options: Any) -> Trial:
    """A trial whose tools run at the same time or one by one."""
    trial = Trial(*replies, **options)
    trial.builder = trial.builder.with_parallel_tools(parallel)
    return trial


def executions(state: AgentState, step: int = 0) -> tuple[ToolExecution, ...]:
    """The record of the calls of a step."""
    return state.steps[step].executions


def results(state: AgentState) -> list[Any]:
    """What the model reads of the calls."""
    return [message.content for message in state.messages if message.role == "tool"]


def said(messages: Iterable[Message]) -> list[tuple[str, Any]]:
    """Role and content of each message."""
    return [(message.role, message.content) for message in messages]


def count(text: str, messages: Iterable[Message]) -> int:
    """How often the model reads ``text``."""
    return sum(str(message.content).count(text) for message in messages)


def signal_of(state: AgentState) -> StopSignal:
    """The signal that is reported, of which there must be one."""
    assert state.stop_signal is not None
    return state.stop_signal


def assert_well_formed(messages: Iterable[Message]) -> None:
    """Every call has its result right behind it, and there is no other result: models refuse anything else."""
    owed: list[str] = []
    for message in messages:
        if owed or message.role == "tool":
            assert message.role == "tool", f"{message} stands between a call and its result"
            assert owed, f"{message} is the result of nothing"
            assert owed.pop(0) == message.name
        owed += [call.name for call in message.tool_calls]
    assert not owed, f"no result for {owed}"


class Gate:
    """A gate that blocks for ever, and signals when a task has reached it."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()

    async def wait(self, *_: Any) -> None:
        self.entered.set()
        await asyncio.Event().wait()


class OnceWaiting:
    """A hook that waits for ever when it is called for the first time."""

    def __init__(self, gate: Gate) -> None:
        self.gate = gate

    async def execute(self, ctx: HookContext) -> None:
        if not self.gate.entered.is_set():
            await self.gate.wait()


class WaitingDriver(ScriptedDriver):
    """A scripted driver one of whose replies never comes: ``WaitingDriver(gate, gate, "done")``."""

    def __init__(self, gate: Gate, *replies: Any) -> None:
        super().__init__(*replies)
        self.gate = gate

    async def respond(self, request: ModelRequest) -> ModelResponse:
        if self.replies[len(self.requests)] is self.gate:
            self.requests.append(request)
            await self.gate.wait()
        return await super().respond(request)


async def cancelled_at(run: AgentRun, gate: Gate) -> AgentState:
    """Run until a task waits at the gate, cancel, and return the cancelled run."""

    async def to_the_end() -> None:
        async for _ in run:
            pass

    task = asyncio.create_task(to_the_end())
    await asyncio.wait_for(gate.entered.wait(), 30)
    task.cancel()
    result = (await asyncio.gather(task, return_exceptions=True))[0]
    assert isinstance(result, asyncio.CancelledError), f"the cancellation was swallowed: {result!r}"
    return run.state


def child(*replies: Any, tools: Iterable[Any] = (echo,), name: str = "helper", **hooks: Any) -> AgentRuntime:
    """An agent without hooks but those given, by event."""
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(*tools).with_name(name)
    for event, hook in hooks.items():
        builder = builder.hook(event, hook, name=f"child's {event}")
    return builder.build()


def spawning(agent: AgentRuntime, **options: Any) -> tuple[Any, list[AgentState]]:
    """A tool that hands its task to ``agent``, and the states that came of it."""
    states: list[AgentState] = []

    @tool(kind="subagent")
    async def spawn(task: str) -> Any:
        states.append(await run_subagent(agent, task, **options))
        return states[-1].output

    return spawn, states


def parent(agent: AgentRuntime, *replies: Any, **options: Any) -> tuple[Trial, list[AgentState]]:
    """An agent whose model first starts ``agent``; its recorder also hears of the boundary of subagents."""
    spawn, states = spawning(agent, **options)
    trial = Trial(*(replies or (call("spawn", task="count"), "done")), tools=(spawn, echo))
    trial.builder = trial.builder.hook(["before_subagent", "after_subagent"], trial.recorder, name="boundary")
    return trial, states


def requests_of(agent: AgentRuntime) -> list[ModelRequest]:
    """What the agent's scripted model was asked."""
    assert isinstance(agent.driver, ScriptedDriver)
    return agent.driver.requests
