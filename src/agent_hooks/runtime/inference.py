"""The model's part of one step: the request on its way through its hooks, to the driver and back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.engine.calling import is_failure
from agent_hooks.errors import RunError, StopRunError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import Decision
from agent_hooks.model.state import Message, StopReason, StopSignal

from .current import CURRENT
from .driver import ModelRequest, ModelResponse, answer_of
from .messages import hook_message
from .pausing import WAITING
from .stopping import wished

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import Step, Suspended

    from .loop import AgentRun


class ReportedError(Exception):
    """Raised with an error that ``on_error`` hooks know already."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


async def infer(run: AgentRun, step: Step, paused: Suspended | None) -> Step:
    """Ask the model, again as often as hooks ask for it and the policy lets them; ``paused`` is where to go on.

    Return the step with the answer; without a message if a hook keeps that, or keeps the request from being sent.
    Raises ``ReportedError`` with an error of the driver.
    """
    retries = run.agent.policy.max_retries
    made, hints = (paused.made, list(paused.hints)) if paused is not None else (0, [])
    said: list[Message] = []
    while True:
        request = await _before(run, hints, said, made)
        if request is None:
            return step
        made += 1
        try:
            token = CURRENT.set(run.in_step)
            try:
                response = await answer_of(run.agent.driver, request)
            finally:
                CURRENT.reset(token)
        except BaseException as error:
            if not is_failure(error):
                raise
            if isinstance(error, StopRunError):
                run.add_signal(wished(error, request.model))
                return step
            if await run.try_recover(error) and made <= retries:
                continue
            raise ReportedError(error) from error
        about = {**about_request(request), "model": response.model or request.model}
        outcome = await run.ask(HookEvent.AFTER_INFERENCE, **about, response=response)
        used, rewritten = response.usage, outcome._fields.get("response", response)
        response = ModelResponse.of(rewritten)
        if not response.usage.total:
            response = response.replace(usage=used)
        step = step.replace(
            model=about["model"], usage=step.usage + response.usage, finish_reason=response.finish_reason
        )
        run.state = run.state.with_model_usage(step.model, used).replace(current_step=step)
        if outcome.decision is not Decision.RETRY:
            return _answered(run, step, response, outcome)
        if made > retries:
            message = f"Retry limit reached: {retries}/{retries}"
            run.add_signal(StopSignal(reason=StopReason.RETRY_LIMIT, message=message, source="AgentRun"))
            return step.replace(finish_reason="retry_limit")
        hints += [hook_message(text) for text in (outcome.reason, outcome.context) if text]


async def _before(run: AgentRun, hints: Sequence[Message], said: list[Message], made: int) -> ModelRequest | None:
    """Return the request as its hooks leave it, None if they block it.

    ``hints``: why earlier answers were refused. ``said``: what hooks have told the model in this step; it is in the
    conversation already when they say it again for a retry.
    """
    request = run.agent.request(run.state)
    if hints:
        request = request.replace(messages=(*request.messages, *hints))
    outcome = await run.ask(HookEvent.BEFORE_INFERENCE, **about_request(request))
    if outcome.decision in WAITING:
        raise run.pause(HookEvent.BEFORE_INFERENCE, outcome, made, hints, **about_request(request))
    new = [hook_message(outcome.context)] if outcome.context else []
    new = [message for message in new if message not in said]
    said += new
    run.state = run.state.with_messages(*new)
    if outcome.blocks:
        if outcome.decision is not Decision.STOP:
            run.add_stop(HookEvent.BEFORE_INFERENCE, outcome)
        return None
    request = outcome._fields.get("request", request)
    if not isinstance(request, ModelRequest):
        raise RunError(f"A hook of before_inference brought {request!r:.80}, which is no ModelRequest.")
    return request.replace(messages=(*request.messages, *new)) if new else request


def _answered(run: AgentRun, step: Step, response: ModelResponse, outcome: HookOutcome) -> Step:
    if outcome.decision is Decision.DENY:
        run.add_stop(HookEvent.AFTER_INFERENCE, outcome)
        return step.replace(finish_reason="withheld")
    run.is_stopping = outcome.decision is Decision.STOP
    calls = tuple(
        call if call.id else call.replace(id=f"call_{run.state.execution_count}_{step.index}_{number}")
        for number, call in enumerate(response.tool_calls)
    )
    content = "" if response.content is None else response.content
    return step.replace(
        message=Message(role="assistant", content=content, tool_calls=calls, metadata=response.metadata),
        messages=(hook_message(outcome.context),) if outcome.context else (),
    )


def about_request(request: ModelRequest) -> dict[str, Any]:
    """Return the fields of a request for hooks."""
    return {
        "request": request,
        "model": request.model,
        "message_count": len(request.messages),
        "tool_count": len(request.tools),
    }
