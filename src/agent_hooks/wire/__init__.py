"""What coding agents say to an external hook, and what they need to hear: pure functions, one module per host."""

from __future__ import annotations

from agent_hooks.errors import WireError

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
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), [*HOSTS], n=1, cutoff=0.4)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise WireError(f"There is no host {name!r}.{hint} Known are {', '.join(HOSTS)}.")


__all__ = ["HOSTS", "Answer", "Host", "get_host"]
