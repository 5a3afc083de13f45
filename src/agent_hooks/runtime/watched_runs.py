"""Telling the framework's own observers of runs and of tool calls."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.watching import NOBODY, Watchers, tell
from agent_hooks.model.events import HookEvent

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Iterable, Iterator

    from agent_hooks.engine.watching import Observer
    from agent_hooks.model.state import AgentState
    from agent_hooks.model.tool_call import ToolCall

    from .loop import AgentRun
    from .python_tools import Tool


def watchers_of(run: AgentRun) -> Watchers:
    """Return the observers of a run; an interceptor without hooks has none."""
    found = getattr(run.hooks, "watchers", NOBODY)
    return found if isinstance(found, Watchers) else NOBODY


def watched(run: AgentRun, states: AsyncGenerator[AgentState]) -> AsyncGenerator[AgentState]:
    """Return the states of a run, of which the observers are told if there are any."""
    observers = watchers_of(run).agent_hooks_run_started
    return _watched(run, states, observers) if observers else states


async def _watched(
    run: AgentRun, states: AsyncGenerator[AgentState], observers: Iterable[Observer]
) -> AsyncGenerator[AgentState]:
    started = tell(observers, run.context(HookEvent.BEFORE_EXECUTION))
    error: BaseException | None = None
    try:
        while True:
            tell(_methods(reversed(started), "resume"))
            try:
                state = await anext(states)
            except StopAsyncIteration:
                return
            finally:  # until the next part, the generator's context is that of its consumer
                tell(_methods(started, "pause"))
            yield state
    except GeneratorExit:
        await states.aclose()
        raise
    except BaseException as raised:
        error = raised
        raise
    finally:
        tell(_methods(started, "end"), run.state, error)


def _methods(started: Iterable[Observer], name: str) -> Iterator[Observer]:
    """Yield a method of each object that the observers returned; calling a missing one is their error."""
    return ((function, getattr(observed, name, None), tolerate) for function, observed, tolerate in started)


def watched_call(run: AgentRun, tool: Tool, call: ToolCall) -> Awaitable[Any]:
    """Call a tool, of which the observers are told if there are any."""
    observers = watchers_of(run).agent_hooks_tool_started
    return _watched_call(run, tool, call, observers) if observers else tool.call(call.args)


async def _watched_call(run: AgentRun, tool: Tool, call: ToolCall, observers: Iterable[Observer]) -> Any:
    started = tell(observers, run.context(HookEvent.BEFORE_TOOL_USE, tool_call=call))
    result, error, since = None, None, perf_counter()
    try:
        result = await tool.call(call.args)
    except BaseException as raised:
        error = raised
        raise
    finally:
        tell(started, result, error, perf_counter() - since)
    return result
