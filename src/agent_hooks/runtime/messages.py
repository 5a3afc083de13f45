"""The messages of a step: the assistant's, and one for each tool call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.errors import StopRunError, SubagentDeniedError
from agent_hooks.model.snapshot import Snapshot, as_json
from agent_hooks.model.state import Message
from agent_hooks.model.tool_call import ErrorInfo, ToolExecution
from agent_hooks.model.values import FrozenDict, written

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import AgentState, Step
    from agent_hooks.model.tool_call import ToolCall

DENIED = "Denied: "
WITHHELD = "Result withheld: "
FAILED = "Error: "
NOT_RUN = "Not run: the run was stopped."
CUT_SHORT = "The run ended before this call had a result; what it did is not known."
UNRELEASED = "Withheld: the run ended before this answer was let out."
# The error type of a result that a hook withholds from the model.
WITHHELD_TYPE = "ToolResultWithheld"
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


def hook_message(text: str) -> Message:
    """Return the message that gives context of hooks to the model."""
    return Message(role="user", content=text, metadata={"source": "hooks"})


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
        fields = {"role": "tool", "content": text_of(execution), "name": call.name, "tool_call_id": call.id}
        yield Message._of({**fields, "metadata": _OF_ERROR if execution.failed else _OF_RESULT})
    yield from step.messages


def text_of(execution: ToolExecution) -> str:
    """Return the text about a tool call for the model: the result or reason, and context of hooks."""
    error = execution.error
    if execution.was_blocked:
        text = DENIED + execution.reason
    elif error is None:
        text = as_text(execution._fields.get("result"))
    elif error.type == WITHHELD_TYPE:
        text = WITHHELD + execution.reason
    else:
        text = FAILED + error.message
    return f"{text}\n\n{execution.context}" if execution.context else text


def error_text(error: BaseException) -> str:
    """Return a tool's error message, with the type if the message is empty or a bare key."""
    text = written(error)
    return text if text and not isinstance(error, KeyError) else f"{type(error).__name__}: {text}".removesuffix(": ")


def as_text(result: Any) -> str:
    """Return a tool's result as text: a string unchanged, None as an empty one, the rest as JSON."""
    if isinstance(result, str):
        return result
    if result is None:
        return ""
    return result.text if type(result) is Snapshot else as_json(result)
