"""The default behaviour of an agent, as hooks that can be removed and replaced by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.engine.registration import HookRegistration
from agent_hooks.errors import RunError
from agent_hooks.model.outcome import HookOutcome
from agent_hooks.model.state import StopReason, StopSignal

from .messages import messages_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_hooks.model.state import AgentState, Step

_FINISHED = HookOutcome.signal(StopSignal(reason=StopReason.COMPLETED, message="The model has finished."))


def accumulate_usage(state: AgentState, step: Step) -> HookOutcome | None:
    """Add the step's tokens to the state's."""
    return HookOutcome.proceed(state=state.replace(usage=state.usage + step.usage)) if step.usage.total else None


def append_messages(state: AgentState, step: Step) -> HookOutcome | None:
    """Add the step to the conversation."""
    added = tuple(messages_of(step))
    return HookOutcome.proceed(state=state.with_messages(*added)) if added else None


def stop_without_tool_calls(state: AgentState) -> HookOutcome | None:
    """Return the signal ``completed`` once the model has answered without calling tools."""
    return _FINISHED if state.steps and not state.steps[-1].has_tool_calls else None


# First on after_step, so that other hooks see the step recorded, and a stop loses nothing of it; last on
# should_continue, where a signal of any other hook does as well.
DEFAULTS = (
    HookRegistration("after_step", accumulate_usage, name="accumulate_usage", priority=100, tryfirst=True),
    HookRegistration("after_step", append_messages, name="append_messages", priority=80, tryfirst=True),
    HookRegistration("should_continue", stop_without_tool_calls, name="stop_without_tool_calls", trylast=True),
)


def index_of(name: str, defaults: Sequence[HookRegistration]) -> int:
    """Return the index of the hook ``name`` in ``defaults``. Raises ``RunError`` naming the known ones."""
    names = [hook.name for hook in defaults]
    if name not in names:
        raise RunError(f"There is no default hook {name!r}; there are {', '.join(map(str, names)) or 'none'}.")
    return names.index(name)
