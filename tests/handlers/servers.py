"""Servers on loopback, and http hooks that ask them."""

from __future__ import annotations

import contextlib
import socket
import threading
from typing import TYPE_CHECKING

from agent_hooks.formats.entry import HookEntry, Permits
from agent_hooks.handlers.http import HttpHandler
from agent_hooks.handlers.http_config import HttpConfig
from agent_hooks.model.events import HookEvent
from agent_hooks.testing import make_context

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

DENY = b'{"decision": "deny", "reason": "Not on a Friday."}'


# -- servers -----------------------------------------------------------------------------------------------------------


class Server:
    """A server on loopback: ``behave(connection)`` for each connection, in a thread of its own."""

    def __init__(self, behave: Callable[[Connection], None], tls: ssl.SSLContext | None = None, address="127.0.0.1"):
        self.behave = behave
        self.tls = tls
        self.listener = socket.create_server((address, 0), family=socket.AF_INET6 if ":" in address else socket.AF_INET)
        self.port = self.listener.getsockname()[1]
        self.connections = 0
        self.requests: list[tuple[str, dict[str, str], bytes]] = []
        self.names: list[str | None] = []  # that TLS asked for
        self.ending = threading.Event()
        self.reading = threading.Event()  # set when a server that does not read may do so
        self.gone = threading.Semaphore(0)  # once per connection that has ended
        self.threads = [threading.Thread(target=self.accept, daemon=True)]
        self.threads[0].start()

    def accept(self):
        while True:
            try:
                accepted, _ = self.listener.accept()
            except OSError:
                return
            if self.ending.is_set():
                accepted.close()
                return
            self.connections += 1
            self.threads.append(threading.Thread(target=self.serve, args=(accepted,), daemon=True))
            self.threads[-1].start()

    def serve(self, accepted: socket.socket):
        accepted.settimeout(20)
        try:
            with contextlib.suppress(OSError):
                if self.tls is not None:
                    accepted = self.tls.wrap_socket(accepted, server_side=True)
                self.behave(Connection(self, accepted))
        finally:
            accepted.close()
            self.gone.release()

    def close(self):
        self.ending.set()
        self.reading.set()
        with contextlib.suppress(OSError), socket.socket(self.listener.family) as waking:  # accept() waits for it
            waking.connect(self.listener.getsockname()[:2])
        self.listener.close()
        for thread in self.threads:
            thread.join(30)
        assert not any(thread.is_alive() for thread in self.threads)


class Connection:
    """One connection as its server sees it."""

    def __init__(self, server: Server, stream: socket.socket):
        self.server = server
        self.stream = stream

    def request(self) -> bool:
        """Read one request and keep it; False if the client has closed instead."""
        data = b""
        while b"\r\n\r\n" not in data:
            part = self.stream.recv(65536)
            if not part:
                return False
            data += part
        head, body = data.split(b"\r\n\r\n", 1)
        line, *rest = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, value in (each.split(": ", 1) for each in rest)}
        while len(body) < int(headers["content-length"]):
            body += self.stream.recv(65536)
        self.server.requests.append((line, headers, body))
        return True

    def send(self, data: bytes):
        self.stream.sendall(data)

    def answer(self, body: bytes = b"{}", status: str = "200 OK", *headers: str):
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", *headers, "", ""]
        self.send("\r\n".join(lines).encode() + body)

    def forever(self, data: bytes, pause: float = 0.0):
        """Send ``data`` again and again, until the client has had enough."""
        while not self.server.ending.wait(pause) if pause else not self.server.ending.is_set():
            self.send(data)

    def wait_for_end(self):
        with contextlib.suppress(OSError):
            while self.stream.recv(65536):
                pass


def answering(body: bytes = b"{}", status: str = "200 OK", *headers: str) -> Callable[[Connection], None]:
    """A good server: answers each request alike, and keeps the connection."""

    def behave(connection: Connection):
        while connection.request():
            connection.answer(body, status, *headers)

    return behave


def sending(data: bytes) -> Callable[[Connection], None]:
    """A server that answers a request with these very bytes, then closes."""

    def behave(connection: Connection):
        connection.request()
        connection.send(data)

    return behave


def silent(connection):
    connection.request()
    connection.wait_for_end()


# -- hooks -------------------------------------------------------------------------------------------------------------


def entry_of(url: str, *, form="toml", source="user", permits=None, **config) -> HookEntry:
    return HookEntry(
        event=HookEvent.BEFORE_TOOL_USE,
        type="http",
        config={"url": url, **config},
        form=form,
        source=source,
        permits=permits or Permits(),
        path="/project/agent-hooks.toml",
        line=7,
    )


def hook_of(url: str, **options):
    entry = entry_of(url, **options)
    return HttpHandler().bind(HttpConfig.model_validate(dict(entry.config)), entry)


def to(server: Server, path="/", **options):
    """The hook that asks ``server``."""
    return hook_of(f"http://127.0.0.1:{server.port}{path}", **options)


def tool_call(**args):
    return make_context("before_tool_use", tool="Bash", args=args or {"command": "git push"})


def over_tls(server, host, **options):
    return hook_of(f"https://{host}:{server.port}/", permits=Permits(hosts=(host,)), **options)


async def awaited(hook):
    return await hook(tool_call())
