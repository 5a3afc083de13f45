"""Qwen Code's hooks, as of 0.24.4. Sources: its documentation (docs/users/features/hooks), the client itself.

Claude Code's names and answers, of which it heeds less. With exit 2 it reads stderr alone.
"""

from __future__ import annotations

from agent_hooks.model.tool_names import HOST_TOOLS

from .answer import Answer, as_text
from .claude_family import ClaudeFamily
from .tables import row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .reply import Reply

_SECONDS = 60.0
ROWS = {
    "SessionStart": row("session_start", takes="context message", seconds=_SECONDS),
    # Fires again after each tool's result, without a prompt: see ``event_of``.
    "UserPromptSubmit": row("user_input", "decision", "context message stop", _SECONDS),
    # It drops context before a tool, and runs the original arguments whatever the answer; an allow is no permission.
    "PreToolUse": row("before_tool_use", "permission", "message ask", _SECONDS),
    "PermissionRequest": row("permission_request", "behavior", "message interrupt", _SECONDS),
    # `continue: false` puts the reason in the result's place, and ends nothing; `decision: block` is not heeded.
    "PostToolUse": row("after_tool_use", "halt", "context message", _SECONDS),
    "PostToolUseFailure": row("on_tool_error", takes="context message", seconds=_SECONDS),
    # `continue: false` at a stop is another round, like a block.
    "Stop": row("on_stop", "go_on", "message", _SECONDS),
    "StopFailure": row("on_error", seconds=_SECONDS),
    "SubagentStart": row("before_subagent", takes="context message", seconds=_SECONDS),
    "SubagentStop": row("after_subagent", "go_on", "message", _SECONDS),
    "PreCompact": row("before_compact", takes="context message", seconds=_SECONDS),
    "PostCompact": row("after_compact", takes="message", seconds=_SECONDS),
    "Notification": row("notification", seconds=_SECONDS),
    "SessionEnd": row("session_end", seconds=_SECONDS),
    # Events that have no name of their own here.
    "UserPromptExpansion": row("on_host_event", "decision", "context message stop", _SECONDS),
    "PostToolBatch": row("on_host_event", "decision", "context message stop", _SECONDS),
    "TodoCreated": row("on_host_event", "decision", "message", _SECONDS),
    "TodoCompleted": row("on_host_event", "decision", "message", _SECONDS),
    "PermissionDenied": row("on_host_event", takes="message", seconds=_SECONDS),
    "InstructionsLoaded": row("on_host_event", takes="message", seconds=_SECONDS),
    "SessionDelete": row("on_host_event", seconds=_SECONDS),
    "MessageDisplay": row("on_host_event", seconds=_SECONDS),
}


class Qwen(ClaudeFamily):
    """Qwen Code."""

    default_subagent = "general-purpose"
    context_with_refusals = False
    model_reads_stderr = True
    asks_about_changes = False

    def event_of(self, name: str, payload: Mapping[str, Any]) -> str:
        """Return the name here of the host's event. A prompt of nobody, after a tool's result, is no user's input."""
        if name == "UserPromptSubmit" and payload.get("prompt") == "" and not payload.get("submitted_prompt"):
            return "on_host_event"
        return super().event_of(name, payload)

    def shown_result(self, new: Any) -> str:
        """Return what the model reads of a tool's result."""
        return as_text(new["llmContent"] if isinstance(new, dict) and "llmContent" in new else new)

    def encode(self, reply: Reply) -> Answer:
        """Return the answer. With exit 2, a reason that is JSON would be read as an answer of its own."""
        answer = super().encode(reply)
        if answer.exit_code == 2 and not answer.stderr.lstrip()[:1].isalnum():
            return answer.replace(stderr=f"Blocked: {answer.stderr}")
        return answer


HOST = Qwen("qwen", "Qwen Code", ROWS, HOST_TOOLS["Qwen Code"])
