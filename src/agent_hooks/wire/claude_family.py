"""The protocol that Claude Code began and others copied: the same payloads, and answers that differ per host.

A host is a table: one row per event gives its name here, the form of a refusal, and the other fields it takes.
"""

from __future__ import annotations

from agent_hooks.errors import WireError
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import SUBJECTS, Decision, HookOutcome
from agent_hooks.model.tool_call import ErrorInfo, ToolExecution
from agent_hooks.model.tools import texts_in
from agent_hooks.model.values import freeze

from .answer import Answer, as_text, encode, joined, tidy, trimmed, without_controls
from .tables import SUBAGENT_KEYS, TASK_KEYS, UNKNOWN, Row, tool_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from agent_hooks.model.tool_call import ToolCall

ARGUMENTS_CHANGED = "A hook changed the arguments."
NEEDS_APPROVAL = "This needs approval."
# Where nobody can be asked, the model has to know how to go on.
ASK = "Go on without it, or say in your answer what a person has to approve."
WAIT = "Go on with something else, or say in your answer what it waits for."
_EXITS_WITH_2 = frozenset({"permission", "decision", "exit", "go_on"})
# In these modes the host never asks anybody, so a question left to it would go unasked.
_ASKS_NOBODY = frozenset({"bypassPermissions", "dontAsk"})

# Payload key -> context field. All are strings; null and missing keys are left out. A payload whose subject or `cwd` is
# no string cannot be read; other values that are no strings stay in `payload` alone.
_EVERYWHERE = {
    **{key: key for key in ("session_id", "transcript_path", "cwd", "permission_mode", "agent_id", "model")},
    "agent_type": "agent_name",
}
# Fields that an event shares with the one that it is a part of.
_WHERE = frozenset({*_EVERYWHERE.values(), "host", "host_event", "project_dir"})
_OF_EVENT = {
    "session_start": {"source": "source"},
    "session_end": {"reason": "end_reason"},
    "user_input": {"prompt": "prompt", "source": "source"},
    "on_tool_error": {"error": "error_text"},
    "on_stop": {"last_assistant_message": "output"},
    "after_subagent": {"last_assistant_message": "result"},
    **{event: {"trigger": "trigger"} for event in ("setup", "before_compact", "after_compact")},
    "notification": {"message": "message", "notification_type": "notification_type"},
}
_TOOL_EVENTS = frozenset({"before_tool_use", "permission_request", "after_tool_use", "on_tool_error"})
_TOOL_KEYS = frozenset({"tool_name", "tool_input", "tool_use_id", "tool_response", "duration_ms"})
# Without these the event would be judged by something it does not have.
_NEEDED = {"user_input": ("prompt",), **dict.fromkeys(_TOOL_EVENTS, ("tool_name", "tool_input"))}


def _typed(payload: Mapping[str, Any], key: str, kind: type) -> Any:
    """Return ``payload[key]``, None if it is missing or null. Raises ``WireError`` if it is not a ``kind``."""
    value = payload.get(key)
    if value is not None and not isinstance(value, kind):
        raise WireError(f"The payload cannot be read: {key!r} must be {kind.__name__}, not {type(value).__name__}.")
    return value


def _text(payload: Mapping[str, Any], key: str) -> str | None:
    """Return ``payload[key]`` if it is text, a number as its text under the keys of ids, else None."""
    value = payload.get(key)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if isinstance(value, str) or (is_number and key.endswith("_id")) else None


