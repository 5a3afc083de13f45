"""Processes of the command that are forked from one that has imported everything, which costs a fraction of a start.

Each is a process of its own, with its own environment, folder and streams; nothing of it is left for the next one. What
depends on the start of Python, on what is imported, or on who keeps a stream open, needs a process that was started.
"""

from __future__ import annotations

import atexit
import gc
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import traceback
from contextlib import ExitStack, suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any, NoReturn

import agent_hooks

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# First on its path, wherever else there is a package of ours.
_PACKAGES = str(Path(agent_hooks.__file__).parent.parent)
# Bytes of a number and of the length of a request.
_NUMBER = 4
# Imported by the command when it needs them, beside our own modules.
_LATER = "asyncio email.headerregistry importlib_metadata logging platform pydantic rich.table sqlite3".split()
_NOT_NEEDED = ("frameworks", "runtime.", "testing", "__main__", "cli.plugin_template")


class Forking:
    """The process that has imported everything. It ends when its connection does."""

    def __init__(self) -> None:
        self._connection, there = socket.socketpair()
        variables = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME")}
        with there:
            subprocess.run(
                [sys.executable, __file__, str(there.fileno())],
                env={**variables, "PYTHONPATH": _PACKAGES, "PYTHONWARNINGS": "error"},
                pass_fds=[there.fileno()],
                stdin=subprocess.DEVNULL,
                check=True,
            )
        self._lock = threading.Lock()

    def run(
        self, words: Sequence[str], env: Mapping[str, str], cwd: Path, stdin: bytes | int, seconds: float
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a Python script with its arguments, ``words``, as ``subprocess.run`` would with its output captured."""
        with self._lock, ExitStack() as stack:
            files = [stack.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
            descriptors = [file.fileno() for file in files]
            if isinstance(stdin, bytes):
                files[0].write(stdin)
                files[0].seek(0)
            elif stdin == subprocess.DEVNULL:
                descriptors[0] = stack.enter_context(open(os.devnull, "rb")).fileno()
            else:
                descriptors[0] = stdin
            request = json.dumps({"words": words, "env": {**env}, "cwd": str(cwd)}).encode()
            socket.send_fds(self._connection, [len(request).to_bytes(_NUMBER, "big")], descriptors)
            self._connection.sendall(request)
            pid = self._number()
            self._connection.settimeout(seconds)
            try:
                code = self._number()
            except TimeoutError as error:
                os.kill(pid, signal.SIGKILL)
                self._connection.settimeout(None)
                self._number()
                raise subprocess.TimeoutExpired([*words], seconds) from error
            finally:
                self._connection.settimeout(None)
            for file in files:
                file.seek(0)
            return subprocess.CompletedProcess([*words], code, files[1].read(), files[2].read())

    def _number(self) -> int:
        received = self._connection.recv(_NUMBER, socket.MSG_WAITALL)
        assert len(received) == _NUMBER, "the process that forks has ended"
        return int.from_bytes(received, "big", signed=True)


@cache
def forking() -> Forking:
    """Return the process of this one that forks, which is started when it is first needed."""
    return Forking()


# -- in the process that forks -----------------------------------------------------------------------------------------


def _import_all() -> None:
    skipped = tuple(f"agent_hooks.{name}" for name in _NOT_NEEDED)
    names = [each.name for each in walk_packages(agent_hooks.__path__, "agent_hooks.")]
    for name in (*_LATER, *(name for name in names if not name.startswith(skipped))):
        import_module(name)


def _fork(connection: socket.socket) -> dict[str, Any]:
    """Fork a process for each request, in which this returns the request with ``descriptors``."""
    while True:
        head, descriptors, _, _ = socket.recv_fds(connection, _NUMBER, 3)
        if not head:
            os._exit(0)
        request: dict[str, Any] = json.loads(connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL))
        child = os.fork()
        if child == 0:
            connection.close()
            return {**request, "descriptors": descriptors}
        for descriptor in descriptors:
            os.close(descriptor)
        connection.sendall(child.to_bytes(_NUMBER, "big"))
        status = os.waitpid(child, 0)[1]
        connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(_NUMBER, "big", signed=True))


def _become(request: dict[str, Any], path: list[str]) -> None:
    """Take the streams, the folder, the environment and the import path of a request."""
    for number, descriptor in enumerate(request["descriptors"]):
        os.dup2(descriptor, number)
        os.close(descriptor)
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["env"])
    sys.argv[:] = request["words"]
    sys.path[:] = [os.path.dirname(sys.argv[0]), *os.environ["PYTHONPATH"].split(os.pathsep), *path]


def _run_script() -> NoReturn:
    """Run the script and end as Python does, except that no memory is freed: that would take most of the time."""
    code: Any = 0
    try:
        exec(
            compile(Path(sys.argv[0]).read_bytes(), sys.argv[0], "exec"),
            {"__name__": "__main__", "__file__": sys.argv[0]},
        )
    except SystemExit as error:
        code = error.code
        if not isinstance(code, int | None):
            sys.stderr.write(f"{code}\n")
            code = 1
    except BaseException:  # noqa: BLE001 - as Python does
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined] # waits for threads
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(code or 0)


if __name__ == "__main__":
    if os.fork():  # tests look at what is left of their own children
        os._exit(0)
    _import_all()
    gc.freeze()
    _path = sys.path[2:]  # after the folder of this file, and the packages
    _become(_fork(socket.socket(fileno=int(sys.argv[1]))), _path)
    _run_script()
