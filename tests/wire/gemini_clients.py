"""What Gemini CLI 0.61.0 and Qwen Code 0.24.4 do with an answer, read from the clients and checked by measurements."""

from __future__ import annotations

import json
from typing import Any

from wire.clients import Effect

# What JavaScript's String.trim removes.
JS_SPACE = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))


def parsed(text: str) -> Any:
    """A JSON value, once more if it is text; raises ``ValueError``."""
    value = json.loads(text)
    return json.loads(value) if isinstance(value, str) else value


def why(body: dict[str, Any]) -> str:
    return str(body.get("stopReason") or body.get("reason") or "No reason provided")


def gemini(event: str, stdout: str, stderr: str, exit_code: int, result: Any = None, tool: Any = None) -> Effect:
    """What Gemini CLI does. JSON counts whatever the exit code; other text is a refusal from exit code 2 on."""
    text = stdout.strip(JS_SPACE) or stderr.strip(JS_SPACE)
    body: dict[str, Any] = {}
    if text:
        try:
            value = parsed(text)
            body = value if isinstance(value, dict) else {}
        except ValueError:
            body = {"decision": "deny", "reason": text} if exit_code > 1 else {"systemMessage": text}
    specific = body.get("hookSpecificOutput") or {}
    ends, refuses = body.get("continue") is False, body.get("decision") in ("deny", "block")
    message = body.get("systemMessage", "")
    if event == "AfterAgent":
        goes_on = refuses and not ends
        return Effect("no" if goes_on else "yes", told=why(body) if goes_on else "", message=message, ends=ends)
    if event not in ("BeforeTool", "AfterTool", "BeforeAgent", "BeforeModel", "AfterModel"):
        context = specific.get("additionalContext", "") if event == "SessionStart" else ""
        return Effect(message=message, context=context, result=result)
    if ends or refuses:  # context beside a refusal is lost
        return Effect("no", told=why(body), message=message, ends=ends, result=why(body))
    context = specific.get("additionalContext", "") if event in ("AfterTool", "BeforeAgent") else ""
    if event == "BeforeTool":
        args = specific.get("tool_input")
        if body.get("decision") == "ask":
            return Effect("asked", args=args, told=message, message=message)
        if isinstance(args, dict):
            return Effect("changed", args=args, message=message)
    return Effect(context=context, message=message, result=result)


QWEN_BLOCKS = {"UserPromptSubmit", "UserPromptExpansion", "PostToolBatch", "TodoCreated", "TodoCompleted", "Stop"}
QWEN_CONTEXT = {
    *("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "SubagentStart", "PreCompact"),
    *("UserPromptExpansion", "PostToolBatch"),
}


def qwen(
    event: str,
    stdout: str,
    stderr: str,
    exit_code: int,
    result: Any = None,
    tool: Any = None,
    *,
    terminal: bool = True,
) -> Effect:
    """What Qwen Code does. With exit 2 it reads stderr alone."""
    text = stderr.strip(JS_SPACE) if exit_code == 2 else stdout.strip(JS_SPACE) or stderr.strip(JS_SPACE)
    body: dict[str, Any] = {}
    if text:
        try:
            value = parsed(text)
        except ValueError:
            value = None
            if exit_code != 2 and text.startswith("{"):
                return Effect("yes", dismissed=True, result=result)
        if isinstance(value, dict):
            body = value
        else:
            body = {"decision": "deny", "reason": text} if exit_code == 2 else {"systemMessage": text}
    specific = body.get("hookSpecificOutput") or {}
    ends, refuses = body.get("continue") is False, body.get("decision") in ("deny", "block")
    message = body.get("systemMessage", "")
    context = specific.get("additionalContext", "") if event in QWEN_CONTEXT else ""
    if event == "PreToolUse":
        said = specific.get("permissionDecision") or ("deny" if refuses else "")
        reason = specific.get("permissionDecisionReason") or body.get("reason") or why(body)
        if said == "deny" or ends or (said == "ask" and not terminal):
            return Effect("no", told=reason, message=message)
        return Effect("asked" if said == "ask" else "yes", told=reason if said == "ask" else "", message=message)
    if event == "PermissionRequest":
        decision = specific.get("decision") or {}
        happens = {"allow": "yes", "deny": "no"}.get(str(decision.get("behavior")), "asked")
        return Effect(happens, told=decision.get("message", ""), message=message, ends=bool(decision.get("interrupt")))
    if event == "PostToolUse" and ends:
        return Effect("no", told=why(body), message=message, result=why(body))
    if event in QWEN_BLOCKS | {"SubagentStop"} and (ends or refuses):
        return Effect("no", told=why(body), message=message, result=result)
    return Effect(context=context, message=message, result=result)


CLIENTS = {"gemini": gemini, "qwen": qwen}
