"""Whether the next step of a run may start, and what hooks decide about that: for the runtime and loops of others."""

from __future__ import annotations

from time import time
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_hooks.errors import PromptRefusedError, SubagentDeniedError
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import WAITING, Decision
from agent_hooks.model.policy import RANKS
from agent_hooks.model.state import Message, StopReason, StopSignal, hook_message
from agent_hooks.model.tool_call import ErrorInfo
from agent_hooks.model.values import frozen_fields
from agent_hooks.system.visible import logger_of

from .messages import last_of, messages_from
from .state_changes import guarded

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import AgentState

    Note = Callable[[HookOutcome], object] | None

MAX_DEPTH = 10  # of agents that start agents

logger = logger_of("agent_hooks.runtime")

# Messages and context of these go elsewhere: beside the prompt, into the request, or into the tool's result.
_PLACED_ELSEWHERE = frozenset(
    "user_input before_inference after_inference before_tool_use on_tool_error after_tool_use before_subagent "
    "after_subagent".split()
)
# Subagents may run concurrently: a state returned by a hook of one would undo changes made meanwhile.
_CONCURRENT = frozenset({HookEvent.BEFORE_SUBAGENT, HookEvent.AFTER_SUBAGENT})
# A request for another round overrides these, whatever their source.
_SOFT = frozenset({StopReason.COMPLETED, StopReason.FINISH_REASON, StopReason.UNKNOWN})


# Of a run that has come to its own end.
COMPLETED = StopSignal(reason=StopReason.COMPLETED, message="The model has finished.")


class ContinuationRequest(NamedTuple):
    """A hook's request for another round: the hook's source, if known, and the text for the model."""

    source: str = ""
    reason: str = ""

    def may_override(self, signal: StopSignal, *, is_shown: bool) -> bool:
        """Whether the run continues in spite of the signal. Never overridden: a limit, an error, a person's request, a
        failed gate, a hook of a higher source. A decision to stop is overridden only from ``on_stop``, which shows it.
        """
        if signal.reason in _SOFT:
            return True
        if not is_shown or signal.reason != StopReason.STOP_REQUESTED:
            return False
        # Without a source, the signal counts as the application's, and the request ranks lowest.
        theirs, mine = RANKS.get(signal.decided_by or "code"), RANKS[self.source or "skill"]
        return theirs is not None and theirs <= mine and not signal.context.get("failed")


