"""What every host has in common: reading its payloads by tables of names, and deciding what it has to be told.

A host is a table: one row per event gives its name here, the form of a refusal, and the other fields it takes.
``write`` settles what is refused, lost and said (a ``Reply``); ``encode`` of a subclass puts that in the host's words.
"""

from __future__ import annotations

from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.outcome import SUBJECTS, Decision, HookOutcome
from agent_hooks.model.tools import texts_in
from agent_hooks.system.visible import without_controls

from .answer import Answer, as_text, joined, tidy, trimmed
from .reading import WHERE, Reader
from .reply import Reply
from .tables import SUBAGENT_KEYS, TASK_KEYS, is_stop

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from agent_hooks.model.tool_call import ToolCall

    from .tables import Row

ARGUMENTS_CHANGED = "A hook changed the arguments."
NEEDS_APPROVAL = "This needs approval."
# Where nobody can be asked, the model has to know how to go on.
ASK = "Go on without it, or say in your answer what a person has to approve."
UNLESS_ASKED = f"Where nobody can be asked: {ASK[0].lower()}{ASK[1:]}"
WAIT = "Go on with something else, or say in your answer what it waits for."
# In these modes the host never asks anybody, so a question left to it would go unasked.
_ASKS_NOBODY = frozenset({"bypassPermissions", "dontAsk"})
_REFUSING = frozenset({Decision.DENY, Decision.STOP, Decision.SUSPEND, Decision.ASK})


