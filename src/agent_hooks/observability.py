"""OpenTelemetry: spans of dispatches, and of the runtime's runs and tool calls, and metrics.

The names of the runtime's spans and their attributes are those of the semantic conventions for generative AI, which are
still in development; our own are below ``agent_hooks``. All of them are in the table of ``model.attributes``.
"""

from __future__ import annotations

import sys
from functools import cache
from threading import RLock
from time import time_ns
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.markers import hookimpl
from agent_hooks.errors import RegistrationError
from agent_hooks.model import attributes as named
from agent_hooks.model.outcome import Decision

try:
    from opentelemetry import context, metrics, trace
    from opentelemetry.trace import Span, Status, StatusCode
except ImportError as missing:
    raise ImportError("Telemetry needs OpenTelemetry: pip install 'agent-hooks-core[otel]'.") from missing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import AgentState
    from agent_hooks.runtime.builder import AgentBuilder

_DISPATCH_BUCKETS = (0.00001, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60)
_TOOL_BUCKETS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)


class Telemetry:
    """A plugin that reports to OpenTelemetry: ``manager.register(Telemetry())``, or a capability of an agent.

    ``tracer_provider`` and ``meter_provider``: the global ones by default. ``spans``: of which dispatches there are
    spans, ``"decided"`` for those in which hooks decided, changed or failed, or started spans of their own, ``"all"``,
    or ``"none"``. Either way a span is current while the hooks of its dispatch run. ``content``: report reasons, and
    the arguments and results of tools, which may hold secrets.
    """

    name = "telemetry"

    def __init__(
        self,
        *,
        tracer_provider: TracerProvider | None = None,
        meter_provider: MeterProvider | None = None,
        spans: str = "decided",
        content: bool = False,
    ) -> None:
        if spans not in ("decided", "all", "none"):
            raise RegistrationError(f"spans is 'decided', 'all' or 'none', not {spans!r}.")
        self.spans = spans
        self.content = content
        self._silent: dict[HookEvent, dict[str, str]] = {}
        version = sys.modules["agent_hooks"].__version__
        self.tracer = trace.get_tracer(named.SCOPE, version, tracer_provider)
        meter = metrics.get_meter(named.SCOPE, version, meter_provider)
        self._duration = meter.create_histogram(
            named.DURATION, "s", "Duration of a dispatch.", explicit_bucket_boundaries_advisory=_DISPATCH_BUCKETS
        )
        self._tool_duration = meter.create_histogram(
            named.TOOL_DURATION, "s", "Duration of a tool call.", explicit_bucket_boundaries_advisory=_TOOL_BUCKETS
        )
        self._decisions = meter.create_counter(
            named.DECISIONS, "{decision}", "Dispatches in which hooks decided or changed."
        )
        self._failures = meter.create_counter(named.FAILURES, "{failure}", "Hooks that failed, in a dispatch each.")

    def configure(self, builder: AgentBuilder) -> AgentBuilder:
        """Report about the agent that is built."""
        return builder.plugin(self)

    @hookimpl
    def agent_hooks_register(self, manager: HookManager) -> None:
        """Take the place of another one, such as that of a file: each dispatch is told once."""
        for plugin in manager.get_plugins():
            if isinstance(plugin, Telemetry) and plugin is not self:
                manager.unregister(plugin)

    # -- dispatches ----------------------------------------------------------------------------------------------------

    @hookimpl
    def agent_hooks_dispatch_started(self, event: HookEvent) -> Callable[..., None]:
        """Make a span current until the dispatch ends, and count then."""
        if self.spans == "none":
            return lambda _ctx, outcome, seconds: self._count(event, outcome, seconds)
        span = LazySpan(self.tracer, event)
        if self.spans == "all":
            span.real()
        token = context.attach(trace.set_span_in_context(span, span.context))

        def ended(now: HookContext, outcome: HookOutcome | None, seconds: float) -> None:
            context.detach(token)
            try:
                if outcome is None or outcome._fields or span.has_started:
                    self._describe(span.real(), event, now, outcome)
            finally:
                span.end()
                self._count(event, outcome, seconds)

        return ended

    def _describe(self, span: Span, event: HookEvent, ctx: HookContext, outcome: HookOutcome | None) -> None:
        if not span.is_recording():
            return
        found = named.of_context(ctx)
        if outcome is None:
            span.set_attributes({named.EVENT: str(event), **found, named.ERROR: named.CANCELLED})
            span.set_status(Status(StatusCode.ERROR))
            return
        found.update(named.of_outcome(event, outcome))
        if self.content and outcome.reason:
            found[named.REASON] = outcome.reason
        span.set_attributes(found)

    def _count(self, event: HookEvent, outcome: HookOutcome | None, seconds: float) -> None:
        if outcome is None:
            self._duration.record(seconds, {named.EVENT: str(event), named.ERROR: named.CANCELLED})
        elif outcome._fields:
            self._count_as(named.of_outcome(event, outcome), seconds)
        else:  # most of them
            if (silent := self._silent.get(event)) is None:
                silent = self._silent[event] = {named.EVENT: str(event), named.DECISION: str(Decision.PROCEED)}
            self._duration.record(seconds, silent)

    def _count_as(self, found: Mapping[str, Any], seconds: float) -> None:
        about = {named.EVENT: found[named.EVENT], named.DECISION: found[named.DECISION]}
        self._duration.record(seconds, about)
        if found[named.DECISION] != Decision.PROCEED or named.CHANGES in found:
            self._decisions.add(1, about | {key: found[key] for key in (named.HOOK, named.SOURCE) if key in found})
        for hook in found.get(named.FAILED, ()):
            self._failures.add(1, {named.EVENT: found[named.EVENT], named.HOOK: hook})

    # -- the runtime ---------------------------------------------------------------------------------------------------

    @hookimpl
    def agent_hooks_run_started(self, ctx: HookContext) -> RunSpan:
        """Start the span of a run."""
        about = {named.OPERATION: named.INVOKE_AGENT, **named.of_context(ctx)}
        return RunSpan(self.tracer.start_span(f"{named.INVOKE_AGENT} {ctx.agent_name}".rstrip(), attributes=about))

    @hookimpl
    def agent_hooks_tool_started(self, ctx: HookContext) -> Callable[..., None]:
        """Make the span of a tool call current until it ends, and record its duration then."""
        about = {named.OPERATION: named.EXECUTE_TOOL, **named.of_context(ctx)}
        if self.content:
            about[named.ARGUMENTS] = _as_json(ctx.tool_args)
        span = self.tracer.start_span(
            f"{named.EXECUTE_TOOL} {about.get(named.TOOL, named.UNTRUSTED)}", attributes=about
        )
        token = context.attach(trace.set_span_in_context(span))

        def ended(result: Any, error: BaseException | None, seconds: float) -> None:
            context.detach(token)
            failed = {} if error is None else {named.ERROR: type(error).__name__}
            try:
                if self.content and error is None:
                    span.set_attribute(named.RESULT, _as_json(result))
            finally:
                _end(span, error)
            self._tool_duration.record(seconds, {named.OPERATION: named.EXECUTE_TOOL, **failed})

        return ended


