"""Requests to the servers of http hooks, each over a connection of its own that ends with it."""

from __future__ import annotations

import asyncio
from functools import cache

import httpcore

from agent_hooks.errors import HandlerError

from .addresses import checked_addresses

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ssl
    from collections.abc import Mapping

    from .addresses import IsAllowed

MAX_ANSWER = 1024 * 1024  # bytes of the body of an answer; httpcore limits its head
# An address that does not react must not use up the time for the host's other addresses.
CONNECT_SECONDS = 3.0
_PORTS = {b"http": 80, b"https": 443}


async def post(
    address: str, *, headers: Mapping[str, str], body: bytes, timeout: float, is_allowed: IsAllowed
) -> tuple[int, bytes]:
    """Post ``body`` to the URL ``address`` and return status and body (2xx only) of the answer.

    No redirects, proxies, cookies, retries. ``timeout``: seconds for all of it, from looking up the host to the last
    byte; ``is_allowed``: which addresses it may go to. Raises ``HandlerError``.
    """
    url = httpcore.URL(address)
    host = url.host.decode("ascii").strip("[]")
    try:
        async with asyncio.timeout(timeout):
            stream = await _connect(host, url.port or _PORTS[url.scheme], is_allowed)
            try:
                return await _exchange(url, host, stream, headers, body)
            finally:
                await stream.aclose()
    except TimeoutError as error:
        raise HandlerError(f"{host}: no answer within {timeout:g} s.") from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as error:
        raise HandlerError(f"{host}: {_cause(error)[:200]}") from error


async def _connect(host: str, port: int, is_allowed: IsAllowed) -> httpcore.AsyncNetworkStream:
    """Connect to a permitted address of the host."""
    network = httpcore.AnyIOBackend()
    *others, last = await checked_addresses(host, port, is_allowed)
    for address in others:
        try:
            return await network.connect_tcp(address, port, CONNECT_SECONDS)
        except (httpcore.ConnectError, httpcore.ConnectTimeout):
            continue
    return await network.connect_tcp(last, port)


async def _exchange(
    url: httpcore.URL, host: str, stream: httpcore.AsyncNetworkStream, headers: Mapping[str, str], body: bytes
) -> tuple[int, bytes]:
    if url.scheme == b"https":
        stream = await stream.start_tls(ssl_context(), server_hostname=host)
    sent = [(name.encode("ascii"), value.encode("latin-1")) for name, value in headers.items()]
    async with (
        httpcore.AsyncHTTP11Connection(url.origin, stream) as connection,
        connection.stream("POST", url, headers=sent, content=body) as response,
    ):
        if not 200 <= response.status < 300:
            return response.status, b""
        received = {name.lower(): value for name, value in response.headers}
        if received.get(b"content-encoding", b"identity").lower() != b"identity":
            raise HandlerError(f"{host}: the answer is compressed, which was not asked for.")
        answer = b""
        async for part in response.aiter_stream():
            answer += part
            if len(answer) > MAX_ANSWER:
                raise HandlerError(f"{host}: the answer is longer than {MAX_ANSWER} bytes.")
        return response.status, answer


@cache
def ssl_context() -> ssl.SSLContext:
    """Return the settings of TLS: the authorities of the system, certifi and ``SSL_CERT_FILE``."""
    return httpcore.default_ssl_context()


def _cause(error: BaseException) -> str:
    """Return the message of the innermost cause."""
    while error.__cause__ is not None:
        error = error.__cause__
    return str(error) or type(error).__name__