class Host:
    """A coding agent that calls a command with an event as JSON on stdin and reads its stdout, stderr and exit code.

    ``name`` is the ``host`` of contexts, ``title`` the name for people; ``rows`` are its events, ``kinds`` the
    kinds of those of its tools that are not in ``tools.KIND_OF_NAME``, ``default_subagent`` the name of the subagent
    that is started where a call names none. Instances hold no state; every method is a pure function.
    """

    default_subagent = ""
    runs_claude_settings = False
    # Whether the model reads all of stderr where a hook exits 2.
    model_reads_stderr = False

    def __init__(self, name: str, title: str, rows: Mapping[str, Row], kinds: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.title = title
        self.rows = rows
        self.kinds = kinds or {}

    # -- overridden by hosts -------------------------------------------------------------------------------------------

    def lost(self, call: ToolCall, args: Mapping[str, Any]) -> str:  # noqa: ARG002 - for subclasses
        """Return the loss if the host ran ``call`` with ``args``, an empty string if none."""
        return ""

    def replaced(self, result: Any, new: Any) -> Any:  # noqa: ARG002 - for subclasses
        """Return ``new`` in the shape of ``result``, for a host that checks the shape."""
        return new

    # -- in ----------------------------------------------------------------------------------------------------------

    def read(self, payload: Mapping[str, Any], event: str | None = None) -> HookContext:
        """Return the context that ``payload``, the JSON object on stdin, describes.

        ``event``, the host's name of the event, goes before the payload's own. An event without a name here becomes
        ``on_host_event`` with the whole payload; of the others, ``payload`` holds the keys that have no field. Raises
        ``WireError`` for an unreadable payload.
        """
        if not isinstance(payload, dict):
            raise WireError(f"{self.title} sends its hooks one JSON object, not {type(payload).__name__}.")
        name = event or _typed(payload, "hook_event_name", str)
        if not name:
            raise WireError("The payload cannot be read: 'hook_event_name' is missing, and no event was given.")
        here = self.rows.get(name, UNKNOWN).event
        missing = [key for key in _NEEDED.get(here, ()) if key not in payload]
        if missing:
            raise WireError(f"The payload of {name} cannot be read: {missing[0]!r} is missing.")
        keys = {**_EVERYWHERE, **_OF_EVENT.get(here, {})}
        subject = HookEvent.parse(here).subject
        fields: dict[str, Any] = {"host": self.name, "host_event": name}
        used = {"hook_event_name", *(key for key in keys if payload.get(key) is None)}
        for key, field in keys.items():
            text = _typed(payload, key, str) if field in ("cwd", subject) else _text(payload, key)
            if text is not None:
                fields[field] = text
                used.add(key)
        if here in _TOOL_EVENTS:
            fields.update(self._tool_fields(payload, here))
            used |= _TOOL_KEYS
        elif here in ("before_subagent", "after_subagent"):
            fields["name"] = fields.get("agent_name", "")
        elif here == "on_error":
            kind = _text(payload, "error") or "unknown"
            fields["error"] = ErrorInfo(type=kind, message=_text(payload, "error_details") or "")
            fields["error_list"] = (fields["error"],)
            used |= {key for key in ("error", "error_details") if _text(payload, key) is not None}
        if isinstance(active := payload.get("stop_hook_active"), bool):
            fields["stop_hook_active"] = active
            used.add("stop_hook_active")
        rest = payload if here == "on_host_event" else {key: value for key, value in payload.items() if key not in used}
        if rest:
            fields["payload"] = freeze(rest)
        return HookContext(here, **fields)

    def _tool_fields(self, payload: Mapping[str, Any], event: str) -> dict[str, Any]:
        name = _typed(payload, "tool_name", str)
        if not name:
            raise WireError(f"The payload of {event} cannot be read: the tool has no name.")
        args = _typed(payload, "tool_input", dict) or {}
        call = tool_call(name, args, self.kinds, id=_text(payload, "tool_use_id") or "")
        milliseconds = payload.get("duration_ms")
        duration = milliseconds / 1000 if isinstance(milliseconds, (int, float)) else 0.0
        brought: dict[str, Any] = {}
        if event == "after_tool_use":
            brought["result"] = freeze(payload.get("tool_response"))
        elif event == "on_tool_error":
            brought["error"] = ErrorInfo(type="ToolError", message=_typed(payload, "error", str) or "")
        if brought:
            brought["tool_execution"] = ToolExecution(call=call, duration=duration, **brought)
        return {"tool_call": call, **brought}

    # -- out ---------------------------------------------------------------------------------------------------------

    def write(self, outcome: HookOutcome, ctx: HookContext, *, notes: Sequence[str] = (), ask: str = "deny") -> Answer:
        """Return the host's answer for ``outcome`` of the context that ``read`` returned.

        ``notes`` are told to the user. ``ask`` decides about an ask that this host cannot put: ``"deny"``, or
        ``"host"``, no opinion, so that the host's own approval decides; where that asks nobody, it is a deny all the
        same. A change that the host cannot apply is a refusal. Where the event cannot be refused, people are told: by a
        message to the user if the host takes one, else on stderr. Raises ``ValueError`` for any other ``ask``.
        """
        if ask not in ("deny", "host"):
            raise ValueError(f"ask must be 'deny' or 'host', not {ask!r}.")
        name = ctx.host_event
        row = self.rows.get(name, UNKNOWN)
        decision = outcome.decision
        reason = without_controls(outcome.reason)
        outcome = outcome if reason == outcome.reason else outcome.replace(reason=reason)
        context = joined(outcome.context, *(as_text(message.content) for message in outcome.messages))
        wishes = (f"A hook asks the run to stop: {signal.message or signal.reason}" for signal in outcome.signals)
        said = [*notes, *wishes]
        stops = decision is Decision.STOP

        refusal = self._refusal(outcome, ctx, row, ask)
        if refusal and row.refuse:
            result = ctx.result if ctx.event == "after_tool_use" and "result" in row.takes else None
            return self._refused(name, row, refusal, stops=stops, context=context, said=said, result=result)

        body: dict[str, Any] = {}
        specific: dict[str, Any] = {}
        if stops and "stop" in row.takes:
            body.update({"continue": False, "stopReason": trimmed(_reason(outcome))})
        elif refusal:
            said.append(f"{self.title} cannot refuse {name}, so this goes on although a hook refused it: {refusal}")
            context = joined(context, refusal if "context" in row.takes else "")
        elif row.refuse == "go_on" and (outcome.blocks or decision is Decision.FORCE_CONTINUE):
            said.append(_reason(outcome))
        elif decision is Decision.ASK and "ask" not in row.takes:
            said.append(f"A hook asks for an approval: {_reason(outcome)}")
        elif decision is Decision.RETRY:
            context = joined(context, "Try this again.", outcome.reason)
        changed = _change(outcome, ctx)
        if row.refuse == "permission":
            specific = self._permission(outcome, row)
        elif row.refuse == "behavior" and decision is Decision.ALLOW:
            specific["decision"] = {"behavior": "allow"}
        elif changed and "result" in row.takes:
            specific["updatedToolOutput"] = self.replaced(ctx.result, outcome.result)
        elif changed:
            context = joined(context, self._instead(outcome, changed, ctx))
        return self._answer(name, row, body, specific, context, said)

    def failure(self, event: str | None, reason: str) -> Answer:
        """Return the answer where there is no outcome: the payload could not be read, or something broke.

        ``event`` is the host's name of the event, None if it is not known. Events that a failed gate refuses are
        refused, where the host can. So a stop is not, because the agent would go on for ever, nor a permission request,
        because the host then asks the user, nor the result of a finished operation.
        """
        row = self.rows.get(event or "", UNKNOWN)
        reason = tidy(without_controls(reason).strip()) or "agent-hooks failed without saying why."
        if row.refuse in ("", "go_on") or HookEvent.parse(row.event).closed not in ("deny", "stop"):
            return Answer(stderr=reason)
        return self._refused(event or "", row, reason)

    def can_ask(self, ctx: HookContext) -> bool:
        """Whether this host can put an ask to the user at this event."""
        return "ask" in self.rows.get(ctx.host_event, UNKNOWN).takes

    def approves(self, ctx: HookContext) -> bool:
        """Whether the host's own approval comes after the hooks here: an unanswered ask can be left to it."""
        is_permission = self.rows.get(ctx.host_event, UNKNOWN).refuse == "permission"
        return is_permission and ctx.permission_mode not in _ASKS_NOBODY

    def shows_notes(self, ctx: HookContext) -> bool:
        """Whether people see the ``notes`` of ``write`` for this event."""
        return "message" in self.rows.get(ctx.host_event, UNKNOWN).takes

    def goes_on(self, outcome: HookOutcome, ctx: HookContext) -> bool:
        """Whether the answer makes a stopping agent go on; the caller has to count and cap such rounds."""
        return self.rows.get(ctx.host_event, UNKNOWN).refuse == "go_on" and _goes_on(outcome, ctx)

    def limited(self, outcome: HookOutcome, ctx: HookContext) -> HookOutcome | None:
        """Return the ask or deny that new arguments amount to at this host, None if they are applied as they are."""
        if outcome.blocks or outcome.tool_args is None or ctx.tool_call is None:
            return None
        if not self.lost(ctx.tool_call, outcome.tool_args):
            if outcome.decision is Decision.ALLOW:
                return None
            if self.can_ask(ctx):
                return HookOutcome.ask(ARGUMENTS_CHANGED)
        return HookOutcome.deny(self._instead(outcome, "tool_args", ctx))

    def instead(self, new: Any, why: str = "") -> str:
        """Return the refusal that asks the model to apply a change itself. ``why``: the loss at this host."""
        problem = f"{self.title} cannot apply the change itself{why and ': '}{why}"
        return f"A hook changed this, and {problem}. Do it again with this instead: {as_text(new)}"

    def subagent(self, ctx: HookContext, args: Mapping[str, Any]) -> HookContext:
        """Return the ``before_subagent`` for a call that starts one; the host's own event comes too late."""
        where = {name: value for name, value in ctx._fields.items() if name in _WHERE}
        name = texts_in(args, SUBAGENT_KEYS) or self.default_subagent
        return HookContext(HookEvent.BEFORE_SUBAGENT, **where, name=name, task=texts_in(args, TASK_KEYS) or args)

    def time_limit(self, event: str) -> float:
        """Return after how many seconds the host gives up, at its event ``event``, on a command without a timeout."""
        return self.rows.get(event, UNKNOWN).seconds

    # -- the parts of an answer --------------------------------------------------------------------------------------

    def _refusal(self, outcome: HookOutcome, ctx: HookContext, row: Row, ask: str) -> str:
        """Return why this must not happen (at ``go_on``: why the agent must go on), or an empty string."""
        decision = outcome.decision
        if row.refuse == "go_on":
            return _reason(outcome) if _goes_on(outcome, ctx) else ""
        if decision in (Decision.DENY, Decision.STOP):
            return _reason(outcome)
        if decision is Decision.SUSPEND:
            # Not the token: a model that knows it could approve its own call.
            return _sentences("This waits for somebody's decision and was not done.", outcome.reason, WAIT)
        changed = _change(outcome, ctx)
        if decision is Decision.ASK and "ask" not in row.takes:
            left_to_host = ask == "host" and self.approves(ctx)
            if not changed and (left_to_host or row.refuse == "behavior"):
                return ""
            return _sentences(f"This needs an approval that {self.title} cannot ask for here.", outcome.reason, ASK)
        if not changed or not row.refuse:
            return ""
        if changed == "result":
            # Codex shows the model the reason in the result's place.
            return "" if "result" in row.takes else without_controls(as_text(outcome.result)).strip() or "(no output)"
        if changed == "tool_args" and outcome.tool_args is not None:
            approved = decision is Decision.ALLOW and "rewrite" in row.takes
            is_whole = ctx.tool_call is not None and not self.lost(ctx.tool_call, outcome.tool_args)
            if is_whole and (approved or "ask" in row.takes):
                return ""
        return self._instead(outcome, changed, ctx)

    def _instead(self, outcome: HookOutcome, changed: str, ctx: HookContext) -> str:
        new = outcome._fields[changed]
        return self.instead(new, self.lost(ctx.tool_call, new) if changed == "tool_args" and ctx.tool_call else "")

    def _permission(self, outcome: HookOutcome, row: Row) -> dict[str, Any]:
        args, decision = outcome.tool_args, outcome.decision
        if decision is Decision.ALLOW and (args is not None or "allow" in row.takes):
            specific: dict[str, Any] = {"permissionDecision": "allow"}
        elif "ask" in row.takes and (decision is Decision.ASK or args is not None):
            specific = {"permissionDecision": "ask"}
        else:
            return {}
        reason = outcome.reason.strip() or (ARGUMENTS_CHANGED if args is not None else "")
        if specific["permissionDecision"] == "ask":  # where nobody can be asked, the model is told
            reason = _sentences(NEEDS_APPROVAL, reason, "" if args is None else f"The new arguments: {as_text(args)}")
        if reason and "ask" in row.takes:
            specific["permissionDecisionReason"] = trimmed(reason)
        return specific if args is None else {**specific, "updatedInput": args}

    def _refused(
        self,
        name: str,
        row: Row,
        reason: str,
        *,
        stops: bool = False,
        context: str = "",
        said: Sequence[str] = (),
        result: Any = None,
    ) -> Answer:
        if "context" not in row.takes:
            reason, context = joined(reason, context), ""
        if stops and not row.takes & {"stop", "interrupt"}:
            said = [*said, f"A hook wants the run to end, and {self.title} cannot end it here."]
        short = trimmed(reason)
        body: dict[str, Any] = {}
        specific: dict[str, Any] = {}
        if row.refuse == "permission":
            specific = {"permissionDecision": "deny", "permissionDecisionReason": short}
        elif row.refuse == "behavior":
            specific["decision"] = {"behavior": "deny", "message": short}
            if stops and "interrupt" in row.takes:
                specific["decision"]["interrupt"] = True
        elif row.refuse in ("decision", "go_on"):
            body = {"decision": "block", "reason": short}
        if row.refuse == "halt" or (stops and "stop" in row.takes):
            body.update({"continue": False, "stopReason": short})
        if result is not None:
            specific["updatedToolOutput"] = self.replaced(result, short)
        # Whether Claude Code takes a new result along with exit 2 is documented for no version.
        loud = row.refuse in _EXITS_WITH_2 and result is None
        return self._answer(name, row, body, specific, context, said, reason if loud else "")

    def _answer(
        self,
        name: str,
        row: Row,
        body: dict[str, Any],
        specific: dict[str, Any],
        context: str,
        said: Sequence[str],
        refusal: str = "",
    ) -> Answer:
        """Assemble the answer. With ``refusal`` it exits 2, and stderr holds all that the model needs."""
        told = [text for text in said if text.strip()]
        if context and "context" in row.takes:
            specific = {**specific, "additionalContext": context}
        elif context:
            told.append(context)
        unsaid = ""
        if told and "message" in row.takes:
            body = {**body, "systemMessage": trimmed(joined(*told))}
        else:
            unsaid = joined(*told)
        if specific:
            body = {**body, "hookSpecificOutput": {"hookEventName": name, **specific}}
        if refusal:
            extra = context if "context" in row.takes else ""
            shown = () if self.model_reads_stderr else told
            return Answer(stdout=encode(body), stderr=tidy(joined(refusal, extra, *shown)), exit_code=2)
        return Answer(stdout=encode(body), stderr=tidy(unsaid))


def _reason(outcome: HookOutcome) -> str:
    """Return the outcome's reason, never empty: Codex lets a refusal without a reason pass."""
    return outcome.reason.strip() or f"{outcome.hook or 'A hook'} gave no reason."


def _sentences(*texts: str) -> str:
    """Return the texts one after the other, each but the last with an end."""
    *firsts, last = [stripped for text in texts if (stripped := text.strip())]
    return " ".join((*(text if text.endswith((".", "!", "?", ":")) else f"{text}." for text in firsts), last))


def _change(outcome: HookOutcome, ctx: HookContext) -> str:
    """Return the field under which the outcome brought a new subject, or an empty string."""
    brought = outcome._fields.keys() & SUBJECTS
    subject = ctx.event.subject
    return subject if subject in brought else min(brought, default="")


def _goes_on(outcome: HookOutcome, ctx: HookContext) -> bool:
    """Whether an agent about to stop must go on; not for failures, nor for a result sent back before."""
    decision = outcome.decision
    if outcome.failed:
        return False
    if decision is Decision.DENY and ctx.event.reads_deny_as:
        decision = Decision.parse(ctx.event.reads_deny_as)
    return decision is Decision.FORCE_CONTINUE or (decision is Decision.DENY and not ctx.stop_hook_active)
