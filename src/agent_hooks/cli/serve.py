"""``agent-hooks serve``: the warm process, which forks a child for each event of a coding agent.

It has imported the core and the installed plugins, and knows nothing else: each child reads settings, trusts and files
of projects anew (``warm_child``). It serves the processes of its own account, outside of sandboxes that it is not in
itself. Once something that it has imported changes, it leaves, and the next event starts another one.
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
from agent_hooks.system.folders import config_dirs, lock_file, managed_dir, read_regular
from agent_hooks.system.sockets import address_of, open_folder, peer_of, socket_folder, socket_name
from agent_hooks.system.visible import without_controls
from agent_hooks_core import FOLDER

from .confinement import confinement_of
from .supervisor import ENDING, Child
from .warm_child import CHANGED, DECLINED, UNCOUNTED, answer, restore_signals
from .warm_client import DONE, ENDED, STATUS, STOP, ask_for, is_isolated, serve_command, socket_path
from .warming import Warm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

IDLE_SECONDS = 900.0
# What an import has read from the clock, or over the network, is this old at most.
_MOST_SECONDS = 3600.0
# Children at the same time. Further events are decided elsewhere, rather than all of them late.
_MOST_CHILDREN = 16
_LEAST_MEMORY = 256 * 1024 * 1024


class _Client:
    """A connection, and the child that serves it, until both have ended."""

    def __init__(self, connection: socket.socket, child: Child) -> None:
        self.connection, self.child = connection, child
        self.has_left = self.is_told = False


class Server:
    """The loop of the warm process: one thread, which never waits for a client or a child."""

    def __init__(self, listener: socket.socket, idle_seconds: float, warm: Warm, descriptors: tuple[int, ...]) -> None:
        self._listener, self._idle_seconds, self._warm = listener, idle_seconds, warm
        self._wake, self._wake_in = socket.socketpair()
        self._why, self._why_in = os.pipe()
        self._own = (*descriptors, self._wake.fileno(), self._wake_in.fileno(), self._why, listener.fileno())
        self._poll = select.poll()
        for descriptor in (listener.fileno(), self._wake.fileno(), self._why):
            os.set_blocking(descriptor, False)
            self._poll.register(descriptor, select.POLLIN)
        self._wake_in.setblocking(False)
        signal.set_wakeup_fd(self._wake_in.fileno())  # a signal alone does not end a call of poll
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._clients: dict[int, _Client] = {}  # by descriptor
        self._sweepers: list[Child] = []
        self._counts = {"answered": 0, "declined": 0}
        self._why_declined = ""
        self._pid, self._token = os.getpid(), os.urandom(8).hex()
        self._began = self._last = monotonic()
        self.leaves = ""

    def run(self) -> str:
        """Serve until there is a reason to leave, and return it."""
        while not self.leaves or self._clients:
            wait = min(self._last + self._idle_seconds, self._began + _MOST_SECONDS) - monotonic()
            if wait <= 0 and not self._clients:
                return f"nothing happened for {self._idle_seconds:g} seconds, or it has run for an hour"
            ready = {descriptor for descriptor, _ in self._poll.poll(1000 * max(0.0, wait) + 1)}
            for descriptor in ready & self._clients.keys():
                self._part(descriptor)
            if self._listener.fileno() in ready:
                self._accept()
            if self._wake.fileno() in ready:
                self._wake.recv(64)
            if self._why in ready:
                self._why_declined = os.read(self._why, 65536).decode("utf-8", "replace").rpartition("\n")[2]
            self._reap()
        return self.leaves

    def leave(self, why: str) -> None:
        """Accept no more events, and leave when those that were accepted are answered."""
        if not self.leaves and os.getpid() == self._pid:  # no child that has just begun, and has a signal
            self.leaves = why
            self._poll.unregister(self._listener)
            with suppress(OSError):
                os.unlink(self._listener.getsockname())

    def _accept(self) -> None:
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, ConnectionError):  # it has gone
            return
        except OSError as error:
            self.leave(str(error))
            return
        self._last = monotonic()
        client, user = peer_of(connection)
        if user != os.geteuid() or len(self._clients) >= _MOST_CHILDREN:
            connection.close()
            return
        try:
            pid = os.fork()
        except OSError:  # too many processes
            connection.close()
            return
        token = f"{self._token}{pid or os.getpid():010}"
        if pid == 0:
            restore_signals((*ENDING, signal.SIGCHLD))
            os.setpgid(0, 0)
            for descriptor in (*self._own, *self._clients):
                os.close(descriptor)
            answer(connection, client, token, self._warm, self._status(), self._why_in)
        self._clients[connection.fileno()] = _Client(connection, Child(pid, token))
        self._poll.register(connection, 0)  # its end

    def _part(self, descriptor: int) -> None:
        """Take leave of a client. If it goes before it has said so, its host does not wait for the hooks any more."""
        self._poll.unregister(descriptor)
        client = self._clients[descriptor]
        client.has_left = True
        try:
            is_done = client.connection.recv(1, socket.MSG_DONTWAIT) == DONE
        except OSError:
            is_done = False
        self._counts["answered"] += is_done
        if is_done or client.child.has_ended():
            return
        with suppress(OSError):
            os.kill(client.child.pid, signal.SIGKILL)
            self._sweepers.append(Child(os.fork(), ""))  # to find what hooks have started takes a while
            if self._sweepers[-1].pid == 0:
                try:
                    client.child.kill_all()
                finally:
                    os._exit(0)

    def _reap(self) -> None:
        self._sweepers = [child for child in self._sweepers if not child.has_ended()]
        for descriptor, client in list(self._clients.items()):
            if not client.child.has_ended():
                continue
            if not client.is_told:
                client.is_told = True
                code = client.child.exit_code()
                self._counts["declined"] += code in (DECLINED, CHANGED)
                with suppress(OSError):
                    client.connection.send(b"" if code == UNCOUNTED else ENDED + str(code).encode())
                    client.connection.shutdown(socket.SHUT_WR)  # a process of a hook may have it, too
                if code == CHANGED:
                    self.leave("something that it has imported has changed")
            if client.has_left:
                client.connection.close()
                del self._clients[descriptor]

    def _status(self) -> str:
        counts = ", ".join(f"{name} {count}" for name, count in self._counts.items())
        why = f" (last: {without_controls(self._why_declined)})" if self._why_declined else ""
        left = [f"; each event imports the plugin {name}: {why}" for name, why in self._warm.plugins.items() if why]
        return f"process {self._pid}; events {counts}{why}{''.join(left)}"


def serve(idle_seconds: float, *, is_detached: bool = False) -> NoReturn:
    """Be the warm process of this account and environment. Raises ``AgentHooksError``.

    ``is_detached``: it was started by an event, and has no stream to speak to.
    """
    folder, name = socket_folder(), socket_name(FOLDER)
    if not folder:
        raise AgentHooksError("There is no warm process on this system: `agent-hooks run` decides by itself.")
    if confinement_of(os.getpid()) is None:
        raise AgentHooksError("It would run in a sandbox: start it outside, without NoNewPrivileges.")
    if is_detached:
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # what the host's processes inherit
        if why := _unwanted():
            raise AgentHooksError(why)
    try:
        descriptor = open_folder(folder, create=True)
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        lock = os.open(f"{name}.lock", flags, 0o600, dir_fd=descriptor)
    except OSError as error:
        raise AgentHooksError(f"The socket cannot be made in {folder}: {error}.") from error
    if not lock_file(lock, wait=False):
        raise AgentHooksError("A warm process is already running here: `agent-hooks serve --status`.")
    os.chdir("/")
    os.umask(0o077)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)  # events come from no terminal
    sys.argv[1:] = ["run"]  # as imports find it
    warm = Warm()
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
    server = Server(listener, idle_seconds, warm, (descriptor, lock))
    for number in (*ENDING, signal.SIGINT):
        signal.signal(number, lambda received, _frame: server.leave(f"{signal.Signals(received).name} was received"))
    _say(f"serving process {os.getpid()}")
    why = ""
    try:
        why = server.run()
    finally:
        for each in (name, f"{name}.tried"):  # the next event starts another one
            with suppress(OSError):
                os.unlink(each, dir_fd=descriptor)
    _say(f"left, because {why}")
    os._exit(0)


def _unwanted() -> str:
    """Return why an event must not start it, an empty string if it may."""
    from tomllib import loads

    for folder in (managed_dir(), *config_dirs()):
        with suppress(OSError, ValueError, KeyError, TypeError):
            settings = loads(read_regular(os.path.join(folder, "agent-hooks.toml"), 2**20).decode())
            if settings["serve"]["start"] is False:
                return f"{folder}/agent-hooks.toml says so."
    if (most := _memory_limit()) < _LEAST_MEMORY:
        return f"There is a limit of {most // 2**20} MiB of memory here."
    return ""


def _memory_limit() -> int:
    """Return the bytes that processes here may have, of the control group and of the process."""
    from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit

    limits = [limit for limit in getrlimit(RLIMIT_AS) if limit != RLIM_INFINITY]
    with suppress(OSError, ValueError, IndexError):
        with open("/proc/self/cgroup", encoding="utf-8") as file:
            path = next(line.strip().split(":", 2)[2] for line in file if line.startswith("0::"))
        while path:
            with suppress(OSError, ValueError), open(f"/sys/fs/cgroup{path}/memory.max", encoding="utf-8") as file:
                limits.append(int(file.read()))
            path = path.rpartition("/")[0]
    return min(limits, default=sys.maxsize)


USAGE = f"""\
Usage: agent-hooks serve [--idle SECONDS] | --status | --stop

