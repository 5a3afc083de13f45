"""Agents of frameworks: the installed adapter that puts one under hooks.

An adapter is an entry point of the group ``agent_hooks.adapters``. Those of ``agent-hooks-frameworks`` are asked first.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar

from agent_hooks.engine.entry_points import distributions
from agent_hooks.errors import RegistrationError
from agent_hooks.system.sites import is_installed, path_stamps, search_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from agent_hooks.engine.hooks import Ask
    from agent_hooks.engine.manager import HookManager

Agent = TypeVar("Agent")

GROUP = "agent_hooks.adapters"
OURS = "agent-hooks-frameworks"
# The extra of ours for the agents of a package.
EXTRAS = {
    "pydantic_ai": "pydantic-ai",
    "langchain": "langchain",
    "langgraph": "langchain",
    "agents": "openai-agents",
    "strands": "strands",
    "google.adk": "google-adk",
    "agent_framework": "agent-framework",
    "claude_agent_sdk": "claude-agent-sdk",
    "fastmcp": "fastmcp",
}


class Adapter(Protocol):
    """The adapter of a framework, as an entry point of the group ``agent_hooks.adapters`` names it.

    It is imported where any agent is protected, so it imports its framework only for an agent that it takes. A method
    ``cover()``, if there is one, is called at runs and tool calls of frameworks after further modules were imported,
    until it returns True: from then on, agents of the framework that a tool starts are under the hooks of the run.
    """

    def takes(self, agent: Any) -> bool:
        """Whether the object is an agent of the framework."""

    def protect(self, agent: Any, manager: HookManager | None, *, kinds: Mapping[str, str] | None, ask: Ask) -> Any:
        """Put the agent under hooks, and return it; the arguments are those of ``agent_hooks.protect``."""


class InstalledAdapter(NamedTuple):
    """The entry point of an adapter: its name, its distribution, and the function that imports it."""

    name: str
    distribution: str
    load: Callable[[], Adapter]


# The entry points that were found last, with the stamps of the path at that time.
_scanned: tuple[object, list[InstalledAdapter]] | None = None


def installed_adapters() -> list[InstalledAdapter]:
    """Return the entry points of adapters, ours first, then those of others in the order of the path."""
    global _scanned  # noqa: PLW0603 - of the process, like its path
    stamps = path_stamps()
    if _scanned is None or _scanned[0] != stamps:
        found = [
            InstalledAdapter(point, each.fields.get("name", [""])[0], load)
            for each in distributions(search_path(), GROUP)
            if is_installed(each.folder)
            for point, _, load in each.points
        ]
        _scanned = stamps, sorted(found, key=lambda each: each.distribution != OURS)
    return _scanned[1]


def protect(
    agent: Agent,
    manager: HookManager | None = None,
    *,
    kinds: Mapping[str, str] | None = None,
    ask: Ask = "host",
) -> Agent:
    """Put an agent of a framework under hooks, and return it: the same object where it can be changed.

    ``manager``, ``kinds`` and ``ask`` are those of the adapter's ``AgentHooks``. Raises ``RegistrationError`` for an
    agent that no installed adapter takes, with the distribution to install, and for one that can only be protected
    where it is made, with the line to write there.
    """
    problems = []
    for found in installed_adapters():
        try:
            adapter = found.load()
            is_taken = adapter.takes(agent)
        except Exception as error:  # noqa: BLE001 - of one adapter; it affects only itself
            problems.append(f"The adapter {found.name!r} of {found.distribution} failed: {error!r}.")
            if found.distribution == OURS:
                break  # no other one takes the place of ours
            continue
        if is_taken:
            protected: Agent = adapter.protect(agent, manager, kinds=kinds, ask=ask)
            return protected
    raise RegistrationError(" ".join((_remedy(agent), *problems)))


def _remedy(agent: object) -> str:
    name = f"{type(agent).__module__}.{type(agent).__qualname__}"
    if extra := extra_for(agent):
        return f"No installed adapter takes {name}: pip install '{OURS}[{extra}]'."
    return (
        f"{name} is no agent of {', '.join(EXTRAS)}, whose adapters {OURS} brings with an extra for each, as in "
        f"pip install '{OURS}[langchain]', and no adapter of another distribution takes it: make its tool calls with "
        "hooks.call_tool(call, run)."
    )


def extra_for(agent: object) -> str:
    """Return the extra of ``agent-hooks-frameworks`` with the adapter of an agent; an empty string if it has none."""
    for kind in type(agent).__mro__:
        name = kind.__module__
        for package, extra in EXTRAS.items():
            if (name == package or name.startswith(f"{package}.")) and is_imported(package):
                return extra
    return ""


def is_imported(package: str) -> bool:
    """Whether the package of a framework is imported."""
    found = sys.modules.get(package)
    # Anybody may have a package called so.
    return found is not None and (package != "agents" or hasattr(found, "RunHooks"))
