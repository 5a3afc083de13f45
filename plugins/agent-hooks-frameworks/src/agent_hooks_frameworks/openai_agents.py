"""Hooks in agents of the OpenAI Agents SDK: ``Agent(..., hooks=AgentHooks())``, or ``protect(agent)``."""

from __future__ import annotations

from contextlib import aclosing
from functools import wraps
from typing import TYPE_CHECKING, Any

from agents import Agent, RunContextWrapper, Runner, RunState
from agents.agent import AgentBase
from agents.lifecycle import AgentHooksBase
from agents.models.interface import Model
from agents.models.multi_provider import MultiProvider

from agent_hooks.engine.calling import drive, is_failure
from agent_hooks.engine.guarded_run import current_run
from agent_hooks.errors import RefusedError, RegistrationError, RunError, RunStoppedError
from agent_hooks.model.events import HookEvent

from .framework import RUN_EVENTS, Framework, FrameworkHooks
from .openai_agents_models import content_of, guard_model, guard_provider, guarded_models
from .openai_agents_tools import ALWAYS, ASKED, CALLS, Calls, current, guard, plain, settle

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable

    from agents import RunResultStreaming

    from agent_hooks.engine.guarded_run import GuardedRun

FRAMEWORK = Framework(
    name="OpenAI Agents SDK",
    distribution="openai-agents",
    extra="openai-agents",
    events=RUN_EVENTS,
    tools={"shell": "shell", "local_shell": "shell", "apply_patch": "edit", "computer_use_preview": "other"},
    fields={
        "session_id": "`session.session_id`, else `conversation_id` or `RunConfig.group_id`, else one per run",
        "execution_id": "one per run",
        "agent_name": "the agent's `name`, after a handoff that of the agent that took over",
        "cwd": "the working directory of the process",
    },
)
_LIFECYCLE = ("on_start", "on_end", "on_handoff", "on_tool_start", "on_tool_end", "on_llm_start", "on_llm_end")


def _told(name: str) -> Callable[..., Any]:
    async def tell(self: AgentHooks, *args: Any, **kwargs: Any) -> None:
        if current() is None:
            raise RunError("An agent under hooks runs outside of Runner, or took over from an agent that has none.")
        if self.inner is not None:
            await getattr(self.inner, name)(*args, **kwargs)

    return tell


class AgentHooks(FrameworkHooks, AgentHooksBase[Any, Any]):
    """The hooks of an agent: of its runs, its requests to models, its tools, and the agents it starts or hands over to.

    Arguments and errors are those of ``FrameworkHooks``. ``inner``: lifecycle hooks of the SDK that are told as well.
    A question interrupts the run as ``needs_approval`` does, and is answered by ``RunState.approve`` or ``reject``. A
    run that hooks stop raises ``RunStoppedError``, a refused prompt ``PromptRefusedError``, a withheld answer
    ``RefusedError``.
    """

    framework = FRAMEWORK
    inner: Any = None


for _name in _LIFECYCLE:
    setattr(AgentHooks, _name, _told(_name))


def protect(agent: Any, hooks: AgentHooks) -> Any:
    """Add the hooks to an agent that exists; lifecycle hooks that it has are kept."""
    if not isinstance(agent, Agent):
        raise RegistrationError(f"{type(agent).__name__} has no hooks: protect the Agent that Runner.run is given.")
    if isinstance(agent.hooks, AgentHooks):
        raise RegistrationError(f"The agent {agent.name!r} has AgentHooks already.")
    hooks.inner = agent.hooks
    agent.hooks = hooks
    return agent


# -- runs --------------------------------------------------------------------------------------------------------------


