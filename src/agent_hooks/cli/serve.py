"""``agent-hooks serve``: the resident process, which answers the events of coding agents for ``agent-hooks run``.

It has everything imported and loads no settings and no code of others. It passes each event on to a worker, a fork of
its own (``worker``), watches the time, and passes the answer back. It serves the processes of its own account, outside
of sandboxes that it is not in itself. Once any of its files changes it declines, finishes, and leaves.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
from contextlib import suppress

from agent_hooks.errors import AgentHooksError
from agent_hooks.system.by_hand import refuse_agents
from agent_hooks.system.folders import lock_file
from agent_hooks.system.sockets import address_of, open_folder, socket_folder, socket_name
from agent_hooks_core import FOLDER

from .confinement import confinement_of
from .resident import NO_ANSWER, STATUS, STOP, ask_for
from .server import Server
from .supervised import ENDING
from .warming import warm

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn

IDLE_SECONDS = 1800.0


def serve(idle_seconds: float) -> NoReturn:
    """Be the resident process of this account and environment, in the foreground. Raises ``AgentHooksError``."""
    refuse_agents(AgentHooksError, by_person=False)  # a service starts it without a terminal
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

_SAID = {
    STATUS: "It runs",
    STOP: "Asked to leave",
    NO_ANSWER: "It runs, but not for this sandbox or container",
    b"": "No resident process runs here: `agent-hooks run` decides by itself",
}


def command(arguments: list[str]) -> NoReturn:
    """Run the command line ``agent-hooks serve``. Exits 2 for a wrong usage, 1 where there is none, or one too many."""
    try:
        if arguments == ["--stop"]:
            refuse_agents(AgentHooksError)
        if arguments in (["--help"], ["-h"]):
            print(USAGE)
        elif arguments in (["--status"], ["--stop"]):
            kind, status = ask_for(STATUS if arguments == ["--status"] else STOP) or (b"", b"")
            print(f"{_SAID[kind]}{': ' if status else ''}{status.decode()}.")
            sys.exit(0 if kind in (STATUS, STOP) else 1)
        else:
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
