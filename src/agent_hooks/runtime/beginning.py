"""The beginning of a run: the prompt, and whether hooks let the run begin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.errors import PromptRefusedError, RefusedError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import Decision
from agent_hooks.model.state import Message

from .messages import hook_message
from .pausing import WAITING

if TYPE_CHECKING:
    from typing import Any

    from .loop import AgentRun


async def begin(run: AgentRun) -> bool:
    """Take the prompt and begin; False if a hook stops the run before it has begun."""
    paused = run.paused
    if paused is not None and paused.event not in (HookEvent.USER_INPUT, HookEvent.BEFORE_TURN):
        if paused.is_inside and run.resumption is not None:
            run.resumption.check_inside(run.state, run.place["session_id"])
        return True
    run.paused = None
    is_resumed_turn = paused is not None and paused.event == HookEvent.BEFORE_TURN
    if run.prompt is not None and not is_resumed_turn and not await _receive(run, run.prompt):
        run.state = run.state.replace(status="stopped")
        return False
    if run.in_turn or is_resumed_turn:
        await _take_turn(run)
    await run.ask(HookEvent.BEFORE_EXECUTION)
    return True


async def _take_turn(run: AgentRun) -> None:
    """Ask whether the messages there are may be worked on. Raises ``RefusedError``."""
    about: dict[str, Any] = {"message_count": len(run.state.messages)}
    outcome = await run.ask(HookEvent.BEFORE_TURN, **about)
    if outcome.decision in WAITING:
        raise run.pause(HookEvent.BEFORE_TURN, outcome, **about)
    if outcome.blocks:
        raise RefusedError(outcome.reason, str(HookEvent.BEFORE_TURN))


async def _receive(run: AgentRun, prompt: Any) -> bool:
    """Add the prompt to the conversation, as its hooks leave it. Raises ``PromptRefusedError``."""
    outcome = await run.ask(HookEvent.USER_INPUT, prompt=prompt)
    if outcome.decision in WAITING:
        raise run.pause(HookEvent.USER_INPUT, outcome, prompt=prompt)
    if outcome.decision is Decision.DENY:
        raise PromptRefusedError(outcome.reason)
    if outcome.decision is Decision.STOP:
        return False
    messages = [Message(role="user", content=outcome._fields.get("prompt", prompt)), *outcome.messages]
    if outcome.context:
        messages.append(hook_message(outcome.context))
    run.state = run.state.with_messages(*messages)
    return True
