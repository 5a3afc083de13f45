"""Conversion of conversations and tools to pydantic-ai's messages, and of its answers to responses."""

from __future__ import annotations

import hashlib
import json
import re
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

from agent_hooks.errors import BadJSONError, DriverError
from agent_hooks.model.state import Usage
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import FrozenDict, thaw
from agent_hooks.runtime import driver
from agent_hooks.runtime.messages import as_text
from agent_hooks.system.strict_json import read_json

from .provider_rules import OUTPUT_TOOL, own_names, sent_name, whole, with_results

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from pydantic_ai.messages import ModelMessage, ModelRequestPart, ModelResponsePart, UserContent
    from pydantic_ai.models import Model
    from pydantic_ai.output import OutputMode

    from agent_hooks.model.state import Message

# The key in a message's metadata for data that a provider needs back with the next request.
KEPT = "pydantic_ai"
# Fields of an answer, of its text and of its calls that go back with the message.
_OF_ANSWER = ("provider_name", "provider_url", "canonical_system", "model_name")
_OF_PART = ("id", "provider_name", "provider_details")
# Finish reasons of answers that may be incomplete.
_CUT_OFF = ("length", "content_filter", "error")
_FENCED = re.compile(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", re.DOTALL)


# -- to the model ------------------------------------------------------------------------------------------------------


def conversation(request: driver.ModelRequest) -> list[ModelMessage]:
    """Return system prompt and messages in a form that every provider accepts. Raises ``DriverError``."""
    found: list[ModelMessage] = []
    system_prompt = whole(request.system_prompt)
    parts: list[ModelRequestPart] = [SystemPromptPart(system_prompt)] if system_prompt else []
    for message in with_results(request.messages):
        if message.role != "assistant":
            parts.append(_request_part(message))
        elif answer := _answer(message):
            found += [ModelRequest(parts), answer] if parts else [answer]
            parts = []
    return [*found, ModelRequest(parts)] if parts or not found else found


def _request_part(message: Message) -> ModelRequestPart:
    """Return a prompt, a system prompt or a tool's result for the model."""
    if message.role == "user":
        return UserPromptPart(_prompt(message.content))
    if message.role == "system":
        return SystemPromptPart(_text(message))
    if message.role == "tool":
        outcome: Any = "failed" if message.metadata.get("is_error") else "success"
        return ToolReturnPart(sent_name(message.name), _text(message), message.tool_call_id, outcome=outcome)
    raise DriverError(f"The role of a message is system, user, assistant or tool, not {message.role!r}.")


def _prompt(content: Any) -> str | Sequence[UserContent]:
    """Return a prompt: text, or a list of texts, images and documents of pydantic-ai; anything else as JSON."""
    if isinstance(content, (list, tuple)) and all(isinstance(item, (str, FileUrl, BinaryContent)) for item in content):
        return [whole(item) for item in content]
    return str(whole(as_text(content)))


def _text(message: Message) -> str:
    return str(whole(as_text(message.content)))


def _answer(message: Message) -> ModelResponse | None:
    """Return an answer of the model to send back, None for an empty one."""
    kept = message.metadata.get(KEPT)
    text, calls = _text(message), list(message.tool_calls)
    if kept is None:
        parts: list[ModelResponsePart] = [TextPart(text)] if text else []
        parts += [_call(call) for call in calls]
        return ModelResponse(parts) if parts else None
    try:
        return ModelResponse(
            _with_kept(text, calls, kept["parts"]), **{name: kept[name] for name in _OF_ANSWER if name in kept}
        )
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
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode()).hexdigest()


def asked_for(request: driver.ModelRequest, model: Model) -> ModelRequestParameters:
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
    mode = _output_mode(model)
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


def _output_mode(model: Model) -> OutputMode:
    try:
        profile = model.profile
    except NotImplementedError:  # a combination of models, each of which chooses
        return "auto"
    if profile.get("supports_json_schema_output", False):
        return "native"
    return "tool" if profile.get("supports_tools", True) else "prompted"


# -- from the model ----------------------------------------------------------------------------------------------------


def response_of(
    answer: ModelResponse, parameters: ModelRequestParameters, names: Mapping[str, str] = FrozenDict()
) -> driver.ModelResponse:
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
            given = outputs[0].args
            content = given if isinstance(given, dict) else _parsed(given or "")
            reason = "stop" if reason == "tool_calls" else reason
        elif reason not in _CUT_OFF:
            content = _parsed(content or "")
    return driver.ModelResponse(
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
    if not isinstance(found, dict):
        raise DriverError(
            f"The model's answer is not the JSON object that was asked for, but a {type(found).__name__}."
        )
    return found


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
