"""Every name that leaves the process for OpenTelemetry, and the attributes of a dispatch as plain data."""

from __future__ import annotations

from .outcome import SUBJECTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .context import HookContext
    from .events import HookEvent
    from .outcome import HookOutcome

SCOPE = "agent_hooks"
# Spans: each name is followed by the event, the agent's or the tool's name.
DISPATCH, INVOKE_AGENT, EXECUTE_TOOL = "agent_hooks.dispatch", "invoke_agent", "execute_tool"
# Metrics, in seconds the first two.
DURATION, TOOL_DURATION = "agent_hooks.dispatch.duration", "gen_ai.execute_tool.duration"
DECISIONS, FAILURES = "agent_hooks.decisions", "agent_hooks.hook.failures"
# Attributes of dispatches, the first four of metrics, too.
EVENT, DECISION, HOOK, SOURCE = "agent_hooks.event", "agent_hooks.decision", "agent_hooks.hook", "agent_hooks.source"
CHANGES, FAILED, SHADOWED = "agent_hooks.changes", "agent_hooks.failed", "agent_hooks.shadowed"
# Attributes of runs and tool calls, the error of metrics, too.
STATUS, ERROR = "agent_hooks.run.status", "error.type"
OPERATION, CONVERSATION = "gen_ai.operation.name", "gen_ai.conversation.id"
AGENT, AGENT_ID = "gen_ai.agent.name", "gen_ai.agent.id"
TOOL, CALL_ID = "gen_ai.tool.name", "gen_ai.tool.call.id"
# Attributes with content, only with ``content=True``.
REASON, ARGUMENTS, RESULT = "agent_hooks.reason", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
# In place of a tool's name that could be any text, and of the type of an error that is not known.
UNTRUSTED, CANCELLED = "_OTHER", "cancelled"

_CHANGES = SUBJECTS | {"state", "context", "messages", "metadata", "signals"}


def of_context(ctx: HookContext) -> dict[str, Any]:
    """Return the attributes that say whose event it is, and which tool is called."""
    found = {AGENT: ctx.agent_name, AGENT_ID: ctx.agent_id, CONVERSATION: ctx.session_id}
    if (call := ctx.tool_call) is not None:
        found |= {TOOL: call.name if call.has_trusted_name else UNTRUSTED, CALL_ID: call.id}
    return {name: value for name, value in found.items() if value}


def of_outcome(event: HookEvent, outcome: HookOutcome) -> dict[str, Any]:
    """Return the attributes of the outcome of a dispatch, without its reason."""
    found: dict[str, Any] = {EVENT: str(event), DECISION: str(outcome.decision)}
    if outcome._fields:
        optional = {
            HOOK: outcome.hook,
            SOURCE: outcome.source,
            CHANGES: sorted(outcome._fields.keys() & _CHANGES),
            FAILED: sorted(failing_hooks(outcome)),
            SHADOWED: [one.hook for one in outcome.shadowed],
        }
        found.update({name: value for name, value in optional.items() if value})
    return found


def failing_hooks(outcome: HookOutcome) -> set[str]:
    """Return the names of the hooks that failed in a dispatch."""
    found = {finding.hook for finding in outcome.findings if finding.kind == "failure"}
    return found | {outcome.hook} if outcome.failed and outcome.hook else found
