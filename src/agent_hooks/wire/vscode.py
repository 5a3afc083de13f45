"""The hooks of agents in VS Code (a preview). Source: code.visualstudio.com (agent hooks, reference), of 2026-07.

Claude Code's form with other keys in the arguments of tools, and fewer answers: a prompt is refused by the common
fields alone, a result can be neither withheld nor replaced, and the decision of a ``Stop`` is nested. VS Code ignores
matchers, and also runs the hooks in ``.claude/settings.json``.
"""

from __future__ import annotations

from agent_hooks.model.tool_names import HOST_TOOLS

from .answer import trimmed
from .claude_family import ClaudeFamily
from .tables import row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .claude_family import Body
    from .reply import Reply

_SECONDS = 30.0
ROWS = {
    "SessionStart": row("session_start", takes="context message stop", seconds=_SECONDS),
    "UserPromptSubmit": row("user_input", "halt", "message", _SECONDS),
    "PreToolUse": row("before_tool_use", "permission", "context message stop ask allow rewrite", _SECONDS),
    # `decision: block` adds its reason to the result, which the model reads all the same.
    "PostToolUse": row("after_tool_use", takes="context message stop", seconds=_SECONDS),
    "PreCompact": row("before_compact", takes="message", seconds=_SECONDS),
    "SubagentStart": row("before_subagent", takes="context message", seconds=_SECONDS),
    "SubagentStop": row("after_subagent", "go_on", "message", _SECONDS),
    "Stop": row("on_stop", "go_on", "message", _SECONDS),
}


class VSCode(ClaudeFamily):
    """VS Code. Its own documentation spells the common fields in both ways."""

    runs_claude_settings = True
    asks_about_changes = False
    model_reads_stderr = True
    spellings = {  # noqa: RUF012 - a table
        "sessionId": "session_id",
        "hookEventName": "hook_event_name",
        "transcriptPath": "transcript_path",
        "toolName": "tool_name",
        "toolInput": "tool_input",
        "toolUseId": "tool_use_id",
        "toolResponse": "tool_response",
    }

    def refuse(self, reply: Reply, body: Body, specific: Body) -> None:
        """Say that this must not happen; at a stop, that the agent goes on."""
        where = specific if reply.event == "Stop" else body
        if reply.row.refuse == "go_on":
            where.update({"decision": "block", "reason": trimmed(reply.reason)})
        else:
            super().refuse(reply, body, specific)

    def exits_with_2(self, reply: Reply) -> bool:
        """Whether a refusal exits with 2 as well; never at a stop, where JSON is enough."""
        return reply.row.refuse in ("permission", "halt", "exit")


HOST = VSCode("vscode", "VS Code", ROWS, HOST_TOOLS["VS Code"])
