"""OpenTelemetry: spans with the right parents, metrics with few attributes, and no content in either."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import SpanProcessor, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from pydantic_ai.models.instrumented import InstrumentationSettings, InstrumentedModel
from pydantic_ai.models.test import TestModel

from agent_hooks import (
    AgentState,
    HookConfigLoader,
    HookContext,
    HookEvent,
    HookManager,
    HookOutcome,
    MemoryStore,
    PydanticAIDriver,
    RegistrationError,
    ToolCall,
    hookimpl,
    load,
)
from agent_hooks.formats.read_file import ReadFile
from agent_hooks.formats.toml import read_toml
from agent_hooks.model import attributes
from agent_hooks.model.outcome import Finding
from agent_hooks.model.state import Message, StopReason, StopSignal
from agent_hooks.model.tool_call import ErrorInfo, ToolExecution
from agent_hooks.observability import LazySpan, Telemetry, configured
from agent_hooks.runtime.builder import AgentBuilder
from agent_hooks.runtime.driver import ScriptedDriver
from agent_hooks.runtime.python_tools import tool
from agent_hooks.runtime.subagents import run_subagent
from agent_hooks.sources.telemetry import telemetry_settings
from agent_hooks.testing import make_context
from engine import Plugin, shell

DISPATCH = "agent_hooks.dispatch before_tool_use"


class Signals:
    """What an application gets: spans by name, and points of metrics."""

    def __init__(self, *processors: SpanProcessor) -> None:
        self.exporter = InMemorySpanExporter()
        self.reader = InMemoryMetricReader()
        self.tracers = TracerProvider()
        for processor in (*processors, SimpleSpanProcessor(self.exporter)):
            self.tracers.add_span_processor(processor)
        self.providers: dict[str, Any] = {
            "tracer_provider": self.tracers,
            "meter_provider": MeterProvider([self.reader]),
        }
        self.tracer = self.tracers.get_tracer("an application")

    @property
    def spans(self) -> dict[str, Any]:
        return {span.name: span for span in self.exporter.get_finished_spans()}

    @property
    def tree(self) -> list[str]:
        """Each span as `name < name of its parent`, in the order in which they end."""
        spans = self.exporter.get_finished_spans()
        names = {span.context.span_id: span.name for span in spans}
        return [f"{span.name} < {names[span.parent.span_id]}" if span.parent else span.name for span in spans]

    @property
    def metrics(self) -> dict[str, list[dict[str, Any]]]:
        data = self.reader.get_metrics_data()
        scopes = [scope for resource in data.resource_metrics for scope in resource.scope_metrics] if data else []
        return {
            metric.name: [dict(point.attributes or {}) for point in metric.data.data_points]
            for scope in scopes
            for metric in scope.metrics
        }

    def span(self, name: str) -> Any:
        return self.tracer.start_as_current_span(name)


@pytest.fixture
def signals() -> Signals:
    return Signals()


@pytest.fixture
def told(engine, signals):
    """An engine that reports."""
    engine.manager.register(Telemetry(**signals.providers))
    return engine


def watched(signals: Signals, hook: Any, **options: Any) -> HookManager:
    """A manager that reports, with one hook."""
    manager = HookManager(load_plugins=False)
    manager.register(Telemetry(**signals.providers))
    manager.register(Plugin(before_tool_use=hookimpl(**options)(hook)))
    return manager


# -- dispatches --------------------------------------------------------------------------------------------------------


def test_a_dispatch_that_decided_is_a_span_below_the_current_one(told, signals):
    told.says("no", HookOutcome.deny("secret"))
    with signals.span("request"):
        told.dispatch(shell("ls", session_id="s"))
    assert signals.tree == [f"{DISPATCH} < request", "request"]
    assert dict(signals.spans[DISPATCH].attributes) == {
        "agent_hooks.event": "before_tool_use",
        "agent_hooks.decision": "deny",
        "agent_hooks.hook": "no",
        "agent_hooks.source": "code",
        "gen_ai.agent.name": "test-agent",
        "gen_ai.conversation.id": "s",
        "gen_ai.tool.name": "Bash",
        "gen_ai.tool.call.id": "call-1",
    }


@pytest.mark.parametrize("answer", [None, HookOutcome.deny("No.")])
def test_the_span_is_current_while_hooks_run(told, signals, answer):
    """Also where nothing is decided: a span of a hook needs a parent."""

    @told.hook()
    def asks_a_service(ctx):
        with signals.span("service"):
            return answer

    told.dispatch(shell())
    assert signals.tree == [f"service < {DISPATCH}", DISPATCH]
    assert not trace.get_current_span().get_span_context().is_valid


def test_a_dispatch_without_an_opinion_is_a_span_only_if_all_are(engine, signals):
    telemetry = Telemetry(**signals.providers)
    engine.manager.register(telemetry)
    engine.says("silent")
    engine.dispatch(shell())
    assert signals.tree == []
    engine.manager.unregister(telemetry)
    engine.manager.register(Telemetry(**signals.providers, spans="all"))
    engine.dispatch(shell())
    assert signals.tree == [DISPATCH]
    assert signals.spans[DISPATCH].attributes["agent_hooks.decision"] == "proceed"


def test_without_spans_the_metrics_are_left(engine, signals):
    engine.manager.register(Telemetry(**signals.providers, spans="none"))
    engine.says("no", HookOutcome.deny("No."))
    engine.dispatch(shell())
    assert signals.tree == []
    assert set(signals.metrics) == {"agent_hooks.dispatch.duration", "agent_hooks.decisions"}


def test_a_cancelled_dispatch_is_a_span(signals):
    async def waits():
        await asyncio.Event().wait()

    async def run():
        task = asyncio.create_task(manager.hooks().dispatch(shell()))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

    manager = watched(signals, waits)
    asyncio.run(run())
    assert signals.spans[DISPATCH].attributes["error.type"] == "cancelled"
    assert signals.metrics["agent_hooks.dispatch.duration"] == [
        {"agent_hooks.event": "before_tool_use", "error.type": "cancelled"}
    ]


def test_concurrent_dispatches_are_spans_of_their_own(signals):
    async def hook(ctx):
        with signals.span(f"of {ctx.session_id}"):
            await asyncio.sleep(0)
        return HookOutcome.deny("No.")

    async def one(name):
        with signals.span(name):
            await manager.hooks().dispatch(shell(session_id=name))

    async def run():
        await asyncio.gather(one("a"), one("b"))

    manager = watched(signals, hook)
    asyncio.run(run())
    spans = {span.context.span_id: span for span in signals.exporter.get_finished_spans()}
    for name in "ab":
        inner = signals.spans[f"of {name}"]
        dispatch = spans[inner.parent.span_id]
        assert dispatch.name == DISPATCH
        assert spans[dispatch.parent.span_id].name == name


def test_a_hook_with_a_timeout_has_its_dispatch_as_parent_in_its_thread(signals):
    def hook():
        with signals.span("in a thread"):
            return HookOutcome.deny("No.")

    manager = watched(signals, hook, timeout=60)
    manager.hooks().dispatch_sync(shell())
    assert signals.tree == [f"in a thread < {DISPATCH}", DISPATCH]


def test_an_async_hook_of_a_sync_call_has_its_dispatch_as_parent(signals):
    async def hook():
        await asyncio.sleep(0)
        with signals.span("in the portal"):
            pass

    manager = watched(signals, hook)
    with signals.span("request"):
        manager.hooks().call_tool_sync(ToolCall("Bash", {"command": "ls"}), lambda call: "done")
    assert signals.tree == [f"in the portal < {DISPATCH}", f"{DISPATCH} < request", "request"]


def test_a_question_is_a_span_below_the_dispatch_that_asks(told, signals):
    told.says("asks", HookOutcome.ask("Really?"))
    told.says("answers", HookOutcome.allow(), event="permission_request")
    told.dispatch(shell())
    assert signals.tree == [f"agent_hooks.dispatch permission_request < {DISPATCH}", DISPATCH]


def test_a_resumption_is_a_span_where_it_is_resumed(told, signals):
    told.says("waits", HookOutcome.suspend("Wait."))
    with signals.span("first request"):
        waiting = told.dispatch(shell())
    with signals.span("second request"):
        told.resume(waiting.token, "deny")
    assert signals.tree == [
        f"{DISPATCH} < first request",
        "first request",
        f"{DISPATCH} < second request",
        "second request",
    ]


def test_failures_and_decisions_are_counted_by_hook(told, signals):
    told.says("faulty", OSError("secret"), on_failure="open")
    told.says("gate", OSError("secret"))
    told.dispatch(shell())
    about = {"agent_hooks.event": "before_tool_use"}
    failures = signals.metrics["agent_hooks.hook.failures"]
    assert sorted(each["agent_hooks.hook"] for each in failures) == ["faulty", "gate"]
    assert all(each.keys() == {"agent_hooks.event", "agent_hooks.hook"} for each in failures)
    assert signals.metrics["agent_hooks.decisions"] == [
        {**about, "agent_hooks.decision": "deny", "agent_hooks.hook": "gate", "agent_hooks.source": "code"}
    ]
    assert signals.spans[DISPATCH].attributes["agent_hooks.failed"] == ("faulty", "gate")


def test_a_decision_in_shadow_is_told(told, signals):
    told.says("tries", HookOutcome.deny("No."), shadow=True)
    told.dispatch(shell())
    assert signals.spans[DISPATCH].attributes["agent_hooks.shadowed"] == ("tries",)
    assert "agent_hooks.decisions" not in signals.metrics


# -- what does not leave -----------------------------------------------------------------------------------------------

ALLOWED = {"agent_name", "agent_id", "session_id"}


def canary(name: str) -> str:
    return f"canary-{name}"


def filled(event: HookEvent, name: str) -> HookContext | None:
    """A context whose field ``name`` holds a canary wherever it can; None if it can hold no text."""
    text = canary(name)
    signal = StopSignal(reason=StopReason.ERROR, message=text, source=text)
    message = Message(role="user", content=text)
    call = ToolCall("Bash", {"command": text, text: text}, id="call-1", kind="shell", aliases=(text,))
    values: dict[str, Any] = {
        "tool_call": call,
        "tool_execution": ToolExecution(call=call, result=text, error=ErrorInfo(type="E", message=text), context=text),
        "error": ValueError(text),
        "error_list": (ErrorInfo(type="E", message=text),),
        "state": AgentState(messages=(message,), metadata={text: text}, output=text),
        "stop_signal": signal,
        "signals": (signal,),
        "messages": (message,),
        "metadata": {text: text},
        "mcp_server": {text: text},
        "asked_by": (text,),
        "outcome": HookOutcome.deny(text).replace(findings=(Finding(hook="h", kind="failure", message=text),)),
    }
    is_text = isinstance(HookContext._defaults.get(name, ""), (str, type(None)))
    if name not in values and not is_text:
        return None
    return make_context(event, **{"tool_call": ToolCall("Bash", {"command": "ls"}), name: values.get(name, text)})


@pytest.mark.parametrize(
    "event", [event for event in vars(HookEvent).values() if isinstance(event, HookEvent)], ids=str
)
def test_no_field_of_a_context_leaves(event, signals, manager):
    """Whatever hooks answer to it: nothing, a new subject, context, a reason, a failure."""
    fields = sorted(HookContext._known - {"event", "previous", "runtime", "step", "created_at", "updated_at"} - ALLOWED)
    contexts = [(name, ctx) for name in fields if (ctx := filled(event, name)) is not None]
    assert len(contexts) > 30
    manager.register(Telemetry(**signals.providers, spans="all"))

    @hookimpl(mode="transform")
    def hook(ctx):
        text = canary("answer")
        kind = next(turns)
        if kind == 1:
            return HookOutcome.update(
                context=text, metadata={text: text}, messages=(Message(role="user", content=text),)
            )
        if kind == 2:
            raise ValueError(text)
        if kind == 3 and event.decisions:
            return HookOutcome(decision=next(iter(sorted(event.decisions))), reason=text, data={text: text})
        if kind == 4 and event.subject:
            changed: Any = {"command": text} if event.subject == "tool_args" else text
            return HookOutcome.update(**{event.subject: changed})
        return None

    manager.register(Plugin(**{str(event): hook}))
    for number in range(5):
        for _, ctx in contexts:
            turns = iter([number] * 20)
            manager.hooks().dispatch_sync(ctx)
    spans = signals.exporter.get_finished_spans()
    assert len(spans) >= 5 * len(contexts)
    assert "canary" not in "".join(span.to_json() for span in spans)
    assert "canary" not in str(signals.metrics)


def test_ids_and_names_are_on_spans_but_never_in_metrics(told, signals):
    told.says("no", HookOutcome.deny("No."))
    ids: dict[str, Any] = {name: canary(name) for name in ALLOWED}
    told.dispatch(make_context("before_tool_use", tool_call=ToolCall("canary-tool", {}, id="canary-id"), **ids))
    assert {value for value in signals.spans[DISPATCH].attributes.values() if "canary" in str(value)} == {
        *ids.values(), "canary-tool", "canary-id",
    }  # fmt: skip
    assert "canary" not in str(signals.metrics)


def test_a_name_that_could_be_any_text_is_not_told(told, signals):
    told.says("no", HookOutcome.deny("No."))
    told.dispatch(make_context("before_tool_use", tool="my password is swordfish", args={}))
    assert signals.spans[DISPATCH].attributes["gen_ai.tool.name"] == "_OTHER"


# -- the runtime -------------------------------------------------------------------------------------------------------


def agent(signals: Signals, *replies: Any, tools: Any = (), **options: Any) -> AgentBuilder:
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver(*replies)).with_tools(*tools)
    return builder.with_capability(Telemetry(**signals.providers, **options))


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def of_the_runtime(signals: Signals) -> list[str]:
    return [line for line in signals.tree if "dispatch" not in line]


def test_a_run_and_its_tool_calls_are_spans(signals):
    @tool
    def look() -> str:
        """Look."""
        with signals.span("inside"):
            return "seen"

    builder = agent(signals, ToolCall("look", {}, id="c1"), "Done.", tools=(look,)).with_name("clerk")
    with signals.span("request"):
        state = builder.build().run_sync("secret")
    assert state.output == "Done."
    assert of_the_runtime(signals) == [
        "inside < execute_tool look",
        "execute_tool look < invoke_agent clerk",
        "invoke_agent clerk < request",
        "request",
    ]
    assert signals.spans["invoke_agent clerk"].attributes["agent_hooks.run.status"] == "completed"
    assert signals.spans["execute_tool look"].attributes["gen_ai.tool.call.id"] == "c1"
    assert signals.metrics["gen_ai.execute_tool.duration"] == [{"gen_ai.operation.name": "execute_tool"}]


def test_a_tool_that_fails_has_the_type_of_its_error_and_not_its_text(signals):
    @tool
    def fail() -> str:
        """Fail."""
        raise OSError("canary")

    agent(signals, ToolCall("fail", {}), "Done.", tools=(fail,)).build().run_sync("go")
    span = signals.spans["execute_tool fail"]
    assert span.attributes["error.type"] == "OSError"
    assert not span.status.is_ok
    assert "canary" not in "".join(each.to_json() for each in signals.exporter.get_finished_spans())
    assert signals.metrics["gen_ai.execute_tool.duration"] == [
        {"gen_ai.operation.name": "execute_tool", "error.type": "OSError"}
    ]


def test_parallel_tools_have_the_run_as_parent(signals):
    calls = [ToolCall("add", {"a": 1, "b": 1}, id="c1"), ToolCall("add", {"a": 2, "b": 2}, id="c2")]
    builder = agent(signals, calls, "Done.", tools=(add,)).with_parallel_tools()
    builder.build().run_sync("go")
    assert of_the_runtime(signals) == [*["execute_tool add < invoke_agent agent"] * 2, "invoke_agent agent"]


def test_a_subagents_run_is_below_the_tool_that_starts_it_and_told_once(signals):
    telemetry = Telemetry(**signals.providers)
    counting = AgentBuilder(plugins=()).with_driver(ScriptedDriver(ToolCall("add", {"a": 1, "b": 1}), "two"))
    child = counting.with_tools(add).with_capability(telemetry).with_name("child").build()
    silent = AgentBuilder(plugins=()).with_driver(ScriptedDriver("fine")).with_name("silent").build()

    @tool
    async def spawn() -> str:
        """Start others."""
        return f"{(await run_subagent(child, 'count')).output} {(await run_subagent(silent, 'count')).output}"

    starting = AgentBuilder(plugins=()).with_driver(ScriptedDriver(ToolCall("spawn", {}), "Done."))
    parent = starting.with_tools(spawn).with_capability(telemetry).with_name("parent").build()
    assert parent.run_sync("go").output == "Done."
    assert of_the_runtime(signals) == [
        "execute_tool add < invoke_agent child",
        "invoke_agent child < execute_tool spawn",
        "invoke_agent silent < execute_tool spawn",
        "execute_tool spawn < invoke_agent parent",
        "invoke_agent parent",
    ]


def test_a_run_that_waits_ends_its_span_and_goes_on_in_another(signals):
    builder = agent(signals, ToolCall("add", {"a": 1, "b": 1}, id="c1"), "Done.", tools=(add,))
    builder = builder.before_tool_use(lambda ctx: HookOutcome.suspend("Wait.")).with_store(MemoryStore())
    waiting = builder.build().run_sync("go")
    assert waiting.status == "suspended"
    assert signals.spans["invoke_agent agent"].attributes["agent_hooks.run.status"] == "suspended"
    with signals.span("answer"):
        state = builder.build().resume_sync(waiting, "allow")
    assert state.output == "Done."
    assert of_the_runtime(signals) == [
        "invoke_agent agent",
        "execute_tool add < invoke_agent agent",
        "invoke_agent agent < answer",
        "answer",
    ]


def test_the_spans_of_a_run_are_not_current_for_its_consumer(signals):
    async def run():
        async for _ in agent(signals, ToolCall("add", {"a": 1, "b": 1}), "x", tools=(add,)).build().iterate("go"):
            assert not trace.get_current_span().get_span_context().is_valid
            break

    asyncio.run(run())
    assert "invoke_agent agent" in signals.spans


def test_a_cancelled_run_ends_its_spans(signals):
    @tool
    async def wait() -> str:
        """Wait."""
        at_work.set()
        await asyncio.Event().wait()
        return ""

    async def run():
        task = asyncio.create_task(agent(signals, ToolCall("wait", {}), tools=(wait,)).build().run("go"))
        await at_work.wait()
        task.cancel()
        await asyncio.wait([task])

    at_work = asyncio.Event()
    asyncio.run(run())
    assert signals.spans["execute_tool wait"].attributes["error.type"] == "CancelledError"
    assert signals.spans["invoke_agent agent"].attributes["agent_hooks.run.status"] == "stopped"


def test_content_leaves_only_where_it_is_asked_for(signals):
    builder = agent(signals, ToolCall("add", {"a": 1, "b": 1}), "x", tools=(add,), content=True)
    builder = builder.before_tool_use(lambda ctx: HookOutcome.deny("Too big.") if ctx.tool_args["a"] > 1 else None)
    builder.build().run_sync("go")
    attributes = signals.spans["execute_tool add"].attributes
    assert attributes["gen_ai.tool.call.arguments"] == '{"a": 1, "b": 1}'
    assert attributes["gen_ai.tool.call.result"] == "2"
    agent(signals, ToolCall("add", {"a": 2, "b": 1}), "x", tools=(add,), content=True).before_tool_use(
        lambda ctx: HookOutcome.deny("Too big.")
    ).build().run_sync("go")
    assert signals.spans[DISPATCH].attributes["agent_hooks.reason"] == "Too big."


def test_content_that_is_no_json_ends_no_span_early(signals):
    @tool
    def circle() -> dict[Any, Any]:
        """Return itself."""
        return {(1, 2): "a key that JSON does not have"}

    agent(signals, ToolCall("circle", {}), "x", tools=(circle,), content=True).build().run_sync("go")
    assert "TypeError" in signals.spans["execute_tool circle"].attributes["gen_ai.tool.call.result"]


# -- beside others that trace ------------------------------------------------------------------------------------------


def test_pydantic_ai_tells_of_the_requests_to_its_models_below_the_run(signals):
    settings = InstrumentationSettings(tracer_provider=signals.tracers, include_content=False)
    driver = PydanticAIDriver(InstrumentedModel(TestModel(), settings))
    AgentBuilder(plugins=()).with_driver(driver).with_capability(Telemetry(**signals.providers)).build().run_sync("go")
    assert of_the_runtime(signals) == ["chat test < invoke_agent agent", "invoke_agent agent"]


# -- what goes wrong ---------------------------------------------------------------------------------------------------


class FailingExporter(SpanExporter):
    def export(self, spans):
        raise OSError("unreachable")


class FailingProcessor(SpanProcessor):
    def on_start(self, span, parent_context=None):
        raise OSError("broken")

    def on_end(self, span):
        raise OSError("broken")


@pytest.mark.parametrize(
    "broken", [SimpleSpanProcessor(FailingExporter()), FailingProcessor()], ids=["export", "start"]
)
@pytest.mark.parametrize("spans", ["decided", "all"])
def test_a_failing_exporter_changes_no_decision(broken, spans, engine):
    signals = Signals(broken)
    engine.manager.register(Telemetry(**signals.providers, spans=spans))

    @engine.hook()
    def looks_at_the_current_span(ctx):
        trace.get_current_span().set_attribute("seen", True)
        return HookOutcome.deny("No.") if ctx.tool_args["command"] == "rm" else None

    assert engine.dispatch(shell("ls")) == HookOutcome.proceed()
    assert engine.dispatch(shell("rm")).reason == "No."
    assert not trace.get_current_span().get_span_context().is_valid
    state = agent(signals, ToolCall("add", {"a": 1, "b": 1}), "Done.", tools=(add,)).build().run_sync("go")
    assert state.output == "Done."


def test_errors_of_observers_of_runs_change_no_run(engine):
    """Of their calls, and of what they return."""

    def fails(*_given):
        raise OSError

    observers = [
        Plugin(agent_hooks_run_started=hookimpl(lambda: 1)),
        Plugin(agent_hooks_run_started=hookimpl(lambda: Plugin(resume=fails, pause=fails, end=fails))),
        Plugin(agent_hooks_run_started=hookimpl(fails), agent_hooks_tool_started=hookimpl(fails)),
        Plugin(agent_hooks_tool_started=hookimpl(lambda: fails)),
    ]
    builder = AgentBuilder(plugins=observers).with_driver(ScriptedDriver(ToolCall("add", {"a": 1, "b": 1}), "Done."))
    assert builder.with_tools(add).build().run_sync("go").output == "Done."


def test_a_span_does_not_start_after_its_end(signals):
    """A hook that timed out may still run, in its thread."""
    span = LazySpan(signals.tracer, HookEvent.BEFORE_TOOL_USE)
    span.end()
    assert not span.get_span_context().is_valid
    span.set_attribute("late", True)
    assert signals.tree == []


def test_a_wrong_setting_is_an_error():
    with pytest.raises(RegistrationError, match="'decided', 'all' or 'none', not 'some'"):
        Telemetry(spans="some")


OFF = """\
import agent_hooks.cli.run, agent_hooks.runtime.loop, agent_hooks.sources.loading
print({"opentelemetry", "agent_hooks.observability", "agent_hooks.sources.telemetry"} & {*sys.modules})
"""
MISSING = """\
sys.modules["opentelemetry"] = None
try: import agent_hooks.observability
except ImportError as error: print(error)
"""
REMEDY = "Telemetry needs OpenTelemetry: pip install 'agent-hooks-core[otel]'."


@pytest.mark.parametrize(("program", "expected"), [(OFF, "set()"), (MISSING, REMEDY)], ids=["off", "missing"])
def test_nothing_is_imported_before_it_is_asked_for(program, expected):
    done = subprocess.run([sys.executable, "-c", f"import sys\n{program}"], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == expected


# -- by name, and in files ---------------------------------------------------------------------------------------------


@pytest.fixture
def user(tmp_path_factory, monkeypatch):
    """The folder of the user's settings."""
    folder = tmp_path_factory.mktemp("user")
    monkeypatch.setenv("AGENT_HOOKS_CONFIG_DIR", str(folder))
    return folder


