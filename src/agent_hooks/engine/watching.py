"""The framework's own observers of dispatches, compiled, and the paths of a dispatch that somebody watches."""

from __future__ import annotations

from .calling import is_failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Self

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome

    from .plan import Chain

    # A function of a plugin; its call with all arguments of its hookspec in order, or the answer to it; and a
    # function that tolerates their errors.
    Observer = tuple[Callable[..., Any], Any, Callable[[BaseException], None]]

OF_DISPATCHES = ("agent_hooks_dispatch_started", "agent_hooks_executed", "agent_hooks_dispatched")
WATCHERS = (*OF_DISPATCHES, "agent_hooks_run_started", "agent_hooks_tool_started")


class Watchers:
    """The observers of each kind in the order in which they are told."""

    __slots__ = WATCHERS

    agent_hooks_dispatch_started: tuple[Observer, ...]
    agent_hooks_executed: tuple[Observer, ...]
    agent_hooks_dispatched: tuple[Observer, ...]
    agent_hooks_run_started: tuple[Observer, ...]
    agent_hooks_tool_started: tuple[Observer, ...]

    def __init__(self, **observers: Iterable[Observer]) -> None:
        for name in WATCHERS:
            setattr(self, name, tuple(observers.get(name, ())))

    def joined(self, other: Watchers) -> Watchers:
        """Return these and those of ``other``; an observer of both is told once."""
        if other is self:
            return self
        found = {}
        for name in WATCHERS:
            mine = getattr(self, name)
            known = [function for function, _, _ in mine]
            found[name] = (*mine, *(each for each in getattr(other, name) if each[0] not in known))
        return Watchers(**found)

    @property
    def has_dispatches(self) -> bool:
        """Whether any of them is told of dispatches."""
        return any(getattr(self, name) for name in OF_DISPATCHES)


NOBODY = Watchers()


def observer(
    function: Callable[..., Any], takes: Iterable[str], arguments: tuple[str, ...], tolerate: Callable[..., None]
) -> Observer:
    """Return an observer whose ``function`` takes some of the ``arguments`` of its hookspec."""
    wanted = [arguments.index(name) for name in takes if name in arguments]
    if wanted == [*range(len(arguments))]:
        return function, function, tolerate
    return function, lambda *given: function(*[given[number] for number in wanted]), tolerate


def tell(observers: Iterable[Observer], *given: Any) -> tuple[Observer, ...]:
    """Call the observers; their errors are tolerated. Return those that have answered with a function, which hears of
    the end of what they were told of, the last first.
    """
    answered: tuple[Observer, ...] = ()
    for function, call, tolerate in observers:
        try:
            answer = call(*given)
        except BaseException as error:
            if not is_failure(error):
                raise
            tolerate(error)
        else:
            if answer is not None:
                answered = ((function, answer, tolerate), *answered)
    return answered


class Watch:
    """One watched dispatch: entered as it starts, left at its end. ``ctx`` is the context as its hooks left it, and
    ``outcome`` stays None if it is cancelled.
    """

    __slots__ = ("chain", "clock", "ctx", "endings", "outcome", "since")

    def __init__(self, chain: Chain, ctx: HookContext, clock: Callable[[], float]) -> None:
        self.chain = chain
        self.ctx = ctx
        self.clock = clock
        self.endings: tuple[Observer, ...] = ()
        self.outcome: HookOutcome | None = None

    def __enter__(self) -> Self:
        if observers := self.chain.watchers.agent_hooks_dispatch_started:
            self.endings = tell(observers, self.chain.event, self.ctx)
        self.since = self.clock()
        return self

    def __exit__(self, *_raised: object) -> None:
        duration, outcome = self.clock() - self.since, self.outcome
        if outcome is not None and (observers := self.chain.watchers.agent_hooks_dispatched):
            tell(observers, self.chain.event, self.ctx, outcome, duration)
        if self.endings:
            tell(self.endings, self.ctx, outcome, duration)
