"""Whether a host goes on with an event, by the exit code and output of a gate's command.

Sources: the clients themselves (Claude Code 2.1.330, Codex 0.169.0, Gemini CLI 0.61.0, Qwen Code 0.24.4, Copilot CLI
1.0.102, OpenCode 1.18.33), and the documentation of VS Code and Cursor.
"""

from __future__ import annotations

from agent_hooks.errors import WireError
from agent_hooks.model.values import Value
from agent_hooks.system.quick_json import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks.wire.host import Host

BLOCKED, ASKED, RUNS = "blocked", "asked", "would run"
_REFUSING = {"deny": BLOCKED, "block": BLOCKED, "ask": ASKED}


class Ended(Value):
    """A command that has ended. ``code``: its exit code, negative after a signal, None if the host gave it up."""

    code: int | None
    stdout: str = ""
    stderr: str = ""


class _Reading(Value):
    """How a host reads the exit code and output of a command.

    ``fields``: those that may refuse a tool call. ``exits``: the forms of a refusal (``Row``) that exit code 2 is, too.
    ``codes``: the exit codes beside which JSON is read, none of them special (``any_code``: each, and JSON goes before
    the code). ``needs_reason``: a refusal without one is none. ``keys``: JSON with another key is no answer, if there
    are any. ``halts``: ``continue: false`` refuses a tool call. ``failing``: the failures that refuse a tool call:
    ``""``, ``"told"`` (a code above 2, with text) or ``"all"``.
    """

    fields: tuple[str, ...] = ("nested", "decision")
    exits: frozenset[str] = frozenset({"permission", "decision", "exit"})
    codes: tuple[int, ...] = (0,)
    any_code: bool = False
    needs_reason: bool = False
    keys: frozenset[str] = frozenset()
    halts: bool = False
    failing: str = ""


_READINGS = {
    "claude-code": _Reading(codes=(0, 1)),
    "codex": _Reading(
        needs_reason=True,
        keys=frozenset({"decision", "reason", "systemMessage", "hookSpecificOutput"}),
    ),
    "gemini": _Reading(fields=("decision",), any_code=True, needs_reason=True, halts=True, failing="told"),
    "qwen": _Reading(codes=(0, 1), needs_reason=True, halts=True),
    "copilot": _Reading(fields=("nested", "flat"), exits=frozenset({"permission"}), codes=(0, 1, 2), failing="all"),
    "vscode": _Reading(exits=frozenset({"permission", "halt", "exit"}), fields=("nested",)),
    "cursor": _Reading(exits=frozenset({"permission", "halt", "exit"}), fields=("permission",)),
    "opencode": _Reading(codes=(0, 2), failing="all"),
}


def verdict(host: Host, event: str, ended: Ended, *, closes: bool) -> str:
    """Return ``BLOCKED``, ``ASKED`` or ``RUNS``. ``closes``: the entry tells the host to refuse after a failure."""
    if ended.code is None:
        return BLOCKED if closes else RUNS
    reading, form = _READINGS[host.name], host.rows[event].refuse
    body = _object(ended.stdout)
    has_reason = bool(ended.stderr.strip()) or not reading.needs_reason
    if reading.any_code and body is not None:
        return _said(reading, host, event, body) or RUNS
    if ended.code == 2 and form in reading.exits and has_reason:
        return BLOCKED
    if body is not None and ended.code in reading.codes and (said := _said(reading, host, event, body)):
        return said
    if ended.code in (0, 2):
        return RUNS
    is_told = reading.failing == "told" and ended.code > 2 and bool((ended.stdout + ended.stderr).strip())
    is_closed = is_told or (reading.failing == "all" and (form == "permission" or host.name == "opencode"))
    return BLOCKED if closes or is_closed else RUNS


def _object(text: str) -> dict[str, Any] | None:
    try:
        found = loads(text)
    except (ValueError, WireError):
        return None
    return found if isinstance(found, dict) else None


def _said(reading: _Reading, host: Host, event: str, body: dict[str, Any]) -> str:
    """Return the verdict of a host's own JSON, an empty string if that refuses nothing."""
    row = host.rows[event]
    if reading.keys and row.refuse != "halt" and body.keys() - reading.keys:
        return ""
    nested = body.get("hookSpecificOutput")
    nested = nested if isinstance(nested, dict) else {}
    reason = body.get("reason") or nested.get("permissionDecisionReason")
    if row.refuse == "halt" or (reading.halts and body.get("continue") is False):
        return BLOCKED if body.get("continue") is False else ""
    given = {
        "nested": nested.get("permissionDecision"),
        "flat": body.get("permissionDecision"),
        "permission": body.get("permission"),
        "decision": body.get("decision"),
    }
    fields = reading.fields if row.refuse == "permission" else ("decision",)
    found = [_REFUSING.get(str(given[field])) for field in fields]
    if BLOCKED in found and (reason or host.name != "codex"):
        return BLOCKED
    return ASKED if ASKED in found and row.takes & {"ask", "ask-host"} else ""
