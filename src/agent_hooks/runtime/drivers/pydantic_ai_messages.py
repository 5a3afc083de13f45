"""Conversion of conversations and tools to pydantic-ai's messages, and of its answers to responses."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from hashlib import sha256
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from pydantic_ai.messages import (
    BinaryContent,
    FileUrl,
    ModelMessagesTypeAdapter,
    ModelRequest,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_ai.models import ModelRequestParameters
from pydantic_ai.output import OutputObjectDefinition
from pydantic_ai.tools import ToolDefinition

from agent_hooks.engine.messages import CUT_SHORT
from agent_hooks.errors import BadJSONError, DriverError
from agent_hooks.model import inference
from agent_hooks.model.snapshot import as_text
from agent_hooks.model.state import Message, Usage
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import FrozenDict, thaw
from agent_hooks.system.strict_json import read_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponsePart
    from pydantic_ai.models import Model
    from pydantic_ai.output import OutputMode


# The key in a message's metadata for data that a provider needs back with the next request.
KEPT = "pydantic_ai"
# Fields of an answer, of its text and of its calls that go back with the message.
_OF_ANSWER = ("provider_name", "provider_url", "canonical_system", "model_name")
_OF_PART = ("id", "provider_name", "provider_details")
# Finish reasons of answers that may be incomplete.
_CUT_OFF = ("length", "content_filter", "error")
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)
# The output tool, for models without structured output.
OUTPUT_TOOL = "final_result"
# Tool names that OpenAI, Anthropic and Google all accept.
_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_NOT_PLAIN = re.compile(r"^[^A-Za-z_]|[^A-Za-z0-9_-]")
_LONGEST = 64


# -- to the model ------------------------------------------------------------------------------------------------------


def conversation(request: inference.ModelRequest) -> list[ModelMessage]:
    """Return system prompt and messages in a form that every provider accepts. Raises ``DriverError``."""
    found: list[ModelMessage] = []
    system_prompt = whole(request.system_prompt)
    parts: list[ModelRequestPart] = [SystemPromptPart(system_prompt)] if system_prompt else []
    for message in with_results(request.messages):
        if message.role != "assistant":
            parts.append(_request_part(message))
        elif answer := answer_to_send(message):
            found += [ModelRequest(parts), answer] if parts else [answer]
            parts = []
    return [*found, ModelRequest(parts)] if parts or not found else found


def _request_part(message: Message) -> ModelRequestPart:
    """Return a prompt, a system prompt or a tool's result for the model."""
    content = message.content
    if message.role == "user":
        # Text, or a list of texts, images and documents of pydantic-ai.
        is_list = isinstance(content, (list, tuple))
        if is_list and all(isinstance(item, (str, FileUrl, BinaryContent)) for item in content):
            return UserPromptPart([whole(item) for item in content])
        return UserPromptPart(_text(message))
    if message.role == "system":
        return SystemPromptPart(_text(message))
    if message.role == "tool":
        outcome: Any = "failed" if message.metadata.get("is_error") else "success"
        return ToolReturnPart(sent_name(message.name), _text(message), message.tool_call_id, outcome=outcome)
    raise DriverError(f"The role of a message is system, user, assistant or tool, not {message.role!r}.")


def _text(message: Message) -> str:
    return str(whole(as_text(message.content)))


def answer_to_send(message: Message) -> ModelResponse | None:
    """Return an answer of the model to send back, None for an empty one."""
    kept = message.metadata.get(KEPT, {"parts": ()})
    try:
        parts = _with_kept(_text(message), list(message.tool_calls), kept["parts"])
        return ModelResponse(parts, **{name: kept[name] for name in _OF_ANSWER if name in kept}) if parts else None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise DriverError(
            f"metadata[{KEPT!r}] of a message of the model is not what this driver wrote there; take it out."
        ) from error


