"""Hooks in agents of pydantic-ai: ``Agent(..., capabilities=[AgentHooks()])``, or ``protect(agent)``."""

from __future__ import annotations

from contextvars import ContextVar
from copy import copy
from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, get_args

from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ModelRetry
from pydantic_ai.capabilities import AbstractCapability, CapabilityOrdering
from pydantic_ai.exceptions import ApprovalRequired, CallDeferred, SkipToolExecution
from pydantic_ai.messages import ModelRequest, ModelResponse, ToolReturn, UserPromptPart

from agent_hooks.engine.calling import is_failure
from agent_hooks.engine.guarded_run import current_run
from agent_hooks.errors import RefusedError, RegistrationError, RunError, RunStoppedError
from agent_hooks.model import inference
from agent_hooks.model.events import HookEvent
from agent_hooks.model.snapshot import as_text
from agent_hooks.model.state import hook_message
from agent_hooks.model.values import thaw

from .framework import RUN_EVENTS, Framework, FrameworkHooks
from .pydantic_ai_messages import (
    changed_request,
    changed_response,
    hosted_tools,
    request_of,
    response_of,
    restored,
    restored_value,
    sent_args,
    shown,
    shown_value,
    with_text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from pydantic_ai.messages import ModelMessage, ToolCallPart
    from pydantic_ai.models import ModelRequestContext
    from pydantic_ai.output import OutputContext
    from pydantic_ai.run import AgentRunResult
    from pydantic_ai.tools import RunContext, ToolDefinition

    from agent_hooks.engine.foreign_calls import ToolUse
    from agent_hooks.engine.guarded_run import GuardedRun
    from agent_hooks.model.tool_call import ToolCall

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
_STEERING = (ApprovalRequired, CallDeferred, SkipToolExecution)
# The key of our question in the metadata of a request for approval.
_MARK = "agent_hooks"
_TEXT_SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


class AgentHooks(FrameworkHooks, AbstractCapability[Any]):
    """The capability that asks hooks about a run, its requests to the model, its tools and the agents they start.

    Arguments and errors are those of ``FrameworkHooks``. A question ends the run with ``DeferredToolRequests``, if
    that is among the agent's output types, and is answered by ``DeferredToolResults`` of the next run; else nobody can
    answer it. A run that hooks stop raises ``RunStoppedError``, a refused prompt ``PromptRefusedError``.
    """

    framework = FRAMEWORK
    run: GuardedRun
    _prompt: tuple[Any] | None  # as hooks changed it, until it is in its place
    _judgement: tuple[Any, Any, str] | None  # an answer, the same as judged, and why it is withheld
    _is_ended: bool
    _can_defer: bool

    def get_ordering(self) -> CapabilityOrdering:
        """Be the innermost: what other capabilities change is judged too."""
        return CapabilityOrdering(position="innermost")

    async def for_run(self, ctx: RunContext[Any]) -> AgentHooks:
        """Return the capability for one run."""
        mine = copy(self)
        mine._prompt = mine._judgement = None
        mine._is_ended = False
        mine._can_defer = _has_deferred(_OUTPUT_TYPE.get() or getattr(ctx.agent, "output_type", str))
        name = getattr(ctx.agent, "name", None) or "agent"
        mine.run = self.begin(session_id=ctx.conversation_id or ctx.run_id, execution_id=ctx.run_id, agent_name=name)
        return mine

    async def wrap_run(self, ctx: RunContext[Any], *, handler: Any) -> AgentRunResult[Any]:
        """Start and end the run. A run that goes on after an answer has no new prompt to be judged."""
        run, is_started = self.run, False
        self._can_defer = self._can_defer or _has_handler(ctx.root_capability)
        if not self._can_defer and run.hooks.ask == "host":
            run.hooks = run.hooks.asking(None)
        given = _last_prompt(ctx.messages) if ctx.prompt is None else ctx.prompt
        with run.active():
            try:
                prompt = await run.start(given)
                self._prompt, is_started = (None if prompt is given else (prompt,)), True
                result: AgentRunResult[Any] = await handler()
            except RunStoppedError:
                if not self._is_ended:
                    await run.end(None, may_continue=False)
                raise
            except BaseException as error:
                if is_started and not self._is_ended:
                    await self._failed(error)
                raise
        return result

    async def _failed(self, error: BaseException) -> None:
        if not is_failure(error):
            if self._judgement is None:
                return
            # A stream is cancelled at its end if a hook requested another round, which nobody waits for.
        elif await self.run.fail(error):  # a hook requests another try, which there is not
            self.run.state = self.run.state.replace(status="failed")
        else:
            return
        await self.run.end(None, may_continue=False)

    async def before_node_run(self, ctx: RunContext[Any], *, node: Any) -> Any:
        """Put the prompt in its place, if hooks changed it."""
        if self._prompt is None or not Agent.is_user_prompt_node(node):
            return node
        prompt = self._prompt[0]
        if node.user_prompt is not None:
            self._prompt = None
            return replace(node, user_prompt=prompt)
        if _last_prompt(ctx.messages) is not None:
            last: Any = ctx.messages[-1]
            index = next(n for n, part in enumerate(last.parts) if isinstance(part, UserPromptPart))
            others = [part for part in last.parts if not isinstance(part, UserPromptPart)]
            # A copy: the message is the caller's.
            parts = [*others[:index], replace(last.parts[index], content=prompt), *others[index:]]
            ctx.messages[-1] = replace(last, parts=parts)
            self._prompt = None
        return node

    async def wrap_model_request(
        self, ctx: RunContext[Any], *, request_context: ModelRequestContext, handler: Any
    ) -> ModelResponse:
        """Put a request to the model under hooks."""
        run, asked = self.run, request_context
        if self._prompt is not None:
            raise RunError("Hooks changed the prompt, and the run has no place for it.")
        self._judgement, self._is_ended = None, False
        is_text = _answers_in_text(asked)
        is_judged = run.hooks.listens(HookEvent.BEFORE_OUTPUT)
        if asked.streaming and is_judged and not is_text:
            raise RunError(
                "Hooks on before_output judge an answer as a whole, and this one is no text: a stream would show it "
                "before. Use run()."
            )
        # What streams is out before any hook has seen the whole.
        holds_back = asked.streaming and (is_judged or run.hooks.listens(HookEvent.AFTER_INFERENCE))
        self.hosted(hosted_tools(asked))
        given = request_of(asked) if run.wants_model else inference.ModelRequest()
        answers: list[tuple[ModelResponse, inference.ModelResponse]] = []
        is_called = False

        async def ask(request: inference.ModelRequest) -> inference.ModelResponse:
            nonlocal is_called
            sent = changed_request(asked, given, request)
            _count_refused(ctx, answers)
            if is_called or holds_back:
                if is_called and ctx.usage_limits is not None:
                    ctx.usage_limits.check_before_request(ctx.usage)
                is_called = True
                theirs = await sent.model.request(sent.messages, sent.model_settings, sent.model_request_parameters)
            else:
                is_called = True  # the handler works once, also if it fails
                theirs = await handler(sent)
            answers.append((theirs, response_of(theirs)))
            return answers[-1][1]

        try:
            use = await run.model(given, ask)
        except BaseException:
            _count_refused(ctx, answers)
            raise
        theirs, ours = answers[-1] if answers else (ModelResponse([]), inference.ModelResponse())
        assert use.response is not None
        response = theirs if use.response is ours else changed_response(theirs, ours, use.response)
        return await self._streamed(ctx, response) if asked.streaming and is_text and response.text else response

    async def wrap_tool_execute(
        self, ctx: RunContext[Any], *, call: ToolCallPart, tool_def: ToolDefinition, args: dict[str, Any], handler: Any
    ) -> Any:
        """Put a tool call under hooks."""
        given = shown(args, sent_args(call))
        ours = self.call(call.tool_name, given, call.tool_call_id, schema=tool_def.parameters_json_schema)

        async def run(changed: ToolCall) -> Any:
            return await handler(args if changed.args == ours.args else restored(changed.args, given, args))

        metadata = ctx.tool_call_metadata
        mark = metadata.get(_MARK) if isinstance(metadata, dict) else None
        # The framework's own approval of a tool answers no question of a hook.
        is_answered = ctx.tool_call_approved and (mark is not None or self.run.waits(ours))
        question = {} if mark is None else {"about": mark.get("args"), "question": mark.get("reason")}
        use = await self.run.tool(ours, run, answer=True if is_answered else None, passed=_STEERING, **question)
        if use.token and self._can_defer:
            raise ApprovalRequired(metadata={_MARK: {"reason": use.reason, "args": thaw(dict(use.call.args))}})
        return self._result(use)

    async def handle_deferred_tool_calls(
        self, ctx: RunContext[Any], *, requests: DeferredToolRequests
    ) -> DeferredToolResults | None:
        """Judge calls of external tools, which the application makes, and answer those that hooks deny."""
        results: dict[str, Any] = {}
        for call in requests.calls:
            tool = None if ctx.tool_manager is None else ctx.tool_manager.get_tool_def(call.tool_name)
            if tool is None or tool.kind != "external":
                continue
            ours = self.call(call.tool_name, sent_args(call), call.tool_call_id, schema=tool.parameters_json_schema)

            def outside(changed: ToolCall, ours: ToolCall = ours) -> Any:
                if changed.args != ours.args:
                    raise RunError("Not run: hooks cannot change a call that the application makes.")
                raise CallDeferred

            try:
                results[call.tool_call_id] = (await self.run.tool(ours, outside, passed=_STEERING)).text
            except CallDeferred:
                continue
        return DeferredToolResults(calls=results) if results else None

    async def wrap_output_process(
        self, ctx: RunContext[Any], *, output_context: OutputContext, output: Any, handler: Any
    ) -> Any:
        """Let hooks judge the answer, and ask the model again if they request another round."""
        has_function = output_context.has_function
        answer = await (self._call_output(output_context, output, handler) if has_function else handler(output))
        if not ctx.partial_output:
            return await self._judged(ctx, answer)
        return answer if answer is output else await self._passed(answer)

    # -- answers -------------------------------------------------------------------------------------------------------

    async def _streamed(self, ctx: RunContext[Any], response: ModelResponse) -> ModelResponse:
        """Return a response as it may be shown, which it is as soon as it is returned."""
        text = response.text
        if not response.tool_calls:
            text = await self._judged(ctx, text)
            if self._is_ended:
                return with_text(response, as_text(text))
        try:
            return with_text(response, as_text(await self._passed(text)))
        except RefusedError:
            return with_text(response, "")

    async def _judged(self, ctx: RunContext[Any], answer: Any) -> Any:
        """Return the answer as judged by hooks, which end the run once or request another round."""
        if self._judgement is None:
            ending = await self.run.end(answer)
            self._is_ended = ending.again is None
            if ending.again is not None:
                ctx.enqueue(ending.again)
            self._judgement = answer, ending.output if self._is_ended else answer, ending.reason
        before, after, reason = self._judgement
        if not any(answer is each or (isinstance(answer, str) and answer == each) for each in (before, after)):
            return await self._passed(answer)
        if after is None and answer is not None:
            raise RefusedError(reason, str(HookEvent.BEFORE_OUTPUT))
        return after

    async def _passed(self, answer: Any) -> Any:
        """Return an answer that does not end the run, as judged by hooks."""
        outcome = await self.run.ask(HookEvent.BEFORE_OUTPUT, output=answer)
        if outcome.blocks:
            raise RefusedError(outcome.reason, str(HookEvent.BEFORE_OUTPUT))
        return outcome._fields.get("output", answer)

    async def _call_output(self, about: OutputContext, output: Any, handler: Any) -> Any:
        """Put the call of an output function under hooks."""
        part = about.tool_call
        name = about.function_name or (part.tool_name if part is not None else "output")
        schema = _TEXT_SCHEMA if about.tool_def is None else about.tool_def.parameters_json_schema
        key = next(iter(schema.get("properties", ())), "output")
        sent = {key: output} if part is None else sent_args(part)
        whole = shown_value(output, sent if key not in sent or len(sent) != 1 else sent[key])
        given = whole if isinstance(whole, dict) else {key: whole}
        ours = self.call(name, given, "" if part is None else part.tool_call_id, schema=schema)

        async def run(changed: ToolCall) -> Any:
            if changed.args == ours.args:
                return await handler(output)
            if isinstance(output, dict):
                return await handler(restored(changed.args, given, output))
            value = dict(changed.args) if given is whole else changed.args.get(key)
            return await handler(restored_value(key, value, whole, output))

        use = await self.run.tool(ours, run, passed=_STEERING)
        if use.failed and (use.exception is None or isinstance(use.exception, RunError)):
            raise ModelRetry(use.text)
        return self._result(use)

    def _result(self, use: ToolUse) -> Any:
        """Return the result of a call for the model: the tool's own object where hooks left it."""
        if use.exception is not None and not isinstance(use.exception, RunError):
            if use.context:
                self.run.added.append(hook_message(use.context))
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


def protect(agent: Agent[Any, Any], hooks: AgentHooks) -> Agent[Any, Any]:
    """Add the hooks to an agent that exists, and return it. Raises ``RegistrationError`` if it has hooks."""
    inner: Any = agent
    while not isinstance(inner, Agent) and hasattr(inner, "wrapped"):
        inner = inner.wrapped
    if not isinstance(inner, Agent):
        raise RegistrationError(f"{type(agent).__qualname__} has no Agent of pydantic-ai inside: protect that one.")
    if _own_hooks(inner) is not None or hasattr(inner, _PROTECTED):
        raise RegistrationError(f"The agent {inner.name or ''!r} has AgentHooks already.")
    setattr(inner, _PROTECTED, hooks)
    return agent


# -- agents that exist, and those that tools start ---------------------------------------------------------------------

_PROTECTED = "_agent_hooks"
_OUTPUT_TYPE: ContextVar[Any] = ContextVar("agent_hooks_output_type", default=None)  # of the run that starts


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
        _OUTPUT_TYPE.set(kwargs.get("output_type"))
        if (hooks := _hooks_for(self)) is not None:
            kwargs["capabilities"] = [*(kwargs.get("capabilities") or ()), hooks]
        return start(self, *args, **kwargs)

    return iter_with_hooks


Agent.iter = _with_hooks(Agent.iter)  # type: ignore[method-assign]


# -- what a run can do -------------------------------------------------------------------------------------------------


def _has_deferred(output_type: Any) -> bool:
    """Whether a run can end with requests to be answered."""
    if isinstance(output_type, (list, tuple)):
        return any(map(_has_deferred, output_type))
    output_type = getattr(output_type, "__value__", output_type)
    return output_type is DeferredToolRequests or any(map(_has_deferred, get_args(output_type)))


def _has_handler(root: AbstractCapability[Any] | None) -> bool:
    """Whether a capability answers requests at once."""
    base, found = AbstractCapability.handle_deferred_tool_calls, list[bool]()
    if root is not None:
        root.apply(
            lambda each: found.append(
                not isinstance(each, AgentHooks) and type(each).handle_deferred_tool_calls is not base
            )
        )
    return any(found)


def _last_prompt(messages: Sequence[ModelMessage]) -> Any:
    """Return the prompt at the end of a history, None if there is none."""
    if not messages or not isinstance(last := messages[-1], ModelRequest):
        return None
    prompts = [part.content for part in last.parts if isinstance(part, UserPromptPart)]
    if len(prompts) < 2:
        return prompts[0] if prompts else None
    return [item for content in prompts for item in ([content] if isinstance(content, str) else content)]


def _answers_in_text(asked: ModelRequestContext) -> bool:
    parameters = asked.model_request_parameters
    return parameters.output_mode == "text" and not parameters.output_tools and not parameters.allow_image_output


def _count_refused(ctx: RunContext[Any], answers: list[tuple[ModelResponse, inference.ModelResponse]]) -> None:
    """Count the last response, which is not returned: pydantic-ai counts the one that is."""
    if answers:
        ctx.usage.incr(answers[-1][0].usage)
        ctx.usage.requests += 1
