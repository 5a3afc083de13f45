"""Hooks in agents of Strands: ``Agent(..., hooks=[AgentHooks()])``, or ``protect(agent)``."""

from __future__ import annotations

from contextlib import aclosing
from contextvars import ContextVar
from functools import wraps
from inspect import signature
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from strands import Agent
from strands.hooks import BeforeModelCallEvent, BeforeToolCallEvent, HookProvider, HookRegistry
from strands.interrupt import InterruptException
from strands.types._events import ToolInterruptEvent, ToolResultEvent  # the executor takes no other way to pause
from strands.types.exceptions import EventLoopException
from strands.types.tools import AgentTool

from agent_hooks.engine.calling import is_failure
from agent_hooks.engine.guarded_run import current_run
from agent_hooks.errors import RefusedError, RegistrationError, RunError, RunStoppedError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.values import thaw

from .framework import RUN_EVENTS, Framework, FrameworkHooks
from .stepwise import Stepwise, Stop
from .strands_messages import Asked, ToolFailedError, error_of, prompt_of, result_of, text_of, with_prompt

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Callable

    from strands.models import Model

    from agent_hooks.engine.guarded_run import GuardedRun

FRAMEWORK = Framework(
    name="Strands",
    distribution="strands-agents",
    extra="strands",
    events=RUN_EVENTS,
    tools={"handoff_to_agent": "subagent"},
    fields={
        "session_id": "`session_id` of the session manager",
        "agent_name": "the agent's `name`",
        "cwd": "the working directory of the process",
    },
)
_NAME = "agent_hooks"


class AgentHooks(FrameworkHooks, HookProvider):
    """The hook provider that asks hooks about a run, its requests to the model, its tools and the agents they start.

    Arguments and errors are those of ``FrameworkHooks``. It comes last among the hooks of the agent: it judges what
    others have changed. A question is an interrupt with the name ``agent_hooks`` and a number, answered with
    ``True`` or ``"approve"``; everything else rejects the call. A run that hooks stop raises ``RunStoppedError``, a
    refused prompt ``PromptRefusedError``, a withheld answer ``RefusedError``.
    """

    framework = FRAMEWORK

    def register_hooks(self, registry: HookRegistry, **_kwargs: Any) -> None:
        """Install the hooks in the agent of this registry."""
        known = _INSTALLED.get(registry, self)
        if registry in _INSTALLED and known is not None:
            raise RegistrationError("The agent has AgentHooks already.")
        _INSTALLED[registry] = self
        if known is None:
            return
        # Lower orders come first, in releases that have orders.
        order: Any = {"order": 1000} if "order" in signature(registry.add_callback).parameters else {}
        registry.add_callback(BeforeModelCallEvent, _before_model, **order)
        registry.add_callback(BeforeToolCallEvent, _before_tool, **order)


def protect(agent: Any, hooks: AgentHooks) -> Any:
    """Add the hooks to an agent that exists, or to all agents of a graph or a swarm."""
    if isinstance(agent, Agent):
        # Private: only there does another process find the question that an interrupt was about.
        if not hasattr(agent, "_interrupt_state"):
            raise RegistrationError("This release of Strands keeps its interrupts elsewhere; use one before it.")
        hooks.register_hooks(agent.hooks)
        return agent
    nodes = getattr(agent, "nodes", None)
    if not isinstance(nodes, dict) or not nodes:
        raise RegistrationError(f"A {type(agent).__name__} cannot be protected: protect the agents that it runs.")
    for node in nodes.values():
        if node.executor.hooks not in _INSTALLED:
            protect(node.executor, hooks)
    return agent


# -- agents that exist, and those that tools start ---------------------------------------------------------------------

# The hooks of agents, by their registry. None: those of a parent, without which they do nothing.
_INSTALLED: WeakKeyDictionary[HookRegistry, AgentHooks | None] = WeakKeyDictionary()


def _hooks_for(agent: Agent) -> AgentHooks | None:
    """Return the hooks of an agent, or those of the run whose tool starts it."""
    hooks, parent = _INSTALLED.get(agent.hooks), current_run()
    if hooks is None and parent is not None:
        hooks = AgentHooks.of(parent)
        if agent.hooks not in _INSTALLED:
            hooks.register_hooks(agent.hooks)
            _INSTALLED[agent.hooks] = None
    return hooks


