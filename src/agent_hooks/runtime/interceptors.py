"""The interceptor of an agent's events: hooks, or an object in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from agent_hooks.engine.hooks import Hooks
from agent_hooks.engine.manager import HookManager
from agent_hooks.engine.stack import HookStack
from agent_hooks.errors import RunError
from agent_hooks.model.outcome import PROCEED, HookOutcome
from agent_hooks.model.values import freeze

if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent


class Interceptor(Protocol):
    """Receives an agent's events and decides about them, such as ``Hooks`` or ``PassThrough``."""

    def listens(self, event: HookEvent | str) -> bool:
        """Whether anything handles ``event``."""
        ...

    async def dispatch(self, ctx: HookContext) -> HookOutcome:
        """Return the outcome of one event."""
        ...


class PassThrough:
    """An interceptor without an opinion about any event: an agent with its default hooks only."""

    def listens(self, event: HookEvent | str) -> bool:  # noqa: ARG002 - the protocol's
        """Return False: nothing handles it."""
        return False

    async def dispatch(self, ctx: HookContext) -> HookOutcome:  # noqa: ARG002
        """Return no opinion."""
        return PROCEED


class WithDefaults:
    """An agent's default hooks in front of an interceptor that was made without them."""

    def __init__(self, defaults: Hooks, interceptor: Interceptor) -> None:
        self.defaults = defaults
        self.interceptor = interceptor

    def listens(self, event: HookEvent | str) -> bool:
        """Whether either of the two handles ``event``."""
        return self.defaults.listens(event) or self.interceptor.listens(event)

    async def dispatch(self, ctx: HookContext) -> HookOutcome:
        """Return the interceptor's outcome after the default hooks, merged with theirs."""
        first = await self.defaults.dispatch(ctx)
        if first.blocks or not self.interceptor.listens(ctx.event):
            return first
        second: Any = await self.interceptor.dispatch(ctx if first.state is None else ctx.with_state(first.state))
        if not isinstance(second, HookOutcome):
            return second  # type: ignore[no-any-return]  # the run reports the error
        both = {**first._fields, **second._fields}
        for name in ("messages", "signals"):
            if name in both:
                both[name] = (*getattr(first, name), *getattr(second, name))
        if first.context and second.context:
            both["context"] = f"{first.context}\n\n{second.context}"
        if first.metadata and second.metadata:
            both["metadata"] = freeze({**first.metadata, **second.metadata})
        return HookOutcome._of(both)


def interceptor_of(hooks: Any) -> Interceptor:
    """Return the interceptor for ``hooks``. Raises ``RunError`` if there is none."""
    if isinstance(hooks, (HookManager, HookStack)):
        return hooks.hooks()
    if callable(getattr(hooks, "listens", None)) and callable(getattr(hooks, "dispatch", None)):
        found: Interceptor = hooks
        return found
    raise RunError(
        f"{hooks!r} cannot intercept an agent's events: give Hooks, a HookManager, a HookStack, or an object with "
        "listens(event) and async dispatch(ctx)."
    )


def in_skill(interceptor: Interceptor, name: str) -> Interceptor:
    """Return the interceptor with the hooks of this skill live as well; return one without hooks unchanged."""
    if isinstance(interceptor, WithDefaults):
        return WithDefaults(interceptor.defaults, in_skill(interceptor.interceptor, name))
    return interceptor.with_skill(name) if isinstance(interceptor, Hooks) else interceptor


def checked_outcome(outcome: object, interceptor: Interceptor, event: HookEvent) -> None:
    """Raise ``RunError`` if an interceptor returned anything but an outcome."""
    if not isinstance(outcome, HookOutcome):
        raise RunError(f"The interceptor {interceptor!r} answered {event!s} with {outcome!r:.80}, not an outcome.")


async def finished(interceptor: Interceptor, execution_id: str) -> None:
    """Wait for the background observers of a run."""
    if isinstance(interceptor, Hooks):
        await interceptor.join(execution_id=execution_id)
    elif isinstance(interceptor, WithDefaults):
        await interceptor.defaults.join(execution_id=execution_id)
        await finished(interceptor.interceptor, execution_id)