def _with_kept(text: str, calls: list[ToolCall], kept: Iterable[Mapping[str, Any]]) -> list[ModelResponsePart]:
    """Return the parts of an answer in their order. Kept data of a text or call is dropped if hooks have changed it."""
    parts: list[ModelResponsePart] = []
    for item in kept:
        kind = item["part_kind"]
        if kind == "tool-call":
            call = next((call for call in calls if call.id == item["tool_call_id"]), None)
            if call is not None:
                calls.remove(call)
                parts.append(_call(call, **_matching(item, [call.name, call.args])))
        elif kind == "text":
            if text:
                parts.append(TextPart(text, **_matching(item, text)))
            text = ""
        else:
            data = json.dumps([{"kind": "response", "parts": [item]}])
            parts += ModelMessagesTypeAdapter.validate_json(data)[0].parts  # type: ignore[arg-type]
    if text:
        first = next((n for n, part in enumerate(parts) if isinstance(part, ToolCallPart)), len(parts))
        parts.insert(first, TextPart(text))
    return [*parts, *map(_call, calls)]


def _matching(item: Mapping[str, Any], content: Any) -> dict[str, Any]:
    return {name: thaw(item.get(name)) for name in _OF_PART} if item["digest"] == _digest(content) else {}


def _call(call: ToolCall, **kept: Any) -> ToolCallPart:
    return ToolCallPart(sent_name(call.name), whole(thaw(dict(call.args))), call.id, **kept)


def _digest(content: Any) -> str:
    return sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def asked_for(request: inference.ModelRequest, model: Model) -> ModelRequestParameters:
    """Return the tools that the model may use, and the required form of its answer.

    An answer with a schema is requested in the best way that the model supports: structured output, a tool call, or
    instructions. Raises ``DriverError`` for a ``response_format`` that is no JSON Schema of an object, and for tools
    that the model could not tell apart.
    """
    own_names(request.tools)
    tools = [
        ToolDefinition(
            name=sent_name(tool["name"]),
            description=tool["description"],
            parameters_json_schema=thaw(dict(tool["parameters"])),
        )
        for tool in request.tools
    ]
    schema = request.response_format
    if schema is None:
        return ModelRequestParameters(function_tools=tools)
    if not isinstance(schema, dict) or schema.get("type") != "object":
        raise DriverError(f'A response_format is a JSON Schema with "type": "object", not {schema!r:.200}.')
    schema = thaw(schema)
    mode: OutputMode = "auto"
    # A combination of models has no profile: each of them chooses.
    with suppress(NotImplementedError):
        otherwise: OutputMode = "tool" if model.profile.get("supports_tools", True) else "prompted"
        mode = "native" if model.profile.get("supports_json_schema_output", False) else otherwise
    output_tool = ToolDefinition(
        name=OUTPUT_TOOL, description="Give your answer.", parameters_json_schema=schema, kind="output"
    )
    return ModelRequestParameters(
        function_tools=tools,
        output_mode=mode,
        output_object=OutputObjectDefinition(schema),
        output_tools=[output_tool] if mode in ("tool", "auto") else [],
        allow_text_output=mode in ("native", "prompted"),
    )


# -- from the model ----------------------------------------------------------------------------------------------------


def response_of(
    answer: ModelResponse, parameters: ModelRequestParameters, names: Mapping[str, str] = FrozenDict()
) -> inference.ModelResponse:
    """Return the model's answer with tool names restored by ``names``. Raises ``DriverError`` for an invalid form."""
    if answer.state == "suspended":
        raise DriverError("The model has paused its answer, and this driver cannot let it go on.")
    output_tools = {tool.name for tool in parameters.output_tools}
    parts = [part for part in answer.parts if isinstance(part, ToolCallPart)]
    outputs = [part for part in parts if part.tool_name in output_tools]
    calls = tuple(
        ToolCall(names.get(part.tool_name, part.tool_name), _args(part), id=part.tool_call_id)
        for part in parts
        if part not in outputs
    )
    reason = "tool_calls" if answer.finish_reason == "tool_call" else answer.finish_reason or ""
    content: Any = answer.text
    if not calls and parameters.output_mode != "text":
        if len(outputs) > 1:
            raise DriverError("The model has given several answers where one was asked for.")
        if outputs:
            content = outputs[0].args
            reason = "stop" if reason == "tool_calls" else reason
        if not isinstance(content, dict) and (outputs or reason not in _CUT_OFF):
            content = _parsed(content or "")
    return inference.ModelResponse(
        content=content,
        tool_calls=calls,
        usage=usage_of(answer),
        finish_reason=reason,
        model=answer.model_name or "",
        metadata=_kept(answer, calls) if calls else {},
    )


