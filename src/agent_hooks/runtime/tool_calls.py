"""The tool calls of one step: hooks judge each call, the tool runs, hooks judge the result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.engine.calling import is_failure
from agent_hooks.engine.messages import NOT_RUN, has_failed, unfinished
from agent_hooks.engine.suspension import Paused
from agent_hooks.engine.tool_calls import NOT_AGAIN, PendingCall, with_context
from agent_hooks.errors import RunError, SuspensionError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.tool_call import ToolCall, ToolExecution

from .current import Caller, StartedAgents, ToolDeniedError, acting_as
from .watched_runs import watched_call

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Mapping, Sequence

    from agent_hooks.engine.tool_calls import Performed
    from agent_hooks.model.state import BegunCall, Message, Suspended

    from .loop import AgentRun


class Call(PendingCall):
    """One call of a step. ``agents``: those that its tool starts. ``begun``: the record from when the run was suspended
    during the call; ``is_answered``: the run was resumed with the answer for it.
    """

    is_begun = False
    begun: BegunCall | None = None
    is_answered = False

    loop: AgentRun

    def __init__(self, *about: Any) -> None:
        super().__init__(*about)
        self.agents = StartedAgents()

    async def run(self, call: ToolCall) -> Any:
        """Return the tool's own result. Raises ``Paused`` if an agent that it started waits."""
        run, agents = self.loop, self.agents
        self.is_begun = True
        with acting_as(Caller(run, run.spent, agents)):
            try:
                try:
                    tool = run.agent.tools.get(call.name)
                    if tool is None:
                        raise RunError(f"There is no tool {call.name!r}. There are: {', '.join(run.agent.tools)}.")
                    result = await watched_call(run, tool, call)
                finally:
                    await agents.end()
                    for outcome in agents.outcomes:
                        self.context = "\n\n".join(filter(None, (self.context, outcome.context)))
                        self.messages += outcome.messages
            except BaseException as error:
                if agents.first_wait is None or not _is_wait_or_failure(error):
                    raise
            if agents.first_wait is not None:
                raise agents.first_wait
            return result

    def failed(self, call: ToolCall, error: BaseException, duration: float) -> ToolExecution:
        """Return the execution that failed, or was suspended, with this error."""
        if isinstance(error, Paused) and error is self.agents.first_wait:
            return ToolExecution(call=call)
        if isinstance(error, ToolDeniedError):
            return ToolExecution.denied(call, str(error))
        if self.is_answered and isinstance(error, SuspensionError):
            raise error
        return super().failed(call, error, duration)


class ToolCalls:
    """The calls of one step. ``messages``: those that hooks add after the results."""

    def __init__(self, run: AgentRun, calls: Sequence[ToolCall], paused: Suspended | None) -> None:
        self.run = run
        self.messages: list[Message] = []
        known = [tool.known(call) if (tool := run.agent.tools.get(call.name)) else call for call in calls]
        settled = paused.settled if paused is not None and len(paused.settled) == len(known) else [None] * len(known)
        self.calls = [Call(call, run, self.messages, execution) for call, execution in zip(known, settled, strict=True)]
        if paused is not None:
            for one in self._pending()[:1]:
                one.made = paused.made
            for number, was in enumerate(paused.begun):  # the calls during which the run was suspended
                for one in (each for each in self._pending() if each.call.id == was.call.id):
                    one.begun, one.context, one.is_answered = was, was.context, number == 0
                    one.agents = StartedAgents(was, is_answered=one.is_answered)

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
            if one.begun is not None:
                was, one.begun = one.begun.call, None
                tool = self.run.agent.tools.get(was.name)
                ready[one] = tool.known(was) if tool is not None else was
            elif self.run.is_stopping:
                one.execution = _not_made(one)
            else:
                try:
                    call = await one.before()
                except Paused as paused:
                    waiting = paused
                    break
                if call is not None:
                    ready[one] = call
        self.run.start_answered()
        first: Paused | None = None  # of the calls that wait; the answer is for it
        begun: list[BegunCall] = []
        for one, (execution, error) in (await self._perform_all(ready)).items():
            if isinstance(error, Paused):
                first = first or error
                begun.append(one.agents.record(execution.call, one.context))
            else:
                await one.after(execution, error)
                if one.execution is None:
                    one.agents, one.is_answered = StartedAgents(), False
                elif error is not None and has_failed(one.execution):
                    known = execution.name in self.run.agent.tools
                    self.run.note_failure(f"tool {execution.name}" if known else "an unknown tool", error)
        if first is not None and not self.run.is_stopping:
            raise Paused(first.suspended.replace(begun=tuple(begun)), first.operation)
        if waiting is not None:
            while retried := [one for one in ready if one.execution is None]:
                await self._make(retried[:1])
            if not self.run.is_stopping:
                raise waiting

    async def _perform_all(self, ready: Mapping[Call, ToolCall]) -> dict[Call, Performed]:
        if len(ready) == 1:
            [(one, call)] = ready.items()
            return {one: await one.perform(call)}
        import asyncio

        tasks: dict[Call, asyncio.Task[Performed]] = {}
        try:
            async with asyncio.TaskGroup() as group:
                tasks.update({one: group.create_task(one.perform(call)) for one, call in ready.items()})
        except BaseException:
            # Finished results are kept when the other calls are cancelled, unless hooks would have to judge them.
            if not any(map(self.run.hooks.listens, (HookEvent.ON_TOOL_ERROR, HookEvent.AFTER_TOOL_USE))):
                for one, task in tasks.items():
                    if task.done() and not task.cancelled() and task.exception() is None:
                        one.execution = with_context(task.result()[0], one.context)
            raise
        return {one: task.result() for one, task in tasks.items()}


def _is_wait_or_failure(error: BaseException) -> bool:
    """Whether the error is a suspension or a failure, also inside the exception of a task group."""
    if isinstance(error, BaseExceptionGroup):
        return all(map(_is_wait_or_failure, error.exceptions))
    return isinstance(error, Paused) or is_failure(error)


def _not_made(one: Call) -> ToolExecution:
    """Return the execution that stands for a call that is not made, because the run was stopped."""
    if one.made:
        return ToolExecution(call=one.call).withheld(NOT_AGAIN)
    return unfinished(one.call, is_begun=True) if one.is_begun else ToolExecution.denied(one.call, NOT_RUN)
