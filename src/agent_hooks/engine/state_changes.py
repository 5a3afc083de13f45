"""The state of a run, and the part of it that hooks may change."""

from __future__ import annotations

from agent_hooks.model.state import Step, Usage

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.model.state import AgentState

# The run's own fields: a state returned by hooks changes neither the past nor the identity of a run.
_OWN = frozenset("agent_id parent_agent_id execution_id execution_count status steps suspended".split())
_GUARDED = _OWN | {"stop_signals", "errors", "usage", "model_usage"}


def guarded(own: AgentState, brought: AgentState) -> AgentState:
    """Return the state that hooks returned, with the run's own fields, usage, errors and signals preserved."""
    before, after = own._fields, brought._fields
    touched = {name for name in _GUARDED if after.get(name, own) is not before.get(name, own)}
    changes = {name: getattr(own, name) for name in touched & _OWN}
    for name in touched & {"stop_signals", "errors"}:
        mine, theirs = getattr(own, name), getattr(brought, name)
        if theirs[: len(mine)] != mine:
            changes[name] = (*mine, *(item for item in theirs if item not in mine))
    if "usage" in touched and not _covers(brought.usage, own.usage):
        changes["usage"] = own.usage
    if "model_usage" in touched:
        used = brought.model_usage
        if not all(_covers(used.get(model, Usage()), mine) for model, mine in own.model_usage.items()):
            changes["model_usage"] = own.model_usage
    if brought.current_step is not None and not isinstance(brought.current_step, Step):
        raise TypeError("its current_step is no Step")
    return brought.replace(**changes) if changes else brought


def _covers(usage: Usage, least: Usage) -> bool:
    """Whether ``usage`` is at least ``least`` for each kind of token."""
    return all(getattr(usage, kind) >= count for kind, count in least._fields.items())
