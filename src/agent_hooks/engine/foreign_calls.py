"""Tool calls and requests to a model in a loop that is not ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from agent_hooks.errors import HookMisuseError
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.inference import ModelRequest, ModelResponse
from agent_hooks.model.outcome import PROCEED, WAITING, Decision, HookOutcome
from agent_hooks.model.state import AgentState, Message, Step, StopSignal, foremost
from agent_hooks.model.tool_call import ErrorInfo, ToolCall, ToolExecution
from agent_hooks.model.values import Value, frozen_fields

from .lifecycle import context_of
from .model_calls import PendingRequest
from .state_changes import guarded
from .suspension import Paused
from .tool_calls import PendingCall, described, refuse_async

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks.model.state import Usage

    from .guarded_run import GuardedRun
    from .hooks import Errors, Hooks, Resume, Run
    from .plan import Chain


class ToolUse(ToolExecution):
    """The return value of ``Hooks.call_tool``: the execution as judged by its hooks, and their wishes to the loop.

    ``text`` is for the model, ``result`` the value behind it if the call has not ``failed``. ``messages``: for the
    conversation, behind the result; ``signals``: if there are any, the run stops; ``state``: a state that a hook
    returned; ``outcome``: that of ``before_tool_use``; ``exception``: the tool's, unless hooks withheld or reworded it.
    ``is_untouched``: no hook blocked, changed or withheld the result, and ``returned`` is the tool's object itself.
    """

    messages: tuple[Message, ...] = ()
    signals: tuple[StopSignal, ...] = ()
    state: AgentState | None = None
    outcome: HookOutcome = PROCEED
    exception: BaseException | None = None
    is_untouched: bool = False
    returned: Any = None

    _decode: ClassVar[dict[str, Any]] = {
        **ToolExecution._decode,
        "messages": lambda items: tuple(map(Message.from_dict, items)),
        "signals": lambda items: tuple(map(StopSignal.from_dict, items)),
        "state": AgentState.from_dict,
        "outcome": HookOutcome.from_dict,
    }

    @property
    def token(self) -> str:
        """The token with which the call is resumed, if it waits for an answer; else an empty string."""
        return self.outcome.token or ""

    @property
    def stop_signal(self) -> StopSignal | None:
        """The most authoritative signal, the first of equals; None if the run goes on."""
        return foremost(self.signals)

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON types only; ``exception`` and ``returned`` are left out."""
        fields = {name: value for name, value in self._fields.items() if name not in ("exception", "returned")}
        return super(ToolUse, self._of(fields)).as_dict()


class ModelUse(Value):
    """The return value of ``Hooks.call_model``: the response as judged by its hooks, and their wishes to the loop.

    ``response``: a ``ModelResponse``, None if hooks let none pass, for the ``reason``. ``context``: text of hooks for
    the model, to be placed behind the response. ``messages``: those that hooks added in front of it, which the request
    had already. ``signals``, ``state``, ``outcome`` and ``token`` are those of a ``ToolUse``.
    """

    response: ModelResponse | None = None
    finish_reason: str = ""
    reason: str = ""
    context: str = ""
    messages: tuple[Message, ...] = ()
    signals: tuple[StopSignal, ...] = ()
    state: AgentState | None = None
    outcome: HookOutcome = PROCEED

    @property
    def token(self) -> str:
        """The token with which the request is resumed, if it waits for an answer; else an empty string."""
        return self.outcome.token or ""

    @property
    def stop_signal(self) -> StopSignal | None:
        """The most authoritative signal, the first of equals; None if the run goes on."""
        return foremost(self.signals)


class Ending(NamedTuple):
    """The end of a run. ``output``: the answer as judged by hooks, None if they withhold it, for the ``reason``;
    ``again``: the text for another round that a hook requests; ``stop_signal``: why the run was stopped.
    """

    output: Any = None
    again: str | None = None
    reason: str = ""
    stop_signal: StopSignal | None = None


