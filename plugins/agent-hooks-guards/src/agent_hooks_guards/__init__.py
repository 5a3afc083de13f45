"""Guards for agents: blocklist, allowlist, argument patterns, rate limit, roles, audit trail.

Installed, this module is a plugin that holds what ``[tool.agent_hooks.guards]`` in a project's pyproject.toml says, and
does nothing without it. Its classes are guards for code: ``manager.register(ToolBlocklist(["shell"]))``.
"""

from __future__ import annotations

from agent_hooks import GUARD, OBSERVE, hookimpl

from .project import project_guards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks import HookContext, HookOutcome

    from .allowlist import ToolAllowlist
    from .arguments import ArgumentPattern
    from .audit import AuditTrail
    from .blocklist import ToolBlocklist
    from .rate_limit import RateLimit
    from .roles import RoleAccess
    from .settings import GuardsSettings

__all__ = [
    "ArgumentPattern",
    "AuditTrail",
    "GuardsSettings",
    "RateLimit",
    "RoleAccess",
    "ToolAllowlist",
    "ToolBlocklist",
]

__version__ = "0.1.0"

_MODULES = {
    "ArgumentPattern": "arguments",
    "AuditTrail": "audit",
    "GuardsSettings": "settings",
    "RateLimit": "rate_limit",
    "RoleAccess": "roles",
    "ToolAllowlist": "allowlist",
    "ToolBlocklist": "blocklist",
}


def __getattr__(name: str) -> Any:
    # Where no project has settings, importing this plugin must cost next to nothing.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


@hookimpl(priority=GUARD, mode="gate", on_failure="closed")
def before_tool_use(ctx: HookContext) -> HookOutcome | None:
    """Hold the project's guards. Settings that are wrong raise ``SettingsError``, which denies the call."""
    guards = project_guards(ctx)
    return guards.judge(ctx) if guards is not None else None


@hookimpl(specname="before_tool_use", priority=OBSERVE, mode="observe")
def audit_call(ctx: HookContext) -> None:
    """Write the call and its decision to the project's audit trail."""
    guards = project_guards(ctx)
    if guards is not None and guards.audit is not None:
        guards.audit.execute(ctx)


@hookimpl(specname="after_tool_use", priority=OBSERVE, mode="observe")
def audit_result(ctx: HookContext) -> None:
    """Write the call's result to the project's audit trail, if it asks for results."""
    guards = project_guards(ctx)
    if guards is not None and guards.audit is not None:
        guards.audit.execute(ctx)
