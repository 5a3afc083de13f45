"""What a recorded dispatch costs, against the same calls of OpenTelemetry's SDK around one that nobody watches."""

from __future__ import annotations

from importlib.util import find_spec
from time import perf_counter
from typing import TYPE_CHECKING

from in_process import five, manager_of, silent, tool_call, tool_context
from measure import Row

from agent_hooks import HookOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from measure import Batch

    from agent_hooks import HookContext

SILENT, DENIED = "the same calls by hand, silent", "the same calls by hand, denied"
MISSING = "opentelemetry-sdk is not installed: pip install opentelemetry-sdk"
DENY = HookOutcome.deny("Not here.")
ROWS = [
    Row("5 silent hooks, recorded", SILENT, ("silent",), SILENT, 1.5),
    Row("    and one that denies", DENIED, ("denied",), DENIED, 1.5),
]


def sides() -> tuple[dict[str, Batch], dict[str, str]]:
    """Return every side of ``ROWS`` by name, and why some cannot run."""
    if find_spec("opentelemetry") is None or find_spec("opentelemetry.sdk") is None:
        return {}, dict.fromkeys((SILENT, DENIED, "silent", "denied"), MISSING)
    from opentelemetry import context, trace
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader
    from opentelemetry.sdk.trace import SpanProcessor, TracerProvider

    from agent_hooks.observability import Telemetry

    tracers, meters = TracerProvider(), MeterProvider([InMemoryMetricReader()])
    tracers.add_span_processor(SpanProcessor())
    tracer, meter = tracers.get_tracer("by hand"), meters.get_meter("by hand")
    duration, decisions = meter.create_histogram("duration"), meter.create_counter("decisions")
    ctx = tool_context(tool_call())

    def denies(ctx: HookContext) -> HookOutcome:  # noqa: ARG001 - as a gate takes it
        return DENY

    def dispatch(
        *more: Callable[[HookContext], HookOutcome], is_recorded: bool
    ) -> Callable[[HookContext], HookOutcome]:
        manager = manager_of("before_tool_use", [*five(silent), *more])
        if is_recorded:
            manager.register(Telemetry(tracer_provider=tracers, meter_provider=meters))
        return manager.hooks().dispatch_sync

    def by_hand_silent(ctx: HookContext) -> None:
        start = perf_counter()
        token = context.attach(trace.set_span_in_context(trace.INVALID_SPAN))
        outcome = quiet(ctx)
        context.detach(token)
        duration.record(perf_counter() - start, {"event": "before_tool_use", "decision": str(outcome.decision)})

    def by_hand_denied(ctx: HookContext) -> None:
        start = perf_counter()
        with tracer.start_as_current_span("dispatch before_tool_use") as span:
            outcome = loud(ctx)
            by = {
                "event": "before_tool_use",
                "decision": str(outcome.decision),
                "hook": outcome.hook,
                "source": outcome.source,
            }
            span.set_attributes(
                {**by, "agent": ctx.agent_name, "session": ctx.session_id, "tool": ctx.tool_name, "id": "1"}
            )
        duration.record(perf_counter() - start, {"event": "before_tool_use", "decision": str(outcome.decision)})
        decisions.add(1, by)

    quiet, loud = dispatch(is_recorded=False), dispatch(denies, is_recorded=False)
    calls = {
        SILENT: by_hand_silent,
        DENIED: by_hand_denied,
        "silent": dispatch(is_recorded=True),
        "denied": dispatch(denies, is_recorded=True),
    }
    return {name: batch(call, ctx) for name, call in calls.items()}, {}


def batch(call: Callable[[HookContext], object], ctx: HookContext) -> Batch:
    """Return the side that makes this call."""

    def run(times: int) -> float:
        start = perf_counter()
        for _ in range(times):
            call(ctx)
        return perf_counter() - start

    return run
