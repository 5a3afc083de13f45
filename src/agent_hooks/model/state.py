"""The parts of an agent run: messages, usage, stop signals, steps and the state."""

from __future__ import annotations

from agent_hooks.errors import SuspensionError

from .tool_call import ErrorInfo, ToolCall, ToolExecution
from .values import FrozenDict, Growing, Name, Value, freeze, new_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, Self

    from agent_hooks.errors import StopRunError

    from .events import HookEvent
    from .outcome import HookOutcome


def _each(kind: type[Value]) -> Any:
    return lambda items: tuple(kind.from_dict(item) for item in items)


class Usage(Value):
    """Tokens of model calls; the cached ones are part of ``input_tokens``, reasoning of ``output_tokens``."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    reasoning_tokens: int = 0

    @property
    def total(self) -> int:
        """Input and output tokens together."""
        return self.input_tokens + self.output_tokens

    def __sub__(self, other: Usage) -> Usage:
        return Usage(**{kind: count - getattr(other, kind) for kind, count in self._fields.items()})

    def __add__(self, other: Usage) -> Usage:
        mine, theirs = self._fields, other._fields
        return Usage._of({kind: mine.get(kind, 0) + theirs.get(kind, 0) for kind in {**mine, **theirs}})


class Message(Value):
    """One message of the conversation: ``role`` is ``system``, ``user``, ``assistant`` or ``tool``."""

    role: str
    content: Any = ""
    name: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str = ""
    metadata: Mapping[str, Any] = FrozenDict()

    _decode: ClassVar[dict[str, Any]] = {"tool_calls": _each(ToolCall), "metadata": freeze}


def hook_message(text: str) -> Message:
    """Return the message that gives context of hooks to the model."""
    return Message(role="user", content=text, metadata={"source": "hooks"})


class StopReason(Name):
    """Why a run stops. ``rank`` is its authority: the lowest rank among the signals is the one reported."""

    __slots__ = ("rank",)
    rank: int
    ERROR: ClassVar[StopReason]
    STOP_REQUESTED: ClassVar[StopReason]
    USER_REQUESTED: ClassVar[StopReason]
    STEPS_LIMIT: ClassVar[StopReason]
    TOKEN_LIMIT: ClassVar[StopReason]
    TIME_LIMIT: ClassVar[StopReason]
    RETRY_LIMIT: ClassVar[StopReason]
    FINISH_REASON: ClassVar[StopReason]
    COMPLETED: ClassVar[StopReason]
    UNKNOWN: ClassVar[StopReason]

    @property
    def was_force_stopped(self) -> bool:
        """Whether the run was made to stop, rather than finished."""
        return self not in ("completed", "finish_reason")

    @classmethod
    def parse(cls, name: str) -> StopReason:
        """Return the reason called ``name``; raises ``ValueError`` naming the reasons there are."""
        found = _STOP_REASONS.get(name)
        if found is None:
            raise ValueError(f"{name!r} is not a stop reason; use one of {', '.join(_STOP_REASONS)}.")
        return found


_STOP_REASONS: dict[str, StopReason] = {}
for _rank, _name in enumerate(
    (
        "error stop_requested user_requested steps_limit token_limit time_limit "
        "retry_limit finish_reason completed unknown"
    ).split()
):
    _reason = StopReason._make(_name)
    _reason.rank = _rank
    _STOP_REASONS[_name] = _reason
    setattr(StopReason, _name.upper(), _reason)


class StopSignal(Value):
    """A wish that the run should stop: ``reason``, a message for people, ``context`` with the numbers behind it, and
    its sender.

    ``decided_by``: where a hook that decided to stop comes from; empty if the signal is no hook's decision.
    """

    reason: StopReason
    message: str = ""
    context: Mapping[str, Any] = FrozenDict()
    source: str = ""
    decided_by: str = ""

    _decode: ClassVar[dict[str, Any]] = {"reason": StopReason.parse, "context": freeze}

    if not TYPE_CHECKING:

        def __init__(self, reason: StopReason | str, **fields: Any) -> None:
            super().__init__(reason=StopReason.parse(reason), **fields)

    @classmethod
    def user_requested(cls, message: str = "", source: str = "") -> StopSignal:
        """Return the signal that stands for a person's wish to stop."""
        return cls(reason=StopReason.USER_REQUESTED, message=message, source=source)

    @classmethod
    def decided(cls, event: HookEvent, outcome: HookOutcome) -> StopSignal:
        """Return the signal for a hook's decision to stop."""
        return cls(
            reason=StopReason.STOP_REQUESTED,
            message=outcome.reason or "Stop hook forced termination",
            context={"event": str(event), "failed": True} if outcome.failed else {"event": str(event)},
            source=outcome.hook or "",
            decided_by=outcome.source or "code",
        )

    @classmethod
    def requested(cls, error: StopRunError, source: str) -> StopSignal:
        """Return the signal for a tool or driver that requests a stop."""
        source = error.source or source
        return cls(reason=StopReason.STOP_REQUESTED, message=str(error), context=error.context, source=source)


