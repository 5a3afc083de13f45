"""OpenTelemetry: spans of dispatches, and of the runtime's runs and tool calls, and metrics.

The names of the runtime's spans and their attributes are those of the semantic conventions for generative AI, which are
still in development; our own are below ``agent_hooks``. All of them are in the table below.
"""

from __future__ import annotations

import sys
from functools import cache
from threading import RLock
from time import time_ns
from typing import TYPE_CHECKING, Any

from agent_hooks.engine.markers import hookimpl
from agent_hooks.errors import RegistrationError
from agent_hooks.model.outcome import SUBJECTS, Decision

try:
    from opentelemetry import context, metrics, trace
    from opentelemetry.trace import Span, Status, StatusCode
except ImportError as missing:
    raise ImportError("Telemetry needs OpenTelemetry: pip install 'agent-hooks-core[otel]'.") from missing

if TYPE_CHECKING:
    from collections.abc import Callable

    from opentelemetry.metrics import MeterProvider
    from opentelemetry.trace import TracerProvider

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.events import HookEvent
    from agent_hooks.model.outcome import HookOutcome
    from agent_hooks.model.state import AgentState
    from agent_hooks.runtime.builder import AgentBuilder

# -- every name that leaves the process --------------------------------------------------------------------------------

SCOPE = "agent_hooks"
# Spans: each name is followed by the event, the agent's or the tool's name.
DISPATCH, INVOKE_AGENT, EXECUTE_TOOL = "agent_hooks.dispatch", "invoke_agent", "execute_tool"
# Metrics, in seconds the first two.
DURATION, TOOL_DURATION = "agent_hooks.dispatch.duration", "gen_ai.execute_tool.duration"
DECISIONS, FAILURES = "agent_hooks.decisions", "agent_hooks.hook.failures"
# Attributes of dispatches, the first four of metrics, too.
EVENT, DECISION, HOOK, SOURCE = "agent_hooks.event", "agent_hooks.decision", "agent_hooks.hook", "agent_hooks.source"
CHANGES, FAILED, SHADOWED = "agent_hooks.changes", "agent_hooks.failed", "agent_hooks.shadowed"
# Attributes of runs and tool calls, the error of metrics, too.
STATUS, ERROR = "agent_hooks.run.status", "error.type"
OPERATION, CONVERSATION = "gen_ai.operation.name", "gen_ai.conversation.id"
AGENT, AGENT_ID = "gen_ai.agent.name", "gen_ai.agent.id"
TOOL, CALL_ID = "gen_ai.tool.name", "gen_ai.tool.call.id"
# Attributes with content, only with ``content=True``.
REASON, ARGUMENTS, RESULT = "agent_hooks.reason", "gen_ai.tool.call.arguments", "gen_ai.tool.call.result"
# In place of a tool's name that could be any text, and of the type of an error that is not known.
UNTRUSTED, CANCELLED = "_OTHER", "cancelled"

