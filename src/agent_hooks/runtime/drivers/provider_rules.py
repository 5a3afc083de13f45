"""Rules of providers: results follow their calls, tool names are plain, text has no lone surrogates."""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from agent_hooks.errors import DriverError
from agent_hooks.model.state import Message
from agent_hooks.runtime.messages import CUT_SHORT

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

# The output tool, for models without structured output.
OUTPUT_TOOL = "final_result"
# Tool names that OpenAI, Anthropic and Google all accept.
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_NOT_PLAIN = re.compile(r"^[^A-Za-z_]|[^A-Za-z0-9_-]")
_LONGEST = 64


def with_results(messages: Iterable[Message]) -> list[Message]:
    """Return a conversation in which each answer is followed by the results of its calls, in the order of the calls,
    and then by other messages.

    A call without a result gets a substitute, and a call without an id gets one. Raises ``DriverError`` for a result
    without its call in the answer before it.
    """
    found: list[Message] = []
    results: list[Message] = []
    others: list[Message] = []
    for message in (*messages, None):
        if message is not None and message.role != "assistant":
            (results if message.role == "tool" else others).append(message)
            continue
        if found:
            found[-1:] = _settled(found[-1], results, len(found))
        if results:
            raise DriverError(
                f"The result of the call {results[0].tool_call_id!r} stands in the conversation without that call in "
                "the answer before it: a hook that takes messages out takes out both, or neither."
            )
        found += others
        others = []
        if message is not None:
            found.append(message)
    return found


def _settled(answer: Message, results: list[Message], position: int) -> list[Message]:
    """Return an answer with its results, removed from ``results``."""
    if not answer.tool_calls:
        return [answer]
    calls, ours = [], []
    for number, call in enumerate(answer.tool_calls):
        given = next((result for result in results if result.tool_call_id == call.id), None)
        if given is None:
            given = Message(role="tool", content=CUT_SHORT, metadata={"is_error": True})
        else:
            results.remove(given)
        named = call if call.id else call.replace(id=f"call_{position}_{number}")
        calls.append(named)
        ours.append(given.replace(name=named.name, tool_call_id=named.id))
    return [answer if all(call.id for call in answer.tool_calls) else answer.replace(tool_calls=tuple(calls)), *ours]


def sent_name(name: str) -> str:
    """Return the tool's name for the model: unchanged, or a similar one that providers accept."""
    if _PLAIN_NAME.fullmatch(name) and name != OUTPUT_TOOL:
        return name
    mark = sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{_NOT_PLAIN.sub('_', name)[: _LONGEST - 9]}_{mark}"


def own_names(tools: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the tools' own names by the names sent to the model. Raises ``DriverError`` for duplicates."""
    names: dict[str, str] = {}
    for tool in tools:
        if names.setdefault(sent_name(tool["name"]), tool["name"]) != tool["name"]:
            raise DriverError(f"The tool {tool['name']!r} needs another name: a model takes it for another tool.")
    return names


def whole(value: Any) -> Any:
    """Return ``value`` with a replacement character for each lone surrogate, which cannot be sent."""
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, dict):
        return {whole(key): whole(item) for key, item in value.items()}
    if isinstance(value, list):
        return [whole(item) for item in value]
    return value
