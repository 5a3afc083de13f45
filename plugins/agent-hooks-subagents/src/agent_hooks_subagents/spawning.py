"""The capability that lets an agent start subagents: the tool, and the agents that it makes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks import (
    AgentBuilder,
    HookManager,
    RegistrationError,
    SubagentError,
    Tool,
    ToolCall,
    UseHooks,
    current_run,
    register_agent,
    run_subagent,
)
from agent_hooks.errors import did_you_mean
from agent_hooks.runtime.definitions import stop_hooks
from agent_hooks.system.visible import logger_of

from .definition import SubagentDefinition
from .instructions import Instructions
from .other_model import OtherModel

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from typing import Any, Self

    from agent_hooks import AgentRuntime, Driver
    from agent_hooks.runtime.loop import AgentRun

TOOL = "spawn_subagent"
MAX_DEPTH = 3


class UseSubagents:
    """Gives an agent the tool ``spawn_subagent(subagent, prompt)``, with which its model starts one of ``definitions``.

    ``max_depth``: how many subagents there may be inside one another; what a subagent may start, its own definition
    lists. Raises ``RegistrationError`` without definitions, for two of one name, and for a depth below 1.
    """

    name = "subagents"

    def __init__(self, *definitions: SubagentDefinition, max_depth: int = MAX_DEPTH) -> None:
        for one in definitions:
            if not isinstance(one, SubagentDefinition):
                raise RegistrationError(
                    f"{one!r:.80} is no SubagentDefinition; a file is read with SubagentDefinition.from_file(path)."
                )
        if not definitions:
            raise RegistrationError("UseSubagents needs at least one SubagentDefinition.")
        if type(max_depth) is not int or max_depth < 1:
            raise RegistrationError(f"max_depth must be a whole number from 1, not {max_depth!r}.")
        self.definitions = {one.name: one for one in definitions}
        self.max_depth = max_depth
        if len(self.definitions) < len(definitions):
            names = [one.name for one in definitions]
            twice = next(name for name in names if names.count(name) > 1)
            raise RegistrationError(f"Two subagents are called {twice!r}: rename one.")

    @classmethod
    def named(
        cls,
        definitions: Iterable[SubagentDefinition | str | os.PathLike[str]] = (),
        max_depth: int = MAX_DEPTH,
    ) -> Self:
        """Return the capability; a path is that of a Markdown file."""
        found = [
            one if isinstance(one, SubagentDefinition) else SubagentDefinition.from_file(one) for one in definitions
        ]
        return cls(*found, max_depth=max_depth)

    def configure(self, builder: AgentBuilder) -> AgentBuilder:
        """Add the tool."""
        described = "\n".join(f"- {one.name}: {' '.join(one.description.split())}" for one in self.definitions.values())
        description = (
            "Start a subagent on a task of its own, and get its answer. It knows nothing of this conversation: write "
            f"all that it needs into the prompt. There are:\n{described}"
        )
        return builder.with_tools(Tool(self.spawn, name=TOOL, kind="subagent", description=description))

    def check(self, agent: AgentRuntime) -> None:
        """Log the names in the definitions that none of the agent's tools has."""
        calls = [ToolCall(tool.name, kind=tool.kind, aliases=tool.aliases) for tool in agent.tools.values()]
        names = {name: None for call in calls for name in call.names}
        for one in self.definitions.values():
            missing = [name for name in one.tool_filter.names if name not in names]
            for name in missing:
                logger_of().warning(
                    "The subagent %s lists %r, which is no tool of this agent. %s",
                    one.name,
                    name,
                    did_you_mean(name, names, f"Its tools are {', '.join(agent.tools)}.", cutoff=0.7),
                )

    async def spawn(self, subagent: str, prompt: str) -> Any:
        """Run the subagent of this name on the task, and return what it has to say.

        Raises ``SubagentError``, written for the model that called it.
        """
        run = current_run()
        if run is None:
            raise SubagentError(f"{TOOL} is a tool: it works only where a run calls it.")
        if run.depth >= self.max_depth:
            raise SubagentError(f"Maximum nesting depth ({self.max_depth}) reached for subagent {subagent!r}.")
        definition = self.definitions.get(subagent)
        if definition is None:
            raise SubagentError(f"Subagent {subagent!r} not found.")
        agent = made_for(definition, run)
        state = await run_subagent(agent, prompt, name=subagent, max_depth=self.max_depth)
        return state.output


def made_for(definition: SubagentDefinition, run: AgentRun) -> AgentRuntime:
    """Return the agent that ``definition`` means for a subagent of ``run``.

    Raises ``TrustError`` and ``RegistrationError`` if the hooks of its file cannot be had any more.
    """
    parent = run.agent
    builder = (
        AgentBuilder(plugins=(), policy=parent.policy)
        .with_driver(_driver(definition, parent.driver))
        .with_name(definition.name)
        .with_tools(*definition.tool_filter.of(parent.tools.values()))
        .with_parallel_tools(parent.parallel_tools)
        .with_store(parent.store)
        .with_capability(definition.budget)
        .with_capability(UseHooks(*definition.hooks))
        .with_capability(Instructions(definition.prompt))
    )
    for guard in definition.tool_filter.guards:
        builder = builder.hook("before_tool_use", guard, mode="gate", name="subagent:tools")
    if definition.file:
        stop = stop_hooks(
            definition.file, definition.name, run.agent.name, parent.policy, is_trusted=definition.trusted
        )
        builder = builder.hook("on_stop", stop, name="subagent:stop", source="skill")
    agent = builder.build()
    if definition.file:
        register_agent(_manager(agent), definition.file, trusted=definition.trusted)
    return agent


def _driver(definition: SubagentDefinition, parents: Driver) -> Driver:
    driver = definition.driver or parents
    return driver if definition.model is None else OtherModel(driver, definition.model)


def _manager(agent: AgentRuntime) -> HookManager:
    found: HookManager = agent.interceptor.manager  # type: ignore[attr-defined]  # a builder without an interceptor
    return found
