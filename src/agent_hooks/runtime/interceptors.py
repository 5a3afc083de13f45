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
    """Hears of an agent's events and answers them. ``Hooks`` is one; so is ``PassThrough``."""

    def listens(self, event: HookEvent | str) -> bool:
        """Whether anybody wants to hear of ``event``."""
        ...

    async def dispatch(self, ctx: HookContext) -> HookOutcome:
        """Return the outcome of one event."""
        ...


class PassThrough:
    """An interceptor that has no opinion about anything: an agent with nothing but its default hooks."""

    def listens(self, event: HookEvent | str) -> bool:  # noqa: ARG002 - the protocol's
        """Nobody wants to hear of it."""
        return False

    async def dispatch(self, ctx: HookContext) -> HookOutcome:  # noqa: ARG002
        """Return no opinion."""
        return PROCEED


class WithDefaults:
    """An interceptor after an agent's default hooks, for one that was not made with them."""

    def __init__(self, defaults: Hooks, interceptor: Interceptor) -> None:
        self.defaults = defaults
        self.interceptor = interceptor

    def listens(self, event: HookEvent | str) -> bool:
        """Whether either of the two does."""
        return self.defaults.listens(event) or self.interceptor.listens(event)

    async def dispatch(self, ctx: HookContext) -> HookOutcome:
        """Return the interceptor's outcome after the default hooks, merged with theirs."""
        first = await self.defaults.dispatch(ctx)
        if first.blocks or not self.interceptor.listens(ctx.event):
            return first
        second: Any = await self.interceptor.dispatch(ctx if first.state is None else ctx.with_state(first.state))
        if not isinstance(second, HookOutcome):
            return second  # type: ignore[no-any-return]  # the run says what is wrong with it
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
    """Return the interceptor in which the hooks of this skill are live as well; one without hooks is as it was."""
    if isinstance(interceptor, WithDefaults):
        return WithDefaults(interceptor.defaults, in_skill(interceptor.interceptor, name))
    return interceptor.with_skill(name) if isinstance(interceptor, Hooks) else interceptor


async def finished(interceptor: Interceptor, execution_id: str) -> None:
    """Wait for the observers that a run has in the background, where the interceptor has them."""
    if isinstance(interceptor, Hooks):
        await interceptor.join(execution_id=execution_id)
    elif isinstance(interceptor, WithDefaults):
        await interceptor.defaults.join(execution_id=execution_id)
        await finished(interceptor.interceptor, execution_id)
