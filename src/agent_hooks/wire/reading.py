"""Reading a host's payloads: a table of spellings turns its keys into the common ones, which have fields here."""

from __future__ import annotations

from agent_hooks.errors import WireError
from agent_hooks.model.context import HookContext
from agent_hooks.model.events import HookEvent
from agent_hooks.model.tool_call import ErrorInfo, ToolExecution
from agent_hooks.model.values import freeze

from .tables import Row, tool_call, unknown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, ClassVar

    from agent_hooks.model.tool_call import ToolCall

# Payload key -> context field. All are strings; null and missing keys are left out. A payload whose subject or `cwd` is
# no string cannot be read; other values that are no strings stay in `payload` alone.
_EVERYWHERE = {
    **{key: key for key in ("session_id", "transcript_path", "cwd", "permission_mode", "agent_id", "model")},
    "prompt_id": "prompt_id",
    "agent_type": "agent_name",
}
# Fields that an event shares with the one that it is a part of.
WHERE = frozenset({*_EVERYWHERE.values(), "host", "host_event", "project_dir"})
_OF_EVENT = {
    "session_start": {"source": "source"},
    "session_end": {"reason": "end_reason"},
    "user_input": {"prompt": "prompt", "source": "source"},
    "on_tool_error": {"error": "error_text"},
    "before_subagent": {"task": "task"},
    "on_stop": {"last_assistant_message": "output"},
    "after_subagent": {"last_assistant_message": "result"},
    **{event: {"trigger": "trigger"} for event in ("setup", "before_compact", "after_compact")},
    "notification": {"message": "message", "notification_type": "notification_type"},
}
_TOOL_EVENTS = frozenset({"before_tool_use", "permission_request", "after_tool_use", "on_tool_error"})
_TOOL_KEYS = frozenset({"tool_name", "tool_input", "tool_use_id", "tool_response", "duration_ms"})
# Without these the event would be judged by something it does not have.
_NEEDED = {"user_input": ("prompt",), **dict.fromkeys(_TOOL_EVENTS, ("tool_name", "tool_input"))}


def _typed(payload: Mapping[str, Any], key: str, kind: type) -> Any:
    """Return ``payload[key]``, None if it is missing or null. Raises ``WireError`` if it is not a ``kind``."""
    value = payload.get(key)
    if value is not None and not isinstance(value, kind):
        raise WireError(f"The payload cannot be read: {key!r} must be {kind.__name__}, not {type(value).__name__}.")
    return value


def _text(payload: Mapping[str, Any], key: str) -> str | None:
    """Return ``payload[key]`` if it is text, a number as its text under the keys of ids, else None."""
    value = payload.get(key)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return str(value) if isinstance(value, str) or (is_number and key.endswith("_id")) else None


