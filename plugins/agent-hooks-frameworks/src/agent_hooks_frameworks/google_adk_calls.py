"""Tool calls and requests to models of Google ADK under hooks. Tools and models are changed in place, behind all
callbacks, and do nothing new outside of a run that has hooks.
"""

from __future__ import annotations

from asyncio import to_thread
from contextlib import aclosing
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from google.adk.agents import LlmAgent
from google.adk.code_executors.code_execution_utils import CodeExecutionResult
from google.genai import types

from agent_hooks.engine.guarded_run import GuardedRun, current_run
from agent_hooks.engine.portal import call_in_portal
from agent_hooks.errors import RefusedError, RunError
from agent_hooks.model import inference, state
from agent_hooks.model.events import HookEvent
from agent_hooks.model.snapshot import as_text
from agent_hooks.model.state import Message
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import thaw

from .stepwise import Stepwise, Stop

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from google.adk.runners import Runner

    from agent_hooks.engine.foreign_calls import Ending, ToolUse

# The plugin, and what it asked in a session.
NAME = "agent_hooks"


class Invocation:
    """What is known of one run. ``requests``: the agents of requests that are to be sent, by the id of the request."""

    def __init__(self, runner: Runner) -> None:
        self.root: Any = runner.agent
        self.requests: dict[int, tuple[Any, str]] = {}
        self.ending: Ending | None = None

    def ends_with(self, name: str) -> bool:
        """Whether the run ends with a text of this agent: neither a workflow nor an executor of code goes on."""
        agent = self.root.find_agent(name) if isinstance(self.root, LlmAgent) else None
        if getattr(agent, "code_executor", None) is not None:
            return False
        while isinstance(agent, LlmAgent) and agent is not self.root:
            if getattr(agent, "mode", None) not in (None, "chat"):
                return False
            agent = agent.parent_agent
        return agent is not None and agent is self.root


INVOCATIONS: WeakKeyDictionary[GuardedRun, Invocation] = WeakKeyDictionary()


def current() -> tuple[GuardedRun, Invocation] | None:
    """Return the run of ADK that is at work here."""
    run = current_run()
    invocation = None if run is None else INVOCATIONS.get(run)
    return None if run is None or invocation is None else (run, invocation)


# -- tools and models --------------------------------------------------------------------------------------------------


def _at(run: GuardedRun, name: str) -> GuardedRun:
    """Return the run, with the agent that is at work: several may be, each call has its own copy of the fields."""
    if name:
        run.fields.update(agent_name=name, agent_id=name)
    return run


def guard_tool(tool: Any) -> None:
    """Put a tool under hooks, in place: behind all callbacks, which may change its arguments."""
    run_tool = tool.run_async
    if hasattr(run_tool, "is_guarded"):
        return

    @wraps(run_tool)
    async def run_async(*, args: dict[str, Any], tool_context: Any) -> Any:
        at_work = current()
        if at_work is None:
            return await run_tool(args=args, tool_context=tool_context)
        run = _at(at_work[0], tool_context.agent_name)
        call_id = tool_context.function_call_id or ""
        ours = run.owner.call(tool.name, args, call_id, schema=_schema(tool))
        confirmation = tool_context.tool_confirmation
        answer = None if confirmation is None else bool(confirmation.confirmed)
        about = None if answer is None else _asked_about(tool_context, call_id)

        async def perform(changed: ToolCall) -> Any:
            given = args if changed.args == ours.args else thaw(dict(changed.args))
            return await run_tool(args=given, tool_context=tool_context)

        use = await run.tool(ours, perform, answer=answer, about=about)
        if use.token and call_id and answer is None:  # ADK asks once about a call
            payload = {NAME: thaw(dict(use.call.args))}
            tool_context.request_confirmation(hint=use.reason, payload=payload)
            tool_context.actions.skip_summarization = True
            return {"error": "This tool call requires confirmation, please approve or reject."}
        return _result(use)

    run_async.is_guarded = True  # type: ignore[attr-defined]
    object.__setattr__(tool, "run_async", run_async)


def guard_code(agent: Any) -> None:
    """Put the code executor of an agent under hooks: it runs code of the model that no tool call names."""
    executor = getattr(agent, "code_executor", None)
    execute = getattr(executor, "execute_code", None)
    if execute is None or hasattr(execute, "is_guarded"):
        return

    @wraps(execute)
    def execute_code(invocation_context: Any, code_execution_input: Any) -> Any:
        at_work = current()
        if at_work is None:
            return execute(invocation_context, code_execution_input)
        ours = at_work[0].owner.call("code_executor", {"code": code_execution_input.code})

        async def perform(changed: ToolCall) -> Any:
            given = replace(code_execution_input, code=changed.args["code"])
            return await to_thread(execute, invocation_context, given)

        # ADK calls it in a thread, older releases in that of the event loop.
        use = call_in_portal(at_work[0].tool, ours, perform)
        if use.exception is not None:
            raise use.exception
        return use.returned if use.is_untouched and not use.context else CodeExecutionResult(stderr=use.text)

    execute_code.is_guarded = True  # type: ignore[attr-defined]
    object.__setattr__(executor, "execute_code", execute_code)


