"""Cursor's hooks. Source: cursor.com/docs/hooks, as of 2026-10.

Cursor reports one tool call by several events: ``preToolUse`` for every tool, then ``beforeShellExecution``,
``beforeMCPExecution`` or ``beforeReadFile``, and likewise afterwards. ``preToolUse`` has all that the others have, and
alone takes new arguments, so it is the one to wire: wired with the others, hooks that count would count a call twice.
What the others have over it is the question to the user; so one is a refusal that says what needs approval.

Cursor also runs the hooks in Claude Code's files, with payloads of its own. It is documented that exit code 2 refuses
there, and not which fields of its own count. Source: cursor.com/docs/reference/third-party-hooks, as of 2026-10.
"""

from __future__ import annotations

from agent_hooks.errors import WireError
from agent_hooks.model.tool_names import HOST_TOOLS
from agent_hooks.system.quick_json import loads

from .answer import joined, trimmed
from .claude_family import ClaudeFamily
from .tables import row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agent_hooks.model.context import HookContext
    from agent_hooks.model.tool_call import ToolCall

    from .claude_family import Body
    from .reply import Reply
    from .tables import Row

# Cursor names no limit of its own; install always sets one.
_SECONDS = 60.0
ROWS = {
    "sessionStart": row("session_start", takes="context", seconds=_SECONDS),
    "sessionEnd": row("session_end", seconds=_SECONDS),
    "beforeSubmitPrompt": row("user_input", "halt", seconds=_SECONDS),
    "preToolUse": row("before_tool_use", "permission", "allow rewrite", _SECONDS),
    "postToolUse": row("after_tool_use", takes="context", seconds=_SECONDS),
    "postToolUseFailure": row("on_tool_error", seconds=_SECONDS),
    "beforeShellExecution": row("before_tool_use", "permission", "allow ask", _SECONDS),
    "beforeMCPExecution": row("before_tool_use", "permission", "allow ask", _SECONDS),
    "beforeReadFile": row("before_tool_use", "permission", "allow", _SECONDS),
    "afterShellExecution": row("after_tool_use", seconds=_SECONDS),
    "afterMCPExecution": row("after_tool_use", seconds=_SECONDS),
    "afterFileEdit": row("after_tool_use", seconds=_SECONDS),
    "subagentStart": row("before_subagent", "permission", seconds=_SECONDS),
    "subagentStop": row("after_subagent", "go_on", seconds=_SECONDS),
    "stop": row("on_stop", "go_on", seconds=_SECONDS),
    "preCompact": row("before_compact", takes="message", seconds=_SECONDS),
    "beforeTabFileRead": row("on_host_event", "permission", seconds=_SECONDS),
    "afterTabFileEdit": row("on_host_event", seconds=_SECONDS),
    "afterAgentResponse": row("on_host_event", seconds=_SECONDS),
    "afterAgentThought": row("on_host_event", seconds=_SECONDS),
    "workspaceOpen": row("on_host_event", seconds=_SECONDS),
}
# Where it runs the hooks in Claude Code's files, by the names there.
_IN_CLAUDE_FILES = {
    "UserPromptSubmit": row("user_input", "exit", seconds=_SECONDS),
    "PreToolUse": row("before_tool_use", "exit", seconds=_SECONDS),
}
# A result of an MCP server is the only one that can be replaced.
_MCP_RESULT = row("after_tool_use", "result", "context result", _SECONDS)
# Who is told of a refusal there; elsewhere the agent has a message of its own.
_USER_ALONE = frozenset({"beforeReadFile", "beforeTabFileRead", "subagentStart"})
# The tool and its arguments, where the event has neither by name.
_TOOLS = {
    "beforeShellExecution": ("Shell", ("command",)),
    "afterShellExecution": ("Shell", ("command",)),
    "beforeReadFile": ("Read", ("file_path",)),
    "afterFileEdit": ("Write", ("file_path", "edits")),
}
_MCP_EVENTS = frozenset({"beforeMCPExecution", "afterMCPExecution"})


