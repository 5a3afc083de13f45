"""Codex's hooks, as of 0.169.0. Sources: its schemas (codex-rs/hooks/schema/generated, Apache-2.0), the client itself.

Codex takes an answer with anything it does not expect for no answer at all, and goes on: an unknown key,
``suppressOutput``, ``continue: false`` or an ``ask`` before a tool, a bare ``allow``, a deny without a reason, exit 1.
None of that is written here.
"""

from __future__ import annotations

from agent_hooks.model.tool_names import HOST_TOOLS

from .claude_family import ClaudeFamily
from .tables import row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agent_hooks.model.tool_call import ToolCall

ROWS = {
    "SessionStart": row("session_start", takes="context message stop"),
    "UserPromptSubmit": row("user_input", "decision", "context message"),
    "PreToolUse": row("before_tool_use", "permission", "context message rewrite"),
    "PermissionRequest": row("permission_request", "behavior", "message"),
    # A block puts the reason in the result's place; there is no other way to replace it.
    "PostToolUse": row("after_tool_use", "decision", "context message"),
    "Stop": row("on_stop", "go_on", "message"),
    "SubagentStart": row("before_subagent", takes="context message"),
    "SubagentStop": row("after_subagent", "go_on", "message stop"),
    # Exit 2 does not stop a compaction, `continue: false` does.
    "PreCompact": row("before_compact", "halt", "message"),
    "PostCompact": row("after_compact", takes="message"),
    "SessionEnd": row("session_end", seconds=1.0),
    "Interrupt": row("on_host_event", takes="message", seconds=1.0),
    # Not before_inference and after_inference: the payload has no request or response that a gate could judge, and
    # nothing that a gate decides here is heeded.
    "PreModelRequest": row("on_host_event"),
    "PostModelRequest": row("on_host_event"),
}

# Codex reads JSON at most 128 levels deep; the answer puts two around the arguments.
_DEEPEST = 120
_NONE = object()


class Codex(ClaudeFamily):
    """Codex. Of the arguments of its own tools it applies ``command`` alone, which must be text."""

    model_reads_stderr = True

    def lost(self, call: ToolCall, args: Mapping[str, Any]) -> str:
        """Return the parts of ``args`` that Codex would not apply, an empty string if it applies all."""
        if _deeper_than(args, _DEEPEST):
            return "it is nested more deeply than Codex reads"
        if call.kind == "mcp":
            return ""
        if not isinstance(args.get("command"), str):
            return "it takes nothing but a 'command' that is text"
        others = (call.args.keys() | args.keys()) - {"command"}
        changed = ", ".join(repr(key) for key in sorted(others) if call.args.get(key, _NONE) != args.get(key, _NONE))
        return f"it takes the 'command' alone, and would lose the change of {changed}" if changed else ""


def _deeper_than(value: Any, levels: int) -> bool:
    children = value.values() if isinstance(value, dict) else value if isinstance(value, (list, tuple)) else ()
    return levels <= 0 or any(_deeper_than(child, levels - 1) for child in children)


HOST = Codex("codex", "Codex", ROWS, HOST_TOOLS["Codex"])
