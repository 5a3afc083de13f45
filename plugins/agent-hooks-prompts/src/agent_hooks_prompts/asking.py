"""One question to a model, and the verdict that comes back."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_hooks import HandlerError, ModelRequest, RunError, count_usage
from agent_hooks.handlers.judging import instructions, make_nonce, question, read_verdict, verdict_schema
from agent_hooks.model.state import Message
from agent_hooks.runtime.driver import answer_of

if TYPE_CHECKING:
    from agent_hooks import Driver, ModelResponse
    from agent_hooks.handlers.judging import Verdict

# What it means that a model has ended its answer for one of these reasons.
_NO_ANSWER = {
    "content_filter": "the judge's provider refused to answer",
    "length": "the judge's answer was cut off",
    "error": "the judge's provider failed",
}


class Question(NamedTuple):
    """What a judge is to decide: the rule, and the event as it is shown."""

    rule: str
    event: dict[str, Any]
    may_be_impossible: bool

    def texts(self, nonce: str) -> tuple[str, str]:
        """Return the system prompt and the message, with this number in the marks around the event."""
        told = instructions(nonce, may_be_impossible=self.may_be_impossible)
        return told, question(self.rule, self.event, nonce)


async def ask(driver: Driver, asked: Question, timeout: float) -> Verdict:
    """Return the verdict of the driver's model, and count what it used for the current run.

    The driver is asked past all hooks: a judge's own request is judged by nobody, or there would be no end to it.
    Raises ``HandlerError`` if there is no verdict within ``timeout`` seconds, for whatever reason.
    """
    system_prompt, message = asked.texts(make_nonce())
    request = ModelRequest(
        model=driver.model,
        system_prompt=system_prompt,
        messages=(Message(role="user", content=message),),
        response_format=verdict_schema(may_be_impossible=asked.may_be_impossible),
    )
    try:
        async with asyncio.timeout(timeout):
            response = await answer_of(driver, request)
    except TimeoutError as error:
        raise HandlerError(f"the judge did not answer within {timeout:g} s") from error
    except RunError as error:
        raise HandlerError(f"the judge could not be asked: {error}") from error
    except Exception as error:
        raise HandlerError(f"the judge could not be asked: {type(error).__name__}: {error}") from error
    count_usage(response.model or driver.model, response.usage)
    return _verdict(response)


def _verdict(response: ModelResponse) -> Verdict:
    if response.tool_calls:
        raise HandlerError("the judge wanted to call tools, of which it has none")
    if response.finish_reason in _NO_ANSWER:
        raise HandlerError(_NO_ANSWER[response.finish_reason])
    return read_verdict(response.content)
