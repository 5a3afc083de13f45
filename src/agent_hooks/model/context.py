"""The context of a hook: the event, its subject and its place. Immutable."""

from __future__ import annotations

from time import time

from agent_hooks.errors import InvalidOutcomeError

from .events import HookEvent
from .outcome import SUBJECTS, HookOutcome
from .state import AgentState, Message, Step, StopSignal
from .tool_call import ErrorInfo, ToolCall, ToolExecution
from .values import HELD, FrozenDict, Value, checked, freeze, frozen_fields, plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar, Unpack

    from .fields import ContextFields, FurtherFields, ReplacedFields

# Live objects that stay with the process.
_NOT_SERIALISED = frozenset({"runtime"})
_NO_ARGS: Mapping[str, Any] = FrozenDict()


class HookContext(Value):
    """One happening, as its hooks see it.

    ``HookContext("before_tool_use", tool_call=ToolCall("Bash", {"command": "ls"}), cwd="/repo")``; the named
    constructors (``HookContext.before_tool_use(state, tool_call)``…) say the same. Times are seconds since the epoch;
    ``step_index`` counts from 0. Fields that an event does not have are None or empty.
    """

    event: HookEvent
    # The agent and its place.
    agent_id: str = ""
    agent_name: str = ""
    parent_agent_id: str | None = None
    depth: int = 0
    session_id: str = ""
    execution_id: str = ""
    step_index: int = 0
    cwd: str = ""
    project_dir: str = ""
    transcript_path: str = ""
    permission_mode: str = ""
    prompt_id: str = ""
    effort: str = ""
    host: str = ""
    scope: str | None = None
    skill: str | None = None
    created_at: float = 0.0
    updated_at: float = 0.0
    # The subject and its parts.
    state: AgentState | None = None
    tool_call: ToolCall | None = None
    tool_execution: ToolExecution | None = None
    was_blocked: bool = False
    result: Any = None
    error: BaseException | ErrorInfo | None = None
    error_text: str | None = None
    error_list: tuple[ErrorInfo, ...] = ()
    prompt: Any = None
    request: Any = None
    response: Any = None
    model: str = ""
    message_count: int = 0
    tool_count: int = 0
    name: str = ""
    task: Any = None
    status: str = ""
    max_depth: int = 0
    skill_name: str = ""
    arguments: Any = None
    output: Any = None
    payload: Any = None
    host_event: str = ""
    message: str = ""
    notification_type: str = ""
    mcp_server: Mapping[str, Any] = FrozenDict()
    definition: Any = None
    config: Any = None
    trigger: str = ""
    source: str = ""
    end_reason: str = ""
    step: Step | None = None
    stop_signal: StopSignal | None = None
    stop_hook_active: bool = False
    reason: str = ""
    asked_by: tuple[str, ...] = ()
    # Added by hooks in this dispatch.
    context: str = ""
    messages: tuple[Message, ...] = ()
    metadata: Mapping[str, Any] = FrozenDict()
    signals: tuple[StopSignal, ...] = ()
    previous: tuple[Any, str, HookOutcome] | None = None
    rechecking: bool = False
    outcome: HookOutcome | None = None
    # Not serialised.
    runtime: Any = None

    _held = frozenset({"result"})
    _decode: ClassVar[dict[str, Any]] = {
        "event": HookEvent.parse,
        "state": AgentState.from_dict,
        "tool_call": ToolCall.from_dict,
        "tool_execution": ToolExecution.from_dict,
        "error": ErrorInfo.from_dict,
        "error_list": lambda items: tuple(ErrorInfo.from_dict(item) for item in items),
        "step": Step.from_dict,
        "stop_signal": StopSignal.from_dict,
        "messages": lambda items: tuple(Message.from_dict(item) for item in items),
        "metadata": freeze,
        "mcp_server": freeze,
        "signals": lambda items: tuple(StopSignal.from_dict(item) for item in items),
        "asked_by": tuple,
        "previous": lambda link: None if link is None else _link(link),
        "outcome": HookOutcome.from_dict,
    }

    def __init__(self, event: HookEvent | str, **fields: Unpack[ContextFields]) -> None:
        if type(event) is not HookEvent:
            event = HookEvent.parse(event)
        if not self._known.issuperset(fields):
            raise self._misfit(fields)
        fields["event"] = event  # type: ignore[typeddict-unknown-key]  # given by position
        if "tool_call" in fields and type(fields["tool_call"]) is not ToolCall:
            _check_call(fields)
        if fields.get("state") is not None:
            checked(fields["state"], AgentState, "HookContext.state")
        if "created_at" not in fields:
            fields["created_at"] = fields["updated_at"] = time()
        self._fields = frozen_fields(fields)

    def replace(self, **changes: Unpack[ReplacedFields]) -> HookContext:  # type: ignore[override]  # its own fields
        """Return a copy with ``changes`` and a new ``updated_at``. Raises ``TypeError`` for an unknown field."""
        if not self._known.issuperset(changes):
            raise self._misfit({**self._fields, **changes})
        fields = self._fields.copy()
        if "tool_call" in changes and type(changes["tool_call"]) is not ToolCall:
            _check_call(changes)
            fields.pop("tool_call", None)
        fields["updated_at"] = time()
        fields.update(frozen_fields(changes))
        return self._of(fields)

    # -- reading -----------------------------------------------------------------------------------------------------

    @property
    def trigger_type(self) -> HookEvent:
        """The event, under the name it has in InstructorPHP."""
        return self.event

    @property
    def tool_name(self) -> str:
        """The tool's name, or an empty string."""
        return self.tool_call.name if self.tool_call is not None else ""

    @property
    def tool_args(self) -> Mapping[str, Any]:
        """The tool's arguments, read-only; empty without a tool call."""
        call = self._fields.get("tool_call")
        return _NO_ARGS if call is None else call._fields.get("args", _NO_ARGS)

    @property
    def user_input(self) -> Any:
        """Another name of ``prompt``."""
        return self.prompt

    @property
    def is_first_step(self) -> bool:
        """Whether this is the first step of its run."""
        return self.step_index == 0

    @property
    def subject(self) -> Any:
        """The subject of the event, which gates judge; None without one."""
        subject = self.held_subject
        return subject.whole() if type(subject) in HELD else subject

    @property
    def held_subject(self) -> Any:
        """The subject, to be compared and passed on, which does not open a large one."""
        fields = self._fields
        name = fields["event"].subject
        if name == "tool_args":
            call = fields.get("tool_call")
            return _NO_ARGS if call is None else call._fields.get("args", _NO_ARGS)
        return None if name is None else fields.get(name)

    @property
    def paths(self) -> tuple[str, ...]:
        """The tool call's paths, absolute where ``cwd`` is known, with ``.`` and ``..`` resolved by text alone."""
        if self.tool_call is None:
            return ()
        from os.path import join, normpath

        from agent_hooks.system.paths import expanded

        return tuple(normpath(join(self.cwd, expanded(path))) for path in self.tool_call.paths)

    @property
    def previous_results(self) -> tuple[tuple[str, HookOutcome], ...]:
        """The hooks that had an opinion in this dispatch so far, by name, with their outcomes, first to last."""
        found: list[tuple[str, HookOutcome]] = []
        link = self.previous
        while link is not None:
            link, name, outcome = link
            found.append((name, outcome))
        return tuple(reversed(found))

    @property
    def has_errors(self) -> bool:
        """Whether any error is attached."""
        return bool(self.error_list) or self.error is not None

    @property
    def is_tool_execution_blocked(self) -> bool:
        """Whether this tool call was blocked."""
        return self.was_blocked or (self.tool_execution is not None and self.tool_execution.was_blocked)

    def get(self, name: str) -> Any:
        """Return the field or subject called ``name``."""
        return self.tool_args if name == "tool_args" else getattr(self, name)

    def get_metadata(self, key: str | None = None, default: Any = None) -> Any:
        """Return all metadata, or the value of ``key``; ``default`` if the key is missing."""
        return self.metadata if key is None else self.metadata.get(key, default)

    # -- changing: each returns a copy -------------------------------------------------------------------------------

    def with_state(self, state: AgentState) -> HookContext:
        """Return a copy with ``state``."""
        return self.replace(state=state)

    def with_metadata(self, key: str, value: Any) -> HookContext:
        """Return a copy in which ``metadata[key]`` is ``value``."""
        return self.replace(metadata={**self.metadata, key: value})

    def with_subject(self, value: Any) -> HookContext:
        """Return a copy whose subject is ``value``. Raises ``TypeError`` for an event without a subject."""
        name = self.event.subject
        if name is None:
            raise TypeError(f"The event {str(self.event)!r} has no subject.")
        return self.replace(**self.subject_change(name, value))

    def subject_change(self, name: str, value: Any) -> dict[str, Any]:
        """Return the field changes that make ``value`` the new ``name`` and update fields that repeat it."""
        if name == "result" and self.tool_execution is not None:
            return {name: value, "tool_execution": self.tool_execution.replace(result=value)}
        if name == "request" and hasattr(value, "tools"):
            counts = {"message_count": len(value.messages), "tool_count": len(value.tools)}
            return {name: value, "model": value.model, **counts}
        if name != "tool_args":
            return {name: value}
        if self.tool_call is None:
            raise InvalidOutcomeError(f"the event {str(self.event)!r} has no tool call whose arguments could change.")
        return {"tool_call": self.tool_call.with_args(value)}

    def with_tool_args(self, args: Mapping[str, Any]) -> HookContext:
        """Return a copy whose tool call has ``args`` instead, whole."""
        return self.replace(**self.subject_change("tool_args", args))

    def block(self, message: str = "") -> HookContext:
        """Return a copy that blocks the tool call; the default ``message`` describes the call."""
        call = self.tool_call or ToolCall("")
        reason = message or f"Execution blocked by hook: {self.event!s}, tool {call.name!r} with {dict(call.args)!r}."
        execution = ToolExecution.denied(call, reason)
        errors = (*self.error_list, ErrorInfo(type="ToolBlocked", message=reason))
        return self.replace(was_blocked=True, reason=reason, tool_execution=execution, error_list=errors)

    with_tool_execution_blocked = block

    def with_outcome(self, outcome: HookOutcome) -> HookContext:
        """Return a copy with the subject, state, context, messages, metadata and signals of ``outcome``."""
        brought = outcome._fields
        changes: dict[str, Any] = {"outcome": outcome}
        for name in brought.keys() & SUBJECTS:
            changes.update(self.subject_change(name, brought[name]))
        for name in brought.keys() & {"state", "context", "messages", "signals", "metadata"}:
            changes[name] = brought[name]
        return self.replace(**changes)

    # -- edges -------------------------------------------------------------------------------------------------------

    def as_dict(self) -> dict[str, Any]:
        """Return the fields that are set, as JSON types only; live objects (``runtime``) are left out."""
        return {name: plain(value) for name, value in self._fields.items() if name not in _NOT_SERIALISED}

    def as_payload(self) -> dict[str, Any]:
        """Return the JSON object that external hooks receive: Claude Code's keys beside the names of agent boundaries.

        Always there: ``hook_event_name``, ``event``, ``agent_name``, ``scope``, ``session_id``, ``cwd``. A tool event
        has ``tool_name``, ``tool_input``, ``tool_use_id`` and the same as ``tool``, ``input``, ``skill``; other keys
        are the event's own fields.
        """
        data = self.as_dict()
        call = data.pop("tool_call", None)
        for internal in ("created_at", "updated_at", "previous", "outcome", "state"):
            data.pop(internal, None)
        payload: dict[str, Any] = {
            "hook_event_name": _CLAUDE.get(self.event) or "".join(map(str.capitalize, str(self.event).split("_"))),
            "event": str(self.event),
            "agent_name": self.agent_name,
            "scope": self.scope,
            "session_id": self.session_id,
            "cwd": self.cwd,
            **data,
        }
        if call is not None:
            args = call.get("args", {})
            payload.update(
                tool_name=call["name"],
                tool_input=args,
                tool_use_id=call.get("id", ""),
                tool_kind=call.get("kind", "other"),
            )
            payload.update(tool=call["name"], input=args, skill=self.skill)
        if "result" in data:
            payload["tool_response"] = data["result"]
        if self.event.matched_by == "skill":
            payload["skill_name"] = self.skill_name
        return payload

    # -- named constructors ------------------------------------------------------------------------------------------

    @classmethod
    def before_execution(cls, state: AgentState, **fields: Unpack[FurtherFields]) -> HookContext:
        """A run begins."""
        return cls(HookEvent.BEFORE_EXECUTION, **_of_state(state, fields))

    @classmethod
    def after_execution(cls, state: AgentState, **fields: Unpack[FurtherFields]) -> HookContext:
        """A run has ended."""
        return cls(HookEvent.AFTER_EXECUTION, **_of_state(state, fields))

    @classmethod
    def before_step(cls, state: AgentState, **fields: Unpack[FurtherFields]) -> HookContext:
        """A step begins."""
        fields["step_index"] = state.step_count
        return cls(HookEvent.BEFORE_STEP, **_of_state(state, fields))

    @classmethod
    def after_step(cls, state: AgentState, **fields: Unpack[FurtherFields]) -> HookContext:
        """A step has ended."""
        return cls(HookEvent.AFTER_STEP, step=state.current_step, **_of_state(state, fields))

    @classmethod
    def before_tool_use(
        cls, state: AgentState | None, tool_call: ToolCall, **fields: Unpack[FurtherFields]
    ) -> HookContext:
        """A tool is about to be called."""
        return cls(HookEvent.BEFORE_TOOL_USE, tool_call=tool_call, **_of_state(state, fields))

    @classmethod
    def after_tool_use(
        cls, state: AgentState | None, execution: ToolExecution, **fields: Unpack[FurtherFields]
    ) -> HookContext:
        """A tool was called, or blocked."""
        return cls(
            HookEvent.AFTER_TOOL_USE,
            tool_call=execution.call,
            tool_execution=execution,
            result=execution._fields.get("result"),
            was_blocked=execution.was_blocked,
            **_of_state(state, fields),
        )

    @classmethod
    def on_stop(cls, state: AgentState, **fields: Unpack[FurtherFields]) -> HookContext:
        """The run is about to stop."""
        return cls(HookEvent.ON_STOP, stop_signal=state.stop_signal, **_of_state(state, fields))

    @classmethod
    def before_subagent(cls, name: str, task: Any, **fields: Unpack[FurtherFields]) -> HookContext:
        """A subagent is about to start."""
        return cls(HookEvent.BEFORE_SUBAGENT, name=name, task=task, **fields)

    @classmethod
    def after_subagent(cls, name: str, task: Any, result: Any, **fields: Unpack[FurtherFields]) -> HookContext:
        """A subagent has ended."""
        return cls(HookEvent.AFTER_SUBAGENT, name=name, task=task, result=result, **fields)

    @classmethod
    def on_error(
        cls, state: AgentState | None, error: BaseException | ErrorInfo, **fields: Unpack[FurtherFields]
    ) -> HookContext:
        """Something failed; ``error_list`` always holds the error."""
        errors = (*(state.errors if state is not None else ()), ErrorInfo.of(error))
        return cls(HookEvent.ON_ERROR, error=error, error_list=errors, **_of_state(state, fields))


