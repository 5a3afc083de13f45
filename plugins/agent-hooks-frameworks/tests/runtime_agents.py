"""An agent of the runtime, for an agent of a framework to call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_hooks import AgentBuilder, ScriptedDriver

if TYPE_CHECKING:
    from conformance import Shell


def helper(shell: Shell, *replies: Any, hook: Any = None) -> Any:
    builder = AgentBuilder(plugins=()).with_name("helper").with_tools(shell.tool()).with_ask("host")
    builder = builder.with_driver(ScriptedDriver(*replies))
    return (builder if hook is None else builder.before_tool_use(hook)).build()
