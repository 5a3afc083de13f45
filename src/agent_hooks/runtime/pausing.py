"""A run that waits for an answer: what is kept of it, and how the answer reaches the hook that asked, once."""

from __future__ import annotations

import hashlib
import json
from secrets import token_urlsafe
from time import time
from typing import TYPE_CHECKING

from agent_hooks.errors import SuspensionError
from agent_hooks.events import HookEvent
from agent_hooks.hooks import Hooks, Suspension
from agent_hooks.outcome import Decision, HookOutcome, read_answer
from agent_hooks.state import Suspended
from agent_hooks.values import plain

from .interceptors import WithDefaults

if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.context import HookContext
    from agent_hooks.store import MemoryStore, Store

    from .interceptors import Interceptor

# The decisions after which an operation waits.
WAITS = (Decision.ASK, Decision.SUSPEND)


class Paused(Exception):  # noqa: N818 - not an error: it carries the pause out of the step
    """Raised inside a run where an operation has to wait."""

    def __init__(self, suspended: Suspended) -> None:
        super().__init__(suspended.reason)
        self.suspended = suspended


def suspended(ctx: HookContext, outcome: HookOutcome, interceptor: Interceptor, store: Store | MemoryStore) -> Paused:
    """Return the pause that ``outcome``, an ask or a suspension, means, remembered in ``store``. Raises ``StoreError``.

    The store keeps a digest of the operation under the token, so that an answer can only be used for this operation,
    and only once.
    """
    subject = ctx.event.subject or ""
    settled = outcome._fields.get(subject, ctx.subject)
    hook = ("", "")
    if outcome.token is not None:
        kept = _hooks_in(interceptor).manager.suspended.pop(outcome.token)
        hook, settled = kept.key, kept.subject
    paused = Suspended(
        token=outcome.token or token_urlsafe(16),
        event=str(ctx.event),
        decision=str(outcome.decision),
        reason=outcome.reason,
        hook=hook,
        asked_by=outcome.asked_by,
        data=plain(outcome.data),
        subject=plain(settled),
        tool_call=ctx.tool_call,
        prompt=plain(ctx.prompt),
        session_id=ctx.session_id,
        created_at=time(),
    )
    store.increment(_scope(paused), _digest(paused, ctx))
    return Paused(paused)


class Resumption:
    """An answer on its way to the operation that waits for it."""

    def __init__(self, paused: Suspended, decision: str | HookOutcome, store: Store | MemoryStore) -> None:
        if not isinstance(decision, (str, HookOutcome)):
            raise SuspensionError(f"Resume with 'allow', 'deny' or an outcome, not {decision!r}.")
        self.paused = paused
        self.answer = HookOutcome.proceed() if decision == "allow" else read_answer(decision)
        if self.answer.decision not in (Decision.PROCEED, Decision.ALLOW, Decision.DENY, Decision.STOP):
            raise SuspensionError(f"Resume with 'allow', 'deny' or an outcome that decides so, not {decision!r}.")
        self.store = store

    async def dispatch(self, interceptor: Interceptor, ctx: HookContext) -> HookOutcome:
        """Ask all hooks anew about the operation; the one that waits for this answer gets it.

        Raises ``SuspensionError`` if the answer was used before, or belongs to another operation.
        """
        hooks = _hooks_in(interceptor)
        self._claim(ctx)
        if self.paused.decision == "ask":
            return await self._approved_or_refused(hooks, ctx)
        hooks.manager.suspended[self.paused.token] = Suspension(
            ctx, hooks, self.paused.hook, _AsJson(self.paused.subject)
        )
        return await hooks.resume(self.paused.token, self.answer, ctx)

    def _claim(self, ctx: HookContext) -> None:
        scope = _scope(self.paused)
        if not self.store.read(scope, _digest(self.paused, ctx)):
            raise SuspensionError(
                "Nothing waits for an answer under this token, or it waits in another store, or the operation is not "
                "the one that was suspended: its session, call or subject is not the same."
            )
        if self.store.increment(scope, "resumed", limit=1) > 1:
            raise SuspensionError("The operation was resumed before: a token is good for one answer.")

    async def _approved_or_refused(self, hooks: Hooks, ctx: HookContext) -> HookOutcome:
        is_refused = self.answer.blocks
        name = HookEvent.parse(self.paused.event).subject or ""
        given = False

        def answer(question: HookContext, _reason: str) -> Any:
            nonlocal given
            is_same = plain(question.get(name)) == self.paused.subject
            if not is_same or not set(question.asked_by) <= set(self.paused.asked_by):
                return "host"  # another question, which nobody has answered yet
            given = True
            return not is_refused

        outcome = await hooks.asking(answer).dispatch(ctx)
        if not is_refused or (outcome.blocks and not given):
            return outcome
        reason = self.answer.reason or outcome.reason or self.paused.reason
        return outcome.replace(decision=self.answer.decision, reason=reason)


class _AsJson:
    """A subject that has been through JSON: equal to any that looks the same there."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, data: Any) -> None:
        self.data = data

    def __eq__(self, other: object) -> bool:
        return bool(plain(other) == plain(self.data))


def _hooks_in(interceptor: Interceptor) -> Hooks:
    if isinstance(interceptor, WithDefaults):
        interceptor = interceptor.interceptor
    if not isinstance(interceptor, Hooks):
        raise SuspensionError(f"{interceptor!r} cannot wait for an answer: only an agent with Hooks can be resumed.")
    return interceptor


def _scope(paused: Suspended) -> str:
    return f"suspended|{paused.token}"


def _digest(paused: Suspended, ctx: HookContext) -> str:
    """The operation in one line: where it happens, about what it began, and what is asked about it."""
    call = ctx.tool_call
    operation = (
        ctx.session_id,
        ctx.agent_id,
        ctx.execution_id,
        str(ctx.event),
        None if call is None else [call.id, call.name, call.kind],
        plain(ctx.subject),
        [paused.decision, list(paused.hook), list(paused.asked_by), plain(paused.subject)],
    )
    return hashlib.sha256(json.dumps(operation, sort_keys=True).encode()).hexdigest()
