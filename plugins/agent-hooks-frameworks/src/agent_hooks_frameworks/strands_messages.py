"""Conversion between messages of Strands and ours."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from agent_hooks.errors import RunError
from agent_hooks.model.inference import ModelRequest, ModelResponse
from agent_hooks.model.snapshot import as_text
from agent_hooks.model.state import Message, Usage
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import thaw

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from agent_hooks.engine.foreign_calls import ToolUse

# The message of an error, as Strands writes it for the model.
_ERROR = re.compile(r"Error: (?:\w+ - )?")


# -- prompts -----------------------------------------------------------------------------------------------------------


def prompt_of(prompt: Any) -> str | None:
    """Return the text of a prompt; None if it has none, as one with the answers to interrupts."""
    if isinstance(prompt, str):
        return prompt
    blocks = _blocks(prompt)
    if not blocks or any("interruptResponse" in block for block in blocks):
        return None
    return "\n".join(block["text"] for block in blocks if "text" in block)


def with_prompt(prompt: Any, text: Any) -> Any:
    """Return a prompt with another text."""
    if isinstance(prompt, str):
        return text
    kept = [block for block in _blocks(prompt) if "text" not in block]
    if "role" in prompt[-1]:
        return [*prompt[:-1], {**prompt[-1], "content": [{"text": text}, *kept]}]
    return [{"text": text}, *kept]


def _blocks(prompt: Any) -> list[Any]:
    if not isinstance(prompt, list) or not prompt:
        return []
    last = prompt[-1]
    if not isinstance(last, dict) or "role" not in last:
        return prompt
    return list(last["content"]) if last["role"] == "user" else []


# -- requests to the model ---------------------------------------------------------------------------------------------


class Asked:
    """A request to the model. ``given``: as hooks see it, empty unless ``whole``; ``message`` and ``ours``: the last
    response.
    """

    def __init__(
        self,
        stream: Callable[..., Any],
        messages: Any,
        tool_specs: Any,
        system_prompt: Any,
        kwargs: dict[str, Any],
        *,
        whole: bool,
    ) -> None:
        self._stream = stream
        self.messages = list(messages)
        self.tool_specs = tool_specs
        self.system_prompt = system_prompt
        self.kwargs = kwargs
        self.given = ModelRequest()
        self.ours = ModelResponse()
        self.message: Any = None
        self._usage: Any = None
        # Each message with those that it is for hooks.
        self._pairs = [(message, list(_ours(message))) for message in self.messages] if whole else []
        if whole:
            self.given = ModelRequest(
                system_prompt=self.system_prompt or "",
                messages=tuple(each for _, messages in self._pairs for each in messages),
                tools=tuple(
                    {
                        "name": spec["name"],
                        "description": spec["description"],
                        "parameters": spec["inputSchema"].get("json", {}),
                    }
                    for spec in self.tool_specs or ()
                ),
            )

    def stream(self, request: ModelRequest) -> AsyncIterator[Any]:
        """Send the request as hooks changed it. Raises ``RunError`` for a change that Strands does not allow."""
        given, messages, specs, prompt = self.given, self.messages, self.tool_specs, self.system_prompt
        kwargs = dict(self.kwargs)
        if request is not given:
            messages = self._changed(request)
            if request.system_prompt != given.system_prompt:
                prompt = request.system_prompt
                if "system_prompt_content" in kwargs:
                    kwargs["system_prompt_content"] = [{"text": prompt}]
            if request.tools != given.tools:
                names = {tool["name"] for tool in request.tools}
                specs = [spec for spec in specs or () if spec["name"] in names]
                if len(specs) != len(request.tools):
                    raise RunError("Hooks can take tools from a request of Strands, and neither add nor change them.")
            if (
                request.model != given.model
                or request.settings != given.settings
                or request.response_format is not None
            ):
                raise RunError("Hooks cannot change the model, settings or response_format of a request of Strands.")
        return self._stream(messages, specs, prompt, **kwargs)  # type: ignore[no-any-return]

    def _changed(self, request: ModelRequest) -> list[Any]:
        kept = len(self.given.messages)
        if request.messages[:kept] == self.given.messages:
            return _joined(self.messages, request.messages[kept:])
        left, messages = list(request.messages), []
        for theirs, ours in self._pairs:
            if left[: len(ours)] == ours:
                messages.append(theirs)
                del left[: len(ours)]
                continue
            changed = left[: len(ours)]
            if [message.replace(content="") for message in changed] != [m.replace(content="") for m in ours]:
                return _joined([], request.messages)
            messages.append(_rewritten(theirs, ours, changed))
            del left[: len(ours)]
        return _joined(messages, tuple(left))

    def answered(self, events: list[Any]) -> ModelResponse:
        """Keep the response that these events make, and return it for hooks."""
        self.message, self._usage = _message(events)
        usage = self._usage or {}
        content, calls = _parts(self.message)
        self.ours = ModelResponse(
            content=content,
            tool_calls=calls,
            usage=Usage(
                input_tokens=usage.get("inputTokens", 0),
                output_tokens=usage.get("outputTokens", 0),
                cached_tokens=usage.get("cacheReadInputTokens", 0),
            ),
        )
        return self.ours

    def judged(self, response: ModelResponse) -> Any:
        """Return the message of a response that hooks changed."""
        message = Message(role="assistant", content=response.content or "", tool_calls=response.tool_calls)
        return _theirs(message)

    def events_of(self, message: Any) -> Iterator[Any]:
        """Return the events that make a message."""
        yield {"messageStart": {"role": "assistant"}}
        has_calls = False
        for block in message["content"]:
            use = block.get("toolUse")
            start = {"toolUse": {"name": use["name"], "toolUseId": use["toolUseId"]}} if use else {}
            delta = {"toolUse": {"input": json.dumps(use["input"])}} if use else {"text": block.get("text", "")}
            has_calls = has_calls or bool(use)
            yield {"contentBlockStart": {"start": start}}
            yield {"contentBlockDelta": {"delta": delta}}
            yield {"contentBlockStop": {}}
        yield {"messageStop": {"stopReason": "tool_use" if has_calls else "end_turn"}}
        if self._usage:
            yield {"metadata": {"usage": self._usage, "metrics": {"latencyMs": 0}}}


def _message(events: list[Any]) -> tuple[Any, Any]:
    """Return the message that the events of a model make, as Strands puts it together, and the usage."""
    content: list[Any] = []
    use: Any = None
    text, arguments, usage = "", "", None
    for event in events:
        if "contentBlockStart" in event:
            use, text, arguments = event["contentBlockStart"].get("start", {}).get("toolUse"), "", ""
        elif "contentBlockDelta" in event:
            delta = event["contentBlockDelta"]["delta"]
            text += delta.get("text", "")
            arguments += delta.get("toolUse", {}).get("input", "")
        elif "contentBlockStop" in event or "messageStop" in event:
            if use is not None:
                content.append({"toolUse": {**use, "input": _input(arguments)}})
            elif text:
                content.append({"text": text})
            use, text, arguments = None, "", ""
        elif "metadata" in event:
            usage = event["metadata"].get("usage")
    return {"role": "assistant", "content": content}, usage


def _input(text: str) -> Any:
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return {}


def _parts(message: Any) -> tuple[str, tuple[ToolCall, ...]]:
    text = "".join(block["text"] for block in message["content"] if "text" in block)
    uses = [block["toolUse"] for block in message["content"] if "toolUse" in block]
    return text, tuple(ToolCall(u["name"], _arguments(u["input"]), id=str(u["toolUseId"])) for u in uses)


def _arguments(given: Any) -> dict[str, Any]:
    return given if isinstance(given, dict) else {"input": given}


def _ours(message: Any) -> Iterator[Message]:
    """Return a message for hooks: one for each result of a tool, and one for the rest."""
    results = [block["toolResult"] for block in message["content"] if "toolResult" in block]
    for result in results:
        yield Message(role="tool", content=as_text(text_of(result)), tool_call_id=str(result["toolUseId"]))
    text, calls = _parts(message)
    if text or calls or not results:
        yield Message(role=message["role"], content=text, tool_calls=calls)


def _theirs(message: Message) -> Any:
    text = str(message.content)
    if message.role == "tool":
        result = {"toolUseId": message.tool_call_id, "status": "success", "content": [{"text": text}]}
        return {"role": "user", "content": [{"toolResult": result}]}
    calls = [{"toolUse": {"name": c.name, "toolUseId": c.id, "input": thaw(dict(c.args))}} for c in message.tool_calls]
    role = "assistant" if message.role == "assistant" else "user"
    return {"role": role, "content": [*([{"text": text}] if text or not calls else []), *calls]}


def _joined(messages: list[Any], added: tuple[Message, ...]) -> list[Any]:
    """Return messages with others behind them; neighbours of one role become one, as some models require."""
    joined = list(messages)
    for message in added:
        theirs = _theirs(message)
        if joined and joined[-1]["role"] == theirs["role"]:
            joined[-1] = {**joined[-1], "content": [*joined[-1]["content"], *theirs["content"]]}
        else:
            joined.append(theirs)
    return joined


def _rewritten(theirs: Any, ours: list[Message], changed: list[Message]) -> Any:
    """Return a message with the texts of its parts changed, and all else as it was."""
    texts = {
        message.tool_call_id: message.content for message, old in zip(changed, ours, strict=True) if message != old
    }
    content: list[Any] = []
    for block in theirs["content"]:
        result = block.get("toolResult")
        if result is not None and str(result["toolUseId"]) in texts:
            new = {**result, "content": [{"text": str(texts[str(result["toolUseId"])])}]}
            content.append({**block, "toolResult": new})
        elif "text" not in block or "" not in texts:
            content.append(block)
    return {**theirs, "content": [*([{"text": str(texts[""])}] if "" in texts else []), *content]}


# -- results of tools --------------------------------------------------------------------------------------------------


class ToolFailedError(Exception):
    """Stands for the error of a tool that Strands turned into a result already."""


def text_of(result: Any) -> Any:
    """Return the result of a tool for hooks: its text, its value, or its blocks if they are of several sorts."""
    blocks = result.get("content", []) if isinstance(result, dict) else []
    if all("text" in block for block in blocks):
        return "\n".join(block["text"] for block in blocks)
    if len(blocks) == 1 and "json" in blocks[0]:
        return thaw(blocks[0]["json"])
    return [thaw(block) for block in blocks]


def error_of(event: Any, result: Any) -> Exception | None:
    """Return the error in the last event of a tool, None if it has a result."""
    if not isinstance(result, dict) or result.get("status") != "error":
        return None if isinstance(result, dict) else ToolFailedError("The tool did not return a result.")
    error = getattr(event, "exception", None)
    return error if isinstance(error, Exception) else ToolFailedError(_ERROR.sub("", as_text(text_of(result)), count=1))


def result_of(use: ToolUse, result: Any, call_id: str) -> Any:
    """Return the result of a call for the model: the tool's own where hooks left it."""
    if result is not None and (use.is_untouched or use.exception is not None):
        if not use.context:
            return result
        return {**result, "content": [*result["content"], {"text": use.context}]}
    status = "error" if use.failed else "success"
    return {"toolUseId": call_id, "status": status, "content": [{"text": use.text}]}
