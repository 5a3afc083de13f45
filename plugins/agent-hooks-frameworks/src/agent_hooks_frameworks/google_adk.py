"""Hooks in agents of Google ADK: ``App(..., plugins=[AgentHooks()])``, or ``protect(runner)``."""

from __future__ import annotations

from contextlib import aclosing
from functools import wraps
from typing import TYPE_CHECKING, Any

from google.adk.agents import BaseAgent
from google.adk.apps import App
from google.adk.models import LLMRegistry
from google.adk.plugins.base_plugin import BasePlugin
from google.adk.plugins.plugin_manager import PluginManager
from google.adk.runners import Runner
from google.genai import types

from agent_hooks.engine.calling import is_failure
from agent_hooks.engine.guarded_run import current_run
from agent_hooks.errors import RefusedError, RegistrationError, RunError, SubagentDeniedError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.snapshot import as_text

from .framework import RUN_EVENTS, Framework, FrameworkHooks
from .google_adk_calls import INVOCATIONS, NAME, Invocation, current, guard_code, guard_model, guard_tool

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from agent_hooks.engine.guarded_run import GuardedRun

FRAMEWORK = Framework(
    name="Google ADK",
    distribution="google-adk",
    extra="google-adk",
    events=RUN_EVENTS,
    tools={"code_executor": "shell", "transfer_to_agent": "subagent"},
    fields={
        "session_id": "`session_id` of the run",
        "execution_id": "one per run",
        "agent_name": "the name of the agent at work",
        "cwd": "the working directory of the process",
    },
)
_HOOKS = "_agent_hooks"


class AgentHooks(FrameworkHooks, BasePlugin):
    """The plugin that asks hooks about a run, its requests to models, its tools and the agents they start.

    Arguments and errors are those of ``FrameworkHooks``. A question is a confirmation of ADK, and is answered as one.
    A run that hooks stop raises ``RunStoppedError``, a refused prompt ``PromptRefusedError``, a withheld answer
    ``RefusedError``. It stands for the whole run, so its place among the plugins does not matter.
    """

    framework = FRAMEWORK

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        FrameworkHooks.__init__(self, *args, **kwargs)
        BasePlugin.__init__(self, name=NAME)


def protect(agent: Any, hooks: AgentHooks) -> Any:
    """Add the hooks to a runner, an app whose runner is not made yet, or the root agent of runners."""
    plugins: list[Any]
    add: Callable[[Any], None]
    if isinstance(agent, Runner):
        plugins, add = agent.plugin_manager.plugins, agent.plugin_manager.register_plugin
    elif isinstance(agent, App):
        plugins, add = agent.plugins, agent.plugins.append
    elif isinstance(agent, BaseAgent):
        plugins, add = [vars(agent).get(_HOOKS)], lambda mine: vars(agent).update({_HOOKS: mine})
    else:
        raise RegistrationError(f"{type(agent).__name__} runs no agent: protect its Runner, App or root agent.")
    if any(isinstance(plugin, AgentHooks) for plugin in plugins):
        raise RegistrationError(f"The {type(agent).__name__} has AgentHooks already.")
    add(hooks)
    return agent


# -- runs --------------------------------------------------------------------------------------------------------------


def _begin(runner: Runner, session_id: Any) -> GuardedRun | None:
    """Return a new run, with the hooks of the runner, its agent or the run whose tool starts it; None without any."""
    parent = current_run()
    hooks: Any = next((plugin for plugin in runner.plugin_manager.plugins if isinstance(plugin, AgentHooks)), None)
    hooks = hooks or vars(runner.agent).get(_HOOKS) or (None if parent is None else AgentHooks.of(parent))
    if hooks is None:
        return None
    run: GuardedRun = hooks.begin(session_id=session_id, agent_name=runner.agent.name)
    INVOCATIONS[run] = Invocation(runner)
    return run


async def _started(run: GuardedRun, message: Any) -> Any:
    """Start the run; return the message with the prompt as changed by hooks. Answers to questions are no prompt."""
    parts = (message.parts or []) if message is not None else []
    text = "\n".join(part.text for part in parts if part.text)
    if not text or any(part.function_response for part in parts):
        await run.start()
        return message
    prompt = await run.start(text)
    if prompt == text:
        return message
    return types.Content(role="user", parts=[types.Part(text=as_text(prompt)), *(p for p in parts if not p.text)])