class Host(Reader):
    """A coding agent that calls a command with an event as JSON on stdin and reads its stdout, stderr and exit code.

    ``name`` is the ``host`` of contexts, ``title`` the name for people; ``rows`` are its events, ``kinds`` the
    kinds of those of its tools that are not in ``tools.KIND_OF_NAME``, ``default_subagent`` the name of the subagent
    that is started where a call names none. Instances hold no state; every method is a pure function.
    """

    default_subagent = ""
    runs_claude_settings = False
    # Whether people see what a hook prints on stderr.
    people_read_stderr = False
    # Whether the question whether a call may run can show new arguments, which then are those that run.
    asks_about_changes = True
    # Whether it runs the command in the folder of the event, which its payloads do not name.
    asks_where_it_works = False
    # Whether a payload that is not whole is refused, also for an event that no hook is about.
    reads_whole_contexts = False
    # Whether a forced round begins with a prompt event, whose prompt is the reason of the refusal.
    rounds_have_prompts = False
    # Events that report again a call that another event reports: `install` does not wire them.
    repeats: frozenset[str] = frozenset()
    # Its names of events -> those that they have where it runs the hooks of Claude Code's files and answers otherwise.
    in_claude_files: Mapping[str, str] = {}
    # Whether the host delivers context beside a refusal.
    context_with_refusals = True

    # -- overridden by hosts -------------------------------------------------------------------------------------------

    def lost(self, call: ToolCall, args: Mapping[str, Any]) -> str:  # noqa: ARG002 - for subclasses
        """Return the loss if the host ran ``call`` with ``args``, an empty string if none."""
        return ""

    def lost_of_request(self, request: Any, new: Any) -> str:  # noqa: ARG002 - for subclasses
        """Return the loss if the host sent ``new`` to the model instead of ``request``, an empty string if none."""
        return ""

    def replaced(self, result: Any, new: Any) -> Any:  # noqa: ARG002 - for subclasses
        """Return ``new`` in the shape of ``result``, for a host that checks the shape."""
        return new

    def shown_result(self, new: Any) -> str:
        """Return a new result as the model reads it, for a host that takes text in the place of the tool's own."""
        return as_text(new)

    def row_of(self, ctx: HookContext) -> Row:
        """Return the row of the event of ``ctx``."""
        return self.row(ctx.host_event)

    def encode(self, reply: Reply) -> Answer:
        """Return ``reply`` in the host's words."""
        raise NotImplementedError

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
        row = self.row_of(ctx)
        decision = outcome.decision
        reason = without_controls(outcome.reason)
        outcome = outcome if reason == outcome.reason else outcome.replace(reason=reason)
        context = joined(outcome.context, *(as_text(message.content) for message in outcome.messages))
        wishes = (f"A hook asks the run to stop: {signal.message or signal.reason}" for signal in outcome.signals)
        said = [*notes, *wishes]
        stops = decision is Decision.STOP

        refusal = self._refusal(outcome, ctx, row, ask)
        is_another_round = outcome.failed and is_stop(name)
        if refusal and row.refuse and not is_another_round:
            result = ctx.result if ctx.event == "after_tool_use" and "result" in row.takes else None
            refusal = refusal if row.refuse == "go_on" else by_policy(outcome, refusal)
            return self._refused(name, row, refusal, stops=stops, context=context, said=said, result=result)

        reply = Reply(name, row)
        if stops and "stop" in row.takes:
            reply.stops = _reason(outcome)
        elif refusal:
            why = "would read a refusal as another round" if is_another_round else f"cannot refuse {name}"
            said.append(f"{self.title} {why}, so this goes on although a hook refused it: {refusal}")
            context = joined(context, refusal if "context" in row.takes else "")
        elif row.refuse == "go_on" and (outcome.blocks or decision is Decision.FORCE_CONTINUE):
            said.append(_reason(outcome))
        elif decision is Decision.ASK and not _asks(row, ask):
            said.append(f"A hook asks for an approval: {_reason(outcome)}")
        elif decision is Decision.RETRY:
            context = joined(context, "Try this again.", outcome.reason)
        changed = _change(outcome, ctx)
        if row.refuse == "permission":
            _permit(reply, outcome, may_ask=_asks(row, ask))
        elif row.refuse == "behavior" and decision is Decision.ALLOW:
            reply.verdict = "allow"
        elif changed == "request" and "request" in row.takes:
            reply.request = outcome.request
        elif changed and "result" in row.takes:
            reply.result = (self.replaced(ctx.result, outcome.result),)
        elif changed:
            context = joined(context, self._instead(outcome, changed, ctx))
        return self._told(reply, context, said)

    def failure(self, event: str | None, reason: str) -> Answer:
        """Return the answer where there is no outcome: the payload could not be read, or something broke.

        ``event`` is the host's name of the event, None if it is not known. Events that a failed gate refuses are
        refused, where the host can. So the end of a turn or a task is not, because the agent would go on for ever,
        nor a permission request, because the host then asks the user, nor the result of a finished operation.
        """
        row = self.row(event or "")
        reason = tidy(without_controls(reason).strip()) or "agent-hooks failed without saying why."
        is_left_open = row.refuse in ("", "go_on") or is_stop(event or "")
        if is_left_open or HookEvent.parse(row.event).closed not in ("deny", "stop"):
            return Answer(stderr=reason)
        return self._refused(event or "", row, reason)

    def can_ask(self, ctx: HookContext) -> bool:
        """Whether this host can put an ask to the user at this event."""
        return "ask" in self.row_of(ctx).takes

    def approves(self, ctx: HookContext) -> bool:
        """Whether the host's own approval comes after the hooks here: an unanswered ask can be left to it."""
        is_permission = self.row_of(ctx).refuse == "permission"
        return is_permission and ctx.permission_mode not in _ASKS_NOBODY

    def shows_notes(self, ctx: HookContext) -> bool:
        """Whether people see the ``notes`` of ``write`` for this event."""
        return self.people_read_stderr or "message" in self.row_of(ctx).takes

    def goes_on(self, outcome: HookOutcome, ctx: HookContext) -> bool:
        """Whether the answer makes a stopping agent go on; the caller has to count and cap such rounds."""
        return self.row_of(ctx).refuse == "go_on" and _goes_on(outcome, ctx)

    def limited(self, outcome: HookOutcome, ctx: HookContext) -> HookOutcome | None:
        """Return the ask or deny that new arguments amount to at this host, None if they are applied as they are."""
        if outcome.blocks or outcome.tool_args is None or ctx.tool_call is None:
            return None
        takes = self.row_of(ctx).takes
        if not self.lost(ctx.tool_call, outcome.tool_args):
            if "args" in takes or (outcome.decision is Decision.ALLOW and "rewrite" in takes):
                return None
            if self.can_ask(ctx) and self.asks_about_changes:
                return HookOutcome.ask(ARGUMENTS_CHANGED)
        return HookOutcome.deny(self._instead(outcome, "tool_args", ctx))

    def instead(self, new: Any, why: str = "") -> str:
        """Return the refusal that asks the model to apply a change itself. ``why``: the loss at this host."""
        problem = f"{self.title} cannot apply the change itself{why and ': '}{why}"
        return f"A hook changed this, and {problem}. Do it again with this instead: {as_text(new)}"

    def subagent(self, ctx: HookContext, args: Mapping[str, Any]) -> HookContext:
        """Return the ``before_subagent`` for a call that starts one; the host's own event comes too late."""
        where = {name: value for name, value in ctx._fields.items() if name in WHERE}
        name = texts_in(args, SUBAGENT_KEYS) or self.default_subagent
        return HookContext(HookEvent.BEFORE_SUBAGENT, **where, name=name, task=texts_in(args, TASK_KEYS) or args)

    def shell_line(self, ctx: HookContext, tool: str, line: str) -> HookContext:
        """Return the ``before_tool_use`` of a line of shell that the host runs at ``ctx`` without a tool call."""
        where = {name: value for name, value in ctx._fields.items() if name in WHERE}
        return HookContext(HookEvent.BEFORE_TOOL_USE, **where, tool_call=self.call_of({}, tool, {"command": line}))

    def time_limit(self, event: str) -> float:
        """Return after how many seconds the host gives up, at its event ``event``, on a command without a timeout."""
        return self.row(event).seconds

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
        if decision is Decision.ASK and not _asks(row, ask):
            left_to_host = ask == "host" and self.approves(ctx)
            if not changed and (left_to_host or row.refuse == "behavior"):
                return ""
            return _sentences(f"This needs an approval that {self.title} cannot ask for here.", outcome.reason, ASK)
        if not changed or not row.refuse:
            return ""
        if changed == "request" and "request" in row.takes:
            loss = self.lost_of_request(ctx.request, outcome.request)
            return self.instead(outcome.request, loss) if loss else ""
        if changed in row.takes:
            return ""
        if changed in ("result", "error_text"):
            # These hosts show the model the reason in the result's place.
            return without_controls(self.shown_result(outcome._fields[changed])).strip() or "(no output)"
        if changed == "tool_args" and outcome.tool_args is not None:
            approved = "args" in row.takes or (decision is Decision.ALLOW and "rewrite" in row.takes)
            is_whole = ctx.tool_call is not None and not self.lost(ctx.tool_call, outcome.tool_args)
            if is_whole and (approved or (_asks(row, ask) and self.asks_about_changes)):
                return ""
        return self._instead(outcome, changed, ctx)

    def _instead(self, outcome: HookOutcome, changed: str, ctx: HookContext) -> str:
        new = outcome._fields[changed]
        return self.instead(new, self.lost(ctx.tool_call, new) if changed == "tool_args" and ctx.tool_call else "")

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
        if "context" not in row.takes or not self.context_with_refusals:
            reason, context = joined(reason, context), ""
        if stops and not row.takes & {"stop", "interrupt"}:
            said = [*said, f"A hook wants the run to end, and {self.title} cannot end it here."]
        reply = Reply(name, row, "deny", reason)
        reply.interrupts = stops and "interrupt" in row.takes
        reply.stops = reason if stops and "stop" in row.takes else ""
        reply.result = () if result is None else (self.replaced(result, trimmed(reason)),)
        return self._told(reply, context, said)

    def _told(self, reply: Reply, context: str, said: Sequence[str]) -> Answer:
        """Return the answer of ``reply``, with the rest that has to reach the model and people."""
        if "context" in reply.row.takes:
            reply.context = context
            context = ""
        told = joined(*said, context)
        if "message" in reply.row.takes:
            reply.message = told
        else:
            reply.aside = told
        return self.encode(reply)


