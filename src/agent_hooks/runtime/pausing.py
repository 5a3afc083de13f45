"""Suspended runs: their record, and the delivery of the answer to the hook that asked, once."""

from __future__ import annotations

import hashlib
import os
from contextlib import contextmanager
from inspect import iscoroutinefunction
from itertools import zip_longest
from secrets import token_urlsafe
from time import time
from typing import TYPE_CHECKING, Any, Protocol, cast

from agent_hooks.engine.hooks import Hooks
from agent_hooks.engine.messages import unfinished, with_cut_step
from agent_hooks.engine.suspension import Paused, answered, exact_text
from agent_hooks.errors import AgentHooksError, RunError, StoreError, SuspensionError
from agent_hooks.model.events import find_event
from agent_hooks.model.outcome import PROCEED, Decision, HookOutcome, read_answer
from agent_hooks.model.state import Answered, StopSignal, Suspended
from agent_hooks.model.values import plain, written

from .log import logger

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.state import AgentState, Step
    from agent_hooks.model.tool_call import ToolExecution

    from .interceptors import Interceptor

# Decisions of answers to an operation that waits.
_ANSWERS = (Decision.PROCEED, Decision.ALLOW, Decision.DENY, Decision.STOP)
_UNKNOWN = "This was started before, and the process ended in the middle of it: what came of it is not known."
# Start time of this process, to tell it from a later one with the same id.
_BEGAN = int(time()) << 22


class SuspensionStore(Protocol):
    """Remembers suspended runs and used answers: ``Store``, ``MemoryStore``, or one of your own.

    It stores whole numbers by ``scope`` and ``key``. A returned number must be durable, and visible to every process
    that may resume the run, for as long as a run may wait. The run raises errors of the methods as ``StoreError``.
    """

    def increment(self, scope: str, key: str, by: int = 1, *, limit: int | None = None) -> int:
        """Add ``by`` to the number, initially 0, atomically, and return the sum. If the sum is above ``limit``, do not
        store it.
        """

    def read(self, scope: str, key: str) -> int:
        """Return the number, 0 if it was never incremented."""


def check_store(store: Any) -> SuspensionStore:
    """Return ``store`` if it is one. Raises ``RunError``."""
    methods = [getattr(store, name, None) for name in ("increment", "read")]
    if isinstance(store, type) or not all(callable(each) and not iscoroutinefunction(each) for each in methods):
        raise RunError(
            f"{store!r:.80} is no SuspensionStore: it needs increment(scope, key, by, limit=…) and read(scope, key), "
            "plain functions, not async."
        )
    return cast("SuspensionStore", store)


def pause_for(agent: AgentState, run: AgentState, session_id: str) -> Paused:
    """Return the pause of ``run`` for a waiting agent that one of its tools has started."""
    assert agent.suspended is not None
    waits = agent.suspended.replace(
        token=token_urlsafe(16), chain="", settled=(), begun=(), made=0, hints=(), forced=0, session_id=session_id
    )
    return Paused(waits, _inside(run, session_id))


def pause(
    ctx: HookContext, outcome: HookOutcome, interceptor: Interceptor, earlier: Resumption | None = None, **further: Any
) -> Paused:
    """Return the pause for ``outcome``, an ask or a suspension; ``further`` are more fields of ``Suspended``.

    ``earlier``: the answer with which the operation was resumed, if it waits again. Raises ``SuspensionError`` if the
    interceptor has no hooks to ask again.
    """
    hooks = hooks_in(interceptor)
    if earlier is not None and earlier.is_interrupted:
        again = {"reason": outcome.reason, "token": token_urlsafe(16), "created_at": time(), "tool_call": ctx.tool_call}
        waits = earlier.paused.replace(**again, settled=(), begun=(), chain="", answers=(), **further)
        return Paused(waits, _operation(ctx))
    if outcome.token is None:
        given = () if earlier is None else (earlier.answers, earlier.paused.called)
        outcome = hooks.keep_asked(ctx, outcome, *given)
    if earlier is not None:
        further["chain"] = earlier.paused.chain or earlier.paused.token
    record = hooks.manager.suspended.pop(outcome.token or "").record
    in_json = {name: plain(getattr(record, name)) for name in ("data", "subject", "prompt")}
    waits = record.replace(**in_json, **further)
    return Paused(waits, _operation(ctx))