def _with_hooks(run_agent: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``Runner.run_async``, through which every run but live ones goes, with hooks."""

    @wraps(run_agent)
    async def run_with_hooks(self: Runner, **options: Any) -> AsyncGenerator[Any, None]:
        run = _begin(self, options.get("session_id"))
        if run is None:
            async with aclosing(run_agent(self, **options)) as events:
                async for event in events:
                    yield event
            return
        try:
            with run.active():
                options["new_message"] = await _started(run, options.get("new_message"))
            while True:
                last = _Last(run)
                async with aclosing(_each(run, run_agent(self, **options))) as events:
                    async for event in events:
                        for ready in last.take(event):
                            yield ready
                with run.active():
                    again = await last.end()
                for ready in last.held:
                    yield ready
                if again is None:
                    return
                options["new_message"] = types.Content(role="user", parts=[types.Part(text=again)])
                options.pop("invocation_id", None)
                options.pop("state_delta", None)
        except BaseException as error:
            with run.active():
                await _failed(run, error)
            raise

    return run_with_hooks


def _with_hooks_live(run_live: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``Runner.run_live`` with hooks about tools: the model is at the other end of a connection."""

    @wraps(run_live)
    async def run_with_hooks(self: Runner, **options: Any) -> AsyncGenerator[Any, None]:
        session = options.get("session")
        run = _begin(self, options.get("session_id") or getattr(session, "id", None))
        events = run_live(self, **options)
        if run is not None:
            with run.active():
                await run.start()
            events = _each(run, events)
        async with aclosing(events) as each:
            async for event in each:
                yield event
        if run is not None:
            await run.end(None, may_continue=False)

    return run_with_hooks


async def _each(run: GuardedRun, events: Any) -> AsyncGenerator[Any, None]:
    """Yield the events of a run. It is the current one only while it works, not where its events are read."""
    async with aclosing(events):
        while True:
            with run.active():
                try:
                    event = await anext(events)
                except StopAsyncIteration:
                    return
            yield event


class _Last:
    """The last answer of a run, which is shown once hooks have judged it."""

    def __init__(self, run: GuardedRun) -> None:
        self.run, self.invocation = run, INVOCATIONS[run]
        self.held: list[Any] = []
        self.waits = False
        listens = run.hooks.listens
        self.is_judged = listens(HookEvent.BEFORE_OUTPUT) or listens(HookEvent.AFTER_SUBAGENT)
        self.text: str | None = None

    def take(self, event: Any) -> list[Any]:
        """Return the events that may be shown now that this one has come."""
        self.waits = self.waits or bool(event.long_running_tool_ids)
        parts = (event.content.parts or []) if event.content else []
        text = "".join(part.text for part in parts if part.text and not part.thought)
        if not event.partial and text and event.author != "user":
            self.text = text
        is_answer = event.partial or (text and event.is_final_response())
        ready: list[Any] = []
        if not is_answer or not self.is_judged or self.invocation.ending is not None:
            ready, self.held = [*self.held, event], []
            return ready
        if self.held and not self.held[-1].partial:
            ready, self.held = self.held, []
        self.held.append(event)
        return ready

    async def end(self) -> str | None:
        """End the run, unless it waits; return the prompt of another round, if hooks request one."""
        if self.waits:
            return None
        ending, self.invocation.ending = self.invocation.ending, None
        if ending is None:
            ending = await self.run.end(self.text)
            if ending.again is None and ending.output is None and self.text is not None:
                raise RefusedError(ending.reason, str(HookEvent.BEFORE_OUTPUT))
            if ending.again is None and ending.output != self.text and self.held:
                last = self.held[-1]
                last.content = types.Content(role="model", parts=[types.Part(text=as_text(ending.output))])
                self.held = [last]
        return ending.again


async def _failed(run: GuardedRun, error: BaseException) -> None:
    if isinstance(error, GeneratorExit):
        return
    if run.stop_signal is not None:
        await run.end(None, may_continue=False)
    elif is_failure(error) and not isinstance(error, RunError):
        await run.fail(error, may_retry=False)


# -- agents, tools and models ------------------------------------------------------------------------------------------


def _before_agent(callback: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(callback)
    async def with_hooks(self: Any, *, agent: Any, callback_context: Any) -> Any:
        at_work, own = current(), vars(agent).get(_HOOKS)
        if at_work is None and own is not None:
            raise RunError(f"The agent {agent.name!r} is protected, and its root agent is not: protect the Runner.")
        guard_code(agent)
        if at_work is not None and agent.name != at_work[1].root.name:
            run, _invocation = at_work
            try:
                await run.before_subagent(agent.name, "")
            except SubagentDeniedError as denied:
                return types.Content(role="model", parts=[types.Part(text=str(denied))])
            if own is not None and own is not run.owner:
                joined = own.hooks.under(run.hooks)
                run.hooks = joined.in_session(run.fields["session_id"])
        return await callback(self, agent=agent, callback_context=callback_context)

    return with_hooks


def _before_tool(callback: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(callback)
    async def with_hooks(self: Any, *, tool: Any, tool_args: Any, tool_context: Any) -> Any:
        if current() is not None:
            guard_tool(tool)
        return await callback(self, tool=tool, tool_args=tool_args, tool_context=tool_context)

    return with_hooks


def _before_model(callback: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(callback)
    async def with_hooks(self: Any, *, callback_context: Any, llm_request: Any) -> Any:
        if (at_work := current()) is not None:
            invocation = at_work[1]
            invocation.requests[id(llm_request)] = (llm_request, callback_context.agent_name)
            agent = callback_context._invocation_context.agent  # the context names it, no more
            guard_code(agent)
            guard_model(agent.canonical_model)
            for tool in llm_request.tools_dict.values():
                guard_tool(tool)
        return await callback(self, callback_context=callback_context, llm_request=llm_request)

    return with_hooks


# -- once, for all agents ----------------------------------------------------------------------------------------------


def _new_llm(new: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(new)
    def new_guarded_llm(*args: Any, **kwargs: Any) -> Any:
        model = new(*args, **kwargs)
        guard_model(model)
        return model

    return new_guarded_llm


Runner.run_async = _with_hooks(Runner.run_async)  # type: ignore[method-assign]
Runner.run_live = _with_hooks_live(Runner.run_live)  # type: ignore[method-assign]
LLMRegistry.new_llm = staticmethod(_new_llm(LLMRegistry.new_llm))  # type: ignore[method-assign]
# Where ADK comes by each agent, request and call, in front of the plugins, which may end their round early.
PluginManager.run_before_agent_callback = _before_agent(PluginManager.run_before_agent_callback)  # type: ignore[method-assign]
PluginManager.run_before_model_callback = _before_model(PluginManager.run_before_model_callback)  # type: ignore[method-assign]
PluginManager.run_before_tool_callback = _before_tool(PluginManager.run_before_tool_callback)  # type: ignore[method-assign]
