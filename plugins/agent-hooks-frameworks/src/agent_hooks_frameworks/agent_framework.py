"""Hooks in agents of Microsoft Agent Framework: ``Agent(..., middleware=[AgentHooks()])``, or ``protect(agent)``."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

import agent_framework
from agent_framework import (
    AgentContext,
    AgentMiddleware,
    AgentMiddlewareLayer,
    AgentResponseUpdate,
    ChatContext,
    ChatMiddleware,
    ChatResponseUpdate,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    Message,
    MiddlewareTermination,
    ResponseStream,
    UserInputRequiredException,
)

from agent_hooks.engine.calling import is_failure
from agent_hooks.engine.guarded_run import current_run
from agent_hooks.errors import RefusedError, RegistrationError, RunError, RunStoppedError
from agent_hooks.model import inference
from agent_hooks.model.events import HookEvent
from agent_hooks.model.values import thaw

from .agent_framework_messages import AskedRequest, changed_response, readable, response_of, stream_of, without_text
from .framework import RUN_EVENTS, Framework, FrameworkHooks

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from agent_framework import AgentResponse, ChatResponse

    from agent_hooks.engine.foreign_calls import ToolUse
    from agent_hooks.engine.guarded_run import GuardedRun
    from agent_hooks.model.tool_call import ToolCall

    Next = Callable[[], Awaitable[None]]

FRAMEWORK = Framework(
    name="Microsoft Agent Framework",
    distribution="agent-framework-core",
    extra="agent-framework",
    events=RUN_EVENTS,
    fields={
        "session_id": "`session_id` of the `AgentSession`; without a session, one for each run",
        "execution_id": "made for each run",
        "agent_name": "the agent's `name`",
        "cwd": "the working directory of the process",
    },
)
# What a tool raises to steer its run is no error of it. Older releases have no MiddlewareFailure.
_STEERING = (
    MiddlewareTermination,
    UserInputRequiredException,
    *([agent_framework.MiddlewareFailure] if hasattr(agent_framework, "MiddlewareFailure") else ()),
)
# In the call of a request for approval that hooks made: another approval answers none of their questions.
_ASKED = "agent_hooks"


class AgentHooks(FrameworkHooks, AgentMiddleware):
    """The middleware that asks hooks about a run, its requests to the model, its tools and the agents they start.

    Arguments and errors are those of ``FrameworkHooks``. A question is a ``function_approval_request`` in the response,
    which needs a session. A run that hooks stop raises ``RunStoppedError``, a refused prompt ``PromptRefusedError``.
    """

    framework = FRAMEWORK

    async def process(self, context: AgentContext, call_next: Next) -> None:
        """Put a run under hooks."""
        name = getattr(context.agent, "name", None) or "agent"
        place: dict[str, Any] = {"session_id": context.session.session_id} if context.session is not None else {}
        run = self.begin(agent_name=name, **place)
        within = context.client_kwargs.get("middleware") or ()
        # Behind the others: what they change is judged too.
        context.client_kwargs["middleware"] = [*within, _Calls(self, run), _Requests(run)]
        judged = _Run(run, context, call_next)
        await judged.start()
        if context.stream:
            await judged.begin_round()
            context.result = ResponseStream(judged.updates(), finalizer=lambda _updates: judged.response)
        else:
            async for _update in judged.updates():
                pass
            context.result = judged.response
        if judged.termination is not None:
            raise judged.termination


class _Run:
    """A run of an agent, which ``updates`` performs; ``response`` is the last one, ``termination`` that of a middleware
    which ended the run with a result of its own.
    """

    response: AgentResponse[Any]
    termination: MiddlewareTermination | None = None

    def __init__(self, run: GuardedRun, context: AgentContext, call_next: Next) -> None:
        self.run = run
        self.context = context
        self.call_next = call_next
        self.begun: list[Any] = []  # the result of a round that has begun

    async def start(self) -> None:
        """Let hooks judge the prompt. An answer to a question is none."""
        prompt = "\n".join(message.text for message in self.context.messages if message.role == "user" and message.text)
        try:
            changed = await self.run.start(prompt or None)
        except RunStoppedError:
            await self.run.end(None, may_continue=False)
            raise
        if changed is not None and changed != prompt:
            others = [left for each in self.context.messages if (left := without_text(each)).contents]
            self.context.messages = [*others, Message(role="user", contents=[str(changed)])]

    async def begin_round(self) -> None:
        """Run the agent; a stream has to be read for that."""
        try:
            await self.call_next()
        except MiddlewareTermination as termination:
            self.termination = termination
        self.begun = [self.context.result]

    async def updates(self) -> AsyncIterator[AgentResponseUpdate]:
        """Perform the run, as often as hooks request; yield what may be shown already."""
        run, is_shown = self.run, False
        is_held = run.hooks.listens(HookEvent.BEFORE_OUTPUT)
        while True:
            held: list[AgentResponseUpdate] = []
            try:
                if not self.begun:
                    await self.begin_round()
                result = self.begun.pop()
                if isinstance(result, ResponseStream):
                    async for update in result:
                        if is_held:
                            held.append(update)
                        else:
                            is_shown = True
                            yield update
                    result = await result.get_final_response()
                self.response = result
                if result is None:
                    break
                if result.user_input_requests:  # it goes on in another run
                    if is_held:  # no hook judges this text
                        result.messages, held = list(map(without_text, result.messages)), list(map(without_text, held))
                    break
                ending = await run.end(result.text or None)
            except RunStoppedError:
                await run.end(None, may_continue=False)
                raise
            except BaseException as error:
                is_theirs = is_failure(error) and not isinstance(error, RunError)
                if is_theirs and await run.fail(error, may_retry=not is_shown):
                    continue
                raise
            if ending.again is None:
                if result.text and ending.output is None:
                    raise RefusedError(ending.reason, str(HookEvent.BEFORE_OUTPUT))
                if result.text and ending.output != result.text:
                    answer = Message(role="assistant", contents=[str(ending.output)])
                    result.messages = [*map(without_text, result.messages), answer]
                    held = [AgentResponseUpdate(role="assistant", contents=answer.contents)] if held else []
                break
            again = Message(role="user", contents=[ending.again])
            # A session has the conversation so far.
            before = [*self.context.messages, *result.messages] if self.context.session is None else []
            self.context.messages = [*before, again]
        for update in held:
            yield update


class _Calls(FunctionMiddleware):
    """Puts the tool calls of a run under hooks."""

    def __init__(self, hooks: AgentHooks, run: GuardedRun) -> None:
        self.hooks = hooks
        self.run = run

    async def process(self, context: FunctionInvocationContext, call_next: Next) -> None:
        """Put a tool call under hooks."""
        tool, about = context.function, context.metadata
        args = dict(context.arguments if isinstance(context.arguments, dict) else dict(context.arguments))
        call_id = about.get("call_id", "")
        ours = self.hooks.call(tool.name, args, call_id, schema=tool.parameters(), function=tool.func)

        async def run(changed: ToolCall) -> Any:
            if changed.args != ours.args:
                context.arguments = thaw(dict(changed.args))
            await call_next()
            return readable(context.result)

        approved = getattr(about.get("approval_response"), "function_call", None)
        question = (approved.additional_properties or {}).get(_ASKED) if approved is not None else None
        answer = True if question is not None else None
        use = await self.run.tool(ours, run, answer=answer, question=question, passed=_STEERING)
        if use.token:
            occurrence = about.get("function_call_occurrence_id")
            call = Content.from_function_call(
                call_id,
                tool.name,
                arguments=thaw(dict(use.call.args)),
                additional_properties={_ASKED: use.reason},
                **({"id": occurrence} if occurrence else {}),
            )
            context.result = Content.from_function_approval_request(
                id=occurrence or call_id, function_call=call, additional_properties={"reason": use.reason}
            )
        else:
            _settle(context, use)


class _Requests(ChatMiddleware):
    """Puts the requests of a run to the model under hooks. ``added``: messages of hooks, each behind so many others."""

    def __init__(self, run: GuardedRun) -> None:
        self.run = run
        self.added: list[tuple[int, Message]] = []

    async def process(self, context: ChatContext, call_next: Next) -> None:
        """Put a request to the model under hooks."""
        run, own = self.run, list(context.messages)
        place = len(own)
        for index, message in reversed(self.added):
            own.insert(index, message)
        asked = AskedRequest(own, context.options or {})
        run.owner.hosted(asked.hosted())
        given = asked.request() if run.wants_model else inference.ModelRequest()
        answers: list[Any] = []

        async def ask(request: inference.ModelRequest) -> inference.ModelResponse:
            context.messages, context.options, new = asked.changed(given, request)
            self.added = [each for each in self.added if each[0] < place] + [(place, message) for message in new]
            await call_next()
            theirs: Any = context.result
            updates: list[ChatResponseUpdate] = []
            if isinstance(theirs, ResponseStream) and run.wants_model:
                updates = [update async for update in theirs]
                theirs = await theirs.get_final_response()
            if isinstance(theirs, ResponseStream):
                theirs.with_result_hook(self._count)
                ours = inference.ModelResponse()
            else:
                ours = response_of(theirs)
            answers[:] = theirs, ours, updates
            return ours

        use = await run.model(given, ask)
        theirs, ours, updates = answers
        if use.response is not ours:
            theirs = changed_response(theirs, use.response)
            updates = [ChatResponseUpdate(role="assistant", contents=theirs.messages[0].contents)]
        if context.stream and not isinstance(theirs, ResponseStream):
            theirs = stream_of(updates, theirs)
        context.result = theirs

    def _count(self, theirs: ChatResponse[Any]) -> ChatResponse[Any]:
        """Count the tokens of a response that was streamed."""
        ours, state = response_of(theirs), self.run.state
        self.run.state = state.with_model_usage(ours.model, ours.usage).replace(usage=state.usage + ours.usage)
        return theirs


def _settle(context: FunctionInvocationContext, use: ToolUse) -> None:
    """Give the model the result of a call: the tool's own where hooks left it."""
    if use.exception is not None and not use.context and not isinstance(use.exception, RunError):
        raise use.exception
    if not use.is_untouched:
        context.result = use.text
    elif use.context and isinstance(context.result, list):
        context.result = [*context.result, Content.from_text(use.context)]
    elif use.context:
        context.result = use.text


