"""The protocols of coding agents: pure functions, one module per host."""

from __future__ import annotations

from _collections_abc import Mapping  # `collections.abc` imports the whole of `collections`

from agent_hooks.errors import WireError, did_you_mean

from .answer import Answer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

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


def sender_of(host: Host, payload: Any) -> Host:
    """Return the host that sent ``payload`` to a hook of ``host``.

    Copilot CLI and the agents in VS Code run the hooks in Claude Code's files as well, and send payloads of their own;
    and both run those in Copilot's folder. The keys alone decide, so that payloads of one shape are of one host.
    """
    if host.name not in ("claude-code", "copilot") or not isinstance(payload, dict):
        return host
    if "sessionId" in payload:
        return HOSTS["vscode" if "hookEventName" in payload else "copilot"]
    # Claude Code sends no time; Copilot sends a transcript only where an agent stops.
    is_copilot = "timestamp" in payload and ("stop_reason" in payload or "transcript_path" not in payload)
    if host.name == "copilot":
        is_other = "hook_event_name" in payload and "transcript_path" in payload and not is_copilot
        return HOSTS["vscode"] if is_other else host
    return HOSTS["copilot"] if is_copilot and "hook_event_name" in payload else host


__all__ = ["HOSTS", "Answer", "get_host", "sender_of"]
