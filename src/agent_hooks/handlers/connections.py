"""Requests to the servers of http hooks: one event loop in a thread of its own keeps the connections of all of them.

So the next hook can reuse a connection from any thread or event loop, and a loop that ends leaves none open.
"""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
from functools import cached_property

import httpcore

from agent_hooks.errors import HandlerError
from agent_hooks.model.values import Value

from .addresses import checked_addresses

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable
    from concurrent.futures import Future
    from typing import Any

    from .addresses import IsAllowed

MAX_ANSWER = 1024 * 1024  # bytes of one answer, headers and interim responses included
KEPT_SECONDS = 30.0  # an idle connection is closed after this
KEPT_CONNECTIONS = 20
# An address that does not react must not use up the time for the host's other addresses.
CONNECT_SECONDS = 3.0


class Post(Value):
    """One request. ``host`` has no brackets; ``timeout``: seconds for all of it, from looking up the host to the last
    byte; ``is_allowed``: which addresses it may go to.
    """

    scheme: str
    host: str
    port: int
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes
    timeout: float
    is_allowed: IsAllowed


def send(post: Post) -> tuple[int, bytes]:
    """Return status and body (2xx only). No redirects, proxies, cookies, retries. Raises ``HandlerError``."""
    future = _connections().start(post)
    try:
        return future.result()
    except BaseException:  # such as KeyboardInterrupt: the answer is not needed any more
        future.cancel()
        raise


async def send_async(post: Post) -> tuple[int, bytes]:
    """Do as ``send``, and let the event loop work meanwhile. Cancelling it ends the request."""
    return await asyncio.wrap_future(_connections().start(post))


def close() -> None:
    """Close all connections and end their thread; pending requests fail."""
    global _shared
    with _lock:
        ended, _shared = _shared, None
    if ended is not None:
        ended.close()


class _Connections:
    def __init__(self) -> None:
        self.pools: dict[tuple[IsAllowed, str], httpcore.AsyncConnectionPool] = {}
        self.end = asyncio.Event()
        # A process may have no descriptor or thread left: fail at once, not in the thread.
        self.runner = asyncio.Runner(loop_factory=asyncio.new_event_loop)
        self.loop = self.runner.get_loop()
        self.thread = threading.Thread(target=self.run, daemon=True, name="agent_hooks http")
        try:
            self.thread.start()
        except RuntimeError:
            self.runner.close()
            raise

    def run(self) -> None:
        with self.runner:
            self.runner.run(self.serve())

    async def serve(self) -> None:
        await self.end.wait()
        for pool in tuple(self.pools.values()):
            await pool.aclose()

    def start(self, post: Post) -> Future[tuple[int, bytes]]:
        return asyncio.run_coroutine_threadsafe(self.answer(post), self.loop)

    def close(self) -> None:
        self.loop.call_soon_threadsafe(self.end.set)
        self.thread.join()

    async def answer(self, post: Post) -> tuple[int, bytes]:
        try:
            async with asyncio.timeout(post.timeout):
                return await self.exchange(post)
        except TimeoutError as error:
            raise HandlerError(f"{post.host}: no answer within {post.timeout:g} s.") from error
        except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
            raise HandlerError(f"{post.host}: {_cause(error)[:200]}") from error

    async def exchange(self, post: Post) -> tuple[int, bytes]:
        url = httpcore.URL(scheme=post.scheme, host=post.host, port=post.port, target=post.target)
        sent = [(name.encode("ascii"), value.encode("latin-1")) for name, value in post.headers]
        async with self.pool(post).stream("POST", url, headers=sent, content=post.body) as response:
            if not 200 <= response.status < 300:
                return response.status, b""
            headers = {name.lower(): value for name, value in response.headers}
            coding = headers.get(b"content-encoding", b"identity")
            if coding.lower() != b"identity":
                raise HandlerError(f"{post.host}: the answer is compressed, which was not asked for.")
            return response.status, b"".join([part async for part in response.aiter_stream()])

    def pool(self, post: Post) -> httpcore.AsyncConnectionPool:
        """Return the pool for ``post``: hooks with wider permits have pools of their own."""
        key = post.is_allowed, post.scheme
        if key not in self.pools:
            self.pools[key] = httpcore.AsyncConnectionPool(
                ssl_context=self.ssl_context if post.scheme == "https" else None,
                max_connections=None,  # a server that hangs must not make the hooks of others wait
                max_keepalive_connections=KEPT_CONNECTIONS,
                keepalive_expiry=KEPT_SECONDS,
                network_backend=_CheckedNetwork(post.is_allowed),
            )
        return self.pools[key]

    @cached_property
    def ssl_context(self) -> ssl.SSLContext:
        return httpcore.default_ssl_context()


class _CheckedNetwork(httpcore.AsyncNetworkBackend):
    """Connects to permitted addresses only; TLS and ``Host`` keep the name."""

    def __init__(self, is_allowed: IsAllowed) -> None:
        self.is_allowed = is_allowed
        self.network = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        *others, last = await checked_addresses(host, port, self.is_allowed)
        for address in others:
            try:
                return _Bounded(
                    await self.network.connect_tcp(address, port, CONNECT_SECONDS, local_address, socket_options)
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout):
                continue
        return _Bounded(await self.network.connect_tcp(last, port, timeout, local_address, socket_options))


class _Bounded(httpcore.AsyncNetworkStream):
    """A connection that limits each answer to ``MAX_ANSWER`` bytes."""

    def __init__(self, stream: httpcore.AsyncNetworkStream) -> None:
        self.stream = stream
        self.left = MAX_ANSWER

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        data = await self.stream.read(max_bytes, timeout)
        self.left -= len(data)
        if self.left < 0:
            raise httpcore.ReadError(f"the answer is longer than {MAX_ANSWER} bytes.")
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.left = MAX_ANSWER
        await self.stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self.stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        try:
            return _Bounded(await self.stream.start_tls(ssl_context, server_hostname, timeout))
        except BaseException:  # httpcore closes the stream after a failure, but not at the deadline
            await self.stream.aclose()
            raise

    def get_extra_info(self, info: str) -> Any:
        return self.stream.get_extra_info(info)


def _cause(error: BaseException) -> str:
    """Return the message of the innermost cause."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__


_shared: _Connections | None = None
_left_to_parent: list[_Connections] = []
_lock = threading.Lock()


def _connections() -> _Connections:
    global _shared  # noqa: PLW0603 - one for the process
    with _lock:
        if _shared is None:
            _shared = _Connections()
        return _shared


def _after_fork() -> None:
    """Start afresh in a forked process: it has no thread, and the connections are its parent's."""
    global _shared, _lock  # noqa: PLW0603 - one for the process
    _lock = threading.Lock()
    if _shared is not None:
        _left_to_parent.append(_shared)  # kept: closing it would close the parent's connections
        _shared = None


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(close)
