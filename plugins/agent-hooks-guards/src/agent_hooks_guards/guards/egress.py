"""The egress guard: which hosts a tool may reach."""

from __future__ import annotations

from fnmatch import fnmatchcase

from agent_hooks import RegistrationError
from agent_hooks.model.tools import HOST_KEYS
from agent_hooks_guards.model.values import UNKNOWN

from .base import Guard, tool_test
from .objection import LEVELS, Objection, outcome

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    from agent_hooks import HookContext, HookOutcome, ToolCall
    from agent_hooks.engine.markers import Match

DECISIONS = ("deny", "ask", "allow")
_KINDS = frozenset(("fetch", "web_search", "mcp", "other"))
# Schemes with which a fetch speaks to servers of other protocols.
_SMUGGLING = frozenset(("gopher", "dict", "tftp", "ldap", "ldaps", "jar", "netdoc", "phar", "expect"))
# Schemes whose addresses are read alike by browsers and clients of HTTP.
_WEB = frozenset(("http", "https", "ws", "wss", "ftp", "ftps"))
_SCHEMES = _WEB | _SMUGGLING | {"sftp", "ssh", "git", "mailto"}
# What stands before an address and says only how it is shown, or that it is one.
_BEFORE = ("view-source:", "url:")
_PORTS = {"http": "80", "ws": "80", "https": "443", "wss": "443", "ftp": "21", "ssh": "22", "sftp": "22"}
# What is denied by the guard itself, and not by what somebody listed.
_BY_LEVEL = frozenset(("egress-scheme", "egress-metadata", "egress-link-local", "egress-unreadable"))
# What a host is made of, in lower case and as it is looked up; a `*` stands in names of DNS.
_OF_HOSTS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789-._~*")
_LONGEST_URL = 16 * 1024  # characters
_MOST_URLS = 1000

