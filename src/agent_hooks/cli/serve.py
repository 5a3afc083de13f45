"""``agent-hooks serve``: the resident process, which answers the events of coding agents for ``agent-hooks run``.

It has everything imported and loads no settings and no code of others. It passes each event on to a worker, a fork of
its own (``worker``), watches the time, and passes the answer back. It serves the processes of its own account, outside
of sandboxes that it is not in itself. Once any of its files changes it declines, finishes, and leaves.
"""

from __future__ import annotations

import gc
import os
import select
import signal
import socket
import sys
from contextlib import suppress
from time import monotonic

from agent_hooks.errors import AgentHooksError
from agent_hooks.system.by_hand import refuse_agents
from agent_hooks.system.folders import lock_file
from agent_hooks.system.sockets import (
    LENGTH,
    BrokenFrameError,
    address_of,
    identity,
    open_folder,
    pack,
    peer_of,
    size_of,
    socket_folder,
    socket_name,
    unpack,
    variables_at_start,
)
from agent_hooks_core import FOLDER

from .confinement import confinement_of
from .resident import ANSWERED, DECLINED, EVENT, NO_ANSWER, STATUS, STOP, TAKEN, VERSION, ask_for
from .supervised import ENDING, LONGER, TOO_LATE
from .warming import LoadedFiles, warm
from .worker import Request, start

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

IDLE_SECONDS = 1800.0
# Idle workers that are kept, and workers at the same time; further events are declined.
_MOST_IDLE = 4
_MOST_WORKERS = 16
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

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
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
        if user != os.geteuid():
            connection.close()
            return
        client = self._clients[connection.fileno()] = Client(connection)
        confinement = confinement_of(pid)
        if confinement is None or confinement != self._confinement:
            self._drop(client)
            self._count_declined("a client in a sandbox, or in another container")
        else:
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
        except (OSError, BrokenFrameError, ValueError):
            self._drop(client)

    def _take(self, client: Client, fields: list[bytes]) -> None:
        """Handle a request. Raises ``ValueError`` or ``BrokenFrameError`` for one that is none."""
        kind = fields[0] if fields else b""
        event = Request(fields[1:]) if kind == EVENT else None
        seconds = event.wait if event is not None else _REQUEST_SECONDS
        client.connection.send(TAKEN + int(seconds * 1_000_000).to_bytes(LENGTH, "big"))
        if kind in (STATUS, STOP):
            self._answer(client, pack(kind, self._status().encode()))
            if kind == STOP:
                self.leave("it was asked to stop")
            return
        self._last = monotonic()
        if event is None or event.identity != self._identity:
            self._decline(client, "another version or installation of agent-hooks")
        elif changed := self._files.changed():
            self._decline(client, f"a change of {changed}")
            self.leave(f"{changed} has changed")
        elif variables_at_start(event.environment) != self._at_start:
            self._decline(client, "other variables that count at the start of Python, such as PYTHONPATH or LANG")
        else:
            self._pass_on(client, event, bytes(client.received))

    def _status(self) -> str:
        counts = ", ".join(f"{name} {count}" for name, count in self._counts.items())
        why = f" (last: {self._why_declined})" if self._why_declined else ""
        return f"process {os.getpid()}; workers {len(self._workers)}; events {counts}{why}"

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

    def _pass_on(self, client: Client, event: Request, request: bytes) -> None:
        idle = [worker for worker in self._workers.values() if worker.client is None]
        worker = next((each for each in reversed(idle) if each.place == event.place), None)
        if worker is None:
            if len(self._workers) >= _MOST_WORKERS:
                self._decline(client, "more events at once than it has workers for")
                return
            if len(idle) >= _MOST_IDLE:
                self._end(idle[0])
            worker = self._start(event.place)
        worker.client, client.worker = client, worker
        worker.deadline = monotonic() + event.seconds + _GRACE_SECONDS
        try:
            worker.channel.settimeout(1.0)  # an idle worker reads at once
            worker.channel.sendall(request)
            worker.channel.setblocking(False)
        except OSError:
            self._lose(worker)

    def _start(self, place: object) -> Worker:
        here, there = socket.socketpair()
        pid = os.fork()
        if pid == 0:
            for number in (*ENDING, signal.SIGINT):
                signal.signal(number, signal.SIG_DFL)
            signal.set_wakeup_fd(-1)
            open_here = [
                here,
                self._listener,
                self._wake,
                self._wake_in,
                *(each.channel for each in self._workers.values()),
            ]
            open_here += [client.connection for client in self._clients.values()]
            numbers = (each.fileno() for each in open_here)
            start(there, (*self._kept_open, *(number for number in numbers if number >= 0)), self._files)
        there.close()
        with suppress(OSError):
            os.setpgid(pid, pid)
        worker = self._workers[here.fileno()] = Worker(pid, here, place)
        self._poll.register(here, select.POLLIN)
        return worker

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
            is_answered = unpack(frame)[:1] == [ANSWERED]
            self._counts["answered" if is_answered else "declined"] += 1
            if not is_answered:
                self._why_declined = unpack(frame)[-1].decode("utf-8", "replace")
            worker.events += 1
            self._answer(client, frame)
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


