"""``agent-hooks schema``: the JSON Schema of ``agent-hooks.toml``, with the handler types that are installed."""

from __future__ import annotations

import sys

from agent_hooks.engine.manager import HookManager
from agent_hooks.errors import RegistrationError
from agent_hooks.formats.json_schema import json_schema
from agent_hooks.handlers.types import find_type, handler_types
from agent_hooks.system.visible import visible

from .terminal import print_json, prints_elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def show_schema() -> None:
    """Print it. Handlers of an unavailable type may have any keys; the problem is reported on stderr."""
    found: dict[str, Any] = {}
    with prints_elsewhere():
        known = handler_types(HookManager())
        for name in known:
            try:
                found[name] = find_type(name, known)
            except RegistrationError as error:
                print(f"agent-hooks: {visible(str(error))}", file=sys.stderr)
    print_json(json_schema(found))
