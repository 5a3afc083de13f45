"""The table ``[telemetry]`` of the user's and the machine's files."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.model.policy import RANKS

from .precedence import deciding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.formats.read_file import ReadFile

KEY = "telemetry"
PLUGIN = "agent_hooks.telemetry"


def telemetry_problems(files: Iterable[ReadFile]) -> list[ConfigFinding]:
    """Return a finding if a file wants telemetry and OpenTelemetry is not installed."""
    return [
        ConfigFinding(
            kind="not-installed",
            path=file.path,
            line=file.lines.get((KEY,), 0),
            message="[telemetry] has no effect: OpenTelemetry is not installed.",
            remedy="pip install 'agent-hooks-core[otel]'.",
        )
        for file in deciding(files)
        if KEY in file.settings and find_spec("opentelemetry") is None
    ]


def telemetry_settings(files: Iterable[ReadFile]) -> dict[str, Any] | None:
    """Return the settings if a file wants telemetry, else None; keys of the machine's file win."""
    ranked = sorted(deciding(files), key=lambda file: RANKS[file.source])
    tables = [file.settings[KEY] for file in ranked if KEY in file.settings]
    return {key: value for table in tables for key, value in table.items()} if tables else None


def register_telemetry(manager: HookManager, files: Iterable[ReadFile]) -> None:
    """Register the plugin that reports to OpenTelemetry if a file wants it."""
    settings = telemetry_settings(files)
    if settings is not None and find_spec("opentelemetry") is not None:
        from agent_hooks.observability import configured

        manager.register(configured("file", **settings), PLUGIN)
