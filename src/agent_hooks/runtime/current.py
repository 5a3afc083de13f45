"""The run that a hook or a tool is called for."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_hooks.state import Usage

    from .loop import AgentRun
    from .started import StartedAgents

# The run, and the agents that the tool being called starts, None in a hook.
CURRENT: ContextVar[tuple[AgentRun | None, StartedAgents | None]] = ContextVar("agent_hooks_run", default=(None, None))


def current_run() -> AgentRun | None:
    """Return the run that the hook or tool being called belongs to: its ``agent``, ``state`` and ``depth``; None
    outside of a run.
    """
    return CURRENT.get()[0]


def count_usage(model: str, usage: Usage) -> None:
    """Add what a hook or a tool has used of a model to ``state.model_usage`` of the current run, which its limits look
    at; outside of a run nothing happens.
    """
    run = CURRENT.get()[0]
    if run is not None:
        run.spent.append((model, usage))
