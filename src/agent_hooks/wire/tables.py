"""A host as tables: a row per event (name, form of a refusal, fields it takes), and the kinds of its tools."""

from __future__ import annotations

from agent_hooks.model.tool_call import ToolCall
from agent_hooks.model.tools import FORMER_NAMES
from agent_hooks.model.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


class Row(Value):
    """One event of a host.

    ``event``: its name here. ``refuse``: how the host is told no:

    - ``permission``: ``permissionDecision: deny``, the reason on stderr too, exit 2;
    - ``decision``: ``decision: block``, the reason on stderr too, exit 2;
    - ``exit``: the reason on stderr, exit 2, no JSON;
    - ``behavior``: the nested decision of a permission request, exit 0;
    - ``halt``: ``continue: false``, exit 0;
    - ``go_on``: as ``decision``, but the host reads it as "carry on working";
    - ``result``: by a new result, exit 0;
    - empty: it cannot be refused.

    ``takes``: further things the host reads: ``context``, ``message`` (systemMessage), ``stop`` (``continue: false``),
    ``interrupt``, ``ask`` (with new arguments, if it has ``rewrite``), ``ask-host`` (where nobody is there, the host
    waits for ever: only if the user wants it so), ``allow``, ``rewrite`` (updatedInput with allow), ``args`` (new
    arguments without a permission), ``request``, ``result`` (updatedToolOutput).
    ``seconds``: the host's own limit for a command hook that sets none.
    """

    event: str
    refuse: str = ""
    takes: frozenset[str] = frozenset()
    seconds: float = 600.0


def row(event: str, refuse: str = "", takes: str = "", seconds: float = 600.0) -> Row:
    """Return a row; ``takes`` is words separated by blanks."""
    return Row(event=event, refuse=refuse, takes=frozenset(takes.split()), seconds=seconds)


# Under these, hosts name the event in a payload, if they do.
EVENT_KEYS = ("hook_event_name", "hookEventName", "hookName", "interception_point")
# An event of a newer host: exit 2 with a reason is the one refusal that no version misreads.
UNKNOWN = row("on_host_event", "exit")
# Where the host may read a refusal as "go on": for ever, if a hook that fails refuses.
_UNKNOWN_STOP = row("on_host_event", takes="message")


def unknown(event: str) -> Row:
    """Return the row of an event that the host has not, so far."""
    return _UNKNOWN_STOP if is_stop(event) else UNKNOWN


def is_stop(event: str) -> bool:
    """Whether an event of this name, of whichever host, comes when an agent is about to stop or to end a task."""
    return event.lower().endswith(("stop", "idle", "completed", "afteragent"))


# The arguments with the subagent's name and its task.
SUBAGENT_KEYS = ("subagent_type", "agent_type", "agent_name")
TASK_KEYS = ("prompt", "message", "task")


def tool_call(name: str, args: Mapping[str, Any], kinds: Mapping[str, str], *, id: str = "") -> ToolCall:  # noqa: A002
    """Return the call of the host's tool ``name``, with its kind from ``kinds``, else its name's own, and its further
    names.

    An MCP tool, ``mcp__server__tool``, also answers to ``mcp__server``, as in Claude Code's permission rules. It never
    answers to its bare name: any server could then call a tool ``Read`` and meet a rule that allows reading.
    """
    kind, aliases = kinds.get(name), FORMER_NAMES.get(name, ())
    if name.startswith(("MCP:", "mcp_")):  # Cursor's, and those of Gemini CLI and VS Code
        kind = "mcp"
    if name.startswith("mcp__"):
        server, separator, _ = name.removeprefix("mcp__").partition("__")
        kind, aliases = "mcp", (f"mcp__{server}",) if server and separator else ()
    return ToolCall(name, args, id=id, kind=kind, aliases=aliases)
