"""One run of an agent in a loop that is not ours: its events, in the order in which the runtime dispatches them."""

from __future__ import annotations

import os
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any

from agent_hooks.errors import PromptRefusedError, RunStoppedError, SubagentDeniedError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import PROCEED, Decision
from agent_hooks.model.state import AgentState, Message, Step, StopReason, StopSignal, hook_message
from agent_hooks.model.tool_call import ErrorInfo

from .calling import is_failure
from .foreign_calls import Ending, ForeignCall, ForeignLoop, ForeignRequest, ToolUse
from .lifecycle import COMPLETED, Lifecycle, final_status
from .messages import NOT_RUN, has_failed, messages_of
from .model_calls import answered
from .suspension import answering, exact_text
from .tool_calls import AT_WORK

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from agent_hooks.model.inference import ModelRequest
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import Usage
    from agent_hooks.model.tool_call import ToolCall

    from .foreign_calls import ModelUse
    from .hooks import Errors, Hooks, Resume, Run

# No parent at all, not even the run whose tool is at work.
_NOBODY: Any = object()
# Fields that an operation of its own has in common with the agents that its tool starts.
_PLACE = "session_id agent_id agent_name execution_id cwd depth parent_agent_id project_dir host".split()
_NO_ANSWER = "Nobody can answer here: "
_AGAIN = "A hook requests another round."


