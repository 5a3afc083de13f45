"""Interpret the answer of an external handler: an exit code with its output, or a status with its body.

Each format has its own contract. For Claude Code's settings it is code.claude.com/docs/en/hooks; for ``SKILL.md``
SkillKit's table (before an action, exit 2 and a failing HTTP status deny; any other missing answer does not block); for
our TOML the strictest: an unclear answer is a failure.
"""

from __future__ import annotations

from agent_hooks.errors import BadJSONError, HandlerError, InvalidOutcomeError
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import BLOCKING, KEPT, PROCEED, PRODUCED, Decision, HookOutcome, read_answer
from agent_hooks.system.strict_json import read_json

from .payload import given_back

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.model.context import HookContext

REFUSED = 2
MESSAGE = "system_message"  # the key of metadata for a handler's messages to people
MAX_TEXT = 10_000  # characters of output that become a reason; Claude Code's own limit

# Claude Code's events without a name here whose plain output is context for the model.
_TEXT_IS_CONTEXT = frozenset({"UserPromptExpansion", "PostModelSwitch"})
# Claude Code's events on which it does not read `continue`.
_GOES_ON_ANYWAY = frozenset(
    """
    before_compact after_compact ConfigChange CwdChanged DirectoryAdded Elicitation ElicitationResult FileChanged
    InstructionsLoaded MessageDisplay TaskCreated WorktreeCreate WorktreeRemove
    """.split()
)
_CLAUDE_DECISIONS = (None, "approve", "block", "allow", "deny")
_SKILL_DECISIONS = (
    *_CLAUDE_DECISIONS,
    *("ask", "ask_user", "pending", "suspend", "stop", "continue", "force_continue", "retry", "proceed", "ok"),
)
_CLAUDE_PERMISSIONS = (None, "allow", "deny", "ask", "defer")
# Read here, or without effect outside Claude Code's terminal; all other keys are the outcome's.
_READ_HERE = frozenset(
    {
        *("continue", "stopReason", "systemMessage", "suppressOutput", "terminalSequence", "hookSpecificOutput"),
        *("hookEventName", "updatedInput", "reason", "permissionDecisionReason"),
    }
)


def read_output(entry: HookEntry, ctx: HookContext, exit_code: int, stdout: bytes, stderr: bytes) -> HookOutcome | None:
    """Return a command's outcome, None for no opinion. Raises ``HandlerError``, ``InvalidOutcomeError``."""
    text = _text(stdout)
    answer, refusal, problem = None, None, ""
    if text.startswith("{"):
        try:
            answer = read_json(stdout.removeprefix(_BOM))
        except BadJSONError as error:
            refusal, problem = _refusal_in(entry, ctx, stdout), str(error)
    is_claude = entry.form == "claude"
    if refusal is not None and (is_claude or exit_code in (0, REFUSED)):
        return refusal
    refuses = exit_code == REFUSED or (exit_code != 0 and is_claude and entry.host_event == "WorktreeCreate")
    if refuses and not ctx.event.observe_only:
        return _refused(entry, ctx, answer, text, _text(stderr), exit_code)
    if exit_code != 0 and not refuses and not (is_claude and answer is not None):
        first = _text(stderr).partition("\n")[0][:300]
        raise HandlerError(f"it ended with exit code {exit_code}{first and ': '}{first}")
    if ctx.event.observe_only or not text:
        return None
    if answer is not None:
        return _read(entry, ctx, answer)
    if problem and entry.form != "skill":
        raise HandlerError(f"what it printed {problem}")
    if _takes_text(ctx):
        return None if problem else HookOutcome.with_context(text)
    if entry.form == "toml":
        raise HandlerError("it printed something that is no JSON object: print one, or nothing")
    return None