def remember(store: SuspensionStore, paused: Paused, state: AgentState) -> AgentState:
    """Return the suspended state, and store a digest of the operation under its token, so that an answer works for
    this operation only, and once. Raises ``StoreError`` with the state of a run that ends instead of waiting.
    """
    waiting = state.replace(status="suspended", suspended=paused.suspended)
    scope = _scope(paused.suspended.token)
    try:
        store.increment(scope, _digest(paused.suspended, paused.operation, state.current_step))
        store.increment(scope, "waits")
    except Exception as error:
        ended = closed(state, paused.suspended, "The run could not be kept while it waits.")
        why = f"The run cannot be kept while it waits, and has ended; `error.state` is its state. {_why(error)}"
        raise StoreError(why, ended) from error
    return waiting


def abandoned(state: AgentState, store: SuspensionStore) -> AgentState:
    """Return the state of an abandoned run, pending calls marked as not run. Raises ``SuspensionError``."""
    paused = state.suspended
    if paused is None:
        raise SuspensionError("This state does not wait for an answer: there is nothing to abandon.")
    if not store.read(_scope(paused.token), "waits"):
        raise SuspensionError("Nothing waits for an answer under this token, or it waits in another store.")
    _use_up(paused, store)
    store.increment(_chain(paused), "ended")
    return closed(state, paused, "The run was given up while it waited.")


def closed(state: AgentState, paused: Suspended, why: str) -> AgentState:
    """Return the state of a run that ends instead of waiting: stopped, with the results of its step, and pending calls
    marked as not run.
    """
    step = state.current_step
    signal = StopSignal.user_requested(why, source="AgentRuntime")
    state = state.replace(suspended=None, current_step=None, status="stopped").with_stop_signal(signal)
    if step is None or step.message is None:
        return state if step is None else with_cut_step(state, step)
    is_begun, waiting = paused.made > 0, [begun.call.id for begun in paused.begun]
    executions: list[ToolExecution] = []
    for call, done in zip_longest(step.message.tool_calls, paused.settled[: len(step.message.tool_calls)]):
        if done is None:
            done, is_begun = unfinished(call, is_begun=is_begun or call.id in waiting), False
        executions.append(done)
    return with_cut_step(state, step.replace(executions=tuple(executions)))


class Resumption:
    """An answer to be delivered to the operation that waits for it.

    ``outer``: the answer to the run whose tool started the waiting agent; both are used up together.
    ``is_interrupted``: a process started the operation with this answer and ended before the operation did.
    """

    def __init__(
        self,
        paused: Suspended,
        decision: str | HookOutcome,
        store: SuspensionStore,
        outer: Resumption | None = None,
    ) -> None:
        event = find_event(paused.event)
        if event is None or paused.decision not in event.decisions:
            raise SuspensionError(
                "The state of the suspended run is damaged; use it as it was saved. "
                f"Nothing can wait at {paused.event!r:.80} with {paused.decision!r:.80}."
            )
        self.paused = paused
        self.decision = decision
        self.answers = answered(paused, answer_from(decision))  # all that were given to the operation
        self.store = store
        self.outer = outer
        self.is_interrupted = False
        self._is_started = False

    async def dispatch(self, interceptor: Interceptor, ctx: HookContext) -> HookOutcome:
        """Dispatch to all hooks again with the answers so far; ``start`` uses these up. Raises ``SuspensionError``."""
        hooks = hooks_in(interceptor)
        self._check(_operation(ctx), ctx.state)
        paused = self.paused
        if not self.is_interrupted:
            given = tuple(map(_read, self.answers))
            return await hooks.redispatch(ctx, given, paused.called, is_about=_is_about)
        asked = {name: getattr(paused, name) for name in ("decision", "data", "asked_by", "asked_keys")}
        reason = paused.reason if paused.reason.startswith(_UNKNOWN) else f"{_UNKNOWN} {paused.reason}".rstrip()
        return HookOutcome(**asked, reason=reason, hook=paused.hook[1])

    def check_inside(self, state: AgentState, session_id: str) -> None:
        """Check an answer for an agent of the run. Raises ``SuspensionError``."""
        self._check(_inside(state, session_id), state)

    def start(self) -> None:
        """Record durably that the answers are used up. Raises ``SuspensionError`` if that fails."""
        with _recorded():
            _use_up(self.paused, self.store)
        self._is_started = True
        if self.outer is not None:
            self.outer.start()

    def end(self) -> None:
        """Record that the run started with the answer has ended, so was not interrupted."""
        try:
            if self._is_started:
                self.store.increment(_chain(self.paused), "ended")
        except Exception as error:  # noqa: BLE001 - of a store of the application
            logger.warning("agent_hooks: that a resumed run has ended could not be recorded: %s", type(error).__name__)

    def _check(self, operation: Any, state: AgentState | None) -> None:
        store, chain = self.store, _chain(self.paused)
        step = None if state is None else state.current_step
        with _recorded():
            if not store.read(_scope(self.paused.token), _digest(self.paused, operation, step)):
                raise SuspensionError(
                    "Nothing waits for an answer under this token, or it waits in another store, or the operation is "
                    "not the one that was suspended: its session, call or subject is not the same, or its agent or "
                    "working directory."
                )
            used_by = store.read(chain, "resumed")
            is_outer_interrupted = self.outer is not None and self.outer.is_interrupted
            if used_by and not is_outer_interrupted and (store.read(chain, "ended") or _is_at_work(used_by)):
                raise _used()
            self.is_interrupted = used_by > 0


