"""Requests to models of the OpenAI Agents SDK under hooks. Models are changed in place, and do nothing new outside of a
run that has hooks: the SDK looks at their class.
"""

from __future__ import annotations

import json
from contextlib import aclosing
from functools import wraps
from typing import TYPE_CHECKING, Any

from agents import ItemHelpers, ModelResponse, Usage
from openai.types.responses import (
    Response,
    ResponseCompletedEvent,
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseTextDeltaEvent,
)

from agent_hooks.errors import RefusedError, RunError
from agent_hooks.model import inference, state
from agent_hooks.model.events import HookEvent
from agent_hooks.model.snapshot import as_text
from agent_hooks.model.state import Message
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import thaw

from .openai_agents_tools import Calls, current, guard, plain
from .stepwise import Stepwise, Stop

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator

    from agents import TResponseInputItem

    from agent_hooks.engine.guarded_run import GuardedRun

# Items of a response that the SDK answers in this process, so it goes on.
_OWN_CALLS = frozenset(
    "function_call custom_tool_call computer_call local_shell_call shell_call apply_patch_call".split()
)
_GOES_ON = _OWN_CALLS | {"mcp_approval_request", "program"}
_PARAMETERS = ("system_instructions", "input", "model_settings", "tools", "output_schema", "handoffs", "tracing")


def guard_provider(provider: Any) -> None:
    """Put the models of a provider under hooks. That of the SDK itself is changed once, as a class."""
    if provider is None or hasattr(provider.get_model, "is_guarded"):
        return
    provider.get_model = guarded_models(provider.get_model)


def guarded_models(get_model: Callable[..., Any]) -> Callable[..., Any]:
    """Return a provider's ``get_model`` that puts each model under hooks."""

    @wraps(get_model)
    def get_guarded_model(*args: Any, **kwargs: Any) -> Any:
        model = get_model(*args, **kwargs)
        guard_model(model)
        return model

    get_guarded_model.is_guarded = True  # type: ignore[attr-defined]
    return get_guarded_model