@cache
def configured(by: str, **settings: Any) -> Telemetry:  # noqa: ARG001 - one each, for one manager may get both
    """Return the one plugin with these settings: an agent and those that it starts must share it, to tell all once.

    ``by``: ``"file"`` or ``"capability"``.
    """
    return Telemetry(**settings)


class RunSpan:
    """The span of a run, current in each part of it."""

    def __init__(self, span: Span) -> None:
        self.span = span
        self._token: Any = None

    def resume(self) -> None:
        """Make the span current."""
        self._token = context.attach(trace.set_span_in_context(self.span))

    def pause(self) -> None:
        """Make the one above current again."""
        context.detach(self._token)

    def end(self, state: AgentState, error: BaseException | None) -> None:
        """End the span with the status of the run."""
        self.span.set_attribute(named.STATUS, str(state.status))
        if error is None and state.status == "failed":
            self.span.set_status(Status(StatusCode.ERROR))
        _end(self.span, error)


class LazySpan(Span):
    """The span of a dispatch, which only starts once it is needed: when somebody asks for its context, as a span below
    it does, or has something to record. Whether hooks decide is known only at the end, and a span cannot be taken back.
    """

    def __init__(self, tracer: trace.Tracer, event: HookEvent) -> None:
        self.context = context.get_current()
        self.has_started = self._is_over = False
        self._tracer = tracer
        self._event = event
        self._since = time_ns()
        self._span: Span | None = None
        self._starting = RLock()

    def real(self) -> Span:
        """Return the span, started if it was not; after the end, or if it cannot be started, the one above."""
        if self._span is None:
            with self._starting:
                if self._span is None:
                    above = self._span = trace.get_current_span(self.context)  # also for whoever asks while it starts
                    if self._is_over:
                        return above
                    try:
                        name = f"{named.DISPATCH} {self._event}"
                        self._span = self._tracer.start_span(name, self.context, start_time=self._since)
                        self.has_started = True
                    except Exception:  # noqa: BLE001 - a hook that asks must not fail of it
                        self._span = above
        return self._span

    def end(self, end_time: int | None = None) -> None:
        """End the span if it has started; from now on it does not start any more."""
        self._is_over = True
        if self.has_started:
            self.real().end(end_time)

    def get_span_context(self) -> trace.SpanContext:
        """Return the context of the span, which starts it."""
        return self.real().get_span_context()

    def is_recording(self) -> bool:
        """Whether the span records, which starts it."""
        return self.real().is_recording()

    def set_attributes(self, attributes: Any) -> None:
        """Set attributes."""
        self.real().set_attributes(attributes)

    def set_attribute(self, key: str, value: Any) -> None:
        """Set an attribute."""
        self.real().set_attribute(key, value)

    def add_event(self, *args: Any, **kwargs: Any) -> None:
        """Add an event."""
        self.real().add_event(*args, **kwargs)

    def add_link(self, *args: Any, **kwargs: Any) -> None:
        """Add a link."""
        self.real().add_link(*args, **kwargs)

    def update_name(self, name: str) -> None:
        """Rename the span."""
        self.real().update_name(name)

    def set_status(self, *args: Any, **kwargs: Any) -> None:
        """Set the status."""
        self.real().set_status(*args, **kwargs)

    def record_exception(self, *args: Any, **kwargs: Any) -> None:
        """Record an exception."""
        self.real().record_exception(*args, **kwargs)


def _as_json(value: Any) -> str:
    from json import dumps

    try:
        return dumps(value, default=str)
    except Exception as error:  # noqa: BLE001 - a circle, or a key that is no text
        return f"({type(value).__name__}: {type(error).__name__})"


def _end(span: Span, error: BaseException | None) -> None:
    """End a span; of an error only its type, since its text may hold values."""
    if error is not None:
        span.set_attribute(named.ERROR, type(error).__name__)
        span.set_status(Status(StatusCode.ERROR))
    span.end()
