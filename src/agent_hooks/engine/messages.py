"""The messages of a step: the assistant's, and one for each tool call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.errors import StopRunError, SubagentDeniedError
from agent_hooks.model.state import Message, hook_message
from agent_hooks.model.tool_call import WITHHELD_TYPE, ErrorInfo, ToolExecution
from agent_hooks.model.values import FrozenDict

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import AgentState, Step
    from agent_hooks.model.tool_call import ToolCall

NOT_RUN = "Not run: the run was stopped."
CUT_SHORT = "The run ended before this call had a result; what it did is not known."
UNRELEASED = "Withheld: the run ended before this answer was let out."
# The error type of a call without a result, because the run ended first.
_CUT_TYPE = "Cancelled"
# The metadata of a tool's message.
_OF_ERROR, _OF_RESULT = FrozenDict(is_error=True), FrozenDict()
# Errors that are no failure: a hook, a person or the tool itself decided so.
_INTENDED = frozenset({WITHHELD_TYPE, _CUT_TYPE, StopRunError.__name__, SubagentDeniedError.__name__})


def has_failed(execution: ToolExecution) -> bool:
    """Whether a call failed. Being blocked, withheld or stopped on purpose is no failure."""
    error = execution.error
    return error is not None and not execution.was_blocked and error.type not in _INTENDED


def unfinished(call: ToolCall, *, is_begun: bool) -> ToolExecution:
    """Return the execution that stands for a call without a result, because the run ended first."""
    return ToolExecution(call=call, error=ErrorInfo(type=_CUT_TYPE, message=CUT_SHORT if is_begun else NOT_RUN))


def with_cut_step(state: AgentState, step: Step) -> AgentState:
    """Return the state with a step that was cut short, its results and usage kept."""
    if step.is_blank:
        return state
    return state.with_messages(*messages_of(step)).with_step(step).replace(usage=state.usage + step.usage)


def messages_from(outcome: HookOutcome) -> tuple[Message, ...]:
    """Return the messages of an outcome, and its context as one."""
    return (*outcome.messages, hook_message(outcome.context)) if outcome.context else outcome.messages


def messages_of(step: Step) -> Iterator[Message]:
    """Yield the messages of a step; none if the model's response was withheld."""
    if step.message is None:
        return
    yield step.message
    for execution in step.executions:
        call = execution.call
        fields = {"role": "tool", "content": execution.text, "name": call.name, "tool_call_id": call.id}
        yield Message._of({**fields, "metadata": _OF_ERROR if execution.failed else _OF_RESULT})
    yield from step.messages


def last_of(role: str, state: AgentState) -> Any:
    """Return the content of the last message of a role, None without one; messages of hooks do not count."""
    for message in reversed(state.messages):
        if message.role == role and not message.metadata.get("source"):
            return message.content
    return None