def guard_model(model: Any) -> None:
    """Put a model under hooks, in place: the SDK looks at the class of models."""
    if hasattr(model.get_response, "is_guarded"):
        return
    respond, stream = model.get_response, model.stream_response

    @wraps(respond)
    async def get_response(*args: Any, **kwargs: Any) -> Any:
        at_work = current()
        if at_work is None:
            return await respond(*args, **kwargs)
        request = _Request(*at_work, model, dict(zip(_PARAMETERS, args, strict=False)) | kwargs)
        return await request.make(respond)

    @wraps(stream)
    async def stream_response(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        at_work = current()
        if at_work is None:
            events = stream(*args, **kwargs)
        else:
            request = _Request(*at_work, model, dict(zip(_PARAMETERS, args, strict=False)) | kwargs)
            events = request.stream(stream)
        async with aclosing(events):
            async for event in events:
                yield event

    get_response.is_guarded = True  # type: ignore[attr-defined]
    model.get_response, model.stream_response = get_response, stream_response


class _Request:
    """A request to a model under hooks. ``options``: the parameters of ``Model.get_response``."""

    def __init__(self, run: GuardedRun, calls: Calls, model: Any, options: dict[str, Any]) -> None:
        self.run, self.calls, self.options = run, calls, options
        self.model = str(getattr(model, "model", "") or type(model).__name__)
        self.given = _request(self.model, options) if run.wants_model else inference.ModelRequest(model=self.model)
        self.used: list[Usage] = []
        self.theirs: Any = None
        self.ours = inference.ModelResponse()
        calls.ending = None
        # A computer is made after the tools were collected.
        run.owner.hosted([tool.name for tool in options["tools"] if not guard(tool)])

    def _receive(self, theirs: Any) -> inference.ModelResponse:
        self.theirs = theirs
        self.used.append(theirs.usage)
        self.ours = (
            _our_response(theirs, self.model)
            if self.run.wants_model
            else inference.ModelResponse(usage=_our_usage(theirs.usage), model=self.model)
        )
        return self.ours

    async def make(self, respond: Callable[..., Any]) -> ModelResponse:
        """Send it, and return the response as judged by hooks."""

        async def ask(request: inference.ModelRequest) -> inference.ModelResponse:
            return self._receive(await respond(**_changed(self.options, self.given, request)))

        use = await self.run.model(self.given, ask)
        return await self._judged(use.response)

    async def _judged(self, ours: Any) -> ModelResponse:
        """Return the response, and end the run with it if it is the answer. Raises ``RefusedError``."""
        theirs: ModelResponse = self.theirs
        if ours is not self.ours:
            theirs.output = _output(ours)
        if len(self.used) > 1:
            theirs.usage = Usage()
            for used in self.used:
                theirs.usage.add(used)
        text = _answer(theirs) if self.options["output_schema"] is None else ""
        if text:
            ending = self.calls.ending = await self.run.end(text)
            if ending.again is None and ending.output is None:
                raise RefusedError(ending.reason, str(HookEvent.BEFORE_OUTPUT))
            if ending.again is None and ending.output != text:
                theirs.output = [_message(as_text(ending.output))]
        return theirs

    async def stream(self, stream: Callable[..., Any]) -> AsyncGenerator[Any, None]:
        """Send it, and yield the events: as they come, or as soon as hooks have judged the whole response."""
        listens = self.run.hooks.listens
        is_held = any(map(listens, (HookEvent.AFTER_INFERENCE, HookEvent.BEFORE_OUTPUT, HookEvent.AFTER_SUBAGENT)))
        held: list[Any] = []

        async def ask(request: inference.ModelRequest) -> inference.ModelResponse:
            held.clear()
            response, done = None, []
            async with aclosing(stream(**_changed(self.options, self.given, request))) as events:
                async for event in events:
                    if event.type == "response.output_item.done":
                        done.append(event.item)
                    elif isinstance(event, ResponseCompletedEvent):
                        response = event.response
                        response.output = response.output or done
                    if is_held:
                        held.append(event)
                    else:
                        await Stop(event)
            if response is None:
                raise RunError("The stream of the model ended without a response.")
            return self._receive(ModelResponse(response.output, _usage(response), response.id))

        steps = Stepwise(self.run.model(self.given, ask))
        shown = False
        async with aclosing(steps.values()) as values:
            async for event in values:
                shown = True
                yield event
        before = self.theirs.output
        response = await self._judged(steps.result.response)
        if response.output is not before and not shown:
            held = list(_changed_events(response.output, held))
        for event in held:
            yield event


def _changed_events(output: list[Any], events: list[Any]) -> Iterator[Any]:
    """Return the events of a response that hooks changed."""
    last: Response = next(event.response for event in events if isinstance(event, ResponseCompletedEvent))
    numbers = iter(range(len(output) + 1))
    for index, item in enumerate(output):
        if isinstance(item, ResponseOutputMessage):
            yield ResponseTextDeltaEvent(
                content_index=0,
                delta=ItemHelpers.extract_last_text(item) or "",
                item_id=item.id,
                logprobs=[],
                output_index=index,
                sequence_number=next(numbers),
                type="response.output_text.delta",
            )
    last = last.model_copy(update={"output": output})
    yield ResponseCompletedEvent(response=last, sequence_number=next(numbers), type="response.completed")


# -- between their messages and ours -----------------------------------------------------------------------------------


def content_of(item: Any) -> Any:
    """Return the content of a message: its text, if it is nothing else."""
    content = item.get("content")
    if isinstance(content, list) and all("text" in part for part in content):
        return "\n".join(part["text"] for part in content)
    return content if isinstance(content, str) else thaw(content)


def _items(options: dict[str, Any]) -> list[Any]:
    given = options["input"]
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given)


def _request(model: str, options: dict[str, Any]) -> inference.ModelRequest:
    """Return a request to the model for hooks."""
    settings = options["model_settings"]
    return inference.ModelRequest(
        model=model,
        system_prompt=options["system_instructions"] or "",
        messages=tuple(_our_message(item) for item in _items(options)),
        tools=tuple(
            {
                "name": tool.name,
                "description": getattr(tool, "description", None) or "",
                "parameters": getattr(tool, "params_json_schema", None) or {},
            }
            for tool in options["tools"]
        ),
        settings={name: value for name, value in settings.to_json_dict().items() if value is not None},
    )


def _our_message(given: Any) -> Message:
    item = plain(given)
    kind = item.get("type") or "message"
    if kind == "message":
        role = item.get("role") or "user"
        return Message(role="system" if role == "developer" else role, content=content_of(item))
    if kind in _OWN_CALLS:
        return Message(role="assistant", content="", tool_calls=(_our_call(item),))
    if kind.endswith("_output"):
        return Message(role="tool", content=as_text(item.get("output")), tool_call_id=item.get("call_id") or "")
    return Message(role="assistant", content=as_text({"type": kind}))  # reasoning, and tools of the provider