def answer_from(decision: str | HookOutcome) -> HookOutcome:
    """Return the answer to an operation that waits. Raises ``SuspensionError``."""
    is_known = isinstance(decision, (str, HookOutcome))
    answer = HookOutcome.proceed() if decision == "allow" or not is_known else read_answer(decision)
    if not is_known or answer.decision not in _ANSWERS:
        raise SuspensionError(f"Resume with 'allow', 'deny' or an outcome that decides so, not {decision!r}.")
    return answer


def _read(answer: Answered) -> Answered:
    """Return an answer that has been through JSON with its outcome."""
    outcome = answer.answer
    return answer if isinstance(outcome, HookOutcome) else answer.replace(answer=HookOutcome.from_dict(outcome))


def _is_about(subject: Any, of_answer: Any) -> bool:
    """Whether an answer is about this subject: one that has been through JSON is compared as JSON."""
    return exact_text(subject) == exact_text(of_answer)


def hooks_in(interceptor: Interceptor) -> Hooks:
    """Return the hooks of an interceptor. Raises ``SuspensionError`` if it has none."""
    if not isinstance(interceptor, Hooks):
        raise SuspensionError(f"{interceptor!r} cannot wait for an answer: only an agent with Hooks can be resumed.")
    return interceptor


async def dispatch_now(interceptor: Interceptor, ctx: HookContext) -> HookOutcome:
    """Dispatch an event that cannot wait: the record of a suspension is dropped, because nothing will resume it."""
    if not interceptor.listens(ctx.event):
        return PROCEED
    outcome = await interceptor.dispatch(ctx)
    if outcome.token is not None:
        hooks_in(interceptor).manager.suspended.pop(outcome.token, None)
    return outcome


def _scope(token: str) -> str:
    return f"suspended|{token}"


def _chain(paused: Suspended) -> str:
    """Return the scope shared by all waits of one operation, which starts only once."""
    return _scope(paused.chain or paused.token)


def _use_up(paused: Suspended, store: SuspensionStore) -> None:
    me = _BEGAN | os.getpid()
    if store.increment(_chain(paused), "resumed", me, limit=me) > me:
        raise _used()


def _is_at_work(process: int) -> bool:
    """Whether the process that used an answer up is still running."""
    began, pid = process >> 22 << 22, process & (1 << 22) - 1
    if pid == os.getpid():
        return began == _BEGAN
    try:
        if os.name != "nt":  # on Windows signal 0 would end it
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return os.name != "nt"


def _used() -> SuspensionError:
    return SuspensionError("The operation was resumed before: a token is good for one answer.")


@contextmanager
def _recorded() -> Iterator[None]:
    """Raise an error of the store as ``SuspensionError``: the run still waits."""
    try:
        yield
    except SuspensionError:
        raise
    except Exception as error:
        why = f"The answer could not be recorded, so nothing was done with it. {_why(error)}"
        raise SuspensionError(why) from error


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, AgentHooksError) else f"{type(error).__name__}: {written(error)}"


def _operation(ctx: HookContext) -> Any:
    """Return the identity of an operation: its run, event and call, and its subject before any hook."""
    call = ctx.tool_call
    where = (ctx.session_id, ctx.agent_id, ctx.cwd, ctx.execution_id, str(ctx.event))
    return [*where, None if call is None else [call.id, call.name, call.kind], plain(ctx.subject)]


def _inside(state: AgentState, session_id: str) -> Any:
    """Return the identity of a run whose agents wait."""
    return [session_id, state.agent_id, state.execution_id, "begun"]


def _digest(paused: Suspended, operation: Any, step: Step | None) -> str:
    """Return a digest of the operation, its question and the progress of the step."""
    asked = _as_read(paused.replace(token="", created_at=0.0))
    done = None if step is None else _as_read(step)
    return hashlib.sha256(exact_text([operation, asked, done]).encode()).hexdigest()


def _as_read(value: Suspended | Step) -> Any:
    """Return a value as after a round trip through JSON, which drops explicit defaults."""
    return type(value).from_dict(value.as_dict()).as_dict()
