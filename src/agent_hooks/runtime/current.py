"""The run on whose behalf a hook, tool or driver is called, and the agents started by a tool call."""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple, ParamSpec, TypeVar

from agent_hooks.engine import guarded_run
from agent_hooks.engine.calling import in_event_loop
from agent_hooks.engine.tool_calls import AT_WORK
from agent_hooks.errors import HookMisuseError, RunError
from agent_hooks.model.state import AgentState, BegunCall

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Coroutine

    from agent_hooks.engine.guarded_run import GuardedRun
    from agent_hooks.engine.suspension import Paused
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import Usage
    from agent_hooks.model.tool_call import ToolCall

    from .agent import AgentRuntime
    from .interceptors import Interceptor
    from .loop import AgentRun

    Spent = list[tuple[str, Usage]]

Params = ParamSpec("Params")
Result = TypeVar("Result")


class ToolDeniedError(RunError):
    """Raised by a tool of the runtime whose own action hooks deny, with their reason."""


class Caller(NamedTuple):
    """The caller of a hook, tool or driver: its run; the list that collects model usage of hooks and tools; in a tool
    call, the agents that it starts. ``is_step``: the model is asked for a step of the run, not by a hook or a tool.
    """

    run: AgentRun | None
    spent: Spent | None
    agents: StartedAgents | None = None
    is_step: bool = False


_SHARED_FIELDS = (
    "state agent_id agent_name parent_agent_id depth session_id execution_id step_index cwd project_dir scope runtime"
).split()
# Outside of runs, hooks and tools a request to a model counts as a step, so its text is streamed.
_OUTSIDE = Caller(None, None, is_step=True)
CURRENT: ContextVar[Caller] = ContextVar("agent_hooks_caller", default=_OUTSIDE)


class acting_as:  # noqa: N801 - used as `with acting_as(caller):`, a generator takes three times as long
    """Make ``caller`` the current one."""

    __slots__ = ("_caller", "_token")

    def __init__(self, caller: Caller) -> None:
        self._caller = caller

    def __enter__(self) -> None:
        self._token = CURRENT.set(self._caller)

    def __exit__(self, *_error: object) -> None:
        CURRENT.reset(self._token)


def current_run() -> AgentRun | None:
    """Return the run of the hook or tool being called, or None outside of a run."""
    return CURRENT.get().run


def framework_run() -> GuardedRun | None:
    """Return the run of a framework whose tool is at work; None in a tool of the runtime, which has `run_subagent`."""
    return None if AT_WORK.get() is CURRENT.get().run else guarded_run.current_run()


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


def shared_fields(ctx: HookContext) -> dict[str, Any]:
    """Return the fields of a hook's context that events on its behalf share."""
    return {name: ctx._fields[name] for name in _SHARED_FIELDS if name in ctx._fields}


def check_asyncio() -> None:
    """Raise ``HookMisuseError`` where no asyncio event loop runs, as under trio."""
    if not in_event_loop():
        raise HookMisuseError(
            "Agents and sessions run on asyncio, and no event loop of it runs here: use asyncio.run(...) or run_sync, "
            "under trio `await trio.to_thread.run_sync(agent.run_sync, prompt)`."
        )


def in_own_loop(method: Callable[Params, Coroutine[Any, Any, Result]]) -> Callable[Params, Result]:
    """Return the sync form of an async method, which runs it in an event loop of its own. It raises
    ``HookMisuseError`` where one already runs.
    """

    @wraps(method)
    def run(*args: Params.args, **kwargs: Params.kwargs) -> Result:
        import asyncio

        if in_event_loop():
            raise HookMisuseError(f"An event loop is running here: use `await {method.__name__}(...)` instead.")
        return asyncio.run(method(*args, **kwargs))

    run.__name__ = f"{method.__name__}_sync"
    run.__doc__ = f"Call ``{method.__name__}`` in an event loop of its own."
    return run


