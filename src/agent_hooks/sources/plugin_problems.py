"""Findings about installed plugins that could not be loaded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_hooks.engine.installed import NOT_INSTALLED, described, remedy_for
from agent_hooks.formats.findings import ConfigFinding

if TYPE_CHECKING:
    from agent_hooks.engine.manager import HookManager


def plugin_problems(manager: HookManager) -> list[ConfigFinding]:
    """Return the findings about installed plugins that could not be loaded."""
    found = []
    for info in manager.plugins():
        if info.status == "ignored":
            message = f"The plugin {info.name} was not loaded: {info.error}."
            found.append(ConfigFinding(kind="not-installed", message=message, remedy=NOT_INSTALLED))
        elif info.status == "broken":
            message = f"T{described(info)[1:]} is broken, so what it would decide about is denied"
            message = f"{message}: {info.error.rstrip('.')}."
            remedy = remedy_for(info)
            found.append(ConfigFinding(kind="broken-plugin", message=message, remedy=remedy, must_be_repaired=True))
    return found
