"""Guards for agents: blocklist, allowlist, argument patterns, rate limit, roles, audit trail.

Installed, this module is a plugin that holds what ``[tool.agent_hooks.guards]`` in a project's pyproject.toml and
in those of the folders above it say, and does nothing without one. Its classes are guards for code:
``manager.register(ToolBlocklist(["shell"]))``.
"""

from __future__ import annotations

from agent_hooks import GUARD, OBSERVE, hookimpl
from agent_hooks.errors import AgentHooksError

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
    projects, wrong = project_guards(ctx)
    if wrong is not None:
        raise wrong
    if not projects:
        return None
    from .build import judge

    return judge(ctx, projects)


@hookimpl(specname="before_tool_use", priority=OBSERVE, mode="observe")
def audit_call(ctx: HookContext) -> None:
    """Write the call and its decision to the audit trails of the project."""
    _audit(ctx)


@hookimpl(specname="after_tool_use", priority=OBSERVE, mode="observe")
def audit_result(ctx: HookContext) -> None:
    """Write the call's result to the audit trails of the project that ask for results."""
    _audit(ctx)


def _audit(ctx: HookContext) -> None:
    # What is wrong with the settings the gate has said.
    failed: Exception | None = None
    for project in project_guards(ctx)[0]:
        try:
            if project.audit is not None:
                project.audit.execute(ctx)
        except (AgentHooksError, OSError) as error:  # the other trails are written all the same
            failed = failed or error
    if failed is not None:
        raise failed
