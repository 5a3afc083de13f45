"""One tool call, from the hooks before it to those after it: for the runtime, and for loops of others."""

from __future__ import annotations

from contextvars import ContextVar
from time import perf_counter
from typing import TYPE_CHECKING, Any, Protocol

from agent_hooks.errors import HookMisuseError, RunError, StopRunError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import PROCEED, WAITING, Decision
from agent_hooks.model.snapshot import read_only
from agent_hooks.model.state import StopSignal
from agent_hooks.model.tool_call import ErrorInfo, ToolCall, ToolExecution
from agent_hooks.model.values import written
from agent_hooks.system.by_hand import marked_as_agent

from .calling import InTurns, is_failure

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import Message

    from .hooks import Errors

    Performed = tuple[ToolExecution, BaseException | None]

NOT_AGAIN = "Not made again: the run was stopped."
MADE = "The call was made before, and its result was refused."


# The run, or the single operation, whose tool is at work: agents that it starts belong to it.
AT_WORK: ContextVar[Any] = ContextVar("agent_hooks_guarded_run", default=None)


class CallingLoop(Protocol):
    """The loop that an operation belongs to: a run of the runtime, or a ``ForeignLoop``."""

    sync: bool
    max_retries: int
    is_stopping: bool

    @property
    def at_work(self) -> Any:
        """The run that agents belong to which a tool starts."""

    @property
    def ask(self) -> Callable[..., Awaitable[HookOutcome]]:
        """A coroutine function that dispatches an event with these fields, and applies its outcome."""

    @property
    def pause(self) -> Callable[..., BaseException]:
        """Return the exception to raise for an operation that has to wait: ``pause(event, outcome, made=…, **about)``,
        where it was made ``made`` times.
        """

    def stop(self, signal: StopSignal) -> None:
        """Stop the run."""


def refuse_async(result: Any, what: str, method: str) -> None:
    """Raise ``HookMisuseError`` for an awaitable in a sync loop."""
    getattr(result, "close", bool)()
    raise HookMisuseError(f"{what} is async: use `await hooks.{method}(...)`.")