def read_body(entry: HookEntry, ctx: HookContext, status: int, body: bytes) -> HookOutcome | None:
    """Return a response's outcome, None for no opinion. Raises ``HandlerError``, ``InvalidOutcomeError``."""
    is_skill = entry.form == "skill"
    if not 200 <= status <= 299:
        if is_skill and _is_before(ctx.event):
            return fitting(entry, ctx, HookOutcome.deny(f"HTTP hook returned status {status}"))
        raise HandlerError(f"the server answered with status {status}")
    text = _text(body)
    if not text:
        return None
    try:
        answer = read_json(body.removeprefix(_BOM))
        if not isinstance(answer, dict):
            raise BadJSONError("is no JSON object")
    except BadJSONError as error:
        refusal = _refusal_in(entry, ctx, body, _UNEXPLAINED if is_skill else "")
        if refusal is not None or is_skill:
            return refusal
        raise HandlerError(f"what the server answered {error}") from error
    if ctx.event.observe_only:
        return None
    return _read(entry, ctx, answer, _UNEXPLAINED if is_skill else "")


def refused_by_failing(entry: HookEntry, ctx: HookContext, error: Exception) -> HookOutcome:
    """Return the refusal for a failure: Claude Code's ``"onFailure": "block"``."""
    reason = f"The hook {entry.origin} failed: {error}"[:MAX_TEXT]
    return fitting(entry, ctx, HookOutcome(decision="deny", reason=reason, failed=True))


_UNEXPLAINED = "Denied by HTTP hook"  # SkillKit's text
_BOM = b"\xef\xbb\xbf"  # PowerShell starts its output with it


def _text(output: bytes) -> str:
    return output.removeprefix(_BOM).decode("utf-8", "replace").strip()


def _takes_text(ctx: HookContext) -> bool:
    """Whether text that is no JSON is context for the model."""
    if ctx.event is HookEvent.ON_HOST_EVENT:
        return ctx.host_event in _TEXT_IS_CONTEXT
    return ctx.event in (HookEvent.SESSION_START, HookEvent.USER_INPUT)


def _is_before(event: HookEvent) -> bool:
    """Whether the event is a gate before an action: SkillKit's later events only observe."""
    return event.closed in ("deny", "stop") and not event.startswith("after_")


def _refusal_in(entry: HookEntry, ctx: HookContext, output: bytes, unexplained: str = "") -> HookOutcome | None:
    """Return the refusal in JSON that is not strict, as Claude Code's own parser would find it; None without one.

    A script may echo parts of its input, such as half of a character: strict parsing would turn its refusal into an
    approval. Only refusals are taken from such JSON. In TOML it is a failure, which denies.
    """
    if entry.form == "toml" or ctx.event.observe_only:
        return None
    from json import loads

    try:
        # Python takes no integer of more than 4,300 digits, but any float.
        answer = loads(output.removeprefix(_BOM).decode("utf-8", "replace"), parse_int=float)
        outcome = _read(entry, ctx, answer, unexplained) if isinstance(answer, dict) else None
    except (ValueError, RecursionError, HandlerError, InvalidOutcomeError):
        return None
    if outcome is None or not outcome.blocks:
        return None
    whole = outcome.reason.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return HookOutcome(decision=outcome.decision, reason=whole)


def _refused(
    entry: HookEntry, ctx: HookContext, answer: Any, text: str, complaint: str, exit_code: int
) -> HookOutcome | None:
    """Return the refusal of exit code 2, with the reason in the JSON if that refuses too."""
    outcome = PROCEED
    is_claudes = entry.form == "claude"
    never_refuses = is_claudes and ctx.event is HookEvent.PERMISSION_REQUEST  # there, only the JSON counts
    # SkillKit ignores results of this event, so an exit code must not remove a tool's output.
    is_too_late = entry.form == "skill" and ctx.event.subject in PRODUCED
    if answer is not None:
        try:
            read = _read(entry, ctx, answer)
            outcome = PROCEED if read is None else read
        except (HandlerError, InvalidOutcomeError):
            if never_refuses:
                raise
        if outcome.decision in BLOCKING or never_refuses:
            return outcome
    printed = "" if answer is not None else text
    reason = (complaint or printed) if is_claudes else "\n".join(filter(None, (printed, complaint)))
    kept = {name: outcome._fields[name] for name in outcome._fields.keys() & KEPT}
    if is_too_late and not reason:
        return HookOutcome.proceed(**kept) if kept else None
    reason = reason[:MAX_TEXT] or f"Refused by {entry.origin} (exit code {exit_code}, no reason given)."
    if never_refuses or is_too_late:
        return _with_message(ctx, HookOutcome.proceed(**kept), reason)
    return fitting(entry, ctx, HookOutcome.deny(reason, **kept))


