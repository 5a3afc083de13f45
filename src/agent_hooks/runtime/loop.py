"""The loop: one run of an agent, event by event. It asks the hooks and does what they say."""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING

from agent_hooks.calling import is_failure
from agent_hooks.context import HookContext
from agent_hooks.errors import PromptRefusedError, StopRunError, SuspensionError
from agent_hooks.events import HookEvent
from agent_hooks.outcome import PROCEED, Decision
from agent_hooks.state import ErrorInfo, Message, Step, StopReason, StopSignal

from .driver import ModelRequest, ModelResponse
from .interceptors import finished
from .messages import has_failed, hook_message, messages_of
from .pausing import WAITS, Paused, suspended
from .stopping import decided, final_status, may_be_overridden, wished
from .tool_calls import ToolCalls

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from typing import Any

    from agent_hooks.outcome import HookOutcome
    from agent_hooks.state import AgentState, Suspended

    from .agent import AgentRuntime
    from .pausing import Resumption

logger = logging.getLogger("agent_hooks.runtime")

FINISHED = frozenset({"completed", "stopped", "failed"})
# What these bring for the model has its own place: beside the prompt, in the request, in the tool's result.
_OWN_PLACE = frozenset(
    {
        HookEvent.USER_INPUT,
        HookEvent.BEFORE_INFERENCE,
        HookEvent.AFTER_INFERENCE,
        HookEvent.BEFORE_TOOL_USE,
        HookEvent.ON_TOOL_ERROR,
        HookEvent.AFTER_TOOL_USE,
    }
)


