"""The entry points of the adapters, which import one and its framework when an agent needs it."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_hooks.errors import RegistrationError
from agent_hooks.frameworks import EXTRAS, OURS, extra_for, is_imported

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_hooks.engine.hooks import Ask
    from agent_hooks.engine.manager import HookManager


class FrameworkAdapter(NamedTuple):
    """The adapter that an extra stands for. ``has_agents``: the framework has agents, which tools may start."""

    extra: str
    has_agents: bool = True

    def takes(self, agent: Any) -> bool:
        """Whether the agent's class, or the nearest of its bases that an adapter knows, is of the framework."""
        return extra_for(agent) == self.extra

    def protect(
        self,
        agent: Any,
        manager: HookManager | None = None,
        *,
        kinds: Mapping[str, str] | None = None,
        ask: Ask = "host",
    ) -> Any:
        """Put the agent under hooks, and return it. Raises ``RegistrationError`` where the framework is of a release
        that the adapter does not know.
        """
        try:
            module = self._module()
        except (ImportError, AttributeError) as error:
            message = f"This release of {self.extra} does not fit its adapter ({error}): "
            raise RegistrationError(f"{message}pip install --upgrade '{OURS}[{self.extra}]'.") from error
        return module.protect(agent, module.AgentHooks(manager, kinds=kinds, ask=ask))

    def cover(self) -> bool:
        """Import the adapter once its framework is imported; return whether agents that tools start are covered."""
        if not self.has_agents:
            return True
        if not any(extra == self.extra and is_imported(package) for package, extra in EXTRAS.items()):
            return False
        self._module()
        return True

    def _module(self) -> Any:
        return import_module(f"{__package__}.{self.extra.replace('-', '_')}")


ADAPTERS = (
    AGENT_FRAMEWORK := FrameworkAdapter("agent-framework"),
    CLAUDE_AGENT_SDK := FrameworkAdapter("claude-agent-sdk"),
    FASTMCP := FrameworkAdapter("fastmcp", has_agents=False),  # its servers are no agents
    GOOGLE_ADK := FrameworkAdapter("google-adk"),
    LANGCHAIN := FrameworkAdapter("langchain"),
    OPENAI_AGENTS := FrameworkAdapter("openai-agents"),
    PYDANTIC_AI := FrameworkAdapter("pydantic-ai"),
    STRANDS := FrameworkAdapter("strands"),
)