def _read(entry: HookEntry, ctx: HookContext, answer: Mapping[str, Any], unexplained: str = "") -> HookOutcome | None:
    """Return the outcome of a JSON object. ``unexplained``: the reason of a deny without one."""
    if answer.keys() <= {"async", "asyncTimeout"}:
        return None
    specific = _typed(answer, "hookSpecificOutput", dict, {})
    goes_on = _typed(answer, "continue", bool, default=True)
    message = _typed(answer, "systemMessage", str, "")
    permission = specific.get("decision") if ctx.event is HookEvent.PERMISSION_REQUEST else None
    if isinstance(permission, dict):
        rest = {key: value for key, value in specific.items() if key != "decision"}
        specific = {
            **rest,
            "permissionDecision": _typed(permission, "behavior", str, ""),
            "permissionDecisionReason": permission.get("message"),
            "updatedInput": permission.get("updatedInput"),
        }
    if entry.form != "toml":
        fields = _as_claude(entry, ctx, answer, specific)
    elif twice := (answer.keys() & specific.keys()) - _READ_HERE:
        raise InvalidOutcomeError(f"it says {min(twice)!r} twice, in hookSpecificOutput and beside it.")
    else:
        fields = {key: value for key, value in {**answer, **specific}.items() if key not in _READ_HERE}
    outcome = read_answer({**fields, "reason": _reason(answer, specific)}, ctx.event)
    if outcome.decision is Decision.SKIP or outcome.final:
        raise InvalidOutcomeError("it wants to pass over other hooks, and what comes from a file may not.")
    outcome = _continued(entry, ctx, outcome, goes_on, _typed(answer, "stopReason", str, ""))
    if outcome.decision is Decision.DENY and not outcome.reason:
        outcome = outcome.replace(reason=unexplained or f"Refused by {entry.origin} (no reason given).")
    outcome = fitting(entry, ctx, outcome)
    outcome = _rewritten(entry, ctx, outcome, answer, specific)
    if message:
        outcome = _with_message(ctx, outcome, message)
    return None if outcome == PROCEED else outcome


def _typed(answer: Mapping[str, Any], key: str, kind: type, default: Any) -> Any:
    value = answer.get(key)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise InvalidOutcomeError(f"{key!r} must be {kind.__name__}, not {type(value).__name__}.")
    return value


