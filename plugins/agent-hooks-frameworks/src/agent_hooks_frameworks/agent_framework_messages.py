"""Messages, requests and responses of Microsoft Agent Framework, as hooks see them, and back."""

from __future__ import annotations

import json
from copy import copy
from typing import TYPE_CHECKING, Any, TypeVar

from agent_framework import Content, FunctionTool, Message, ResponseStream

from agent_hooks.errors import RunError
from agent_hooks.model import inference, state
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import thaw

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from agent_framework import AgentResponseUpdate, ChatResponse, ChatResponseUpdate
Part = TypeVar("Part", bound="Message | AgentResponseUpdate")


class AskedRequest:
    """A request to the model as it is before its hooks: messages, and options as a mapping."""

    def __init__(self, messages: Sequence[Message], options: Mapping[str, Any]) -> None:
        self.messages = list(messages)
        self.options = options
        self.parts: list[tuple[state.Message, Message]] = []
        self.settings = {key: value for key, value in options.items() if type(value) in (str, int, float, bool)}
        for key in ("model", "instructions"):
            self.settings.pop(key, None)

    def request(self) -> inference.ModelRequest:
        """Return it for hooks."""
        self.parts = [pair for message in self.messages for pair in _parts(message)]
        return inference.ModelRequest(
            model=self.options.get("model") or "",
            system_prompt=self.options.get("instructions") or "",
            messages=tuple(ours for ours, _theirs in self.parts),
            tools=tuple(
                {"name": tool.name, "description": tool.description or "", "parameters": tool.parameters()}
                for tool in self._tools()
            )
            + tuple({"name": name, "description": "", "parameters": {}} for name in self.hosted()),
            settings=self.settings,
        )

    def changed(
        self, given: inference.ModelRequest, request: inference.ModelRequest
    ) -> tuple[list[Message], Mapping[str, Any], list[Message]]:
        """Return messages and options as hooks changed them, and the messages that they added.

        Raises ``RunError`` for a change that the framework does not allow.
        """
        if request is given:
            return list(self.messages), self.options, []
        kept = len(given.messages)
        new = [_message(message) for message in request.messages[kept:]]
        messages = [*self.messages, *new]
        if request.messages[:kept] != given.messages:
            known = list(self.parts)
            messages, new = [], []
            for ours in request.messages:
                place = next((index for index, pair in enumerate(known) if pair[0] == ours), None)
                messages.append(_message(ours) if place is None else known.pop(place)[1])
        options: dict[str, Any] = dict(self.options)
        names = (("model", "model"), ("system_prompt", "instructions"), ("response_format", "response_format"))
        for ours_name, theirs_name in names:
            if (value := getattr(request, ours_name)) != getattr(given, ours_name):
                options[theirs_name] = value
        if request.settings != given.settings:
            options = {key: value for key, value in options.items() if key not in self.settings}
            options |= thaw(dict(request.settings))
        if request.tools != given.tools:
            left = [tool["name"] for tool in request.tools]
            if any(tool not in given.tools for tool in request.tools):
                raise RunError("Hooks can take tools from a request of the framework, and neither add nor change them.")
            tools = [each for each in self.options.get("tools") or () if _name(each) in left]
            options["tools"] = tools
        return messages, options, new

    def hosted(self) -> list[str]:
        """Return the names of the tools that the provider runs."""
        return [_name(tool) for tool in self.options.get("tools") or () if not isinstance(tool, FunctionTool)]

    def _tools(self) -> list[FunctionTool]:
        return [tool for tool in self.options.get("tools") or () if isinstance(tool, FunctionTool)]


def _name(tool: Any) -> str:
    if isinstance(tool, dict):
        return str(tool.get("name") or tool.get("type") or "")
    return str(getattr(tool, "name", None) or type(tool).__name__)


def _parts(message: Message) -> Iterator[tuple[state.Message, Message]]:
    """Return the messages for hooks that a message consists of, each with the message that it stands for."""
    results = [content for content in message.contents if content.type == "function_result"]
    for content in results:
        text = readable(content.result if content.result is not None else content.items)
        ours = state.Message(role="tool", content=text, tool_call_id=content.call_id or "")
        yield ours, (message if len(message.contents) == 1 else Message(role=message.role, contents=[content]))
    others = [content for content in message.contents if content.type != "function_result"]
    if others or not results:
        ours = state.Message(role=str(message.role), content=_text(others), tool_calls=_tool_calls(others))
        yield ours, (message if not results else Message(role=message.role, contents=others))


def _text(contents: Sequence[Content]) -> str:
    return "".join(content.text or "" for content in contents if content.type == "text")


def _tool_calls(contents: Sequence[Content]) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(content.name or "", content.parse_arguments() or {}, id=content.call_id or "")
        for content in contents
        if content.type == "function_call"
    )


def _message(ours: state.Message) -> Message:
    """Return a message of hooks for the framework."""
    if ours.role == "tool":
        contents = [Content.from_function_result(ours.tool_call_id or "", result=ours.content)]
        return Message(role="tool", contents=contents)
    text = ours.content if isinstance(ours.content, str) else json.dumps(thaw(ours.content))
    calls = [Content.from_function_call(c.id, c.name, arguments=thaw(dict(c.args))) for c in ours.tool_calls]
    return Message(role=ours.role, contents=[*([Content.from_text(text)] if text else []), *calls])


def without_text(message: Part) -> Part:
    """Return a copy of a message or an update without its text."""
    made = copy(message)
    made.contents = [content for content in message.contents if content.type != "text"]
    return made


def response_of(theirs: ChatResponse[Any]) -> inference.ModelResponse:
    """Return a response of the model for hooks."""
    contents = [content for message in theirs.messages for content in message.contents]
    usage: Mapping[str, Any] = theirs.usage_details or {}
    return inference.ModelResponse(
        content=_text(contents) or None,
        tool_calls=_tool_calls(contents),
        usage=state.Usage(
            input_tokens=usage.get("input_token_count") or 0, output_tokens=usage.get("output_token_count") or 0
        ),
        model=theirs.model or "",
    )


def changed_response(theirs: ChatResponse[Any], ours: inference.ModelResponse | None) -> ChatResponse[Any]:
    """Return a response as hooks changed it."""
    assert ours is not None
    made = copy(theirs)
    answer = state.Message(role="assistant", content=ours.content or "", tool_calls=ours.tool_calls)
    made.messages = [_message(answer)]
    return made


def stream_of(updates: Sequence[ChatResponseUpdate], response: ChatResponse[Any]) -> Any:
    """Return a stream of a response that is whole."""

    async def replayed() -> AsyncIterator[ChatResponseUpdate]:
        for update in updates:
            yield update

    return ResponseStream(replayed(), finalizer=lambda _updates: response)


def readable(result: Any) -> Any:
    """Return a tool's result for hooks: text where it is nothing else."""
    if isinstance(result, list) and result and all(isinstance(item, Content) for item in result):
        if all(item.type == "text" for item in result):
            return "\n".join(item.text or "" for item in result)
        return [item.to_dict() for item in result]
    return result