@pytest.fixture
def global_signals(signals, monkeypatch):
    """Signals of the providers that an application sets once, for everybody."""
    monkeypatch.setattr("opentelemetry.trace._TRACER_PROVIDER", signals.tracers)
    configured.cache_clear()
    yield signals
    configured.cache_clear()


def test_the_capability_has_a_name(global_signals):
    builder = AgentBuilder(plugins=()).with_driver(ScriptedDriver("Done."))
    builder.with_capability("telemetry", spans="all").build().run_sync("go")
    assert "agent_hooks.dispatch should_continue < invoke_agent agent" in global_signals.tree
    with pytest.raises(RegistrationError, match="'decided', 'all' or 'none'"):
        builder.with_capability("telemetry", spans="some").build()


def test_the_users_file_asks_for_it(global_signals, user, tmp_path):
    (user / "agent-hooks.toml").write_text('[telemetry]\nspans = "all"\n')
    manager = load(tmp_path, plugins=())
    assert manager.findings == []
    manager.hooks().dispatch_sync(shell())
    assert global_signals.tree == [DISPATCH]


def test_what_the_application_registers_takes_its_place(global_signals, user, tmp_path):
    (user / "agent-hooks.toml").write_text('[telemetry]\nspans = "all"\n')
    manager = load(tmp_path, plugins=[Telemetry(spans="none")])
    manager.hooks().dispatch_sync(shell())
    assert global_signals.tree == []


