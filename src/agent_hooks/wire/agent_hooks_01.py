"""The draft standard AGENT-HOOKS-0.1: an agent context on stdin, a verdict on stdout.

Its hosts are frameworks in any language, with a client of their own that runs this command. By the standard, a host
without a verdict denies. So does a failure here, whose verdict comes with exit code 2; all others come with 0. Source:
github.com/responsibleai/agent-hooks, specification and schemas as of its SDK 0.1.0b3.
"""

from __future__ import annotations

from agent_hooks.errors import WireError, described
from agent_hooks.model.context import HookContext
from agent_hooks.model.inference import ModelRequest, ModelResponse
from agent_hooks.model.outcome import SUBJECTS, WAITING, Decision
from agent_hooks.model.state import Message, Usage
from agent_hooks.model.tool_call import ErrorInfo, ToolExecution
from agent_hooks.model.values import freeze

from .answer import Answer, as_text, clean, encode, joined, trimmed
from .host import Host, by_policy
from .tables import is_stop, row, tool_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.tool_call import ToolCall

_NAME, _SPEC = "agent-hooks-0.1", "agent-hooks/0.1"
_SECONDS = 5.0  # as the standard recommends
ROWS = {
    "agent_startup": row("session_start", "verdict", "message", _SECONDS),
    "input": row("user_input", "verdict", "message ask", _SECONDS),
    "pre_model_call": row("before_inference", "verdict", "message ask", _SECONDS),
    "post_model_call": row("after_inference", "verdict", "message", _SECONDS),
    "pre_tool_call": row("before_tool_use", "verdict", "message ask args", _SECONDS),
    "post_tool_call": row("after_tool_use", "verdict", "message", _SECONDS),
    "output": row("before_output", "verdict", "message", _SECONDS),
    "agent_shutdown": row("session_end", takes="message", seconds=_SECONDS),  # nothing is left to be refused
}
# The member of each point's context that `target` repeats.
_MEMBERS = "agent_init input messages response tool_call.args tool_result.value output summary".split()
_TARGETS = dict(zip(ROWS, _MEMBERS, strict=True))


class AgentHooks01(Host):
    """A host of AGENT-HOOKS-0.1. Whatever is said beside a verdict is a warning, which the host records."""

    asks_where_it_works = reads_whole_contexts = True

    def read(self, payload: Mapping[str, Any], event: str | None = None) -> HookContext:  # noqa: ARG002 - it is in there
        """Return the context that an agent context describes. Raises ``WireError`` for one that is not of this version
        or not whole, or whose target differs from the member of its point, which hooks would judge in its place.
        """
        try:
            point, target = payload["interception_point"], payload
            if payload["spec"] != _SPEC or point not in ROWS:
                raise WireError(f"This reads {_SPEC}, not the point {point!r} of {payload['spec']!r}.")
            member, *inside = _TARGETS[point].split(".")
            for key in (member, *inside):
                target = target[key]
            if payload["target"] != target:
                raise WireError(f"The context of {point} cannot be read: 'target' is not {_TARGETS[point]}.")
            agent = payload["agent"]
            fields = {"session_id": payload["session"]["id"], "agent_name": agent.get("name") or agent["id"]}
            here, own = _subject(point, payload)
            read = {"interception_point", "target", "tool_call", "tools", "usage", member} - {"agent_init"}
            rest = freeze({key: value for key, value in payload.items() if key not in read})
            return HookContext(here, host=self.name, host_event=point, payload=rest, **fields, **own)
        except (LookupError, TypeError, AttributeError, ValueError) as error:
            raise WireError(f"The context cannot be read: {described(error)}") from error

    def call_of(self, payload: Mapping[str, Any], name: str, args: Mapping[str, Any]) -> ToolCall:
        """Return the call of a tool."""
        return _call({**payload, "name": name, "args": args})

    def write(self, outcome: HookOutcome, ctx: HookContext, *, notes: Sequence[str] = (), ask: str = "deny") -> Answer:  # noqa: ARG002 - every ask can be put
        """Return the verdict for ``outcome``. A change beside a question is a plain deny: an approval would lose it."""
        decision, subject = outcome.decision, ctx.event.subject
        wishes = (f"A hook asks the run to stop: {signal.message or signal.reason}" for signal in outcome.signals)
        said = [*notes, *wishes, outcome.context, *(as_text(message.content) for message in outcome.messages)]
        reason = outcome.reason.strip() or f"{outcome.hook or 'A hook'} gave no reason."
        brought = outcome._fields.keys() & SUBJECTS
        if not self.row_of(ctx).refuse:
            return _verdict("allow", [*said, *([reason] if outcome.blocks else [])])
        if outcome.blocks or decision is Decision.RETRY:
            is_open = decision in WAITING and not brought
            lost = "an approval would let it pass unchanged" if decision in WAITING and brought else ""
            told = joined(
                reason if is_open else by_policy(outcome, reason),
                *(self.instead(outcome._fields[each], lost) for each in brought if lost),
            )
            return _verdict("deny", said, str(decision), told, **({"approval": {}} if is_open else {}))
        if not brought:
            return _verdict("allow", said)
        new = outcome._fields[subject if subject in brought else min(brought)]
        loss = self.lost_of_request(ctx.request, new) if subject in brought and subject == "request" else ""
        if loss or subject not in brought:
            return _verdict("deny", said, "deny", self.instead(new, loss))
        path = "$target.content" if ctx.host_event in ("input", "output") else "$target"
        return _verdict("transform", said, transform={"path": path, "value": _wire(new)})

    def failure(self, event: str | None, reason: str) -> Answer:
        """Return a deny, whatever the point; nothing at the stop of another agent, which would go on for ever."""
        if is_stop(event or ""):
            return super().failure(event, reason)
        reason = clean(reason) or "agent-hooks failed without saying why."
        return Answer(stdout=_verdict("deny", (), "failure", reason).stdout, stderr=reason, exit_code=2)

    def lost_of_request(self, request: Any, new: Any) -> str:
        """Return the parts of a new request that the host would not send: it takes messages alone."""
        parts = ("model", "system_prompt", "tools", "response_format", "settings")
        changed = [name for name in parts if getattr(request, name) != getattr(new, name)]
        if any(message.tool_calls or message.tool_call_id for message in new.messages):
            changed.append("messages about tools")
        return f"it would lose the change of {', '.join(changed)}" if changed else ""


