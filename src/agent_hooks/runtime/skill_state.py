"""Which skill is active, as the state says it: a run that waits goes on in another process, under the same hooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_hooks.model.state import AgentState

_ACTIVE = "active_skill"


def active_skill(state: AgentState) -> str | None:
    """Return the name of the active skill, None if there is none."""
    name = state.metadata.get(_ACTIVE)
    return None if name is None else str(name)


def with_skill(state: AgentState, name: str | None) -> AgentState:
    """Return the state in which this skill is the active one, or none."""
    if state.metadata.get(_ACTIVE) == name:
        return state
    others = {key: value for key, value in state.metadata.items() if key != _ACTIVE}
    return state.replace(metadata=others if name is None else {**others, _ACTIVE: name})
