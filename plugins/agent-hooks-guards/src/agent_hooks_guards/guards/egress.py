"""The egress guard: which hosts a tool may reach."""

from __future__ import annotations

from agent_hooks import RegistrationError
from agent_hooks.model.tools import HOST_KEYS
from agent_hooks_guards.places.hosts import (
    MAX_URL,
    SMUGGLING,
    host_kind,
    is_address,
    is_ambiguous,
    matches_host,
    normalized_host,
    readings,
)

from .base import Guard, check_choice, tool_test
from .calls import HOST_KINDS, leaves
from .objection import DECISIONS, LEVELS, Objection, object_to, worst

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_hooks import HookContext, ToolCall
    from agent_hooks.engine.markers import Match

# Rules of the guard itself, rather than of a list in settings.
_LEVEL_RULES = frozenset(("egress-scheme", "egress-metadata", "egress-link-local", "egress-unreadable"))
_MAX_URLS = 1000


class EgressGuard(Guard):
    """Judges the hosts that calls of ``fetch``, ``web_search``, ``mcp`` and other tools name, by their addresses as
    written, in every spelling. **No name is looked up and no redirect followed**: a name that resolves to a private
    address, and a server that redirects there, pass. Shell commands are not judged here either.

    Metadata services of clouds and link-local addresses are denied; addresses that programs read differently are
    asked about; other private addresses are ``private``: ``deny``, ``ask`` (default) or ``allow``; this machine passes.
    ``allow``: hosts that pass; ``deny``: hosts that are denied, whatever is allowed; ``others``: the decision about the
    rest, by default ``allow``, at the level ``strict`` ``ask``. A host is a name or an address, with ``*`` for any part
    and an optional ``:port``: ``*.example.com`` is everything below that name, not the name itself. A host with ``*``
    allows no metadata service. At the level ``off`` only ``deny``, ``private`` and ``others`` count. ``match``: which
    tools; ``source`` as in ``ToolBlocklist``. Raises ``RegistrationError`` for an invalid decision, level, match or
    host.
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
        self._is_off = check_choice("level", level, ("off", *LEVELS)) == "off"
        implied = "allow" if level in ("off", "relaxed") else "ask"
        self._private = check_choice("private", private or implied, DECISIONS)
        self._others = check_choice("others", others or ("ask" if level == "strict" else "allow"), DECISIONS)
        self._allow = tuple(map(host_pattern, allow))
        self._deny = tuple(map(host_pattern, deny))
        self._test = tool_test(match, source)

    def objections(self, ctx: HookContext, call: ToolCall) -> Iterator[Objection]:
        """Yield the objections to the addresses that ``call`` names."""
        if call.kind not in HOST_KINDS or not self._test(ctx):
            return
        servers = [host for key, host in call.args.items() if key in HOST_KEYS and isinstance(host, str)]
        # The name of a server is no address: only metadata services count.
        yield from (each for each in map(self.objection, servers) if each and each.rule == "egress-metadata")
        texts = (item for item in leaves(call.args) if isinstance(item, str) and is_address(item))
        for count, url in enumerate((*filter(None, call.url.split("\n")), *texts)):
            if count == _MAX_URLS:
                yield object_to("egress-too-many", count=_MAX_URLS)
                return
            found = self.objection(url)
            is_prose = " " in url.strip() and url not in call.url
            if found is not None and not (is_prose and found.rule == "egress-unreadable"):
                yield found

    def objection(self, url: str) -> Objection | None:
        """Return the objection to reaching ``url``, which may also be ``host:port``.

        A host that is not fully known (``UNKNOWN``, see ``model.values``) is one of the others.
        """
        found = worst(self._all_objections(url))
        return None if self._is_off and found is not None and found.rule in _LEVEL_RULES else found

    def _all_objections(self, url: str) -> Iterator[Objection]:
        if len(url) > MAX_URL:
            yield object_to("egress-unreadable-length")
            return
        if is_ambiguous(url):
            yield object_to("egress-unreadable")
        for scheme, host, port in readings(url):
            if scheme in SMUGGLING:
                yield object_to("egress-scheme", scheme=scheme)
            elif host:
                key, decision = self._judge_host(host, port)
                if decision != "allow":
                    objection = object_to(key, decision=decision, host=ascii(host)[1:-1])
                    if key in ("egress-link-local", "egress-private", "egress-host"):
                        objection.setting = f"[guards.egress]\nallow = [{host!a}]"
                    yield objection

    def _judge_host(self, host: str, port: str) -> tuple[str, str]:
        """Return the key of an objection, and the decision."""
        if matches_host(host, port, self._deny):
            return "egress-denied", "deny"
        kind = host_kind(host)
        if kind == "metadata" and host not in self._allow:
            return "egress-metadata", "deny"
        if kind == "unknown":
            return "egress-host-unknown", self._others
        if matches_host(host, port, self._allow) or kind == "loopback":
            return "", "allow"
        if kind == "link-local":
            return "egress-link-local", "deny"
        return ("egress-private", self._private) if kind == "private" else ("egress-host", self._others)


def host_pattern(text: str) -> str:
    """Return a host as it is compared. Raises ``RegistrationError`` if it is none."""
    plain = normalized_host(text)
    if not plain.strip() or any(mark in plain for mark in "/@? "):
        raise RegistrationError(f"A host is a name or an address, with *, and :port if wanted, not {text!r}.")
    return plain.casefold().rstrip(".")
