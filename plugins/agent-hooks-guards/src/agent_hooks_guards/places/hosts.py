"""The kinds of hosts, and the hosts of an address in every way that programs parse it. No name is resolved."""

from __future__ import annotations

import os
from fnmatch import fnmatchcase

from agent_hooks_guards.model.tables import load_tables
from agent_hooks_guards.model.values import UNKNOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ipaddress import IPv6Address

_TABLES = load_tables(os.path.dirname(__file__))["hosts"]
_METADATA_ADDRESSES = frozenset(_TABLES["metadata"]["addresses"])
_METADATA_NAMES = frozenset(_TABLES["metadata"]["names"])
_NETWORKS = tuple(_TABLES["networks"].items())
_PRIVATE_ENDINGS = tuple(_TABLES["endings"]["private"])
_ECHOING_ENDINGS = tuple(_TABLES["endings"]["echoing"])
_PORTS = _TABLES["ports"]
SMUGGLING = frozenset(_TABLES["schemes"]["smuggling"])
_WEB = frozenset(_TABLES["schemes"]["web"])
_SCHEMES = _WEB | SMUGGLING | {*_TABLES["schemes"]["other"]}
# Prefixes of an address that mark it as one.
_PREFIXES = ("view-source:", "url:")
# In lower case, as a host is looked up; a `*` occurs in DNS names.
_HOST_CHARACTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-._~*")
MAX_URL = 16 * 1024  # characters


def is_address(text: str) -> bool:
    """Return whether ``text`` starts as an address does, with a known scheme."""
    start = text.lstrip()[:12].casefold()
    return ":" in start and (start.partition(":")[0] in _SCHEMES or start.startswith(_PREFIXES))


def address_kinds(address: str) -> frozenset[str]:
    """Return the kinds (see ``host_kind``) of the hosts that a URL or ``host:port`` names, in every way to parse it."""
    if len(address) > MAX_URL:
        return frozenset(("unknown",))
    if address[:1] == ":":  # a port of this machine
        return frozenset(("loopback",))
    return frozenset(host_kind(host) for _, host, _ in readings(address) if host) or frozenset(("unknown",))


def host_kind(host: str) -> str:
    """Return ``metadata``, ``link-local``, ``loopback``, ``private``, ``public``, or ``unknown`` if too much of
    ``host`` is not known. ``host`` is in lower case, without a final dot.
    """
    if UNKNOWN in host:
        return "metadata" if _may_be_metadata(host) else "unknown"
    if host in _METADATA_NAMES or host.endswith(".metadata.google.internal"):
        return "metadata"
    if host == "localhost" or host.endswith(".localhost") or host in ("localhost.localdomain", "ip6-localhost"):
        return "loopback"
    number = _ipv4(host)
    if number is None and host.endswith(_ECHOING_ENDINGS):
        number = _echoed_ipv4(host)
    if number is not None:
        return _ipv4_kind(number)
    if ":" in host:
        return _ipv6_kind(host)
    return "private" if host.endswith(_PRIVATE_ENDINGS) else "public"


def _may_be_metadata(host: str) -> bool:
    """Return whether the known part of ``host`` is most of a metadata address, or the beginning of most of them."""
    known = len(host) - host.count(UNKNOWN)
    pattern = host.replace(UNKNOWN, "*")
    return host.startswith("169.254.") or any(
        known * 3 >= len(address) * 2 and fnmatchcase(address, pattern) for address in _METADATA_ADDRESSES
    )


def _ipv4_kind(number: int) -> str:
    if ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0)) in _METADATA_ADDRESSES:
        return "metadata"
    for kind, networks in _NETWORKS:
        if any(first <= number <= last for first, last in networks):
            return str(kind)
    return "public"


def _ipv6_kind(host: str) -> str:
    address = _ipv6(host)
    if address is None:
        return "public"
    if str(address) in _METADATA_ADDRESSES:
        return "metadata"
    if address.is_loopback or int(address) == 0:
        return "loopback"
    number = int(address)
    # An IPv4 address in it: mapped, compatible, translated (NAT64), 6to4.
    if number >> 32 in (0xFFFF, 0, 0x64FF9B << 64, 0xFFFF0000):
        return _ipv4_kind(number & 0xFFFFFFFF)
    if number >> 112 == 0x2002:
        return _ipv4_kind(number >> 80 & 0xFFFFFFFF)
    if address.is_link_local:
        return "link-local"
    return "private" if address.is_private or address.is_site_local else "public"


def _ipv6(host: str) -> IPv6Address | None:
    from ipaddress import IPv6Address

    try:
        return IPv6Address(host.partition("%")[0])
    except ValueError:
        return None


