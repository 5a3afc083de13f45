"""Which host sent a payload, by its keys, its paths and the environment.

A host's name in the command line is better: fields come and go, and the environment is inherited by an agent that
another one started.
"""

from __future__ import annotations

from . import HOSTS
from .claude_family import ClaudeFamily
from .tables import EVENT_KEYS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .host import Host

_GEMINI_EVENTS = frozenset(
    "AfterAgent AfterModel AfterTool BeforeAgent BeforeModel BeforeTool BeforeToolSelection PreCompress".split()
)
# Where hosts keep their transcripts, unless a variable of the environment moves them.
_TRANSCRIPTS = {
    "/.claude/projects/": "claude-code",
    "/.codex/sessions/": "codex",
    "/.gemini/tmp/": "gemini",
    "/.qwen/projects/": "qwen",
    "/.copilot/session-state/": "copilot",
}
# By host, those that run the hooks in its files as well.
_GUESTS = {"claude-code": ("copilot", "vscode", "cursor"), "copilot": ("vscode",)}


def sure_sender(payload: Mapping[str, Any]) -> str:
    """Return the name of the host that certainly sent ``payload``, an empty string if several could have."""
    if "interception_point" in payload and ("spec" in payload or "hook_event_name" not in payload):
        return "agent-hooks-0.1"
    if "cursor_version" in payload or {"conversation_id", "generation_id"} <= payload.keys():
        return "cursor"
    event = payload.get("hook_event_name")
    if isinstance(event, str) and event in _GEMINI_EVENTS:
        return "gemini"
    path = payload.get("transcript_path")
    if isinstance(path, str):
        path = path.replace("\\", "/")
        # The innermost: a host may have been started below the folder of another one.
        at, found = max((path.rfind(folder), host) for folder, host in _TRANSCRIPTS.items())
        if at >= 0:
            return found
    if "sessionId" in payload:
        return "vscode" if "hookEventName" in payload or isinstance(payload.get("timestamp"), str) else "copilot"
    if "hook_event_name" not in payload:
        return ""
    if {"turn_id", "model"} <= payload.keys():
        return "codex"
    # Claude Code sends no time; Copilot sends a transcript only where an agent stops.
    is_copilot = "timestamp" in payload and ("stop_reason" in payload or "transcript_path" not in payload)
    return "copilot" if is_copilot else ""


def sender(payload: Mapping[str, Any], environment: Mapping[str, str]) -> Host:
    """Return the host that most probably sent ``payload``: Claude Code, where nothing speaks for another."""
    name = sure_sender(payload)
    if not name and "timestamp" in payload:
        name = "gemini" if "GEMINI_SESSION_ID" in environment else "qwen" if "permission_mode" in payload else ""
    if not name and {"model", "permission_mode"} <= payload.keys():
        name = "codex"
    return HOSTS[name or "claude-code"]


def recognised(host: Host, payload: Any, environment: Mapping[str, str]) -> tuple[Host, str]:
    """Return the host that gets the answer to ``payload``, and what is wrong if that is not ``host``, which the command
    names.
    """
    if not isinstance(payload, dict):
        return host, ""
    if host is AUTO:
        return sender(payload, environment), ""
    name = sure_sender(payload)
    if not name and host.name == "copilot" and {"hook_event_name", "transcript_path"} <= payload.keys():
        name = "vscode"  # one of the two, and not Copilot
    if not name and host.name == "claude-code" and {"timestamp", "permission_mode"} <= payload.keys():
        name = "qwen"  # Claude Code sends no time
    if name in ("", host.name):
        return host, ""
    other = HOSTS[name]
    if name in _GUESTS.get(host.name, ()):
        return other, ""
    event = next((str(payload[key]) for key in EVENT_KEYS if payload.get(key)), "an event")
    wrong = f"the command says --agent {host.name}, and {event} comes from {other.title}"
    return other, f"{wrong}; in its hook settings, write --agent {other.name}."


def owner_of(event: str) -> Host | None:
    """Return the first host that has an event of this name which hooks decide about, None if none has."""
    rows = ((host, host.rows.get(event)) for host in HOSTS.values())
    return next((host for host, row in rows if row is not None and row.event != "on_host_event"), None)


# In the place of a host until its payload has come.
AUTO = ClaudeFamily("auto", "this agent", {})
