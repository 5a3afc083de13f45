"""The interceptor of an agent's events: hooks, or an object in their place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from agent_hooks.engine.hooks import Hooks
from agent_hooks.engine.manager import HookManager
from agent_hooks.engine.stack import HookStack
from agent_hooks.errors import RunError
from agent_hooks.model.outcome import PROCEED, HookOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent


class Interceptor(Protocol):
    """Receives an agent's events and decides about them, such as ``Hooks`` or ``PassThrough``."""

    def listens(self, event: HookEvent | str) -> bool:
        """Whether anything handles ``event``."""

    async def dispatch(self, ctx: HookContext) -> HookOutcome:
        """Return the outcome of one event."""


class PassThrough:
    """An interceptor without an opinion about any event: an agent with its default hooks only."""

    def listens(self, event: HookEvent | str) -> bool:  # noqa: ARG002 - the protocol's
        """Return False: nothing handles it."""
        return False

    async def dispatch(self, ctx: HookContext) -> HookOutcome:  # noqa: ARG002
        """Return no opinion."""
        return PROCEED


def interceptor_of(hooks: Any) -> Interceptor:
    """Return the interceptor for ``hooks``. Raises ``RunError`` if there is none."""
    if isinstance(hooks, (HookManager, HookStack)):
        return hooks.hooks()
    if callable(getattr(hooks, "listens", None)) and callable(getattr(hooks, "dispatch", None)):
        return cast("Interceptor", hooks)
    raise RunError(
        f"{hooks!r} cannot intercept an agent's events: give Hooks, a HookManager, a HookStack, or an object with "
        "listens(event) and async dispatch(ctx)."
    )


def changed(interceptor: Interceptor, change: Callable[[Hooks], Interceptor]) -> Interceptor:
    """Return the interceptor with its hooks changed; return one without hooks unchanged."""
    return change(interceptor) if isinstance(interceptor, Hooks) else interceptor


def in_skill(interceptor: Interceptor, name: str) -> Interceptor:
    """Return the interceptor with the hooks of this skill live as well."""
    return changed(interceptor, lambda hooks: hooks.with_skill(name))


def checked_outcome(outcome: object, interceptor: Interceptor, event: HookEvent) -> None:
    """Raise ``RunError`` if an interceptor returned anything but an outcome."""
    if not isinstance(outcome, HookOutcome):
        raise RunError(f"The interceptor {interceptor!r} answered {event!s} with {outcome!r:.80}, not an outcome.")


async def finished(interceptor: Interceptor, execution_id: str) -> None:
    """Wait for the background observers of a run."""
    if isinstance(interceptor, Hooks):
        await interceptor.join(execution_id=execution_id)


def inheriting(own: Interceptor, parent: Interceptor) -> Interceptor:
    """Return the interceptor of a subagent. Raises ``RunError`` if hooks cannot be inherited."""
    for interceptor in (own, parent):
        # A dispatch method of its own may be a gate, which would not be inherited.
        if not isinstance(interceptor, Hooks) or type(interceptor).dispatch is not Hooks.dispatch:
            raise RunError(
                f"{interceptor!r} has no hooks that a subagent could inherit: give both agents Hooks, a HookManager or "
                "a HookStack."
            )
    assert isinstance(own, Hooks)
    assert isinstance(parent, Hooks)
    return own.under(parent)
