"""The model's part of one step: the request passes its hooks, the driver answers, hooks judge the response."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.engine.model_calls import AskingLoop, PendingRequest
from agent_hooks.model.outcome import Decision
from agent_hooks.model.state import Message, hook_message

from .current import acting_as
from .driver import answer_of

if TYPE_CHECKING:
    from agent_hooks.model.inference import ModelRequest, ModelResponse
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import Step, StopSignal, Suspended

    from .loop import AgentRun


class ReportedError(Exception):
    """Wraps an error that ``on_error`` hooks have already seen."""

    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


class _Asking(AskingLoop):
    """A step that asks the model."""

    def __init__(self, run: AgentRun, step: Step) -> None:
        self.run, self.step = run, step
        self.ask, self.pause = run.ask, run.pause
        self.max_retries = run.agent.policy.max_retries

    def request(self) -> ModelRequest:
        return self.run.agent.request(self.run.state)

    async def respond(self, request: ModelRequest) -> ModelResponse:
        with acting_as(self.run.in_step):
            return await answer_of(self.run.agent.driver, request)

    async def recovers(self, error: BaseException, *, is_last: bool) -> bool:
        if await self.run.try_recover(error) and not is_last:
            return True
        raise ReportedError(error) from error

    def stop(self, signal: StopSignal) -> None:
        self.run.add_signal(signal)

    def add(self, *messages: Message) -> None:
        self.run.state = self.run.state.with_messages(*messages)

    def count(self, model: str, response: ModelResponse, used: ModelResponse) -> None:
        # As the parts of a response and a request, these are frozen.
        usage = self.step.usage + response.usage
        self.step = self.step._with(model=model, usage=usage, finish_reason=response.finish_reason)
        self.run.state = self.run.state.with_model_usage(model, used.usage)._with(current_step=self.step)


async def infer(run: AgentRun, step: Step, paused: Suspended | None) -> Step:
    """Ask the model, and retry while hooks request it and the policy allows; ``paused`` is where to resume.

    Return the step with the response; it has no message if a hook withholds that or blocks the request. Raises
    ``ReportedError`` for an error of the driver.
    """
    loop = _Asking(run, step)
    pending = PendingRequest(loop, *((paused.made, paused.hints) if paused is not None else ()))
    response = await pending.make()
    if response is not None:
        return _answered(run, loop.step, response, pending.outcome)
    return loop.step.replace(finish_reason=pending.finish_reason) if pending.finish_reason else loop.step


def _answered(run: AgentRun, step: Step, response: ModelResponse, outcome: HookOutcome) -> Step:
    run.is_stopping = outcome.decision is Decision.STOP
    calls = response.tool_calls
    if not all(call.id for call in calls):
        made = f"call_{run.state.execution_count}_{step.index}"
        calls = tuple(call if call.id else call.replace(id=f"{made}_{n}") for n, call in enumerate(calls))
    content = "" if response.content is None else response.content
    # The parts are frozen, as those of a response.
    fields = {"role": "assistant", "content": content, "tool_calls": calls, "metadata": response.metadata}
    added = (hook_message(outcome.context),) if outcome.context else ()
    return step._with(message=Message._of(fields), messages=added)