class Reader:
    """The reading half of a host. ``rows`` are its events by the host's names.

    ``spellings``: the host's key -> the common key (Claude Code's), where they differ.
    """

    spellings: ClassVar[Mapping[str, str]] = {}

    def __init__(self, name: str, title: str, rows: Mapping[str, Row], kinds: Mapping[str, str] | None = None) -> None:
        self.name = name
        self.title = title
        self.rows = rows
        self.kinds = kinds or {}

    def row(self, event: str) -> Row:
        """Return the row of the host's event ``event``."""
        return self.rows.get(event) or unknown(event)

    # -- overridden by hosts -------------------------------------------------------------------------------------------

    def common(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return ``payload`` under the common keys. A key that the payload itself has goes before a spelling of it."""
        if self.spellings.keys().isdisjoint(payload):
            return payload
        respelled = {self.spellings[key]: value for key, value in payload.items() if key in self.spellings}
        return {**respelled, **{key: value for key, value in payload.items() if key not in self.spellings}}

    def event_of(self, name: str, payload: Mapping[str, Any]) -> str:  # noqa: ARG002 - for subclasses
        """Return the name here of the host's event ``name``; ``payload`` under the common keys."""
        return self.row(name).event

    def call_of(self, payload: Mapping[str, Any], name: str, args: Mapping[str, Any]) -> ToolCall:
        """Return the tool call of ``payload``."""
        return tool_call(name, args, self.kinds, id=_text(payload, "tool_use_id") or "")

    def own_fields(self, event: str, payload: Mapping[str, Any]) -> tuple[dict[str, Any], set[str]]:  # noqa: ARG002
        """Return further fields of an event, and the keys of ``payload`` that they are made of."""
        return {}, set()

    # -- in ----------------------------------------------------------------------------------------------------------

    def read(self, payload: Mapping[str, Any], event: str | None = None) -> HookContext:
        """Return the context that ``payload``, the JSON object on stdin, describes.

        ``event``, the host's name of the event, goes before the payload's own. An event without a name here becomes
        ``on_host_event`` with the whole payload; of the others, ``payload`` holds the keys that have no field. Raises
        ``WireError`` for an unreadable payload.
        """
        if not isinstance(payload, dict):
            raise WireError(f"{self.title} sends its hooks one JSON object, not {type(payload).__name__}.")
        original, payload = payload, self.common(payload)
        name = event or _typed(payload, "hook_event_name", str)
        if not name:
            raise WireError("The payload cannot be read: 'hook_event_name' is missing, and no event was given.")
        here = self.event_of(name, payload)
        missing = [key for key in _NEEDED.get(here, ()) if key not in payload]
        if missing:
            raise WireError(f"The payload of {name} cannot be read: {missing[0]!r} is missing.")
        keys = {**_EVERYWHERE, **_OF_EVENT.get(here, {})}
        subject = HookEvent.parse(here).subject
        fields: dict[str, Any] = {"host": self.name, "host_event": name}
        used = {"hook_event_name", *(key for key in keys if payload.get(key) is None)}
        for key, field in keys.items():
            text = _typed(payload, key, str) if field in ("cwd", subject) else _text(payload, key)
            if text is not None:
                fields[field] = text
                used.add(key)
        if here in _TOOL_EVENTS:
            fields.update(self._tool_fields(payload, here))
            used |= _TOOL_KEYS - ({"tool_response"} if here == "on_tool_error" else set())
        elif here in ("before_subagent", "after_subagent"):
            fields["name"] = fields.get("agent_name", "")
        elif here == "on_error":
            given = payload.get("error")
            about = given if isinstance(given, dict) else {"name": given, "message": payload.get("error_details")}
            kind, details = _text(about, "name") or "unknown", _text(about, "message") or ""
            fields["error"] = ErrorInfo(type=kind, message=details)
            fields["error_list"] = (fields["error"],)
            used |= {key for key in ("error", "error_details") if _text(payload, key) is not None}
        if isinstance(active := payload.get("stop_hook_active"), bool):
            fields["stop_hook_active"] = active
            used.add("stop_hook_active")
        effort, server = payload.get("effort"), payload.get("mcp_server")
        if isinstance(effort, dict) and effort.keys() == {"level"} and isinstance(effort["level"], str):
            fields["effort"] = effort["level"]
            used.add("effort")
        if isinstance(server, dict):
            fields["mcp_server"] = freeze(server)
            used.add("mcp_server")
        further, made_of = self.own_fields(here, payload)
        fields.update(further)
        used |= made_of
        rest = {key: value for key, value in payload.items() if key not in used}
        if here == "on_host_event":
            rest = original
        if rest:
            fields["payload"] = freeze(rest)
        return HookContext(here, **fields)

    def _tool_fields(self, payload: Mapping[str, Any], event: str) -> dict[str, Any]:
        name = _typed(payload, "tool_name", str)
        if not name:
            raise WireError(f"The payload of {event} cannot be read: the tool has no name.")
        args = _typed(payload, "tool_input", dict) or {}
        call = self.call_of(payload, name, args)
        milliseconds = payload.get("duration_ms")
        duration = milliseconds / 1000 if isinstance(milliseconds, (int, float)) else 0.0
        brought: dict[str, Any] = {}
        if event == "after_tool_use":
            brought["result"] = freeze(payload.get("tool_response"))
        elif event == "on_tool_error":
            brought["error"] = ErrorInfo(type="ToolError", message=_typed(payload, "error", str) or "")
        if brought:
            brought["tool_execution"] = ToolExecution(call=call, duration=duration, **brought)
        return {"tool_call": call, **brought}