def _our_call(item: Any) -> ToolCall:
    given = item.get("arguments") or item.get("input") or item.get("action") or item.get("operation") or {}
    try:
        args = json.loads(given) if isinstance(given, str) else given
    except ValueError:
        args = given
    name = item.get("name") or item["type"].removesuffix("_call")
    return ToolCall(name, args if isinstance(args, dict) else {"input": args}, id=item.get("call_id") or "")


def _our_response(theirs: ModelResponse, model: str) -> inference.ModelResponse:
    items = [plain(item) for item in theirs.output]
    calls = tuple(_our_call(item) for item in items if item.get("type") in _OWN_CALLS)
    return inference.ModelResponse(
        content=_text_of(theirs),
        tool_calls=calls,
        usage=_our_usage(theirs.usage),
        finish_reason="tool_calls" if calls else "stop",
        model=model,
    )


def _our_usage(used: Usage) -> state.Usage:
    return state.Usage(
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cached_tokens=used.input_tokens_details.cached_tokens or 0,
        reasoning_tokens=used.output_tokens_details.reasoning_tokens or 0,
    )


def _text_of(theirs: ModelResponse) -> str:
    texts = [ItemHelpers.extract_text(item) for item in theirs.output if isinstance(item, ResponseOutputMessage)]
    return "\n".join(text for text in texts if text)


def _answer(theirs: ModelResponse) -> str:
    """Return the text of a response that ends the run; an empty string of one with which the run goes on."""
    return "" if any(plain(item).get("type") in _GOES_ON for item in theirs.output) else _text_of(theirs)


def _changed(options: dict[str, Any], given: inference.ModelRequest, request: inference.ModelRequest) -> dict[str, Any]:
    """Return the parameters as hooks changed them. Raises ``RunError`` for a change that the SDK does not allow."""
    if request is given:
        return options
    items = _items(options)
    kept = len(given.messages)
    if request.messages[:kept] == given.messages:
        changes: dict[str, Any] = {"input": [*items, *map(_their_message, request.messages[kept:])]}
    else:
        changes = {"input": _replaced(items, given.messages, request.messages)}
    if request.system_prompt != given.system_prompt:
        changes["system_instructions"] = request.system_prompt
    if request.tools != given.tools:
        names = {tool["name"] for tool in request.tools}
        changes["tools"] = [tool for tool in options["tools"] if tool.name in names]
        if len(changes["tools"]) != len(request.tools):
            raise RunError("Hooks can take tools from a request of the Agents SDK, and neither add nor change them.")
    if request.model != given.model or request.response_format is not None or request.settings != given.settings:
        raise RunError("Hooks cannot change model, settings or response_format of a request of the Agents SDK.")
    return options | changes


def _replaced(items: list[Any], before: tuple[Message, ...], after: tuple[Message, ...]) -> list[Any]:
    """Return the items of a conversation that hooks changed: those that they left are the SDK's own."""
    known = list(zip(before, items, strict=True))
    found: list[Any] = []
    for message in after:
        own = next((item for ours, item in known if ours == message), None)
        if own is None and message.role in ("tool", "assistant") and (message.tool_calls or message.role == "tool"):
            raise RunError("Hooks can leave out and reword messages of the Agents SDK, but no calls and results.")
        found.append(_their_message(message) if own is None else own)
    return found


def _their_message(message: Message) -> TResponseInputItem:
    item: Any = {"role": message.role, "content": as_text(message.content)}
    return item  # type: ignore[no-any-return]


def _message(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(text=text, type="output_text", annotations=[])
    return ResponseOutputMessage(id="msg_hooks", type="message", role="assistant", content=[part], status="completed")


def _output(ours: inference.ModelResponse) -> list[Any]:
    """Return the items of a response that hooks changed."""
    found: list[Any] = [_message(as_text(ours.content))] if ours.content else []
    for call in ours.tool_calls:
        arguments = json.dumps(thaw(dict(call.args)))
        found.append(
            ResponseFunctionToolCall(arguments=arguments, call_id=call.id, name=call.name, type="function_call")
        )
    return found


def _usage(response: Response) -> Usage:
    used = response.usage
    if used is None:
        return Usage()
    return Usage(
        requests=1,
        input_tokens=used.input_tokens,
        input_tokens_details=used.input_tokens_details,
        output_tokens=used.output_tokens,
        output_tokens_details=used.output_tokens_details,
        total_tokens=used.total_tokens,
    )
