"""The network addresses that a request may go to. A host's name is resolved once; the addresses found are checked, and
the connection uses one of them: a second look-up could lead elsewhere (DNS rebinding).
"""

from __future__ import annotations

import asyncio
import socket
import threading
from concurrent.futures import Future
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network

from agent_hooks.errors import HandlerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    IsAllowed = Callable[[str], bool]

_NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: the last four bytes are an IPv4 address
# Not public, although `ipaddress` says so in some or all versions of Python.
_NOT_PUBLIC = (
    ip_network("192.0.0.0/24"),  # RFC 6890; some clouds give out a machine's secrets here
    ip_network("168.63.129.16/32"),  # the platform of Azure, which only its own machines reach
    ip_network("3fff::/20"),  # documentation, RFC 9637
)


def is_public(address: str) -> bool:
    """Whether ``address`` belongs to the open internet, not to this machine, its network or its cloud.

    By the registries of RFC 6890 as Python's ``ipaddress`` has them, and stricter: no multicast and no tunnels (6to4,
    Teredo). An IPv6 address that stands for an IPv4 one is judged as the IPv4 address.
    """
    ip = ip_address(address)
    if isinstance(ip, IPv6Address):
        inner = ip.ipv4_mapped or (IPv4Address(int(ip) & 0xFFFFFFFF) if ip in _NAT64 else None)
        if inner is not None:
            return is_public(str(inner))
        if ip.sixtofour or ip.teredo or ip.is_site_local:
            return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or any(ip in network for network in _NOT_PUBLIC))


def is_loopback(address: str) -> bool:
    """Whether ``address`` is this machine's own, seen from itself."""
    ip = ip_address(address)
    mapped = ip.ipv4_mapped if isinstance(ip, IPv6Address) else None
    return (mapped or ip).is_loopback


def is_any(address: str) -> bool:  # noqa: ARG001 - the signature of the other two checks
    """Let every address pass: the user has named the host."""
    return True


def as_literal(host: str) -> str | None:
    """Return ``host`` if it is an address itself, None if it is a name."""
    try:
        return str(ip_address(host))
    except ValueError:
        return None


async def checked_addresses(host: str, port: int, is_allowed: IsAllowed) -> list[str]:
    """Return the addresses of ``host``, best first. Raises ``HandlerError`` if there is none, or if any is refused."""
    literal = as_literal(host)
    found = [literal] if literal else await _look_up(host, port)
    refused = [address for address in found if not is_allowed(address)]
    if refused:
        kind = "one of this machine" if is_allowed is is_loopback else "a public one"
        raise HandlerError(
            f"{host} leads to {refused[0]}, which is not {kind}. If that is meant, add {host!r} to `hosts` under "
            "[permits] in the user's agent-hooks.toml."
        )
    return found


async def _look_up(host: str, port: int) -> list[str]:
    """Ask the system's resolver, in a daemon thread: nothing can interrupt it, and no exit should wait for it."""
    answer: Future[list[str]] = Future()

    def ask() -> None:
        answer.set_running_or_notify_cancel()
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
            answer.set_result(list(dict.fromkeys(str(info[4][0]) for info in found)))
        except Exception as error:  # noqa: BLE001 - raised again where it is awaited
            answer.set_exception(error)

    threading.Thread(target=ask, daemon=True, name="agent_hooks resolver").start()
    try:
        addresses = await asyncio.wrap_future(answer)
    except (OSError, UnicodeError) as error:  # a name that is none is a UnicodeError
        raise HandlerError(f"{host} cannot be resolved: {error}.") from error
    if not addresses:
        raise HandlerError(f"{host} has no address.")
    return addresses
