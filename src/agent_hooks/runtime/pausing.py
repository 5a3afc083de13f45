"""A run that waits for an answer: what is kept of it, and how the answer reaches the hook that asked, once."""

from __future__ import annotations

import hashlib
import json
from secrets import token_urlsafe
from time import time
from typing import TYPE_CHECKING

from agent_hooks.errors import StoreError, SuspensionError
from agent_hooks.events import HookEvent
from agent_hooks.hooks import Hooks, Suspension
from agent_hooks.outcome import BRINGS, Decision, HookOutcome, read_answer
from agent_hooks.state import StopSignal, Suspended
from agent_hooks.values import plain

from .interceptors import WithDefaults
from .messages import unfinished, with_cut_step

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from agent_hooks.context import HookContext
    from agent_hooks.state import AgentState, Step, ToolCall, ToolExecution
    from agent_hooks.store import MemoryStore, Store

    from .interceptors import Interceptor

# The decisions after which an operation waits.
WAITING = (Decision.ASK, Decision.SUSPEND)


class Paused(Exception):  # noqa: N818 - not an error: it carries the pause out of the step
    """Raised inside a run where an operation has to wait; ``operation`` is that, in JSON types."""

    def __init__(self, suspended: Suspended, operation: Any) -> None:
        super().__init__(suspended.reason)
        self.suspended = suspended
        self.operation = operation


class Waits(BaseException):
    """Raised through a tool in the middle of which the run has to wait, for an answer to one of the agents that it
    starts. It is no ``Exception``, so a tool that catches those lets it through.
    """

    def __init__(self, paused: Paused) -> None:
        super().__init__()
        self.paused = paused


def pause_for(agent: AgentState, run: AgentState, session_id: str) -> Paused:
    """Return the pause of ``run`` that the pause of an agent that one of its tools has started means."""
    assert agent.suspended is not None
    waits = agent.suspended.replace(
        token=token_urlsafe(16), settled=(), begun=(), made=0, hints=(), forced=0, session_id=session_id
    )
    return Paused(waits, _inside(run, session_id))


def pause(ctx: HookContext, outcome: HookOutcome, interceptor: Interceptor, **further: Any) -> Paused:
    """Return the pause that ``outcome``, an ask or a suspension, means; ``further`` are more fields of ``Suspended``.

    Raises ``SuspensionError`` if there are no hooks that could be asked again.
    """
    subject = ctx.event.subject or ""
    settled = outcome._fields.get(subject, ctx.subject)
    hook = ("", "")
    manager = hooks_in(interceptor).manager
    if outcome.token is not None:
        kept = manager.suspended.pop(outcome.token)
        hook, settled = kept.key, kept.subject
    waits = Suspended(
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
        **further,
    )
    return Paused(waits, _operation(ctx))


def remember(store: Store | MemoryStore, paused: Paused, state: AgentState) -> AgentState:
    """Return the state that waits, and keep a digest of what it waits for under its token in ``store``, so that an
    answer can only be used for this operation, and only once. Raises ``StoreError``.
    """
    waiting = state.replace(status="suspended", suspended=paused.suspended)
    store.increment(_scope(paused.suspended), _digest(paused.suspended, paused.operation, state.current_step))
    store.increment(_scope(paused.suspended), "waits")
    return waiting


def abandoned(state: AgentState, store: Store | MemoryStore) -> AgentState:
    """Return the state of a run that is not gone on with: what its step has done is kept, the rest marked as not run.

    Raises ``SuspensionError`` if it does not wait, or was resumed.
    """
    paused = state.suspended
    if paused is None:
        raise SuspensionError("This state does not wait for an answer: there is nothing to abandon.")
    if not store.read(_scope(paused), "waits"):
        raise SuspensionError("Nothing waits for an answer under this token, or it waits in another store.")
    _use_up(paused, store)
    return closed(state, paused, "The run was given up while it waited.")


def closed(state: AgentState, paused: Suspended, why: str) -> AgentState:
    """Return the state of a run that ends where it would have waited: stopped, with all that its step has done."""
    step = state.current_step
    signal = StopSignal.user_requested(why, source="AgentRuntime")
    state = state.replace(suspended=None, current_step=None, status="stopped").with_stop_signal(signal)
    if step is None:
        return state
    if step.message is not None:
        step = step.replace(executions=tuple(_closed_calls(step.message.tool_calls, paused)))
    return with_cut_step(state, step)


def _closed_calls(calls: Sequence[ToolCall], paused: Suspended) -> Iterator[ToolExecution]:
    """Yield what is known of the calls: those to come are not run, but those whose tools wait, and the first, if it was
    to be made again.
    """
    is_begun, waiting = paused.made > 0, [begun.call.id for begun in paused.begun]
    for index, call in enumerate(calls):
        done = paused.settled[index] if index < len(paused.settled) else None
        if done is None:
            done, is_begun = unfinished(call, is_begun=is_begun or call.id in waiting), False
        yield done


