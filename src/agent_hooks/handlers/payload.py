"""The payload for external handlers: one JSON object, the same for every format.

It has Claude Code's keys (code.claude.com/docs/en/hooks) beside the names that agent boundaries have in SkillKit, so
that a script written for either works with every host.
"""

from __future__ import annotations

from agent_hooks.errors import HandlerError
from agent_hooks.model.tools import CLAUDE_NAMES, COMMAND_KEYS, CONTENT_KEYS, KIND_OF_NAME, PATH_KEYS, URL_KEYS
from agent_hooks.model.values import plain

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.tool_call import ToolCall

# Claude Code's names of events that have another name in ``HookContext.as_payload``.
_CLAUDE_EVENTS = {"on_error": "StopFailure"}
# Event -> Claude Code's key -> the context's field.
_CLAUDE_KEYS = {
    "session_end": {"reason": "end_reason"},
    "on_tool_error": {"error": "error_text"},
    "on_stop": {"stop_hook_active": "stop_hook_active", "last_assistant_message": "output"},
    "before_subagent": {"agent_type": "name"},
    "after_subagent": {
        "agent_type": "name",
        "stop_hook_active": "stop_hook_active",
        "last_assistant_message": "result",
    },
    "after_tool_use": {"tool_response": "result"},
}
# Fields that a payload always has, also where they are zero or empty.
_ALWAYS = {
    **dict.fromkeys(("setup", "before_compact", "after_compact"), ("trigger",)),
    "session_start": ("source",),
    "user_input": ("prompt",),
    "notification": ("message", "notification_type"),
    "after_tool_use": ("result",),
    "before_subagent": ("name", "task", "depth"),
    "after_subagent": ("name", "task", "depth", "result"),
    **dict.fromkeys(("before_skill_activation", "after_skill_activation"), ("skill_name", "arguments")),
    **dict.fromkeys(("before_inference", "after_inference"), ("model", "message_count", "tool_count")),
    **dict.fromkeys(("before_agent", "after_agent"), ("definition",)),
    **dict.fromkeys(("before_conversation_save", "after_conversation_save"), ("message_count",)),
    **dict.fromkeys(("before_turn", "after_turn"), ("message_count",)),
}
# The names under which tools may have the argument that Claude Code calls so.
_OWN_KEYS = {"command": COMMAND_KEYS, "file_path": PATH_KEYS, "content": CONTENT_KEYS, "url": URL_KEYS}


def payload_of(entry: HookEntry, ctx: HookContext) -> dict[str, Any]:
    """Return the payload of ``ctx`` for the entry's handler, in JSON types.

    Beside ``HookContext.as_payload``: ``tool_name`` and ``tool_input`` in Claude Code's terms (``tool`` and ``input``
    are the host's own), ``rechecking``, the keys that each event always has, and the host's further keys.
    ``agent_id`` and ``agent_type`` are present only in a subagent, as with Claude Code.
    """
    payload = ctx.as_payload()
    sent = payload.get("payload")
    if isinstance(sent, dict):
        payload = {**sent, **payload}
    event = str(ctx.event)
    named = entry.host_event or (ctx.host_event if event == "on_host_event" else _CLAUDE_EVENTS.get(event))
    payload["hook_event_name"] = named or payload["hook_event_name"]
    payload["rechecking"] = ctx.rechecking
    payload.setdefault("transcript_path", "")
    if ctx.effort:
        payload["effort"] = {"level": ctx.effort}
    is_main_agent = not (ctx.depth or ctx.parent_agent_id or ctx.host)
    if is_main_agent:
        payload.pop("agent_id", None)
    elif "agent_id" in payload:
        payload["agent_type"] = ctx.agent_name
    for name in _ALWAYS.get(event, ()):
        payload.setdefault(name, plain(getattr(ctx, name)))
    for key, name in _CLAUDE_KEYS.get(event, {}).items():
        payload[key] = plain(getattr(ctx, name))
    if ctx.tool_call is not None:
        payload["tool_name"] = _claude_name(ctx.tool_call)
        payload["tool_input"] = {**payload["input"], **_offered(ctx, ctx.tool_call)}
    if event == "after_tool_use" and ctx.tool_execution is not None:
        payload["duration_ms"] = round(ctx.tool_execution.duration * 1000)
    elif event == "on_error" and isinstance(payload.get("error"), dict):
        error = payload["error"]
        payload.update(error=error.get("type", ""), error_details=error.get("message", ""))
    elif event == "before_compact":
        payload.setdefault("custom_instructions", None)
    if ctx.event.matched_by == "skill":
        payload["skill"] = ctx.skill or ctx.skill_name
    return payload


def given_back(entry: HookEntry, ctx: HookContext, updated_input: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tool's own arguments for ``updated_input``, a complete changed ``tool_input``.

    An added key that came back unchanged is left out; a changed one goes to the argument that it was taken from.
    Raises ``HandlerError`` without exactly one such argument, or without a tool call.
    """
    call = ctx.tool_call
    if call is None:
        raise HandlerError(f"{entry.origin} answers with updatedInput, but {ctx.event!s} is about no tool call.")
    offered = _offered(ctx, call)
    changed = {key: value for key, value in updated_input.items() if key in offered and value != offered[key]}
    own = {key: value for key, value in updated_input.items() if key not in offered}
    own.update({key: call.args[key] for key in offered if key in updated_input and key in call.args})
    for key, value in changed.items():
        source = _source(ctx, call, key, offered[key])
        if source is None:
            raise HandlerError(
                f"{entry.origin} changed {key!r} of tool_input, which the tool {call.name!r} does not take under one "
                "argument: change the tool's own arguments, which are in 'input'."
            )
        if source != key and source in updated_input and updated_input[source] not in (call.args[source], value):
            raise HandlerError(f"{entry.origin} changed both {key!r} and {source!r} of tool_input, which are one.")
        own[source] = value
    return own


def _claude_name(call: ToolCall) -> str:
    """Return the tool's name if Claude Code has a tool of that name, else that of its own tool of the kind, if any."""
    is_claudes = (call.name in KIND_OF_NAME and call.name[0].isupper()) or call.name.startswith("mcp__")
    return call.name if is_claudes else CLAUDE_NAMES.get(call.kind, (call.name,))[0]


def _offered(ctx: HookContext, call: ToolCall) -> dict[str, str]:
    """Return the keys that ``tool_input`` gets besides the tool's arguments: full command and absolute path."""
    offers = {"command": call.command}
    if call.kind in ("read", "write", "edit") and len(ctx.paths) == 1:
        offers["file_path"] = ctx.paths[0]
    if call.kind == "write":
        offers["content"] = call.content
    if call.kind == "fetch":
        offers["url"] = call.url
    return {key: text for key, text in offers.items() if text and text != call.args.get(key)}


def _source(ctx: HookContext, call: ToolCall, key: str, offered: str) -> str | None:
    """Return the one argument that ``offered`` was taken from, None if there is no such one."""
    from os.path import join, normpath

    from agent_hooks.system.paths import expanded

    def is_it(value: Any) -> bool:
        if key == "file_path" and isinstance(value, str):
            return bool(value) and normpath(join(ctx.cwd, expanded(value))) == offered
        return bool(value == offered)

    found = [own for own in _OWN_KEYS[key] if is_it(call.args.get(own))]
    return found[0] if len(found) == 1 else None
