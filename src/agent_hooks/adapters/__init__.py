"""Hooks in the agent frameworks that people already use: one module each, which imports its framework."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar
from warnings import warn

from agent_hooks.errors import RegistrationError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_hooks.engine.hooks import Ask
    from agent_hooks.engine.manager import HookManager

Agent = TypeVar("Agent")

# The module here for the agents of a package.
ADAPTERS = {
    "pydantic_ai": "pydantic_ai",
    "langchain": "langchain",
    "langgraph": "langchain",
    "agents": "openai_agents",
    "strands": "strands",
    "google.adk": "google_adk",
    "agent_framework": "agent_framework",
    "claude_agent_sdk": "claude_agent_sdk",
    "fastmcp": "fastmcp",
}
_covered = {"fastmcp"}  # whose servers are no agents
_seen = 0  # modules, at the last look


def cover_children() -> None:
    """Import the adapters of all frameworks that are imported by now: tools may start agents of another framework,
    which are under the hooks of the run as well. A framework whose adapter cannot be imported is warned of, once.
    """
    global _seen  # noqa: PLW0603 - of the process
    if _seen == len(sys.modules):
        return
    _seen = len(sys.modules)
    for package, module in ADAPTERS.items():
        if module not in _covered and _is_imported(package):
            _covered.add(module)
            try:
                import_module(f"{__name__}.{module}")
            except Exception as error:  # noqa: BLE001 - of a release that the adapter does not know
                message = f"Agents of {package} that a tool starts are not under hooks: {error!r}."
                warn(message, RuntimeWarning, stacklevel=3)


def _is_imported(package: str) -> bool:
    found = sys.modules.get(package)
    # Anybody may have a package called so.
    return found is not None and (package != "agents" or hasattr(found, "RunHooks"))


def protect(
    agent: Agent,
    manager: HookManager | None = None,
    *,
    kinds: Mapping[str, str] | None = None,
    ask: Ask = "host",
) -> Agent:
    """Put an agent of a framework under hooks, and return it: the same object where it can be changed.

    ``manager``, ``kinds`` and ``ask`` are those of the adapter's ``AgentHooks``. Raises ``RegistrationError`` for an
    agent of no known framework, and for one that can only be protected where it is made, with the line to write there.
    """
    for kind in type(agent).__mro__:
        name = kind.__module__
        for package, module in ADAPTERS.items():
            if (name == package or name.startswith(f"{package}.")) and _is_imported(package):
                try:
                    adapter: Any = import_module(f"{__name__}.{module}")
                except (ImportError, AttributeError) as error:  # of a release that the adapter does not know
                    extra = module.replace("_", "-")
                    message = f"This release of {package} does not fit its adapter ({error}): "
                    raise RegistrationError(f"{message}pip install --upgrade 'agent-hooks-core[{extra}]'.") from error
                protected: Agent = adapter.protect(agent, adapter.AgentHooks(manager, kinds=kinds, ask=ask))
                return protected
    raise RegistrationError(
        f"{type(agent).__module__}.{type(agent).__qualname__} is no agent of {', '.join(ADAPTERS)}: make its tool "
        "calls with hooks.call_tool(call, run)."
    )
