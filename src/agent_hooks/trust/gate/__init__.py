"""The built-in gate: an agent cannot trust, allow or uninstall on its own behalf, nor write what decides about it."""

from __future__ import annotations

from .gate import Protection

__all__ = ["Protection"]
