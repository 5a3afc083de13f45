"""Hooks in agents of pydantic-ai: ``Agent(..., capabilities=[AgentHooks()])``, or ``protect(agent)``."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any

from pydantic_ai import Agent
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, SkipToolExecution, ToolFailedError, ToolRetryError
from pydantic_ai.messages import (
    InstructionPart,
    ModelResponse,
    SystemPromptPart,
    TextPart,
    ToolCallPart,
    ToolReturn,
    ToolReturnPart,
    UserPromptPart,
)

from agent_hooks.engine.calling import is_failure
from agent_hooks.engine.guarded_run import current_run
from agent_hooks.errors import RefusedError, RegistrationError, RunError, RunStoppedError
from agent_hooks.model import inference
from agent_hooks.model.events import HookEvent
from agent_hooks.model.state import Message
from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.values import thaw
from agent_hooks.runtime.drivers.pydantic_ai_messages import answer_to_send, conversation, response_of, usage_of

from .framework import RUN_EVENTS, Framework, FrameworkHooks

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pydantic_ai.messages import ModelMessage
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.tools import RunContext, ToolDefinition

    from agent_hooks.engine.foreign_calls import ToolUse
    from agent_hooks.engine.guarded_run import Ending, GuardedRun

FRAMEWORK = Framework(
    name="pydantic-ai",
    distribution="pydantic-ai-slim",
    extra="pydantic-ai",
    events=RUN_EVENTS,
    fields={
        "session_id": "`conversation_id` of the run",
        "execution_id": "`run_id`",
        "agent_name": "the agent's `name`",
        "cwd": "the working directory of the process",
    },
)
# What a tool raises to steer its run is no error of it.
_STEERING = (ApprovalRequired, CallDeferred, SkipToolExecution, ToolRetryError, ToolFailedError)


class AgentHooks(FrameworkHooks, AbstractCapability[Any]):
    """The capability that asks hooks about a run, its requests to the model, its tools and the agents they start.

    Arguments and errors are those of ``FrameworkHooks``. A question ends the run with ``DeferredToolRequests``, which
    has to be among the agent's output types, and is answered by ``DeferredToolResults`` of the next run. A run that
    hooks stop raises ``RunStoppedError``, a refused prompt ``PromptRefusedError``.
    """

    framework = FRAMEWORK
    run: GuardedRun
    _prompt: tuple[Any, Any]
    _ending: Ending | None

    def get_ordering(self) -> CapabilityOrdering:
        """Be the innermost: what other capabilities change is judged too."""
        return CapabilityOrdering(position="innermost")

    async def for_run(self, ctx: RunContext[Any]) -> AgentHooks:
        """Return the capability for one run."""
        mine = copy(self)
        mine._prompt, mine._ending = (None, None), None
        name = getattr(ctx.agent, "name", None) or "agent"
        mine.run = self.begin(session_id=ctx.conversation_id or ctx.run_id, execution_id=ctx.run_id, agent_name=name)
        return mine

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Any) -> AgentRunResult[Any]:
        """Start and end the run. A run that goes on after an answer has no new prompt to be judged."""
        run = self.run
        try:
            prompt = await run.start(ctx.prompt)
            self._prompt = (ctx.prompt, prompt)
            result: AgentRunResult[Any] = await handler()
        except RunStoppedError:
            await run.end(None, may_continue=False)
            raise
        except BaseException as error:
            if is_failure(error) and not isinstance(error, RunError):
                await run.fail(error)
            raise
        return result

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: Any
    ) -> ModelResponse:
        """Put a request to the model under hooks."""
        run, asked = self.run, request_context
        answers: list[Any] = []
        self._place_prompt(asked)
        given = _request(asked) if run.wants_model else inference.ModelRequest()

        async def ask(request: inference.ModelRequest) -> inference.ModelResponse:
            sent = _changed(asked, given, request)
            if answers or (asked.streaming and _holds_back(run)):
                # The handler works once; and what it streams is out before any hook has seen the whole.
                theirs = await sent.model.request(sent.messages, sent.model_settings, sent.model_request_parameters)
                ctx.usage.incr(theirs.usage)
            else:
                theirs = await handler(sent)
            answers.append(theirs)
            if run.wants_model:
                ours = response_of(theirs, asked.model_request_parameters)
            else:
                ours = inference.ModelResponse(usage=usage_of(theirs), model=theirs.model_name or "")
            answers.append(ours)
            return ours

        use = await run.model(given, ask)
        theirs, ours = answers[-2:]
        response = theirs if use.response is ours else _response(use.response, theirs)
        if asked.streaming and not response.tool_calls and asked.model_request_parameters.output_mode == "text":
            # It is shown as soon as it is returned.
            self._ending = await run.end(response.text)
            await self._ended(ctx, response.text, self._ending)
        return response

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any], handler: Any
    ) -> Any:
        """Put a tool call under hooks."""
        ours = self.call(call.tool_name, args, call.tool_call_id, schema=tool_def.parameters_json_schema)
        own = args  # whole objects, where a tool takes them

        async def run(changed: ToolCall) -> Any:
            return await handler(own if changed.args == ours.args else thaw(dict(changed.args)))

        answer = True if ctx.tool_call_approved and tool_def.kind != "unapproved" else None
        about = (ctx.tool_call_metadata or {}).get("args")
        use = await self.run.tool(ours, run, answer=answer, about=about, passed=_STEERING)
        if use.token:
            raise ApprovalRequired(metadata={"reason": use.reason, "args": thaw(dict(use.call.args))})
        return _result(use)

    async def wrap_output_process(self, ctx: RunContext[Any], *, output: Any, handler: Any, **_about: Any) -> Any:
        """Let hooks judge the answer, and ask the model again if they request another round."""
        answer = await handler(output)
        if ctx.partial_output:
            return answer
        ending, self._ending = self._ending, None
        return await self._ended(ctx, answer, ending)

    async def _ended(self, ctx: RunContext[Any], answer: Any, ending: Ending | None = None) -> Any:
        ending = ending or await self.run.end(answer)
        if ending.again is not None:
            ctx.enqueue(ending.again)
            return answer
        if ending.output is None and answer is not None:
            raise RefusedError(ending.reason, str(HookEvent.BEFORE_OUTPUT))
        return ending.output

    def _place_prompt(self, asked: ModelRequestContext) -> None:
        """Replace the prompt in the first request, if hooks changed it."""
        before, after = self._prompt
        if before is not after:
            for message in asked.messages:
                for part in message.parts:
                    if isinstance(part, UserPromptPart) and part.content == before:
                        part.content = after
            self._prompt = (after, after)


def protect(agent: Agent[Any, Any], hooks: AgentHooks) -> Agent[Any, Any]:
    """Add the hooks to an agent that exists."""
    if _own_hooks(agent) is not None:
        raise RegistrationError(f"The agent {agent.name or ''!r} has AgentHooks among its capabilities already.")
    setattr(agent, _PROTECTED, hooks)
    return agent


# -- agents that exist, and those that tools start ---------------------------------------------------------------------

_PROTECTED = "_agent_hooks"


def _own_hooks(agent: Agent[Any, Any]) -> AgentHooks | None:
    found: list[AgentHooks] = []
    agent.root_capability.apply(lambda each: found.append(each) if isinstance(each, AgentHooks) else None)
    return next(iter(found), None)


def _hooks_for(agent: Agent[Any, Any]) -> AgentHooks | None:
    """Return the hooks to add to a run of the agent: of ``protect``, or those of the run whose tool starts it."""
    if _own_hooks(agent) is not None:
        return None
    parent = current_run()
    return getattr(agent, _PROTECTED, None) or (None if parent is None else AgentHooks.of(parent))


def _with_hooks(start: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``Agent.iter``, through which every run goes, with the hooks added to the capabilities of the run."""

    @wraps(start)
    def iter_with_hooks(self: Agent[Any, Any], *args: Any, **kwargs: Any) -> Any:
        if (hooks := _hooks_for(self)) is not None:
            kwargs["capabilities"] = [*(kwargs.get("capabilities") or ()), hooks]
        return start(self, *args, **kwargs)

    return iter_with_hooks


