"""The loop of the resident process (``serve``): clients, their events, and the workers that answer them.

It has everything imported and loads no settings and no code of others. It passes each event on to a worker, a fork of
its own (``worker``), watches the time, and passes the answer back. It serves the processes of its own account, outside
of sandboxes that it is not in itself. Once any of its files changes it declines, finishes, and leaves.
"""

from __future__ import annotations

import os
import select
import signal
import socket
from contextlib import suppress
from time import monotonic

from agent_hooks.system.sockets import (
    LENGTH,
    BrokenFrameError,
    identity,
    pack,
    peer_of,
    size_of,
    unpack,
    variables_at_start,
)
from agent_hooks_core import FOLDER

from .confinement import confinement_of, limits_of
from .exporting import Exporting, export
from .resident import ANSWERED, DECLINED, EVENT, NO_ANSWER, STATUS, STOP, TAKEN, VERSION
from .supervised import ENDING, LONGER, TOO_LATE
from .worker import Request, start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import NoReturn

    from .confinement import Limits
    from .warming import LoadedFiles

# Idle workers that are kept, and workers at the same time; further events are declined.
_MOST_IDLE = 4
_MOST_WORKERS = 16
# Connections at the same time; further ones are closed.
_MOST_CLIENTS = 100
# A worker is replaced after this many events, whatever it has kept by then.
_MOST_EVENTS = 5000
# Seconds for a client to send its request.
_REQUEST_SECONDS = 5.0
# Seconds after its deadline at which a worker is killed, if it has not answered by then.
_GRACE_SECONDS = 0.1
_PART = 256 * 1024


class Worker:
    """A worker process as the resident process sees it."""

    def __init__(self, pid: int, channel: socket.socket, place: object) -> None:
        self.pid = pid
        self.channel = channel
        self.place = place
        self.client: Client | None = None
        self.deadline = 0.0
        self.received = bytearray()
        self.events = 0


class Client:
    """A connection, the request that it sends, and the answer that it gets."""

    def __init__(self, connection: socket.socket, pid: int) -> None:
        self.connection = connection
        self.pid = pid
        self.received = bytearray()
        self.deadline = monotonic() + _REQUEST_SECONDS
        self.worker: Worker | None = None
        self.to_send = b""
        self.is_done = False