def serve(idle_seconds: float) -> NoReturn:
    """Be the resident process of this account and environment, in the foreground. Raises ``AgentHooksError``."""
    refuse_agents(AgentHooksError)
    folder = socket_folder()
    if confinement_of(os.getpid()) is None:
        raise AgentHooksError("It would run in a sandbox: start it outside, without NoNewPrivileges.")
    if not folder:
        raise AgentHooksError("There is no resident process on this system: `agent-hooks run` decides by itself.")
    try:
        descriptor = open_folder(folder, create=True)
        name = socket_name(FOLDER)
        lock = os.open(
            os.path.join(folder, f"{name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )
    except OSError as error:
        raise AgentHooksError(f"The socket cannot be made in {folder}: {error}.") from error
    if not lock_file(lock, wait=False):
        raise AgentHooksError("A resident process is already running here: `agent-hooks serve --status`.")
    os.chdir("/")
    os.umask(0o077)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # events come from no terminal
    files = warm()
    gc.disable()
    gc.collect()
    gc.freeze()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=descriptor)
    try:
        listener.bind(address_of(descriptor, folder, name))
    except OSError as error:
        raise AgentHooksError(f"The socket cannot be made in {folder}: {error}.") from error
    listener.listen(128)
    listener.setblocking(False)
    server = Server(listener, idle_seconds, files, (descriptor, lock))
    for number in (*ENDING, signal.SIGINT):
        signal.signal(number, lambda received, _frame: server.leave(f"{signal.Signals(received).name} was received"))
    _say(f"serving process {os.getpid()}")
    why = ""
    try:
        why = server.run()
    finally:
        with suppress(OSError):
            os.unlink(name, dir_fd=descriptor)
    _say(f"left, because {why}")
    os._exit(0)


USAGE = f"""\
Usage: agent-hooks serve [--idle SECONDS] | --status | --stop

Answer the events of coding agents in a process that stays. `agent-hooks run` uses it while it is there, and decides by
itself otherwise: the answers are the same, only sooner. It runs in the foreground, for this account and this
environment, until it is stopped, has had nothing to do, or its files change.

  --idle SECONDS  leave after this time without an event (default: {IDLE_SECONDS:g})
  --status        say whether one runs (exit code 0) or not (1)
  --stop          let the one that runs finish and leave
"""


def command(arguments: list[str]) -> NoReturn:
    """Run the command line ``agent-hooks serve``. Exits 2 for a wrong usage, 1 where there is none, or one too many."""
    if arguments in (["--help"], ["-h"]):
        print(USAGE)
    elif arguments in (["--status"], ["--stop"]):
        answer = ask_for(STATUS if arguments == ["--status"] else STOP)
        if answer is None:
            print("No resident process runs here: `agent-hooks run` decides by itself.")
            sys.exit(1)
        print(f"{'Asked to leave' if answer[0] == STOP else 'It runs'}: {answer[1].decode()}.")
    else:
        try:
            serve(_idle_seconds(arguments))
        except AgentHooksError as error:
            print(f"agent-hooks: {error}", file=sys.stderr)
            sys.exit(1)
    sys.exit(0)


def _idle_seconds(arguments: list[str]) -> float:
    name, _, value = "=".join(arguments).partition("=")
    try:
        seconds = float(value) if name == "--idle" else 0.0 if arguments else IDLE_SECONDS
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        print(f"agent-hooks: --idle takes a number of seconds above 0.\n\n{USAGE}", file=sys.stderr)
        sys.exit(2)
    return seconds


def _say(text: str) -> None:
    with suppress(OSError, ValueError):
        print(f"agent-hooks serve: {text}.", file=sys.stderr, flush=True)