class Lifecycle:
    """A run, from its prompt to its end, without its steps.

    A subclass has ``state``, the last consistent one, ``fields`` of its contexts, ``parent``, the run that started it,
    if any, and ``ask``, which dispatches an event and applies its outcome.
    """

    state: AgentState
    fields: dict[str, Any]
    parent: Any
    max_forced: int
    sync = False

    def __init__(self) -> None:
        self.continuation: ContinuationRequest | None = None  # a hook requests another round
        self.is_granted = False  # that request
        self.is_stopping = False  # the tools that the model calls in this step are not run any more
        self.forced = 0
        self.told: BaseException | None = None  # the last error that hooks know of

    @property
    def depth(self) -> int:
        """0, in a subagent one more than in the run that started it."""
        return int(self.fields.get("depth", 0))

    async def ask(self, event: HookEvent, **about: Any) -> HookOutcome:
        """Dispatch an event and apply its outcome."""
        raise NotImplementedError

    def pause(self, event: HookEvent, outcome: HookOutcome, **about: Any) -> BaseException:
        """Return the exception to raise for an operation that has to wait."""
        raise NotImplementedError

    def add(self, *messages: Message) -> None:
        """Add messages to the conversation."""
        raise NotImplementedError

    def add_brought(self, outcome: HookOutcome) -> None:
        """Add the messages and the context of hooks."""
        if messages := messages_from(outcome):
            self.add(*messages)

    async def receive(self, prompt: Any, *, is_turn: bool) -> Any:
        """Add the prompt, unless it is None, as changed by hooks to the conversation, and return it. ``is_turn``:
        dispatch ``before_turn``. Raises ``PromptRefusedError``; if hooks stop the run, its status is ``stopped``.
        """
        if prompt is not None:
            outcome = await self._ask_first(HookEvent.USER_INPUT, prompt=prompt)
            if outcome.decision is Decision.STOP:
                self.state = self.state.replace(status="stopped")
                return prompt
            prompt = outcome._fields.get("prompt", prompt)
            self.state = self.state.with_messages(Message(role="user", content=prompt))
            self.add_brought(outcome)
        if is_turn:
            await self._ask_first(HookEvent.BEFORE_TURN, message_count=len(self.state.messages))
        return prompt

    async def _ask_first(self, event: HookEvent, **about: Any) -> HookOutcome:
        """Dispatch an event before the run."""
        outcome = await self.ask(event, **about)
        if outcome.decision in WAITING:
            raise self.pause(event, outcome, **about)
        if outcome.decision is Decision.DENY:
            raise PromptRefusedError(outcome.reason, str(event))
        return outcome

    async def before_subagent(
        self, name: str, task: Any, *, max_depth: int = MAX_DEPTH, note: Note = None, **how: Any
    ) -> Any:
        """Return the task of an agent that a tool or hook starts, as changed by hooks. ``note`` gets their outcome,
        whose messages are added otherwise; ``how`` is for ``ask``. Raises ``SubagentDeniedError``.
        """
        if self.depth >= max_depth:
            raise SubagentDeniedError(f"Denied: agents start agents at most {max_depth} deep.")
        about = {"name": name, "task": task, "max_depth": max_depth}
        outcome = await self.ask(HookEvent.BEFORE_SUBAGENT, **how, **about)
        if outcome.decision in WAITING:
            raise self.pause(HookEvent.BEFORE_SUBAGENT, outcome, **about)
        (note or self.add_brought)(outcome)
        if outcome.blocks:
            raise SubagentDeniedError(f"Denied: {outcome.reason}")
        return outcome._fields.get("task", task)

    async def after_subagent(self, *, result: Any, max_depth: int = MAX_DEPTH, note: Note = None, **about: Any) -> Any:
        """Return the result of such an agent as changed by hooks. Raises ``SubagentDeniedError``."""
        outcome = await self.ask(HookEvent.AFTER_SUBAGENT, result=result, max_depth=max_depth, **about)
        (note or self.add_brought)(outcome)
        if outcome.decision is Decision.DENY:
            raise SubagentDeniedError(f"Result withheld: {outcome.reason}")
        return outcome._fields.get("result", result)

    def about_stop(self) -> dict[str, Any]:
        """Return the last prompt and answer, for ``on_stop``."""
        return {"prompt": last_of("user", self.state), "output": last_of("assistant", self.state)}

    def limit(self) -> StopSignal | None:
        """Return the signal of a limit that is reached, if there is one."""
        return None

    async def prepare(self) -> None:
        """Do what precedes a step that may start."""

    async def start_step(self) -> bool:
        """Start the next step if nothing stops the run; otherwise ``on_stop`` may force one."""
        while not await self._may_start_step():
            self.drop_continuation()
            about = {"stop_signal": self.state.stop_signal, "stop_hook_active": self.forced > 0}
            await self.ask(HookEvent.ON_STOP, **about, **self.about_stop())
            if not (self.state.continuation_requested and self.may_continue(is_shown=True)):
                return False
        await self.prepare()
        if self.continuation is not None and self.continuation.reason:
            self.add(hook_message(self.continuation.reason))
        self.drop_continuation()
        return True

    async def _may_start_step(self) -> bool:
        """Whether hooks and the limit allow another step; add a stop signal at the limit."""
        if not self.may_continue():
            return False
        await self.ask(HookEvent.SHOULD_CONTINUE, step=self.state.last_step)
        if not self.may_continue():
            return False
        if (signal := self.limit()) is not None:
            self.add_signal(signal)
            return False
        await self.ask(HookEvent.BEFORE_STEP)
        return self.may_continue()

    def may_continue(self, *, is_shown: bool = False) -> bool:
        """Whether nothing stops the run, or a request for another round overrides it; such requests are counted."""
        signals = self.state.stop_signals
        if not signals:
            return True
        continuation = self.continuation if self.state.continuation_requested else None
        # In a subagent the decision to stop may come from one of its parent's hooks.
        is_shown = is_shown and self.parent is None
        if continuation is None or not all(continuation.may_override(signal, is_shown=is_shown) for signal in signals):
            return False
        if not self.is_granted:
            if self.forced >= self.max_forced:
                logger.warning("agent_hooks: hooks have forced %d rounds of this run; it may stop now.", self.forced)
                return False
            self.forced += 1
            self.is_granted = True
        self.state = self.state.replace(stop_signals=())
        return True

    def drop_continuation(self) -> None:
        """Drop the request for another round: it was met, or comes too late."""
        self.continuation, self.is_granted = None, False
        if self.state.continuation_requested:
            self.state = self.state.replace(continuation_requested=False)

    def add_signal(self, signal: StopSignal) -> None:
        """Add a stop signal."""
        self.state = self.state.with_stop_signal(signal)

    def stop(self, signal: StopSignal) -> None:
        """Stop the run because a tool or a driver requests it, or hooks let no response pass."""
        self.is_stopping = True
        self.add_signal(signal)

    def apply(self, event: HookEvent, outcome: HookOutcome) -> None:
        """Apply the outcome to the state: messages, signals, a request to continue or stop."""
        brought = outcome._fields
        if brought.get("state") is not None and event not in _CONCURRENT:
            try:
                self.state = guarded(self.state, brought["state"])
            except (TypeError, AttributeError) as error:
                logger.warning(
                    "agent_hooks: the state brought on %s is none, and is dropped: %s", event, type(error).__name__
                )
        if event not in _PLACED_ELSEWHERE:
            self.add_brought(outcome)
        if brought.get("signals"):
            self.state = self.state.replace(stop_signals=(*self.state.stop_signals, *outcome.signals))
        if outcome.decision is Decision.STOP:
            self.is_stopping = True
            self.add_signal(StopSignal.decided(event, outcome))
        self.request_continuation(outcome)

    def request_continuation(self, outcome: HookOutcome) -> None:
        """Note a hook's request for another round, made by its decision or by the state that it returned."""
        if outcome.decision is Decision.FORCE_CONTINUE:
            reason = outcome.reason or "Stop hook requested continuation"
            self.continuation = ContinuationRequest(outcome.source or "code", reason)
            self.state = self.state.replace(continuation_requested=True)
        elif self.state.continuation_requested and self.continuation is None:
            self.continuation = ContinuationRequest()

    async def try_recover(self, error: BaseException) -> bool:
        """Dispatch ``on_error``, and return whether a hook requests a retry."""
        self.told = error
        self.state = self.state.replace(status="failed")
        errors = (*self.state.errors, ErrorInfo.of(error))
        outcome = await self.ask(HookEvent.ON_ERROR, error=error, error_list=errors)
        if outcome.decision is not Decision.RETRY:
            return False
        self.state = self.state.replace(status="in_progress")
        return True

    def end_with(self, error: BaseException) -> ErrorInfo:
        """End the run with an error, and return its record."""
        info = ErrorInfo.of(error)
        self.state = self.state.replace(status="failed", errors=(*self.state.errors, info))
        message, source = f"{info.type}: {info.message}", type(self).__name__
        self.add_signal(StopSignal(reason=StopReason.ERROR, message=message, source=source))
        return info

    async def released(self, output: Any) -> tuple[Any, str]:
        """Return the final answer as changed by hooks; None and the reason if they withhold it, which stops the run."""
        outcome = await self.ask(HookEvent.BEFORE_OUTPUT, output=output)
        if not outcome.blocks:
            return outcome._fields.get("output", output), ""
        if outcome.decision is not Decision.STOP:
            self.add_signal(StopSignal.decided(HookEvent.BEFORE_OUTPUT, outcome))
        return None, outcome.reason

    async def conclude(self) -> str:
        """Put all errors of a run that failed into its state, dispatch ``after_execution``, and return the status."""
        self.state = self.state.replace(continuation_requested=False)
        if (status := final_status(self.state)) == "failed":
            errors = [error for step in self.state.steps for error in step.errors]
            errors += [error for error in self.state.errors if error not in errors]
            self.state = self.state.replace(errors=tuple(errors))
        await self.ask(HookEvent.AFTER_EXECUTION, status=status, stop_signal=self.state.stop_signal)
        return status


def context_of(
    event: HookEvent, place: dict[str, Any], about: dict[str, Any], state: AgentState | None = None
) -> HookContext:
    """Return the context for hooks: ``place`` and ``about`` are fields of it, those of ``place`` frozen already."""
    if (request := about.get("request")) is not None:
        counts = {"message_count": len(request._fields.get("messages", ())), "tool_count": len(request.tools)}
        about = {"model": request.model, **counts, **about}
    now = time()
    fields = {"created_at": now, "updated_at": now, **place, **frozen_fields(about), "event": event}
    if state is not None:
        fields["state"], fields["step_index"] = state, state.step_count
    return HookContext._of(fields)


def final_status(state: AgentState) -> str:
    """Return the final status: ``failed`` after any error, ``stopped`` if forced, else ``completed``."""
    signal = state.stop_signal
    if state.status == "failed" or any(step.errors for step in state.steps):
        return "failed"
    return "stopped" if signal is not None and signal.reason.was_force_stopped else "completed"
