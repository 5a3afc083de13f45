"""The run that a hook, a tool or a driver is called for."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, NamedTuple

from agent_hooks.engine.calling import in_event_loop
from agent_hooks.errors import HookMisuseError

if TYPE_CHECKING:
    from agent_hooks.model.state import Usage

    from .agent import AgentRuntime
    from .interceptors import Interceptor
    from .loop import AgentRun
    from .started import StartedAgents

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
    """Return the run that the hook or tool being called belongs to: its ``agent``, ``state`` and ``depth``; None
    outside of a run.
    """
    return CURRENT.get().run


def count_usage(model: str, usage: Usage) -> None:
    """Add what a hook or a tool has used of a model to ``state.model_usage`` of the current run, which its limits look
    at, or of the session where a hook is asked around its runs; outside of both nothing happens.
    """
    spent = CURRENT.get().spent
    if spent is not None:
        spent.append((model, usage))


def hooks_of(agent: AgentRuntime) -> Interceptor:
    """Return what answers the events of ``agent`` here: in a run of it, also what that inherits."""
    run = CURRENT.get().run
    return run.hooks if run is not None and run.agent is agent else agent.interceptor


def check_asyncio() -> None:
    """Raise ``HookMisuseError`` where no asyncio event loop runs, as under trio."""
    if not in_event_loop():
        raise HookMisuseError(
            "Agents and sessions run on asyncio, and no event loop of it runs here: use asyncio.run(...) or run_sync, "
            "under trio `await trio.to_thread.run_sync(agent.run_sync, prompt)`."
        )
