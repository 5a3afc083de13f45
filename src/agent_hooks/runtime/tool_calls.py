"""The tool calls of one step: each on its way through its hooks, to its tool and back."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from agent_hooks.calling import is_failure
from agent_hooks.errors import RunError, StopRunError
from agent_hooks.events import HookEvent
from agent_hooks.outcome import Decision
from agent_hooks.state import ErrorInfo, ToolCall, ToolExecution

from .messages import WITHHELD_TYPE, error_text
from .pausing import WAITS, Paused
from .stopping import wished

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping, Sequence

    from agent_hooks.outcome import HookOutcome
    from agent_hooks.state import Message

    from .loop import AgentRun

NOT_RUN = "Not run: the run was stopped."
CUT_SHORT = "The run ended before this call had a result; what it did is not known."


class ToolCalls:
    """The calls of one step. ``settled`` are their executions, in the order of the calls, None where one is to come.

    ``messages`` are those that hooks want the model to see after the results.
    """

    def __init__(self, run: AgentRun, calls: Sequence[ToolCall], settled: Sequence[ToolExecution | None] = ()) -> None:
        self.run = run
        tools = run.agent.tools
        self.calls = [tool.known(call) if (tool := tools.get(call.name)) else call for call in calls]
        self.settled: list[ToolExecution | None] = list(settled) or [None] * len(self.calls)
        self.messages: list[Message] = []
        self.is_stopped = run.is_stopping
        self._begun: set[int] = set()
        self._context = [""] * len(self.calls)

    async def make(self) -> None:
        """Make all calls that have not been made: one after the other, or the tools together if the agent says so."""
        if self.run.agent.parallel_tools and self.settled.count(None) > 1:
            await self._make_together()
        for index, execution in enumerate(self.settled):
            if execution is None:
                self.settled[index] = await self._make(index)

    async def _make(self, index: int, *, made: int = 0) -> ToolExecution:
        """Make one call, again as often as hooks ask for it and the policy lets them; ``made`` is how often it was."""
        while True:
            ready = await self._before(index)
            if isinstance(ready, ToolExecution):
                return ready
            execution, is_wanted_again = await self._after(index, *await self._perform(index, ready))
            made += 1
            if not is_wanted_again or made > self.run.agent.policy.max_retries:
                return execution

    async def _make_together(self) -> None:
        """Let the hooks judge the calls one by one, run the tools at the same time, let the hooks judge the results.

        A call that has to wait for an answer ends the batch: those before it are made, those after it are to come.
        """
        import asyncio

        ready: dict[int, ToolCall] = {}
        waiting: Paused | None = None
        for index in [index for index, execution in enumerate(self.settled) if execution is None]:
            try:
                judged = await self._before(index)
            except Paused as paused:
                waiting = paused
                break
            if isinstance(judged, ToolExecution):
                self.settled[index] = judged
            else:
                ready[index] = judged
        tasks: dict[int, asyncio.Task[tuple[ToolExecution, BaseException | None]]] = {}
        try:
            async with asyncio.TaskGroup() as group:
                tasks.update({index: group.create_task(self._perform(index, call)) for index, call in ready.items()})
        except BaseException:
            self._keep(tasks)
            raise
        wanted_again: list[int] = []
        for index, task in tasks.items():
            execution, is_wanted_again = await self._after(index, *task.result())
            if is_wanted_again and self.run.agent.policy.max_retries > 0:
                wanted_again.append(index)
            else:
                self.settled[index] = execution
        for index in wanted_again:
            self.settled[index] = await self._make(index, made=1)
        if waiting is not None:
            raise waiting

    def _keep(self, tasks: Mapping[int, asyncio.Task[tuple[ToolExecution, BaseException | None]]]) -> None:
        """Keep the results there are when the others are cancelled, unless hooks would have had to judge them."""
        if not self.run.hooks.listens(HookEvent.AFTER_TOOL_USE):
            ended = {i: task for i, task in tasks.items() if task.done() and not task.cancelled()}
            self.settled = [ended[i].result()[0] if i in ended else one for i, one in enumerate(self.settled)]

    async def _before(self, index: int) -> ToolCall | ToolExecution:
        """Return the call as its hooks settled it, or the execution that stands for one they block."""
        call = self.calls[index]
        if self.is_stopped:
            return ToolExecution.denied(call, NOT_RUN)
        outcome = await self.run.ask(HookEvent.BEFORE_TOOL_USE, tool_call=call)
        if outcome.decision in WAITS:
            raise self.run.pause(HookEvent.BEFORE_TOOL_USE, outcome, tool_call=call)
        self._context[index] = outcome.context
        self.messages += outcome.messages
        if "tool_args" in outcome._fields:
            call = call.with_args(outcome._fields["tool_args"])
        if not outcome.blocks:
            return call
        self._stopped_by(outcome)
        execution = self._with_context(index, ToolExecution.denied(call, outcome.reason))
        await self.run.ask(HookEvent.AFTER_TOOL_USE, tool_call=call, tool_execution=execution, was_blocked=True)
        return execution

    async def _perform(self, index: int, call: ToolCall) -> tuple[ToolExecution, BaseException | None]:
        """Run the tool, and return what came of it with what it raised, if anything."""
        started = perf_counter()
        self._begun.add(index)
        try:
            tool = self.run.agent.tools.get(call.name)
            if tool is None:
                raise RunError(f"There is no tool {call.name!r}. There are: {', '.join(self.run.agent.tools)}.")
            result = await tool.call(call.args)
        except BaseException as error:
            if not is_failure(error):
                raise
            if isinstance(error, StopRunError):
                self.is_stopped = True
                self.run.signals(wished(error, call.name))
            info = ErrorInfo(type=type(error).__name__, message=error_text(error))
            return ToolExecution(call=call, error=info, duration=perf_counter() - started), error
        return ToolExecution(call=call, result=result, duration=perf_counter() - started), None

    async def _after(
        self, index: int, execution: ToolExecution, error: BaseException | None
    ) -> tuple[ToolExecution, bool]:
        """Return the execution as its hooks leave it, and whether they want the call to be made again."""
        again = False
        if execution.error is not None:
            text = execution.error.message
            outcome = await self._tell(HookEvent.ON_TOOL_ERROR, execution, error=error, error_text=text)
            again = outcome.decision is Decision.RETRY
            if outcome.error_text is not None:
                execution = execution.replace(error=execution.error.replace(message=outcome.error_text))
            execution = _with_added(execution, outcome)
        outcome = await self._tell(HookEvent.AFTER_TOOL_USE, execution, result=execution.result, error=execution.error)
        again = again or outcome.decision is Decision.RETRY
        if "result" in outcome._fields:
            execution = execution.replace(result=outcome.result, error=None)
        if outcome.decision is Decision.DENY:
            withheld = ErrorInfo(type=WITHHELD_TYPE, message=outcome.reason)
            execution = execution.replace(result=None, error=withheld, reason=outcome.reason)
        return self._with_context(index, _with_added(execution, outcome)), again and not self.is_stopped

    async def _tell(self, event: HookEvent, execution: ToolExecution, **about: object) -> HookOutcome:
        outcome = await self.run.ask(event, tool_call=execution.call, tool_execution=execution, **about)
        self.messages += outcome.messages
        self._stopped_by(outcome)
        return outcome

    def _stopped_by(self, outcome: HookOutcome) -> None:
        self.is_stopped = self.is_stopped or outcome.decision is Decision.STOP

    def _with_context(self, index: int, execution: ToolExecution) -> ToolExecution:
        """Return the execution with what the hooks before the call had to say to the model, first."""
        before = self._context[index]
        if not before:
            return execution
        return execution.replace(context=f"{before}\n\n{execution.context}" if execution.context else before)

    def interrupted(self) -> tuple[ToolExecution, ...]:
        """Return what is known of the calls when the run ends in the middle of them."""
        texts = [CUT_SHORT if index in self._begun else NOT_RUN for index in range(len(self.calls))]
        return tuple(
            execution or ToolExecution(call=call, error=ErrorInfo(type="Cancelled", message=text))
            for call, execution, text in zip(self.calls, self.settled, texts, strict=True)
        )


def _with_added(execution: ToolExecution, outcome: HookOutcome) -> ToolExecution:
    return execution.with_added_context(outcome.context) if outcome.context else execution