_WAITING = "suspended"
# Seconds between two looks at whether other agents are still active.
_POLL_SECONDS = 0.01


@dataclass(eq=False)
class Started:
    """One agent that a tool starts. ``key``: digest of its name and task; ``state``: its last recorded state, None
    before it starts; ``is_active``: it has started, and neither ended nor been suspended; ``is_answered``: the run was
    resumed with the answer for it; ``wait``: the pending suspension.
    """

    key: str
    state: AgentState | None = None
    task: asyncio.Task[object] | None = None
    is_begun: bool = False
    is_active: bool = False
    is_answered: bool = False
    wait: Paused | None = None


class StartedAgents:
    """The agents of one execution of a tool call, in the order in which the tool started them.

    ``begun``: the record of an execution during which the run was suspended; the tool is called again, and agents that
    have finished do not run again. ``is_answered``: the answer is for the first agent that waits. ``outcomes`` are
    those of ``before_subagent`` and ``after_subagent``.
    """

    def __init__(self, begun: BegunCall | None = None, *, is_answered: bool = False) -> None:
        self.outcomes: list[HookOutcome] = []
        self.is_over = False
        self._is_suspending = False  # a suspension is propagating through the tool
        self._all: list[Started] = []
        for key, state in zip(begun.keys, begun.agents, strict=True) if begun is not None else ():
            is_first = state.status == _WAITING and not any(one.is_answered for one in self._all)
            self._all.append(Started(key, state, is_answered=is_answered and is_first))

    def start(self, name: str, task: str) -> Started:
        """Return the started agent: a recorded one with the same key, in any order, else a new one."""
        import asyncio

        key = sha256(f"{name}\0{task}".encode()).hexdigest()[:32]
        one = next((one for one in self._all if one.key == key and not one.is_begun), None)
        if one is None:
            one = Started(key)
            self._all.append(one)
        one.is_begun = one.is_active = True
        one.task = asyncio.current_task()
        return one

    async def suspend(self, one: Started, wait: Paused, state: AgentState | None) -> None:
        """Record that an agent waits (``state``: None before its start), and return once no other agent is active: an
        interrupted one would lose its work and do it again. Afterwards no agent starts.
        """
        import asyncio

        before, one.state, one.wait = one.state, state or AgentState(status=_WAITING), wait
        one.is_active = False
        try:
            await asyncio.sleep(_POLL_SECONDS)  # agents that the tool starts together with this one start
            while any(each.is_active for each in self._all):  # noqa: ASYNC110 - perhaps in another thread's event loop
                await asyncio.sleep(_POLL_SECONDS)
        except BaseException:
            if not self._is_suspending:  # otherwise the suspension of another agent cancels this one
                one.state, one.wait = before, None
            raise
        self._is_suspending = True

    async def end(self) -> None:
        """End the call: start no more agents, and cancel those that the tool left running."""
        self.is_over = True
        if not self._all:
            return
        unfinished = () if self._is_suspending else self._all
        left = [one.task for one in unfinished if one.task is not None and (one.is_active or one.wait is not None)]
        if not left:
            return
        import asyncio

        for task in left:
            with suppress(RuntimeError):
                task.get_loop().call_soon_threadsafe(task.cancel)
        if here := [task for task in left if task.get_loop() is asyncio.get_running_loop()]:
            await asyncio.wait(here)

    @property
    def first_wait(self) -> Paused | None:
        """The suspension of the first agent that waits, once none is active."""
        return next((one.wait for one in self._all if self._is_suspending and one.wait is not None), None)

    def record(self, call: ToolCall, context: str) -> BegunCall:
        """Return the record of the call and of its suspended and finished agents."""
        kept = {one: one.state for one in self._all if one.state and (one.is_begun or one.state.status != _WAITING)}
        return BegunCall(call=call, context=context, keys=tuple(one.key for one in kept), agents=tuple(kept.values()))