def _begin(agent: Agent[Any], given: Any, options: dict[str, Any]) -> GuardedRun | None:
    """Return a new run, with the agent's own hooks or those of the run whose tool starts it; None without any."""
    parent, hooks = current_run(), agent.hooks
    if not isinstance(hooks, AgentHooks):
        if parent is None:
            return None
        hooks = AgentHooks.of(parent)
    config, session = options.get("run_config"), options.get("session")
    read: Callable[[str], Any] = config.get if isinstance(config, dict) else lambda name: getattr(config, name, None)
    fields: dict[str, Any] = {"agent_name": agent.name or "agent"}
    asked = given.get_interruptions() if isinstance(given, RunState) else []
    before = [known for item in asked if (known := ASKED.pop(plain(item.raw_item).get("call_id") or "", None))]
    named = (getattr(session, "session_id", None), options.get("conversation_id"), read("group_id"), *before)
    if known := next(filter(None, named), None):
        fields["session_id"] = str(known)
    run = hooks.begin(**fields)
    CALLS[run] = Calls(run, asked)
    guard_provider(read("model_provider"))
    if isinstance(model := read("model"), Model):
        guard_model(model)
    return run


async def _started(run: GuardedRun, given: Any) -> Any:
    """Start the run; return its input with the prompt, which is its last message, as changed by hooks."""
    if isinstance(given, RunState):
        await run.start()
        return given
    if isinstance(given, str):
        return await run.start(given)
    items = list(given)
    last = plain(items[-1]) if items else {}
    if last.get("role") != "user":
        await run.start()
        return items
    text = content_of(last)
    if (prompt := await run.start(text)) != text:
        items[-1] = {**last, "content": prompt}
    return items


async def _failed(run: GuardedRun, error: BaseException) -> None:
    if isinstance(error, RunStoppedError):
        await run.end(None, may_continue=False)
    elif is_failure(error) and not isinstance(error, RunError):
        await run.fail(error, may_retry=False)


async def _ended(run: GuardedRun, result: Any, options: dict[str, Any]) -> Any:
    """End a run, unless it waits; return the input of another round, if hooks request one."""
    if result.interruptions:
        return None
    calls = CALLS[run]
    ending, calls.ending = calls.ending, None
    if ending is None:
        ending = await run.end(result.final_output)
        if ending.again is None and ending.output is None and result.final_output is not None:
            raise RefusedError(ending.reason, str(HookEvent.BEFORE_OUTPUT))
        if ending.again is None:
            result.final_output = ending.output
    if ending.again is None:
        return None
    message: Any = {"role": "user", "content": ending.again}
    if options.get("session") is not None or options.get("conversation_id"):  # these have the rest
        return [message]
    options.pop("previous_response_id", None)
    return [*result.to_input_list(), message]