def _asks(row: Row, ask: str) -> bool:
    """Whether the host puts an ask at this event."""
    return "ask" in row.takes or (ask == "host" and "ask-host" in row.takes)


def _permit(reply: Reply, outcome: HookOutcome, *, may_ask: bool) -> None:
    """Settle what becomes of a call that may happen: with permission, with new arguments, or after a question."""
    takes, args, decision = reply.row.takes, outcome.tool_args, outcome.decision
    reply.args = args
    if decision is Decision.ALLOW and ("allow" in takes or (args is not None and "rewrite" in takes)):
        reply.verdict = "allow"
    elif may_ask and (decision is Decision.ASK or (args is not None and "args" not in takes)):
        reply.verdict = "ask"
    else:
        return
    reply.reason = outcome.reason.strip() or (ARGUMENTS_CHANGED if args is not None else "")
    if reply.verdict == "ask":  # where nobody can be asked, the model is told
        new = "" if args is None else f"The new arguments: {as_text(args)}"
        reply.reason = _sentences(NEEDS_APPROVAL, reply.reason, UNLESS_ASKED, new)


def by_policy(outcome: HookOutcome, text: str) -> str:
    """Return ``text`` as the refusal that a rule decided: hosts say "hook error" before it, and a model that takes it
    for a failure tries again. Failures, and changes that the model has to make itself, stay as they are.
    """
    if outcome.failed or outcome.decision not in _REFUSING:
        return text
    rule = _rule(outcome) or _without_place(outcome.hook or "")
    return f"Blocked by policy ({rule}): {text}" if rule else f"Blocked by policy: {text}"


def place_of(outcome: HookOutcome) -> str:
    """Return where the rule that decided is written, as its hook says in ``metadata``, or else that hook."""
    return str(outcome.metadata.get(f"place of {_rule(outcome)}") or outcome.origin)


def _rule(outcome: HookOutcome) -> str:
    end = outcome.reason.rpartition(" [")[2].partition("]")  # the guards end with the rule
    return end[0] if end[1:] == ("]", "") and end[0].replace("-", "").isalnum() else ""


def _without_place(hook: str) -> str:
    """Return the name of a hook without folder and line: where a policy is written is for people."""
    name = hook.replace("\\", "/").rpartition("/")[2]
    head, _, line = name.rpartition(":")
    return head if head and line.isdigit() else name


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