class Server:
    """The loop of the resident process: one thread, which never waits for a client or a worker."""

    def __init__(
        self, listener: socket.socket, idle_seconds: float, files: LoadedFiles, kept_open: tuple[int, ...] = ()
    ) -> None:
        self._listener = listener
        self._kept_open = kept_open
        self._wake, self._wake_in = socket.socketpair()
        self._idle_seconds = idle_seconds
        self._files = files
        self._identity = identity(FOLDER, VERSION)
        self._at_start = variables_at_start(dict(os.environb))
        self._alike = b""  # the variables that were last found to be so, as a client sends them
        self._confinement = confinement_of(os.getpid())
        self._poll = select.poll()
        for each in (self._listener, self._wake):
            self._poll.register(each, select.POLLIN)
        for each in (self._wake, self._wake_in):
            each.setblocking(False)
        signal.set_wakeup_fd(self._wake_in.fileno())  # a signal alone does not end a call of poll
        self._clients: dict[int, Client] = {}
        self._workers: dict[int, Worker] = {}
        self._last = monotonic()
        self._counts = {"answered": 0, "declined": 0}
        self._why_declined = ""
        self._exporting = Exporting(lambda: self._fork(lambda here, kept_open: export(here, kept_open, self._files)))
        self.leaves = ""

    def run(self) -> str:
        """Serve until there is a reason to leave, and return it."""
        while not self.leaves or self._clients:
            now = monotonic()
            if not self._clients and now >= self._last + self._idle_seconds:
                self.leaves = f"nothing happened for {self._idle_seconds:g} seconds"
                break
            for descriptor, event in self._poll.poll(max(0.0, self._next_deadline() - now) * 1000 + 1):
                if descriptor == self._listener.fileno():
                    self._accept()
                elif descriptor in self._clients:
                    self._on_client(self._clients[descriptor], event)
                elif descriptor in self._workers:
                    self._on_worker(self._workers[descriptor])
                elif descriptor == self._exporting.descriptor:
                    if not self._exporting.read():
                        self._poll.unregister(descriptor)
                elif descriptor == self._wake.fileno():
                    self._wake.recv(64)
            self._end_overdue(monotonic())
        for worker in list(self._workers.values()):
            self._end(worker)
        return self.leaves

    def leave(self, why: str) -> None:
        """Accept no more events, and leave when those that were accepted are answered."""
        if not self.leaves:
            self.leaves = why
            with suppress(KeyError, ValueError, OSError):
                self._poll.unregister(self._listener)
            self._listener.close()

    def _next_deadline(self) -> float:
        clients = (client.deadline for client in self._clients.values() if client.worker is None)
        workers = (worker.deadline for worker in self._workers.values() if worker.client is not None)
        return min(self._last + self._idle_seconds, *clients, *workers, monotonic() + 3600)

    def _end_overdue(self, now: float) -> None:
        for client in list(self._clients.values()):
            if client.worker is None and now >= client.deadline:
                self._drop(client)
        for worker in list(self._workers.values()):
            if worker.client is not None and now >= worker.deadline:
                client, worker.client = worker.client, None
                self._end(worker)
                self._answer(client, pack(NO_ANSWER, f"the hooks {TOO_LATE}. {LONGER}".encode()))

    # -- clients -----------------------------------------------------------------------------------------------------

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except OSError:
            return
        connection.setblocking(False)
        try:
            pid, user = peer_of(connection)
        except OSError:
            pid, user = 0, -1
        if user != os.geteuid() or len(self._clients) >= _MOST_CLIENTS:
            connection.close()
            return
        client = self._clients[connection.fileno()] = Client(connection, pid)
        self._poll.register(connection, select.POLLIN)
        self._on_client(client, select.POLLIN)  # the request is usually there already

    def _on_client(self, client: Client, event: int) -> None:
        try:
            if client.to_send and event & select.POLLOUT:
                self._send(client)
                return
            data = client.connection.recv(_PART)
            client.received += data
            size = size_of(client.received)
            if not data or client.worker is not None or client.is_done:
                self._drop(client)  # it is gone, or sends more than one request
            elif size and len(client.received) >= size:
                self._take(client, unpack(client.received))
        except BlockingIOError:
            return
        except Exception as error:  # noqa: BLE001 - whatever was sent, the others are served
            self._count_declined(f"a request that is none, or comes too late: {error}")
            self._drop(client)

    def _take(self, client: Client, fields: list[bytes]) -> None:
        """Handle a request. Raises for one that is none."""
        kind = fields[0] if fields else b""
        confinement = confinement_of(client.pid)
        is_alike = confinement is not None and confinement == self._confinement
        event = Request(fields[1:]) if kind == EVENT else None
        seconds = event.wait if event is not None else _REQUEST_SECONDS
        client.connection.send(TAKEN + int(seconds * 1_000_000).to_bytes(LENGTH, "big"))
        if kind == STATUS or (kind == STOP and is_alike):
            self._answer(client, pack(kind if is_alike else NO_ANSWER, self._status().encode()))
            if kind == STOP:
                self.leave("it was asked to stop")
            return
        self._last = monotonic()
        if not is_alike:
            self._decline(client, "a client in a sandbox, or in another container")
        elif event is None or event.identity != self._identity:
            self._decline(client, "another version or installation of agent-hooks")
        elif changed := self._files.changed():
            self._decline(client, f"a change of {changed}")
            self.leave(f"{changed} has changed")
        elif not self._starts_alike(event):
            self._decline(client, "other variables that count at the start of Python, such as PYTHONPATH or LANG")
        else:
            self._pass_on(client, event, limits_of(client.pid))

    def _starts_alike(self, event: Request) -> bool:
        """Whether the variables that count at the start of Python are those of this process."""
        if event.variables != self._alike and variables_at_start(event.environment()) == self._at_start:
            self._alike = event.variables
        return event.variables == self._alike

    def _status(self) -> str:
        counts = ", ".join(f"{name} {count}" for name, count in self._counts.items())
        why = f" (last: {self._why_declined})" if self._why_declined else ""
        return f"process {os.getpid()}; workers {len(self._workers)}; events {counts}{why}{self._exporting.status()}"

    def _decline(self, client: Client, why: str) -> None:
        self._count_declined(why)
        self._answer(client, pack(DECLINED, why.encode()))

    def _count_declined(self, why: str) -> None:
        self._counts["declined"] += 1
        self._why_declined = why

    def _answer(self, client: Client, frame: bytes) -> None:
        client.to_send, client.worker, client.is_done = frame, None, True
        client.deadline = monotonic() + _REQUEST_SECONDS
        self._send(client)

    def _send(self, client: Client) -> None:
        try:
            client.to_send = client.to_send[client.connection.send(client.to_send) :]
        except BlockingIOError:
            pass
        except OSError:
            client.to_send = b""
        if client.to_send:
            self._poll.register(client.connection, select.POLLOUT)
        else:
            self._drop(client)

    def _drop(self, client: Client) -> None:
        """Close a connection, and end what is done for it: the host does not wait any more."""
        if client.worker is not None:
            client.worker.client = None
            self._end(client.worker)
        self._clients.pop(client.connection.fileno(), None)
        with suppress(KeyError, OSError):
            self._poll.unregister(client.connection)
        client.connection.close()

    # -- workers -----------------------------------------------------------------------------------------------------

    def _pass_on(self, client: Client, event: Request, limits: Limits | None) -> None:
        place = (event.place, limits)
        idle = [worker for worker in self._workers.values() if worker.client is None]
        worker = next((each for each in reversed(idle) if each.place == place), None)
        if worker is None:
            if idle and (len(idle) >= _MOST_IDLE or len(self._workers) >= _MOST_WORKERS):
                self._end(idle[0])
            if len(self._workers) >= _MOST_WORKERS:
                self._decline(client, "more events at once than it has workers for")
                return
            try:
                worker = self._start(place, limits)
            except OSError as error:
                self._decline(client, f"no worker can start: {error}")
                return
        worker.client, client.worker = client, worker
        worker.deadline = monotonic() + event.seconds + _GRACE_SECONDS
        try:
            worker.channel.settimeout(1.0)  # an idle worker reads at once
            worker.channel.sendall(client.received)
            worker.channel.setblocking(False)
        except OSError:
            self._lose(worker)

    def _start(self, place: object, limits: Limits | None) -> Worker:
        """Return a new worker. Raises ``OSError`` where the system has no process or descriptor for it."""
        pid, here = self._fork(lambda there, kept_open: start(there, kept_open, limits, self._files))
        self._workers[here.fileno()] = worker = Worker(pid, here, place)
        return worker

    def _fork(self, child: Callable[[socket.socket, tuple[int, ...]], NoReturn]) -> tuple[int, socket.socket]:
        """Return the id of a new process and the channel to it. ``child``: gets its end, and descriptors to close."""
        here, there = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            for number in (*ENDING, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)
            open_here = [here, self._listener, self._wake, self._wake_in]
            open_here += [each.channel for each in self._workers.values()]
            open_here += [each.connection for each in self._clients.values()]
            numbers = (self._exporting.descriptor, *(each.fileno() for each in open_here))
            child(there, (*self._kept_open, *(number for number in numbers if number >= 0)))
        there.close()
        with suppress(OSError):
            os.setpgid(pid, pid)
        self._poll.register(here, select.POLLIN)
        return pid, here

    def _on_worker(self, worker: Worker) -> None:
        try:
            data = worker.channel.recv(_PART)
            worker.received += data
            size = size_of(worker.received)
        except BlockingIOError:
            return
        except (OSError, BrokenFrameError):
            data, size = b"", 0
        if not data or worker.client is None:
            self._lose(worker)
        elif size and len(worker.received) >= size:
            client, worker.client = worker.client, None
            frame, worker.received = bytes(worker.received), bytearray()
            # The most recently used one is the last.
            self._workers[worker.channel.fileno()] = self._workers.pop(worker.channel.fileno())
            kind, *rest = unpack(frame)
            self._counts["answered" if kind == ANSWERED else "declined"] += 1
            if kind != ANSWERED:
                self._why_declined = rest[-1].decode("utf-8", "replace")
            worker.events += 1
            self._answer(client, pack(kind, *rest[:3]))
            if any(rest[3:]):
                self._exporting.pass_on(rest[3])
            idle = [each for each in self._workers.values() if each.client is None]
            for each in idle[:-_MOST_IDLE] or ([worker] if worker.events >= _MOST_EVENTS else []):
                self._end(each)

    def _lose(self, worker: Worker) -> None:
        """Drop a worker that has ended. Its client decides by itself."""
        client, worker.client = worker.client, None
        self._end(worker)
        if client is not None:
            self._decline(client, "a worker that has ended")

    def _end(self, worker: Worker) -> None:
        """Kill a worker. The processes of its hooks end with it: each has a guard (see ``supervised``)."""
        self._workers.pop(worker.channel.fileno(), None)
        with suppress(KeyError, OSError):
            self._poll.unregister(worker.channel)
        worker.channel.close()
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(worker.pid, signal.SIGKILL)
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)  # it may not have its group yet
        with suppress(ChildProcessError):
            os.waitpid(worker.pid, 0)
