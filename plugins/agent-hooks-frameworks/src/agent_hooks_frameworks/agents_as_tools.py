"""Agents of our runtime inside of others: as a tool of pydantic-ai, and as a server of the Model Context Protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks.engine.guarded_run import current_run
from agent_hooks.errors import RefusedError, SubagentDeniedError, SubagentError
from agent_hooks.model.state import AgentState, Usage
from agent_hooks.runtime.subagents import error_of, result_of

if TYPE_CHECKING:
    from fastmcp import FastMCP
    from pydantic_ai import RunContext, Tool

    from agent_hooks.runtime.agent import AgentRuntime

_SCHEMA = {
    "type": "object",
    "properties": {"task": {"type": "string", "description": "What the agent has to do, with all that it must know"}},
    "required": ["task"],
    "additionalProperties": False,
}
_KEPT = "agent_hooks_agent"  # the key of the suspended agent, in what the framework keeps with a question


def pydantic_ai_tool(agent: AgentRuntime, *, name: str = "", description: str = "") -> Tool[Any]:
    """Return a tool of pydantic-ai that runs ``agent`` on a task.

    Under ``AgentHooks``, the agent is a subagent of the run: it works under the hooks of both. If a hook asks a
    question about one of its calls, the run ends with ``DeferredToolRequests``, and the agent goes on where it was once
    they are answered. ``name``: default, that of the agent; ``description``: for the model.
    """
    from pydantic_ai import ApprovalRequired, Tool, ToolFailed

    name = name or agent.name

    async def ask(ctx: RunContext[Any], task: str) -> Any:
        kept = (ctx.tool_call_metadata or {}).get(_KEPT) if ctx.tool_call_approved else None
        try:
            state = await _run(agent, name, task, kept)
        except SubagentError as error:
            raise ToolFailed(str(error)) from error
        if state.suspended is not None:
            raise ApprovalRequired(metadata={"reason": state.suspended.reason, _KEPT: state.as_dict()})
        return state.output

    return Tool.from_schema(ask, name, description or _described(agent), _SCHEMA, takes_ctx=True)


def mcp_server(agent: AgentRuntime, *, name: str = "", description: str = "") -> FastMCP[Any]:
    """Return a server of FastMCP whose one tool runs ``agent`` on a task: ``mcp_server(agent).run()``.

    A question of a hook about a call of the agent is put to the user of the client, and denied where the client has no
    elicitation. ``protect(server)`` adds hooks about the calls of the tool itself.
    """
    from fastmcp import FastMCP
    from fastmcp.exceptions import ToolError
    from fastmcp.server.dependencies import get_context

    from .fastmcp import answered, can_answer, elicited, is_modern, question

    name = name or agent.name
    server: FastMCP[Any] = FastMCP(name)

    @server.tool(name=name, description=description or _described(agent))
    async def ask(task: str) -> Any:
        ctx = get_context()
        kept, answer = answered(ctx, _KEPT)
        try:
            state = await _run(agent, name, task, kept, is_allowed=answer is True)
            while state.suspended is not None:
                reason, kept = state.suspended.reason, state.as_dict()
                if can_answer(ctx) and is_modern(ctx):
                    return question(_KEPT, reason, kept)
                answer = can_answer(ctx) and await elicited(ctx, reason)
                state = await _run(agent, name, task, kept, is_allowed=answer)
        except SubagentError as error:
            raise ToolError(str(error)) from error
        return state.output

    return server


async def _run(
    agent: AgentRuntime, name: str, task: str, kept: dict[str, Any] | None, *, is_allowed: bool = True
) -> AgentState:
    """Return the last state of the agent, with its result as ``output``, or as it waits for an answer; ``kept``: its
    state when it asked. Raises ``SubagentError``, written for the model.
    """
    parent = current_run()
    earlier = None if kept is None else AgentState.from_dict(kept)
    try:
        if earlier is not None:
            state = await agent.resume(earlier, "allow" if is_allowed else "deny")
        else:
            task = task if parent is None else await parent.before_subagent(name, task)
            state = await agent.run(task)
    except RefusedError as error:
        raise SubagentDeniedError(f"Denied: {error}") from error
    if parent is not None:
        for model, used in state.model_usage.items():
            before = Usage() if earlier is None else earlier.model_usage.get(model, Usage())
            parent.state = parent.state.with_model_usage(model, used - before)
    if state.suspended is not None:
        return state
    failed = error_of(state)
    result = result_of(state) if failed is None else None
    if parent is not None:
        about: dict[str, Any] = {"name": name, "task": task, "status": state.status, "error": failed}
        result = await parent.after_subagent(result=result, **about)
    if failed is not None and result is None:
        raise SubagentError(f"Subagent {name!r} failed: {failed.message or failed.type}")
    return state.replace(output=result)


def _described(agent: AgentRuntime) -> str:
    return f"Give a task to the agent {agent.name!r}, and get its answer."
