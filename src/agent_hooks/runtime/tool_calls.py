"""The tool calls of one step: hooks judge each call, the tool runs, hooks judge the result."""

from __future__ import annotations

from dataclasses import dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.calling import InTurns, is_failure
from agent_hooks.errors import RunError, StopRunError, SuspensionError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import PROCEED, Decision
from agent_hooks.model.snapshot import read_only
from agent_hooks.model.tool_call import ErrorInfo, ToolCall, ToolExecution
from agent_hooks.system.by_hand import marked_as_agent

from .current import Caller, StartedAgents, acting_as
from .messages import NOT_RUN, WITHHELD_TYPE, error_text, has_failed, unfinished
from .pausing import Paused, Waits
from .run_states import request_signal

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping, Sequence

    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import BegunCall, Message, Suspended

    from .loop import AgentRun

    Performed = tuple[ToolExecution, BaseException | None]

NOT_AGAIN = "Not made again: the run was stopped."
MADE = "The call was made before, and its result was refused."


@dataclass(eq=False)
class Call:
    """One call in progress. ``execution``: the result as judged by its hooks; ``made``: the number of executions;
    ``context``: context of the hooks before it; ``agents``: those that its tool starts. ``begun``: the record from when
    the run was suspended during the call; ``is_answered``: the run was resumed with the answer for it.
    """

    call: ToolCall
    execution: ToolExecution | None
    made: int = 0
    context: str = ""
    is_begun: bool = False
    agents: StartedAgents = field(default_factory=StartedAgents)
    begun: BegunCall | None = None
    is_answered: bool = False


