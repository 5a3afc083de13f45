"""Copilot CLI's hooks, as of 1.0.102. Sources: docs.github.com (hooks reference), the SDK's types, the client itself.

The case of an event's name in the settings decides how its payload is written: ``preToolUse`` has camelCase keys and
no name of the event, ``PreToolUse`` Claude Code's keys and tools with Copilot's own arguments. (``PermissionRequest``
and ``SubagentStart`` come in camelCase all the same.) Answers are flat in both: of Claude Code's nested form with exit
code 2, the reason is lost. A prompt is refused by JSON alone. Copilot also runs the hooks in ``.claude/settings.json``.
"""

from __future__ import annotations

from agent_hooks.errors import WireError
from agent_hooks.model.tool_names import HOST_TOOLS
from agent_hooks.model.tools import is_patching
from agent_hooks.system.quick_json import loads

from .answer import as_text, trimmed
from .claude_family import ClaudeFamily
from .tables import row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agent_hooks.model.tool_call import ToolCall

    from .claude_family import Body
    from .reply import Reply

_SECONDS = 30.0
# By the event's name in Claude Code's case and Copilot's own.
_ROWS = {
    ("SessionStart", "sessionStart"): row("session_start", takes="context", seconds=_SECONDS),
    ("SessionEnd", "sessionEnd"): row("session_end", seconds=_SECONDS),
    ("UserPromptSubmit", "userPromptSubmitted"): row("user_input", "decision", "context", _SECONDS),
    ("UserPromptTransformed", "userPromptTransformed"): row("on_host_event", seconds=_SECONDS),
    ("PreToolUse", "preToolUse"): row("before_tool_use", "permission", "context ask allow rewrite", _SECONDS),
    ("PermissionRequest", "permissionRequest"): row("permission_request", "behavior", "interrupt", _SECONDS),
    ("PostToolUse", "postToolUse"): row("after_tool_use", "result", "context result", _SECONDS),
    ("PostToolUseFailure", "postToolUseFailure"): row("on_tool_error", takes="context", seconds=_SECONDS),
    ("Stop", "agentStop"): row("on_stop", "go_on", seconds=_SECONDS),
    ("SubagentStart", "subagentStart"): row("before_subagent", takes="context", seconds=_SECONDS),
    ("SubagentStop", "subagentStop"): row("after_subagent", "go_on", "result", _SECONDS),
    ("ErrorOccurred", "errorOccurred"): row("on_error", seconds=_SECONDS),
    ("PreCompact", "preCompact"): row("before_compact", seconds=_SECONDS),
    ("Notification", "notification"): row("notification", takes="context", seconds=_SECONDS),
}
ROWS = {name: each for names, each in _ROWS.items() for name in names}
_TEXT_KEYS = ("textResultForLlm", "text_result_for_llm")
_TYPE_KEYS = ("resultType", "result_type")


class Copilot(ClaudeFamily):
    """Copilot CLI. People read what hooks print on stderr; there is no field for them."""

    default_subagent = "general-purpose"
    runs_claude_settings = True
    asks_about_changes = False
    rounds_have_prompts = True
    people_read_stderr = True
    spellings = {  # noqa: RUF012 - a table
        "hookName": "hook_event_name",
        "sessionId": "session_id",
        "transcriptPath": "transcript_path",
        "toolName": "tool_name",
        "toolArgs": "tool_input",
        "toolInput": "tool_input",
        "toolResult": "tool_response",
        "tool_result": "tool_response",
        "agentId": "agent_id",
        "agentType": "agent_type",
        "agentName": "agent_name",
        "response": "last_assistant_message",
    }

    def common(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return ``payload`` under the common keys, with arguments that came as text as an object."""
        common = {**super().common(payload)}
        if isinstance(args := common.get("tool_input"), str):
            common["tool_input"] = _object(args)
            if "*** Begin Patch" in args:
                # In Claude Code's words it is an Edit, whose arguments would be a file and a text.
                common["reported_tool_name"] = common.get("tool_name")
                common["tool_name"] = "apply_patch"
        if "agent_type" not in common and isinstance(name := common.get("agent_name"), str):
            common["agent_type"] = name
        return common

    def lost(self, call: ToolCall, args: Mapping[str, Any]) -> str:  # noqa: ARG002 - whatever they are
        """Return the loss of new arguments: a patch is one text here, not an object."""
        return "it takes a patch as text" if is_patching(call.name) else ""

    def replaced(self, result: Any, new: Any) -> Any:
        """Return ``new`` as a result of Copilot's form, with the type of ``result`` unless it brings its own."""
        kind = _first(new, _TYPE_KEYS) or _first(result, _TYPE_KEYS) or "success"
        text = _first(new, _TEXT_KEYS)
        return {"resultType": kind, "textResultForLlm": as_text(new) if text is None else text}

    # -- the parts of an answer --------------------------------------------------------------------------------------

    def refuse(self, reply: Reply, body: Body, specific: Body) -> None:
        """Say that this must not happen; of a result, that is its replacement."""
        if reply.row.refuse == "behavior":
            body.update({"behavior": "deny", "message": trimmed(reply.reason)})
            if reply.interrupts:
                body["interrupt"] = True
        elif reply.row.refuse != "result":
            super().refuse(reply, body, specific)
        elif not reply.result:
            reply.result = (self.replaced(None, trimmed(reply.reason)),)

    def permit(self, reply: Reply, body: Body, specific: Body) -> None:
        """Say that this may happen or that the user decides."""
        if reply.row.refuse == "behavior":
            body["behavior"] = reply.verdict
            return
        super().permit(reply, body, specific)
        if "updatedInput" in specific:
            specific["modifiedArgs"] = specific.pop("updatedInput")

    def put_result(self, reply: Reply, body: Body, specific: Body) -> None:  # noqa: ARG002 - flat
        """Put a new result, or a subagent's new answer, in the place of its own."""
        (new,) = reply.result
        if reply.row.event == "after_subagent":
            body["modifiedResponse"] = new["textResultForLlm"]
        else:
            body["modifiedResult"] = new

    def assembled(self, reply: Reply, body: Body, specific: Body) -> Body:  # noqa: ARG002 - flat
        """Return the object on stdout."""
        return {**body, **specific}

    def exits_with_2(self, reply: Reply) -> bool:
        """Whether a refusal exits with 2 as well: elsewhere it is a warning."""
        return reply.row.refuse in ("permission", "exit")


def _first(value: Any, keys: tuple[str, ...]) -> str | None:
    found = (value.get(key) for key in keys) if isinstance(value, dict) else ()
    return next((each for each in found if isinstance(each, str)), None)


def _object(text: str) -> dict[str, Any]:
    """Return the object that ``text`` is as JSON, else one with the text as ``input``."""
    try:
        value = loads(text) if text.lstrip().startswith("{") else None
    except (ValueError, WireError):
        value = None
    return value if isinstance(value, dict) else {"input": text}


HOST = Copilot("copilot", "Copilot CLI", ROWS, HOST_TOOLS["Copilot CLI"])
