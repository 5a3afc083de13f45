"""The table ``[telemetry]`` of the user's and the machine's files."""

from __future__ import annotations

from contextlib import suppress
from importlib.util import find_spec
from time import monotonic, time_ns
from typing import TYPE_CHECKING, Any

from agent_hooks.formats.findings import ConfigFinding
from agent_hooks.model.attributes import of_context, of_outcome
from agent_hooks.model.policy import RANKS
from agent_hooks.system.quick_json import dumps

from .precedence import deciding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.formats.read_file import ReadFile
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.outcome import HookOutcome

    Recorder = Callable[[HookContext, HookOutcome], str]

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


def recorder(files: Iterable[ReadFile]) -> Recorder | None:
    """Return a function that makes the record of a dispatch that begins now, for another process, which reports it.

    None if no file wants telemetry. A record has no content, and fits into a line.
    """
    settings = telemetry_settings(files)
    if settings is None:
        return None
    spans, since, began = settings.get("spans", "decided"), time_ns(), monotonic()

    def record(ctx: HookContext, outcome: HookOutcome) -> str:
        has_span = spans == "all" or (spans == "decided" and bool(outcome._fields))
        with suppress(Exception):  # an answer must not fail of it
            found = {**of_context(ctx), **of_outcome(ctx.event, outcome)}
            return dumps({"since": since, "seconds": monotonic() - began, "span": has_span, "attributes": found})
        return ""

    return record
