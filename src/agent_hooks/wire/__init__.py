"""The protocols of coding agents: pure functions, one module per host."""

from __future__ import annotations

from _collections_abc import Mapping  # `collections.abc` imports the whole of `collections`

from agent_hooks.errors import WireError, did_you_mean

from .answer import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from .host import Host

# Every host by the name that its contexts carry as `host`, with the module whose `HOST` it is.
_MODULES = {
    "claude-code": "claude_code",
    "codex": "codex",
    "gemini": "gemini",
    "qwen": "qwen",
    "copilot": "copilot",
    "vscode": "vscode",
    "cursor": "cursor",
    "opencode": "opencode",
    "agent-hooks-0.1": "agent_hooks_01",
}


class Hosts(Mapping[str, "Host"]):
    """The hosts by name. A host's module is imported when the host is asked for: a process needs that of one."""

    def __getitem__(self, name: str) -> Host:
        """Return the host called ``name``. Raises ``KeyError``."""
        module = __import__(f"{__name__}.{_MODULES[name]}", fromlist=["HOST"])
        host: Host = module.HOST
        return host

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names."""
        return iter(_MODULES)

    def __len__(self) -> int:
        """Return the number of hosts."""
        return len(_MODULES)

    def __contains__(self, name: object) -> bool:
        """Whether a host has this name."""
        return name in _MODULES


HOSTS = Hosts()


def get_host(name: str) -> Host:
    """Return the host called ``name``. Raises ``WireError`` naming the nearest one."""
    if name in HOSTS:
        return HOSTS[name]
    known = f"Known are {', '.join(HOSTS)}."
    hint = did_you_mean(name.lower(), HOSTS, cutoff=0.4)
    raise WireError(" ".join(filter(None, (f"There is no host {name!r}.", hint, known))))


__all__ = ["HOSTS", "Answer", "get_host"]
