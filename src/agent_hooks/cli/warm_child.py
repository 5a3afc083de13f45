"""A child of the warm process: it takes the place of a client, and answers one event on the ordinary path."""

from __future__ import annotations

import gc
import os
import signal
import sys
import time
from socket import SHUT_WR

from agent_hooks.errors import AgentHooksError
from agent_hooks.system.sockets import receive, send

from .confinement import confinement_of, limits_of, take_over
from .run import answer_to, parse_options
from .start import Start
from .stdin import read_object
from .supervised import be_the_child
from .supervisor import Marks
from .warm_client import EVENT, GO, STATUS, STOP, facts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from socket import socket
    from typing import Any, NoReturn

    from .supervised import Work
    from .warming import Warm

# The exit codes of a child that has asked no hooks; the last one if there was none to ask.
DECLINED, CHANGED, UNCOUNTED = 100, 101, 102
_REQUEST_SECONDS = 5.0


def answer(connection: socket, client: int, token: str, warm: Warm, status: str, why: int) -> NoReturn:
    """Answer a request, in a fork of the warm process.

    ``client``: the id of its process. ``token``: for the environment of what this process starts. ``status``: what the
    warm process says about itself. ``why``: a pipe for the reason why an event is declined.
    """
    try:
        connection.settimeout(_REQUEST_SECONDS)
        request, descriptors = receive(connection)
        kind, theirs, *event = request
        confinement = confinement_of(client)
        is_alike = confinement is not None and confinement == warm.confinement
        if kind in (STATUS, STOP):
            if kind == STOP and is_alike:
                os.kill(os.getppid(), signal.SIGTERM)
            send(connection, (status, is_alike))
            os._exit(UNCOUNTED)
        if not is_alike:
            _decline(why, "a client in a sandbox, or in another container")
        if kind != EVENT or theirs != facts():
            _decline(why, "a Python that was started otherwise")
        if name := warm.other_variable(event[2]):
            _decline(why, f"another value of the variable {name}")
        if changed := warm.changed():
            _decline(why, f"a change of {changed}", CHANGED)
        noises, marks = _take_the_place(client, event, descriptors)

        def ask(work: Work, deadline: float) -> NoReturn:
            send(connection, (os.getpid(), token, deadline))
            if connection.recv(1) != GO:  # it decides by itself
                os._exit(DECLINED)
            connection.setblocking(True)
            os.close(why)
            be_the_child(work, token, connection.fileno(), noises, Marks(marks), lambda: connection.shutdown(SHUT_WR))

        begun = Start()
        begun.at, begun.payload = event[0], read_object(event[-1])
        answer_to(parse_options(event[1]), begun, ask)
        os._exit(UNCOUNTED)
    except AgentHooksError:  # of the command line, or the payload: the command says so itself
        os._exit(UNCOUNTED)
    except (OSError, ValueError) as error:
        _decline(why, f"a request that cannot be served: {error}")
    finally:
        os._exit(DECLINED)


def _decline(why: int, reason: str, code: int = DECLINED) -> NoReturn:
    os.write(why, f"\n{reason}".encode("utf-8", "replace")[:1000])
    os._exit(code)


def _take_the_place(client: int, event: list[Any], descriptors: list[int]) -> tuple[int, int]:
    """Take over stdin, the folder, the environment, the limits and signals of a client; return the descriptors for the
    output of hooks and for marks.
    """
    _, arguments, variables, (umask, processors, ignored, blocked), _ = event
    stdin, noises, marks, here = descriptors
    os.dup2(stdin, 0)
    os.fchdir(here)
    os.close(stdin)
    os.close(here)
    for name in os.environb.keys() - variables.keys():
        del os.environb[name]
    os.environb.update({name: value for name, value in variables.items() if os.environb.get(name) != value})
    time.tzset()
    os.umask(umask)
    for number in ignored:
        signal.signal(number, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
    if processors:
        os.sched_setaffinity(0, processors)
    take_over(limits_of(client))
    sys.argv[1:] = ["run", *arguments]
    gc.enable()
    gc.set_threshold(50_000)
    return noises, marks


def restore_signals(numbers: Iterable[int]) -> None:
    """Let signals do in this process what they do in one that has just started."""
    for number in numbers:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.set_wakeup_fd(-1)