def _verdict(decision: str, said: Sequence[str], reason: str = "", message: str = "", **further: Any) -> Answer:
    """Return a verdict: ``reason`` for programs, which records keep as it is, and ``message`` for readers."""
    why = {"reason": f"agent_hooks:{reason}", "message": trimmed(message)} if reason else {}
    warnings = [{"message": trimmed(text)} for text in said if text.strip()]
    return Answer(
        stdout=encode({"decision": decision, **why, **further, **({"warnings": warnings} if warnings else {})})
    )


def _subject(point: str, payload: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the event here, and its own fields."""
    here = ROWS[point].event
    if point == "input":
        return here, {"prompt": as_text(payload["input"]["content"]), "source": payload["input"]["role"]}
    if point in ("pre_model_call", "post_model_call"):
        return here, _inference(point, payload)
    if point == "output":
        return here, {"output": freeze(payload["output"]["content"])}
    if point in ("agent_startup", "agent_shutdown"):
        return here, {"end_reason": payload["summary"]["reason"]} if point == "agent_shutdown" else {}
    call = _call(payload["tool_call"])
    if point == "pre_tool_call":
        return here, {"tool_call": call}
    result = payload["tool_result"]
    value, seconds = freeze(result["value"]), (result.get("duration_ms") or 0) / 1000
    if not result["is_error"]:
        done = ToolExecution(call=call, duration=seconds, result=value)
        return here, {"tool_call": call, "result": value, "tool_execution": done}
    error = ErrorInfo(type="ToolError", message=as_text(value))
    done = ToolExecution(call=call, duration=seconds, error=error)
    return "on_tool_error", {"tool_call": call, "error": error, "error_text": error.message, "tool_execution": done}


def _inference(point: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    name = payload["model"]["id"]
    if point == "pre_model_call":
        messages, tools = map(_message, payload["messages"]), map(freeze, payload.get("tools") or ())
        settings = freeze(payload["model"].get("params") or {})
        request = ModelRequest(model=name, messages=tuple(messages), tools=tuple(tools), settings=settings)
        return {"model": name, "request": request}
    given, used = payload["response"], payload.get("usage") or {}
    response = ModelResponse(
        content=freeze(given["content"]),
        tool_calls=tuple(map(_call, given["tool_calls"])),
        usage=Usage(input_tokens=used.get("prompt_tokens", 0), output_tokens=used.get("completion_tokens", 0)),
        finish_reason=given["finish_reason"],
        model=name,
    )
    return {"model": name, "response": response}


def _message(given: Mapping[str, Any]) -> Message:
    """Return a message; what it has beside its role and content is kept for the way back."""
    further = {_NAME: rest} if (rest := {key: given[key] for key in given if key not in ("role", "content")}) else {}
    return Message(role=given["role"], content=freeze(given["content"]), metadata=freeze(further))


def _call(given: Mapping[str, Any]) -> ToolCall:
    from agent_hooks.model.tool_kinds import kind_by  # not for every point: it imports `re`

    name, args = given["name"], given["args"]
    kind = kind_by(name, frozenset(key for key, value in args.items() if isinstance(value, (str, list, dict))))
    return tool_call(name, args, {name: kind} if kind else {}, id=given.get("id", ""))


def _wire(new: Any) -> Any:
    """Return a new subject in the standard's form."""
    if isinstance(new, ModelRequest):
        kept = ((each, each.metadata.get(_NAME, {})) for each in new.messages)
        return [{**further, "role": each.role, "content": each.content} for each, further in kept]
    if isinstance(new, ModelResponse):
        calls = [{"id": call.id, "name": call.name, "args": call.args} for call in new.tool_calls]
        return {"content": new.content, "tool_calls": calls, "finish_reason": new.finish_reason}
    return new


HOST = AgentHooks01(_NAME, "a host of AGENT-HOOKS-0.1", ROWS)
