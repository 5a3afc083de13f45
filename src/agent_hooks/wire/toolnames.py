"""What a host's tool is, by the host's own name for it. The name decides: the same argument means different things."""

from __future__ import annotations

from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.tools import FORMER_NAMES

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

# Beside the names that every host's tools are known by (``tools.KIND_OF_NAME``); Codex reports every shell as Bash.
CODEX = {"view_image": "read", "web_search": "web_search", "spawn_agent": "subagent"}

# The arguments that say which subagent is started, and to do what.
SUBAGENT_KEYS = ("subagent_type", "agent_type")
TASK_KEYS = ("prompt", "message", "task")


def tool_call(name: str, args: Mapping[str, Any], kinds: Mapping[str, str], *, id: str = "") -> ToolCall:  # noqa: A002
    """Return the call of the host's tool ``name``, with its kind from ``kinds``, else its name's own, and its further
    names.

    An MCP tool, ``mcp__server__tool``, also answers to ``mcp__server``, as in Claude Code's permission rules. It never
    answers to its bare name: any server could then call a tool ``Read`` and meet a rule that allows reading.
    """
    if name.startswith("mcp__"):
        server, separator, _ = name.removeprefix("mcp__").partition("__")
        aliases = (f"mcp__{server}",) if server and separator else ()
        return ToolCall(name, args, id=id, kind="mcp", aliases=aliases)
    return ToolCall(name, args, id=id, kind=kinds.get(name), aliases=FORMER_NAMES.get(name, ()))
