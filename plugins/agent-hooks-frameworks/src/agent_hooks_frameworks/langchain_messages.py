"""Conversion between LangChain's messages and ours."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    HumanMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.runnables.config import ensure_config, var_child_runnable_config
from langgraph.types import Command

from agent_hooks.errors import RefusedError, RunError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.inference import ModelRequest, ModelResponse
from agent_hooks.model.state import Message, Usage
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import thaw

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from agent_hooks.engine.foreign_calls import Ending, ToolUse

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool"}


def ours(message: BaseMessage) -> Message:
    """Return a message for hooks."""
    content = message.content if isinstance(message.content, str) else str(message.text)
    fields: dict[str, Any] = {"role": _ROLES.get(message.type, "user"), "content": content, "name": message.name or ""}
    if isinstance(message, AIMessage):
        fields["tool_calls"] = tuple(ToolCall(c["name"], c["args"], id=c["id"] or "") for c in message.tool_calls)
    elif isinstance(message, ToolMessage):
        fields["tool_call_id"] = message.tool_call_id
    return Message(**fields)


def theirs(message: Message, kept: BaseMessage | None = None) -> BaseMessage:
    """Return a message for the model; ``kept`` is the one that hooks changed, if it is the same but for its text."""
    if kept is not None and ours(kept).replace(content=message.content) == message:
        return kept.model_copy(update={"content": _with_text(kept, message.content)})
    text = str(message.content)
    if message.role == "assistant":
        calls = [{"name": c.name, "args": thaw(dict(c.args)), "id": c.id} for c in message.tool_calls]
        return AIMessage(text, tool_calls=calls)
    if message.role == "tool":
        return ToolMessage(text, tool_call_id=message.tool_call_id, name=message.name or None)
    return SystemMessage(text) if message.role == "system" else HumanMessage(text)


def _with_text(message: BaseMessage, text: Any) -> Any:
    """Return the content of a message with another text: images and the like stay."""
    if isinstance(message.content, str):
        return text
    others = [part for part in message.content if isinstance(part, dict) and part.get("type") != "text"]
    return [{"type": "text", "text": text}, *others]


# -- the input of a graph ----------------------------------------------------------------------------------------------


def with_prompt(given: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return the prompt in the input of a graph, None if it has none, and the function that replaces it there."""
    messages = given.get("messages") if isinstance(given, dict) else None
    messages = convert_to_messages(messages if isinstance(messages, list) else [messages]) if messages else []
    if not messages or not isinstance(messages[-1], HumanMessage):
        return None, lambda _prompt: given
    last = messages[-1]

    def placed(prompt: Any) -> Any:
        return {**given, "messages": [*messages[:-1], last.model_copy(update={"content": _with_text(last, prompt)})]}

    return last.content if isinstance(last.content, str) else str(last.text), placed


# -- requests to the model ---------------------------------------------------------------------------------------------


class Asked:
    """A request to the model. ``given``: as hooks see it, ``whole`` if any looks; ``added``: the messages that hooks
    put behind it; ``theirs`` and ``ours``: the last response.
    """

    def __init__(self, request: Any, *, whole: bool) -> None:
        self.request = request
        self.added: list[BaseMessage] = []
        self.theirs: Any = None
        self.ours = ModelResponse()
        self.is_whole = whole
        self.given = _request(request) if whole else ModelRequest()
        self.hosted = [_name(tool) for tool in request.tools if isinstance(tool, dict)]
        self._is_first = True

    def sent(self, request: ModelRequest) -> Any:
        """Return the request as hooks changed it. Raises ``RunError`` for a change that LangChain does not allow."""
        asked, given = self.request, self.given
        if request is given:
            self._is_first = False
            return asked
        kept = len(given.messages)
        pairs = list(zip(asked.messages, given.messages, strict=False)) if self.is_whole else []
        if request.messages[:kept] == given.messages:
            added = [theirs(message) for message in request.messages[kept:]]
            messages = [*asked.messages, *added]
            if self._is_first:
                self.added = added
        else:
            messages = [
                _unchanged(m, *pairs[i]) if i < len(pairs) else theirs(m) for i, m in enumerate(request.messages)
            ]
        self._is_first = False
        changes: dict[str, Any] = {"messages": messages}
        if request.system_prompt != given.system_prompt:
            changes["system_prompt"] = request.system_prompt
        if request.tools != given.tools:
            names = {tool["name"] for tool in request.tools}
            changes["tools"] = [tool for tool in asked.tools if _name(tool) in names]
            if len(changes["tools"]) != len(request.tools):
                raise RunError("Hooks can take tools from a request of LangChain, and neither add nor change them.")
        if request.model != given.model or request.response_format is not None:
            raise RunError("Hooks cannot change the model or the response_format of a request of LangChain.")
        if request.settings != given.settings:
            changes["model_settings"] = thaw(dict(request.settings))
        return asked.override(**changes)

    def answered(self, response: Any) -> ModelResponse:
        """Keep the response, and return it for hooks."""
        self.theirs = response
        message = response.result[0]
        about: dict[str, Any] = {}
        if self.is_whole:
            answer = ours(message)
            about = {"content": answer.content, "tool_calls": answer.tool_calls}
        model = str(message.response_metadata.get("model_name") or _model(self.request.model))
        self.ours = ModelResponse(usage=_usage(message), model=model, **about)
        return self.ours


def _unchanged(message: Message, kept: BaseMessage, given: Message) -> BaseMessage:
    return kept if message == given else theirs(message, kept)


def _request(request: Any) -> ModelRequest:
    return ModelRequest(
        model=_model(request.model),
        system_prompt=request.system_prompt or "",
        messages=tuple(ours(message) for message in request.messages),
        tools=tuple(
            {"name": _name(t), "description": _described(t), "parameters": _parameters(t)} for t in request.tools
        ),
        settings=dict(request.model_settings or {}),
    )


