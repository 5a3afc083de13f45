"""Hooks as data: actions, and registrations that say when they run."""

from __future__ import annotations

from agent_hooks.errors import RegistrationError
from agent_hooks.model.events import HookEvent, find_event
from agent_hooks.model.values import Value

from .markers import HookOptions

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import Any, Protocol, Unpack

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.policy import Mode, OnFailure

    from .event_markers import Match, RegistrationOptions


class HookAction:
    """An action for one or several events. Any object with such an ``execute`` will do."""

    def execute(self, ctx: HookContext) -> Any:
        """Return a hook's answer for ``ctx``, or an awaitable of it."""
        raise NotImplementedError


if TYPE_CHECKING:

    class _Executes(Protocol):
        def execute(self, ctx: HookContext, /) -> Any: ...

    class _Handles(Protocol):
        def handle(self, ctx: HookContext, /) -> Any: ...

    Action = _Executes | _Handles | Callable[..., Any]


class _PerEvent(type):
    """Gives the set of events a constructor for each of them, those that plugins add included."""

    def __getattr__(cls, name: str) -> Callable[[], HookTriggers]:
        event = find_event(name)
        if event is None:
            raise AttributeError(f"HookTriggers has no {name!r}, and there is no such event.")
        return lambda: HookTriggers((event,))


class HookTriggers(metaclass=_PerEvent):
    """A set of events: ``HookTriggers.of("before_step", HookEvent.AFTER_STEP)``, ``.all()``, ``.none()``, or one per
    event, ``.before_step()``.
    """

    __slots__ = ("events",)

    def __init__(self, events: Iterable[HookEvent | str] = ()) -> None:
        self.events = tuple(dict.fromkeys(HookEvent.parse(event) for event in events))

    @classmethod
    def of(cls, *events: HookEvent | str) -> HookTriggers:
        """Return the set of these events."""
        return cls(events)

    @classmethod
    def all(cls) -> HookTriggers:
        """Return the set of every known event."""
        return cls(HookEvent.all())

    @classmethod
    def none(cls) -> HookTriggers:
        """Return the empty set, for a registration that is conditional."""
        return cls()

    def __iter__(self) -> Iterator[HookEvent]:
        return iter(self.events)

    def __contains__(self, event: object) -> bool:
        return event in self.events

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HookTriggers) and set(self.events) == set(other.events)

    def __hash__(self) -> int:
        return hash(frozenset(self.events))

    def __repr__(self) -> str:
        return f"HookTriggers.of({', '.join(repr(str(event)) for event in self.events)})"


def triggers(events: HookTriggers | HookEvent | str | Iterable[HookEvent | str]) -> HookTriggers:
    """Return ``events``, one or several, as a set. Raises ``UnknownEventError``."""
    if isinstance(events, HookTriggers):
        return events
    return HookTriggers((events,) if isinstance(events, str) else events)


class HookRegistration(Value):
    """One action on one or several events.

    ``event``: an event, its name or alias, or several (``HookTriggers``). ``action``: a callable or an object with
    ``execute(ctx)`` or ``handle(ctx)``. A callable takes hookspec arguments by name, or the context under any other
    single name. ``mode``: by default the action's own attribute ``mode``, if it has one. ``timeout``: seconds, None for
    none. ``continue_on_failure``: True goes on after a failure, False blocks, None is the event's default;
    ``on_failure`` says the same in three words and is stricter when both are given. The others as in ``hookimpl``;
    ``source`` and ``scope`` as in ``HookManager.register``. Raises ``RegistrationError`` and ``UnknownEventError``.
    """

    event: HookTriggers
    action: Action
    match: Match | None = None
    priority: int = 0
    timeout: float | None = None
    continue_on_failure: bool | None = None
    on_failure: OnFailure | None = None
    mode: Mode = "transform"
    name: str | None = None
    required: bool = False
    shadow: bool = False
    background: bool = False
    tryfirst: bool = False
    trylast: bool = False
    source: str = "code"
    scope: tuple[str, ...] | None = None

    def __init__(
        self,
        event: HookTriggers | HookEvent | str | Iterable[HookEvent | str],
        action: Action,
        **fields: Unpack[RegistrationOptions],
    ) -> None:
        if "timeout_seconds" in fields:  # the name it has elsewhere
            if "timeout" in fields:
                raise RegistrationError("timeout and timeout_seconds are one option: give one of them.")
            fields["timeout"] = fields.pop("timeout_seconds")
        if "mode" not in fields and isinstance(own := getattr(action, "mode", None), str):
            fields["mode"] = own  # type: ignore[typeddict-item]  # checked with the options
        super().__init__(event=triggers(event), action=action, **fields)
        if self.continue_on_failure not in (True, False, None):
            raise RegistrationError(
                f"continue_on_failure must be True, False or None, not {self.continue_on_failure!r}."
            )
        self.options()
        self.function()

    @property
    def timeout_seconds(self) -> float | None:
        """The same as ``timeout``."""
        return self.timeout

    def options(self) -> HookOptions:
        """Return the options of each of its hooks."""
        return HookOptions(
            match=self.match,
            priority=self.priority,
            timeout=self.timeout,
            on_failure=self.on_failure,
            mode=self.mode,
            name=self.name,
            required=self.required,
            shadow=self.shadow,
            background=self.background,
            tryfirst=self.tryfirst,
            trylast=self.trylast,
        )

    def entry_on_failure(self) -> str | None:
        """Return the failure policy of the registration, the stricter of its two spellings."""
        from agent_hooks.model.policy import strictest

        short = {True: "open", False: "closed", None: None}[self.continue_on_failure]
        return strictest(self.on_failure, short)

    def function(self) -> Callable[..., Any]:
        """Return the action as a callable. Raises ``RegistrationError`` if it is none."""
        for method in ("execute", "handle"):
            found = getattr(self.action, method, None)
            if callable(found) and not isinstance(self.action, type):
                return found  # type: ignore[no-any-return]
        if callable(self.action):
            return self.action
        raise RegistrationError(f"The action {self.action!r} is neither callable nor has execute(ctx) or handle(ctx).")