Agent.iter = _with_hooks(Agent.iter)  # type: ignore[method-assign]


# -- between their messages and ours -----------------------------------------------------------------------------------


def _holds_back(run: GuardedRun) -> bool:
    """Whether hooks judge answers, which are not shown before."""
    return run.hooks.listens(HookEvent.AFTER_INFERENCE) or run.hooks.listens(HookEvent.BEFORE_OUTPUT)


def _request(asked: ModelRequestContext) -> inference.ModelRequest:
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
        ),
        settings=dict(asked.model_settings or {}),
    )


def _messages(message: ModelMessage) -> Iterator[Message]:
    if isinstance(message, ModelResponse):
        calls = tuple(ToolCall(p.tool_name, p.args_as_dict(), id=p.tool_call_id) for p in message.tool_calls)
        yield Message(role="assistant", content=message.text or "", tool_calls=calls)
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


def _changed(
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
        if len(tools) != len(request.tools):
            raise RunError("Hooks can take tools from a request of pydantic-ai, and neither add nor change them.")
        parameters = replace(parameters, function_tools=tools)
    if request.model != given.model or request.response_format is not None:
        raise RunError("Hooks cannot change the model or the response_format of a request of pydantic-ai.")
    settings: Any = thaw(dict(request.settings)) if request.settings != given.settings else asked.model_settings
    return replace(asked, messages=messages, model_request_parameters=parameters, model_settings=settings)


def _response(ours: inference.ModelResponse | None, theirs: ModelResponse) -> ModelResponse:
    """Return a response that hooks changed."""
    assert ours is not None
    changed = answer_to_send(Message(role="assistant", content=ours.content or "", tool_calls=ours.tool_calls))
    return replace(theirs, parts=changed.parts if changed is not None else [TextPart("")])


def _result(use: ToolUse) -> Any:
    """Return the result of a call for the model: the tool's own object where hooks left it."""
    if use.exception is not None and not isinstance(use.exception, RunError):  # of an agent that the tool started
        raise use.exception
    if not use.is_untouched:
        return use.text
    if not use.context:
        return use.returned
    if isinstance(use.returned, str):
        return use.text
    if isinstance(use.returned, ToolReturn):
        content = use.returned.content
        content = [content] if isinstance(content, str) else list(content or ())
        return replace(use.returned, content=[*content, use.context])
    return ToolReturn(use.returned, content=use.context)
