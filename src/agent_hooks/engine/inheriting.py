"""Hooks of an agent that another one starts: its own below the inherited ones of its parent."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from agent_hooks.model.events import HookEvent
from agent_hooks.model.policy import RANKS, strictest

from .plan import Chain

if TYPE_CHECKING:
    from agent_hooks.model.policy import HookPolicy

    from .manager import HookManager
    from .plan import Hook
    from .watching import Watchers

# Added to the rank of a parent's hook, to put it above all hooks of the child.
_LIFT = max(RANKS.values()) + 1
_FIRST = -(10**9)


def inherited_chain(
    event: HookEvent, above: Chain | None, own: Chain | None, manager: HookManager, watchers: Watchers
) -> Chain | None:
    """Return the chain of a subagent: the inherited hooks of its parent's chain, then its own, of its ``manager``.

    It inherits all hooks on events whose gates block when they fail, elsewhere the ``required`` ones, permission hooks
    and observers. They rank above all hooks of the child, so an ``allow`` or ``skip`` by one of those does not bind
    them. A hook of both runs once.
    """
    inherited = [_lifted(hook) for hook in _hooks_of(above) if _is_inherited(hook)]
    if above is None or not inherited:
        return Chain(event, own.hooks, own.policy, watchers) if own is not None and watchers.has_dispatches else own
    known = [_identity(hook) for hook in inherited]
    policy = _tightened(above.policy, manager.policy)
    added = [_as_strict(hook, manager.policy, policy) for hook in _hooks_of(own) if _identity(hook) not in known]
    return Chain(event, [*inherited, *added], policy, watchers)


def generations_above(hook: Hook) -> int:
    """Return from how many runs above the subagent's a hook comes."""
    return hook.rank // _LIFT


def _hooks_of(chain: Chain | None) -> tuple[Hook, ...]:
    return () if chain is None else tuple(chain.hooks)


def _is_inherited(hook: Hook) -> bool:
    event = hook.event
    if event.closed in ("deny", "stop") or event.observe_only or event is HookEvent.PERMISSION_REQUEST:
        return True
    return hook.options.required or hook.mode == "observe"


def _lifted(hook: Hook) -> Hook:
    """Return the hook for a descendant: ranked above its own hooks, and before those of the same priority."""
    made = copy(hook)
    made.rank += _LIFT
    made.key = (f"{hook.key[0]} of the parent", hook.key[1])
    first, priority, index, line = hook.order
    made.order = (first, priority, index + _FIRST, line)
    return made


def _identity(hook: Hook) -> tuple[Any, ...]:
    """Return a key that is equal for two hooks if running one of them is enough."""
    settings = (hook.options, hook.mode, hook.scope, hook.shadow, hook.entry_on_failure, hook.default_on_failure)
    return (hook.name, hook.plugin_name, hook.function, settings)


def _as_strict(hook: Hook, own: HookPolicy, policy: HookPolicy) -> Hook:
    """Return a hook of the child whose failure is at least as strict as under the child's policy."""
    wanted = hook.on_failure(own)
    if strictest(wanted, hook.on_failure(policy)) == hook.on_failure(policy):
        return hook
    made = copy(hook)
    made.entry_on_failure = wanted if hook.may_loosen else "closed"
    return made


def _tightened(parent: HookPolicy, own: HookPolicy) -> HookPolicy:
    """Return the parent's policy tightened by the child's."""
    closed = "closed" if own.on_gate_failure == "closed" else None
    ask = "deny" if "deny" in (parent.ask_fallback, own.ask_fallback) else "allow"
    return parent.replace(on_gate_failure=strictest(parent.on_gate_failure, closed), ask_fallback=ask)
