"""Make hooks of the entries of files, and register them."""

from __future__ import annotations

from agent_hooks.engine.plugin_info import MadePlugin
from agent_hooks.errors import AgentHooksError, RegistrationError
from agent_hooks.formats.entry import FORMS
from agent_hooks.formats.findings import ConfigFinding, not_honoured
from agent_hooks.model.policy import TIGHTENING_ONLY

from .entry_hooks import make_hook
from .types import find_type, handler_types, read_config

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import Any

    from agent_hooks.engine.manager import HookManager
    from agent_hooks.formats.entry import HookEntry
    from agent_hooks.model.context import HookContext
    from agent_hooks.model.policy import HookPolicy

# A handler enforces its own timeout and cleans up. The engine's limit is for handlers that do not.
_GRACE_SECONDS = 5.0
# Types that `allow_shell=False` refuses: a file alone makes them leave the process.
REACHING_OUT = ("command", "http")


def register_entries(
    manager: HookManager, name: str, entries: Iterable[HookEntry], types: Mapping[str, Any] | None = None
) -> list[ConfigFinding]:
    """Register the entries of one file as the plugin ``name``; return a finding for each that cannot be honoured.

    ``types``: handler types of this call alone, by name, before all others. The entries must have one source, scope and
    form. No handler is run.
    """
    known = {**handler_types(manager), **(types or {})}
    plugin = MadePlugin(name)
    findings: list[ConfigFinding] = []
    first: HookEntry | None = None
    taken: set[str] = set()
    for number, entry in enumerate(entries):
        try:
            hook = _hook(entry, known, manager, taken)
        except Exception as error:  # noqa: BLE001 - a handler type may be third-party code
            is_plain = isinstance(error, (AgentHooksError, ImportError))
            findings.append(not_honoured(entry, str(error) if is_plain else f"{type(error).__name__}: {error}"))
            continue
        setattr(plugin, f"entry_{number:04}", hook)  # pluggy sorts hooks by name
        first = first or entry
    if first is not None:
        manager.register(plugin, name, source=first.source, scope=first.scope, default_on_failure=FORMS[first.form])
    return findings


def _hook(
    entry: HookEntry, known: Mapping[str, Any], manager: HookManager, taken: set[str]
) -> Callable[[HookContext], Any]:
    """Return the hook of an entry, whose name is then ``taken``."""
    policy = manager.policy_of(entry.source)
    if entry.type in REACHING_OUT and not policy.allow_shell:
        raise RegistrationError("the policy says allow_shell = false, so files may bring no command and http hooks")
    handler = find_type(entry.type, known)
    config = _capped(read_config(handler, entry.config), _longest(entry, policy))
    name = _name(entry, taken)
    hook = make_hook(entry, handler, config, name, _time_limit(entry, policy))
    taken.add(name)
    return hook


def _name(entry: HookEntry, taken: set[str]) -> str:
    wanted = f"{entry.name} ({entry.origin})" if entry.name else entry.origin
    name, number = wanted, 1
    while name in taken:
        number += 1
        name = f"{wanted}#{number}"
    return name


def _time_limit(entry: HookEntry, policy: HookPolicy) -> float:
    seconds = entry.config.get("timeout")
    return min(float(seconds) if isinstance(seconds, (int, float)) else 60.0, _longest(entry, policy)) + _GRACE_SECONDS


def _capped(config: Any, longest: float) -> Any:
    """Return the handler's config with a timeout of at most ``longest`` seconds."""
    seconds = config.get("timeout") if isinstance(config, dict) else getattr(config, "timeout", None)
    if not isinstance(seconds, (int, float)) or seconds <= longest:
        return config
    return (
        {**config, "timeout": longest} if isinstance(config, dict) else config.model_copy(update={"timeout": longest})
    )


def _longest(entry: HookEntry, policy: HookPolicy) -> float:
    """Return the limit of an entry in seconds: for a project or a skill, the policy's."""
    is_held = entry.source in TIGHTENING_ONLY and "timeout" in policy._fields  # the default is no limit for entries
    return (policy.timeout if is_held else None) or float("inf")