class AgentRun:
    """One run of an agent: an async iterator over its states, one after each completed step and one at the end.

    ``state`` is always the last whole state, also after the run was cancelled: it can be run again.
    """

    def __init__(
        self, agent: AgentRuntime, state: AgentState, prompt: Any = None, resumption: Resumption | None = None
    ) -> None:
        self.agent = agent
        self.hooks = agent.interceptor
        self.prompt = prompt
        self.resumption = resumption
        self.forced = 0 if resumption is None else resumption.paused.forced
        self.wish = ("", "")  # another round: the source of the hook that wants it, and its reason
        self.is_granted = False
        self.is_stopping = False  # whether the tools that the model wants in this step are not called any more
        self.paused: Suspended | None = None  # the step to go on with
        if resumption is None:
            self.state = _fresh(state, agent.agent_id, is_new=prompt is not None)
        else:
            self.state = state.replace(status="in_progress", suspended=None)
            self.paused = resumption.paused if resumption.paused.event != HookEvent.USER_INPUT else None
        self.place = {
            "agent_id": self.state.agent_id,
            "parent_agent_id": self.state.parent_agent_id,
            "agent_name": agent.name,
            "session_id": agent.session_id,
            "execution_id": self.state.execution_id,
            "cwd": agent.cwd or os.getcwd(),
            "runtime": agent,
        }
        self._states = self._run()

    def __aiter__(self) -> AsyncIterator[AgentState]:
        return self._states

    async def _run(self) -> AsyncIterator[AgentState]:
        try:
            if await self.begins():
                while self.paused is not None or await self.begins_step():
                    await self.does_step()
                    yield self.state
                await self.ends()
        except Paused as pause:
            self.state = self.state.replace(status="suspended", suspended=pause.suspended)
        except GeneratorExit:
            raise
        except BaseException as error:
            if not isinstance(error, Exception):
                self.is_cancelled()
            raise
        await finished(self.hooks)
        yield self.state

    # -- the parts of a run ------------------------------------------------------------------------------------------

    async def begins(self) -> bool:
        """Take the prompt and begin; False if a hook stops the run before it has begun."""
        if self.paused is not None:
            return True
        if self.prompt is not None and not await self.receives(self.prompt):
            self.state = self.state.replace(status="stopped")
            return False
        await self.ask(HookEvent.BEFORE_EXECUTION)
        return True

    async def receives(self, prompt: Any) -> bool:
        """Add the prompt to the conversation, as its hooks leave it. Raises ``PromptRefusedError``."""
        outcome = await self.ask(HookEvent.USER_INPUT, prompt=prompt)
        if outcome.decision in WAITS:
            raise self.pause(HookEvent.USER_INPUT, outcome, prompt=prompt)
        if outcome.decision is Decision.DENY:
            raise PromptRefusedError(outcome.reason)
        if outcome.decision is Decision.STOP:
            return False
        messages = [Message(role="user", content=outcome._fields.get("prompt", prompt)), *outcome.messages]
        if outcome.context:
            messages.append(hook_message(outcome.context))
        self.state = self.state.with_messages(*messages)
        return True

    async def begins_step(self) -> bool:
        """Ask whether there is another step, and begin it; where the answer is no, ``on_stop`` may force one."""
        while not (
            self.goes_on()
            and await self.agrees(HookEvent.SHOULD_CONTINUE, step=self.state.steps[-1] if self.state.steps else None)
            and await self.agrees(HookEvent.BEFORE_STEP)
        ):
            if not await self.is_sent_on():
                return False
        if self.wish[1]:
            self.state = self.state.with_messages(hook_message(self.wish[1]))
        self.wish, self.is_granted = ("", ""), False
        if self.state.continuation_requested:
            self.state = self.state.replace(continuation_requested=False)
        return True

    async def does_step(self) -> None:
        """Ask the model and use the tools it wants; whatever happens, ``after_step`` follows."""
        paused, self.paused, self.is_stopping = self.paused, None, False
        step = self.state.current_step if paused is not None else None
        step = step or Step(index=self.state.step_count)
        tools: ToolCalls | None = None
        self.state = self.state.replace(current_step=step)
        try:
            if step.message is None:
                step = await self.infer(step)
            if step.message is not None and step.message.tool_calls:
                tools = ToolCalls(self, step.message.tool_calls, paused.settled if paused is not None else ())
                await tools.make()
                step = _with_tools(step, tools)
        except Paused as pause:
            step = _with_tools(step, tools) if tools is not None else step
            self.state = self.state.replace(current_step=step)
            settled = tuple(tools.settled) if tools is not None else ()
            raise Paused(pause.suspended.replace(settled=settled, forced=self.forced)) from None
        except SuspensionError:
            raise
        except BaseException as error:
            if not is_failure(error):
                self.is_interrupted(step, tools)
                raise
            known = self.state.current_step or step
            step = await self.fails(known if tools is None else _with_tools(step, tools, is_cut_short=True), error)
        self.state = self.state.replace(current_step=step)
        try:
            await self.ask(HookEvent.AFTER_STEP, step=step)
        except BaseException:
            self.is_interrupted(step, None)
            raise
        step = self.state.current_step or step
        if step._fields.keys() == {"index"}:  # the model was not asked
            self.state = self.state.replace(current_step=None)
        else:
            self.state = self.state.with_step(step)

    async def infer(self, step: Step) -> Step:
        """Return the step with what the model answered; without a message if a hook keeps the answer, or the request
        from being sent.
        """
        retries = self.agent.policy.max_retries
        hints: list[Message] = []
        for attempt in range(retries + 1):
            request = self.agent.request(self.state)
            outcome = await self.ask(HookEvent.BEFORE_INFERENCE, **_about(request))
            if outcome.decision in WAITS:
                raise self.pause(HookEvent.BEFORE_INFERENCE, outcome, **_about(request))
            if outcome.blocks:
                if outcome.decision is not Decision.STOP:
                    self.stops(HookEvent.BEFORE_INFERENCE, outcome)
                return step
            request = outcome._fields.get("request", request)
            said = [hook_message(outcome.context)] if outcome.context else []
            if said or hints:
                request = request.replace(messages=(*request.messages, *said, *hints))
            try:
                response = ModelResponse.of(await self.agent.driver.respond(request))
            except BaseException as error:
                if not is_failure(error):
                    raise
                if isinstance(error, StopRunError):
                    self.signals(wished(error, request.model))
                    return step
                if await self.recovers(error) and attempt < retries:
                    continue
                raise _Told(error) from error
            model = response.model or request.model
            outcome = await self.ask(
                HookEvent.AFTER_INFERENCE, **{**_about(request), "model": model}, response=response
            )
            response = ModelResponse.of(outcome._fields.get("response", response))
            step = step.replace(model=model, usage=step.usage + response.usage, finish_reason=response.finish_reason)
            self.state = self.state.replace(current_step=step)
            if outcome.decision is Decision.RETRY:
                hints += [hook_message(text) for text in (outcome.reason, outcome.context) if text]
                continue
            self.state = self.state.with_messages(*said)
            if outcome.decision is Decision.DENY:
                self.stops(HookEvent.AFTER_INFERENCE, outcome)
                return step.replace(finish_reason="withheld")
            self.is_stopping = outcome.decision is Decision.STOP
            content = "" if response.content is None else response.content
            return step.replace(
                message=Message(role="assistant", content=content, tool_calls=response.tool_calls),
                messages=(hook_message(outcome.context),) if outcome.context else (),
            )
        message = f"Retry limit reached: {retries}/{retries}"
        self.signals(StopSignal(reason=StopReason.RETRY_LIMIT, message=message, source="AgentRun"))
        return step.replace(finish_reason="retry_limit")

    async def ends(self) -> None:
        """Let the answer out, tell that the run has ended, and settle its status."""
        last = self.state.steps[-1] if self.state.steps else None
        if last is not None and last.type == "final_response" and last.message is not None:
            await self.answers(last.message.content)
        self.state = self.state.replace(continuation_requested=False)
        status, signal = final_status(self.state), self.state.stop_signal
        await self.ask(HookEvent.AFTER_EXECUTION, status=status, stop_signal=signal)
        self.state = self.state.replace(status=final_status(self.state))

    async def answers(self, output: Any) -> None:
        """Let the final answer out, as its hooks leave it: changed or withheld, it is so in the conversation too."""
        outcome = await self.ask(HookEvent.BEFORE_OUTPUT, output=output)
        released = outcome._fields.get("output", output)
        if outcome.blocks:
            if outcome.decision is not Decision.STOP:
                self.stops(HookEvent.BEFORE_OUTPUT, outcome)
            released = None
        if outcome.blocks or "output" in outcome._fields:
            self.state = _with_answer(self.state, output, outcome.reason if outcome.blocks else released)
        self.state = self.state.replace(output=released)

    # -- going on and stopping ---------------------------------------------------------------------------------------

    def goes_on(self) -> bool:
        """Whether nothing stops the run, or a hook's wish for another round overrides what does, and still may."""
        state = self.state
        if not state.stop_signals:
            return True
        if not state.continuation_requested:
            return False
        if not all(may_be_overridden(signal, self.wish[0]) for signal in state.stop_signals):
            return False
        if not self.is_granted:
            most = self.agent.policy.max_forced_continuations
            if self.forced >= most:
                logger.warning("agent_hooks: hooks have forced %d rounds in a row; the run may stop now.", most)
                return False
            self.forced += 1
            self.is_granted = True
        self.state = state.replace(stop_signals=())
        return True

    async def agrees(self, event: HookEvent, **about: Any) -> bool:
        """Dispatch an event that may stop the run, and return whether it goes on."""
        await self.ask(event, **about)
        return self.goes_on()

    async def is_sent_on(self) -> bool:
        """Tell that the run is about to stop, and return whether a hook makes it go on."""
        self.state = self.state.replace(continuation_requested=False)
        self.wish, self.is_granted = ("", ""), False
        signal, is_repeat = self.state.stop_signal, self.forced > 0
        await self.ask(HookEvent.ON_STOP, stop_signal=signal, stop_hook_active=is_repeat)
        return self.state.continuation_requested and self.goes_on()

    def signals(self, signal: StopSignal) -> None:
        """Leave a stop signal."""
        self.state = self.state.with_stop_signal(signal)

    def stops(self, event: HookEvent, outcome: HookOutcome) -> None:
        """Leave the signal that a hook's decision to stop stands for."""
        self.signals(decided(event, outcome))

    # -- failing -----------------------------------------------------------------------------------------------------

    async def recovers(self, error: BaseException) -> bool:
        """Tell of an error, and return whether a hook wants it tried again."""
        info = ErrorInfo.of(error)
        self.state = self.state.replace(status="failed")
        outcome = await self.ask(HookEvent.ON_ERROR, error=error, error_list=(*self.state.errors, info))
        is_retried = outcome.decision is Decision.RETRY
        if is_retried:
            self.state = self.state.replace(status="in_progress")
        return is_retried

    async def fails(self, step: Step, error: BaseException) -> Step:
        """Let the run fail, and return the step with the error."""
        if isinstance(error, _Told):
            error = error.error
        else:
            await self.recovers(error)
        info = ErrorInfo.of(error)
        self.state = self.state.replace(status="failed", errors=(*self.state.errors, info))
        self.signals(StopSignal(reason=StopReason.ERROR, message=f"{info.type}: {info.message}", source="AgentRun"))
        return step.replace(errors=(*step.errors, info))

    def is_interrupted(self, step: Step, tools: ToolCalls | None) -> None:
        """Keep what is known of a step that was cancelled: what its tools did must not be lost."""
        if step.message is None:
            self.state = self.state.replace(current_step=None)
            return
        step = step if tools is None else _with_tools(step, tools, is_cut_short=True)
        state = self.state.with_messages(*messages_of(step)).with_step(step)
        self.state = state.replace(usage=state.usage + step.usage)

    def is_cancelled(self) -> None:
        """Leave a state that says so and can be run again."""
        self.signals(StopSignal.user_requested("The run was cancelled.", source="AgentRun"))
        self.state = self.state.replace(status="stopped", current_step=None)

    # -- asking the hooks --------------------------------------------------------------------------------------------

    async def ask(self, event: HookEvent, **about: Any) -> HookOutcome:
        """Dispatch an event of this run; what its hooks brought becomes part of the state."""
        resumption = self.resumption
        is_resumed = resumption is not None and resumption.paused.event == event
        if not is_resumed and not self.hooks.listens(event):
            return PROCEED
        ctx = self.context(event, **about)
        if resumption is not None and is_resumed:
            self.resumption = None
            outcome = await resumption.dispatch(self.hooks, ctx)
        else:
            outcome = await self.hooks.dispatch(ctx)
        # Where the operation waits, its hooks are asked anew once it goes on, and bring all this again.
        if outcome is not PROCEED and outcome.decision not in WAITS:
            self.takes(event, outcome)
        return outcome

    def context(self, event: HookEvent, **about: Any) -> HookContext:
        """Return what hooks are given: the run as it now is."""
        return HookContext(event, state=self.state, step_index=self.state.step_count, **self.place, **about)

    def takes(self, event: HookEvent, outcome: HookOutcome) -> None:
        """Make what the outcome brought part of the state: a new state, messages, signals, a wish to go on or stop."""
        state = outcome.state or self.state
        if event not in _OWN_PLACE:
            said = (hook_message(outcome.context),) if outcome.context else ()
            if outcome.messages or said:
                state = state.with_messages(*outcome.messages, *said)
        if outcome.signals:
            state = state.replace(stop_signals=(*state.stop_signals, *outcome.signals))
        self.state = state
        if outcome.decision is Decision.STOP:
            self.stops(event, outcome)
        elif outcome.decision is Decision.FORCE_CONTINUE:
            self.wish = (outcome.source, outcome.reason or "Stop hook requested continuation")
            self.state = state.replace(continuation_requested=True)

    def pause(self, event: HookEvent, outcome: HookOutcome, **about: Any) -> Paused:
        """Return the pause that an ask or a suspension means, to be raised."""
        return suspended(self.context(event, **about), outcome, self.hooks, self.agent.store)


