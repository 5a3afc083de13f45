"""What the hosts do with an answer: each host's side, as a function of an event and what a command hook left behind.

Written from what was measured, the hosts' schemas and documentation, not from `agent_hooks.wire`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jsonschema import Draft7Validator

from tables import tables

TABLES = tables(__file__)
GOLDEN = Path(__file__).parent / "golden"


@dataclass(frozen=True)
class Effect:
    """What becomes of the event.

    ``happens``: ``"yes"``, ``"changed"`` (``args`` are those that run), ``"asked"`` (the user decides, about ``args``
    if given) or ``"no"``. At a stop "no" means that the agent works on. ``told``: why, as the model or the user reads
    it. ``dismissed``: the host took the answer for a failed hook. ``ends``: the run ends. ``result``: what the model
    sees of a tool's result.
    """

    happens: str = "yes"
    args: Any = None
    told: str = ""
    context: str = ""
    message: str = ""
    ends: bool = False
    dismissed: bool = False
    result: Any = None


class NotJsonError(ValueError):
    pass


def _refuse_constant(name: str) -> None:
    raise NotJsonError(name)


def strict_json(text: str, levels: int) -> Any:
    """Parse as a strict reader does: no NaN, no lone surrogates, no more than ``levels`` levels."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
        json.dumps(value, ensure_ascii=False).encode()
    except ValueError as error:
        raise NotJsonError(text) from error
    if depth(value) > levels:
        raise NotJsonError("too deep")
    return value


def depth(value: Any) -> int:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (list, tuple)):
        return 0
    return 1 + max((depth(item) for item in value), default=0)


# -- Codex -------------------------------------------------------------------------------------------------------------

# What Rust's str::trim removes: Unicode's White_Space.
RUST_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
CODEX_READS_EXIT_2 = {"PreToolUse", "PermissionRequest", "PostToolUse", "UserPromptSubmit", "Stop", "SubagentStop"}
CODEX_SCHEMAS = {
    path.name.split(".")[0]: Draft7Validator(json.loads(path.read_text(encoding="utf-8")))
    for path in (GOLDEN / "codex" / "schemas").glob("*.output.schema.json")
}


def codex_schema(event: str) -> Draft7Validator | None:
    """The schema of what a hook may answer at ``event``; None where Codex reads nothing."""
    return CODEX_SCHEMAS.get("".join("-" + c.lower() if c.isupper() else c for c in event).lstrip("-"))


def codex(
    event: str,
    stdout: str,
    stderr: str,
    exit_code: int,
    result: Any = None,
    tool: tuple[str, dict[str, Any]] = ("Bash", {}),
) -> Effect:
    """What Codex 0.169.0 does; ``tool``: the tool's name and its arguments."""
    undecided = "asked" if event == "PermissionRequest" else "yes"
    failed = Effect(undecided, dismissed=True, result=result)
    if exit_code == 2:
        reason = stderr.strip(RUST_SPACE)
        if event not in CODEX_READS_EXIT_2 or not reason:
            return failed
        return Effect("no", told=reason, result=reason)
    if exit_code != 0:
        return failed
    text = stdout.strip(RUST_SPACE)
    if not text:
        return Effect(undecided, result=result)
    schema = codex_schema(event)
    try:
        body = strict_json(text, 127)
    except NotJsonError:
        body = None
    if not isinstance(body, dict):
        if text[0] in "{[" or event in ("Stop", "SubagentStop"):
            return failed
        return Effect(undecided, context=text if event in ("SessionStart", "UserPromptSubmit") else "", result=result)
    if schema is None or not schema.is_valid(body):
        return failed
    return _codex_reads(event, body, result, tool) or failed