def foremost(signals: Iterable[StopSignal]) -> StopSignal | None:
    """Return the most authoritative signal, the first of equals; None if there is none."""
    return min(signals, key=lambda signal: signal.reason.rank, default=None)


class Step(Value):
    """One round of the loop: the model's answer, the tools it used, the cost. ``index`` counts from 0.

    ``model`` is the one that answered; ``messages`` are those that hooks added to the tools' results; ``errors`` those
    of the model and of the tools, calls that a hook blocked not among them.
    """

    index: int = 0
    model: str = ""
    message: Message | None = None
    executions: tuple[ToolExecution, ...] = ()
    messages: tuple[Message, ...] = ()
    usage: Usage = Usage()
    finish_reason: str = ""
    errors: tuple[ErrorInfo, ...] = ()

    _decode: ClassVar[dict[str, Any]] = {
        "message": Message.from_dict,
        "executions": _each(ToolExecution),
        "messages": _each(Message),
        "usage": Usage.from_dict,
        "errors": _each(ErrorInfo),
    }

    @property
    def is_blank(self) -> bool:
        """Whether nothing has come of it: the model was not asked."""
        return self._fields.keys() <= {"index"}

    @property
    def has_tool_calls(self) -> bool:
        """Whether the model asked for tools."""
        return bool(self.executions or (self.message and self.message.tool_calls))

    @property
    def type(self) -> str:
        """``error``, ``tool_execution`` or ``final_response``."""
        if self.errors:
            return "error"
        return "tool_execution" if self.has_tool_calls else "final_response"


class BegunCall(Value):
    """A tool call in the middle of which a run waits, because an agent that the tool has started does.

    ``call`` is the call as its hooks settled it, ``context`` the text they add for the model; ``agents`` are the agents
    that the tool has started so far, in their order, as they now are, with nothing but a status or errors where one
    waits to be started or has failed; ``keys`` say as what each was started, a digest of its name and task.
    """

    call: ToolCall
    context: str = ""
    agents: tuple[AgentState, ...] = ()
    keys: tuple[str, ...] = ()

    _decode: ClassVar[dict[str, Any]] = {
        "call": ToolCall.from_dict,
        "keys": tuple,
        "agents": lambda items: tuple(AgentState.from_dict(item) for item in items),
    }


def _pair(items: Iterable[str]) -> tuple[str, str]:
    """Return the plugin and the name of a hook, of which each is a text."""
    plugin, name = items
    if not type(plugin) is type(name) is str:
        raise TypeError("a hook is named by two texts")
    return plugin, name


def hook_keys(items: Iterable[Iterable[str]]) -> tuple[tuple[str, str], ...]:
    """Return the plugins and names of hooks."""
    return tuple(map(_pair, items))


