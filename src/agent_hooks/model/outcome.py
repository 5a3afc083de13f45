"""The answer of a hook: a decision, a reason, and changes."""

from __future__ import annotations

from agent_hooks.errors import InvalidOutcomeError

from .events import DECISIONS, SUBJECTS, HookEvent
from .state import AgentState, Message, StopReason, StopSignal, foremost, hook_keys
from .values import FrozenDict, Name, Value, checked, freeze, frozen_fields, new_value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, ClassVar, NoReturn, Unpack

    from .fields import BroughtFields, OutcomeFields, ProceedFields, SignalledFields

# Fields kept of an outcome that ends the chain, of one that passes over hooks, and of any.
KEPT = frozenset({"context", "metadata", "signals"})
KEPT_IN_PASSING = KEPT | {"state", "messages"}
BRINGS = SUBJECTS | KEPT_IN_PASSING
# The subjects that exist already when hooks are asked: a block can only withhold them.
PRODUCED = frozenset({"response", "result", "error_text"})


class Decision(Name):
    """The decision of an outcome: one of the class's attributes, each a plain string."""

    __slots__ = ()
    PROCEED: ClassVar[Decision]
    ALLOW: ClassVar[Decision]
    DENY: ClassVar[Decision]
    STOP: ClassVar[Decision]
    ASK: ClassVar[Decision]
    SUSPEND: ClassVar[Decision]
    SKIP: ClassVar[Decision]
    FORCE_CONTINUE: ClassVar[Decision]
    RETRY: ClassVar[Decision]

    @property
    def is_blocking(self) -> bool:
        """Whether this ends the chain against the operation: deny, stop, suspend."""
        return self in BLOCKING

    @property
    def is_terminal(self) -> bool:
        """Whether this ends the chain, blocking or not. An ask does not: it is remembered."""
        return self in ENDING

    @classmethod
    def parse(cls, name: str) -> Decision:
        """Return the decision of this name or alias (``block``, ``ok``, …). Raises ``InvalidOutcomeError``."""
        found = _DECISIONS.get(name)
        if found is None:
            raise InvalidOutcomeError(f"{name!r} is not a decision; use one of {', '.join(_OWN_NAMES)}.")
        return found


_OWN_NAMES = DECISIONS
_DECISIONS: dict[str, Decision] = {name: Decision._make(name) for name in _OWN_NAMES}
for _name in _OWN_NAMES:
    setattr(Decision, _name.upper(), _DECISIONS[_name])
_DECISIONS.update(
    ok=Decision.PROCEED, block=Decision.DENY, ask_user=Decision.ASK, pending=Decision.SUSPEND, approve=Decision.ALLOW
)

BLOCKING = frozenset({Decision.DENY, Decision.STOP, Decision.SUSPEND})
# After these the operation waits for an answer.
WAITING = frozenset({Decision.ASK, Decision.SUSPEND})
PASSING = frozenset({Decision.SKIP, Decision.FORCE_CONTINUE, Decision.RETRY})
ENDING = BLOCKING | PASSING
_PROCEED: Any = Decision.PROCEED


class Finding(Value):
    """Something that did not stop the event but must be seen: a tolerated failure, a change that was dropped, a promise
    broken.

    ``kind`` is ``"failure"`` or ``"contract"``; ``hook`` is the hook's name.
    """

    hook: str
    kind: str
    message: str


class Shadowed(Value):
    """A decision of the hook ``hook`` in shadow: recorded, not carried out."""

    hook: str
    source: str
    decision: Decision
    reason: str = ""

    _decode: ClassVar[dict[str, Any]] = {"decision": Decision.parse}


