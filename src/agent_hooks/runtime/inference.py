"""The model's part of one step: the request passes its hooks, the driver answers, hooks judge the response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.engine.model_calls import PendingRequest, answered
from agent_hooks.model.state import hook_message

from .current import acting_as
from .driver import answer_of

if TYPE_CHECKING:
    from agent_hooks.model.inference import ModelRequest, ModelResponse
    from agent_hooks.model.state import Step, Suspended

    from .loop import AgentRun


class _Request(PendingRequest):
    """The request of a step."""

    loop: AgentRun

    def request(self) -> ModelRequest:
        return self.loop.agent.request(self.loop.state)

    async def respond(self, request: ModelRequest) -> ModelResponse:
        with acting_as(self.loop.in_step):
            return await answer_of(self.loop.agent.driver, request)


async def infer(run: AgentRun, step: Step, paused: Suspended | None) -> Step:
    """Ask the model, and retry while hooks request it and the policy allows; ``paused`` is where to resume.

    Return the step with the response; it has no message if a hook withholds that or blocks the request. Raises the
    errors of the driver.
    """
    pending = _Request(run, step, *((paused.made, paused.hints) if paused is not None else ()))
    response = await pending.settle()
    if response is None:
        return pending.step
    calls = response.tool_calls
    if not all(call.id for call in calls):
        made = f"call_{run.state.execution_count}_{step.index}"
        numbered = (call if call.id else call.replace(id=f"{made}_{n}") for n, call in enumerate(calls))
        response = response.replace(tool_calls=tuple(numbered))
    step = answered(pending.step, response)
    context = pending.outcome.context
    return step._with(messages=(hook_message(context),)) if context else step
