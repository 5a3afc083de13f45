"""The request, the response and the driver protocol between the runtime and a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, cast

from agent_hooks.errors import DriverError, RunError
from agent_hooks.model.state import Usage
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import FrozenDict, Value, freeze

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_hooks.model.inference import ModelRequest


class ModelResponse(Value):
    """A response of a model: text or another value, tool calls, or both; and the tokens used.

    ``metadata`` becomes that of the message in the conversation. A driver may store JSON values there that it needs
    for the next request.
    """

    content: Any = None
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    finish_reason: str = ""
    model: str = ""
    metadata: Mapping[str, Any] = FrozenDict()

    _decode: ClassVar[dict[str, Any]] = {
        "tool_calls": lambda items: tuple(ToolCall.from_dict(item) for item in items),
        "usage": Usage.from_dict,
        "metadata": freeze,
    }

    @classmethod
    def of(cls, reply: Any) -> ModelResponse:
        """Return ``reply`` (text, or one or several tool calls) as a response. Raises ``DriverError``."""
        if isinstance(reply, ModelResponse):
            if not isinstance(reply.usage, Usage):
                raise DriverError(f"The usage of a response is a Usage(input_tokens=..., ...), not {reply.usage!r}.")
            return reply
        if isinstance(reply, str):
            return cls(content=reply, finish_reason="stop")
        calls = [reply] if isinstance(reply, ToolCall) else reply
        if isinstance(calls, (list, tuple)) and calls and all(isinstance(call, ToolCall) for call in calls):
            return cls(tool_calls=tuple(calls), finish_reason="tool_calls")
        raise DriverError(
            f"{reply!r} is not a reply: give text, a ToolCall, a list of them, a ModelResponse, an exception to raise, "
            "or a function of the request that returns one of these."
        )


class Driver(Protocol):
    """Sends requests to a language model. ``model`` is its name, as hooks match it."""

    model: str

    async def respond(self, request: ModelRequest) -> ModelResponse:
        """Return the model's response; may be a plain function. Raise ``StopRunError`` to stop the run."""


class ScriptedDriver:
    """Plays back a list of replies instead of asking a model: for tests, demonstrations and dry runs.

    A reply is text, a ``ToolCall`` or a list of them, a ``ModelResponse``, an exception (raised), or a function of the
    request that returns one of these. ``requests`` holds the requests received. Raises ``DriverError`` when no reply is
    left.
    """

    def __init__(self, *replies: Any, model: str = "scripted") -> None:
        self.model = model
        self.replies = replies
        self.requests: list[ModelRequest] = []

    async def respond(self, request: ModelRequest) -> ModelResponse:
        """Return the next reply."""
        number = len(self.requests)
        self.requests.append(request)
        if number >= len(self.replies):
            raise DriverError(f"The script has {len(self.replies)} replies, and the model was asked once more.")
        reply = self.replies[number]
        if callable(reply) and not isinstance(reply, BaseException):
            reply = reply(request)
        if isinstance(reply, BaseException):
            raise reply
        return ModelResponse.of(reply)


async def answer_of(driver: Driver, request: ModelRequest) -> ModelResponse:
    """Return the driver's response. Raises ``DriverError`` for an invalid one, and the driver's errors."""
    reply: Any = driver.respond(request)
    return ModelResponse.of(await reply if hasattr(reply, "__await__") else reply)


def check_driver(driver: Any) -> Driver:
    """Return ``driver`` if it is one. Raises ``RunError`` naming the missing method."""
    if driver is None:
        raise RunError("The agent has no driver: give it one with AgentBuilder().with_driver(...).")
    if not callable(getattr(driver, "respond", None)) or not isinstance(getattr(driver, "model", None), str):
        raise RunError(f"{driver!r} is not a driver: it needs `model`, a text, and `async def respond(request)`.")
    return cast("Driver", driver)
