"""One request to a model, from the hooks before it to those after it: for the runtime, and for loops of others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.errors import RunError, StopRunError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.inference import ModelRequest, ModelResponse
from agent_hooks.model.outcome import PROCEED, WAITING, Decision
from agent_hooks.model.state import Message, StopReason, StopSignal, hook_message

from .calling import is_failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable

    from agent_hooks.model.outcome import HookOutcome


class AskingLoop:
    """The loop that sends requests: it dispatches their events, and collects what hooks add and refuse.

    ``ask`` and ``pause`` are those of a ``CallingLoop``.
    """

    ask: Callable[..., Awaitable[HookOutcome]]
    pause: Callable[..., Exception]
    max_retries: int

    def request(self) -> ModelRequest:
        """Return the request as it is before its hooks; each attempt begins with it."""
        raise NotImplementedError

    async def respond(self, request: ModelRequest) -> ModelResponse:
        """Return the response of the model."""
        raise NotImplementedError

    async def recovers(self, error: BaseException, *, is_last: bool) -> bool:
        """Dispatch ``on_error``; return whether a hook requests a retry, and there may be one."""
        raise NotImplementedError

    def stop(self, signal: StopSignal) -> None:
        """Stop the run."""
        raise NotImplementedError

    def add(self, *messages: Message) -> None:
        """Add messages of hooks to the conversation, in front of the response."""
        raise NotImplementedError

    def count(self, model: str, response: ModelResponse, used: ModelResponse) -> None:
        """Record a response, and the one that the model gave in fact."""
        raise NotImplementedError


class PendingRequest:
    """One request in progress. ``made``: the number of requests sent; ``hints``: why responses were refused.

    Once it is settled, ``finish_reason`` is ``withheld`` or ``retry_limit`` if hooks let no response pass, and
    ``outcome`` is the last one.
    """

    finish_reason = ""
    outcome: HookOutcome = PROCEED

    def __init__(self, loop: AskingLoop, made: int = 0, hints: Iterable[Message] = ()) -> None:
        self.loop = loop
        self.made = made
        self.hints = list(hints)
        self._added: list[Message] = []  # a retry does not add them again

    async def make(self) -> ModelResponse | None:
        """Return the response as its hooks judged it; None if they let none pass. Raises the model's errors."""
        loop = self.loop
        while True:
            request = await self._before()
            if request is None:
                return None
            self.made += 1
            try:
                response = await loop.respond(request)
            except BaseException as error:
                if not is_failure(error):
                    raise
                if isinstance(error, StopRunError):
                    loop.stop(StopSignal.requested(error, request.model))
                    return None
                if not await loop.recovers(error, is_last=self.made > loop.max_retries):
                    raise
                continue
            used, model = response, response.model or request.model
            outcome = await loop.ask(HookEvent.AFTER_INFERENCE, request=request, model=model, response=response)
            self.outcome = outcome
            if "response" in outcome._fields:
                response = ModelResponse.of(outcome.response)
                if not response.usage.total:
                    response = response.replace(usage=used.usage)
            loop.count(model, response, used)
            if outcome.decision is not Decision.RETRY:
                return self._answered(response)
            if self.made > loop.max_retries:
                message = f"Retry limit reached: {loop.max_retries}/{loop.max_retries}"
                loop.stop(StopSignal(reason=StopReason.RETRY_LIMIT, message=message, source="AgentRun"))
                self.finish_reason = "retry_limit"
                return None
            self.hints += [hook_message(text) for text in (outcome.reason, outcome.context) if text]

    async def _before(self) -> ModelRequest | None:
        """Return the request as changed by its hooks, None if they block it."""
        loop, hints = self.loop, tuple(self.hints)
        request = loop.request()
        if hints:
            request = request.replace(messages=(*request.messages, *hints))
        outcome = self.outcome = await loop.ask(HookEvent.BEFORE_INFERENCE, request=request)
        if outcome is PROCEED:
            return request
        if outcome.decision in WAITING:
            raise loop.pause(HookEvent.BEFORE_INFERENCE, outcome, made=self.made, hints=hints, request=request)
        new = [hook_message(outcome.context)] if outcome.context else []
        new = [message for message in new if message not in self._added]
        self._added += new
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
        self.finish_reason = "withheld"
        return None
