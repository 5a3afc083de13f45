"""The spans of a framework that traces by itself, with ours beside them."""

from __future__ import annotations

import asyncio

import pytest

pytest.importorskip("opentelemetry.sdk")
pytest.importorskip("pydantic_ai")

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings
from pydantic_ai.models.test import TestModel

from agent_hooks import HookManager, HookOutcome, hookimpl, protect
from agent_hooks.observability import Telemetry


class Denies:
    @hookimpl
    def before_tool_use(self):
        return HookOutcome.deny("No.")


def test_below_the_spans_of_a_framework_are_only_dispatches():
    def look() -> str:
        return "seen"

    exporter, tracers = InMemorySpanExporter(), TracerProvider()
    tracers.add_span_processor(SimpleSpanProcessor(exporter))
    agent = Agent(TestModel(), tools=[look], name="theirs")
    agent.instrument = InstrumentationSettings(tracer_provider=tracers, include_content=False)
    manager = HookManager(load_plugins=False)
    manager.register(Telemetry(tracer_provider=tracers))
    manager.register(Denies())
    protect(agent, manager=manager)
    asyncio.run(agent.run("go"))
    spans = exporter.get_finished_spans()
    names = {span.context.span_id: span.name for span in spans}
    assert [(span.name, span.parent and names[span.parent.span_id]) for span in spans] == [
        ("chat test", "invoke_agent theirs"),
        ("agent_hooks.dispatch before_tool_use", "execute_tool look"),
        ("execute_tool look", "invoke_agent theirs"),
        ("chat test", "invoke_agent theirs"),
        ("invoke_agent theirs", None),
    ]
