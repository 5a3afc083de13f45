"""Dispatch of a session's events outside of its runs, where there is no run to stop."""

from __future__ import annotations

import logging
from os import PathLike
from typing import TYPE_CHECKING

from agent_hooks.engine.hooks import Hooks
from agent_hooks.errors import RefusedError, RunError, SuspensionError
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import PROCEED
from agent_hooks.model.state import AgentState, Message
from agent_hooks.sources.skills import Skill
from agent_hooks.system.store import MemoryStore

from .agent import AgentRuntime
from .current import Caller, acting_as, hooks_of
from .interceptors import WithDefaults, checked_outcome, in_skill
from .pausing import WAITING, Resumption, pause, remember

if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.engine.hooks import Answer
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import AgentState, Suspended, Usage

    from .interceptors import Interceptor

logger = logging.getLogger("agent_hooks.runtime")


class Boundaries:
    """The events of one session that are not part of a run."""

    def __init__(self, agent: AgentRuntime) -> None:
        self.agent = agent
        # Suspended operations by event, with their subjects.
        self._waiting: dict[str, tuple[Suspended, dict[str, Any]]] = {}
        self._answered: dict[str, tuple[Resumption, dict[str, Any]]] = {}
        self._store = MemoryStore()
        self.spent: list[tuple[str, Usage]] = []  # by hooks, not yet added to the state
        self._caller = Caller(None, self.spent)

    async def tell(self, event: HookEvent, state: AgentState, **about: Any) -> None:
        """Dispatch an event whose outcome does not matter."""
        hooks = self._hooks(about)
        if hooks.listens(event):
            with acting_as(self._caller):
                await hooks.dispatch(self.context(event, state, **about))

    async def ask(self, event: HookEvent, state: AgentState, **about: Any) -> HookOutcome:
        """Return the outcome; ``answer`` resolves one that waits. Raises ``RunError`` for anything but an outcome."""
        hooks = self._hooks(about)
        if not hooks.listens(event):
            return PROCEED
        ctx = self.context(event, state, **about)
        resumption, answered = self._answered.pop(event, (None, {}))
        # An answer holds for exactly this question.
        if resumption is not None and (answered != about or not resumption.is_about(ctx)):
            resumption = None
        with acting_as(self._caller):
            outcome = await (hooks.dispatch(ctx) if resumption is None else resumption.dispatch(hooks, ctx))
        checked_outcome(outcome, hooks, event)
        self._waiting.pop(event, None)
        if outcome.decision in WAITING:
            waits = pause(ctx, outcome, hooks, resumption)
            remember(self._store, waits, state)
            self._waiting[event] = (waits.suspended, about)
        if outcome.signals:
            logger.warning("agent_hooks: a stop signal on %s is dropped: there is no run that could stop.", event)
        return outcome

    def answer(self, event: str, decision: str | HookOutcome) -> None:
        """Store the answer for the operation waiting at ``event``. Raises ``SuspensionError`` if none waits."""
        name = HookEvent.parse(event)
        if name not in self._waiting:
            raise SuspensionError(f"Nothing waits for an answer at {name!s}.")
        suspended, about = self._waiting[name]
        self._answered[name] = (Resumption(suspended, decision, self._store), about)
        del self._waiting[name]

    def context(self, event: HookEvent, state: AgentState, **about: Any) -> HookContext:
        """Return the context for hooks."""
        return HookContext(event, state=state, **self.agent.context_fields(state), **about)

    def _hooks(self, about: dict[str, Any]) -> Interceptor:
        skill = about.get("skill")
        return self.agent.interceptor if skill is None else in_skill(self.agent.interceptor, skill)


def refusal(event: HookEvent, outcome: HookOutcome) -> RefusedError:
    """Return the error for a refusal by hooks."""
    if outcome.decision not in WAITING:
        return RefusedError(outcome.reason, str(event))
    how = f"It waits for an answer: session.answer({str(event)!r}, 'allow' or 'deny'), then try again."
    return RefusedError(f"{outcome.reason} ({how})".lstrip(), str(event))


async def notify(ctx: HookContext, kind: str, message: str) -> None:
    """Fire ``notification`` in the run or session of ``ctx``."""
    if not hasattr(ctx.runtime, "interceptor") or not (hooks := hooks_of(ctx.runtime)).listens(HookEvent.NOTIFICATION):
        return
    names = "state agent_id agent_name parent_agent_id depth session_id execution_id cwd project_dir scope runtime"
    fields = {name: ctx._fields[name] for name in names.split() if name in ctx._fields}
    await hooks.dispatch(HookContext(HookEvent.NOTIFICATION, notification_type=kind, message=message, **fields))


def in_session(interceptor: Interceptor, session_id: str) -> Interceptor:
    """Return the interceptor with the session's hooks; it fires ``notification`` before it asks a person."""
    if isinstance(interceptor, WithDefaults):
        return WithDefaults(interceptor.defaults, in_session(interceptor.interceptor, session_id))
    if not isinstance(interceptor, Hooks):
        return interceptor
    view, ask = interceptor.in_session(session_id), interceptor.ask
    if ask is None or isinstance(ask, str):
        return view

    async def notify_and_ask(ctx: HookContext, reason: str) -> Answer:
        await notify(ctx, "permission_prompt", reason)
        answer: Any = ask(ctx, reason)
        return await answer if hasattr(answer, "__await__") else answer  # type: ignore[no-any-return]

    return view.asking(notify_and_ask)


# Fields of a state that hooks may set where there is no run.
_BROUGHT = ("messages", "metadata", "system_prompt", "response_format")


def brought_by(state: AgentState) -> dict[str, Any]:
    """Return the fields that a hook's state may set. Raises ``TypeError`` or ``ValueError``."""
    if not all(isinstance(message, Message) for message in state.messages):
        raise TypeError("its messages are no Message objects")
    dict(state.metadata)
    return {name: getattr(state, name) for name in _BROUGHT}


def check_parts(agent: Any, store: Any, compactor: Any, skills: Any) -> None:
    """Raise ``RunError`` for an unsuitable agent, store, compactor or list of skills."""
    if not isinstance(agent, AgentRuntime):
        built = " Call build() on the builder." if callable(getattr(agent, "build", None)) else ""
        raise RunError(f"A session runs an AgentRuntime, not {agent!r:.80}.{built}")
    lacking = [name for name in ("load", "save", "release") if not callable(getattr(store, name, None))]
    if store is not None and (lacking or isinstance(store, type)):
        raise RunError(f"{store!r:.80} is no ConversationStore: it needs the async methods load, save and release.")
    if compactor is not None and not callable(compactor):
        raise RunError(
            f"compactor is called with (messages, instructions) and returns a summary: {compactor!r:.80} is not."
        )
    if isinstance(skills, (str, PathLike, Skill)):
        raise RunError(f"skills is a list: SessionRunner(agent, skills=[{skills!r:.80}]).")