def protect(agent: Any, hooks: AgentHooks) -> Any:
    """Add the hooks to an agent that exists."""
    if not isinstance(agent, AgentMiddlewareLayer):
        raise RegistrationError(
            f"{type(agent).__name__} has no middleware: protect the agents that it runs, or make it an Agent(..., "
            "middleware=[AgentHooks()])."
        )
    there = list(getattr(agent, "middleware", None) or ())
    if any(isinstance(each, AgentHooks) for each in there):
        raise RegistrationError(
            f"The agent {getattr(agent, 'name', '')!r} has AgentHooks among its middleware already."
        )
    agent.middleware = [*there, hooks]  # type: ignore[attr-defined]
    return agent


def _with_hooks(start: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``AgentMiddlewareLayer.run`` with the hooks of the run whose tool starts the agent."""

    @wraps(start)
    def run_with_hooks(self: Any, *args: Any, **kwargs: Any) -> Any:
        parent = current_run()
        own = [*(getattr(self, "middleware", None) or ()), *(kwargs.get("middleware") or ())]
        if parent is not None and not any(isinstance(each, AgentHooks) for each in own):
            kwargs["middleware"] = [*(kwargs.get("middleware") or ()), AgentHooks.of(parent)]
        return start(self, *args, **kwargs)

    return run_with_hooks


AgentMiddlewareLayer.run = _with_hooks(AgentMiddlewareLayer.run)  # type: ignore[method-assign]
