"""The start of a run: the prompt, and the hooks that may refuse it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.errors import PromptRefusedError, RefusedError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import Decision
from agent_hooks.model.state import Message

from .messages import messages_from
from .pausing import WAITING

if TYPE_CHECKING:
    from typing import Any

    from .loop import AgentRun


async def begin(run: AgentRun) -> bool:
    """Receive the prompt and start the run; return False if a hook stops it first."""
    paused = run.paused
    if paused is not None and paused.event not in (HookEvent.USER_INPUT, HookEvent.BEFORE_TURN):
        if paused.is_inside and run.resumption is not None:
            run.resumption.check_inside(run.state, run.fields["session_id"])
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
    """Dispatch ``before_turn`` for the messages of the turn. Raises ``RefusedError``."""
    about: dict[str, Any] = {"message_count": len(run.state.messages)}
    outcome = await run.ask(HookEvent.BEFORE_TURN, **about)
    if outcome.decision in WAITING:
        raise run.pause(HookEvent.BEFORE_TURN, outcome, **about)
    if outcome.blocks:
        raise RefusedError(outcome.reason, str(HookEvent.BEFORE_TURN))


async def _receive(run: AgentRun, prompt: Any) -> bool:
    """Add the prompt, as changed by its hooks, to the conversation. Raises ``PromptRefusedError``."""
    outcome = await run.ask(HookEvent.USER_INPUT, prompt=prompt)
    if outcome.decision in WAITING:
        raise run.pause(HookEvent.USER_INPUT, outcome, prompt=prompt)
    if outcome.decision is Decision.DENY:
        raise PromptRefusedError(outcome.reason)
    if outcome.decision is Decision.STOP:
        return False
    received = Message(role="user", content=outcome._fields.get("prompt", prompt))
    run.state = run.state.with_messages(received, *messages_from(outcome))
    return True
