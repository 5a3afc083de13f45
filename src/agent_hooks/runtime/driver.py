"""The driver protocol between the runtime and a language model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, cast

from agent_hooks.errors import DriverError, RunError
from agent_hooks.model.inference import ModelResponse

if TYPE_CHECKING:
    from agent_hooks.model.inference import ModelRequest


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