class ForeignLoop:
    """A loop of others, for one operation. ``fields``: fields of its contexts; ``keeper``: its run, if there is one."""

    def __init__(
        self,
        hooks: Hooks,
        fields: dict[str, Any],
        *,
        sync: bool,
        resume: Resume = None,
        keeper: GuardedRun | None = None,
    ) -> None:
        if not HookContext._known.issuperset(fields):
            raise HookContext._misfit(fields)
        self.hooks = hooks
        self.max_retries = hooks.manager.policy.max_retries
        self.fields = frozen_fields(fields)
        self.sync = sync
        self.resume = resume
        self.keeper = keeper
        self.given = self.state
        self.is_stopping = False
        self.signals: list[StopSignal] = []
        self.added: list[Message] = [] if keeper is None else keeper.added  # by hooks, for the next request

    @property
    def at_work(self) -> GuardedRun | ForeignLoop:
        """The run that agents belong to which the tool of the operation starts: the operation itself without one."""
        return self if self.keeper is None else self.keeper

    @property
    def state(self) -> AgentState | None:
        """The state of the run; other operations may have changed it meanwhile."""
        return self.fields.get("state") if self.keeper is None else self.keeper.state

    async def ask(self, event: HookEvent, **about: Any) -> HookOutcome:
        """Dispatch an event and apply its outcome; the first time, resume the operation that waits."""
        resume, self.resume = self.resume, None
        if resume is None and not self.hooks.listens(event):
            return PROCEED
        ctx = context_of(event, self.fields, about, None if self.keeper is None else self.keeper.state)
        outcome = await self._dispatch(ctx, resume)
        if outcome.decision is Decision.ASK and outcome.token is None:
            outcome = self.hooks.keep_asked(ctx, outcome)
        # If the operation waits, its hooks run again when it resumes, and return all this again.
        if outcome is not PROCEED and outcome.decision not in WAITING:
            self._apply(event, outcome)
        return outcome

    def _apply(self, event: HookEvent, outcome: HookOutcome) -> None:
        self.signals += outcome.signals
        if outcome.decision is Decision.STOP:
            self.signals.append(StopSignal.decided(event, outcome))
            self.is_stopping = True
        if self.keeper is not None:
            self.keeper.apply(event, outcome)
        elif outcome.state is not None:
            state = self.fields.get("state")
            self.fields["state"] = outcome.state if state is None else guarded(state, outcome.state)

    async def _dispatch(self, ctx: HookContext, resume: Resume) -> HookOutcome:
        hooks = self.hooks
        if not self.sync:
            return await (hooks.dispatch(ctx) if resume is None else hooks.resume(*resume, ctx))
        chain = hooks.chain(ctx.event)
        if chain is not None and (chain.is_async or hooks.has_async_ask or self._has_async_permission(chain)):
            from .portal import call_in_portal

            return call_in_portal(hooks.resume, *resume, ctx) if resume else call_in_portal(hooks.dispatch, ctx)
        return hooks.dispatch_sync(ctx) if resume is None else hooks.resume_sync(*resume, ctx)

    def _has_async_permission(self, chain: Chain) -> bool:
        """Whether an async hook may answer the question of another one."""
        if Decision.ASK not in chain.event.decisions:
            return False
        answering = self.hooks.chain(HookEvent.PERMISSION_REQUEST)
        return answering is not None and answering.is_async

    def pause(self, *_event: Any, **_about: Any) -> Paused:
        """Return the exception that ends the call; the outcome has the token."""
        return Paused()

    def stop(self, signal: StopSignal) -> None:
        """Stop the run."""
        self.is_stopping = True
        self.signals.append(signal)
        if self.keeper is not None:
            self.keeper.stop(signal)

    async def try_recover(self, error: BaseException) -> bool:
        """Dispatch ``on_error``, and return whether a hook requests a retry."""
        errors = () if self.state is None else self.state.errors
        outcome = await self.ask(HookEvent.ON_ERROR, error=error, error_list=(*errors, ErrorInfo.of(error)))
        return outcome.decision is Decision.RETRY

    def add(self, *messages: Message) -> None:
        """Add messages of hooks to the next request."""
        self.added += messages

    def count(self, model: str, used: Usage, step: Step) -> None:  # noqa: ARG002 - a run of the runtime keeps the step
        """Add what a response used to the state, if there is one."""
        if self.keeper is not None:
            self.keeper.count(model, used)
        elif (state := self.state) is not None:
            self.fields["state"] = state.with_model_usage(model, used)

    def collected(self, outcome: HookOutcome) -> dict[str, Any]:
        """Return what hooks wish of the loop; ``outcome`` is that of the event before the operation."""
        fields: dict[str, Any] = {"outcome": outcome, "signals": tuple(self.signals)}
        if (state := self.state) is not self.given:
            fields["state"] = state
        return fields


