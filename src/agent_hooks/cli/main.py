"""The function behind the command, under the name that scripts of earlier installations import."""

from __future__ import annotations

from agent_hooks_core import main

__all__ = ["main"]