class HookOutcome(Value):
    """The answer of a hook, and the result of a dispatch. Immutable; made with the factories below.

    ``decision`` and ``reason``; ``final`` (an allow that ends the chain); the new subject under its event's name
    (``tool_args``, ``prompt``, ``request``, ``response``, ``result``, ``error_text``, ``task``, ``output``,
    ``payload``); ``state``; ``context``, text for the model; ``messages``; ``metadata``, of which people
    see ``for_people`` at hosts, models do not; ``signals``; ``data``, stored with a suspension.

    The engine adds to the outcome of a dispatch: ``hook``, the name of the hook that decided, ``source``, where that
    comes from, and if it blocks ``origin``, where it is written, as ``file:line``; ``failed``, whether it decided by
    failing rather than by policy; ``token``, with which a suspended operation is resumed; ``asked_by``, the hooks whose
    questions led here, and ``asked_keys``, the same by plugin and name; ``findings``, the failures tolerated and the
    changes dropped; ``shadowed``, the decisions of hooks in shadow.
    """

    decision: Decision = _PROCEED
    reason: str = ""
    final: bool = False
    tool_args: Mapping[str, Any] | None = None
    prompt: Any = None
    request: Any = None
    response: Any = None
    result: Any = None
    error_text: str | None = None
    task: Any = None
    output: Any = None
    payload: Any = None
    state: AgentState | None = None
    context: str = ""
    messages: tuple[Message, ...] = ()
    metadata: Mapping[str, Any] = FrozenDict()
    signals: tuple[StopSignal, ...] = ()
    data: Any = None
    hook: str | None = None
    source: str = ""
    origin: str = ""
    failed: bool = False
    token: str | None = None
    asked_by: tuple[str, ...] = ()
    asked_keys: tuple[tuple[str, str], ...] = ()
    findings: tuple[Finding, ...] = ()
    shadowed: tuple[Shadowed, ...] = ()

    def __init__(self, **fields: Unpack[OutcomeFields]) -> None:
        if "signal" in fields:
            fields["signals"] = (*fields.get("signals", ()), fields.pop("signal"))
        if "decision" in fields and type(fields["decision"]) is not Decision:
            fields["decision"] = Decision.parse(fields["decision"])
        if not self._known.issuperset(fields):
            raise self._misfit(fields)
        self._fields = frozen_fields(fields)

    # -- factories ---------------------------------------------------------------------------------------------------

    @staticmethod
    def proceed(**brings: Unpack[ProceedFields]) -> HookOutcome:
        """No objection. ``brings``: a new subject, state, context, messages, metadata or signal."""
        for name in brings:  # noqa: PLC0206 - `.items()` makes a pair of each, and a hook waits for this
            if name not in KEPT_IN_PASSING:
                if name not in SUBJECTS:
                    return HookOutcome(**brings)
                brings[name] = freeze(brings[name])  # type: ignore[literal-required]  # one of them
        new = new_value(HookOutcome)
        new._fields = brings  # type: ignore[assignment]  # a dict with types for each key
        return new

    update = proceed

    @classmethod
    def allow(cls, reason: str = "", *, final: bool = False, **brings: Unpack[SignalledFields]) -> HookOutcome:
        """Grant permission to later hooks of the same or a lower source; ``final`` skips those hooks."""
        return cls(decision=Decision.ALLOW, reason=_text(reason), final=final, **brings)

    @classmethod
    def deny(cls, reason: str = "", **brings: Unpack[SignalledFields]) -> HookOutcome:
        """This does not happen, and the model is told ``reason``."""
        return cls(decision=Decision.DENY, reason=_text(reason), **brings)

    @classmethod
    def stop(cls, reason: str = "", **brings: Unpack[SignalledFields]) -> HookOutcome:
        """The run ends, for ``reason``."""
        return cls(decision=Decision.STOP, reason=_text(reason), **brings)

    @classmethod
    def ask(cls, reason: str = "", **brings: Unpack[SignalledFields]) -> HookOutcome:
        """Put the question ``reason`` to whoever may answer it, once the chain has settled."""
        return cls(decision=Decision.ASK, reason=_text(reason), **brings)

    @classmethod
    def suspend(cls, reason: str = "", data: Any = None, **brings: Unpack[SignalledFields]) -> HookOutcome:
        """The operation waits until it is resumed; ``data`` is kept with the suspension."""
        return cls(decision=Decision.SUSPEND, reason=_text(reason), data=data, **brings)

    @classmethod
    def skip(cls, **brings: Unpack[ProceedFields]) -> HookOutcome:
        """Pass over the remaining hooks of this hook's own or a lower source. Earlier changes are kept, and so
        are those of this outcome, except for a new subject.
        """
        return cls(decision=Decision.SKIP, **brings)

    @classmethod
    def force_continue(cls, reason: str = "", **brings: Unpack[SignalledFields]) -> HookOutcome:
        """Go on for another round, telling the model ``reason``; capped by ``HookPolicy.max_forced_continuations``."""
        return cls(decision=Decision.FORCE_CONTINUE, reason=_text(reason), **brings)

    @classmethod
    def retry(cls, reason: str = "", **brings: Unpack[SignalledFields]) -> HookOutcome:
        """Do it again, through all the hooks before it."""
        return cls(decision=Decision.RETRY, reason=_text(reason), **brings)

    @classmethod
    def signal(cls, signal: StopSignal, **brings: Unpack[BroughtFields]) -> HookOutcome:
        """Go on, and leave a stop signal; signals accumulate and the most authoritative one is reported."""
        return cls(signal=checked(signal, StopSignal, "HookOutcome.signal"), **brings)

    @classmethod
    def with_args(cls, args: Mapping[str, Any]) -> HookOutcome:
        """Go on with these tool arguments, whole."""
        return cls(tool_args=args)

    @classmethod
    def with_state(cls, state: AgentState) -> HookOutcome:
        """Go on with this state."""
        return cls(state=checked(state, AgentState, "HookOutcome.state"))

    @classmethod
    def with_context(cls, text: str) -> HookOutcome:
        """Go on, and tell the model this."""
        return cls(context=checked(text, str, "HookOutcome.context"))

    # -- reading -----------------------------------------------------------------------------------------------------

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "An outcome is neither true nor false, and a deny would be as true as anything: ask `if outcome.blocks:` "
            "whether the operation must not happen, or compare `outcome.decision`."
        )

    @property
    def blocks(self) -> bool:
        """Whether the operation must not happen now: deny, stop, suspend or an unanswered ask."""
        decision = self.decision
        return decision in BLOCKING or decision is Decision.ASK

    @property
    def ends_chain(self) -> bool:
        """Whether hooks after this one are passed over, all of them or those of its own and lower sources."""
        decision = self._fields.get("decision")
        return decision is not None and (decision in ENDING or (self.final and decision is Decision.ALLOW))

    @property
    def stop_signal(self) -> StopSignal | None:
        """The most authoritative signal, the first of equals; None without one."""
        return foremost(self.signals)

    _decode: ClassVar[dict[str, Any]] = {
        "decision": Decision.parse,
        "state": AgentState.from_dict,
        "messages": lambda data: tuple(Message.from_dict(item) for item in data),
        "signals": lambda data: tuple(StopSignal.from_dict(item) for item in data),
        "findings": lambda data: tuple(Finding.from_dict(item) for item in data),
        "shadowed": lambda data: tuple(Shadowed.from_dict(item) for item in data),
        "asked_by": tuple,
        "asked_keys": hook_keys,
    }