def test_a_command_reports_nothing(user, tmp_path):
    """An exporter's import alone takes longer than all else that `agent-hooks run` does."""
    (user / "agent-hooks.toml").write_text("[telemetry]\n")
    manager = HookConfigLoader(tmp_path).load(load_plugins=False)
    assert manager.watchers.agent_hooks_run_started == ()


def test_a_project_and_a_wrong_key_are_findings(user, tmp_path):
    (user / "agent-hooks.toml").write_text('[telemetry]\nspan = "all"\n')
    [wrong] = load(tmp_path, plugins=()).findings
    assert (wrong.path, wrong.line, wrong.blocks) == (str(user / "agent-hooks.toml"), 2, False)
    assert "telemetry.span is not a key here" in wrong.message
    read = read_toml(b"[telemetry]\ncontent = true\n", path="agent-hooks.toml", source="project")
    assert read is not None
    [finding] = read.findings
    assert (finding.kind, finding.blocks) == ("not-allowed", False)
    assert telemetry_settings([ReadFile(path="agent-hooks.toml", source="project", settings={"telemetry": {}})]) is None


def test_a_file_that_asks_in_vain_is_a_finding(user, tmp_path, monkeypatch):
    (user / "agent-hooks.toml").write_text("\n[telemetry]\n")
    monkeypatch.setattr("agent_hooks.sources.telemetry.find_spec", lambda name: None)
    [finding] = load(tmp_path, plugins=()).findings
    assert (finding.kind, finding.line, finding.blocks) == ("not-installed", 2, False)
    assert finding.remedy == "pip install 'agent-hooks-core[otel]'."


# -- the page ----------------------------------------------------------------------------------------------------------


def test_the_page_lists_every_name():
    """Of spans, metrics and attributes; and no other of ours."""
    page = (Path(__file__).parent.parent / "docs" / "telemetry.md").read_text(encoding="utf-8")
    listed = {
        name.split(" ")[0] for line in page.splitlines() if line[:2] == "| " for name in re.findall("`(.*?)`", line)
    }
    values = [value for name, value in vars(attributes).items() if name.isupper() and isinstance(value, str)]
    names = {value for value in values if value != attributes.SCOPE}
    assert names <= listed
    assert {name for name in listed if name.startswith(("agent_hooks.", "gen_ai."))} <= names
