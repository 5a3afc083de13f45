"""HookStack: hooks composed by hand, without a registry to share."""

from __future__ import annotations

from copy import copy

from agent_hooks.model.policy import HookPolicy

from .manager import HookManager
from .registration import HookRegistration

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Self, Unpack

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent
    from agent_hooks.model.outcome import HookOutcome

    from .event_markers import MatchedOptions
    from .hooks import Hooks
    from .plugin_info import HookInfo
    from .registration import Action, HookTriggers


class HookStack:
    """An immutable list of registrations. Every ``with_*`` returns a new stack of the same class."""

    __slots__ = ("_hooks", "policy", "registrations")

    def __init__(self, registrations: Iterable[HookRegistration] = (), policy: HookPolicy | None = None) -> None:
        self.registrations = tuple(registrations)
        self.policy = policy or HookPolicy()
        self._hooks: Hooks | None = None

    def with_hook(
        self,
        hook: Action,
        triggers: HookTriggers | HookEvent | str | Iterable[HookEvent | str],
        priority: int = 0,
        **options: Unpack[MatchedOptions],
    ) -> Self:
        """Return a stack with ``hook`` on these events; ``options`` are those of ``HookRegistration``."""
        made = HookRegistration(event=triggers, action=hook, priority=priority, **options)
        return self.with_registration(made)

    def with_registration(self, registration: HookRegistration) -> Self:
        """Return a stack with ``registration`` added."""
        made = copy(self)
        made.registrations, made._hooks = (*self.registrations, registration), None
        return made

    def hooks(self) -> Hooks:
        """Return the hooks of this stack, registered once, without installed plugins."""
        if self._hooks is None:
            manager = HookManager(load_plugins=False, policy=self.policy)
            for registration in self.registrations:
                manager.add(registration)
            self._hooks = manager.hooks()
        return self._hooks

    async def dispatch(self, ctx: HookContext) -> HookOutcome:
        """Ask the hooks about ``ctx`` and return the settled outcome."""
        return await self.hooks().dispatch(ctx)

    def dispatch_sync(self, ctx: HookContext) -> HookOutcome:
        """Do the same without an event loop."""
        return self.hooks().dispatch_sync(ctx)

    def describe(self) -> list[HookInfo]:
        """Return the hooks in the order in which they run."""
        return self.hooks().manager.describe()

    def __len__(self) -> int:
        return len(self.registrations)
