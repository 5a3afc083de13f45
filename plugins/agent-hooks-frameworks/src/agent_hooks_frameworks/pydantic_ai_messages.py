"""Between pydantic-ai's arguments and messages, and those of hooks."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Union

from pydantic import TypeAdapter
from pydantic_ai.messages import (
    InstructionPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)
from pydantic_core import to_json, to_jsonable_python

from agent_hooks.errors import RunError
from agent_hooks.model import inference
from agent_hooks.model.snapshot import as_text
from agent_hooks.model.state import Message
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import thaw, written
from agent_hooks.runtime.drivers.pydantic_ai_messages import conversation, usage_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic_ai.messages import ModelMessage, ModelResponsePart
    from pydantic_ai.models import ModelRequestContext

# -- arguments of tools ------------------------------------------------------------------------------------------------

_ATOMS = frozenset({str, int, float, bool, type(None)})
_MISSING = object()


def shown(args: Mapping[str, Any], sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return validated arguments as hooks see them, who get no object of the tool: as plain JSON. ``sent``: the
    arguments as the model sent them.
    """
    is_one = len(args) == 1 and not args.keys() & sent.keys()  # one object, whose fields the model sent
    return {name: shown_value(value, sent if is_one else sent.get(name, _MISSING)) for name, value in args.items()}


def shown_value(value: Any, sent: Any) -> Any:
    """Return a value as plain JSON; as the model sent it, if that hides or loses something of it, as of a secret."""
    if _is_plain(value):
        return value
    try:
        found = to_jsonable_python(value)
        if isinstance(value, (set, frozenset)):
            found = sorted(found, key=to_json)  # the same in each process, for approvals
        if _adapter(_type_of(value)).validate_json(to_json(found)) == value:
            return found
    except Exception:  # noqa: BLE001 - of a type that knows no JSON, or of a validator that is the tool's own
        found = written(value)
    return found if sent is _MISSING else sent


