"""What tests of http hooks share: servers that end with the test, and a resolver and a certificate for them."""

from __future__ import annotations

import asyncio
import socket
import ssl
import subprocess
import threading
from typing import TYPE_CHECKING, Any

import pytest

from agent_hooks.handlers import connections
from handlers.servers import Connection, Server, answering, awaited, tool_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@pytest.fixture
def serve() -> Iterator[Callable[..., Server]]:
    """Start servers that end with the test, after the connections to them."""
    servers: list[Server] = []

    def start(behave: Callable[[Connection], None] | None = None, **options) -> Server:
        servers.append(Server(behave or answering(), **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def nothing_left():
    """Each test has TLS settings of its own environment, and leaves no thread behind."""
    connections.ssl_context.cache_clear()
    before = {thread.name for thread in threading.enumerate()}
    yield
    connections.ssl_context.cache_clear()
    left = {thread.name for thread in threading.enumerate()} - before
    assert not {name for name in left if name.startswith("asyncio_")}


@pytest.fixture
def resolver(monkeypatch) -> dict[str, list[str]]:
    """Stands in for the system's resolver: a name's answers, one after the other; records what it is asked."""
    answers: dict[str, list[str]] = {"asked": []}

    def look_up(host, port, *_, **__):
        answers["asked"].append(host)
        found = answers[host]
        address = found.pop(0) if len(found) > 1 else found[0]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return answers


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for hooks.test and 127.0.0.1, with its key, signed by itself."""
    folder = tmp_path_factory.mktemp("certificate")
    command = (
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=hooks.test "
        "-keyout key.pem -out certificate.pem -addext subjectAltName=DNS:hooks.test,IP:127.0.0.1 "
        "-addext keyUsage=critical,digitalSignature,keyCertSign"
    )
    subprocess.run(command.split(), cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def serve_tls(serve: Callable[..., Server], certificate: Path) -> Callable[..., Server]:
    """Start a server with the certificate, which notes what names it is asked for."""

    def start(behave=None) -> Server:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate / "certificate.pem", certificate / "key.pem")
        server = serve(behave, tls=context)
        context.sni_callback = lambda _, name, __: server.names.append(name)
        return server

    return start


@pytest.fixture(params=["sync", "async"])
def ask(request) -> Callable[[Callable[..., Any]], Any]:
    """Ask a hook about a tool call: at once, or in an event loop of its own."""
    if request.param == "sync":
        return lambda hook: hook(tool_call())
    return lambda hook: asyncio.run(awaited(hook))
