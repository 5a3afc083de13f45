"""The coding agents, by the names that ``--agent`` takes."""

from __future__ import annotations

from agent_hooks.errors import WireError
from agent_hooks.wire import HOSTS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from agent_hooks.wire import Host

# What people call an agent -> the name that contexts carry as `host`.
_CALLED = {"claude-code": "claude"}
AGENTS: dict[str, Host] = {
    **{called: HOSTS[name] for called, name in _CALLED.items() if name in HOSTS},
    **{name: host for name, host in HOSTS.items() if name not in _CALLED.values()},
}


def find_agent(name: str) -> Host:
    """Return the agent called ``name``. Raises ``WireError`` naming those there are."""
    host = AGENTS.get(name) or HOSTS.get(name)
    if host is None:
        raise WireError(f"There is no agent {name!r}; --agent takes {' or '.join(AGENTS)}.")
    return host
