"""Hooks in the agent frameworks that people already use: one module each, which imports its framework.

Installed, this distribution brings the adapters that ``agent_hooks.protect(agent)`` finds. Where an agent is protected
while it is made, ``AgentHooks`` is imported from the module of its framework.
"""

from __future__ import annotations

from agent_hooks import protect

__all__ = ["protect"]

__version__ = "0.1.0"
