"""Skills to write into files, and tools for them to judge."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from agent_hooks.testing import make_context

if TYPE_CHECKING:
    from agent_hooks import HookContext

# As SkillKit's manual has it.
DEPLOY = """
name: ops:deploy
description: Deploy a service to staging.
hooks:
  PreToolUse:
    - matcher: "Shell"
      hooks:
        - type: command
          command: "./scripts/check-deploy-policy.sh"
  PostToolUse:
    - hooks:
        - type: http
          url: "https://audit.example.com/log"
"""


def markdown(head: str, body: str = "Deploy $ARGUMENTS to staging.\n") -> bytes:
    return f"---\n{textwrap.dedent(head).strip()}\n---\n{body}".encode()


def group(*lines: str, event: str = "PreToolUse") -> str:
    """A skill with one group of hooks on one event; ``lines`` are the keys of the group."""
    inner = "\n".join(f"      {line}" for line in lines)
    return f"name: deploy\nhooks:\n  {event}:\n    -\n{inner}\n"


def tool(name: str, event: str = "before_tool_use", **fields: Any) -> HookContext:
    return make_context(event, tool=name, **fields)
