"""Functions of a run's state: its start, changes made by hooks, steps, stop signals and the final answer."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.messages import has_failed
from agent_hooks.errors import SuspensionError
from agent_hooks.model.state import Message, Step, StopReason, StopSignal

if TYPE_CHECKING:
    from agent_hooks.model.state import AgentState
    from agent_hooks.model.tool_call import ErrorInfo, ToolExecution

    from .tool_calls import ToolCalls

_FINISHED = frozenset({"completed", "stopped", "failed"})
# Fields dropped when a finished run, or one with a new prompt, starts.
_EXECUTION = frozenset("steps current_step usage model_usage stop_signals continuation_requested errors output".split())


def fresh(state: AgentState, agent_id: str, *, is_new: bool) -> AgentState:
    """Return the state at the start of a run, without the results of an earlier one."""
    if state.suspended is not None:
        raise SuspensionError(
            "This state waits for an answer: call agent.resume(state, decision), or agent.abandon(state) to give it up."
        )
    if state.status in _FINISHED or (is_new and state.status != "ready"):
        state = type(state)._of({name: value for name, value in state._fields.items() if name not in _EXECUTION})
    return state.replace(
        agent_id=state.agent_id or agent_id,
        execution_id=os.urandom(8).hex(),
        execution_count=state.execution_count + 1,
        status="in_progress",
    )


def with_tools(step: Step, tools: ToolCalls, settled: tuple[ToolExecution | None, ...]) -> Step:
    """Return the step with the finished executions and, once all are finished, their errors."""
    executions = tuple(execution for execution in settled if execution is not None)
    failures: tuple[ErrorInfo, ...] = ()
    if len(executions) == len(settled):
        failures = tuple(e.error for e in executions if e.error is not None and has_failed(e))
    return step._with(
        executions=executions, messages=(*step.messages, *tools.messages), errors=(*step.errors, *failures)
    )


def answer_of(state: AgentState) -> Message | None:
    """Return the message with the final answer, None if the last step has none."""
    last = state.last_step
    return last.message if last is not None and last.type == "final_response" else None


def with_answer(state: AgentState, content: Any) -> AgentState:
    """Return the state with ``content`` as the final answer, in its step and in the conversation."""
    *steps, last = state.steps
    answer = last.message
    if answer is None:
        return state
    changed = answer.replace(content=content)
    messages = list(state.messages)
    if answer in messages:
        messages[len(messages) - 1 - messages[::-1].index(answer)] = changed
    return state.replace(steps=(*steps, last.replace(message=changed)), messages=tuple(messages))


_ACTIVE = "active_skill"


def active_skill(state: AgentState) -> str | None:
    """Return the name of the active skill, None if there is none."""
    name = state.metadata.get(_ACTIVE)
    return None if name is None else str(name)


def with_skill(state: AgentState, name: str | None) -> AgentState:
    """Return the state with this skill, or none, as the active one."""
    if state.metadata.get(_ACTIVE) == name:
        return state
    others = {key: value for key, value in state.metadata.items() if key != _ACTIVE}
    return state.replace(metadata=others if name is None else {**others, _ACTIVE: name})


def limit_signal(made: int, most: int) -> StopSignal:
    """Return the stop signal for the limit of steps."""
    message = f"Step limit reached: {made}/{most}. AgentBuilder.with_limits(max_steps=...) sets another, None is none."
    numbers = {"currentSteps": made, "maxSteps": most}
    return StopSignal(reason=StopReason.STEPS_LIMIT, message=message, context=numbers, source="AgentRun")
