"""The exporting process of the resident one, with the SDK's console exporter, which writes to a collector here."""

from __future__ import annotations

import json
import os
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks.cli.exporting import Exporting
from projects import denying, toml
from residents import Resident

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commands import Command

pytestmark = [
    pytest.mark.full,
    pytest.mark.not_resident("it starts its own"),
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no resident process on this system"),
]

CANARY = "canary-4711"
# A distribution as those of OpenTelemetry's exporters.
EXPORTERS = """\
import os
from urllib.request import urlopen
from opentelemetry.sdk.metrics.export import ConsoleMetricExporter
from opentelemetry.sdk.trace.export import ConsoleSpanExporter

class Collector:
    def write(self, text):
        urlopen(os.environ["COLLECTOR"], text.encode()).close()
    def flush(self):
        pass

class Spans(ConsoleSpanExporter):
    def __init__(self):
        super().__init__(out=Collector())

class Metrics(ConsoleMetricExporter):
    def __init__(self):
        super().__init__(out=Collector())
"""
POINTS = """\
[opentelemetry_traces_exporter]
here = exporters:Spans
[opentelemetry_metrics_exporter]
here = exporters:Metrics
"""


class Collector(ThreadingHTTPServer):
    """Keeps the requests that it gets, and answers them while ``answers`` is set. ``asked``: set by a request."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Collecting)
        self.received: list[str] = []
        self.asked, self.answers = Event(), Event()
        self.answers.set()

    def spans(self) -> list[dict[str, Any]]:
        """The attributes of the spans, each with its name."""
        found = [json.loads(text) for text in self.received]
        return [{"name": each["name"], **each["attributes"]} for each in found if "name" in each]

    def points(self, name: str) -> list[dict[str, Any]]:
        """The attributes of the points of a metric."""
        resources = [each for text in self.received for each in json.loads(text).get("resource_metrics", ())]
        metrics = [metric for each in resources for scope in each["scope_metrics"] for metric in scope["metrics"]]
        return [
            point["attributes"] for each in metrics if each["name"] == name for point in each["data"]["data_points"]
        ]


class Collecting(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        text = self.rfile.read(int(self.headers["Content-Length"])).decode()
        self.server.asked.set()
        self.server.answers.wait(60)
        self.server.received.append(text)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_arguments: Any) -> None:
        pass


@pytest.fixture
def command(started_command: Command) -> Command:
    return started_command


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.answers.set()
        server.shutdown()


@pytest.fixture
def serve(command: Any, collector: Collector) -> Iterator[Callable[..., Resident]]:
    """Start a resident process with the exporters, which ends with the test."""
    (command.site / "exporters.py").write_text(EXPORTERS)
    info: Path = command.site / "exporters-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: exporters\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(POINTS)
    started: list[Resident] = []

    def start(exporter: str = "here") -> Resident:
        env = {"OTEL_TRACES_EXPORTER": exporter, "OTEL_METRICS_EXPORTER": exporter, "OTEL_BSP_SCHEDULE_DELAY": "10"}
        env["COLLECTOR"] = f"http://127.0.0.1:{collector.server_port}"
        started.append(Resident(command, env=env))
        return started[-1]

    yield start
    for each in started:
        each.end()


def test_an_event_answered_in_a_worker_and_one_in_its_child_arrive_without_content(command, payload, serve, collector):
    def shell(line: str) -> Any:
        event = payload("claude-code", "PreToolUse", tool_name="Bash", tool_input={"command": f"{line} # {CANARY}"})
        return command.answer("claude-code", event)

    command.configure("[telemetry]\ncontent = true\n")
    running = serve()
    assert shell("rm ~/.config/agent-hooks/trust").exit_code == 2
    assert shell("ls").exit_code == 0  # no span: nobody decided
    command.configure("[telemetry]\ncontent = true\n" + toml(denying(CANARY)))
    assert CANARY in shell("ls").stderr
    assert running.answered == 3
    running.end()  # which sends what is left
    here, child = collector.spans()
    assert here["name"] == child["name"] == "agent_hooks.dispatch before_tool_use"
    assert (here["agent_hooks.decision"], child["agent_hooks.decision"]) == ("deny", "deny")
    assert (here["agent_hooks.source"], child["agent_hooks.source"]) == ("managed", "user")
    assert here["gen_ai.tool.name"] == "Bash"
    assert here["gen_ai.conversation.id"] == payload("claude-code", "PreToolUse")["session_id"]
    decisions = [point["agent_hooks.source"] for point in collector.points("agent_hooks.decisions")]
    assert sorted(decisions) == ["managed", "user"]
    durations = [point["agent_hooks.decision"] for point in collector.points("agent_hooks.dispatch.duration")]
    assert sorted(durations) == ["deny", "proceed"]
    assert not any(CANARY in text for text in collector.received)


def test_nothing_starts_unless_a_file_asks_for_it(command, payload, serve, collector):
    command.configure(toml(denying("no")))
    running = serve()
    assert command.answer("claude-code", payload("claude-code", "PreToolUse")).why == "no"
    assert running.answered == 1
    assert "telemetry" not in command("serve", "--status").stdout
    running.end()
    assert collector.received == []


def test_a_collector_that_hangs_delays_no_answer(command, payload, serve, collector):
    command.configure("[telemetry]\n" + toml(denying("no")))
    running = serve()
    collector.answers.clear()
    event = payload("claude-code", "PreToolUse")
    assert command.answer("claude-code", event).why == "no"
    assert collector.asked.wait(60)
    assert [command.answer("claude-code", event).why for _ in range(3)] == ["no"] * 3
    assert collector.received == []
    assert "telemetry passed on 4, dropped 0" in command("serve", "--status").stdout
    collector.answers.set()
    running.end()
    assert len(collector.spans()) == 4


def test_the_status_says_why_nothing_is_exported(command, payload, serve):
    command.configure("[telemetry]\n" + toml(denying("no")))
    running = serve("missing")
    event = payload("claude-code", "PreToolUse")
    for asked in range(1, 200):  # until it has found out
        assert command.answer("claude-code", event).why == "no"
        assert running.answered == asked
        if "ended" in (status := command("serve", "--status").stdout):
            break
    assert "ended (last: RuntimeError: Requested component 'missing' not found" in status


def test_one_that_ends_is_started_once_more():
    started = []

    def start() -> tuple[int, socket.socket]:
        here, there = socket.socketpair()
        there.close()
        started.append(os.spawnlp(os.P_NOWAIT, "true", "true"))
        return started[-1], here

    exporting = Exporting(start)
    for _ in range(4):
        exporting.pass_on(b"{}")
        assert exporting.descriptor < 0 or not exporting.read()
    assert len(started) == 2
    assert "passed on 0, dropped 4, ended" in exporting.status()


def test_a_record_is_whole_or_dropped_and_nobody_waits():
    here, there = socket.socketpair()
    exporting = Exporting(lambda: (0, here))
    first, second = b"a" * 300_000, b"b" * 300_000  # more than the system keeps
    with here, there:
        there.settimeout(30)
        for _ in range(3):
            exporting.pass_on(first)
        assert "passed on 1, dropped 2" in exporting.status()
        received = b""
        while second not in (lines := received.split(b"\n"))[:-1]:
            received += there.recv(100_000)
            exporting.pass_on(second)
    assert {*lines[:-1]} == {first, second}
