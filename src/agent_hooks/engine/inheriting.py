"""Hooks of an agent that another one starts: its own below the inherited ones of its parent."""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

from agent_hooks.model.events import HookEvent
from agent_hooks.model.policy import RANKS, strictest

from .hooks import Hooks
from .plan import Chain

if TYPE_CHECKING:
    from agent_hooks.model.policy import HookPolicy

    from .plan import Hook

# Added to the rank of a parent's hook, to put it above all hooks of the child.
_LIFT = max(RANKS.values()) + 1
_FIRST = -(10**9)


class InheritingHooks(Hooks):
    """The hooks of a subagent, with those of its parent in the same chains.

    The child inherits all hooks on events whose gates block when they fail, elsewhere the ``required`` ones,
    permission hooks and observers. They rank above all hooks of the child, so an ``allow`` or ``skip`` by one of those
    does not bind them. A hook of both runs once.
    """

    def __init__(self, own: Hooks, parent: Hooks) -> None:
        # The parent's ask is used: with the child's own, it could approve a question of a parent's gate.
        super().__init__(own.manager, parent.ask, own.scopes, own.directory or parent.directory, own.on_settled)
        self.own = own
        self.parent = parent
        self._chains: dict[str, tuple[tuple[Any, ...], Chain | None]] = {}

    def _like(self, **changes: Any) -> Hooks:
        made = InheritingHooks(self.own._like(**changes), self.parent)
        if "ask" in changes:
            made.ask = changes["ask"]
        return made

    def chain(self, event: HookEvent | str) -> Chain | None:
        """Return the event's chain: inherited hooks, then the child's own."""
        above, own = self.parent.chain(event), self.own.chain(event)
        parts = (above, own, self.manager.generation)
        known = self._chains.get(event)
        if known is None or known[0] != parts:
            known = self._chains[event] = (parts, self._compile(HookEvent.parse(event), above, own))
        return known[1]

    def _compile(self, event: HookEvent, above: Chain | None, own: Chain | None) -> Chain | None:
        inherited = [_lifted(hook) for hook in _hooks_of(above) if _is_inherited(hook)]
        if above is None or not inherited:
            return own
        known = [_identity(hook) for hook in inherited]
        policy = _tightened(above.policy, self.manager.policy)
        added = [
            _as_strict(hook, self.manager.policy, policy) for hook in _hooks_of(own) if _identity(hook) not in known
        ]
        return Chain(event, [*inherited, *added], policy, is_watched=self.manager.is_watched or above.is_watched)

    def count_tolerated(self, hook: Hook, error: BaseException) -> None:
        """Count a tolerated failure in the manager that the hook comes from."""
        owner: Hooks = self
        for _ in range(hook.rank // _LIFT):
            assert isinstance(owner, InheritingHooks)
            owner = owner.parent
        owner.manager.count_tolerated(hook, error)

    def tell(self, observer: str, **arguments: Any) -> None:
        """Notify the framework's own observers, the parent's too."""
        super().tell(observer, **arguments)
        if self.parent.manager is not self.manager:
            self.parent.tell(observer, **arguments)


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