class ToolCalls:
    """The calls of one step. ``messages``: those that hooks add after the results."""

    def __init__(self, run: AgentRun, calls: Sequence[ToolCall], paused: Suspended | None) -> None:
        self.run = run
        self.retries = run.agent.policy.max_retries
        known = [tool.known(call) if (tool := run.agent.tools.get(call.name)) else call for call in calls]
        settled = paused.settled if paused is not None and len(paused.settled) == len(known) else [None] * len(known)
        self.calls = [Call(call, execution) for call, execution in zip(known, settled, strict=True)]
        if paused is not None:
            for one in self._pending()[:1]:
                one.made = paused.made
            for number, was in enumerate(paused.begun):  # the calls during which the run was suspended
                for one in (each for each in self._pending() if each.call.id == was.call.id):
                    one.begun, one.context, one.is_answered = was, was.context, number == 0
                    one.agents = StartedAgents(was, is_answered=one.is_answered)
        self.messages: list[Message] = []
        self.is_stopped = run.is_stopping

    def _pending(self) -> list[Call]:
        return [one for one in self.calls if one.execution is None]

    @property
    def settled(self) -> tuple[ToolExecution | None, ...]:
        """The executions in the order of the calls, None for a pending one."""
        return tuple(one.execution for one in self.calls)

    def cut_short(self) -> tuple[ToolExecution, ...]:
        """Return the executions of the calls for a run that ends during them."""
        return tuple(one.execution or unfinished(one.call, is_begun=one.is_begun or one.made > 0) for one in self.calls)

    # -- executing ---------------------------------------------------------------------------------------------------

    async def make(self) -> None:
        """Execute all pending calls: one after the other, or concurrently if the agent is set so."""
        if self.run.agent.parallel_tools:
            await self._make(self._pending())
        while pending := self._pending():
            await self._make(pending[:1])

    async def _make(self, calls: Sequence[Call]) -> None:
        """Execute each call once: ask hooks one by one, run the tools concurrently, dispatch the results one by one.

        A call that waits for an answer ends the batch: those before it are executed, those after it stay pending. So
        does one whose result is refused, to be retried.
        """
        ready: dict[Call, ToolCall] = {}
        waiting: Paused | None = None
        for one in calls:
            try:
                call = await self._before(one)
            except Paused as paused:
                waiting = paused
                break
            if call is not None:
                ready[one] = call
        self.run.start_answered()
        first: Paused | None = None  # of the calls that wait; the answer is for it
        begun: list[BegunCall] = []
        for one, (execution, error) in (await self._perform_all(ready)).items():
            if isinstance(error, Waits):
                first = first or error.paused
                begun.append(one.agents.record(execution.call, one.context))
            else:
                await self._after(one, execution, error)
        if first is not None and not self.is_stopped:
            raise Paused(first.suspended.replace(begun=tuple(begun)), first.operation)
        if waiting is not None:
            while retried := [one for one in ready if one.execution is None]:
                await self._make(retried[:1])
            if not self.is_stopped:
                raise waiting

    async def _perform_all(self, ready: Mapping[Call, ToolCall]) -> dict[Call, Performed]:
        if len(ready) == 1:
            return {one: await self._perform(one, call) for one, call in ready.items()}
        import asyncio

        tasks: dict[Call, asyncio.Task[Performed]] = {}
        try:
            async with asyncio.TaskGroup() as group:
                tasks.update({one: group.create_task(self._perform(one, call)) for one, call in ready.items()})
        except BaseException:
            # Finished results are kept when the other calls are cancelled, unless hooks would have to judge them.
            if not any(map(self.run.hooks.listens, (HookEvent.ON_TOOL_ERROR, HookEvent.AFTER_TOOL_USE))):
                for one, task in tasks.items():
                    if task.done() and not task.cancelled() and task.exception() is None:
                        one.execution = _with_context(task.result()[0], one.context)
            raise
        return {one: task.result() for one, task in tasks.items()}

    async def _before(self, one: Call) -> ToolCall | None:
        """Return the call as changed by its hooks; None if they block it, which sets its execution."""
        if one.begun is not None:
            call, one.begun = one.begun.call, None
            return self.run.agent.tools[call.name].known(call) if call.name in self.run.agent.tools else call
        call = one.call
        if self.is_stopped:
            if one.made:
                one.execution = _withheld(ToolExecution(call=call), NOT_AGAIN)
            elif one.is_begun:
                one.execution = unfinished(call, is_begun=True)
            else:
                one.execution = ToolExecution.denied(call, NOT_RUN)
            return None
        outcome = await self.run.ask_or_pause(HookEvent.BEFORE_TOOL_USE, made=one.made, tool_call=call)
        if outcome is PROCEED:
            one.context = ""
            return call
        one.context = "\n\n".join(filter(None, (outcome.context, MADE if one.made and outcome.blocks else "")))
        self.add_outcome(outcome)
        if "tool_args" in outcome._fields:
            call = call.with_args(outcome._fields["tool_args"])
        if not outcome.blocks:
            return call
        self.run.start_answered()
        execution = ToolExecution.denied(call, outcome.reason).replace(context=one.context)
        await self.run.ask(HookEvent.AFTER_TOOL_USE, tool_call=call, tool_execution=execution, was_blocked=True)
        one.execution = execution
        return None

    async def _perform(self, one: Call, call: ToolCall) -> Performed:
        """Run the tool; return the execution and the error, if any."""
        started = perf_counter()
        one.is_begun = True
        with acting_as(Caller(self.run, self.run.spent, one.agents)):
            try:
                tool = self.run.agent.tools.get(call.name)
                if tool is None:
                    raise RunError(f"There is no tool {call.name!r}. There are: {', '.join(self.run.agent.tools)}.")
                try:
                    with marked_as_agent():
                        result = await tool.call(call.args)
                finally:
                    await one.agents.end()
                    for outcome in one.agents.outcomes:
                        one.context = "\n\n".join(filter(None, (one.context, outcome.context)))
                        self.add_outcome(outcome)
                if one.agents.first_wait is not None:
                    raise one.agents.first_wait
                if hasattr(type(result), "__next__") or hasattr(type(result), "__anext__"):
                    raise RunError("The tool returned an iterator, which can be read only once; it must return a list.")
                duration = perf_counter() - started
                result = read_only(result)
                if hasattr(type(result), "__next__"):
                    result = await InTurns(result)
                return ToolExecution._of({"call": call, "result": result, "duration": duration}), None
            except BaseException as error:
                if one.agents.first_wait is not None and _is_wait_or_failure(error):
                    return ToolExecution(call=call), one.agents.first_wait
                if not is_failure(error) or (one.is_answered and isinstance(error, SuspensionError)):
                    raise
                if isinstance(error, StopRunError):
                    self.is_stopped = True
                    self.run.add_signal(request_signal(error, call.name))
                info = ErrorInfo(type=type(error).__name__, message=error_text(error))
                return ToolExecution(call=call, error=info, duration=perf_counter() - started), error

    async def _after(self, one: Call, execution: ToolExecution, error: BaseException | None) -> None:
        """Dispatch the result to hooks, and keep it unless they request a retry."""
        one.made += 1
        again = False
        if execution.error is not None:
            text = execution.error.message
            outcome = await self._ask(HookEvent.ON_TOOL_ERROR, execution, error=error, error_text=text)
            again = outcome.decision is Decision.RETRY
            if outcome.error_text is not None:
                execution = execution.replace(error=execution.error.replace(message=outcome.error_text))
            execution = _with_context(execution, after=outcome.context)
        result = execution._fields.get("result")
        outcome = await self._ask(HookEvent.AFTER_TOOL_USE, execution, result=result, error=execution.error)
        is_refused = outcome.decision is Decision.RETRY
        if (again or is_refused) and one.made <= self.retries and not self.is_stopped:
            one.agents, one.is_answered = StartedAgents(), False
            return
        if outcome is not PROCEED:
            if "result" in outcome._fields:
                execution = execution.replace(result=outcome.result, error=None)
            if is_refused or outcome.decision is Decision.DENY:
                # A retry skips the remaining hooks: a result that they have not judged must not reach the model.
                limit = NOT_AGAIN if self.is_stopped else f"Retry limit reached: {self.retries}/{self.retries}."
                execution = _withheld(execution, f"{limit} {outcome.reason}".rstrip() if is_refused else outcome.reason)
            execution = _with_context(execution, after=outcome.context)
        one.execution = _with_context(execution, one.context)
        if error is not None and has_failed(one.execution):
            known = execution.name in self.run.agent.tools
            self.run.note_failure(f"tool {execution.name}" if known else "an unknown tool", error)

    async def _ask(self, event: HookEvent, execution: ToolExecution, **about: Any) -> HookOutcome:
        outcome = await self.run.ask(event, tool_call=execution.call, tool_execution=execution, **about)
        if outcome is not PROCEED:
            self.add_outcome(outcome)
        return outcome

    def add_outcome(self, outcome: HookOutcome) -> None:
        """Add the messages of an outcome, and note whether it stops the run."""
        self.messages += outcome.messages
        self.is_stopped = self.is_stopped or outcome.decision is Decision.STOP


def _is_wait_or_failure(error: BaseException) -> bool:
    """Whether the error is a suspension or a failure, also inside the exception of a task group."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_wait_or_failure, error.exceptions))
    return isinstance(error, Waits) or is_failure(error)


def _with_context(execution: ToolExecution, before: str = "", after: str = "") -> ToolExecution:
    """Return the execution with context of hooks in front of its own, and behind it."""
    if not (before or after):
        return execution
    return execution.replace(context="\n\n".join(filter(None, (before, execution.context, after))))


def _withheld(execution: ToolExecution, reason: str) -> ToolExecution:
    return execution.replace(result=None, error=ErrorInfo(type=WITHHELD_TYPE, message=reason), reason=reason)