class PendingCall:
    """One call in progress. ``execution``: the result as judged by its hooks, None while it is pending; ``made``: the
    number of executions; ``opening`` and ``context``: the outcome of the hooks before it, and their context;
    ``messages``: those that hooks add behind the result. ``run(call)`` returns the tool's own result, and raises its
    errors; those of the types ``passed`` are raised on, not told to hooks. ``returned``: the tool's own object.
    """

    run: Callable[[ToolCall], Any]
    made = 0
    context = ""
    opening: HookOutcome = PROCEED
    passed: Errors = ()
    returned: Any = None

    def __init__(
        self, call: ToolCall, loop: CallingLoop, messages: list[Message], execution: ToolExecution | None = None
    ) -> None:
        self.call = call
        self.loop = loop
        self.messages = messages
        self.execution = execution

    async def before(self) -> ToolCall | None:
        """Return the call as changed by its hooks; None if they block it, which settles it."""
        call, loop = self.call, self.loop
        outcome = self.opening = await loop.ask(HookEvent.BEFORE_TOOL_USE, tool_call=call)
        if outcome is PROCEED:
            self.context = ""
            return call
        if outcome.decision in WAITING:
            raise loop.pause(HookEvent.BEFORE_TOOL_USE, outcome, made=self.made, tool_call=call)
        self.context = "\n\n".join(filter(None, (outcome.context, MADE if self.made and outcome.blocks else "")))
        self.messages += outcome.messages
        if "tool_args" in outcome._fields:
            call = call.with_args(outcome._fields["tool_args"])
        if not outcome.blocks:
            return call
        execution = with_context(ToolExecution.denied(call, outcome.reason), self.context)
        await self._tell_blocked(execution)
        self.execution = execution
        return None

    async def _tell_blocked(self, execution: ToolExecution) -> None:
        call = execution.call
        await self.loop.ask(HookEvent.AFTER_TOOL_USE, tool_call=call, tool_execution=execution, was_blocked=True)

    async def perform(self, call: ToolCall) -> Performed:
        """Run the tool; return the execution and the error, if any."""
        started, before = perf_counter(), AT_WORK.get()
        try:
            AT_WORK.set(self.loop.at_work)
            try:
                with marked_as_agent():
                    result = self.run(call)
                    if hasattr(result, "__await__"):
                        if self.loop.sync:
                            refuse_async(result, f"The tool {call.name}", "call_tool")
                        result = await result
            finally:
                AT_WORK.set(before)  # no token: a call may end in another task than it began in
            self.returned = result
            if hasattr(type(result), "__next__") or hasattr(type(result), "__anext__"):
                raise RunError("The tool returned an iterator, which can be read only once; it must return a list.")
            duration = perf_counter() - started
            result = read_only(result)
            if hasattr(type(result), "__next__"):
                in_turns = InTurns(result)
                result = in_turns.at_once() if self.loop.sync else await in_turns
            return ToolExecution._of({"call": call, "result": result, "duration": duration}), None
        except BaseException as error:  # noqa: BLE001 - raised on if it is no failure
            return self.failed(call, error, perf_counter() - started), error

    def failed(self, call: ToolCall, error: BaseException, duration: float) -> ToolExecution:
        """Return the execution that failed with this error. Raises the error if it is no failure of the tool."""
        if not is_failure(error) or isinstance(error, self.passed):
            raise error
        if isinstance(error, StopRunError):
            self.loop.stop(StopSignal.requested(error, call.name))
        return ToolExecution(call=call, error=described(error), duration=duration)

    async def after(self, execution: ToolExecution, error: BaseException | None) -> None:
        """Dispatch the result to hooks, and keep it unless they request a retry."""
        self.made += 1
        if execution.was_blocked:  # by the hooks of the tool's own action
            execution = self.execution = with_context(execution, self.context)
            await self._tell_blocked(execution)
            return
        again = False
        if error is not None and execution.error is not None:
            outcome = await self.loop.ask(
                HookEvent.ON_TOOL_ERROR,
                tool_call=execution.call,
                tool_execution=execution,
                error=error,
                error_text=execution.error.message,
            )
            self.messages += outcome.messages
            again = outcome.decision is Decision.RETRY
            if outcome.error_text is not None:
                execution = execution.replace(error=execution.error.replace(message=outcome.error_text))
            execution = with_context(execution, after=outcome.context)
        fields = execution._fields
        outcome = await self.loop.ask(
            HookEvent.AFTER_TOOL_USE,
            tool_call=fields["call"],
            tool_execution=execution,
            result=fields.get("result"),
            error=fields.get("error"),
        )
        if outcome is PROCEED and not again:
            self.execution = with_context(execution, self.context) if self.context else execution
            return
        self.messages += outcome.messages
        is_refused = outcome.decision is Decision.RETRY
        is_stopped, most = self.loop.is_stopping, self.loop.max_retries
        if (again or is_refused) and self.made <= most and not is_stopped:
            return
        if "result" in outcome._fields:
            execution = execution.replace(result=outcome.result, error=None)
        if is_refused or outcome.decision is Decision.DENY:
            # A retry skips the remaining hooks: a result that they have not judged must not reach the model.
            limit = NOT_AGAIN if is_stopped else f"Retry limit reached: {most}/{most}."
            execution = execution.withheld(f"{limit} {outcome.reason}".rstrip() if is_refused else outcome.reason)
        self.execution = with_context(execution, self.context, outcome.context)


def with_context(execution: ToolExecution, before: str = "", after: str = "") -> ToolExecution:
    """Return the execution with context of hooks in front of its own, and behind it."""
    if not (before or after):
        return execution
    return execution.replace(context="\n\n".join(filter(None, (before, execution.context, after))))


def described(error: BaseException) -> ErrorInfo:
    """Return a tool's error as data; the message names the type if it is empty or a bare key."""
    name, text = type(error).__name__, written(error)
    if not text or isinstance(error, KeyError):
        text = f"{name}: {text}".removesuffix(": ")
    return ErrorInfo(type=name, message=text)
