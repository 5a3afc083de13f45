"""Hooks that a language model decides.

Installed, this distribution brings the handler type ``prompt`` for ``agent-hooks.toml``, Claude Code's settings and
``SKILL.md``. ``PromptHook`` is the same for code: ``builder.before_tool_use(PromptHook("Is this command harmless?"))``.
"""

from __future__ import annotations

from agent_hooks import hookimpl

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .hook import PromptHook

__all__ = ["PromptHook"]

__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    # Installed plugins are imported wherever hooks are asked: this one must cost next to nothing until it is used.
    if name != "PromptHook":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from .hook import PromptHook

    return PromptHook


@hookimpl
def agent_hooks_handler_types() -> dict[str, Any]:
    """Offer the handler type ``prompt``, imported when a file needs it."""
    return {"prompt": _handler}


@hookimpl
def agent_hooks_settings() -> dict[str, Any]:
    """Offer the table ``[prompts]``."""
    return {"prompts": _settings}


def _settings() -> Any:
    from .settings import PromptsSettings

    return PromptsSettings


def _handler() -> Any:
    from .handler import PromptHandler

    return PromptHandler()