def _ipv4(host: str) -> int | None:
    """Return the number of an IPv4 address in any form that inet_aton(3) takes: ``127.1``, ``0x7f.1``."""
    if not host or host[0] not in "0123456789":
        return None
    parts = host.split(".")
    if len(parts) > 4:
        return None
    bases = [16 if part[:2] == "0x" else 8 if len(part) > 1 and part[0] == "0" else 10 for part in parts]
    try:
        *firsts, last = [int(part if part != "0x" else "0", base) for part, base in zip(parts, bases, strict=True)]
    except ValueError:
        return None
    if any(number > 255 for number in firsts) or last >= 256 ** (4 - len(firsts)):
        return None
    return last + sum(number << (24 - 8 * at) for at, number in enumerate(firsts))


def _echoed_ipv4(host: str) -> int | None:
    """Return the address that is written in a name such as ``10-0-0-1.nip.io`` or ``x.7f000001.nip.io``."""
    labels = host.replace("-", ".").split(".")[:-2]
    written = [".".join(labels[at : at + 4]) for at in range(len(labels) - 3)]
    written += [f"0x{each}" for each in labels[-1:] if len(each) == 8]
    return next((number for each in written if (number := _ipv4(each)) is not None), None)


# -- parsing addresses -------------------------------------------------------------------------------------------------


def is_ambiguous(url: str) -> bool:
    """Return whether the place of the host holds something that no host does: programs then reach different hosts."""
    scheme, rest = _split_scheme(url.strip())
    if scheme and scheme not in _WEB:
        return False
    host = _authority(rest.replace("\\", "/")).rpartition("@")[2]
    plain, _ = _split_port("".join(letter for letter in host if letter not in "\t\r\n"), scheme)
    plain = plain.replace(UNKNOWN, "")
    if scheme == "":
        return "%" in plain or any(letter < " " for letter in plain)
    if ":" in plain or host[:1] == "[":
        return UNKNOWN not in host and _ipv6(plain) is None
    return not _HOST_CHARACTERS.issuperset(plain)


def readings(url: str) -> list[tuple[str, str, str]]:
    """Return ``(scheme, host, port)`` for each way in which programs parse ``url``, the usual one first.

    Programs disagree on backslashes, and on where a host begins and ends.
    """
    scheme, rest = _split_scheme("".join(letter for letter in url if letter > " "))  # browsers drop blanks
    found: list[tuple[str, str, str]] = []
    for each in (rest, rest.replace("\\", "/"), rest.replace("?", "").replace("#", "")):
        authority = _authority(each)
        hosts = [authority.rpartition("@")[2]]
        if authority.count("@") > 1:
            hosts.append(authority.split("@")[1])
        for text in hosts:
            host, port = _split_port(text, scheme)
            found.append((scheme, host, port))
            if not _HOST_CHARACTERS.issuperset(host) and ":" not in host:
                # Some stop at the first character that no host has; and an unknown part may be empty.
                end = next(at for at, letter in enumerate(host) if letter not in _HOST_CHARACTERS)
                found += [(scheme, host[:end].rstrip("."), port), (scheme, host.replace(UNKNOWN, ""), port)]
    return list(dict.fromkeys(found))


def _split_scheme(url: str) -> tuple[str, str]:
    """Return the scheme, "" without one, and the part after the slashes."""
    while url[:12].casefold().startswith(_PREFIXES):
        url = url.partition(":")[2]
    scheme, separator, rest = url.partition(":")
    scheme = scheme.casefold()
    if not separator or (not rest.startswith(("//", "\\\\", "/\\", "\\/")) and scheme not in _SCHEMES):
        scheme, rest = "", url
    return scheme, rest.lstrip("/\\")


def _authority(rest: str) -> str:
    """Return the part before the path."""
    for end in "/?#":
        rest = rest.partition(end)[0]
    return rest


def _split_port(host: str, scheme: str) -> tuple[str, str]:
    if "%" in host:
        from urllib.parse import unquote

        host = unquote(host).rpartition("@")[2]
    host = normalized_host(host)
    if host[:1] == "[" and "]" in host:
        host, _, port = host[1:].partition("]")
        port = port.lstrip(":")
    elif host.count(":") > 1:
        port = ""
    else:
        host, _, port = host.partition(":")
    return host.casefold().rstrip("."), port or _PORTS.get(scheme, "")


def normalized_host(host: str) -> str:
    """Return ``host`` as it is looked up: letters, digits and dots in their usual forms, the rest in Punycode."""
    if host.isascii():
        return host
    from unicodedata import category, normalize

    host = "".join(letter for letter in normalize("NFKC", host).replace("。", ".") if category(letter) != "Cf")
    try:
        return host if host.isascii() else host.encode("idna").decode()
    except ValueError:
        return host


def matches_host(host: str, port: str, patterns: tuple[str, ...]) -> bool:
    """Return whether one of ``patterns`` (``*.example.com``, ``host:8080``) matches."""
    for pattern in patterns:
        name, colon, wanted = pattern.rpartition(":")
        if not colon or not (wanted.isdigit() or wanted == "*") or (":" in name and not name.endswith("]")):
            name, wanted = pattern, "*"
        if fnmatchcase(host, name.strip("[]")) and wanted in ("*", port):
            return True
    return False
