"""The framework's own observers of dispatches, compiled, and the paths of a dispatch that somebody watches."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any, Self

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome

    from .plan import Chain

    # A function of a plugin, its call with all arguments of its hookspec in order, and what tolerates its errors.
    Observer = tuple[Callable[..., Any], Callable[..., Any], Callable[[BaseException], None]]

WATCHERS = ("agent_hooks_dispatch_started", "agent_hooks_executed", "agent_hooks_dispatched")


class Watchers:
    """The observers of each kind in the order in which they are told."""

    __slots__ = WATCHERS

    agent_hooks_dispatch_started: tuple[Observer, ...]
    agent_hooks_executed: tuple[Observer, ...]
    agent_hooks_dispatched: tuple[Observer, ...]

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

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in WATCHERS)


NOBODY = Watchers()


def observer(
    function: Callable[..., Any], takes: Iterable[str], arguments: tuple[str, ...], tolerate: Callable[..., None]
) -> Observer:
    """Return an observer whose ``function`` takes some of the ``arguments`` of its hookspec."""
    wanted = [arguments.index(name) for name in takes if name in arguments]
    if wanted == [*range(len(arguments))]:
        return function, function, tolerate
    return function, lambda *given: function(*[given[number] for number in wanted]), tolerate


def tell(observers: Iterable[Observer], *given: Any) -> None:
    """Call the observers; their errors are tolerated."""
    for _, call, tolerate in observers:
        try:
            call(*given)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin's own
            tolerate(error)


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
        for function, call, tolerate in self.chain.watchers.agent_hooks_dispatch_started:
            try:
                ending = call(self.chain.event, self.ctx)
            except (Exception, SystemExit) as error:  # noqa: BLE001 - a plugin's own
                tolerate(error)
            else:
                if ending is not None:
                    self.endings = ((function, ending, tolerate), *self.endings)  # the last to start ends first
        self.since = self.clock()
        return self

    def __exit__(self, *_raised: object) -> None:
        duration, outcome = self.clock() - self.since, self.outcome
        if outcome is not None and (observers := self.chain.watchers.agent_hooks_dispatched):
            tell(observers, self.chain.event, self.ctx, outcome, duration)
        if self.endings:
            tell(self.endings, self.ctx, outcome, duration)
