"""The events of an agent's life: their names, aliases and the decisions a hook may take on each.

Everything else reads this table: the hookspecs, the dispatch, ``agent-hooks events`` and the documentation.
"""

from __future__ import annotations

from agent_hooks.errors import UnknownEventError, did_you_mean

from .values import Name

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any, ClassVar

# The context fields under which an outcome may bring a new subject.
SUBJECTS = frozenset(
    {"tool_args", "prompt", "request", "response", "result", "error_text", "task", "output", "payload"}
)
DECISIONS = ("proceed", "allow", "deny", "stop", "ask", "suspend", "skip", "force_continue", "retry")
_MATCHED_BY = frozenset({"agent", "tool", "subagent", "skill", "model", "error", "notification", "step", "host_event"})
_CLOSED = (None, "deny", "stop", "required")

# Fields that any event may bring. Events add their subject, the state, messages.
COMMON_CHANGES = frozenset({"context", "metadata", "signals"})


class HookEvent(Name):
    """The name of an event: a string (``"before_tool_use"``) that knows its facts.

    ``aliases``: other names, those of Claude Code among them. ``subject``: the context field that gates judge, or None.
    ``decisions``: those a hook may take besides ``proceed``; empty means that it only observes. ``closed``: the effect
    of a failed gate: ``"deny"``, ``"stop"``, ``"required"`` (deny if the hook is required, else it goes on) or None (it
    goes on). ``closed_means``: the same for readers. ``changes``: the fields an outcome may bring. ``matched_by``: the
    field a match is tried on. ``reads_deny_as``: the decision that a deny stands for where the event has none.
    ``asks_all``: whether every hook is asked before the outcome is settled.
    """

    __slots__ = tuple("aliases asks_all changes closed closed_means decisions matched_by reads_deny_as subject".split())
    aliases: tuple[str, ...]
    asks_all: bool
    changes: frozenset[str]
    closed: str | None
    closed_means: str
    decisions: frozenset[str]
    matched_by: str
    reads_deny_as: str | None
    subject: str | None

    @property
    def observe_only(self) -> bool:
        """Whether hooks on this event can only look: nothing to decide and nothing to change."""
        return not self.decisions and not self.changes

    @classmethod
    def parse(cls, name: str) -> HookEvent:
        """Return the event of this name or alias. Raises ``UnknownEventError`` naming the nearest one."""
        found = find_event(name)
        if found is not None:
            return found
        if not isinstance(name, str):
            raise TypeError(f"An event is named by a str, not by {type(name).__name__}.")
        hint = did_you_mean(name, _BY_NAME, "`agent-hooks events` lists them all.")
        raise UnknownEventError(f"There is no event {name!r}. {hint}")

    @classmethod
    def all(cls) -> Iterator[HookEvent]:
        """Every known event, in the order of an agent's life, those added by plugins last."""
        return iter(tuple(_EVENTS.values()))

    SETUP: ClassVar[HookEvent]
    SESSION_START: ClassVar[HookEvent]
    SESSION_END: ClassVar[HookEvent]
    BEFORE_AGENT: ClassVar[HookEvent]
    AFTER_AGENT: ClassVar[HookEvent]
    USER_INPUT: ClassVar[HookEvent]
    BEFORE_TURN: ClassVar[HookEvent]
    AFTER_TURN: ClassVar[HookEvent]
    BEFORE_EXECUTION: ClassVar[HookEvent]
    AFTER_EXECUTION: ClassVar[HookEvent]
    BEFORE_STEP: ClassVar[HookEvent]
    AFTER_STEP: ClassVar[HookEvent]
    BEFORE_INFERENCE: ClassVar[HookEvent]
    AFTER_INFERENCE: ClassVar[HookEvent]
    BEFORE_TOOL_USE: ClassVar[HookEvent]
    AFTER_TOOL_USE: ClassVar[HookEvent]
    ON_TOOL_ERROR: ClassVar[HookEvent]
    PERMISSION_REQUEST: ClassVar[HookEvent]
    BEFORE_SUBAGENT: ClassVar[HookEvent]
    AFTER_SUBAGENT: ClassVar[HookEvent]
    BEFORE_SKILL_ACTIVATION: ClassVar[HookEvent]
    AFTER_SKILL_ACTIVATION: ClassVar[HookEvent]
    BEFORE_CONVERSATION_LOAD: ClassVar[HookEvent]
    AFTER_CONVERSATION_LOAD: ClassVar[HookEvent]
    BEFORE_CONVERSATION_SAVE: ClassVar[HookEvent]
    AFTER_CONVERSATION_SAVE: ClassVar[HookEvent]
    BEFORE_COMPACT: ClassVar[HookEvent]
    AFTER_COMPACT: ClassVar[HookEvent]
    SHOULD_CONTINUE: ClassVar[HookEvent]
    ON_STOP: ClassVar[HookEvent]
    BEFORE_OUTPUT: ClassVar[HookEvent]
    ON_ERROR: ClassVar[HookEvent]
    NOTIFICATION: ClassVar[HookEvent]
    ON_HOST_EVENT: ClassVar[HookEvent]


