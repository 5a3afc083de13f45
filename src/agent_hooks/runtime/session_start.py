"""The start of a session: its skills, the stored conversation, and the events around them."""

from __future__ import annotations

import logging
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from agent_hooks.model.events import HookEvent
from agent_hooks.model.state import AgentState

from .agent import checked_state
from .boundaries import brought_by, refusal
from .conversations import FileConversations
from .interceptors import finished
from .pausing import WAITING
from .run_states import with_skill

if TYPE_CHECKING:
    from agent_hooks.model.outcome import HookOutcome

    from .conversations import ConversationStore
    from .session import SessionRunner

logger = logging.getLogger("agent_hooks.runtime")


async def open_session(session: SessionRunner) -> AsyncExitStack:
    """Register the skills, dispatch the events and load the conversation; return the clean-up for the end."""
    session._end_reason = "error"
    async with AsyncExitStack() as undo:
        session._skills.register(session.agent.interceptor)
        undo.callback(session._skills.unregister)
        session.agent = session.agent._with(tools=session._skills.with_tool(session.agent.tools.values()))
        session._boundaries.agent = session.agent
        await session._tell(HookEvent.SETUP, config=session._config, trigger="init")
        definition = {
            "name": session.agent.name,
            "model": session.agent.driver.model,
            "tools": list(session.agent.tools),
        }
        outcomes = [await session._gate(HookEvent.BEFORE_AGENT, definition=definition)]
        undo.push_async_callback(finished, session.agent.interceptor, "")
        undo.push_async_callback(session._tell, HookEvent.AFTER_AGENT, definition=definition)
        source = "startup"
        if session._store is not None:
            outcome = await session._ask(HookEvent.BEFORE_CONVERSATION_LOAD)
            outcomes.append(outcome)
            if await _load(session, session._store, outcome, undo):
                source = "resume"
        for outcome in outcomes:
            session._add_brought(outcome)
        undo.push_async_callback(_end, session)
        await _begin(session, source)
        return undo.pop_all()


async def _load(session: SessionRunner, store: ConversationStore, outcome: HookOutcome, undo: AsyncExitStack) -> bool:
    """Load the stored conversation unless hooks refuse it; return whether there was one."""
    if outcome.decision in WAITING:
        raise refusal(HookEvent.BEFORE_CONVERSATION_LOAD, outcome)
    # Saving would replace the stored conversation by one without its history.
    session._is_kept = not outcome.blocks
    if outcome.blocks:
        session.state = AgentState()
        why = f"The stored conversation was not read, and this one is not saved: {outcome.reason}"
        await session._warn("conversation_not_loaded", why)
        return False
    stored = await store.load(session.session_id)
    undo.push_async_callback(store.release, session.session_id)
    if stored is not None:
        session.state = checked_state(stored)
        await _resume_skill(session)
    await session._tell(HookEvent.AFTER_CONVERSATION_LOAD, message_count=len(session.state.messages))
    return stored is not None


async def _resume_skill(session: SessionRunner) -> None:
    """Deactivate an active skill that the session lacks. Raises ``RunError`` if a turn with it waits."""
    skill = session.active_skill
    if skill is None:
        return
    if session.state.suspended is not None:
        session._skills.check(skill)
    elif not session._skills.has(skill):
        session.state = with_skill(session.state, None)
        await session._warn("skill_gone", f"The session has no skill {skill!r} any more, so it is not active.")


async def _begin(session: SessionRunner, source: str) -> None:
    store = session._store
    path = store.path(session.session_id) if isinstance(store, FileConversations) else ""
    outcome = await session._ask(HookEvent.SESSION_START, source=source, transcript_path=path)
    if outcome.state is not None:
        try:
            session.state = session.state.replace(**brought_by(outcome.state))
        except (TypeError, ValueError) as error:
            why = type(error).__name__
            logger.warning("agent_hooks: the state brought on session_start is none, and is dropped: %s", why)
    if outcome.blocks:
        session._end_reason = "refused"
        raise refusal(HookEvent.SESSION_START, outcome)
    session._add_brought(outcome)


async def _end(session: SessionRunner) -> None:
    await session._tell(HookEvent.SESSION_END, end_reason=session._end_reason)
