"""Claude Code's events, as of 2.1.332: our event for each, and the rules of its settings.

Source: https://code.claude.com/docs/en/hooks, and the types of the Agent SDK 0.3.332.
"""

from __future__ import annotations

from agent_hooks.model.events import HookEvent
from agent_hooks.model.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

ANY_TYPE = frozenset({"command", "http", "mcp_tool", "prompt", "agent"})
_NO_MODEL = frozenset({"command", "http", "mcp_tool"})
_BEFORE_NETWORK = frozenset({"command", "mcp_tool"})

# The default `timeout` in seconds; an event may have another one for handlers without a model.
SECONDS = {"command": 600.0, "http": 600.0, "mcp_tool": 600.0, "prompt": 30.0, "agent": 60.0}


class ClaudeEvent(Value):
    """One event of Claude Code.

    ``event``: our event. ``subject``: the value that a matcher is compared with: ``tool`` (the tool's names), ``error``
    (the error's class), a field of the context, ``payload.KEY``, or an empty string for an event without matchers.
    ``gate``: whether a hook can prevent the action, so that a hook that cannot be honoured must block. ``types``: the
    handler types that run on it. ``seconds``: its own default of ``timeout``, if it has one.
    """

    event: HookEvent
    subject: str = ""
    gate: bool = False
    types: frozenset[str] = ANY_TYPE
    seconds: float | None = None


def _event(event: HookEvent, subject: str = "", **rules: Any) -> ClaudeEvent:
    return ClaudeEvent(event=event, subject=subject, **rules)


_HOST = HookEvent.ON_HOST_EVENT

EVENTS: dict[str, ClaudeEvent] = {
    "Setup": _event(HookEvent.SETUP, "trigger", types=_BEFORE_NETWORK),
    "SessionStart": _event(HookEvent.SESSION_START, "source", types=_BEFORE_NETWORK),
    "UserPromptSubmit": _event(HookEvent.USER_INPUT, gate=True, seconds=30.0),
    "PreToolUse": _event(HookEvent.BEFORE_TOOL_USE, "tool", gate=True),
    "PermissionRequest": _event(HookEvent.PERMISSION_REQUEST, "tool"),
    "PostToolUse": _event(HookEvent.AFTER_TOOL_USE, "tool"),
    "PostToolUseFailure": _event(HookEvent.ON_TOOL_ERROR, "tool"),
    "Stop": _event(HookEvent.ON_STOP),
    "StopFailure": _event(HookEvent.ON_ERROR, "error", types=_NO_MODEL),
    "SubagentStart": _event(HookEvent.BEFORE_SUBAGENT, "name", types=_NO_MODEL),
    "SubagentStop": _event(HookEvent.AFTER_SUBAGENT, "name"),
    "PreCompact": _event(HookEvent.BEFORE_COMPACT, "trigger", gate=True, types=_NO_MODEL),
    "PostCompact": _event(HookEvent.AFTER_COMPACT, "trigger", types=_NO_MODEL),
    "Notification": _event(HookEvent.NOTIFICATION, "notification_type", types=_NO_MODEL),
    "SessionEnd": _event(HookEvent.SESSION_END, "end_reason", types=_NO_MODEL, seconds=1.5),
    # Events that have no name of their own here.
    "UserPromptExpansion": _event(_HOST, "payload.command_name", gate=True),
    # A hook on it is about the shell lines of skills alone, and only Claude Code itself asks it.
    "PreSkillShellCommand": _event(_HOST, "tool", gate=True, types=_NO_MODEL),
    "PostToolBatch": _event(_HOST, gate=True),
    "PermissionDenied": _event(_HOST, "tool"),
    "TaskCreated": _event(_HOST, gate=True),
    "TaskCompleted": _event(_HOST, gate=True),
    "TeammateIdle": _event(_HOST),
    "ConfigChange": _event(_HOST, "payload.source", gate=True, types=_NO_MODEL),
    "PreModelSwitch": _event(_HOST, "payload.to_model", gate=True, types=_NO_MODEL, seconds=30.0),
    "PostModelSwitch": _event(_HOST, "payload.to_model", types=_NO_MODEL, seconds=30.0),
    "Elicitation": _event(_HOST, "payload.mcp_server_name", gate=True, types=_NO_MODEL),
    "ElicitationResult": _event(_HOST, "payload.mcp_server_name", gate=True, types=_NO_MODEL),
    "WorktreeCreate": _event(_HOST, gate=True, types=_NO_MODEL),
    "WorktreeRemove": _event(_HOST, types=_NO_MODEL),
    "InstructionsLoaded": _event(_HOST, "payload.load_reason", types=_NO_MODEL),
    "CwdChanged": _event(_HOST, types=_NO_MODEL),
    "DirectoryAdded": _event(_HOST, "payload.source", types=_NO_MODEL),
    "FileChanged": _event(_HOST, "payload.file_path", types=_NO_MODEL),
    "MessageDisplay": _event(_HOST, types=_NO_MODEL, seconds=10.0),
}

# The only events that evaluate a handler's `if`; on other events a handler with `if` never runs.
IF_EVENTS = frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied"})

# The events on which Claude Code ignores `"onFailure": "block"`.
ALWAYS_OPEN = frozenset({"Stop", "SubagentStop", "TaskCompleted", "TeammateIdle"})


def default_timeout(event: str, handler_type: str) -> float | None:
    """Return the default timeout of a handler on Claude Code's event ``event``, None for a type of others."""
    own = EVENTS[event].seconds
    return own if own is not None and handler_type in _NO_MODEL else SECONDS.get(handler_type)
