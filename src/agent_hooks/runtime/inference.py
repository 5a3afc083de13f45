"""The model's part of one step: the request passes its hooks, the driver answers, hooks judge the response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.engine.calling import is_failure
from agent_hooks.errors import RunError, StopRunError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.inference import ModelRequest
from agent_hooks.model.outcome import PROCEED, Decision
from agent_hooks.model.state import Message, StopReason, StopSignal

from .current import acting_as
from .driver import ModelResponse, answer_of
from .messages import hook_message

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import Step, Suspended

    from .loop import AgentRun


class ReportedError(Exception):
    """Wraps an error that ``on_error`` hooks have already seen."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


async def infer(run: AgentRun, step: Step, paused: Suspended | None) -> Step:
    """Ask the model, and retry while hooks request it and the policy allows; ``paused`` is where to resume.

    Return the step with the response; it has no message if a hook withholds that or blocks the request. Raises
    ``ReportedError`` for an error of the driver.
    """
    retries = run.agent.policy.max_retries
    made, hints = (paused.made, list(paused.hints)) if paused is not None else (0, [])
    added: list[Message] = []
    while True:
        request = await _before(run, hints, added, made)
        if request is None:
            return step
        made += 1
        try:
            with acting_as(run.in_step):
                response = await answer_of(run.agent.driver, request)
        except BaseException as error:
            if not is_failure(error):
                raise
            if isinstance(error, StopRunError):
                run.add_signal(StopSignal.requested(error, request.model))
                return step
            if await run.try_recover(error) and made <= retries:
                continue
            raise ReportedError(error) from error
        model = response.model or request.model
        outcome = await run.ask(HookEvent.AFTER_INFERENCE, request=request, model=model, response=response)
        used = response.usage
        if "response" in outcome._fields:
            response = ModelResponse.of(outcome.response)
            if not response.usage.total:
                response = response.replace(usage=used)
        # As the parts of a response and a request, these are frozen.
        step = step._with(model=model, usage=step.usage + response.usage, finish_reason=response.finish_reason)
        run.state = run.state.with_model_usage(model, used)._with(current_step=step)
        if outcome.decision is not Decision.RETRY:
            return _answered(run, step, response, outcome)
        if made > retries:
            message = f"Retry limit reached: {retries}/{retries}"
            run.add_signal(StopSignal(reason=StopReason.RETRY_LIMIT, message=message, source="AgentRun"))
            return step.replace(finish_reason="retry_limit")
        hints += [hook_message(text) for text in (outcome.reason, outcome.context) if text]


async def _before(run: AgentRun, hints: Sequence[Message], added: list[Message], made: int) -> ModelRequest | None:
    """Return the request as changed by its hooks, None if they block it.

    ``hints``: why earlier responses were refused. ``added``: context of hooks that this step has already added to the
    conversation; a retry does not add it again.
    """
    request = run.agent.request(run.state)
    if hints:
        request = request.replace(messages=(*request.messages, *hints))
    outcome = await run.ask_or_pause(HookEvent.BEFORE_INFERENCE, made=made, hints=hints, request=request)
    if outcome is PROCEED:
        return request
    new = [hook_message(outcome.context)] if outcome.context else []
    new = [message for message in new if message not in added]
    added += new
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
    decision = outcome.decision
    if decision is Decision.DENY:
        run.add_stop(HookEvent.AFTER_INFERENCE, outcome)
        return step.replace(finish_reason="withheld")
    run.is_stopping = decision is Decision.STOP
    calls = response.tool_calls
    if not all(call.id for call in calls):
        made = f"call_{run.state.execution_count}_{step.index}"
        calls = tuple(call if call.id else call.replace(id=f"{made}_{n}") for n, call in enumerate(calls))
    content = "" if response.content is None else response.content
    # The parts are frozen, as those of a response.
    fields = {"role": "assistant", "content": content, "tool_calls": calls, "metadata": response.metadata}
    added = (hook_message(outcome.context),) if outcome.context else ()
    return step._with(message=Message._of(fields), messages=added)
