"""Subagents: an agent run by a tool or hook of another agent, in its session and under its gates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.suspension import Paused
from agent_hooks.errors import RefusedError, SubagentDeniedError, SubagentError, SuspensionError
from agent_hooks.model.state import AgentState, StopReason, Usage
from agent_hooks.model.tool_call import ErrorInfo

from .current import CURRENT, count_usage
from .loop import AgentRun
from .pausing import Resumption, pause_for

if TYPE_CHECKING:
    from agent_hooks.model.outcome import HookOutcome

    from .agent import AgentRuntime
    from .current import StartedAgents


async def run_subagent(
    agent: AgentRuntime, task: str, *, name: str = "", max_depth: int = 3, told: bool = True
) -> AgentState:
    """Run ``agent`` on ``task`` inside the run whose tool or hook calls this, and return its last state with the
    result as ``output``.

    The subagent works in the session and the project of its parent and inherits its hooks, ranked above its own: all
    hooks on events whose gates block when they fail, elsewhere the ``required`` ones and the observers.
    ``before_subagent`` may change the task or deny it, ``after_subagent`` judges the result; ``told=False`` skips both,
    for an agent that is part of a hook. Its model usage counts for the parent, too. If it waits for an answer, the
    parent's run waits, and resuming that run resumes the subagent. Outside of a run, it runs like any agent.

    ``name``: matched by hooks (default: the agent's). ``max_depth``: the limit of nested subagents. Raises
    ``SubagentError``, written for the model, if the nesting is too deep or the agent is denied or fails.
    """
    name = name or agent.name
    caller = CURRENT.get()
    run, started = caller.run, caller.agents
    if run is None:
        state = await agent.run(task)
        if state.suspended is not None:
            raise SuspensionError(f"Subagent {name!r} waits for an answer, and no run can wait with it.")
        return _finished(state, name)
    if run.depth >= max_depth:
        raise SubagentError(f"Maximum nesting depth ({max_depth}) reached for subagent {name!r}.")
    if started is not None and started.first_wait is not None:
        raise started.first_wait
    if started is not None and started.is_over:
        raise SubagentError(f"Subagent {name!r} is not started: the tool call that it belongs to has ended.")
    return await _Subagent(run, started if told else None, agent, name, max_depth, told).run(task)


@dataclass
class _Subagent:
    """An agent started by a run. ``started``: the agents of the tool call, None if a hook starts it."""

    parent: AgentRun
    started: StartedAgents | None
    agent: AgentRuntime
    name: str
    max_depth: int
    has_events: bool
    is_resumed: bool = False
    state: AgentState | None = None  # set when it waits

    async def run(self, task: str) -> AgentState:
        """Return its last state. Raises ``SubagentError``, and ``Paused`` if it waits for an answer."""
        started = self.started
        if started is None:
            try:
                return await self.finish(task, AgentState())
            except Paused as paused:
                why = f"Subagent {self.name!r} needs approval, and a hook cannot wait for it: {paused.suspended.reason}"
                raise SubagentError(why.rstrip(": ")) from None
        # After a resumption the tool runs again, but its finished agents do not.
        mine = started.start(self.name, task)
        self.is_resumed = mine.is_answered
        try:
            mine.state = await self.finish(task, mine.state or AgentState())
        except SubagentError as error:
            # Recorded, so that it is raised again when the tool is called again.
            mine.state = AgentState(errors=(ErrorInfo(type=type(error).__name__, message=str(error)),))
            raise
        except Paused as wait:
            await started.suspend(mine, wait, self.state)
            raise
        finally:
            mine.is_active = False
        return mine.state

    async def finish(self, task: str, earlier: AgentState) -> AgentState:
        """Run an agent that was interrupted at ``earlier`` to its end. Raises ``Paused`` if it still waits."""
        if (paused := earlier.suspended) is not None:
            resumption = self.parent.resumption if self.is_resumed else None
            if resumption is None:  # the answer is for another agent
                raise self.suspension(earlier)
            self.parent.resumption = None
            inside = Resumption(paused, resumption.decision, self.agent.store, outer=resumption)
            run = AgentRun(self.agent, earlier, paused.prompt, inside, parent=self.parent)
        elif earlier.execution_id:
            return earlier
        elif earlier.errors:
            (error,) = earlier.errors
            raise (SubagentDeniedError if error.type == SubagentDeniedError.__name__ else SubagentError)(error.message)
        else:
            if self.has_events:
                how: dict[str, Any] = {"max_depth": self.max_depth, "note": self.note, "may_resume": self.is_resumed}
                task = await self.parent.before_subagent(self.name, task, **how)
            run = AgentRun(self.agent, AgentState(), task, parent=self.parent)
        before = run.state.model_usage
        try:
            state = await run.run_to_end()
        except RefusedError as error:
            raise SubagentDeniedError(f"Denied: {error}") from error
        finally:
            for model, used in run.state.model_usage.items():
                count_usage(model, used - before.get(model, Usage()))
        if state.suspended is not None:
            raise self.suspension(state)
        return await self.after(task, state)

    def suspension(self, state: AgentState) -> Paused:
        """Return the exception that suspends the parent together with the agent."""
        self.state = state
        return pause_for(state, self.parent.state, self.parent.fields["session_id"])

    async def after(self, task: str, state: AgentState) -> AgentState:
        """Return the state with the result as changed by the parent's hooks. Raises ``SubagentError``."""
        if self.has_events:
            error = error_of(state)
            about = {"name": self.name, "task": task, "status": state.status, "error": error, "may_resume": False}
            result = result_of(state) if error is None else None
            result = await self.parent.after_subagent(result=result, note=self.note, max_depth=self.max_depth, **about)
            if error is None or result is not None:
                return state.replace(output=result)
        return _finished(state, self.name)

    def note(self, outcome: HookOutcome) -> None:
        """Pass the hooks' messages and context to the tool call."""
        if self.started is not None:
            self.started.outcomes.append(outcome)


def _finished(state: AgentState, name: str) -> AgentState:
    """Return the state with the result as its output. Raises ``SubagentError``, written for the model."""
    if (error := error_of(state)) is not None:
        raise SubagentError(f"Subagent {name!r} failed: {error.message or error.type}")
    return state.replace(output=result_of(state))


def error_of(state: AgentState) -> ErrorInfo | None:
    """Return the error that ended the run; the model has seen those of tools."""
    is_ended = any(signal.reason == StopReason.ERROR for signal in state.stop_signals)
    return state.errors[-1] if is_ended and state.errors else None


def result_of(state: AgentState) -> Any:
    """Return the agent's answer, or its partial output with the reason."""
    if state.status != "stopped":
        return state.output
    signal, output = state.stop_signal, state.output
    if output is None:
        answers = (each.content for each in reversed(state.messages) if each.role == "assistant" and each.content)
        output = next(answers, "")
    return f"{output}\n\n(Stopped: {signal.message if signal is not None else 'it was made to'})".lstrip()
