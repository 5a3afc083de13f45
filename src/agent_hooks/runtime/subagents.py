"""Subagents: an agent run by a tool or a hook of another one, in its session and under its gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.errors import RefusedError, SubagentDeniedError, SubagentError, SuspensionError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import Decision
from agent_hooks.model.state import AgentState, StopReason, Usage

from .current import CURRENT, count_usage
from .loop import AgentRun
from .pausing import WAITING, Resumption, Waits, pause_for

if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import Suspended
    from agent_hooks.model.tool_call import ErrorInfo

    from .agent import AgentRuntime
    from .current import StartedAgents


async def run_subagent(
    agent: AgentRuntime, task: str, *, name: str = "", max_depth: int = 3, told: bool = True
) -> AgentState:
    """Run ``agent`` on ``task`` inside the run whose tool or hook calls this, and return its last state; ``output`` is
    what it has to say.

    It works in the session and the project of its parent and inherits its hooks: all on the events whose gates block
    when they fail, those that are ``required`` and the observers elsewhere, all ranked above its own.
    ``before_subagent`` may change the task or keep it from starting, ``after_subagent`` judges the result; with
    ``told=False`` neither is asked, which is for an agent that is part of a hook. What it uses of a model counts for
    the parent, too. Where it has to wait for an answer, the parent's run waits, and ``resume`` of that goes on inside.
    Outside of a run, it runs like any agent.

    ``name``: what hooks match (default: the agent's). ``max_depth``: how many subagents there may be inside one
    another. Raises ``SubagentError``, written for the model that wanted it, if it is too deep, is denied or fails.
    """
    name = name or agent.name
    run, started = (caller := CURRENT.get()).run, caller.agents
    if run is None:
        return _ended(await agent.run(task), name)
    if run.depth >= max_depth:
        raise SubagentError(f"Maximum nesting depth ({max_depth}) reached for subagent {name!r}.")
    if started is not None and started.first_wait is not None:
        raise started.first_wait
    if started is not None and started.is_over:
        raise SubagentError(f"Subagent {name!r} is not started: the tool call that it belongs to has ended.")
    return await _Subagent(run, started if told else None, agent, name, max_depth, told=told).run(task)


class _Subagent:
    """One agent that is started by a run. ``started``: those of the tool call, None if a hook starts it."""

    def __init__(
        self,
        run: AgentRun,
        started: StartedAgents | None,
        agent: AgentRuntime,
        name: str,
        max_depth: int,
        *,
        told: bool,
    ) -> None:
        self.parent = run
        self.started = started
        self.agent = agent
        self.name = name
        self.max_depth = max_depth
        self.told = told
        self.is_resumed = False
        self.state: AgentState | None = None  # once it waits

    async def run(self, task: str) -> AgentState:
        """Return its last state. Raises ``SubagentError``, and ``Waits`` where it has to wait."""
        started = self.started
        if started is None:
            return await self.does(task, AgentState())
        # Where the run was resumed, the tool runs anew: what its agents have done already is not done again.
        mine = started.begins(self.name, task)
        self.is_resumed = mine.is_answered
        try:
            mine.state = await self.does(task, mine.state or AgentState())
        except SubagentError as error:
            mine.fails(error)
            raise
        except Waits as wait:
            await started.until_quiet(mine, wait, self.state)
            raise
        finally:
            started.rests(mine)
        return mine.state

    async def does(self, task: str, earlier: AgentState) -> AgentState:
        """Finish an agent that was interrupted at ``earlier``."""
        if earlier.suspended is not None:
            run = self.resumed(earlier, earlier.suspended)
        elif earlier.execution_id:
            return earlier
        elif earlier.errors:
            (error,) = earlier.errors
            raise (SubagentDeniedError if error.type == SubagentDeniedError.__name__ else SubagentError)(error.message)
        else:
            task = await self.before(task)
            run = AgentRun(self.agent, AgentState(), task, parent=self.parent)
        state = await self.made(run)
        if state.suspended is not None:
            raise self.waits(state)
        return await self.after(task, state)

    def resumed(self, earlier: AgentState, paused: Suspended) -> AgentRun:
        """Return the run that goes on with the answer, if it is for this agent. Raises ``Waits`` if it is not."""
        parent = self.parent
        resumption = parent.resumption if self.is_resumed else None
        if resumption is None:
            raise self.waits(earlier)
        parent.resumption = None
        inside = Resumption(paused, resumption.decision, self.agent.store, outer=resumption)
        return AgentRun(self.agent, earlier, paused.prompt, inside, parent=parent)

    async def made(self, run: AgentRun) -> AgentState:
        """Run to the end, and add the usage to the parent's."""
        before = run.state.model_usage
        try:
            async for _ in run:
                pass
        except RefusedError as error:
            raise SubagentDeniedError(f"Denied: {error}") from error
        finally:
            for model, used in run.state.model_usage.items():
                count_usage(model, used - before.get(model, Usage()))
        return run.state

    def waits(self, state: AgentState) -> BaseException:
        """Return the exception that suspends the parent with the agent."""
        if self.started is None:
            return self.cannot_wait(state.suspended.reason if state.suspended is not None else "")
        self.state = state
        return Waits(pause_for(state, self.parent.state, self.parent.place["session_id"]))

    def cannot_wait(self, why: str) -> SubagentError:
        """Return the error of an agent that a hook has started and that needs somebody's answer."""
        return SubagentError(
            f"Subagent {self.name!r} needs approval, and a hook cannot wait for it: {why}".rstrip(": ")
        )

    async def before(self, task: str) -> str:
        """Return the task as the parent's hooks leave it. Raises ``SubagentDeniedError`` if they deny it."""
        if not self.told:
            return task
        about: dict[str, Any] = {"name": self.name, "task": task, "max_depth": self.max_depth}
        event = HookEvent.BEFORE_SUBAGENT
        outcome = await self.parent.ask(event, may_resume=self.is_resumed, **about)
        if outcome.decision in WAITING:
            if self.started is None:
                raise self.cannot_wait(outcome.reason)
            raise Waits(self.parent.pause(event, outcome, **about))
        self.takes(outcome)
        if outcome.blocks:
            raise SubagentDeniedError(f"Denied: {outcome.reason}")
        changed: str = outcome._fields.get("task", task)
        return changed

    async def after(self, task: str, state: AgentState) -> AgentState:
        """Return the state with the result as the parent's hooks leave it. Raises ``SubagentError``."""
        failure = _failure(state, self.name)
        result = None if failure else _result(state)
        if self.told:
            outcome = await self.parent.ask(
                HookEvent.AFTER_SUBAGENT,
                may_resume=False,
                name=self.name,
                task=task,
                max_depth=self.max_depth,
                result=result,
                status=state.status,
                error=_error(state),
            )
            self.takes(outcome)
            if outcome.decision is Decision.DENY:
                raise SubagentDeniedError(f"Result withheld: {outcome.reason}")
            if "result" in outcome._fields:
                return state.replace(output=outcome.result)
        if failure:
            raise SubagentError(failure)
        return state.replace(output=result)

    def takes(self, outcome: HookOutcome) -> None:
        """Pass the hooks' messages and context to the tool call."""
        if self.started is not None:
            self.started.outcomes.append(outcome)


def _ended(state: AgentState, name: str) -> AgentState:
    if state.suspended is not None:
        raise SuspensionError(f"Subagent {name!r} waits for an answer, and there is no run that could wait with it.")
    if failure := _failure(state, name):
        raise SubagentError(failure)
    return state.replace(output=_result(state))


def _failure(state: AgentState, name: str) -> str:
    """Return why the agent has nothing to say, in words for the model; an empty text if it has."""
    error = _error(state)
    return "" if error is None else f"Subagent {name!r} failed: {error.message or error.type}"


def _error(state: AgentState) -> ErrorInfo | None:
    """Return the error that ended the run: not one of a tool, of which the model was told."""
    is_ended = any(signal.reason == StopReason.ERROR for signal in state.stop_signals)
    return state.errors[-1] if is_ended and state.errors else None


def _result(state: AgentState) -> Any:
    """Return the agent's answer, or its partial output with the reason."""
    if state.status != "stopped":
        return state.output
    signal = state.stop_signal
    said = state.output
    if said is None:
        said = next(
            (each.content for each in reversed(state.messages) if each.role == "assistant" and each.content), ""
        )
    return f"{said}\n\n(Stopped: {signal.message if signal is not None else 'it was made to'})".lstrip()
