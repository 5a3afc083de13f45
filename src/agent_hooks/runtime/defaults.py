"""The default behaviour of an agent, as hooks that can be removed and replaced by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.engine.checks import ACTION
from agent_hooks.engine.hooks import Hooks
from agent_hooks.engine.lifecycle import COMPLETED
from agent_hooks.engine.messages import messages_of
from agent_hooks.engine.registration import HookRegistration
from agent_hooks.errors import RunError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import HookOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent_hooks.engine.plan import Chain
    from agent_hooks.model.state import AgentState, Step

    from .loop import AgentRun

# The events of default hooks: on these it makes no difference that they run before all other hooks.
DEFAULT_EVENTS = frozenset({HookEvent.AFTER_STEP, HookEvent.SHOULD_CONTINUE})
_FINISHED = HookOutcome.signal(COMPLETED)


def accumulate_usage(state: AgentState, step: Step) -> HookOutcome | None:
    """Add the step's tokens to the state's."""
    return HookOutcome.proceed(state=state._with(usage=state.usage + step.usage)) if step.usage.total else None


def append_messages(state: AgentState, step: Step) -> HookOutcome | None:
    """Add the step to the conversation."""
    added = tuple(messages_of(step))
    return HookOutcome.proceed(state=state.with_messages(*added)) if added else None


def stop_without_tool_calls(state: AgentState) -> HookOutcome | None:
    """Return the signal ``completed`` once the model has answered without calling tools."""
    last = state.last_step
    return None if last is None or last.has_tool_calls else _FINISHED


_FUNCTIONS = (accumulate_usage, append_messages, stop_without_tool_calls)
# First on after_step, so that other hooks see the step recorded, and a stop loses nothing of it; last on
# should_continue, where a signal of any other hook does as well.
DEFAULTS = (
    HookRegistration("after_step", accumulate_usage, name="accumulate_usage", priority=100, tryfirst=True),
    HookRegistration("after_step", append_messages, name="append_messages", priority=80, tryfirst=True),
    HookRegistration("should_continue", stop_without_tool_calls, name="stop_without_tool_calls", trylast=True),
)


class DefaultChains:
    """Runs the default hooks of an event without a dispatch, where no other hook takes part."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[Chain | None, tuple[Callable[..., HookOutcome | None], ...]]] = {}

    def settle(self, run: AgentRun, event: HookEvent, step: Step | None) -> bool:
        """Apply the default hooks of ``event`` to the state of ``run``; return False if a dispatch is needed."""
        hooks, state = run.hooks, run.state
        if type(hooks) is not Hooks:
            return False
        chain, known = hooks.chain(event), self._known.get(event)
        if known is None or known[0] is not chain:
            known = self._known[event] = (chain, _defaults_in(chain))
        for action in known[1]:
            outcome = action(state) if action is stop_without_tool_calls else action(state, step)
            if outcome is not None:
                if outcome._fields.keys() != {"state"}:
                    return False
                state = outcome._fields["state"]
        run.state = state
        return bool(known[1])


def _defaults_in(chain: Chain | None) -> tuple[Callable[..., HookOutcome | None], ...]:
    """Return the functions of a chain if they are default ones, and nothing else takes part."""
    if chain is None or not chain.is_plain or chain.observers:
        return ()
    actions: tuple[Any, ...] = tuple(
        getattr(hook.function, ACTION, None) for hook in chain.deciders if hook.match is None
    )
    is_ours = len(actions) == len(chain.deciders) and all(any(a is own for own in _FUNCTIONS) for a in actions)
    return actions if is_ours else ()


def index_of(name: str, defaults: Sequence[HookRegistration]) -> int:
    """Return the index of the hook ``name`` in ``defaults``. Raises ``RunError`` naming the known ones."""
    names = [hook.name for hook in defaults]
    if name not in names:
        raise RunError(f"There is no default hook {name!r}; there are {', '.join(map(str, names)) or 'none'}.")
    return names.index(name)