_DISPATCH_BUCKETS = (0.00001, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 30, 60)
_TOOL_BUCKETS = (0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92)
_CHANGES = SUBJECTS | {"state", "context", "messages", "metadata", "signals"}


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
        self.tracer = trace.get_tracer(SCOPE, version, tracer_provider)
        meter = metrics.get_meter(SCOPE, version, meter_provider)
        self._duration = meter.create_histogram(
            DURATION, "s", "Duration of a dispatch.", explicit_bucket_boundaries_advisory=_DISPATCH_BUCKETS
        )
        self._tool_duration = meter.create_histogram(
            TOOL_DURATION, "s", "Duration of a tool call.", explicit_bucket_boundaries_advisory=_TOOL_BUCKETS
        )
        self._decisions = meter.create_counter(DECISIONS, "{decision}", "Dispatches in which hooks decided or changed.")
        self._failures = meter.create_counter(FAILURES, "{failure}", "Hooks that failed, in a dispatch each.")

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
        found = {EVENT: str(event), **_about(ctx), **_about_tool(ctx)}
        if outcome is None:
            span.set_attributes({**found, ERROR: CANCELLED})
            span.set_status(Status(StatusCode.ERROR))
            return
        found[DECISION] = str(outcome.decision)
        if outcome._fields:
            optional = {
                HOOK: outcome.hook,
                SOURCE: outcome.source,
                CHANGES: sorted(outcome._fields.keys() & _CHANGES),
                FAILED: sorted(failing_hooks(outcome)),
                SHADOWED: [one.hook for one in outcome.shadowed],
                REASON: outcome.reason if self.content else None,
            }
            found.update({name: value for name, value in optional.items() if value})
        span.set_attributes(found)

    def _count(self, event: HookEvent, outcome: HookOutcome | None, seconds: float) -> None:
        if outcome is None:
            self._duration.record(seconds, {EVENT: str(event), ERROR: CANCELLED})
            return
        if not outcome._fields:  # most of them
            if (silent := self._silent.get(event)) is None:
                silent = self._silent[event] = {EVENT: str(event), DECISION: str(Decision.PROCEED)}
            self._duration.record(seconds, silent)
            return
        about = {EVENT: str(event), DECISION: str(outcome.decision)}
        self._duration.record(seconds, about)
        if outcome.decision is not Decision.PROCEED or outcome._fields.keys() & _CHANGES:
            by = {HOOK: outcome.hook, SOURCE: outcome.source}
            self._decisions.add(1, {**about, **{name: value for name, value in by.items() if value}})
        for hook in failing_hooks(outcome):
            self._failures.add(1, {EVENT: str(event), HOOK: hook})

    # -- the runtime ---------------------------------------------------------------------------------------------------

    @hookimpl
    def agent_hooks_run_started(self, ctx: HookContext) -> RunSpan:
        """Start the span of a run."""
        about = {OPERATION: INVOKE_AGENT, **_about(ctx)}
        return RunSpan(self.tracer.start_span(f"{INVOKE_AGENT} {ctx.agent_name}".rstrip(), attributes=about))

    @hookimpl
    def agent_hooks_tool_started(self, ctx: HookContext) -> Callable[..., None]:
        """Make the span of a tool call current until it ends, and record its duration then."""
        about = {OPERATION: EXECUTE_TOOL, **_about(ctx), **_about_tool(ctx)}
        if self.content:
            about[ARGUMENTS] = _as_json(ctx.tool_args)
        span = self.tracer.start_span(f"{EXECUTE_TOOL} {about.get(TOOL, UNTRUSTED)}", attributes=about)
        token = context.attach(trace.set_span_in_context(span))

        def ended(result: Any, error: BaseException | None, seconds: float) -> None:
            context.detach(token)
            failed = {} if error is None else {ERROR: type(error).__name__}
            try:
                if self.content and error is None:
                    span.set_attribute(RESULT, _as_json(result))
            finally:
                _end(span, error)
            self._tool_duration.record(seconds, {OPERATION: EXECUTE_TOOL, **failed})

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
        self.span.set_attribute(STATUS, str(state.status))
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
                        name = f"{DISPATCH} {self._event}"
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


def failing_hooks(outcome: HookOutcome) -> set[str]:
    """Return the names of the hooks that failed in a dispatch."""
    found = {finding.hook for finding in outcome.findings if finding.kind == "failure"}
    return found | {outcome.hook} if outcome.failed and outcome.hook else found


def _about(ctx: HookContext) -> dict[str, Any]:
    found = {AGENT: ctx.agent_name, AGENT_ID: ctx.agent_id, CONVERSATION: ctx.session_id}
    return {name: value for name, value in found.items() if value}


def _about_tool(ctx: HookContext) -> dict[str, Any]:
    call = ctx.tool_call
    if call is None:
        return {}
    name = call.name if call.has_trusted_name else UNTRUSTED
    return {TOOL: name, CALL_ID: call.id} if call.id else {TOOL: name}


def _as_json(value: Any) -> str:
    from json import dumps

    try:
        return dumps(value, default=str)
    except Exception as error:  # noqa: BLE001 - a circle, or a key that is no text
        return f"({type(value).__name__}: {type(error).__name__})"


def _end(span: Span, error: BaseException | None) -> None:
    """End a span; of an error only its type, since its text may hold values."""
    if error is not None:
        span.set_attribute(ERROR, type(error).__name__)
        span.set_status(Status(StatusCode.ERROR))
    span.end()