class Answered(Value):
    """An answer that was given to one question about an operation, which then had to wait for another one.

    ``hook``, of a suspension, ``asked_keys``, of a question, and ``subject`` are those of the ``Suspended`` that it
    answered; ``answer`` is the outcome, after a round trip through JSON as ``HookOutcome.as_dict`` writes it.
    """

    hook: tuple[str, str] = ("", "")
    asked_keys: tuple[tuple[str, str], ...] = ()
    subject: Any = None
    answer: Any = None

    _decode: ClassVar[dict[str, Any]] = {"hook": _pair, "asked_keys": hook_keys}


class Suspended(Value):
    """A run that waits for an answer: the event, the subject, the asking hooks and their reason.

    ``decision`` is ``ask`` or ``suspend``; ``hook`` the one that suspended, by plugin and name; ``asked_by`` the hooks
    whose questions are put, ``asked_keys`` the same by plugin and name (without them, the question is put again);
    ``data`` is stored with a suspension; ``subject`` is the value that the answer is about, and holds for;
    ``tool_call`` the call in question, ``prompt`` the prompt as it was given. ``token`` is good for one answer.
    ``answers`` are those given to the operation before, ``chain`` is the token of the first of its waits, and
    ``called`` are the hooks that were called about it, by plugin and name.
    ``settled`` are the executions of the step so far, None where a call is still to come; ``begun`` the calls in the
    middle of which agents wait, first the one that the answer is for; ``made`` is how often the
    operation was made before, ``hints`` why its results were refused, ``forced`` how many rounds hooks have forced.
    """

    token: str
    event: str
    decision: str
    reason: str = ""
    hook: tuple[str, str] = ("", "")
    asked_by: tuple[str, ...] = ()
    asked_keys: tuple[tuple[str, str], ...] = ()
    data: Any = None
    subject: Any = None
    tool_call: ToolCall | None = None
    prompt: Any = None
    session_id: str = ""
    settled: tuple[ToolExecution | None, ...] = ()
    begun: tuple[BegunCall, ...] = ()
    made: int = 0
    hints: tuple[Message, ...] = ()
    forced: int = 0
    created_at: float = 0.0
    chain: str = ""
    answers: tuple[Answered, ...] = ()
    called: tuple[tuple[str, str], ...] = ()

    _decode: ClassVar[dict[str, Any]] = {
        "hook": _pair,
        "answers": _each(Answered),
        "called": hook_keys,
        "asked_by": tuple,
        "asked_keys": hook_keys,
        "tool_call": ToolCall.from_dict,
        "hints": _each(Message),
        "settled": lambda items: tuple(None if item is None else ToolExecution.from_dict(item) for item in items),
        "begun": _each(BegunCall),
    }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """Return the value that ``as_dict`` wrote. Raises ``SuspensionError`` naming the field that is damaged."""
        try:
            read = super().from_dict(data)
            for name, value in read._fields.items():
                default = cls._defaults.get(name, "")
                kinds = (int, float) if type(default) is float else (type(default),)
                if default is not None and type(value) not in kinds:
                    raise TypeError(f"Suspended.{name} cannot be of type {type(value).__name__}.")
        except TypeError as error:
            message = f"The state of the suspended run is damaged; use it as it was saved. {error}"
            raise SuspensionError(message) from error
        return read

    @property
    def is_inside(self) -> bool:
        """Whether it is an agent of a tool call that waits, not the run itself."""
        agents = self.begun[0].agents if self.begun else ()
        return next((agent.suspended is not None for agent in agents if agent.status == "suspended"), False)