class ForeignCall(PendingCall):
    """A tool call in a loop of others."""

    loop: ForeignLoop

    def __init__(self, call: ToolCall, loop: ForeignLoop, run: Run, passed: Errors) -> None:
        if not isinstance(call, ToolCall):
            raise TypeError(f"A call is a ToolCall, not {type(call).__name__}: give ToolCall(name, arguments).")
        super().__init__(call, loop, [])
        self.run = run
        self.passed = (*passed, HookMisuseError) if loop.sync else passed

    async def make(self) -> ToolUse:
        """Make the call, as often as its hooks request."""
        call, performed, error = self.call, None, None
        try:
            while self.execution is None:
                ready = await self.before()
                if ready is not None:
                    performed, error = await self.perform(ready)
                    await self.after(performed, error)
            execution = self.execution
        except Paused:
            outcome = self.opening
            if outcome.decision not in WAITING:  # an agent that the tool started waits
                raise
            asked = call.with_args(outcome._fields.get("tool_args", call.args))
            execution = ToolExecution.denied(asked, outcome.reason)
        fields = {**execution._fields, **self.loop.collected(self.opening), "messages": tuple(self.messages)}
        if error is not None and execution.error == described(error):
            fields["exception"] = error
        elif performed is not None and not (execution.failed or performed.failed):
            fields["is_untouched"] = execution._fields.get("result") is performed._fields.get("result")
            fields["returned"] = self.returned
        return ToolUse._of(fields)


class ForeignRequest(PendingRequest):
    """A request to a model in a loop of others. ``run(request)`` returns the response, or what a driver may return."""

    loop: ForeignLoop

    def __init__(self, given: ModelRequest, loop: ForeignLoop, run: Callable[[ModelRequest], Any]) -> None:
        if not isinstance(given, ModelRequest):
            raise TypeError(f"A request is a ModelRequest, not {type(given).__name__}.")
        super().__init__(loop, Step(index=0 if loop.keeper is None else loop.keeper.state.step_count))
        self.given, self.run = given, run

    def request(self) -> ModelRequest:
        """Return the request with the messages that hooks have added."""
        if added := self.loop.added:
            self.given = self.given.replace(messages=(*self.given.messages, *added))
            added.clear()
        return self.given

    async def respond(self, request: ModelRequest) -> ModelResponse:
        """Return the response of the model."""
        response = self.run(request)
        if hasattr(response, "__await__"):
            if self.loop.sync:
                refuse_async(response, "The model", "call_model")
            response = await response
        return ModelResponse.of(response)

    async def make(self) -> ModelUse:
        """Send the request, as often as its hooks request. Raises the errors of ``run``."""
        response = None
        try:
            response = await self.settle()
        except Paused:
            if self.opening.decision not in WAITING:
                raise
        fields: dict[str, Any] = {**self.loop.collected(self.opening), "messages": tuple(self.added)}
        fields |= {"response": response, "finish_reason": self.finish_reason}
        if response is None:
            signal = foremost(fields["signals"])
            fields["reason"] = self.outcome.reason or (signal.message if signal else "")
        elif self.outcome.context:
            fields["context"] = self.outcome.context
        return ModelUse._of(fields)