def _codex_reads(event: str, body: dict[str, Any], result: Any, tool: tuple[str, dict[str, Any]]) -> Effect | None:
    """The rules beyond the schema; None for what Codex reports as a failed hook."""
    specific = body.get("hookSpecificOutput", {})
    common = {
        "message": body.get("systemMessage", ""),
        "context": specific.get("additionalContext", ""),
        "result": result,
    }
    goes_on = body.get("continue", True)
    reason = body.get("reason", "").strip(RUST_SPACE)
    if event in ("PreToolUse", "PermissionRequest") and (
        not goes_on or "stopReason" in body or body.get("suppressOutput")
    ):
        return None
    if event == "PreToolUse":
        return _codex_permission(body, specific, common, tool)
    if event == "PermissionRequest":
        decision = specific.get("decision", {})
        if decision.keys() & {"updatedInput", "updatedPermissions"} or decision.get("interrupt"):
            return None
        happens = {"allow": "yes", "deny": "no"}.get(decision.get("behavior"), "asked")
        return Effect(happens, told=decision.get("message", ""), **common)
    if event == "PostToolUse" and ("updatedMCPToolOutput" in specific or body.get("suppressOutput")):
        return None
    if event == "PostToolUse" and "reason" in body and "decision" not in body:
        return None
    if body.get("decision") == "block":
        if not reason:
            return None
        return Effect("no", told=reason, **{**common, "result": reason})
    if not goes_on and event != "SubagentStart":
        refuses = event in ("UserPromptSubmit", "PreCompact")
        return Effect("no" if refuses else "yes", told=body.get("stopReason", ""), ends=True, **common)
    return Effect(**common)


def _codex_permission(
    body: dict[str, Any], specific: dict[str, Any], common: dict[str, Any], tool: tuple[str, dict[str, Any]]
) -> Effect | None:
    decision, new = specific.get("permissionDecision"), specific.get("updatedInput")
    reason = specific.get("permissionDecisionReason", "").strip(RUST_SPACE)
    if decision is None and new is None and "permissionDecisionReason" not in specific:
        legacy, reason = body.get("decision"), body.get("reason", "").strip(RUST_SPACE)
        if legacy == "block" and reason:
            return Effect("no", told=reason, **common)
        return None if legacy or reason else Effect(**common)
    if decision == "deny" and reason and new is None:
        return Effect("no", told=reason, **common)
    if decision == "allow" and new is not None:
        name, args = tool
        if name.startswith("mcp__"):
            return Effect("changed", args=new, **common)
        # Of its own tools' arguments it takes the command, and leaves the others as they were.
        has_command = isinstance(new.get("command"), str)
        return (
            Effect("changed", args={**args, "command": new["command"]}, **common) if has_command else Effect(**common)
        )
    return None


# -- Claude Code -------------------------------------------------------------------------------------------------------

CLAUDE_TOP = {"continue", "stopReason", "suppressOutput", "systemMessage", "terminalSequence", "decision", "reason"}
CLAUDE_SPECIFIC = {event: set(keys) for event, keys in TABLES["claude_specific"].items()}
CLAUDE_EXIT_2_BLOCKS = set(TABLES["claude_exit_2_blocks"])
CLAUDE_DECISION_BLOCKS = set(TABLES["claude_decision_blocks"])
# These do not heed continue and systemMessage.
CLAUDE_DEAF = set(TABLES["claude_deaf"])
CLAUDE_STOPS_ARE_CONTEXT = {"Stop", "SubagentStop"}


def claude(
    event: str, stdout: str, stderr: str, exit_code: int, result: Any = None, tool: Any = None, *, terminal: bool = True
) -> Effect:
    """What Claude Code 2.1.330 does with any tool; without a ``terminal`` there is nobody to ask."""
    text = stdout.strip()
    body: dict[str, Any] | None = {}
    if text.startswith("{"):
        try:
            body = strict_json(text, 5000)
        except NotJsonError:
            body = None
    if body and not _claude_knows(event, body):
        body = None
    specific = (body or {}).get("hookSpecificOutput", {})
    reason = (body or {}).get("reason") or specific.get("permissionDecisionReason") or ""
    if exit_code == 2 and event in CLAUDE_EXIT_2_BLOCKS:
        says_no = (body or {}).get("decision") == "block" or specific.get("permissionDecision") == "deny"
        ends = body is not None and body.get("continue") is False and event not in CLAUDE_DEAF
        return Effect("no", told=reason if says_no else stderr.strip(), ends=ends, result=result)
    if body is None or (exit_code != 0 and not text.startswith("{")):
        return Effect(dismissed=True, result=result)
    deaf = event in CLAUDE_DEAF
    effect: dict[str, Any] = {
        "message": "" if deaf else body.get("systemMessage", ""),
        "ends": body.get("continue") is False and not deaf,
        "context": specific.get("additionalContext", ""),
        "result": _claude_result(specific, result),
        "told": reason,
    }
    if body.get("decision") == "block" and event in CLAUDE_DECISION_BLOCKS:
        return Effect("no", **effect)
    if event in CLAUDE_STOPS_ARE_CONTEXT and effect["context"]:
        return Effect("no", **{**effect, "told": effect["context"]})
    if event == "PermissionRequest":
        decision = specific.get("decision", {})
        happens = {"allow": "yes", "deny": "no"}.get(decision.get("behavior"), "asked")
        return Effect(
            happens, **{**effect, "told": decision.get("message", ""), "ends": bool(decision.get("interrupt"))}
        )
    return _claude_permission(specific, effect, terminal=terminal)


