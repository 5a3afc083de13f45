"""Gemini CLI's hooks, as of 0.61.0. Sources: geminicli.com/docs/hooks, the client itself.

Gemini parses stdout, or stderr if stdout is empty, before it looks at the exit code: with JSON that denies nothing,
exit 2 lets the call pass. A refusal therefore says no three times.
"""

from __future__ import annotations

from agent_hooks.model.inference import ModelRequest
from agent_hooks.model.state import Message
from agent_hooks.model.tool_names import HOST_TOOLS
from agent_hooks.model.values import freeze, plain

from .answer import as_text, trimmed
from .claude_family import ClaudeFamily
from .tables import row, tool_call

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from agent_hooks.model.tool_call import ToolCall

    from .claude_family import Body
    from .reply import Reply

_SECONDS = 60.0
ROWS = {
    "SessionStart": row("session_start", takes="context message", seconds=_SECONDS),
    "SessionEnd": row("session_end", seconds=_SECONDS),
    # Fires again for the reason of a forced round.
    "BeforeAgent": row("user_input", "decision", "context message stop", _SECONDS),
    "AfterAgent": row("on_stop", "go_on", "message", _SECONDS),
    "BeforeModel": row("before_inference", "decision", "message stop request", _SECONDS),
    # One call for each chunk of the response, which no gate could judge, so not after_inference.
    "AfterModel": row("on_host_event", "decision", "message stop", _SECONDS),
    "BeforeToolSelection": row("on_host_event", seconds=_SECONDS),
    # New arguments replace the old as a whole, and Gemini's own policy is asked about them. An ask waits for ever where
    # nobody is there.
    "BeforeTool": row("before_tool_use", "permission", "message stop args ask-host", _SECONDS),
    # A deny puts the reason in the result's place; there is no other way to replace it.
    "AfterTool": row("after_tool_use", "decision", "context message stop", _SECONDS),
    "PreCompress": row("before_compact", takes="message", seconds=_SECONDS),
    "Notification": row("notification", takes="message", seconds=_SECONDS),
}
# Gemini's roles of messages, and ours.
_ROLES = {"model": "assistant"}
_GEMINI_ROLES = {"assistant": "model", "tool": "user"}


class Gemini(ClaudeFamily):
    """Gemini CLI. A refusal is ``decision: deny``, new arguments are ``tool_input``."""

    context_with_refusals = False
    rounds_have_prompts = True
    spellings: ClassVar = {"prompt_response": "last_assistant_message"}

    def event_of(self, name: str, payload: Mapping[str, Any]) -> str:
        """Return the name here of the host's event; a tool that failed has the same one as any other."""
        return "on_tool_error" if name == "AfterTool" and _error(payload) else super().event_of(name, payload)

    def common(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return ``payload`` under the common keys, with the error of a failed tool under its own."""
        payload = super().common(payload)
        error = _error(payload)
        return {**payload, "error": as_text(error.get("message"))} if error and "error" not in payload else payload

    def call_of(self, payload: Mapping[str, Any], name: str, args: Mapping[str, Any]) -> ToolCall:
        """Return the tool call; one of an MCP server also answers to the names that Claude Code has for it."""
        server = payload.get("mcp_context")
        if not isinstance(server, dict) and not name.startswith("mcp_"):
            return super().call_of(payload, name, args)
        known = server if isinstance(server, dict) else {}
        names = (str(known.get("server_name") or ""), str(known.get("tool_name") or ""))
        same = tool_call(f"mcp__{names[0]}__{names[1]}", args, {})
        aliases = (same.name, *same.aliases) if all(names) else ()
        return tool_call(name, args, {name: "mcp"}).replace(aliases=aliases)

    def own_fields(self, event: str, payload: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:
        """Return an MCP server; or the request to the model, of which Gemini tells the texts of its messages, not its
        tools and system prompt.
        """
        server = payload.get("mcp_context")
        if isinstance(server, dict):
            return {"mcp_server": freeze({**server, "name": as_text(server.get("server_name"))})}, {"mcp_context"}
        given = payload.get("llm_request")
        if event != "before_inference" or not isinstance(given, dict):
            return {}, set()
        model, messages, settings = given.get("model"), given.get("messages"), given.get("config")
        request = ModelRequest(
            model=model if isinstance(model, str) else "",
            messages=tuple(_message(each) for each in messages or () if isinstance(each, dict)),
            settings=freeze(settings if isinstance(settings, dict) else {}),
        )
        return {"request": request, "model": request.model}, {"llm_request"}

    def lost_of_request(self, request: Any, new: Any) -> str:
        """Return the parts of a new request that Gemini would not send."""
        others = ("system_prompt", "tools", "response_format")
        changed = ", ".join(name for name in others if getattr(request, name, None) != getattr(new, name, None))
        if changed:
            return f"it would lose the change of {changed}"
        is_shorter = len(new.messages) < len(request.messages)  # it replaces them one by one
        return "it would keep the last messages" if is_shorter else ""

    def shown_result(self, new: Any) -> str:
        """Return what the model reads of a tool's result."""
        return as_text(new["llmContent"] if isinstance(new, dict) and "llmContent" in new else new)

    def refuse(self, reply: Reply, body: Body, specific: Body) -> None:  # noqa: ARG002
        """Say that this must not happen; at a stop, that the agent must go on."""
        body.update({"decision": "deny", "reason": trimmed(reply.reason)})

    def permit(self, reply: Reply, body: Body, specific: Body) -> None:
        """Say that the user decides. There is no permission: Gemini's own policy is asked in any case."""
        if reply.verdict == "ask":
            body.update({"decision": "ask", "reason": trimmed(reply.reason), "systemMessage": trimmed(reply.reason)})
        self.put_subject(reply, body, specific)

    def put_subject(self, reply: Reply, body: Body, specific: Body) -> None:  # noqa: ARG002
        """Put new arguments or a new request to the model in the place of the old."""
        if reply.args is not None:
            specific["tool_input"] = reply.args
        if reply.request is not None:
            specific["llm_request"] = _request(reply.request)


def _error(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    result = payload.get("tool_response")
    error = result.get("error") if isinstance(result, dict) else None
    return error if isinstance(error, dict) else None


def _message(given: Mapping[str, Any]) -> Message:
    role = as_text(given.get("role")) or "user"
    return Message(role=_ROLES.get(role, role), content=freeze(given.get("content", "")))


def _request(request: ModelRequest) -> dict[str, Any]:
    messages = [
        {"role": _GEMINI_ROLES.get(each.role, each.role), "content": as_text(each.content)} for each in request.messages
    ]
    return {"model": request.model, "messages": messages, "config": plain(request.settings)}


HOST = Gemini("gemini", "Gemini CLI", ROWS, HOST_TOOLS["Gemini CLI"])