PROCEED = HookOutcome()


def _text(reason: str) -> str:
    # Of the factories alone: the engine makes its outcomes by the constructor, which takes what it gets.
    return reason if type(reason) is str else str(checked(reason, str, "HookOutcome.reason"))


def _from_tuple(answer: Sequence[Any]) -> HookOutcome:
    decision = Decision.parse(answer[0])
    if decision is Decision.SUSPEND:
        return HookOutcome.suspend(data=answer[1])
    if not isinstance(answer[1], str):
        raise InvalidOutcomeError(f"The reason of {answer!r} must be text.")
    return HookOutcome(decision=decision, reason=answer[1])


# The dict forms: S0's own (snake or camel case) and Claude Code's answer, nested hookSpecificOutput included.
_DICT_KEYS = {
    **dict.fromkeys(("updated_tool_args", "updatedToolArgs", "modifiedToolArgs", "updatedInput"), "tool_args"),
    **dict.fromkeys(("updated_state", "updatedState"), "state"),
    **dict.fromkeys(("additional_context", "additionalContext"), "context"),
    **dict.fromkeys(("messages_to_inject", "messagesToInject"), "messages"),
    **dict.fromkeys(("permissionDecisionReason", "stopReason"), "reason"),
    **dict.fromkeys(("updatedToolOutput", "updated_result"), "result"),
}
# Fields that only the engine sets.
_OF_ENGINE = frozenset("hook source origin failed token asked_by asked_keys findings shadowed".split())
_IGNORED_KEYS = frozenset({"hookEventName", "suppressOutput", "systemMessage", "terminalSequence"})


