"""The run that a hook, a tool or a driver is called for, and the agents that a tool call has started."""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from agent_hooks.engine.calling import in_event_loop
from agent_hooks.errors import HookMisuseError
from agent_hooks.model.state import AgentState, BegunCall
from agent_hooks.model.tool_call import ErrorInfo

if TYPE_CHECKING:
    import asyncio

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
    """Who calls: the run; where what is used on the side is counted; in a tool, the agents that it starts; and whether
    the model is asked for a step of the run, and not by a hook or a tool.
    """

    run: AgentRun | None
    spent: Spent | None
    agents: StartedAgents | None = None
    is_step: bool = False


# Whoever asks a model outside of everything asks it for themselves.
_ANYBODY = Caller(None, None, is_step=True)
CURRENT: ContextVar[Caller] = ContextVar("agent_hooks_caller", default=_ANYBODY)


def current_run() -> AgentRun | None:
    """Return the run of the hook or tool being called, or None outside of a run."""
    return CURRENT.get().run


def count_usage(model: str, usage: Usage) -> None:
    """Add what a hook or a tool has used of a model to ``state.model_usage`` of the current run, which its limits look
    at, or of the session where a hook is asked around its runs; outside of both nothing happens.
    """
    spent = CURRENT.get().spent
    if spent is not None:
        spent.append((model, usage))


def hooks_of(agent: AgentRuntime) -> Interceptor:
    """Return the interceptor of ``agent`` here: in a run of it, with inherited hooks."""
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
    """One agent that a tool starts. ``key``: what it was started as; ``state``: what is kept of it, None if it has yet
    to begin; ``is_answered``: whether the answer is for it; ``wait``: what it waits for.
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
        """Whether it waits for an answer, inside or before it begins."""
        return self.state is not None and self.state.status == _WAITING

    def fails(self, error: SubagentError) -> None:
        """Keep why it has failed, which is the same when the tool is called anew."""
        self.state = AgentState(errors=(ErrorInfo(type=type(error).__name__, message=str(error)),))


class StartedAgents:
    """The agents of one making of a call, in the order in which its tool has started them.

    ``begun``: the making before, in the middle of which the run was suspended: the tool is called anew, and what its
    agents have done already is not done again. ``is_answered``: the answer is for the first of them that waits.
    ``outcomes`` are what the hooks of their beginnings and ends have decided.
    """

    def __init__(self, begun: BegunCall | None = None, *, is_answered: bool = False) -> None:
        self.outcomes: list[HookOutcome] = []
        self.is_over = False
        self._all = [Started(*kept) for kept in zip(begun.keys, begun.agents, strict=True)] if begun is not None else []
        self._at_work: list[Started] = []
        self._quiet: list[asyncio.Future[None]] = []
        self._is_left = False  # whether a wait is on its way through the tool
        for one in self._waiting()[:1]:
            one.is_answered = is_answered

    def _waiting(self) -> list[Started]:
        return [one for one in self._all if one.is_waiting]

    def begins(self, name: str, task: str) -> Started:
        """Return the started agent: an earlier one with the same key, in whatever order, else a new one."""
        import asyncio

        key = sha256(f"{name}\0{task}".encode()).hexdigest()[:32]
        one = next((one for one in self._all if one.key == key and not one.is_begun), None)
        if one is None:
            one = Started(key)
            self._all.append(one)
        one.is_begun = True
        one.task = asyncio.current_task()
        self._at_work.append(one)
        return one

    async def until_quiet(self, one: Started, wait: Waits, state: AgentState | None) -> None:
        """Keep that an agent waits (``state``: None if it has yet to begin), and return once no other one is at work:
        what they do would be lost, and done again. From then on none begins.
        """
        import asyncio

        before, one.state, one.wait = one.state, state or AgentState(status=_WAITING), wait
        self.rests(one)
        try:
            await asyncio.sleep(0)  # those that the tool starts together with this one begin
            while self._at_work:
                quiet: asyncio.Future[None] = asyncio.get_running_loop().create_future()
                self._quiet.append(quiet)
                await quiet
                await asyncio.sleep(0)  # and what the tool goes on with after them
        except BaseException:
            if not self._is_left:  # else the wait of another one is what cancels it
                one.state, one.wait = before, None
            raise
        self._is_left = True

    def rests(self, one: Started) -> None:
        """Note that an agent is not at work any more."""
        if one in self._at_work:
            self._at_work.remove(one)
        if not self._at_work:
            quiet, self._quiet = self._quiet, []
            for future in quiet:
                with suppress(RuntimeError):  # its loop, that of a thread, is closed
                    future.get_loop().call_soon_threadsafe(_settle, future)

    async def end(self) -> None:
        """End with the call: no other agent is started, and those that the tool has left behind are cancelled."""
        self.is_over = True
        behind = [one for one in self._all if one in self._at_work or one.wait is not None]
        left = [one.task for one in behind if one.task is not None and not self._is_left]
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
        """The wait of the first suspended agent, once none is at work."""
        return next((one.wait for one in self._all if self._is_left and one.wait is not None), None)

    def kept(self, call: ToolCall, context: str) -> BegunCall:
        """Return the record of the call and of its suspended and finished agents."""
        kept = [one for one in self._all if one.state is not None and (one.is_begun or not one.is_waiting)]
        keys, agents = tuple(one.key for one in kept), tuple(one.state for one in kept if one.state is not None)
        return BegunCall(call=call, context=context, keys=keys, agents=agents)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
