"""OpenCode, as of 1.18.33. Sources: the types of @opencode-ai/plugin and @opencode-ai/sdk, the client itself.

It has no command hooks. A plugin of ours (``opencode_plugin.js``, which `agent-hooks install opencode` writes with the
command line in it) asks the command about opencode's events, under Claude Code's names and in its form, with opencode's
tools.
So this protocol is our own on both sides, and says no more than opencode can do.
"""

from __future__ import annotations

import os

from agent_hooks.model.tool_names import HOST_TOOLS
from agent_hooks.system.quick_json import dumps

from .claude_family import ClaudeFamily
from .tables import row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

ROWS = {
    # The model reads it with the first prompt.
    "SessionStart": row("session_start", takes="context message"),
    "UserPromptSubmit": row("user_input", "decision", "context message"),
    "UserPromptExpansion": row("on_host_event", "decision", "message"),
    # The model reads the context with the result. The approval that opencode asks for comes later.
    "PreToolUse": row("before_tool_use", "permission", "context message stop rewrite"),
    # Declared by opencode 1.18, but not called.
    "PermissionRequest": row("permission_request", "behavior", "message"),
    "PostToolUse": row("after_tool_use", "decision", "context message stop result"),
    "PostToolUseFailure": row("on_tool_error", takes="message"),
    "Stop": row("on_stop", "go_on", "message"),
    "StopFailure": row("on_error", takes="message"),
    "SubagentStart": row("before_subagent", takes="context message"),
    "SubagentStop": row("after_subagent", takes="message"),
    "PreCompact": row("before_compact", "decision", "context message"),
    "PostCompact": row("after_compact", takes="message"),
    "SessionEnd": row("session_end", takes="message"),
}
_TEMPLATE = os.path.join(os.path.dirname(__file__), "opencode_plugin.js")


class OpenCode(ClaudeFamily):
    """OpenCode. The plugin hands a refusal to the model as it is in the JSON."""

    default_subagent = "general"
    model_reads_stderr = True


def plugin_text(command: Sequence[str], seconds: Mapping[str, float]) -> str:
    """Return the text of opencode's plugin file.

    ``command``: the command line up to ``--agent opencode``. ``seconds``: by event, after how many the plugin gives up
    the command, which is told to answer a second earlier; events that are not in it are not asked about. Raises
    ``ValueError`` for one that is no event here, or has less than two seconds.
    """
    for event, limit in seconds.items():
        if event not in ROWS or not limit >= 2:
            raise ValueError(
                f"{event!r} with {limit} seconds: it must be an event of {', '.join(ROWS)} with 2 or more."
            )
    with open(_TEMPLATE, encoding="utf-8") as file:
        text = file.read()
    # A string in JSON is one in JavaScript.
    return text.replace('"@COMMAND@"', dumps([*command])).replace('"@SECONDS@"', dumps({**seconds}))


HOST = OpenCode("opencode", "OpenCode", ROWS, HOST_TOOLS["OpenCode"])