def _asked_about(context: Any, call_id: str) -> Any:
    """Return the arguments that hooks asked about, as the session has them; None if they asked nothing."""
    for event in reversed(context.session.events):
        asked = (event.actions.requested_tool_confirmations or {}).get(call_id)
        payload = getattr(asked, "payload", None)
        if isinstance(payload, dict) and NAME in payload:
            return payload[NAME]
    return None


def _schema(tool: Any) -> Any:
    declared = tool._get_declaration()
    if declared is None:
        return None
    if isinstance(schema := getattr(declared, "parameters_json_schema", None), dict):
        return schema
    parameters = declared.parameters
    return None if parameters is None else parameters.model_dump(mode="json", exclude_none=True)


def _result(use: ToolUse) -> Any:
    """Return the result of a call for the model: the tool's own object where hooks left it."""
    if use.exception is not None and not isinstance(use.exception, RunError):  # of an agent that the tool started
        raise use.exception
    if not use.is_untouched:
        return {"error" if use.failed else "result": use.text}
    if not use.context:
        return use.returned
    return {**use.returned, "context": use.context} if isinstance(use.returned, dict) else {"result": use.text}


def guard_model(model: Any) -> None:
    """Put a model under hooks, in place: behind all callbacks, which may change the request."""
    generate = model.generate_content_async
    if hasattr(generate, "is_guarded"):
        return

    @wraps(generate)
    async def generate_content_async(llm_request: Any, stream: bool = False) -> AsyncGenerator[Any, None]:
        at_work = current()
        known = None if at_work is None else at_work[1].requests.pop(id(llm_request), None)
        if at_work is None or known is None:
            responses = generate(llm_request, stream=stream)
        else:
            request = _Request(*at_work, llm_request, known[1])
            responses = request.stream(lambda sent: generate(sent, stream=stream))
        async with aclosing(responses):
            async for response in responses:
                yield response

    generate_content_async.is_guarded = True  # type: ignore[attr-defined]
    object.__setattr__(model, "generate_content_async", generate_content_async)  # it is a model of pydantic


class _Request:
    """A request to a model under hooks."""

    def __init__(self, run: GuardedRun, invocation: Invocation, llm_request: Any, agent: str) -> None:
        self.run, self.invocation, self.llm_request, self.agent = run, invocation, llm_request, agent
        run.owner.hosted(_hosted(llm_request))
        self.given = _request(llm_request) if run.wants_model else inference.ModelRequest(model=llm_request.model or "")
        self.ours = inference.ModelResponse()
        invocation.ending = None

    async def stream(self, generate: Callable[[Any], Any]) -> AsyncGenerator[Any, None]:
        """Send it, and yield the responses: parts as they come, or once hooks have judged the whole."""
        listens = self.run.hooks.listens
        is_held = any(map(listens, (HookEvent.AFTER_INFERENCE, HookEvent.BEFORE_OUTPUT, HookEvent.AFTER_SUBAGENT)))
        held: list[Any] = []

        async def ask(request: inference.ModelRequest) -> inference.ModelResponse:
            held.clear()
            async with aclosing(generate(_changed(self.llm_request, self.given, request))) as responses:
                async for response in responses:
                    if response.partial and not is_held:
                        await Stop(response)
                    else:
                        held.append(response)
            self.ours = _our_response(held, self.given.model)
            return self.ours

        steps = Stepwise(_at(self.run, self.agent).model(self.given, ask))
        async with aclosing(steps.values()) as values:
            async for value in values:
                yield value
        response = steps.result.response
        changed = None if response is self.ours else _their_parts(response)
        if self.ours.content and not response.tool_calls and self.invocation.ends_with(self.agent):
            ending = self.invocation.ending = await self.run.end(response.content)
            if ending.again is None and ending.output is None:
                raise RefusedError(ending.reason, str(HookEvent.BEFORE_OUTPUT))
            if ending.again is None and ending.output != response.content:
                changed = [types.Part(text=as_text(ending.output))]
        if changed is None:
            for each in held:
                yield each
        else:
            content = types.Content(role="model", parts=changed)
            yield held[-1].model_copy(update={"content": content, "partial": None})


