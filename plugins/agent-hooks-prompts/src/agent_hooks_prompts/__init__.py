"""Hooks that a language model decides.

Installed, this distribution brings the handler type ``prompt`` for ``agent-hooks.toml``, Claude Code's settings and
``SKILL.md``. ``PromptHook`` is the same for code: ``builder.before_tool_use(PromptHook("Is this command harmless?"))``.
"""

from __future__ import annotations

from .hook import PromptHook

__all__ = ["PromptHook"]

__version__ = "0.1.0"