class _Told(Exception):  # noqa: N818 - only carries an error that the hooks have heard of
    def __init__(self, error: BaseException) -> None:
        super().__init__()
        self.error = error


def _fresh(state: AgentState, agent_id: str, *, is_new: bool) -> AgentState:
    """Return the state at the beginning of a run: one that is finished, or gets a new prompt, forgets its last
    execution and keeps the rest.
    """
    if state.suspended is not None:
        raise SuspensionError(
            "This state waits for an answer: call resume(state, decision), or drop the wait with "
            "state.replace(suspended=None, status='stopped')."
        )
    if state.status in FINISHED or (is_new and state.status != "ready"):
        execution = ("steps", "current_step", "usage", "stop_signals", "continuation_requested", "errors", "output")
        state = type(state)._of({name: value for name, value in state._fields.items() if name not in execution})
    return state.replace(
        agent_id=state.agent_id or agent_id,
        execution_id=os.urandom(8).hex(),
        execution_count=state.execution_count + 1,
        status="in_progress",
    )


def _about(request: ModelRequest) -> dict[str, Any]:
    return {
        "request": request,
        "model": request.model,
        "message_count": len(request.messages),
        "tool_count": len(request.tools),
    }


def _with_tools(step: Step, tools: ToolCalls, *, is_cut_short: bool = False) -> Step:
    """Return the step with the executions there are, and, once there are all, with the errors among them."""
    executions = tools.interrupted() if is_cut_short else tuple(filter(None, tools.settled))
    failures: tuple[ErrorInfo, ...] = ()
    if len(executions) == len(tools.calls):
        failures = tuple(e.error for e in executions if e.error is not None and has_failed(e))
    return step.replace(
        executions=executions, messages=(*step.messages, *tools.messages), errors=(*step.errors, *failures)
    )


def _with_answer(state: AgentState, output: Any, released: Any) -> AgentState:
    """Return the state in which the final answer, wherever it stands, is what was let out."""

    def changed(message: Message) -> Message:
        is_it = message.role == "assistant" and message.content == output
        return message.replace(content=released) if is_it else message

    steps = tuple(s if s.message is None else s.replace(message=changed(s.message)) for s in state.steps)
    return state.replace(messages=tuple(map(changed, state.messages)), steps=steps)