class GuardedRun(Lifecycle):
    """One run of an agent under its hooks.

    ``await start(prompt)``, then ``await model(request, ask)`` for each request to the model and ``await tool(call,
    run)`` for each tool call, then ``await end(output)``; ``await fail(error)`` if it fails. With ``sync=True`` these
    coroutines never wait, and ``agent_hooks.engine.calling.drive`` runs them without an event loop.

    ``parent``: the run whose tool starts this one: the events of a subagent are dispatched to it; ``hooks`` include the
    inherited ones then. ``fields``: fields of ``HookContext``; ``session_id``, ``agent_id`` and ``execution_id`` are
    made if they are missing.
    """

    def __init__(
        self,
        hooks: Hooks,
        *,
        parent: GuardedRun | None = None,
        sync: bool = False,
        **fields: Any,
    ) -> None:
        super().__init__()
        parent = current_run() if parent is None else None if parent is _NOBODY else parent
        fields.setdefault("execution_id", os.urandom(8).hex())
        fields.setdefault("agent_id", fields.get("agent_name") or "agent")
        fields.setdefault("cwd", hooks.directory)
        if parent is not None:
            hooks = hooks.under(parent.hooks)
            fields.update(session_id=parent.fields["session_id"], parent_agent_id=parent.fields["agent_id"])
            fields["depth"] = parent.depth + 1
        fields.setdefault("session_id", fields["execution_id"])
        self.hooks: Hooks = hooks.in_session(fields["session_id"])
        self.max_forced = hooks.manager.policy.max_forced_continuations
        self.parent = parent
        self.owner: Any = None  # the adapter's hooks, which agents started inside get as well
        self.sync = sync
        self.waiting = hooks.manager.waiting_calls
        self.fields: dict[str, Any] = fields
        self.state = AgentState(
            agent_id=fields["agent_id"],
            parent_agent_id=fields.get("parent_agent_id"),
            execution_id=fields["execution_id"],
            execution_count=1,
            status="in_progress",
        )
        self._changing = Lock()  # sync loops may make parallel calls in threads
        self.added: list[Message] = []  # by hooks, for the next request
        self._failures = 0
        self._ending: Ending | None = None  # once it has ended
        self._is_begun = False  # a step has started, and its request is not made yet
        self._is_complete = self._is_over = False  # for the loop; for hooks, which have been told
        self._may_force = True
        self._answer: tuple[int, Any] = (0, None)  # the last one, and the steps until then
        self._step: Step | None = None
        self._executions: list[ToolUse] = []  # of the step
        self._task: Any = None

    @property
    def stop_signal(self) -> StopSignal | None:
        """Why the run is stopped; None if it goes on, or has come to its own end."""
        signal = self.state.stop_signal
        return None if signal is None or signal.reason is StopReason.COMPLETED else signal

    @property
    def wants_model(self) -> bool:
        """Whether any hook looks at requests to the model or its responses."""
        return self.hooks.listens(HookEvent.BEFORE_INFERENCE) or self.hooks.listens(HookEvent.AFTER_INFERENCE)

    @contextmanager
    def active(self) -> Iterator[GuardedRun]:
        """Make this the run that agents started inside belong to."""
        before = AT_WORK.get()
        AT_WORK.set(self)
        try:
            yield self
        finally:
            AT_WORK.set(before)  # no token: a call may end in another task than it began in

    # -- the parts of a run ------------------------------------------------------------------------------------------

    async def start(self, prompt: Any = None) -> Any:
        """Receive the prompt and start the run; return the prompt as changed by hooks.

        Raises ``PromptRefusedError``, in a subagent ``SubagentDeniedError``, and ``RunStoppedError``.
        """
        if self.parent is None:
            prompt = await self.receive(prompt, is_turn=True)
            if self.state.status == "stopped" and (signal := self.stop_signal) is not None:
                self._ending = Ending(stop_signal=signal)  # at the prompt: there is no run
                await self._join()
                raise RunStoppedError(signal)
        else:
            self._task = prompt
            name = self.fields.get("agent_name", "")
            self._task = prompt = await self.parent.before_subagent(name, prompt, sync=self.sync)
            if prompt is not None:
                self.state = self.state.with_messages(Message(role="user", content=prompt))
        await self.ask(HookEvent.BEFORE_EXECUTION)
        if self.state.stop_signals:
            await self._begin_step()
        return prompt

    async def model(self, request: ModelRequest, ask: Callable[[ModelRequest], Any]) -> ModelUse:
        """Send the request of the next step, as ``Hooks.call_model`` does. Messages that hooks added since the last
        request are behind its own. A step that hooks stop, or in which they let no response pass, ends the run, unless
        ``on_stop`` hooks request another one. Raises ``RunStoppedError``.
        """
        self._reopen()
        while True:
            await self._end_step()
            await self._begin_step()
            self._is_begun = False
            pending = ForeignRequest(request, self._loop(self.hooks), ask)
            try:
                use = await pending.make()
            except BaseException as error:
                self.told = error
                if is_failure(error):
                    self._step = pending.step.replace(errors=(ErrorInfo.of(error),))
                raise
            request = pending.given
            if use.context:
                self.added.append(hook_message(use.context))
            if use.response is not None:
                self._step = answered(pending.step, use.response)
                return use
            self._step = pending.step
            if use.token or not use.signals:
                signal = StopSignal.decided(HookEvent.BEFORE_INFERENCE, use.outcome)
                self.add_signal(signal.replace(message=_NO_ANSWER + use.reason))

    async def tool(
        self,
        call: ToolCall,
        run: Run,
        *,
        answer: bool | None = None,
        about: Mapping[str, Any] | None = None,
        question: str | None = None,
        passed: Errors = (),
    ) -> ToolUse:
        """Make a tool call, as ``Hooks.call_tool`` does.

        ``answer``: that of a person to the question about this call, on which an earlier ``tool`` returned a ``token``;
        ``about``: the arguments that the question was about (default: those of the call); ``question``: its text, the
        ``reason`` of that ``ToolUse`` (default: whatever hooks ask about these arguments). It holds for exactly these.
        """
        signal = self.stop_signal if self._is_complete else self.state.stop_signal
        if self.is_stopping or (self._step is None and signal is not None):
            return ToolUse._of(ToolUse.denied(call, NOT_RUN)._fields)
        hooks, resume = self.hooks, None
        if answer is not None:
            token = self.waiting.pop(self._key(call), None)
            if token in hooks.manager.suspended:
                resume = (token, "allow" if answer else "deny")
            else:
                hooks = hooks.asking(answering(answer, call.args if about is None else about, question))
        use = await self._call(hooks, call, run, resume, passed)
        is_suspended = use.token and use.outcome.decision is Decision.SUSPEND
        if answer is not None and resume is None and is_suspended and question in (None, use.reason):
            use = await self._call(hooks, call, run, (use.token, "allow" if answer else "deny"), passed)
        if use.token:
            self._remember(call, use.token)
            return use
        self.added += use.messages
        self._executions.append(use)
        return use

    def waits(self, call: ToolCall) -> bool:
        """Whether a question about this call was put in this process, and waits for its answer."""
        return self.waiting.get(self._key(call)) in self.hooks.manager.suspended

    async def _call(self, hooks: Hooks, call: ToolCall, run: Run, resume: Resume, passed: Errors) -> ToolUse:
        return await ForeignCall(call, self._loop(hooks, resume=resume), run, passed).make()

    def _key(self, call: ToolCall) -> tuple[str, ...]:
        fields = self.fields
        place = (fields["session_id"], fields["agent_id"], fields["cwd"])
        return (*place, call.id, call.name, exact_text(call.args))

    def _remember(self, call: ToolCall, token: str) -> None:
        if len(self.waiting) >= 2 * len(self.hooks.manager.suspended):
            for key in [key for key, old in self.waiting.items() if old not in self.hooks.manager.suspended]:
                self.waiting.pop(key, None)
        self.waiting[self._key(call)] = token

    async def end(self, output: Any = None, *, may_continue: bool = True) -> Ending:
        """End the run with its answer, or start another round if hooks request it and ``may_continue``. A run that was
        stopped in a further round, before a step of it was made, ends with the answer of the round before.
        """
        if self._ending is not None:
            return self._ending
        await self._end_step()
        if output is not None:
            self._answer = (self.state.step_count, output)
        elif self._is_over and self._answer[0] == self.state.step_count:
            output = self._answer[1]
        self._is_complete, self._may_force = True, may_continue
        if not self._is_over and await self._starts_step():
            self._is_begun = True
            again = "\n\n".join(message.content for message in self.added) or _AGAIN
            self.added.clear()
            return Ending(again=again)
        reason = ""
        if output is not None:
            output, reason = await self.released(output)
        self._ending = Ending(None, None, reason, self.stop_signal)  # whatever the hooks of a parent raise
        self._ending = self._ending._replace(output=await self._finish(output), stop_signal=self.stop_signal)
        return self._ending

    async def fail(self, error: BaseException, *, may_retry: bool = True) -> bool:
        """Tell hooks of an error that ends the run, unless they know of it, and end the run. If hooks request that it
        be tried again, and it ``may_retry``, return True instead.
        """
        if self._ending is not None:
            return False
        if not _comes_from(error, self.told):
            self._failures += 1
            is_again = await self.try_recover(error)
            self.told = None  # the next error may be the same object
            if is_again and may_retry and self._failures <= self.hooks.manager.policy.max_retries:
                return True
        self.end_with(error)
        await self._end_step()
        if not self._is_over:
            self._may_force = False
            await self._starts_step()
        self._ending = Ending(stop_signal=self.stop_signal)
        await self._finish(None)
        return False

    # -- its events --------------------------------------------------------------------------------------------------

    def _loop(self, hooks: Hooks, *, sync: bool | None = None, resume: Resume = None) -> ForeignLoop:
        return ForeignLoop(hooks, self.fields, sync=self.sync if sync is None else sync, resume=resume, keeper=self)

    async def ask(self, event: HookEvent, *, sync: bool | None = None, **about: Any) -> HookOutcome:
        """Dispatch an event and apply its outcome. ``sync`` (default: that of the run): its caller cannot wait."""
        outcome = PROCEED
        if self.hooks.listens(event):
            outcome = await self._loop(self.hooks, sync=sync).ask(event, **about)
        if event is HookEvent.SHOULD_CONTINUE and self._is_complete:
            self.add_signal(COMPLETED)
        return outcome

    def pause(self, event: HookEvent, outcome: HookOutcome, **_about: Any) -> BaseException:
        """Return the refusal of an operation about which nobody can be asked here."""
        self.add_brought(outcome)
        reason = _NO_ANSWER + outcome.reason
        is_agent = event is HookEvent.BEFORE_SUBAGENT
        return SubagentDeniedError(f"Denied: {reason}") if is_agent else PromptRefusedError(reason, str(event))

    def add(self, *messages: Message) -> None:
        """Add messages of hooks to the next request."""
        self.added += messages

    def about_stop(self) -> dict[str, Any]:
        """Return the last prompt, and the answer as the loop gave it, for ``on_stop``."""
        return {**super().about_stop(), "output": self._answer[1]}

    def may_continue(self, *, is_shown: bool = False) -> bool:
        """Whether nothing stops the run, or a request for another round, which the loop can make, overrides it."""
        return (self._may_force or not self.state.stop_signals) and super().may_continue(is_shown=is_shown)

    async def _begin_step(self) -> None:
        """Start the next step, unless it has started. Raises ``RunStoppedError``."""
        is_begun = self._is_begun and not self.state.stop_signals
        if self._is_over or not (is_begun or await self._starts_step()):
            signal = self.state.stop_signal
            assert signal is not None
            raise RunStoppedError(signal)
        self._is_begun = True

    def _reopen(self) -> None:
        """Let a loop go on that has come to its end by itself, and asks again: for another form of its answer, say."""
        if self._ending is None or self.stop_signal is not None:
            return
        self._ending, self._is_over, self._is_complete, self._may_force = None, False, False, True
        self.state = self.state.replace(stop_signals=(), status="in_progress")

    async def _starts_step(self) -> bool:
        self._is_over, self.is_stopping = not await self.start_step(), False
        self._is_complete = self._is_complete and self._is_over
        return not self._is_over

    async def _finish(self, output: Any) -> Any:
        """Dispatch the last events; return the output, which the hooks of a parent may change or withhold."""
        # Of the errors of tools the parent hears nothing: the model has seen them.
        error = self.state.errors[-1] if self.state.status == "failed" else None
        self.state = self.state.replace(status=final_status(self.state), output=output)
        status = await self.conclude()
        if self.parent is None:
            await self.ask(HookEvent.AFTER_TURN, status=status, message_count=len(self.state.messages))
        else:
            about = {"name": self.fields.get("agent_name", ""), "task": self._task, "status": status, "error": error}
            output = await self.parent.after_subagent(result=output, sync=self.sync, **about)
        await self._join()
        return output

    async def _join(self) -> None:
        """Wait for the background observers of the run."""
        if self.sync:
            self.hooks.join_sync()
        else:
            await self.hooks.join(execution_id=self.fields["execution_id"])

    async def _end_step(self) -> None:
        step, self._step = self._step, None
        if self._executions:
            errors = tuple(use.error for use in self._executions if use.error is not None and has_failed(use))
            step = step or Step(index=self.state.step_count)
            step = step.replace(executions=tuple(self._executions), errors=(*step.errors, *errors))
            self._executions.clear()
        if step is not None:
            self._is_begun = False
            self.state = self.state.replace(usage=self.state.usage + step.usage).with_messages(*messages_of(step))
            await self.ask(HookEvent.AFTER_STEP, step=step)
            self.state = self.state if step.is_blank else self.state.with_step(step)

    def apply(self, event: HookEvent, outcome: HookOutcome) -> None:
        """Apply the outcome to the state."""
        with self._changing:
            super().apply(event, outcome)

    def stop(self, signal: StopSignal) -> None:
        """Stop the run because a tool or a driver requests it, or hooks let no response pass."""
        with self._changing:
            super().stop(signal)

    def count(self, model: str, used: Usage) -> None:
        """Add what a response used to the state."""
        with self._changing:
            self.state = self.state.with_model_usage(model, used)


def current_run() -> GuardedRun | None:
    """Return the run whose tool is at work here; for a single call of a loop, or a run of the runtime, one that stands
    for it.
    """
    found = AT_WORK.get()
    if found is None or isinstance(found, GuardedRun):
        return found
    if not hasattr(found.hooks, "under"):  # something else in place of hooks
        return None
    place = {name: found.fields[name] for name in _PLACE if name in found.fields}
    return GuardedRun(found.hooks, parent=_NOBODY, sync=getattr(found, "sync", False), **place)


def _comes_from(error: BaseException | None, told: BaseException | None) -> bool:
    """Whether an error is one that hooks know of, or was raised because of it."""
    while error is not None and told is not None:
        if error is told:
            return True
        error = error.__cause__ or error.__context__
    return False
