"""Tool calls and requests to a model in a loop that is not ours."""

from __future__ import annotations

from contextvars import ContextVar
from time import time
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol

from agent_hooks.errors import HookMisuseError
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.inference import ModelRequest, ModelResponse
from agent_hooks.model.outcome import PROCEED, Decision, HookOutcome
from agent_hooks.model.state import AgentState, Message, StopSignal, Usage, foremost
from agent_hooks.model.tool_call import ErrorInfo, ToolCall, ToolExecution
from agent_hooks.model.values import Value, frozen_fields

from .model_calls import AskingLoop, PendingRequest
from .state_changes import guarded
from .tool_calls import CallingLoop, PendingCall, described

if TYPE_CHECKING:
    from collections.abc import Callable

    from .hooks import Errors, Hooks, Resume, Run
    from .plan import Chain

# The events whose outcome says whether the operation is done, and with which token it waits.
_OPENING = frozenset({HookEvent.BEFORE_TOOL_USE, HookEvent.BEFORE_INFERENCE})


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


class _Waits(Exception):  # noqa: N818 - not an error: it carries the question out of the call
    """Raised when the call has to wait for an answer."""


class Keeper(Protocol):
    """The run that an operation belongs to, which keeps the state."""

    state: AgentState

    def take(self, state: AgentState | None, signals: tuple[StopSignal, ...] = ()) -> None:
        """Take over a state that a hook returned, and signals."""


# The run, of a loop or of the runtime, or the single operation whose tool is at work: agents it starts belong to it.
AT_WORK: ContextVar[Any] = ContextVar("agent_hooks_guarded_run", default=None)


class ForeignLoop(CallingLoop):
    """A loop of others, for one operation. ``fields``: fields of its contexts; ``keeper``: its run, if there is one."""

    def __init__(
        self,
        hooks: Hooks,
        fields: dict[str, Any],
        *,
        sync: bool,
        resume: Resume = None,
        keeper: Keeper | None = None,
    ) -> None:
        super().__init__(hooks.manager.policy.max_retries)
        if not HookContext._known.issuperset(fields):
            raise HookContext._misfit(fields)
        self.hooks = hooks
        self.fields = frozen_fields(fields)
        self.given = self.fields.get("state")
        self.sync = sync
        self.resume = resume
        self.keeper = keeper
        self.outcome = PROCEED  # of the event before the operation
        self.signals: list[StopSignal] = []

    async def ask(self, event: HookEvent, **about: Any) -> HookOutcome:
        """Dispatch an event; the first time, resume the operation that waits."""
        resume, self.resume = self.resume, None
        if resume is None and not self.hooks.listens(event):
            return PROCEED
        if self.keeper is not None:  # other calls of the run may have changed it meanwhile
            self.fields["state"] = self.keeper.state
        now = time()
        fields = {"created_at": now, "updated_at": now, **self.fields, **frozen_fields(about), "event": event}
        ctx = HookContext._of(fields)
        outcome = await self._dispatch(ctx, resume)
        if outcome.decision is Decision.ASK and outcome.token is None:
            outcome = self.hooks.keep_asked(ctx, outcome)
        elif outcome.decision is Decision.STOP:
            self.signals.append(StopSignal.decided(event, outcome))
        if event in _OPENING:
            self.outcome = outcome
        return outcome

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

    def pause(self, *_event: Any, **_about: Any) -> Exception:
        """Return the exception that ends the call; the outcome has the token."""
        return _Waits()

    def take(self, outcome: HookOutcome) -> None:
        """Collect the signals as well, and let the hooks that follow see a new state."""
        super().take(outcome)
        self.take_state(outcome)

    def take_state(self, outcome: HookOutcome) -> None:
        """Collect the signals, and let the hooks that follow see a new state."""
        self.signals += outcome.signals
        if outcome.state is not None:
            self.keep(outcome.state)

    def keep(self, state: AgentState) -> None:
        """Make a state the one that hooks see from now on."""
        if self.keeper is not None:
            self.keeper.take(state)
            state = self.keeper.state
        elif self.given is not None:
            state = guarded(self.fields["state"], state)
        self.fields["state"] = state

    def stop(self, signal: StopSignal) -> None:
        """Stop the run because a tool requests it."""
        super().stop(signal)
        self.signals.append(signal)

    def collected(self) -> dict[str, Any]:
        """Return what hooks wish of the loop."""
        fields: dict[str, Any] = {"outcome": self.outcome, "signals": tuple(self.signals)}
        if (state := self.fields.get("state")) is not self.given:
            fields["state"] = state
        return fields


