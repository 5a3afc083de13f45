"""The protocols of coding agents: pure functions, one module per host."""

from __future__ import annotations

from agent_hooks.errors import WireError, did_you_mean

from .answer import Answer
from .claude_code import CLAUDE_CODE
from .claude_family import Host
from .codex import CODEX

# Every host by the name that its contexts carry as `host`.
HOSTS: dict[str, Host] = {host.name: host for host in (CLAUDE_CODE, CODEX)}


def get_host(name: str) -> Host:
    """Return the host called ``name``. Raises ``WireError`` naming the nearest one."""
    host = HOSTS.get(name)
    if host is not None:
        return host
    known = f"Known are {', '.join(HOSTS)}."
    hint = did_you_mean(name.lower(), HOSTS, cutoff=0.4)
    raise WireError(" ".join(filter(None, (f"There is no host {name!r}.", hint, known))))


__all__ = ["HOSTS", "Answer", "Host", "get_host"]
