"""The connections of http hooks: one for each request, gone with it."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import httpcore
import pytest

from agent_hooks.errors import HandlerError
from handlers.servers import DENY, Server, answering, awaited, hook_of, over_tls, sending, to, tool_call

pytestmark = [pytest.mark.interpreter, pytest.mark.usefixtures("nothing_left")]


def test_each_request_has_a_connection_that_ends_with_it(serve, ask):
    server = serve(answering(DENY))
    hook = to(server)
    for _ in range(2):
        assert ask(hook).decision == "deny"
        assert server.gone.acquire(timeout=30)
    assert (server.connections, len(server.requests)) == (2, 2)


def test_a_connection_over_tls_ends_with_its_request(serve_tls, certificate, monkeypatch, ask):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "certificate.pem"))
    server = serve_tls(answering(DENY))
    assert ask(over_tls(server, "127.0.0.1")).decision == "deny"
    assert server.gone.acquire(timeout=30)


def test_a_request_is_never_sent_twice(serve, ask):
    server = serve(sending(b""))
    with pytest.raises(HandlerError):
        ask(to(server))
    assert len(server.requests) == 1


def test_a_server_that_hangs_does_not_hold_up_the_hooks_of_another(serve):
    released = threading.Event()
    hanging, good = serve(lambda _connection: released.wait(60) and None), serve(answering(DENY))
    waiting = [threading.Thread(target=_ask_in_vain, args=(to(hanging, timeout=60.0),)) for _ in range(12)]
    for thread in waiting:
        thread.start()
    assert to(good)(tool_call()).decision == "deny"
    assert all(thread.is_alive() for thread in waiting)
    released.set()
    for thread in waiting:
        thread.join()


def _ask_in_vain(hook):
    with pytest.raises(HandlerError):
        hook(tool_call())


def test_many_threads_ask_at_once(serve):
    server = serve(answering(DENY))
    hook = to(server)
    decisions = []
    threads = [threading.Thread(target=lambda: decisions.append(hook(tool_call()).decision)) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert decisions == ["deny"] * 20
    assert server.connections <= 20


def test_a_cancelled_task_ends_its_request(serve):
    asked = threading.Event()

    def behave(connection):
        connection.request()
        asked.set()
        connection.wait_for_end()

    server = serve(behave)

    async def cancelled():
        task = asyncio.create_task(awaited(to(server)))
        await asyncio.to_thread(asked.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert server.gone.acquire(timeout=10)


def test_a_process_without_descriptors_fails_the_hook_and_recovers(serve, ask, monkeypatch):
    hook = to(serve(answering(DENY)))

    def refuse():
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "new_event_loop", refuse)
        with pytest.raises(OSError, match="Too many open files"):
            hook(tool_call())
    assert ask(hook).decision == "deny"


def test_a_connection_that_the_system_gives_up_is_a_failure(resolver, monkeypatch, ask):
    async def connect_tcp(*_):
        raise httpcore.ConnectTimeout("Connection timed out")

    resolver["far.example"] = ["93.184.216.34"]
    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect_tcp)
    with pytest.raises(HandlerError, match=r"far\.example: Connection timed out"):
        ask(hook_of("https://far.example/"))


PROGRAM = """
import os, sys
from agent_hooks.model.events import HookEvent
from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.http import HttpHandler
from agent_hooks.handlers.http_config import HttpConfig
from agent_hooks.testing import make_context

config = {"url": sys.argv[1]}
hook = HttpHandler().bind(
    HttpConfig.model_validate(config), HookEntry(event=HookEvent.BEFORE_TOOL_USE, type="http", config=config)
)
# One write per line: two processes share the pipe.
ask = lambda: os.write(1, f"{hook(make_context('before_tool_use', tool='Bash')).decision}\\n".encode())
ask()
"""


def run(program: str, server: Server) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", "-c", program, f"http://127.0.0.1:{server.port}/"]
    return subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)


def test_a_process_ends_without_leftovers(serve):
    last = "import atexit, threading; atexit.register(lambda: print(threading.active_count()))\n"
    done = run(last + PROGRAM, serve(answering(DENY)))
    assert (done.returncode, done.stdout, done.stderr) == (0, "deny\n1\n", "")


def test_a_forked_process_has_connections_of_its_own(serve):
    server = serve(answering(DENY))
    forking = PROGRAM + (
        "import warnings; warnings.simplefilter('ignore')\n"  # Python warns of a fork with threads
        "child = os.fork()\n"
        "ask()\n"
        "if child: assert os.waitpid(child, 0)[1] == 0\n"
    )
    done = run(forking, server)
    assert (done.returncode, done.stdout, done.stderr) == (0, "deny\n" * 3, "")
    assert server.connections == 3
