"""The request to a language model, and its response."""

from __future__ import annotations

from agent_hooks.errors import DriverError

from .state import Message, Usage
from .tool_call import ToolCall
from .values import FrozenDict, Value, freeze

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar


class ModelRequest(Value):
    """A request to a model: the conversation, and the form of the response.

    ``tools`` are mappings with ``name``, ``description`` and ``parameters`` (a JSON Schema); ``response_format`` and
    ``settings`` are the driver's own. Hooks on ``before_inference`` may change all fields.
    """

    model: str = ""
    system_prompt: str = ""
    messages: tuple[Message, ...] = ()
    tools: tuple[Mapping[str, Any], ...] = ()
    response_format: Any = None
    settings: Mapping[str, Any] = FrozenDict()

    _decode: ClassVar[dict[str, Any]] = {
        "messages": lambda items: tuple(Message.from_dict(item) for item in items),
        "tools": lambda items: tuple(freeze(item) for item in items),
        "settings": freeze,
    }
    _held = frozenset({"messages"})


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