def refuse_async(result: Any, what: str, method: str) -> None:
    """Raise ``HookMisuseError`` for an awaitable in a sync loop."""
    getattr(result, "close", bool)()
    raise HookMisuseError(f"{what} is async: use `await hooks.{method}(...)`.")


class ForeignCall(ForeignLoop):
    """A tool call in a loop of others."""

    async def make(self, call: ToolCall, run: Run, passed: Errors) -> ToolUse:
        """Make one call, as often as its hooks request."""
        if not isinstance(call, ToolCall):
            raise TypeError(f"A call is a ToolCall, not {type(call).__name__}: give ToolCall(name, arguments).")
        returned = performed = error = None

        async def tool(call: ToolCall) -> Any:
            nonlocal returned
            before = AT_WORK.get()
            AT_WORK.set(self if self.keeper is None else self.keeper)
            try:
                returned = run(call)
                if hasattr(returned, "__await__"):
                    if self.sync:
                        refuse_async(returned, f"The tool {call.name}", "call_tool")
                    returned = await returned
            finally:
                AT_WORK.set(before)  # no token: a call may end in another task than it began in
            return returned

        one = PendingCall(call, self)
        one.run = tool
        one.passed = (*passed, HookMisuseError) if self.sync else passed
        try:
            while one.execution is None:
                ready = await one.before()
                if ready is not None:
                    performed, error = await one.perform(ready)
                    await one.after(performed, error)
            execution = one.execution
        except _Waits:
            asked = call.with_args(self.outcome._fields.get("tool_args", call.args))
            execution = ToolExecution.denied(asked, self.outcome.reason)
        fields = {**execution._fields, **self.collected(), "messages": tuple(self.messages)}
        if error is not None and execution.error == described(error):
            fields["exception"] = error
        elif performed is not None and not (execution.failed or performed.failed):
            fields["is_untouched"] = execution._fields.get("result") is performed._fields.get("result")
            fields["returned"] = returned
        return ToolUse._of(fields)


class ForeignRequest(ForeignLoop, AskingLoop):
    """A request to a model in a loop of others. ``run(request)`` returns the response, or what a driver may return."""

    async def make(self, request: ModelRequest, run: Callable[[ModelRequest], Any]) -> ModelUse:
        """Send one request, as often as its hooks request. Raises the errors of ``run``."""
        if not isinstance(request, ModelRequest):
            raise TypeError(f"A request is a ModelRequest, not {type(request).__name__}.")
        self._request, self._run, self.usage = request, run, Usage()
        pending, response = PendingRequest(self), None
        try:
            response = await pending.make()
        except _Waits:
            pending.outcome = self.outcome
        outcome = pending.outcome
        self.is_stopped = outcome.decision is Decision.STOP
        fields: dict[str, Any] = {**self.collected(), "messages": tuple(self.messages)}
        fields |= {"response": response, "finish_reason": pending.finish_reason}
        if response is None:
            signal = foremost(fields["signals"])
            fields["reason"] = outcome.reason or (signal.message if signal else "")
        elif outcome.context:
            fields["context"] = outcome.context
        return ModelUse._of(fields)

    def request(self) -> ModelRequest:
        """Return the request as it is before its hooks."""
        return self._request

    async def respond(self, request: ModelRequest) -> ModelResponse:
        """Return the response of the model."""
        response = self._run(request)
        if hasattr(response, "__await__"):
            if self.sync:
                refuse_async(response, "The model", "call_model")
            response = await response
        return ModelResponse.of(response)

    async def ask(self, event: HookEvent, **about: Any) -> HookOutcome:
        """Dispatch an event about the request."""
        if "request" in about:
            request = about["request"]
            about = {"model": request.model, "message_count": len(request.messages), **about}
            about["tool_count"] = len(request.tools)
        outcome = await super().ask(event, **about)
        if outcome is not PROCEED:
            self.take_state(outcome)
        return outcome

    async def recovers(self, error: BaseException, *, is_last: bool) -> bool:
        """Dispatch ``on_error``; return whether a hook requests a retry, and there may be one."""
        info = ErrorInfo.of(error)
        outcome = await self.ask(HookEvent.ON_ERROR, error=error, error_list=(info,))
        return outcome.decision is Decision.RETRY and not is_last

    def add(self, *messages: Message) -> None:
        """Collect the messages that hooks add in front of the response."""
        self.messages += messages

    def count(self, model: str, response: ModelResponse, used: ModelResponse) -> None:
        """Add the usage to the state, if there is one."""
        self.usage += response.usage
        state: AgentState | None = self.fields.get("state")
        if state is not None:
            self.keep((state if self.keeper is None else self.keeper.state).with_model_usage(model, used.usage))