def _of_state(state: AgentState | None, fields: FurtherFields) -> Any:
    """Return ``fields`` with the state, and the ids of its agent where they do not name one."""
    about: dict[str, Any] = {"state": state}
    if state is not None and state.agent_id:
        about.update(agent_id=state.agent_id, parent_agent_id=state.parent_agent_id)
    return {**about, **fields}


def _check_call(fields: Any) -> None:
    """Raise ``TypeError`` for an invalid tool call, which no gate could judge. None is left out."""
    call = fields["tool_call"]
    if call is None:
        del fields["tool_call"]
    elif not isinstance(call, ToolCall):
        raise TypeError(
            f"HookContext.tool_call must be a ToolCall, not {type(call).__name__}: give ToolCall(name, arguments)."
        )


def _link(link: Any) -> tuple[Any, str, HookOutcome] | None:
    return None if link is None else (_link(link[0]), link[1], HookOutcome.from_dict(link[2]))


# The names that external hooks know events by: Claude Code's. Other events have ours, in capitals.
_CLAUDE = {
    HookEvent.USER_INPUT: "UserPromptSubmit",
    HookEvent.BEFORE_TOOL_USE: "PreToolUse",
    HookEvent.AFTER_TOOL_USE: "PostToolUse",
    HookEvent.ON_TOOL_ERROR: "PostToolUseFailure",
    HookEvent.ON_STOP: "Stop",
    HookEvent.BEFORE_SUBAGENT: "SubagentStart",
    HookEvent.AFTER_SUBAGENT: "SubagentStop",
    HookEvent.BEFORE_COMPACT: "PreCompact",
    HookEvent.AFTER_COMPACT: "PostCompact",
}
