"""The connections of http hooks: used again, given up, and gone with whoever needed them."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
import time

import httpcore
import pytest

from agent_hooks.errors import HandlerError
from agent_hooks.handlers import connections
from handlers.servers import (
    DENY,
    Server,
    answering,
    awaited,
    hook_of,
    open_connections,
    over_tls,
    sending,
    to,
    tool_call,
)

pytestmark = pytest.mark.usefixtures("nothing_left")


def test_a_connection_is_used_again(serve, ask):
    server = serve(answering(DENY))
    hook = to(server)
    assert [ask(hook).decision, ask(hook).decision] == ["deny", "deny"]
    assert (server.connections, len(server.requests)) == (1, 2)


def test_a_connection_is_used_again_by_other_hooks_and_in_the_other_colour(serve):
    server = serve()
    to(server, "/one")(tool_call())
    asyncio.run(awaited(to(server, "/two")))
    to(server, "/three", form="skill")(tool_call())
    assert (server.connections, len(server.requests)) == (1, 3)


def test_a_connection_over_tls_is_used_again(serve_tls, certificate, monkeypatch, ask):
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate / "certificate.pem"))
    server = serve_tls(answering(DENY))
    hook = over_tls(server, "127.0.0.1")
    ask(hook)
    ask(hook)
    assert (server.connections, len(server.requests)) == (1, 2)


def test_a_connection_that_the_server_has_closed_is_replaced(serve, ask):
    server = serve(sending(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"))
    hook = to(server)
    for _ in range(3):
        ask(hook)
        assert server.gone.acquire(timeout=30)
    assert (server.connections, len(server.requests)) == (3, 3)


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
    end = time.monotonic() + 5
    while open_connections() and time.monotonic() < end:  # the server knows first
        time.sleep(0.005)
    assert open_connections() == 0


def test_a_process_without_descriptors_fails_the_hook_and_recovers(serve, ask, monkeypatch):
    hook = to(serve(answering(DENY)))

    def refuse():
        raise OSError(24, "Too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(asyncio, "new_event_loop", refuse)
        with pytest.raises(OSError, match="Too many open files"):
            hook(tool_call())
    assert ask(hook).decision == "deny"


def test_a_process_without_threads_fails_the_hook_and_recovers(serve, ask, monkeypatch):
    server = serve(answering(DENY))

    def refuse(thread):
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError, match="can't start new thread"):
            to(server)(tool_call())
    assert ask(to(server)).decision == "deny"


def test_a_connection_that_the_system_gives_up_is_a_failure(resolver, monkeypatch, ask):
    async def connect_tcp(*_):
        raise httpcore.ConnectTimeout("Connection timed out")

    resolver["far.example"] = ["93.184.216.34"]
    monkeypatch.setattr(httpcore.AnyIOBackend, "connect_tcp", connect_tcp)
    with pytest.raises(HandlerError, match=r"far\.example: Connection timed out"):
        ask(hook_of("https://far.example/"))


def test_after_closing_the_next_request_begins_anew(serve):
    server = serve(answering(DENY))
    hook = to(server)
    hook(tool_call())
    connections.close()
    assert server.gone.acquire(timeout=30)
    assert hook(tool_call()).decision == "deny"
    assert server.connections == 2


def test_closing_ends_what_is_being_waited_for(serve):
    asked, failed = threading.Event(), threading.Event()

    def behave(connection):
        connection.request()
        asked.set()
        connection.wait_for_end()

    hook = to(serve(behave))

    def wait():
        with pytest.raises(Exception):  # noqa: B017 - at the end of a process any failure will do
            hook(tool_call())
        failed.set()

    thread = threading.Thread(target=wait)
    thread.start()
    assert asked.wait(30)
    connections.close()
    thread.join(30)
    assert failed.is_set()


PROGRAM = """
import os, sys
from agent_hooks.model.events import HookEvent
from agent_hooks.formats.entry import HookEntry
from agent_hooks.handlers.http import HttpConfig, HttpHandler
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
    assert server.connections == 2