# Where a machine in a cloud asks for its own credentials: AWS, GCP, Azure, DigitalOcean and others share the first.
_METADATA_ADDRESSES = frozenset(
    (
        *("169.254.169.254", "169.254.170.2", "169.254.170.23", "100.100.100.200", "192.0.0.192", "168.63.129.16"),
        *("169.254.42.42", "169.254.0.23", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42"),
        "fe80::a9fe:a9fe",
    )
)
_METADATA_NAMES = frozenset(
    (
        *("metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"),
        *("metadata.tencentyun.com", "metadata.packet.net", "metadata.platformequinix.com", "rancher-metadata"),
        "api.metadata.cloud.ibm.com",
    )
)
# First and last address, as numbers.
_LOOPBACK = ((0x7F000000, 0x7FFFFFFF), (0, 0))
_LINK_LOCAL = ((0xA9FE0000, 0xA9FEFFFF),)
_PRIVATE = (
    *((0x0A000000, 0x0AFFFFFF), (0xAC100000, 0xAC1FFFFF), (0xC0A80000, 0xC0A8FFFF)),
    *((0x64400000, 0x647FFFFF), (0x00000001, 0x00FFFFFF), (0xC6120000, 0xC613FFFF)),
)
_PRIVATE_NAMES = (
    ".local",
    ".internal",
    ".lan",
    ".intranet",
    ".corp",
    ".home",
    ".home.arpa",
    ".private",
    ".localdomain",
)
# Names of which the answer is the address that is written in them.
_ECHOING = (".nip.io", ".sslip.io", ".xip.io", ".traefik.me")


class EgressGuard(Guard):
    """Judges which hosts the calls of ``fetch``, ``web_search``, ``mcp`` and other tools name, by their addresses as
    they are written, in every way of writing them. **No name is looked up and no redirect followed**: a name that
    leads to a private address, and a server that sends a client there, are not seen. What shell commands reach is
    not seen here either.

    Where a cloud's machine gets its credentials and link-local addresses are denied, and what programs read as
    different hosts is asked about; other private addresses are ``private``: ``deny``, ``ask`` (default) or ``allow``;
    this machine itself is left alone. ``allow``: hosts that are left alone; ``deny``: hosts that are denied, whatever
    is allowed; ``others``: what is decided about the rest, by default ``allow``, at the level ``strict`` ``ask``. A
    host is a name or an address, with ``*`` for any part of it and, if wanted, ``:port``: ``*.example.com`` is all
    below that name, not it itself. One with ``*`` allows no metadata service. At the level ``off`` only ``deny``,
    ``private`` and ``others`` count. ``match``: which tools; ``source`` as in ``ToolBlocklist``. Raises
    ``RegistrationError`` for an answer, a level, a match or a host that is none.
    """

    def __init__(
        self,
        level: str = "standard",
        *,
        allow: Iterable[str] = (),
        deny: Iterable[str] = (),
        private: str = "",
        others: str = "",
        match: Match = "*",
        source: str = "code",
    ) -> None:
        if level not in ("off", *LEVELS):
            raise RegistrationError(f"level must be one of off, {', '.join(LEVELS)}, not {level!r}.")
        self._is_off = level == "off"
        self._private = _decision("private", private or ("allow" if level in ("off", "relaxed") else "ask"))
        self._others = _decision("others", others or ("ask" if level == "strict" else "allow"))
        self._allow = tuple(map(host_pattern, allow))
        self._deny = tuple(map(host_pattern, deny))
        self._test = tool_test(match, source)

    def judge(self, ctx: HookContext, call: ToolCall) -> HookOutcome | None:
        """Deny or ask if the call names a host that is none for an agent."""
        return outcome(self.objections(ctx, call))

    def objections(self, ctx: HookContext, call: ToolCall) -> Iterator[Objection]:
        """Yield what there is against the addresses that ``call`` names."""
        if call.kind not in _KINDS or not self._test(ctx):
            return
        for host in _hosts(call):
            found = self.objection(host)
            # A server's name is no address; only what is never right counts.
            if found is not None and found.rule == "egress-metadata":
                yield found
        for count, url in enumerate(_urls(call)):
            if count == _MOST_URLS:
                yield Objection("deny", "egress-too-many", f"One call names more than {_MOST_URLS} addresses.")
                return
            found = self.objection(url)
            is_prose = " " in url.strip() and url not in call.url
            if found is not None and not (is_prose and found.rule == "egress-unreadable"):
                yield found

    def objection(self, url: str) -> Objection | None:
        """Return what there is against reaching ``url``, or ``host:port``. A host of which something is not known
        (``UNKNOWN``, see ``shell.actions``) is one of the others.
        """
        found = judge_url(url, self._allow, self._deny, self._private, self._others)
        return None if self._is_off and found is not None and found.rule in _BY_LEVEL else found


def judge_url(
    url: str, allow: Iterable[str] = (), deny: Iterable[str] = (), private: str = "ask", others: str = "allow"
) -> Objection | None:
    """Return what there is against reaching ``url``, which may also be ``host:port``; arguments as in ``EgressGuard``,
    the hosts in lower case.
    """
    if len(url) > _LONGEST_URL:
        return Objection("ask", "egress-unreadable", "The address is longer than anybody can read.")
    worst: Objection | None = None
    if is_unreadable(url):
        instead = "Write the address with nothing but the host's name, or its number, before the path."
        worst = Objection("ask", "egress-unreadable", "Programs do not agree on which host the address names.", instead)
    for scheme, host, port in _readings(url):
        found = _judged(scheme, host, port, tuple(allow), tuple(deny), private, others)
        if found is not None and (worst is None or worst.decision != "deny"):
            worst = found
    return worst


def address_kinds(address: str) -> frozenset[str]:
    """Return what the host of a URL, or of ``host:port``, is (see ``place_of``) by every way of reading it, ``unknown``
    where a part of it is not known.
    """
    if len(address) > _LONGEST_URL:
        return frozenset(("unknown",))
    if address[:1] == ":":  # a port of this machine
        return frozenset(("loopback",))
    return frozenset(place_of(host) for _, host, _ in _readings(address) if host) or frozenset(("unknown",))


def _judged(
    scheme: str, host: str, port: str, allow: tuple[str, ...], deny: tuple[str, ...], private: str, others: str
) -> Objection | None:
    if scheme in _SMUGGLING:
        reason = f"{scheme}: addresses reach servers of other protocols."
        return Objection("deny", "egress-scheme", reason, "Use https.")
    if not host:
        return None
    shown = ascii(host)[1:-1]
    if _is_one_of(host, port, deny):
        return Objection("deny", "egress-denied", f"{shown} is not to be reached.")
    what = place_of(host)
    if what == "metadata" and host not in allow:
        reason = f"{shown} is where a machine in a cloud gets its credentials."
        return Objection("deny", "egress-metadata", reason, "Use the cloud's own command, as a person set it up.")
    if what == "unknown":
        if others == "allow":
            return None
        return Objection(others, "egress-host", "It is not known which host would be reached.", "Name the host.")
    if _is_one_of(host, port, allow) or what == "loopback":
        return None
    instead = "A person can allow the host with allow of the egress guard."
    if what == "link-local":
        return Objection("deny", "egress-link-local", f"{shown} is an address of the machine's own link.", instead)
    if what == "private":
        decision, rule, reason = private, "egress-private", f"{shown} is in a private network."
    else:
        decision, rule, reason = others, "egress-host", f"{shown} is not one of the hosts that are allowed."
    return None if decision == "allow" else Objection(decision, rule, reason, instead)


def place_of(host: str) -> str:
    """Return what ``host``, in lower case and without a dot at its end, is: ``metadata``, ``link-local``, ``loopback``,
    ``private``, ``public``, or ``unknown`` if a part of it is not known and the rest does not tell.
    """
    if UNKNOWN in host:
        return "metadata" if _may_be_metadata(host) else "unknown"
    if host in _METADATA_NAMES or host.endswith(".metadata.google.internal"):
        return "metadata"
    if host == "localhost" or host.endswith(".localhost") or host in ("localhost.localdomain", "ip6-localhost"):
        return "loopback"
    number = _ipv4(host)
    if number is None and host.endswith(_ECHOING):
        number = _echoed(host)
    if number is not None:
        return _place_of_ipv4(number)
    if ":" in host:
        return _place_of_ipv6(host)
    return "private" if host.endswith(_PRIVATE_NAMES) else "public"


def _may_be_metadata(host: str) -> bool:
    """Whether what is known of ``host`` is nearly all of such an address, or leads to where most of them are."""
    known = len(host) - host.count(UNKNOWN)
    pattern = host.replace(UNKNOWN, "*")
    return host.startswith("169.254.") or any(
        known * 3 >= len(address) * 2 and fnmatchcase(address, pattern) for address in _METADATA_ADDRESSES
    )


def _place_of_ipv4(number: int) -> str:
    if ".".join(str(number >> shift & 255) for shift in (24, 16, 8, 0)) in _METADATA_ADDRESSES:
        return "metadata"
    for name, ranges in (("loopback", _LOOPBACK), ("link-local", _LINK_LOCAL), ("private", _PRIVATE)):
        if any(first <= number <= last for first, last in ranges):
            return name
    return "public"


def _place_of_ipv6(host: str) -> str:
    from ipaddress import IPv6Address

    try:
        address = IPv6Address(host.partition("%")[0])
    except ValueError:
        return "public"
    if str(address) in _METADATA_ADDRESSES:
        return "metadata"
    if address.is_loopback or int(address) == 0:
        return "loopback"
    number = int(address)
    # An address of the other kind in it: mapped, compatible, translated (NAT64), 6to4.
    if number >> 32 in (0xFFFF, 0, 0x64FF9B << 64, 0xFFFF0000):
        return _place_of_ipv4(number & 0xFFFFFFFF)
    if number >> 112 == 0x2002:
        return _place_of_ipv4(number >> 80 & 0xFFFFFFFF)
    if address.is_link_local:
        return "link-local"
    return "private" if address.is_private or address.is_site_local else "public"


def _ipv4(host: str) -> int | None:
    """Return the address as a number, if ``host`` is one in any way that inet_aton(3) takes: ``127.1``, ``0x7f.1``,
    ``017700000001``.
    """
    if not host or host[0] not in "0123456789":
        return None
    parts = host.split(".")
    if len(parts) > 4:
        return None
    numbers = []
    for part in parts:
        base = 16 if part[:2] == "0x" else 8 if len(part) > 1 and part[0] == "0" else 10
        try:
            numbers.append(int(part[2:] or "0" if base == 16 else part, base))
        except ValueError:
            return None
    *firsts, last = numbers
    if any(number > 255 for number in firsts) or last >= 256 ** (5 - len(numbers)):
        return None
    for at, number in enumerate(firsts):
        last += number << (24 - 8 * at)
    return last


def _echoed(host: str) -> int | None:
    """Return the address that is written in a name like ``10-0-0-1.nip.io`` or ``x.7f000001.nip.io``."""
    labels = host.replace("-", ".").split(".")[:-2]
    for at in range(len(labels) - 3):
        number = _ipv4(".".join(labels[at : at + 4]))
        if number is not None:
            return number
    last = labels[-1] if labels else ""
    return int(last, 16) if len(last) == 8 and all(letter in "0123456789abcdef" for letter in last) else None


# -- reading addresses -------------------------------------------------------------------------------------------------


def _urls(call: ToolCall) -> Iterator[str]:
    """Every address among the arguments."""
    yield from filter(None, call.url.split("\n"))
    waiting: list[Any] = [call.args]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            start = item.lstrip()[:12].casefold()
            if ":" in start and (start.partition(":")[0] in _SCHEMES or start.startswith(_BEFORE)):
                yield item
        elif isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, (list, tuple, set, frozenset)):
            waiting.extend(item)