_EVENTS: dict[str, HookEvent] = {}
_BY_NAME: dict[str, HookEvent] = {}


def find_event(name: str) -> HookEvent | None:
    """Return the event called ``name`` under its own name or an alias, or None."""
    return _BY_NAME.get(name)


def define_event(
    name: str,
    *,
    aliases: str = "",
    subject: str | None = None,
    decisions: str = "",
    closed: str | None = None,
    closed_means: str = "open",
    changes: str | None = "",
    matched_by: str = "agent",
    reads_deny_as: str | None = None,
    asks_all: bool = False,
) -> HookEvent:
    """Add an event, or return it if it is already defined exactly so.

    ``aliases``, ``decisions`` and ``changes`` are words separated by blanks; ``changes=None`` makes an event that is
    only observed. Plugins call this beside the hookspec they add. Raises ``ValueError`` if a name is taken or is not an
    identifier.
    """
    if not name.isidentifier():
        raise ValueError(f"An event's name must be a Python identifier, not {name!r}.")
    unknown = [word for word in (*decisions.split(), reads_deny_as or "deny") if word not in DECISIONS]
    if unknown or subject not in (None, *SUBJECTS) or closed not in _CLOSED or matched_by not in _MATCHED_BY:
        raise ValueError(
            f"The event {name!r} has facts that do not exist: decisions are {', '.join(DECISIONS)}; subjects are "
            f"{', '.join(sorted(SUBJECTS))} or None; closed is deny, stop, required or None; matched_by is one of "
            f"{', '.join(sorted(_MATCHED_BY))}."
        )
    event = HookEvent._make(name)
    event.aliases = tuple(aliases.split())
    event.subject = subject
    event.decisions = frozenset(decisions.split())
    event.closed = closed
    event.closed_means = closed_means
    own = None if changes is None else changes.split() + ([subject] if subject else [])
    event.changes = frozenset() if own is None else COMMON_CHANGES.union(own)
    event.matched_by = matched_by
    event.reads_deny_as = reads_deny_as
    event.asks_all = asks_all
    known = _EVENTS.get(name)
    if known is not None and all(getattr(known, fact) == getattr(event, fact) for fact in HookEvent.__slots__):
        return known
    for taken in (name, *event.aliases):
        if taken in _BY_NAME:
            raise ValueError(f"The event name {taken!r} is taken by {str(_BY_NAME[taken])!r}.")
    _EVENTS[name] = event
    for alias in (name, *event.aliases):
        _BY_NAME[alias] = event
    return event


# Order: one agent's life, from its set-up to its end.
_observed: dict[str, Any] = {"changes": None, "closed_means": "only observed"}
_refusable: dict[str, Any] = {"decisions": "deny ask suspend", "closed": "deny"}
_judged: dict[str, Any] = {"decisions": "deny ask suspend stop", "closed": "deny"}
_stoppable: dict[str, Any] = {"closed": "stop", "closed_means": "stop"}
_of_tool: dict[str, Any] = {"changes": "state", "matched_by": "tool"}
_of_model: dict[str, Any] = {"changes": "state", "matched_by": "model"}


def _define_pair(name: str, closed_means: str, matched_by: str = "agent") -> tuple[HookEvent, HookEvent]:
    """Define the gate before an action and the observed event after it, with the aliases that all such events have."""
    title = "".join(word.capitalize() for word in name.split("_"))
    facts: dict[str, Any] = {**_refusable, "closed_means": closed_means, "matched_by": matched_by}
    before = define_event(f"before_{name}", aliases=f"pre_{name} Pre{title} Before{title}", **facts)
    aliases = f"post_{name} Post{title} After{title}"
    return before, define_event(f"after_{name}", aliases=aliases, matched_by=matched_by, **_observed)