def _claude_permission(specific: dict[str, Any], effect: dict[str, Any], *, terminal: bool) -> Effect:
    decision, new = specific.get("permissionDecision"), specific.get("updatedInput")
    if specific.get("hookEventName") == "PreSkillShellCommand" and (decision == "ask" or new is not None):
        return Effect("no", **effect)
    if decision == "deny" or (decision == "ask" and not terminal):
        return Effect("no", **effect)
    if decision == "ask":
        return Effect("asked", args=new, **effect)
    if decision == "allow" and new is not None:
        return Effect("changed", args=new, **effect)
    return Effect(**effect)


def _claude_knows(event: str, body: dict[str, Any]) -> bool:
    specific = body.get("hookSpecificOutput", {})
    if body.keys() - CLAUDE_TOP - {"hookSpecificOutput"}:
        return False
    if specific and specific.get("hookEventName") != event:
        return False
    return not (specific.keys() - CLAUDE_SPECIFIC.get(event, set()) - {"hookEventName"})


def _claude_result(specific: dict[str, Any], result: Any) -> Any:
    """A new result that has not the shape of the tool's own is ignored."""
    if "updatedToolOutput" not in specific:
        return result
    new = specific["updatedToolOutput"]
    return new if has_shape(new, result) else result


def has_shape(new: Any, old: Any) -> bool:
    """Whether ``new`` would pass a check made for values like ``old``; what was null may be anything.

    A key that is no name is data: where those are, the check says nothing of single keys.
    """
    if old is None:
        return True
    if isinstance(old, dict):
        return isinstance(new, dict) and all(
            key in new and has_shape(new[key], value) for key, value in old.items() if key.isidentifier()
        )
    if isinstance(old, list):
        return isinstance(new, list) and all(not old or any(has_shape(item, like) for like in old) for item in new)
    if isinstance(old, bool) or isinstance(new, bool):
        return isinstance(old, bool) and isinstance(new, bool)
    return isinstance(new, str if isinstance(old, str) else (int, float))


SAYS_SHAPE = {"type", "status", "mode", "media_type", "mimeType"}


def leaves(value: Any, key: str = "") -> list[Any]:
    """Every text, number and truth in ``value`` that tells something: not the empty ones, nor a word of the shape."""
    if isinstance(value, dict):
        return [leaf for name, inner in value.items() for leaf in leaves(inner, name)]
    if isinstance(value, (list, tuple)):
        return [leaf for inner in value for leaf in leaves(inner, key)]
    is_word = isinstance(value, str) and value.replace("/", "").isalpha() and len(value) < 20
    return [value] if value and not (key in SAYS_SHAPE and is_word) else []


def leaks(result: Any, shown: Any, new: Any = None) -> list[Any]:
    """What the model is shown of a tool's ``result`` although it is not in the ``new`` one."""
    before, meant = [repr(leaf) for leaf in leaves(result)], [repr(leaf) for leaf in leaves(new)]
    return [leaf for leaf in leaves(shown) if repr(leaf) in before and repr(leaf) not in meant]


CLIENTS = {"claude-code": claude, "codex": codex}