def usage_of(answer: ModelResponse) -> Usage:
    """Return the usage of an answer."""
    used = answer.usage
    return Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cached_tokens=used.cache_read_tokens,
        reasoning_tokens=used.output_reasoning_tokens,
    )


def _args(part: ToolCallPart) -> dict[str, Any]:
    """Return the arguments of a call; the tool refuses a value that is no JSON object."""
    try:
        return part.args_as_dict(raise_if_invalid=True)
    except (ValueError, AssertionError):
        return {"arguments": part.args}


def _parsed(text: str) -> dict[str, Any]:
    """Parse a JSON object, also in a fenced block, as models without structured output may write it."""
    fenced = _FENCED.fullmatch(text)
    try:
        found = read_json(fenced[1] if fenced else text)
    except BadJSONError as error:
        raise DriverError(f"The model's answer is not the JSON object that was asked for: it {error}.") from error
    if isinstance(found, dict):
        return found
    raise DriverError(f"The model's answer is not the JSON object that was asked for, but a {type(found).__name__}.")


def _kept(answer: ModelResponse, calls: Sequence[ToolCall]) -> dict[str, Any]:
    """Return data that the provider needs back: thoughts, signatures, ids; with digests of texts and calls."""
    data = ModelMessagesTypeAdapter.dump_python([answer], mode="json", exclude_none=True)[0]
    known = {call.id: call for call in calls}
    is_one_text = [part["part_kind"] for part in data["parts"]].count("text") == 1
    parts, is_needed = [], False
    for part in data["parts"]:
        kind = part["part_kind"]
        extras = {name: part[name] for name in _OF_PART if name in part}
        if kind == "tool-call":
            call = known.get(part["tool_call_id"])
            if call is None:  # the call of the output tool, which other calls preceded
                continue
            kept = {"part_kind": kind, "tool_call_id": call.id, "digest": _digest([call.name, call.args]), **extras}
        elif kind == "text":
            # Several texts go back as one, at the position of the first.
            kept = {"part_kind": kind, "digest": _digest(answer.text), **(extras if is_one_text else {})}
        else:
            kept, is_needed = part, True
        is_needed = is_needed or not extras.keys() <= {"provider_name"}
        parts.append(kept)
    return {KEPT: {"parts": parts, **{name: data[name] for name in _OF_ANSWER if name in data}}} if is_needed else {}


# -- rules of providers: results follow their calls, tool names are plain, text has no lone surrogates -----------------


def with_results(messages: Iterable[Message]) -> list[Message]:
    """Return a conversation in which each answer is followed by the results of its calls, in the order of the calls,
    and then by other messages.

    A call without a result gets a substitute, and a call without an id gets one. Raises ``DriverError`` for a result
    without its call in the answer before it.
    """
    given, found = list(messages), list[Message]()
    starts = [index for index, message in enumerate(given) if message.role == "assistant"]
    for start, end in pairwise((0, *starts, len(given))):
        part = given[start:end]
        results = [message for message in part if message.role == "tool"]
        if part and part[0].role == "assistant":
            found += _settled(part[0], results, start)
        if results:
            raise DriverError(
                f"The result of the call {results[0].tool_call_id!r} stands in the conversation without that call in "
                "the answer before it: a hook that takes messages out takes out both, or neither."
            )
        found += [message for message in part if message.role not in ("assistant", "tool")]
    return found


def _settled(answer: Message, results: list[Message], position: int) -> list[Message]:
    """Return an answer with its results, removed from ``results``."""
    calls, ours = [], []
    for number, call in enumerate(answer.tool_calls):
        result = next((result for result in results if result.tool_call_id == call.id), None)
        if result is None:
            result = Message(role="tool", content=CUT_SHORT, metadata={"is_error": True})
        else:
            results.remove(result)
        calls.append(call if call.id else call.replace(id=f"call_{position}_{number}"))
        ours.append(result.replace(name=call.name, tool_call_id=calls[-1].id))
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