def restored(args: Mapping[str, Any], given: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments that hooks changed for the tool. ``given``: those that they were shown, ``own``: the tool's.

    Raises ``RunError`` for a value that is not of the type of the tool's.
    """
    return {name: restored_value(name, value, given.get(name, _MISSING), own.get(name)) for name, value in args.items()}


def restored_value(name: str, value: Any, given: Any, own: Any) -> Any:
    """Return one argument that hooks may have changed. Raises ``RunError``."""
    value = thaw(value)
    if given is not _MISSING and value == given:
        return own
    if _is_plain(own):
        return value
    try:
        return _adapter(_type_of(own)).validate_json(to_json(value))
    except Exception as error:
        raise RunError(f"Not run: hooks changed {name!r} to a value that is no {type(own).__name__}.") from error


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is list:
        return all(map(_is_plain, value))
    if kind is dict:
        return all(type(key) is str and _is_plain(item) for key, item in value.items())
    return kind in _ATOMS


def _type_of(value: Any) -> Any:
    """Return the type of a value, with those of its items."""
    kind: Any = type(value)
    if kind in (list, set, frozenset) and value:
        return kind[_union(value)]
    if kind is tuple and value:
        return tuple[(*map(_type_of, value),)]  # type: ignore[misc]
    return dict[_union(value), _union(value.values())] if kind is dict and value else kind  # type: ignore[misc]


def _union(items: Any) -> Any:
    return Union[tuple(dict.fromkeys(map(_type_of, items)))]  # noqa: UP007 - of types that are known only now


@lru_cache(256)
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


# -- requests ----------------------------------------------------------------------------------------------------------


def request_of(asked: ModelRequestContext) -> inference.ModelRequest:
    """Return a request to the model for hooks."""
    parameters = asked.model_request_parameters
    instructions = [part.content for part in parameters.instruction_parts or ()]
    return inference.ModelRequest(
        model=asked.model.model_name,
        system_prompt="\n\n".join(instructions),
        messages=tuple(ours for message in asked.messages for ours in _messages(message)),
        tools=tuple(
            {"name": tool.name, "description": tool.description or "", "parameters": tool.parameters_json_schema}
            for tool in parameters.function_tools
        )
        + tuple({"name": name, "description": "", "parameters": {}} for name in hosted_tools(asked)),
        settings=dict(asked.model_settings or {}),
    )


def hosted_tools(asked: ModelRequestContext) -> list[str]:
    """Return the names of the tools that the provider runs. The search for tools is none that does anything."""
    native = asked.model_request_parameters.native_tools
    return [tool.unique_id for tool in native if tool.kind != "tool_search"]


def _messages(message: ModelMessage) -> Iterator[Message]:
    if isinstance(message, ModelResponse):
        yield Message(role="assistant", content=message.text or "", tool_calls=_calls(message))
        return
    for part in message.parts:
        if isinstance(part, SystemPromptPart):
            yield Message(role="system", content=part.content)
        elif isinstance(part, UserPromptPart):
            yield Message(role="user", content=part.content)
        elif isinstance(part, ToolReturnPart):
            text = part.model_response_str()
            yield Message(role="tool", content=text, name=part.tool_name, tool_call_id=part.tool_call_id)
        else:  # a request to try again
            yield Message(role="user", content=part.model_response())  # type: ignore[union-attr]


def changed_request(
    asked: ModelRequestContext, given: inference.ModelRequest, request: inference.ModelRequest
) -> ModelRequestContext:
    """Return the request as hooks changed it. Raises ``RunError`` for a change that pydantic-ai does not allow."""
    if request is given:
        return asked
    messages, kept = asked.messages, len(given.messages)
    if request.messages[:kept] == given.messages:
        messages = [*messages, *conversation(inference.ModelRequest(messages=request.messages[kept:]))]
    else:
        messages = conversation(inference.ModelRequest(messages=request.messages))
    parameters = asked.model_request_parameters
    if request.system_prompt != given.system_prompt:
        parameters = replace(parameters, instruction_parts=[InstructionPart(request.system_prompt)])
    if request.tools != given.tools:
        names = {tool["name"] for tool in request.tools}
        tools = [tool for tool in parameters.function_tools if tool.name in names]
        native = [tool for tool in parameters.native_tools if tool.unique_id in names or tool.kind == "tool_search"]
        if len(tools) + len(names.intersection(hosted_tools(asked))) != len(request.tools):
            raise RunError("Hooks can take tools from a request of pydantic-ai, and neither add nor change them.")
        parameters = replace(parameters, function_tools=tools, native_tools=native)
    if request.model != given.model or request.response_format is not None:
        raise RunError("Hooks cannot change the model or the response_format of a request of pydantic-ai.")
    settings: Any = thaw(dict(request.settings)) if request.settings != given.settings else asked.model_settings
    return replace(asked, messages=messages, model_request_parameters=parameters, model_settings=settings)


# -- responses ---------------------------------------------------------------------------------------------------------


def response_of(answer: ModelResponse) -> inference.ModelResponse:
    """Return a response for hooks: its text, and all its calls, also those of output tools."""
    reason = "tool_calls" if answer.finish_reason == "tool_call" else answer.finish_reason or ""
    return inference.ModelResponse(
        content=answer.text or "",
        tool_calls=_calls(answer),
        usage=usage_of(answer),
        finish_reason=reason,
        model=answer.model_name or "",
    )


def _calls(answer: ModelResponse) -> tuple[ToolCall, ...]:
    return tuple(ToolCall(part.tool_name, sent_args(part), id=part.tool_call_id) for part in answer.tool_calls)


def sent_args(part: ToolCallPart) -> dict[str, Any]:
    """Return the arguments of a call as the model sent them."""
    try:
        return part.args_as_dict(raise_if_invalid=True)
    except (ValueError, AssertionError):
        return {"arguments": part.args}


def changed_response(
    answer: ModelResponse, given: inference.ModelResponse, ours: inference.ModelResponse
) -> ModelResponse:
    """Return a response as hooks changed it. Thoughts, which may quote a text that they changed, go with it."""
    old = {call.id: call for call in given.tool_calls}
    new = {call.id: call for call in ours.tool_calls}
    is_same = ours.content == given.content
    text = "" if is_same else as_text(ours.content)
    parts: list[ModelResponsePart] = [TextPart(text)] if text else []
    for part in answer.parts:
        if not isinstance(part, ToolCallPart):
            parts += [part] if is_same else []
        elif (call := new.pop(part.tool_call_id, None)) is not None:
            is_kept = call == old[part.tool_call_id]
            parts.append(part if is_kept else ToolCallPart(call.name, thaw(dict(call.args)), call.id))
    parts += [ToolCallPart(call.name, thaw(dict(call.args)), call.id) for call in new.values()]
    return replace(answer, parts=parts or [TextPart("")])


def with_text(answer: ModelResponse, text: str) -> ModelResponse:
    """Return a response with another text."""
    ours = response_of(answer)
    return answer if text == ours.content else changed_response(answer, ours, ours.replace(content=text))
