"""One request to a model, from the hooks before it to those after it: for the runtime, and for loops of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.errors import RunError, StopRunError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.inference import ModelRequest, ModelResponse
from agent_hooks.model.outcome import PROCEED, WAITING, Decision
from agent_hooks.model.state import Message, Step, StopReason, StopSignal, hook_message

from .calling import is_failure

if TYPE_CHECKING:
    from collections.abc import Iterable


class PendingRequest:
    """One request in progress. ``loop``: the run of the runtime, or the ``ForeignLoop``, that sends it.

    ``step``: its step; ``made``: the number of requests sent; ``hints``: why responses were refused; ``added``: the
    messages that hooks added in front of the response, of which a retry adds none again.

    Once it is settled, ``finish_reason`` is ``withheld`` or ``retry_limit`` if hooks let no response pass, and
    ``outcome`` is the last one; ``opening`` is that of the hooks before it.
    """

    finish_reason = ""
    outcome = opening = PROCEED

    def __init__(self, loop: Any, step: Step, made: int = 0, hints: Iterable[Message] = ()) -> None:
        self.loop = loop
        self.step = step
        self.made = made
        self.hints = list(hints)
        self.added: list[Message] = []

    def request(self) -> ModelRequest:
        """Return the request as it is before its hooks; each attempt begins with it."""
        raise NotImplementedError

    async def respond(self, request: ModelRequest) -> ModelResponse:
        """Return the response of the model."""
        raise NotImplementedError

    async def settle(self) -> ModelResponse | None:
        """Return the response as its hooks judged it; None if they let none pass. Raises the model's errors."""
        loop = self.loop
        while True:
            request = await self._before()
            if request is None:
                return None
            self.made += 1
            try:
                response = await self.respond(request)
            except BaseException as error:
                if not is_failure(error):
                    raise
                if isinstance(error, StopRunError):
                    loop.stop(StopSignal.requested(error, request.model))
                    return None
                if not await loop.try_recover(error) or self.made > loop.max_retries:
                    raise
                continue
            used, model = response, response.model or request.model
            outcome = await loop.ask(HookEvent.AFTER_INFERENCE, request=request, model=model, response=response)
            self.outcome = outcome
            if "response" in outcome._fields:
                response = ModelResponse.of(outcome.response)
                if not response.usage.total:
                    response = response.replace(usage=used.usage)
            # As the parts of a response and a request, these are frozen.
            usage = self.step.usage + response.usage
            self.step = self.step._with(model=model, usage=usage, finish_reason=response.finish_reason)
            loop.count(model, used.usage, self.step)
            if outcome.decision is not Decision.RETRY:
                return self._answered(response)
            if self.made > loop.max_retries:
                message = f"Retry limit reached: {loop.max_retries}/{loop.max_retries}"
                loop.stop(StopSignal(reason=StopReason.RETRY_LIMIT, message=message, source="AgentRun"))
                self._withhold("retry_limit")
                return None
            self.hints += [hook_message(text) for text in (outcome.reason, outcome.context) if text]

    async def _before(self) -> ModelRequest | None:
        """Return the request as changed by its hooks, None if they block it."""
        loop, hints = self.loop, tuple(self.hints)
        request = self.request()
        if hints:
            request = request.replace(messages=(*request.messages, *hints))
        outcome = self.opening = self.outcome = await loop.ask(HookEvent.BEFORE_INFERENCE, request=request)
        if outcome is PROCEED:
            return request
        if outcome.decision in WAITING:
            raise loop.pause(HookEvent.BEFORE_INFERENCE, outcome, made=self.made, hints=hints, request=request)
        new = [hook_message(outcome.context)] if outcome.context else []
        new = [message for message in new if message not in self.added]
        self.added += new
        loop.add(*new)
        if outcome.blocks:
            if outcome.decision is not Decision.STOP:
                loop.stop(StopSignal.decided(HookEvent.BEFORE_INFERENCE, outcome))
            return None
        changed: Any = outcome._fields.get("request", request)
        if not isinstance(changed, ModelRequest):
            raise RunError(f"A hook of before_inference brought {changed!r:.80}, which is no ModelRequest.")
        return changed.replace(messages=(*changed.messages, *new)) if new else changed

    def _answered(self, response: ModelResponse) -> ModelResponse | None:
        if self.outcome.decision is not Decision.DENY:
            return response
        self.loop.stop(StopSignal.decided(HookEvent.AFTER_INFERENCE, self.outcome))
        self._withhold("withheld")
        return None

    def _withhold(self, finish_reason: str) -> None:
        self.finish_reason = finish_reason
        self.step = self.step.replace(finish_reason=finish_reason)


def answered(step: Step, response: ModelResponse) -> Step:
    """Return the step with the message of the response."""
    content = "" if response.content is None else response.content
    # The parts are frozen, as those of a response.
    fields = {"role": "assistant", "content": content, "tool_calls": response.tool_calls}
    return step._with(message=Message._of({**fields, "metadata": response.metadata}))