# -- between their messages and ours -----------------------------------------------------------------------------------


def _our_call(call: Any) -> ToolCall:
    return ToolCall(call.name or "", call.args or {}, id=call.id or "")


def _our_messages(content: Any) -> list[Message]:
    """Return the messages of one content: results of tools are messages each."""
    parts = content.parts or []
    results = [part.function_response for part in parts if part.function_response]
    text = "\n".join(part.text for part in parts if part.text and not part.thought)
    calls = tuple(_our_call(part.function_call) for part in parts if part.function_call)
    found = [
        Message(role="tool", content=as_text(each.response), name=each.name or "", tool_call_id=each.id or "")
        for each in results
    ]
    if text or calls or not found:
        found.append(Message(role="assistant" if content.role == "model" else "user", content=text, tool_calls=calls))
    return found


def _request(theirs: Any) -> inference.ModelRequest:
    """Return a request to the model for hooks."""
    tools = [
        declared
        for tool in theirs.config.tools or ()
        for declared in getattr(tool, "function_declarations", None) or ()
    ]
    return inference.ModelRequest(
        model=theirs.model or "",
        system_prompt=_system(theirs),
        messages=tuple(ours for content in theirs.contents for ours in _our_messages(content)),
        tools=tuple(
            {
                "name": tool.name or "",
                "description": tool.description or "",
                "parameters": tool.parameters.model_dump(mode="json", exclude_none=True) if tool.parameters else {},
            }
            for tool in tools
        )
        + tuple({"name": name, "description": "", "parameters": {}} for name in _hosted(theirs)),
    )


def _hosted(theirs: Any) -> list[str]:
    """Return the names of the tools that Google runs."""
    tools = [tool for tool in theirs.config.tools or () if hasattr(tool, "model_dump")]
    given = (name for tool in tools for name, value in tool if value is not None)
    return [name for name in given if name != "function_declarations"]


def _system(theirs: Any) -> str:
    given = theirs.config.system_instruction
    return given if isinstance(given, str) else "" if given is None else str(given)


def _our_response(theirs: list[Any], model: str) -> inference.ModelResponse:
    parts = [part for each in theirs if each.content and not each.partial for part in each.content.parts or ()]
    calls = tuple(_our_call(part.function_call) for part in parts if part.function_call)
    used = next((each.usage_metadata for each in reversed(theirs) if each.usage_metadata), None)
    usage = state.Usage() if used is None else _usage(used)
    return inference.ModelResponse(
        content="\n".join(part.text for part in parts if part.text and not part.thought),
        tool_calls=calls,
        usage=usage,
        finish_reason="tool_calls" if calls else "stop",
        model=model,
    )


def _usage(used: Any) -> state.Usage:
    return state.Usage(
        input_tokens=used.prompt_token_count or 0,
        output_tokens=used.candidates_token_count or 0,
        cached_tokens=used.cached_content_token_count or 0,
        reasoning_tokens=used.thoughts_token_count or 0,
    )


def _changed(theirs: Any, given: inference.ModelRequest, request: inference.ModelRequest) -> Any:
    """Return the request as hooks changed it. Raises ``RunError`` for a change that ADK does not allow."""
    if request is given:
        return theirs
    same = ("model", "tools", "settings", "response_format")
    if any(getattr(request, name) != getattr(given, name) for name in same):
        raise RunError("Hooks cannot change the model, tools, settings or response_format of a request of ADK.")
    kept = len(given.messages)
    if request.messages[:kept] == given.messages:
        contents = [*theirs.contents, *map(_their_content, request.messages[kept:])]
    else:
        contents = [_their_content(message) for message in request.messages]
    update: dict[str, Any] = {"contents": contents}
    if request.system_prompt != given.system_prompt:
        update["config"] = theirs.config.model_copy(update={"system_instruction": request.system_prompt})
    return theirs.model_copy(update=update)


def _their_content(message: Message) -> Any:
    if message.role == "tool":
        response = {"result": as_text(message.content)}
        answer = types.FunctionResponse(id=message.tool_call_id, name=message.name, response=response)
        return types.Content(role="user", parts=[types.Part(function_response=answer)])
    return types.Content(role="model" if message.role == "assistant" else "user", parts=_their_parts(message))


def _their_parts(ours: Any) -> list[Any]:
    parts = [types.Part(text=as_text(ours.content))] if ours.content or not ours.tool_calls else []
    for call in ours.tool_calls:
        wanted = types.FunctionCall(id=call.id, name=call.name, args=thaw(dict(call.args)))
        parts.append(types.Part(function_call=wanted))
    return parts