class AgentState(Value):
    """Everything an agent carries from step to step. Immutable: every ``with_*`` returns a copy.

    ``status`` is ``ready``, ``in_progress``, ``suspended``, ``completed``, ``stopped`` or ``failed``. ``usage`` is that
    of the steps, ``model_usage`` all that was used, by model: also for answers that were not taken, and for hooks.
    Where the status is ``failed``, ``errors`` says why: the errors of the model and of the tools, in order.
    """

    agent_id: str = ""
    parent_agent_id: str | None = None
    execution_id: str = ""
    execution_count: int = 0
    status: str = "ready"
    system_prompt: str = ""
    response_format: Any = None
    messages: tuple[Message, ...] = ()
    metadata: Mapping[str, Any] = FrozenDict()
    steps: tuple[Step, ...] = ()
    current_step: Step | None = None
    usage: Usage = Usage()
    model_usage: Mapping[str, Usage] = FrozenDict()
    stop_signals: tuple[StopSignal, ...] = ()
    continuation_requested: bool = False
    errors: tuple[ErrorInfo, ...] = ()
    output: Any = None
    suspended: Suspended | None = None

    _decode: ClassVar[dict[str, Any]] = {
        "messages": _each(Message),
        "metadata": freeze,
        "steps": _each(Step),
        "current_step": Step.from_dict,
        "usage": Usage.from_dict,
        "model_usage": lambda items: {model: Usage.from_dict(item) for model, item in items.items()},
        "stop_signals": _each(StopSignal),
        "errors": _each(ErrorInfo),
        "suspended": Suspended.from_dict,
    }
    _held = frozenset({"messages", "steps"})

    @property
    def step_count(self) -> int:
        """How many steps have been completed."""
        return len(self._fields.get("steps", ()))

    @property
    def last_step(self) -> Step | None:
        """The step completed last; None before the first."""
        steps = self._fields.get("steps")
        if not steps:
            return None
        last: Step = steps.last() if type(steps) is Growing else steps[-1]
        return last

    @property
    def stop_signal(self) -> StopSignal | None:
        """The most authoritative signal, the first of equals; None without one."""
        return foremost(self.stop_signals)

    def raise_for_error(self) -> AgentState:
        """Return the state itself. Raises ``RunFailedError`` with the messages of ``errors`` if the run failed."""
        if self.status != "failed":
            return self
        from agent_hooks.errors import RunFailedError

        # Of some, the message says the type as well.
        messages = (f"{error.type}: {error.message.removeprefix(f'{error.type}: ')}" for error in self.errors)
        why = "; ".join(message.removesuffix(": ") for message in messages)
        raise RunFailedError(why or "The run failed.")

    def with_metadata(self, key: str, value: Any) -> AgentState:
        """Return a copy in which ``metadata[key]`` is ``value``."""
        fields = self._fields.copy()
        fields["metadata"] = FrozenDict({**fields.get("metadata", {}), key: freeze(value)})
        new = new_value(AgentState)
        new._fields = fields
        return new

    def with_messages(self, *messages: Message) -> AgentState:
        """Return a copy with ``messages`` at the end of the conversation."""
        # A long conversation is neither frozen again for each message, since it is made of values, nor copied.
        return self._with(messages=Growing.plus(self._fields.get("messages", ()), messages))

    def with_step(self, step: Step) -> AgentState:
        """Return a copy with ``step`` as the last one completed, and no current one."""
        steps = Growing.plus(self._fields.get("steps", ()), (step,))
        return self._with(steps=steps, current_step=None)

    def with_model_usage(self, model: str, usage: Usage) -> AgentState:
        """Return a copy with ``usage`` of ``model`` added."""
        used = self.model_usage
        usage = used[model] + usage if model in used else usage
        return self._with(model_usage=FrozenDict({**used, model: usage}))

    def with_stop_signal(self, signal: StopSignal) -> AgentState:
        """Return a copy with ``signal`` added."""
        return self.replace(stop_signals=(*self.stop_signals, signal))

    def with_system_prompt(self, text: str) -> AgentState:
        """Return a copy with ``text`` as the system prompt."""
        return self.replace(system_prompt=text)