def _hosts(call: ToolCall) -> list[str]:
    """What stands where a host is named."""
    return [item for key, item in call.args.items() if key in HOST_KEYS and isinstance(item, str)]


def is_unreadable(url: str) -> bool:
    """Whether there is something in the place of the host that no host has in it: programs do not agree on what is
    reached then.
    """
    scheme, rest = _scheme_and_rest(url.strip())
    if scheme and scheme not in _WEB:
        return False
    host = _in_front_of_path(rest.replace("\\", "/")).rpartition("@")[2]
    plain, _ = _host_and_port("".join(letter for letter in host if letter not in "\t\r\n"), scheme)
    plain = plain.replace(UNKNOWN, "")
    if scheme == "":
        return "%" in plain or any(letter < " " for letter in plain)
    if ":" in plain or host[:1] == "[":
        from ipaddress import IPv6Address

        try:
            IPv6Address(plain.partition("%")[0])
        except ValueError:
            return UNKNOWN not in host
        return False
    return not _OF_HOSTS.issuperset(plain)


def _readings(url: str) -> list[tuple[str, str, str]]:
    """Return scheme, host and port in every way in which programs read ``url``, the usual one first: they do not agree
    on backslashes, and on where a host begins and ends.
    """
    scheme, rest = _scheme_and_rest("".join(letter for letter in url if letter > " "))  # browsers leave out blanks
    found = []
    for each in (rest, rest.replace("\\", "/"), rest.replace("?", "").replace("#", "")):
        authority = _in_front_of_path(each)
        hosts = [authority.rpartition("@")[2]]
        if authority.count("@") > 1:
            hosts.append(authority.split("@")[1])
        for text in hosts:
            host, port = _host_and_port(text, scheme)
            found.append((scheme, host, port))
            if not _OF_HOSTS.issuperset(host) and ":" not in host:
                # Some stop at what is no part of a host; and what is not known may be nothing.
                found += [(scheme, _beginning(host), port), (scheme, host.replace(UNKNOWN, ""), port)]
    return list(dict.fromkeys(found))