def _name(tool: Any) -> str:
    return str((tool.get("name") or tool.get("type") or "") if isinstance(tool, dict) else tool.name)


def _described(tool: Any) -> str:
    return str((tool.get("description") if isinstance(tool, dict) else tool.description) or "")


def _parameters(tool: Any) -> Any:
    return {} if isinstance(tool, dict) else {"type": "object", "properties": tool.args}


def _model(model: Any) -> str:
    return str(getattr(model, "model_name", None) or getattr(model, "model", None) or "")


def _usage(message: Any) -> Usage:
    usage = getattr(message, "usage_metadata", None) or {}
    read, thought = usage.get("input_token_details") or {}, usage.get("output_token_details") or {}
    return Usage(
        input_tokens=usage.get("input_tokens", 0),
        output_tokens=usage.get("output_tokens", 0),
        cached_tokens=read.get("cache_read", 0),
        reasoning_tokens=thought.get("reasoning", 0),
    )


def judged(response: ModelResponse | None, asked: Asked) -> Any:
    """Return the response as hooks left it."""
    if response is asked.ours or response is None:
        return asked.theirs
    first, *rest = asked.theirs.result
    changed = theirs(Message(role="assistant", content=response.content or "", tool_calls=response.tool_calls))
    kept = {"id": first.id, "name": first.name, "response_metadata": first.response_metadata}
    changed = changed.model_copy(update={**kept, "usage_metadata": first.usage_metadata})
    return replace(asked.theirs, result=[changed, *rest])


class _Closing:
    """The response that ends a run. ``output``: its text, or the structured response."""

    def __init__(self, response: Any) -> None:
        self.response = response
        structured = response.structured_response
        self.is_structured = structured is not None
        self.output: Any = str(response.result[-1].text) if structured is None else structured

    def ended(self, ending: Ending) -> Any:
        """Return the response as hooks judged it. Raises ``RefusedError`` if they withhold it."""
        output = ending.output
        if output is None:
            raise RefusedError(ending.reason, str(HookEvent.BEFORE_OUTPUT))
        if output == self.output:
            return self.response
        if self.is_structured:
            raise RunError("Hooks cannot change a structured answer of LangChain.")
        *before, last = self.response.result
        return replace(self.response, result=[*before, last.model_copy(update={"content": output})])

    def another(self, text: str) -> list[BaseMessage]:
        """Return the messages that begin another round."""
        return [*self.response.result, HumanMessage(text)]


def final_answer(response: Any) -> _Closing | None:
    """Return the answer of a run; None if the response wants tools to be called."""
    last = response.result[-1]
    is_answer = response.structured_response is not None or (isinstance(last, AIMessage) and not last.tool_calls)
    return _Closing(response) if is_answer else None


class HeldBack:
    """Keeps a response from whoever streams the run, until hooks have judged it: handlers that stream tokens are left
    out of the request's callbacks. The response itself is streamed when the model's node returns it.
    """

    def __init__(self, is_quiet: bool) -> None:
        self.is_quiet = is_quiet

    def __enter__(self) -> None:
        if not self.is_quiet:
            return
        config = ensure_config()
        manager: Any = config.get("callbacks")
        if hasattr(manager, "inheritable_handlers"):
            manager = manager.copy()
            manager.handlers = _silent(manager.handlers)
            manager.inheritable_handlers = _silent(manager.inheritable_handlers)
        elif manager:
            manager = _silent(manager)
        self._token = var_child_runnable_config.set({**config, "callbacks": manager})

    def __exit__(self, *_error: object) -> None:
        if self.is_quiet:
            var_child_runnable_config.reset(self._token)


def _silent(handlers: Sequence[Any]) -> list[Any]:
    return [handler for handler in handlers if not hasattr(handler, "tap_output_iter")]


# -- results of tools --------------------------------------------------------------------------------------------------


class ToolFailedError(Exception):
    """Stands for the error of a tool that LangChain turned into a message already."""


def text_of(result: Any) -> Any:
    """Return the result of a tool for hooks. Raises ``ToolFailedError`` for a message about an error."""
    if isinstance(result, ToolMessage):
        content: Any = result.content if isinstance(result.content, str) else thaw(result.content)
        if result.status == "error":
            raise ToolFailedError(content if isinstance(content, str) else str(result.text))
        return content
    if isinstance(result, Command):
        update = result.update if isinstance(result.update, dict) else {}
        return "\n".join(str(m.text) for m in update.get("messages", ()) if isinstance(m, BaseMessage))
    return [text_of(each) for each in result] if isinstance(result, list) else str(result)


def result_of(use: ToolUse, made: list[Any], name: str, call_id: str) -> Any:
    """Return the result of a call for the graph: the tool's own where hooks left it. Raises the tool's error."""
    error = use.exception
    if error is not None and not isinstance(error, (RunError, ToolFailedError)):
        raise error
    if (not use.is_untouched and not isinstance(error, ToolFailedError)) or (use.context and made):
        if use.is_untouched and not isinstance(made[0], ToolMessage):
            return [*(made[0] if isinstance(made[0], list) else [made[0]]), HumanMessage(use.context)]
        if use.is_untouched and not isinstance(made[0].content, str):
            content = [*made[0].content, {"type": "text", "text": use.context}]
            return made[0].model_copy(update={"content": content})
        if use.is_untouched:
            return made[0].model_copy(update={"content": use.text})
        status = "error" if use.failed else "success"
        return ToolMessage(use.text, name=name, tool_call_id=call_id, status=status)
    return made[0]