class Cursor(ClaudeFamily):
    """Cursor. What people must know is on stderr, which its log of hooks shows, and in the message of a refusal."""

    default_subagent = "generalPurpose"
    asks_about_changes = False
    people_read_stderr = True
    repeats = frozenset(name for name in ROWS if name.startswith(("before", "after"))) - {"beforeSubmitPrompt"}
    in_claude_files = {"beforeSubmitPrompt": "UserPromptSubmit", "preToolUse": "PreToolUse"}  # noqa: RUF012 - a table
    spellings = {  # noqa: RUF012 - a table
        "conversation_id": "session_id",
        "subagent_type": "agent_type",
        "subagent_id": "agent_id",
        "tool_output": "tool_response",
        "result_json": "tool_response",
        "output": "tool_response",
        "duration": "duration_ms",
        "error_message": "error",
        "summary": "last_assistant_message",
    }

    def row(self, event: str) -> Row:
        """Return the row of the event ``event``, also by its name in Claude Code's files."""
        return _IN_CLAUDE_FILES.get(event) or super().row(event)

    def common(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return ``payload`` under the common keys, with the tool call that the event is about."""
        event = str(payload.get("hook_event_name"))
        common = {**super().common(payload)}
        roots = payload.get("workspace_roots")
        if not common.get("cwd") and isinstance(roots, (list, tuple)) and roots and isinstance(roots[0], str):
            common["cwd"] = roots[0]  # the command itself runs elsewhere
        if event in _TOOLS and "tool_name" not in common:
            common["tool_name"], keys = _TOOLS[event]
            common["tool_input"] = {key: common.pop(key) for key in keys if key in common}
        elif event in _MCP_EVENTS and isinstance(name := common.get("tool_name"), str):
            common["tool_name"] = name if name.startswith("MCP:") else f"MCP:{name}"
        for key in ("tool_input", "tool_response"):
            if isinstance(text := common.get(key), str):
                common[key] = _parsed(text)
        if isinstance(count := common.get("loop_count"), int):
            common["stop_hook_active"] = count > 0
        return common

    def event_of(self, name: str, payload: Mapping[str, Any]) -> str:
        """Return the name here: the end of a failed run is an error, and a refused call did not fail."""
        if name == "stop" and payload.get("status", "completed") != "completed":
            return "on_error" if payload["status"] == "error" else "on_host_event"
        if name == "postToolUseFailure" and payload.get("failure_type") == "permission_denied":
            return "on_host_event"
        return super().event_of(name, payload)

    def call_of(self, payload: Mapping[str, Any], name: str, args: Mapping[str, Any]) -> ToolCall:
        """Return the tool call; a ``Write`` makes a file or changes one, so a rule for edits holds for it too."""
        call = super().call_of(payload, name, args)
        return call.replace(aliases=("edit", "Edit")) if name == "Write" else call

    def row_of(self, ctx: HookContext) -> Row:
        """Return the row of the event of ``ctx``: only a finished run can be made to go on."""
        if ctx.host_event == "postToolUse" and ctx.tool_call is not None and ctx.tool_call.kind == "mcp":
            return _MCP_RESULT
        found = super().row_of(ctx)
        if found.refuse == "go_on" and (ctx.payload or {}).get("status", "completed") != "completed":
            return row(ctx.event, seconds=_SECONDS)
        return found

    def replaced(self, result: Any, new: Any) -> Any:  # noqa: ARG002 - whatever it was
        """Return ``new`` as the result of an MCP server, which is an object."""
        return new if isinstance(new, dict) else {"content": [{"type": "text", "text": new}]}

    # -- the parts of an answer --------------------------------------------------------------------------------------

    def refuse(self, reply: Reply, body: Body, specific: Body) -> None:  # noqa: ARG002 - flat
        """Say that this must not happen, to the agent and to the user; at a stop, the next message to the agent."""
        form, short = reply.row.refuse, trimmed(reply.reason)
        if form == "go_on":
            body["followup_message"] = short
        elif form == "halt":
            body.update({"continue": False, "user_message": trimmed(joined(reply.reason, reply.aside))})
        elif form == "permission":
            body.update({"permission": "deny", "user_message": trimmed(joined(reply.reason, reply.aside))})
            if reply.event not in _USER_ALONE:
                body["agent_message"] = short
        elif form == "result" and not reply.result:
            reply.result = (self.replaced(None, short),)

    def permit(self, reply: Reply, body: Body, specific: Body) -> None:  # noqa: ARG002 - flat
        """Say that this may happen or that the user decides."""
        body["permission"] = reply.verdict
        if reply.verdict == "ask":
            body.update({"user_message": trimmed(reply.reason), "agent_message": trimmed(reply.reason)})
        if reply.args is not None:
            body["updated_input"] = reply.args

    def put_result(self, reply: Reply, body: Body, specific: Body) -> None:  # noqa: ARG002 - flat
        """Put a new result in the place of the MCP server's own."""
        body["updated_mcp_tool_output"] = reply.result[0]

    def add_context(self, reply: Reply, body: Body, specific: Body) -> None:  # noqa: ARG002 - flat
        """Add text for the model."""
        body["additional_context"] = reply.context

    def tell(self, reply: Reply, body: Body) -> None:
        """Say something to people."""
        body["user_message"] = trimmed(reply.message)

    def exits_with_2(self, reply: Reply) -> bool:
        """Whether a refusal exits with 2: only where there is no field for it, because that may lose the messages."""
        return reply.row.refuse == "exit"


def _parsed(text: str) -> Any:
    """Return the value that ``text`` is as JSON, else ``text``."""
    try:
        return loads(text)
    except (ValueError, WireError):
        return text


HOST = Cursor("cursor", "Cursor", ROWS, HOST_TOOLS["Cursor"])
