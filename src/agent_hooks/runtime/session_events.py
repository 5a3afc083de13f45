"""Dispatch of a session's events outside of its runs, where there is no run to stop or suspend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.engine.messages import messages_from
from agent_hooks.errors import RefusedError, SuspensionError
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import PROCEED, WAITING
from agent_hooks.model.state import AgentState

from .current import Caller, acting_as, hooks_of, shared_fields
from .interceptors import changed, checked_outcome, in_skill
from .log import logger
from .pausing import answer_from, hooks_in

if TYPE_CHECKING:
    from agent_hooks.engine.hooks import Answer, Hooks
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import Usage

    from .agent import AgentRuntime
    from .interceptors import Interceptor


class SessionEvents:
    """An agent in a session, the state of its conversation, and the events that are not part of a run."""

    def __init__(self, agent: AgentRuntime) -> None:
        self.agent = agent
        self.state = AgentState()
        self._spent: list[tuple[str, Usage]] = []  # by hooks and summaries, not yet added to the state
        # The tokens of suspended operations by event, with their subjects, and the answers to them.
        self._waiting: dict[str, tuple[str, dict[str, Any]]] = {}
        self._answered: dict[str, tuple[str, HookOutcome, dict[str, Any]]] = {}

    async def notify(self, kind: str, message: str) -> None:
        """Fire ``notification``. ``kind``: the subject that hooks match; ``message``: for a person."""
        await self._ask(HookEvent.NOTIFICATION, notification_type=kind, message=message)

    def answer(self, event: str, decision: str | HookOutcome) -> None:
        """Answer an operation that was refused because it waits. Once it is tried again, its hooks run again, and the
        one that asked or suspended gets the answer. Raises ``SuspensionError`` if nothing waits at ``event``.
        """
        name = HookEvent.parse(event)
        if name not in self._waiting:
            raise SuspensionError(f"Nothing waits for an answer at {name!s}.")
        answer = answer_from(decision)
        token, about = self._waiting.pop(name)
        self._answered[name] = (token, answer, about)

    async def _ask(self, event: HookEvent, state: AgentState | None = None, **about: Any) -> HookOutcome:
        """Dispatch an event and return the outcome; ``answer`` resolves one that waits. ``state``: default that of the
        session. Raises ``RunError`` for anything but an outcome.
        """
        hooks = self.agent.interceptor
        if about.get("skill") is not None:
            hooks = in_skill(hooks, about["skill"])
        if not hooks.listens(event):
            return PROCEED
        ctx = self._context(event, state, **about)
        token, answer, answered = self._answered.pop(event, ("", PROCEED, {}))
        is_answered = token and answered == about  # it holds for exactly this question
        with acting_as(Caller(None, self._spent)):
            outcome = await (hooks_in(hooks).resume(token, answer, ctx) if is_answered else hooks.dispatch(ctx))
        checked_outcome(outcome, hooks, event)
        self._waiting.pop(event, None)
        if outcome.decision in WAITING:
            waits = outcome if outcome.token else hooks_in(hooks).keep_asked(ctx, outcome)
            self._waiting[event] = (waits.token or "", about)
        if outcome.signals:
            logger.warning("agent_hooks: a stop signal on %s is dropped: there is no run that could stop.", event)
        return outcome

    async def _gate(self, event: HookEvent, **about: Any) -> HookOutcome:
        """Return the outcome of an event. Raises ``RefusedError`` if it blocks."""
        outcome = await self._ask(event, **about)
        if outcome.blocks:
            raise refusal(event, outcome)
        return outcome

    async def _warn(self, kind: str, message: str, error: str = "") -> None:
        """Log a problem, and notify a person of it; ``error`` is the type of an error, which is logged."""
        logger.warning("agent_hooks: session %s: %s%s", self.agent.session_id, kind, f": {error}" if error else "")
        await self.notify(kind, message)

    def _context(self, event: HookEvent, state: AgentState | None, **about: Any) -> HookContext:
        state = state or self.state
        return HookContext(event, state=state, **self.agent.context_fields(state), **about)

    def _add_brought(self, outcome: HookOutcome) -> None:
        """Add messages and context of hooks to the conversation."""
        if messages := messages_from(outcome):
            self.state = self.state.with_messages(*messages)

    def _count_spent(self) -> None:
        for model, usage in self._spent:
            self.state = self.state.with_model_usage(model, usage)
        self._spent.clear()


def refusal(event: HookEvent, outcome: HookOutcome) -> RefusedError:
    """Return the error for a refusal by hooks."""
    if outcome.decision not in WAITING:
        return RefusedError(outcome.reason, str(event))
    how = f"It waits for an answer: session.answer({str(event)!r}, 'allow' or 'deny'), then try again."
    return RefusedError(f"{outcome.reason} ({how})".lstrip(), str(event))


async def notify(ctx: HookContext, kind: str, message: str) -> None:
    """Fire ``notification`` in the run or session of ``ctx``."""
    hooks = hooks_of(ctx.runtime) if hasattr(ctx.runtime, "interceptor") else None
    if hooks is not None and hooks.listens(HookEvent.NOTIFICATION):
        about = {**shared_fields(ctx), "notification_type": kind, "message": message}
        await hooks.dispatch(HookContext(HookEvent.NOTIFICATION, **about))


def in_session(interceptor: Interceptor, session_id: str) -> Interceptor:
    """Return the interceptor with the session's hooks; it fires ``notification`` before it asks a person."""

    def view(hooks: Hooks) -> Hooks:
        ask = hooks.ask
        if ask is None or isinstance(ask, str):
            return hooks.in_session(session_id)

        async def notify_and_ask(ctx: HookContext, reason: str) -> Answer:
            await notify(ctx, "permission_prompt", reason)
            answer: Any = ask(ctx, reason)
            return await answer if hasattr(answer, "__await__") else answer  # type: ignore[no-any-return]

        return hooks.in_session(session_id).asking(notify_and_ask)

    return changed(interceptor, view)
