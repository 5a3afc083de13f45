"""The run on whose behalf a hook, tool or driver is called, and the agents started by a tool call."""

from __future__ import annotations

from contextlib import contextmanager, suppress
from contextvars import ContextVar
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from agent_hooks.engine.calling import in_event_loop
from agent_hooks.errors import HookMisuseError
from agent_hooks.model.state import AgentState, BegunCall
from agent_hooks.model.tool_call import ErrorInfo

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterator

    from agent_hooks.errors import SubagentError
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import Usage
    from agent_hooks.model.tool_call import ToolCall

    from .agent import AgentRuntime
    from .interceptors import Interceptor
    from .loop import AgentRun
    from .pausing import Waits

    Spent = list[tuple[str, Usage]]


class Caller(NamedTuple):
    """The caller of a hook, tool or driver: its run; the list that collects model usage of hooks and tools; in a tool
    call, the agents that it starts. ``is_step``: the model is asked for a step of the run, not by a hook or a tool.
    """

    run: AgentRun | None
    spent: Spent | None
    agents: StartedAgents | None = None
    is_step: bool = False


# Outside of runs, hooks and tools a request to a model counts as a step, so its text is streamed.
_OUTSIDE = Caller(None, None, is_step=True)
CURRENT: ContextVar[Caller] = ContextVar("agent_hooks_caller", default=_OUTSIDE)


@contextmanager
def acting_as(caller: Caller) -> Iterator[None]:
    """Make ``caller`` the current one."""
    token = CURRENT.set(caller)
    try:
        yield
    finally:
        CURRENT.reset(token)


def current_run() -> AgentRun | None:
    """Return the run of the hook or tool being called, or None outside of a run."""
    return CURRENT.get().run


def count_usage(model: str, usage: Usage) -> None:
    """Add model usage of a hook or tool to ``state.model_usage`` of the current run, where it counts towards limits, or
    of the session if the hook runs between its runs. Outside of both, do nothing.
    """
    spent = CURRENT.get().spent
    if spent is not None:
        spent.append((model, usage))


def hooks_of(agent: AgentRuntime) -> Interceptor:
    """Return the interceptor of ``agent``: that of its current run, which has inherited hooks, or its own."""
    run = CURRENT.get().run
    return run.hooks if run is not None and run.agent is agent else agent.interceptor


def check_asyncio() -> None:
    """Raise ``HookMisuseError`` where no asyncio event loop runs, as under trio."""
    if not in_event_loop():
        raise HookMisuseError(
            "Agents and sessions run on asyncio, and no event loop of it runs here: use asyncio.run(...) or run_sync, "
            "under trio `await trio.to_thread.run_sync(agent.run_sync, prompt)`."
        )


_WAITING = "suspended"


class Started:
    """One agent that a tool starts. ``key``: digest of its name and task; ``state``: its last recorded state, None
    before it starts; ``is_answered``: the run was resumed with the answer for it; ``wait``: the pending suspension.
    """

    def __init__(self, key: str, state: AgentState | None = None) -> None:
        self.key = key
        self.state = state
        self.task: asyncio.Task[object] | None = None
        self.is_begun = False
        self.is_answered = False
        self.wait: Waits | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether it waits for an answer, before or after its start."""
        return self.state is not None and self.state.status == _WAITING

    def set_failure(self, error: SubagentError) -> None:
        """Record the error, so that it is raised again when the tool is called again."""
        self.state = AgentState(errors=(ErrorInfo(type=type(error).__name__, message=str(error)),))


class StartedAgents:
    """The agents of one execution of a tool call, in the order in which the tool started them.

    ``begun``: the record of an execution during which the run was suspended; the tool is called again, and agents that
    have finished do not run again. ``is_answered``: the answer is for the first agent that waits. ``outcomes`` are
    those of ``before_subagent`` and ``after_subagent``.
    """

    def __init__(self, begun: BegunCall | None = None, *, is_answered: bool = False) -> None:
        self.outcomes: list[HookOutcome] = []
        self.is_over = False
        self._all = [Started(*kept) for kept in zip(begun.keys, begun.agents, strict=True)] if begun is not None else []
        self._active: list[Started] = []
        self._idle_waiters: list[asyncio.Future[None]] = []
        self._is_suspending = False  # a suspension is propagating through the tool
        if (first := next((one for one in self._all if one.is_waiting), None)) is not None:
            first.is_answered = is_answered

    def start(self, name: str, task: str) -> Started:
        """Return the started agent: a recorded one with the same key, in any order, else a new one."""
        import asyncio

        key = sha256(f"{name}\0{task}".encode()).hexdigest()[:32]
        one = next((one for one in self._all if one.key == key and not one.is_begun), None)
        if one is None:
            one = Started(key)
            self._all.append(one)
        one.is_begun = True
        one.task = asyncio.current_task()
        self._active.append(one)
        return one

    async def suspend(self, one: Started, wait: Waits, state: AgentState | None) -> None:
        """Record that an agent waits (``state``: None before its start), and return once no other agent is active: an
        interrupted one would lose its work and do it again. Afterwards no agent starts.
        """
        import asyncio

        before, one.state, one.wait = one.state, state or AgentState(status=_WAITING), wait
        self.mark_idle(one)
        try:
            await asyncio.sleep(0)  # agents that the tool starts together with this one start
            while self._active:
                idle: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._idle_waiters.append(idle)
                await idle
                await asyncio.sleep(0)  # the tool may start more after them
        except BaseException:
            if not self._is_suspending:  # otherwise the suspension of another agent cancels this one
                one.state, one.wait = before, None
            raise
        self._is_suspending = True

    def mark_idle(self, one: Started) -> None:
        """Note that an agent is no longer active."""
        if one in self._active:
            self._active.remove(one)
        if not self._active:
            waiters, self._idle_waiters = self._idle_waiters, []
            for future in waiters:
                with suppress(RuntimeError):  # the loop of a thread may be closed
                    future.get_loop().call_soon_threadsafe(_settle, future)

    async def end(self) -> None:
        """End the call: start no more agents, and cancel those that the tool left running."""
        self.is_over = True
        unfinished = [one for one in self._all if one in self._active or one.wait is not None]
        left = [one.task for one in unfinished if one.task is not None and not self._is_suspending]
        if not left:
            return
        import asyncio

        for task in left:
            with suppress(RuntimeError):
                task.get_loop().call_soon_threadsafe(task.cancel)
        if here := [task for task in left if task.get_loop() is asyncio.get_running_loop()]:
            await asyncio.wait(here)

    @property
    def first_wait(self) -> Waits | None:
        """The suspension of the first agent that waits, once none is active."""
        return next((one.wait for one in self._all if self._is_suspending and one.wait is not None), None)

    def record(self, call: ToolCall, context: str) -> BegunCall:
        """Return the record of the call and of its suspended and finished agents."""
        kept = [one for one in self._all if one.state is not None and (one.is_begun or not one.is_waiting)]
        keys, agents = tuple(one.key for one in kept), tuple(one.state for one in kept if one.state is not None)
        return BegunCall(call=call, context=context, keys=keys, agents=agents)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