def _scheme_and_rest(url: str) -> tuple[str, str]:
    """Return the scheme, "" without one, and what follows the slashes."""
    while url[:12].casefold().startswith(_BEFORE):
        url = url.partition(":")[2]
    scheme, separator, rest = url.partition(":")
    scheme = scheme.casefold()
    if not separator or (not rest.startswith(("//", "\\\\", "/\\", "\\/")) and scheme not in _SCHEMES):
        scheme, rest = "", url
    return scheme, rest.lstrip("/\\")


def _in_front_of_path(rest: str) -> str:
    for end in "/?#":
        rest = rest.partition(end)[0]
    return rest


def _beginning(host: str) -> str:
    end = next((at for at, letter in enumerate(host) if letter not in _OF_HOSTS), len(host))
    return host[:end].rstrip(".")


def _host_and_port(host: str, scheme: str) -> tuple[str, str]:
    if "%" in host:
        from urllib.parse import unquote

        host = unquote(host).rpartition("@")[2]
    if not host.isascii():
        host = _plain(host)
    if host[:1] == "[" and "]" in host:
        host, _, port = host[1:].partition("]")
        port = port.lstrip(":")
    elif host.count(":") > 1:
        port = ""
    else:
        host, _, port = host.partition(":")
    return host.casefold().rstrip("."), port or _PORTS.get(scheme, "")


def _plain(host: str) -> str:
    """``host`` as it is looked up: other forms of letters, digits and dots as these, what is left in Punycode."""
    from unicodedata import category, normalize

    host = "".join(letter for letter in normalize("NFKC", host).replace("。", ".") if category(letter) != "Cf")
    try:
        return host if host.isascii() else host.encode("idna").decode()
    except ValueError:
        return host


def host_pattern(text: str) -> str:
    """Return a host as it is compared. Raises ``RegistrationError`` if it is none."""
    plain = text if text.isascii() else _plain(text)
    if not plain.strip() or any(mark in plain for mark in "/@? "):
        raise RegistrationError(f"A host is a name or an address, with *, and :port if wanted, not {text!r}.")
    return plain.casefold().rstrip(".")


def _is_one_of(host: str, port: str, patterns: tuple[str, ...]) -> bool:
    for pattern in patterns:
        name, colon, wanted = pattern.rpartition(":")
        if not colon or not (wanted.isdigit() or wanted == "*") or (":" in name and not name.endswith("]")):
            name, wanted = pattern, "*"
        if fnmatchcase(host, name.strip("[]")) and wanted in ("*", port):
            return True
    return False


def _decision(name: str, given: str) -> str:
    if given not in DECISIONS:
        raise RegistrationError(f"{name} must be one of {', '.join(DECISIONS)}, not {given!r}.")
    return given
