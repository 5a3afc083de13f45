"""The request to a language model."""

from __future__ import annotations

from .state import Message
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
