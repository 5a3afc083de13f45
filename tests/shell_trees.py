"""The parser without the types of its nodes: a test says by what it reads which node it expects."""

from __future__ import annotations

from typing import Any

from agent_hooks.shell import parser


def parse(text: str) -> Any:
    """Parse a command line."""
    return parser.parse(text)