def _from_dict_form(answer: Mapping[str, Any], event: HookEvent | None) -> HookOutcome:
    flat = {**answer}
    nested = flat.pop("hookSpecificOutput", None)
    if not isinstance(nested, (dict, type(None))):
        raise InvalidOutcomeError(f"hookSpecificOutput must be an object, not {nested!r}.")
    flat |= nested or {}
    fields: dict[str, Any] = {}
    decision = flat.pop("decision", None)
    permission = flat.pop("permissionDecision", None)
    if decision == "continue" and event is not None and event.reads_deny_as == "force_continue":
        decision = "force_continue"  # at a stop, going on is another round
    goes_on = flat.pop("continue", True)
    if not isinstance(goes_on, bool):
        raise InvalidOutcomeError(f"'continue' must be true or false, not {goes_on!r}.")
    if isinstance(decision, dict):  # the answer to a permission request
        flat.setdefault("reason", decision.get("message"))
        permission, decision = decision["behavior"], None
    blocks = decision not in (None, "continue") and Decision.parse(decision) in BLOCKING
    if permission is not None and not blocks:  # of two decisions that contradict each other, the stricter counts
        # "defer" leaves the decision to the host's own prompt, as an ask does.
        fields["decision"] = Decision.ASK if permission == "defer" else Decision.parse(permission)
    elif decision is not None:
        # A plain "allow" only means no objection; "approve" and permissionDecision grant.
        fields["decision"] = Decision.PROCEED if decision in ("allow", "continue") else Decision.parse(decision)
    if not goes_on:
        fields["decision"] = Decision.STOP
    for key, value in flat.items():
        name = _DICT_KEYS.get(key, key)
        if key in _IGNORED_KEYS or value is None:
            continue
        if name not in HookOutcome._known or name in _OF_ENGINE:
            raise InvalidOutcomeError(f"{key!r} is not a field of an answer.")
        fields[name] = value
    for name, kind in (("reason", str), ("context", str), ("metadata", dict), ("tool_args", dict), ("final", bool)):
        if name in fields and not isinstance(fields[name], kind):
            raise InvalidOutcomeError(f"{name!r} must be {kind.__name__}, not {fields[name]!r}.")
    for name in ("state", "messages", "signals"):
        if name in fields and not isinstance(fields[name], Value):
            fields[name] = HookOutcome._decode[name](fields[name])
    return HookOutcome(**fields)


def read_answer(answer: Any, event: HookEvent | None = None) -> HookOutcome:
    """Return the outcome that a hook's return value stands for; errors name what ``event`` knows.

    Accepted: an outcome, None, True, ``"ok"``, a decision's name, ``(decision, reason)``, ``("pending", state)``, and a
    dict in Claude Code's or our own JSON form. A changed context is read by the engine, which knows the one the hook
    was given. Raises ``InvalidOutcomeError`` for anything else, naming the value and the likely cause.
    """
    if type(answer) is HookOutcome:
        return answer
    if answer is None or answer is True:
        return PROCEED
    try:
        if isinstance(answer, str):
            return HookOutcome(decision=Decision.parse(answer))
        if isinstance(answer, tuple) and len(answer) == 2 and isinstance(answer[0], str):
            return _from_tuple(answer)
        if isinstance(answer, dict):
            return _from_dict_form(answer, event)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise InvalidOutcomeError(f"{_short(answer)} cannot be read as an outcome: {error}") from error
    if hasattr(answer, "__await__"):
        close = getattr(answer, "close", None)
        if close is not None:
            close()
        raise InvalidOutcomeError(
            f"it returned {_short(answer)}, which nobody awaited: make the hook `async def`, or await inside it."
        )
    if answer is False:
        block = "deny" if event is None or "deny" in event.decisions else "stop"
        raise InvalidOutcomeError(
            f"it returned False, which could mean anything: return HookOutcome.{block}(reason) or None."
        )
    if isinstance(answer, AgentState):
        raise InvalidOutcomeError("it returned a state: return HookOutcome.with_state(state).")
    raise InvalidOutcomeError(
        f"it returned {_short(answer)}; a hook returns None, a HookOutcome, a changed context, "
        "('deny', reason) or a dict in Claude Code's form."
    )


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


__all__ = ["PROCEED", "SUBJECTS", "Decision", "Finding", "HookOutcome", "Shadowed", "StopReason", "read_answer"]