def _with_hooks(start: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``Agent.stream_async``, through which every run goes, with hooks around the run."""

    @wraps(start)
    def stream_with_hooks(self: Agent, prompt: Any = None, **kwargs: Any) -> AsyncIterator[Any]:
        hooks = _hooks_for(self)
        if hooks is None:
            return start(self, prompt, **kwargs)  # type: ignore[no-any-return]
        return _stream(_begin(self, hooks), lambda given: start(self, given, **kwargs), prompt)

    return stream_with_hooks


async def _stream(run: GuardedRun, start: Callable[[Any], Any], prompt: Any) -> AsyncIterator[Any]:
    """Run the agent, and again as often as hooks request another round."""
    try:
        text = prompt_of(prompt)
        changed = await run.start(text)
        prompt = prompt if changed is text else with_prompt(prompt, changed)
        while prompt is not _END:
            async with aclosing(start(prompt)) as events:
                while True:
                    with run.active():
                        event = await anext(events, _END)
                    if event is _END:
                        break
                    if "result" in event:
                        if run in _AGAIN:
                            continue
                        await _end(run, event["result"])
                    yield event
            prompt = _AGAIN.pop(run, _END)
    except BaseException as error:
        own = error.original_exception if isinstance(error, EventLoopException) else error
        await _failed(run, own)
        if isinstance(own, RunError):
            raise own from None
        raise


_END: Any = object()
# The prompts of the rounds that hooks request.
_AGAIN: WeakKeyDictionary[GuardedRun, str] = WeakKeyDictionary()


def _begin(agent: Agent, hooks: AgentHooks) -> GuardedRun:
    fields: dict[str, Any] = {"agent_name": agent.name}
    session = getattr(agent, "session_id", None) or getattr(
        getattr(agent, "_session_manager", None), "session_id", None
    )
    return hooks.begin(**fields, **({"session_id": session} if session else {}))


async def _end(run: GuardedRun, result: Any) -> None:
    """End a run whose last response was not its answer, as one with a structured output, unless it waits."""
    if run.state.status != "in_progress" or result.stop_reason in ("interrupt", "checkpoint"):
        return
    structured = getattr(result, "structured_output", None)
    answer = str(result) if structured is None else structured
    ending = await run.end(answer, may_continue=False)
    if ending.output != answer:
        raise RefusedError(ending.reason or "Hooks cannot change this answer.", str(HookEvent.BEFORE_OUTPUT))


async def _failed(run: GuardedRun, error: BaseException) -> None:
    """End a run that failed or that hooks stopped."""
    if run.state.status != "in_progress":
        return
    if isinstance(error, RunStoppedError):
        await run.end(None, may_continue=False)
    elif is_failure(error) and not isinstance(error, RunError):
        await run.fail(error)


Agent.stream_async = _with_hooks(Agent.stream_async)  # type: ignore[method-assign]


# -- requests to the model ---------------------------------------------------------------------------------------------

# The agent whose model is asked next, in this task.
_ASKING: ContextVar[Agent | None] = ContextVar("agent_hooks_strands_asking", default=None)


def _before_model(event: Any) -> None:
    """Have the request that follows go through the hooks."""
    agent = event.agent
    if current_run() is None:
        if _INSTALLED.get(agent.hooks) is not None:
            raise RunError("The agent was not started by Agent.stream_async: its hooks do not know of the run.")
        return
    if getattr(event, "cancel", False):  # by another hook
        return
    if not isinstance(agent.model, _Guarded):
        agent.model = _guarded(agent.model)
    _ASKING.set(agent)


class _Guarded:
    """Part of the class of a guarded model."""


def _guarded(model: Model) -> Model:
    """Return the same model, of a class below its own, with its requests under hooks: it shares all its attributes."""

    async def stream(
        self: Any, messages: Any, tool_specs: Any = None, system_prompt: Any = None, **kwargs: Any
    ) -> AsyncIterator[Any]:
        agent, run = _ASKING.get(), current_run()
        theirs = model.stream
        if agent is None or agent.model is not self or run is None:
            async for event in theirs(messages, tool_specs, system_prompt, **kwargs):
                yield event
            return
        _ASKING.set(None)
        asked = Asked(theirs, messages, tool_specs, system_prompt, kwargs, whole=run.wants_model)
        async for event in _model(run, asked):
            yield event

    made: Any = object.__new__(type(f"Guarded{type(model).__name__}", (_Guarded, type(model)), {"stream": stream}))
    made.__dict__ = model.__dict__
    return made  # type: ignore[no-any-return]


async def _model(run: GuardedRun, asked: Asked) -> AsyncIterator[Any]:
    """Send a request; if its response is the answer, let hooks judge it before anyone sees it."""
    is_held = run.hooks.listens(HookEvent.AFTER_INFERENCE) or run.hooks.listens(HookEvent.BEFORE_OUTPUT)
    steps = Stepwise(run.model(asked.given, Stop))
    events: list[Any] = []
    async for request in steps:
        events.clear()
        try:
            async for event in asked.stream(request):
                events.append(event)
                if not is_held:
                    yield event
        except Exception as error:  # noqa: BLE001 - for the hooks, or raised by the coroutine
            steps.throw(error)
        else:
            steps.answer(asked.answered(events))
    response = steps.result.response
    message = asked.message if response is asked.ours else asked.judged(response)
    if not any("toolUse" in block for block in message["content"]):
        answer = "".join(block.get("text", "") for block in message["content"])
        ending = await run.end(answer)
        if ending.again is not None:
            _AGAIN[run] = ending.again
        elif ending.output is None:
            raise RefusedError(ending.reason, str(HookEvent.BEFORE_OUTPUT))
        elif ending.output != answer:
            message = {"role": "assistant", "content": [{"text": str(ending.output)}]}
    for event in asked.events_of(message) if message is not asked.message else events if is_held else ():
        yield event


# -- calls of tools ----------------------------------------------------------------------------------------------------


def _before_tool(event: Any) -> None:
    """Have a guarded tool called in place of the one that the model wants."""
    run = current_run()
    if run is None and (hooks := _INSTALLED.get(event.agent.hooks)) is not None:
        run = _begin(event.agent, hooks)  # of ``agent.tool.name()``
    if run is not None and event.selected_tool is not None:
        event.selected_tool = _GuardedTool(event.selected_tool, event, run)


class _GuardedTool(AgentTool):
    """A tool with one call under hooks."""

    def __init__(self, tool: AgentTool, event: Any, run: GuardedRun) -> None:
        super().__init__()
        self._tool, self._event, self._run = tool, event, run

    tool_name = property(lambda self: self._tool.tool_name)
    tool_spec = property(lambda self: self._tool.tool_spec)
    tool_type = property(lambda self: self._tool.tool_type)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._tool, name)

    async def stream(self, tool_use: Any, invocation_state: Any, **kwargs: Any) -> AsyncGenerator[Any, None]:
        """Make the call, and yield its events; the last one is its result, as hooks judged it."""
        run = self._run
        hooks = run.owner if isinstance(run.owner, AgentHooks) else AgentHooks.of(run)
        schema = self.tool_spec.get("inputSchema", {}).get("json", {})
        given = tool_use["input"] if isinstance(tool_use["input"], dict) else {"input": tool_use["input"]}
        # A call by a program can have objects of Strands among its arguments.
        known = schema.get("properties") or given
        args = {name: value for name, value in given.items() if name in known}
        if self.tool_type == "structured_output":
            hooks._tools[tool_use["name"]] = (schema, "other")
        call = hooks.call(tool_use["name"], args, str(tool_use["toolUseId"]), schema=schema)
        answered = _answered(self._event.agent, call.id)
        answer, about, question, number = answered or (None, None, None, 0)
        result: Any = None
        passed = (InterruptException,)
        steps = Stepwise(run.tool(call, Stop, answer=answer, about=about, question=question, passed=passed))
        async for changed in steps:
            sent = tool_use
            if changed.args != call.args:
                new = thaw(dict(changed.args))
                others = {name: value for name, value in given.items() if name not in known}
                sent = {**tool_use, "input": {**others, **new} if given is tool_use["input"] else new["input"]}
            last: Any = None
            try:
                async for event in self._tool.stream(sent, invocation_state, **kwargs):
                    if isinstance(event, ToolInterruptEvent):
                        steps.close()
                        yield event
                        return
                    if last is not None:
                        yield last
                    last = event
            except Exception as error:  # noqa: BLE001 - for the hooks, or raised at the end
                steps.throw(error)
                continue
            result = last.tool_result if isinstance(last, ToolResultEvent) else last
            if (failure := error_of(last, result)) is not None:
                steps.throw(failure)
            else:
                steps.answer(text_of(result))
        use = steps.result
        if use.token:
            reason = {
                "call_id": call.id,
                "name": use.call.name,
                "args": thaw(dict(use.call.args)),
                "reason": use.reason,
            }
            try:
                self._event.interrupt(f"{_NAME}-{number + 1}", reason={**reason, "number": number + 1})
            except InterruptException as interrupt:
                yield ToolInterruptEvent(tool_use, [interrupt.interrupt])
                return
        if use.exception is not None and not isinstance(use.exception, (RunError, ToolFailedError)) and result is None:
            raise use.exception
        yield ToolResultEvent(result_of(use, result, call.id))


def _answered(agent: Agent, call_id: str) -> tuple[bool, Any, str, int] | None:
    """Return the answer to the last question about a call, its arguments, text and number; None if there is none."""
    found: Any = None
    for each in agent._interrupt_state.interrupts.values():
        asked = each.reason if isinstance(each.reason, dict) else {}
        if each.name.startswith(f"{_NAME}-") and asked.get("call_id") == call_id and each.response is not None:
            approved = each.response is True or each.response == "approve"
            one = (approved, asked["args"], asked["reason"], asked["number"])
            found = one if found is None or found[-1] < one[-1] else found
    return found  # type: ignore[no-any-return]
