"""The exporting process of the resident one, which reports to OpenTelemetry the events that were answered.

OpenTelemetry's SDK runs threads, so it must not be in a process that forks. A fork of the resident process, made at the
first record, gets the records through a socket that nobody waits for: while it is full, records are dropped.
"""

from __future__ import annotations

import atexit
import gc
import os
import signal

from agent_hooks.errors import described
from agent_hooks.system.quick_json import loads
from agent_hooks.system.visible import without_controls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from socket import socket
    from typing import Any, NoReturn

    from .warming import LoadedFiles

# How often it is started in all: the same fault may end it again.
_MOST_STARTS = 2
# Seconds to send the remaining records when the resident process has ended.
_SECONDS_AT_END = 15
# Where OpenTelemetry's own variables say nothing.
_DEFAULTS = {"TRACES_EXPORTER": "otlp", "METRICS_EXPORTER": "otlp", "EXPORTER_OTLP_PROTOCOL": "http/protobuf"}


class Exporting:
    """The exporting process as the resident process sees it.

    ``start``: starts it, and returns its id and channel. ``descriptor``: of the channel, -1 for none.
    """

    def __init__(self, start: Callable[[], tuple[int, socket]]) -> None:
        self._start = start
        self._starts = 0
        self._pid = 0
        self.descriptor = -1
        self._channel: socket | None = None
        self._to_send = b""
        self._counts = {"passed on": 0, "dropped": 0}
        self._why = ""

    def pass_on(self, record: bytes) -> None:
        """Pass a record on, or drop it."""
        is_sent = False
        try:
            if self._channel is None and self._starts < _MOST_STARTS:
                self._starts += 1
                self._pid, self._channel = self._start()
                self._channel.setblocking(False)
                self.descriptor = self._channel.fileno()
            while self._channel is not None and not is_sent:
                is_sent = not self._to_send  # the rest of an earlier one goes first
                self._to_send = self._to_send or record + b"\n"
                self._to_send = self._to_send[self._channel.send(self._to_send) :]
        except BlockingIOError:
            pass
        except OSError as error:  # it cannot start, or has ended, as `read` notices
            is_sent, self._why = False, self._why or str(error)
        self._counts["passed on" if is_sent else "dropped"] += 1

    def read(self) -> bool:
        """Take over its last error message, and return whether it still runs."""
        assert self._channel is not None
        try:
            said = self._channel.recv(64 * 1024)
        except OSError:
            said = b""
        if said:
            self._why = without_controls(said.decode("utf-8", "replace").strip().rpartition("\n")[2][:500])
            return True
        self._channel.close()
        self._channel, self._to_send, self.descriptor = None, b"", -1
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        return False

    def status(self) -> str:
        """Return how many records were passed on and dropped, and the last error; nothing if there were none."""
        if not self._starts:
            return ""
        counts = ", ".join(f"{name} {count}" for name, count in self._counts.items())
        why = f" (last: {self._why})" if self._why else ""
        return f"; telemetry {counts}{'' if self._channel else ', ended'}{why}"


def export(channel: socket, kept_open: tuple[int, ...], files: LoadedFiles) -> NoReturn:
    """Be the exporting process: the child of a fork. ``kept_open``: descriptors of the resident process to close."""
    said = channel.makefile("w", errors="replace")
    try:
        os.setpgid(0, 0)
        for number in (signal.SIGTERM, signal.SIGHUP):  # may reach a whole service: this one finishes
            signal.signal(number, signal.SIG_IGN)
        files.release()
        for descriptor in kept_open:
            os.close(descriptor)
        gc.enable()
        import logging

        from opentelemetry.sdk import _configuration

        from agent_hooks.observability import Telemetry

        logging.raiseExceptions = False  # nobody may listen any more
        logging.basicConfig(stream=said)
        for name, value in _DEFAULTS.items():
            os.environ.setdefault(f"OTEL_{name}", value)
        if "service.name=" not in os.environ.get("OTEL_RESOURCE_ATTRIBUTES", ""):
            os.environ.setdefault("OTEL_SERVICE_NAME", "agent-hooks")
        configurator: Any = _configuration._OTelSDKConfigurator  # to be subclassed by whoever configures the SDK
        type("Configurator", (configurator,), {})().configure()
        telemetry = Telemetry()
        for record in channel.makefile("rb"):
            try:
                telemetry.report(loads(record.decode()))
            except Exception as error:  # noqa: BLE001 - one that is cut, or not of ours
                print(described(error), file=said, flush=True)
    except BaseException as error:  # noqa: BLE001 - the status says it
        print(described(error), file=said, flush=True)
    finally:
        signal.alarm(_SECONDS_AT_END)
        try:
            atexit._run_exitfuncs()  # those of the SDK send the remaining records
        finally:
            os._exit(0)
