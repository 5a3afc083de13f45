"""The built-in gate: agents cannot trust, allow or uninstall on their own behalf, nor write the files that decide."""

from __future__ import annotations

from .gate import Protection

__all__ = ["Protection"]