def _as_claude(
    entry: HookEntry, ctx: HookContext, answer: Mapping[str, Any], specific: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the fields that Claude Code reads, other keys dropped; skills may use our decisions too."""
    decision, permission = answer.get("decision"), specific.get("permissionDecision")
    decisions = _SKILL_DECISIONS if entry.form == "skill" else _CLAUDE_DECISIONS
    if decision not in decisions or permission not in _CLAUDE_PERMISSIONS:
        known = ", ".join(filter(None, decisions))
        raise InvalidOutcomeError(
            f"its decision is none: 'decision' is one of {known}; 'permissionDecision' allow, deny, ask or defer."
        )
    fields = {
        "decision": decision,
        "data": answer.get("data") if decision in ("suspend", "pending") else None,
        "permissionDecision": permission,
        "additionalContext": specific.get("additionalContext"),
    }
    if ctx.event.subject == "result":
        new = (specific.get(key) for key in ("updatedToolOutput", "updatedMCPToolOutput"))
        fields["updatedToolOutput"] = next((value for value in new if value is not None), None)
    if ctx.host_event in ("Elicitation", "ElicitationResult") and specific.get("action") in ("decline", "cancel"):
        fields["decision"] = "block"
    return {key: value for key, value in fields.items() if value is not None}


def _reason(answer: Mapping[str, Any], specific: Mapping[str, Any]) -> str:
    """Return the reason of the decision that counts: of two, the refusing one."""
    texts = [_typed(answer, "reason", str, ""), _typed(specific, "permissionDecisionReason", str, "")]
    own = _typed(answer, "permissionDecisionReason", str, "") or _typed(specific, "reason", str, "")
    if answer.get("decision") in (None, "approve", "allow", "proceed"):
        texts.reverse()
    return next(filter(None, (*texts, own)), "")


def _continued(entry: HookEntry, ctx: HookContext, outcome: HookOutcome, goes_on: bool, why: str) -> HookOutcome:
    """Return the outcome with ``continue`` applied: false ends the run where the event can, else it refuses."""
    event = ctx.event
    if goes_on:
        # Claude Code takes context at a stop for a reason to continue.
        if entry.form == "claude" and event is HookEvent.ON_STOP and outcome.context and not outcome.blocks:
            return HookOutcome.force_continue(outcome.context)
        return outcome
    if (ctx.host_event if event is HookEvent.ON_HOST_EVENT else event) in _GOES_ON_ANYWAY:
        return outcome
    decision = next((each for each in (Decision.STOP, Decision.DENY) if each in event.decisions), None)
    if decision is None:
        return outcome
    reason = why or outcome.reason or f"Stopped by {entry.origin} (no reason given)."
    return outcome.replace(decision=decision, reason=reason)


def fitting(entry: HookEntry, ctx: HookContext, outcome: HookOutcome) -> HookOutcome:
    """Return the outcome with a decision that the event knows, by the rules of the format."""
    event, decision = ctx.event, outcome.decision
    known = {Decision.PROCEED, *event.decisions}
    if decision is Decision.DENY:
        if Decision.DENY in known or event.reads_deny_as:
            return outcome
        undecided = _undecided(outcome)
        if entry.form == "claude" and event is HookEvent.ON_TOOL_ERROR:
            return undecided.replace(context="\n\n".join(filter(None, (outcome.context, outcome.reason))))
        if Decision.STOP in known and not (entry.form == "claude" and event is HookEvent.SESSION_START):
            return outcome.replace(decision=Decision.STOP)
        return _with_message(ctx, undecided, outcome.reason)
    if decision in known or entry.form == "toml":
        return outcome
    # A skill that asks, suspends or stops where the event only knows a denial must not be ignored.
    is_no = entry.form == "skill" and (decision in BLOCKING or decision is Decision.ASK) and _is_before(event)
    return outcome.replace(decision=Decision.DENY) if is_no and Decision.DENY in known else _undecided(outcome)


def _undecided(outcome: HookOutcome) -> HookOutcome:
    return HookOutcome(**{k: value for k, value in outcome._fields.items() if k not in ("decision", "reason")})


def _with_message(ctx: HookContext, outcome: HookOutcome, message: str) -> HookOutcome:
    """Return the outcome with a message for people, after those of the hooks before this one."""
    earlier = outcome.metadata.get(MESSAGE) or ctx.metadata.get(MESSAGE)
    texts = [earlier, message] if isinstance(earlier, str) else [message]
    return outcome.replace(metadata={**outcome.metadata, MESSAGE: "\n".join(texts)})


def _rewritten(
    entry: HookEntry, ctx: HookContext, outcome: HookOutcome, answer: Mapping[str, Any], specific: Mapping[str, Any]
) -> HookOutcome:
    """Return the outcome with the arguments of ``updatedInput``, unless it refuses."""
    given = [new for giver in (specific, answer) if (new := _typed(giver, "updatedInput", dict, None)) is not None]
    if not given or outcome.decision in BLOCKING:
        return outcome
    if ctx.event.subject == "tool_args":
        return outcome.replace(tool_args=given_back(entry, ctx, given[0]))
    # An allow grants the call as it is, and a request in our own format is never dropped silently.
    is_strict = outcome.decision is Decision.ALLOW or entry.form == "toml"
    if is_strict and (ctx.tool_call is None or given_back(entry, ctx, given[0]) != ctx.tool_call.args):
        raise HandlerError(f"it changes the tool's arguments, which nobody can at {ctx.event!s}")
    return outcome