HookEvent.SETUP = define_event("setup", aliases="Setup", **_observed)
HookEvent.SESSION_START = define_event("session_start", aliases="SessionStart", decisions="stop", changes="state")
HookEvent.SESSION_END = define_event("session_end", aliases="SessionEnd", **_observed)
HookEvent.BEFORE_AGENT, HookEvent.AFTER_AGENT = _define_pair("agent", "not started")
HookEvent.USER_INPUT = define_event(
    "user_input",
    aliases="UserInput UserPromptSubmit user_prompt_submit input.user",
    subject="prompt",
    closed_means="prompt refused",
    changes="state",
    **_judged,
)
HookEvent.BEFORE_TURN, HookEvent.AFTER_TURN = _define_pair("turn", "turn refused")
HookEvent.BEFORE_EXECUTION = define_event(
    "before_execution",
    aliases="execution_start execution.start ExecutionStart BeforeExecution",
    decisions="stop skip",
    **_stoppable,
    changes="state messages",
    reads_deny_as="stop",
)
HookEvent.BEFORE_STEP = define_event(
    "before_step",
    aliases="step_start step.start StepStart BeforeStep",
    decisions="stop skip force_continue",
    **_stoppable,
    changes="state messages",
    reads_deny_as="stop",
)
HookEvent.BEFORE_INFERENCE = define_event(
    "before_inference",
    aliases="pre_inference inference.pre PreInference pre_llm_request PreLlmRequest "
    "BeforeInference BeforeInferenceRequest",
    subject="request",
    closed_means="request not sent",
    **_judged,
    **_of_model,
)
HookEvent.AFTER_INFERENCE = define_event(
    "after_inference",
    aliases="post_inference inference.post PostInference post_llm_request PostLlmRequest "
    "AfterInference AfterInferenceResponse",
    subject="response",
    decisions="deny stop retry",
    closed="deny",
    closed_means="withheld",
    **_of_model,
)
HookEvent.BEFORE_TOOL_USE = define_event(
    "before_tool_use",
    aliases="pre_tool_use tool.pre PreToolUse BeforeToolUse",
    subject="tool_args",
    decisions="deny ask suspend stop skip allow",
    closed="deny",
    closed_means="call denied",
    **_of_tool,
)
HookEvent.PERMISSION_REQUEST = define_event(
    "permission_request",
    aliases="PermissionRequest PermissionRequested",
    decisions="allow deny",
    closed_means="no answer, next resort",
    matched_by="tool",
    asks_all=True,
)
HookEvent.ON_TOOL_ERROR = define_event(
    "on_tool_error",
    aliases="OnToolError PostToolUseFailure post_tool_use_failure",
    subject="error_text",
    decisions="retry stop",
    **_of_tool,
)
HookEvent.AFTER_TOOL_USE = define_event(
    "after_tool_use",
    aliases="post_tool_use tool.post PostToolUse AfterToolUse",
    subject="result",
    decisions="deny stop skip retry",
    closed="required",
    closed_means="withheld if the hook is required, else open",
    changes="state messages",
    matched_by="tool",
)
HookEvent.AFTER_STEP = define_event(
    "after_step",
    aliases="step_end step.end StepEnd AfterStep process",
    decisions="stop skip force_continue",
    changes="state messages",
    matched_by="step",
)
HookEvent.BEFORE_SUBAGENT = define_event(
    "before_subagent",
    aliases="pre_subagent PreSubagent subagent_start subagent.start SubagentStart BeforeSubagent",
    subject="task",
    closed_means="not started",
    matched_by="subagent",
    **_judged,
)
HookEvent.AFTER_SUBAGENT = define_event(
    "after_subagent",
    aliases="post_subagent PostSubagent subagent_stop SubagentStop SubagentEnd subagent.end AfterSubagent",
    subject="result",
    decisions="deny stop",
    closed="required",
    closed_means="becomes an error if the hook is required, else open",
    matched_by="subagent",
)
HookEvent.BEFORE_SKILL_ACTIVATION, HookEvent.AFTER_SKILL_ACTIVATION = _define_pair(
    "skill_activation", "refused", "skill"
)
HookEvent.BEFORE_CONVERSATION_LOAD, HookEvent.AFTER_CONVERSATION_LOAD = _define_pair(
    "conversation_load", "refused: empty history"
)
HookEvent.BEFORE_CONVERSATION_SAVE, HookEvent.AFTER_CONVERSATION_SAVE = _define_pair(
    "conversation_save", "refused: not saved, and told so"
)
HookEvent.BEFORE_COMPACT, HookEvent.AFTER_COMPACT = _define_pair("compact", "refused")
HookEvent.SHOULD_CONTINUE = define_event(
    "should_continue",
    aliases="control.should_continue ShouldContinue",
    decisions="stop force_continue",
    **_stoppable,
    changes="state",
    asks_all=True,
)
HookEvent.ON_STOP = define_event(
    "on_stop",
    aliases="stop Stop OnStop",
    decisions="force_continue stop",
    closed_means="lets it stop",
    changes="state",
    reads_deny_as="force_continue",
)
HookEvent.BEFORE_OUTPUT = define_event(
    "before_output",
    aliases="BeforeOutput pre_output PreOutput",
    subject="output",
    decisions="deny stop",
    closed="deny",
    closed_means="withheld",
)
HookEvent.AFTER_EXECUTION = define_event(
    "after_execution", aliases="execution_end execution.end ExecutionEnd AfterExecution", changes="state"
)
HookEvent.ON_ERROR = define_event(
    "on_error",
    aliases="control.on_error OnError agent_failed AgentFailed",
    decisions="retry",
    changes="state",
    matched_by="error",
)
HookEvent.NOTIFICATION = define_event("notification", aliases="Notification", matched_by="notification", **_observed)
HookEvent.ON_HOST_EVENT = define_event(
    "on_host_event",
    aliases="OnHostEvent",
    subject="payload",
    decisions="deny ask",
    closed="deny",
    closed_means="refused where the host can",
    matched_by="host_event",
)

# The names of the events that no plugin has added.
OWN_EVENTS = frozenset(_EVENTS)