def _with_hooks(run_agent: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``Runner.run`` with hooks."""

    @wraps(run_agent)
    async def run_with_hooks(_cls: Any, starting_agent: Agent[Any], input: Any, **options: Any) -> Any:  # noqa: A002
        run = _begin(starting_agent, input, options)
        if run is None:
            return await run_agent(starting_agent, input, **options)
        with run.active():
            try:
                given = await _started(run, input)
                while given is not None:
                    result = await run_agent(starting_agent, given, **options)
                    starting_agent, given = result.last_agent, await _ended(run, result, options)
            except BaseException as error:
                await _failed(run, error)
                raise
            return result

    return run_with_hooks


def _with_hooks_sync(run_agent: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``Runner.run_sync``, whose rounds run in the event loop that it makes, with hooks around them."""

    @wraps(run_agent)
    def run_with_hooks(_cls: Any, starting_agent: Agent[Any], input: Any, **options: Any) -> Any:  # noqa: A002
        run = _begin(starting_agent, input, options)
        if run is None:
            return run_agent(starting_agent, input, **options)
        with run.active():
            try:
                given = _now(run, _started(run, input))
                while given is not None:
                    result = run_agent(starting_agent, given, **options)
                    starting_agent, given = result.last_agent, _now(run, _ended(run, result, options))
            except BaseException as error:
                _now(run, _failed(run, error))
                raise
            return result

    return run_with_hooks


def _now(run: GuardedRun, part: Any) -> Any:
    """Run a part of the run to its end where nobody can await it: async hooks go through the portal thread."""
    run.sync = True
    try:
        return drive(part)
    finally:
        run.sync = False


def _with_hooks_streamed(run_agent: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``Runner.run_streamed`` with hooks. It is no coroutine, so the prompt is judged as in a sync call."""

    @wraps(run_agent)
    def run_with_hooks(_cls: Any, starting_agent: Any, input: Any, *args: Any, **options: Any) -> Any:  # noqa: A002
        run = _begin(starting_agent, input, options)
        if run is None:
            return run_agent(starting_agent, input, *args, **options)
        with run.active():
            try:
                given = _now(run, _started(run, input))
            except BaseException as error:
                _now(run, _failed(run, error))
                raise
            result = run_agent(starting_agent, given, *args, **options)
        result.stream_events = lambda: _events(run, result, result.__class__, run_agent, args, options)
        return result

    return run_with_hooks


async def _events(
    run: GuardedRun, result: RunResultStreaming, kind: Any, run_agent: Any, args: tuple[Any, ...], options: Any
) -> AsyncGenerator[Any, None]:
    """Yield the events of a run and of each further round that hooks request; the result is then that of the last."""
    shown: Any = result
    while True:
        try:
            async with aclosing(kind.stream_events(shown)) as events:
                async for event in events:
                    yield event
            given = await _ended(run, shown, options)
        except BaseException as error:
            if not isinstance(error, GeneratorExit):
                await _failed(run, error)
            raise
        if shown is not result:
            vars(result).update({name: value for name, value in vars(shown).items() if name != "stream_events"})
        if given is None:
            return
        with run.active():
            shown = run_agent(shown.last_agent, given, *args, **options)


# -- agents ------------------------------------------------------------------------------------------------------------


def _with_guarded_tools(get_all_tools: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``Agent.get_all_tools``, which the SDK calls in each turn of each agent, with the tools under hooks."""

    @wraps(get_all_tools)
    async def get_guarded_tools(self: Any, run_context: Any) -> Any:
        at_work = current()
        if at_work is not None:
            run, calls = at_work
            await _take_over(run, calls, self)
            vars(run_context).setdefault(ALWAYS, set())
            if isinstance(getattr(self, "model", None), Model):
                guard_model(self.model)
        tools = await get_all_tools(self, run_context)
        for tool in tools:
            guard(tool)
        if at_work is not None:
            await settle(run, calls, run_context, tools)
        return tools

    return get_guarded_tools


async def _take_over(run: GuardedRun, calls: Calls, agent: Agent[Any]) -> None:
    """Let another agent take over the run after a handoff; hooks of its own are asked below those of the run."""
    name = agent.name or "agent"
    if name != run.fields["agent_name"]:
        await run.before_subagent(name, "")
        run.fields.update(agent_name=name, agent_id=name)
    own = agent.hooks if isinstance(agent.hooks, AgentHooks) else run.owner
    if own is not calls.added:
        joined = calls.hooks if own is run.owner else own.hooks.under(calls.hooks)
        run.hooks, calls.added = joined.in_session(run.fields["session_id"]), own


def _with_own_always(approve: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``RunContextWrapper.approve_tool``: under hooks, ``always_approve`` is the answer to this question and to
    what the tool asks by itself, not to the next question of hooks, which the SDK would then not put.
    """

    @wraps(approve)
    def approve_tool(self: Any, approval_item: Any, always_approve: bool = False) -> None:
        agent = approval_item.agent
        if always_approve and (ALWAYS in vars(self) or isinstance(getattr(agent, "hooks", None), AgentHooks)):
            vars(self)[ALWAYS] = vars(self).get(ALWAYS, set()) | {(agent.name or "agent", approval_item.tool_name)}
            always_approve = False
        approve(self, approval_item, always_approve)

    return approve_tool


# -- once, for all agents ----------------------------------------------------------------------------------------------

Runner.run = classmethod(_with_hooks(Runner.run))  # type: ignore[method-assign,assignment]
Runner.run_sync = classmethod(_with_hooks_sync(Runner.run_sync))  # type: ignore[method-assign,assignment]
Runner.run_streamed = classmethod(_with_hooks_streamed(Runner.run_streamed))  # type: ignore[method-assign,assignment]
AgentBase.get_all_tools = _with_guarded_tools(AgentBase.get_all_tools)  # type: ignore[method-assign]
MultiProvider.get_model = guarded_models(MultiProvider.get_model)  # type: ignore[method-assign]
RunContextWrapper.approve_tool = _with_own_always(RunContextWrapper.approve_tool)  # type: ignore[method-assign]
