"""Subagents: agents that an agent may start as a tool, budgets that it shares with them, and hooks in which an agent
that can only read decides an event.

Installed, this module brings the handler type ``subagent`` (``agent`` in Claude Code's files) and the capabilities
``subagents`` and ``shared_budget``; it has no hooks of its own.
"""

from __future__ import annotations

from agent_hooks import hookimpl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .checker import SubagentHook
    from .definition import SubagentDefinition
    from .handler import SubagentHandler
    from .reading import read_only_tools
    from .shared_budget import SharedBudget
    from .spawning import UseSubagents

__all__ = [
    "SharedBudget",
    "SubagentDefinition",
    "SubagentHandler",
    "SubagentHook",
    "UseSubagents",
    "read_only_tools",
]

__version__ = "0.1.0"

_MODULES = {
    "SharedBudget": "shared_budget",
    "SubagentDefinition": "definition",
    "SubagentHandler": "handler",
    "SubagentHook": "checker",
    "UseSubagents": "spawning",
    "read_only_tools": "reading",
}


def __getattr__(name: str) -> Any:
    # Installed plugins are imported wherever hooks are asked: this one must cost next to nothing until it is used.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


@hookimpl
def agent_hooks_capabilities() -> dict[str, Any]:
    """Offer ``UseSubagents`` as the capability ``subagents``, with ``definitions`` that may also be paths of Markdown
    files, and ``SharedBudget`` as ``shared_budget``.
    """
    from .shared_budget import SharedBudget
    from .spawning import UseSubagents

    return {"shared_budget": SharedBudget, "subagents": UseSubagents.named}


@hookimpl
def agent_hooks_handler_types() -> dict[str, Any]:
    """Offer the handler type ``subagent``, which Claude Code calls ``agent``, imported when a file needs it."""
    return {"agent": _handler, "subagent": _handler}


@hookimpl
def agent_hooks_settings() -> dict[str, Any]:
    """Offer the table ``[subagents]``."""
    return {"subagents": _settings}


def _settings() -> Any:
    from .settings import SubagentsSettings

    return SubagentsSettings


def _handler() -> Any:
    from .handler import SubagentHandler

    return SubagentHandler()