Answer the events of coding agents in a process that has everything imported, and forks a child for each. On Linux the
first event starts it; here it runs in the foreground. `agent-hooks run` uses it while it is there, and decides by
itself otherwise: the answers are the same, only sooner.

  --idle SECONDS  leave after this time without an event (default: {IDLE_SECONDS:g})
  --status        say whether one runs (exit code 0) or not (1)
  --stop          let the one that runs finish and leave
"""


def command(arguments: list[str]) -> NoReturn:
    """Run the command line ``agent-hooks serve``. Exits 2 for a wrong usage, 1 where there is none, or one too many."""
    try:
        if arguments not in (["--help"], ["-h"], ["--status"], ["--detached"]):
            # It would have what an agent's shell has set.
            refuse_agents(AgentHooksError, by_person=arguments == ["--stop"])
        if not is_isolated():  # as in the hosts' settings
            os.execv(sys.executable, [*serve_command(), *arguments])  # noqa: S606 - ourselves
        if arguments in (["--help"], ["-h"]):
            print(USAGE)
        elif arguments in (["--status"], ["--stop"]):
            _say_what_runs(ask_for(STATUS if arguments == ["--status"] else STOP), is_asked="--stop" in arguments)
        elif arguments == ["--detached"]:
            serve(IDLE_SECONDS, is_detached=True)
        else:
            serve(_idle_seconds(arguments))
    except AgentHooksError as error:
        if arguments == ["--detached"]:
            _note_why(str(error))
        print(f"agent-hooks: {error}", file=sys.stderr)
        sys.exit(1)
    sys.exit(0)


def _say_what_runs(said: tuple[str, bool] | None, *, is_asked: bool) -> None:
    if said is None:
        print(f"No warm process runs here: `agent-hooks run` decides by itself{_read_why()}.")
        sys.exit(1)
    status, is_alike = said
    if is_asked and not is_alike:
        raise AgentHooksError(f"It was not asked to leave, because it runs outside of this sandbox: {status}.")
    print(f"{'Asked to leave' if is_asked else 'It runs'}{'' if is_alike else ', not for this sandbox'}: {status}.")


def _note_why(why: str) -> None:
    with suppress(OSError), open(socket_path(".tried"), "w", encoding="utf-8") as file:
        file.write(why)


def _read_why() -> str:
    with suppress(OSError), open(socket_path(".tried"), encoding="utf-8") as file:
        if why := file.read(1000).rstrip("."):
            return f". The last one did not start: {why}"
    return ""


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
