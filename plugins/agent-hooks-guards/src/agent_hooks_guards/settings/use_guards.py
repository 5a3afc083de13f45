"""The capability for an agent's limits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from agent_hooks import HookRegistration, HookTriggers, RegistrationError
from agent_hooks_guards.guards.cancellation import Cancellation
from agent_hooks_guards.guards.limits import (
    MAX_SECONDS,
    MAX_STEPS,
    MAX_TOKENS,
    CostLimit,
    FinishReasonLimit,
    StepsLimit,
    TimeLimit,
    TokenLimit,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from agent_hooks import AgentBuilder, HookManager
    from agent_hooks_guards.guards.base import RunGuard
    from agent_hooks_guards.guards.cancellation import Source
    from agent_hooks_guards.guards.limits import Money, Price, Starts


@dataclass(frozen=True)
class UseGuards:
    """Limits for ``AgentBuilder.with_capability``, or for a manager with ``add_to``; None leaves one out.

    ``max_steps``: steps of one run. ``max_tokens``: input and output of all its model calls. ``max_execution_time``:
    seconds on the clock. ``finish_reasons``: with which of them an answer ends the run, none by default. ``max_cost``:
    money, with ``prices`` as in ``CostLimit``. ``cancellation``: a source as in ``Cancellation``. Raises
    ``RegistrationError`` for a value that its guard refuses, and for prices without ``max_cost`` or the reverse.
    """

    name: ClassVar[str] = "guards"

    max_steps: int | None = MAX_STEPS
    max_tokens: int | None = MAX_TOKENS
    max_execution_time: float | None = MAX_SECONDS
    finish_reasons: str | Iterable[str] | None = ()
    max_cost: Money | None = None
    prices: Mapping[str, Price] | None = None
    cancellation: Source | None = None

    def __post_init__(self) -> None:
        if self.prices is not None and self.max_cost is None:
            raise RegistrationError("UseGuards has prices but no max_cost, so they would do nothing.")
        reasons = self.finish_reasons or ()
        object.__setattr__(self, "finish_reasons", (reasons,) if isinstance(reasons, str) else tuple(reasons))
        # Report errors here, where the values were written.
        self.limits()
        if self.cancellation is not None:
            Cancellation(self.cancellation)

    def limits(self, starts: Starts | None = None) -> tuple[RunGuard, ...]:
        """Make a guard for each limit that is set. ``starts`` as in ``TimeLimit``."""
        limits: list[tuple[Any, Callable[[Any], RunGuard]]] = [
            (self.max_steps, StepsLimit),
            (self.max_tokens, TokenLimit),
            (self.max_execution_time, lambda most: TimeLimit(most, starts=starts)),
            (self.max_cost, lambda most: CostLimit(most, self.prices or {})),
            (self.finish_reasons or None, FinishReasonLimit),
        ]
        return tuple(make(given) for given, make in limits if given is not None)

    def configure(self, builder: AgentBuilder) -> AgentBuilder:
        """Add a hook for each limit and for the cancellation to ``builder``, and remove the default limit."""
        if not builder.has_limits:
            builder = builder.with_limits(max_steps=None)
        for guard in self._guards():
            triggers = HookTriggers.of(*guard.events)
            builder = builder.hook(triggers, guard, priority=guard.priority, name=guard.name)
        return builder

    def add_to(self, manager: HookManager) -> HookManager:
        """Add the hooks to a manager, for an agent of a framework, and return it."""
        for guard in self._guards():
            triggers = HookTriggers.of(*guard.events)
            manager.add(HookRegistration(triggers, guard, priority=guard.priority, name=guard.name))
        return manager

    def _guards(self) -> tuple[RunGuard, ...]:
        cancellation = () if self.cancellation is None else (Cancellation(self.cancellation),)
        return (*cancellation, *self.limits())