class Resumption:
    """An answer on its way to the operation that waits for it."""

    def __init__(self, paused: Suspended, decision: str | HookOutcome, store: Store | MemoryStore) -> None:
        if not isinstance(decision, (str, HookOutcome)):
            raise SuspensionError(f"Resume with 'allow', 'deny' or an outcome, not {decision!r}.")
        self.paused = paused
        self.decision = decision
        self.answer = HookOutcome.proceed() if decision == "allow" else read_answer(decision)
        if self.answer.decision not in (Decision.PROCEED, Decision.ALLOW, Decision.DENY, Decision.STOP):
            raise SuspensionError(f"Resume with 'allow', 'deny' or an outcome that decides so, not {decision!r}.")
        if paused.decision == "ask" and self.answer._fields.keys() & BRINGS:
            raise SuspensionError(
                "An approval holds for exactly what was asked, so the answer to a question brings nothing: deny it and "
                "say in the reason what should be done instead."
            )
        self.store = store

    async def dispatch(self, interceptor: Interceptor, ctx: HookContext) -> HookOutcome:
        """Ask all hooks anew about the operation; the one that waits for this answer gets it.

        Raises ``SuspensionError`` if the answer was used before, or belongs to another operation.
        """
        hooks = hooks_in(interceptor)
        self._claim(ctx)
        if self.paused.decision == "ask":
            return await self._approved_or_refused(hooks, ctx)
        hooks.manager.suspended[self.paused.token] = Suspension(
            ctx, hooks, self.paused.hook, _AsJson(self.paused.subject)
        )
        return await hooks.resume(self.paused.token, self.answer, ctx)

    def claim_inside(self, state: AgentState, session_id: str) -> None:
        """Use the answer up, where an agent of the run gets it in the end.

        Raises ``SuspensionError`` if it was used before, or belongs to another operation.
        """
        self._use(_inside(state, session_id), state)

    def _claim(self, ctx: HookContext) -> None:
        self._use(_operation(ctx), ctx.state)

    def _use(self, operation: Any, state: AgentState | None) -> None:
        step = None if state is None else state.current_step
        try:
            if not self.store.read(_scope(self.paused), _digest(self.paused, operation, step)):
                raise SuspensionError(
                    "Nothing waits for an answer under this token, or it waits in another store, or the operation is "
                    "not the one that was suspended: its session, call or subject is not the same."
                )
            _use_up(self.paused, self.store)
        except StoreError as error:
            # Not an error of the run: it still waits.
            raise SuspensionError(f"The answer could not be recorded, so nothing was done with it. {error}") from error

    async def _approved_or_refused(self, hooks: Hooks, ctx: HookContext) -> HookOutcome:
        is_refused = self.answer.blocks
        name = HookEvent.parse(self.paused.event).subject
        given = False

        def answer(question: HookContext, _reason: str) -> Any:
            nonlocal given
            is_same = not name or plain(question.get(name)) == self.paused.subject
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


def hooks_in(interceptor: Interceptor) -> Hooks:
    """Return the hooks that can be asked again. Raises ``SuspensionError`` if the interceptor has none."""
    if isinstance(interceptor, WithDefaults):
        interceptor = interceptor.interceptor
    if not isinstance(interceptor, Hooks):
        raise SuspensionError(f"{interceptor!r} cannot wait for an answer: only an agent with Hooks can be resumed.")
    return interceptor


def _scope(paused: Suspended) -> str:
    return f"suspended|{paused.token}"


def _use_up(paused: Suspended, store: Store | MemoryStore) -> None:
    if store.increment(_scope(paused), "resumed", limit=1) > 1:
        raise SuspensionError("The operation was resumed before: a token is good for one answer.")


def _operation(ctx: HookContext) -> Any:
    """What an operation is: where it happens, and what it was about before any hook was asked."""
    call = ctx.tool_call
    where = (ctx.session_id, ctx.agent_id, ctx.execution_id, str(ctx.event))
    return [*where, None if call is None else [call.id, call.name, call.kind], plain(ctx.subject)]


def _inside(state: AgentState, session_id: str) -> Any:
    """The same where agents of a run wait: which run it is. What they wait for is in what is suspended."""
    return [session_id, state.agent_id, state.execution_id, "begun"]


def _digest(paused: Suspended, operation: Any, step: Step | None) -> str:
    """The operation, what is asked about it and what its step has done so far, in one line."""
    asked = _as_read(paused.replace(token="", created_at=0.0))
    done = None if step is None else _as_read(step)
    return hashlib.sha256(json.dumps([operation, asked, done], sort_keys=True).encode()).hexdigest()


def _as_read(value: Suspended | Step) -> Any:
    """What a value is in JSON once it was read from there: whether a default was set by hand is lost on the way."""
    return type(value).from_dict(value.as_dict()).as_dict()
