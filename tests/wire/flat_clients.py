"""What Copilot CLI, VS Code, Cursor and OpenCode do with an answer, after their documentation and what was measured.

Like `clients.py`, from which the form of an effect is: not written from `agent_hooks.wire`.
"""

from __future__ import annotations

import json
from typing import Any

from tables import tables
from wire.clients import Effect

TABLES = tables(__file__)

# Which keys an answer may have, by event: any other is not honoured.
COPILOT_KEYS = {event: set(keys) for event, keys in TABLES["copilot"].items()}
COPILOT_NAMES = {"Stop": "agentStop", "UserPromptSubmit": "userPromptSubmitted"}


def body_of(stdout: str) -> dict[str, Any]:
    body = json.loads(stdout) if stdout.strip() else {}
    assert isinstance(body, dict)
    return body


def copilot(event: str, stdout: str, stderr: str, exit_code: int) -> Effect:
    event = COPILOT_NAMES.get(event, event[0].lower() + event[1:])
    body = body_of(stdout)
    assert body.keys() <= COPILOT_KEYS.get(event, set()), event
    context = body.get("additionalContext", "")
    if event == "preToolUse":
        decision, reason = body.get("permissionDecision"), body.get("permissionDecisionReason", "")
        if exit_code == 2 or decision == "deny":
            return Effect("no", told=reason, context=context)
        if decision == "ask":
            assert "modifiedArgs" not in body  # which arguments the user would see is not known
            return Effect("asked", told=reason, context=context)
        new = body.get("modifiedArgs")
        return Effect("yes" if new is None else "changed", args=new, context=context)
    assert exit_code == 0
    if event == "permissionRequest":
        happens = {"allow": "yes", "deny": "no"}.get(body.get("behavior", ""), "asked")
        return Effect(happens, told=body.get("message", ""), ends=body.get("interrupt", False))
    if "modifiedResult" in body:
        assert body["modifiedResult"].keys() == {"resultType", "textResultForLlm"}
        text = body["modifiedResult"]["textResultForLlm"]
        return Effect("yes", context=context, result=text, told=text)
    if "modifiedResponse" in body:
        return Effect("yes", context=context, result=body["modifiedResponse"])
    blocks = body.get("decision") == "block"
    assert not blocks or body["reason"].strip()
    return Effect("no" if blocks else "yes", told=body.get("reason", ""), context=context)


def vscode(event: str, stdout: str, stderr: str, exit_code: int) -> Effect:
    body = body_of(stdout)
    specific = body.get("hookSpecificOutput", {})
    assert body.keys() <= {"continue", "stopReason", "systemMessage", "decision", "reason", "hookSpecificOutput"}
    assert not specific or specific["hookEventName"] == event
    message, ends = body.get("systemMessage", ""), body.get("continue") is False
    common: dict[str, Any] = {"message": message, "context": specific.get("additionalContext", ""), "ends": ends}
    if exit_code == 2:
        assert event not in ("Stop", "SubagentStop")
        return Effect("no", told=stderr, **{**common, "context": ""})
    if event == "PreToolUse":
        decision, new = specific.get("permissionDecision"), specific.get("updatedInput")
        happens = {"deny": "no", "ask": "asked"}.get(decision, "yes" if new is None else "changed")
        return Effect(happens, args=new, told=specific.get("permissionDecisionReason", ""), **common)
    where = specific if event == "Stop" else body
    if where.get("decision") == "block" and event in ("Stop", "SubagentStop"):
        return Effect("no", told=where["reason"], **common)
    assert event != "UserPromptSubmit" or not specific
    return Effect("yes", told=body.get("stopReason", ""), **common)


CURSOR_KEYS = {event: set(keys) for event, keys in TABLES["cursor"].items()}


def cursor(event: str, stdout: str, stderr: str, exit_code: int) -> Effect:
    body = body_of(stdout)
    assert body.keys() <= CURSOR_KEYS.get(event, set()), event
    if exit_code == 2:
        assert event not in ("Stop", "SubagentStop")
        return Effect("no", told=stderr)
    permission, new = body.get("permission", "allow"), body.get("updated_input")
    told = body.get("agent_message") or body.get("user_message") or body.get("followup_message", "")
    message, context = body.get("user_message", ""), body.get("additional_context", "")
    result = body.get("updated_mcp_tool_output")
    if result is not None:
        return Effect("yes", context=context, result=json.dumps(result), told=json.dumps(result))
    assert permission != "ask" or event in ("beforeShellExecution", "beforeMCPExecution")
    refused = permission == "deny" or body.get("continue") is False or bool(body.get("followup_message"))
    happens = "no" if refused else "asked" if permission == "ask" else "yes" if new is None else "changed"
    return Effect(happens, args=new, told=told, message=message, context=context)


def opencode(event: str, stdout: str, stderr: str, exit_code: int) -> Effect:
    """What our plugin makes of the answer; `test_opencode_plugin.py` runs it."""
    body = body_of(stdout)
    specific = body.get("hookSpecificOutput", {})
    common: dict[str, Any] = {
        "message": body.get("systemMessage", ""),
        "context": specific.get("additionalContext", ""),
        "ends": body.get("continue") is False,
    }
    behavior = specific.get("decision", {}).get("behavior")
    told = specific.get("permissionDecisionReason") or body.get("reason") or specific.get("decision", {}).get("message")
    if event == "PermissionRequest":
        return Effect({"allow": "yes", "deny": "no"}.get(behavior, "asked"), told=told or "", **common)
    if "updatedToolOutput" in specific:
        result = specific["updatedToolOutput"]
        return Effect("no" if exit_code else "yes", result=result, told=told or result, **common)
    blocked = exit_code == 2 or body.get("decision") == "block"
    new = specific.get("updatedInput")
    assert new is None or specific["permissionDecision"] == "allow"
    happens = "no" if blocked else "yes" if new is None else "changed"
    return Effect(happens, args=new, told=told or "", **common)


CLIENTS = {"copilot": copilot, "vscode": vscode, "cursor": cursor, "opencode": opencode}
