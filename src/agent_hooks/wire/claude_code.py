"""Claude Code's hooks, as of 2.1.332. Sources: code.claude.com/docs/en/hooks, the Agent SDK's types, the client."""

from __future__ import annotations

from .answer import as_text
from .claude_family import ClaudeFamily
from .tables import row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

ROWS = {
    "Setup": row("setup", takes="context message"),
    "SessionStart": row("session_start", takes="context message stop"),
    "UserPromptSubmit": row("user_input", "decision", "context message stop", 30.0),
    "PreToolUse": row("before_tool_use", "permission", "context message stop ask allow rewrite"),
    # A line of shell in the text of a skill or a command, since 2.1.332: an ask and new arguments refuse it as well.
    "PreSkillShellCommand": row("before_tool_use", "permission", "message"),
    # Exit 2 is not honoured here: the JSON alone decides.
    "PermissionRequest": row("permission_request", "behavior", "message interrupt"),
    "PostToolUse": row("after_tool_use", "decision", "context message stop result"),
    "PostToolUseFailure": row("on_tool_error", takes="context message stop"),
    # Context at a stop makes Claude go on, like a block: it is told to the user instead.
    "Stop": row("on_stop", "go_on", "message"),
    "StopFailure": row("on_error"),
    "SubagentStart": row("before_subagent", takes="context message stop"),
    "SubagentStop": row("after_subagent", "go_on", "message stop"),
    "PreCompact": row("before_compact", "decision"),
    "PostCompact": row("after_compact"),
    "Notification": row("notification"),
    "SessionEnd": row("session_end", seconds=1.5),
    # Events that have no name of their own here.
    "UserPromptExpansion": row("on_host_event", "decision", "context message stop"),
    "PostToolBatch": row("on_host_event", "decision", "context message stop"),
    "PermissionDenied": row("on_host_event", takes="message"),
    "TaskCreated": row("on_host_event", "decision", "message"),
    "TaskCompleted": row("on_host_event", "exit", "message"),
    "TeammateIdle": row("on_host_event", "go_on", "message"),
    "ConfigChange": row("on_host_event", "decision"),
    "PreModelSwitch": row("on_host_event", "permission", "message ask", 30.0),
    "PostModelSwitch": row("on_host_event", takes="context message", seconds=30.0),
    "Elicitation": row("on_host_event", "exit"),
    "ElicitationResult": row("on_host_event", "exit"),
    "WorktreeCreate": row("on_host_event", "exit"),
    "WorktreeRemove": row("on_host_event"),
    "InstructionsLoaded": row("on_host_event"),
    "CwdChanged": row("on_host_event", takes="message"),
    "DirectoryAdded": row("on_host_event", takes="message"),
    "FileChanged": row("on_host_event", takes="message"),
    "MessageDisplay": row("on_host_event", seconds=10.0),
}

# Fields of a tool's result that the model reads, the likeliest first.
_TEXT_KEYS = ("stdout", "content", "text", "file", "result", "output", "message")
# Keys whose value names the shape in one short word; anything else under them is content.
_SHAPE_KEYS = frozenset({"type", "status", "mode", "media_type", "mimeType"})
_LONGEST_WORD = 32
_JOINTS = str.maketrans("", "", "_-/.+")


class ClaudeCode(ClaudeFamily):
    """Claude Code. It ignores a replaced result that has not the shape of the tool's own, and shows the original."""

    default_subagent = "general-purpose"
    runs_claude_settings = True

    def replaced(self, result: Any, new: Any) -> Any:
        """Return ``new`` in the shape of ``result``: its keys, emptied where ``new`` lacks them."""
        if result is None:
            return new
        if isinstance(result, dict) and isinstance(new, dict):
            return {**new, **{key: self._part(key, value, new) for key, value in result.items() if _is_key(key)}}
        if isinstance(result, (list, tuple)) and isinstance(new, (list, tuple)):
            return [self.replaced(_likest(result, item), item) for item in new]
        if _sort(result) is _sort(new) is not None:
            return new
        return _filled(result, as_text(new))

    def _part(self, key: str, value: Any, new: dict[str, Any]) -> Any:
        return self.replaced(value, new[key]) if key in new else _kept(key, value, "")


def _sort(value: Any) -> type | None:
    """Return the type of a string, a boolean or a number, else None."""
    kinds: tuple[tuple[type, type], ...] = ((str, str), (bool, bool), (int, float), (float, float))
    return next((sort for kind, sort in kinds if isinstance(value, kind)), None)


def _likest(items: Sequence[Any], new: Any) -> Any:
    """Return the first of ``items`` whose ``type`` is that of ``new``, else the first; None of nothing."""
    wanted = new.get("type") if isinstance(new, dict) else None
    typed = (item for item in items if isinstance(item, dict) and item.get("type") == wanted)
    return next(typed, items[0] if items else None)


def _filled(shape: Any, text: str) -> Any:
    """Return ``shape`` with everything in it emptied, but for ``text`` in the place that the model reads first."""
    if isinstance(shape, str):
        return text
    if isinstance(shape, dict):
        place = next((key for key in _TEXT_KEYS if key in shape), None)
        return {key: _kept(key, value, text if key == place else "") for key, value in shape.items() if _is_key(key)}
    if isinstance(shape, (list, tuple)):
        return [_filled(shape[0], text)] if shape and text else []
    return None if shape is None else type(shape)()


def _kept(key: str, value: Any, text: str) -> Any:
    """Return the value of a key that nobody gave a new one: the word that says the shape, or ``value`` filled."""
    is_word = isinstance(value, str) and len(value) <= _LONGEST_WORD and value.isascii()
    says_shape = key in _SHAPE_KEYS and is_word and value.translate(_JOINTS).isalpha()
    return value if says_shape else _filled(value, text)


def _is_key(key: str) -> bool:
    """Whether this names a part of the shape; other keys (a question, a path) are content."""
    return key.isidentifier() and len(key) <= _LONGEST_WORD


HOST = ClaudeCode("claude-code", "Claude Code", ROWS)
