"""Guards for agents: blocklist, allowlist, argument patterns, rate limit, roles, audit trail; limits of a run's steps,
tokens, time and cost, and its cancellation.

Installed, this module is a plugin that holds what the settings of a project and of the folders above it, of the user
and of who manages the machine say, and does nothing without any. Its classes are guards for code:
``manager.register(ToolBlocklist(["shell"]))``; ``UseGuards`` gives an agent its limits.
"""

from __future__ import annotations

from agent_hooks import CLEANUP, GUARD, OBSERVE, HookOutcome, hookimpl
from agent_hooks.errors import AgentHooksError

from .project import project_guards, project_guards_again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks import HookContext

    from .allowlist import ToolAllowlist
    from .arguments import ArgumentPattern
    from .audit import AuditTrail
    from .blocklist import ToolBlocklist
    from .build import ProjectGuards
    from .cancellation import Cancellation
    from .cost import CostLimit, Price
    from .limits import FinishReasonLimit, StepsLimit, TokenLimit
    from .project import Found
    from .rate_limit import RateLimit
    from .roles import RoleAccess
    from .settings import GuardsSettings
    from .time_limit import TimeLimit
    from .use_guards import UseGuards

__all__ = [
    "ArgumentPattern",
    "AuditTrail",
    "Cancellation",
    "CostLimit",
    "FinishReasonLimit",
    "GuardsSettings",
    "Price",
    "RateLimit",
    "RoleAccess",
    "StepsLimit",
    "TimeLimit",
    "TokenLimit",
    "ToolAllowlist",
    "ToolBlocklist",
    "UseGuards",
]

__version__ = "0.1.0"

_MODULES = {
    "ArgumentPattern": "arguments",
    "AuditTrail": "audit",
    "Cancellation": "cancellation",
    "CostLimit": "cost",
    "FinishReasonLimit": "limits",
    "GuardsSettings": "settings",
    "Price": "cost",
    "RateLimit": "rate_limit",
    "RoleAccess": "roles",
    "StepsLimit": "limits",
    "TimeLimit": "time_limit",
    "TokenLimit": "limits",
    "ToolAllowlist": "allowlist",
    "ToolBlocklist": "blocklist",
    "UseGuards": "use_guards",
}


def __getattr__(name: str) -> Any:
    # Where no project has settings, importing this plugin must cost next to nothing.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


@hookimpl
def agent_hooks_capabilities() -> dict[str, Any]:
    """Offer ``UseGuards`` as the capability ``guards``: ``AgentBuilder().with_capability("guards", max_steps=10)``."""
    from .use_guards import UseGuards

    return {"guards": UseGuards}


@hookimpl(priority=GUARD, mode="gate", on_failure="closed")
def before_tool_use(ctx: HookContext) -> HookOutcome | None:
    """Hold the project's rules. Settings that are wrong raise ``SettingsError``, which denies the call."""
    projects = _checked(project_guards(ctx))
    if not projects:
        return None
    from .build import judge

    return judge(ctx, projects)


# Before every other guard, as in ``cancellation``, whose import costs something.
@hookimpl(specname="before_execution", priority=250, mode="gate", on_failure="closed")
async def cancel_execution(ctx: HookContext) -> HookOutcome | None:
    """Stop the run before it begins, if one of the project's files says so."""
    return await _cancelled(ctx)


@hookimpl(specname="before_step", priority=250, mode="gate", on_failure="closed")
async def cancel_step(ctx: HookContext) -> HookOutcome | None:
    """Stop the run before its next step, if one of the project's files says so."""
    return await _cancelled(ctx)


@hookimpl(priority=GUARD, mode="gate", on_failure="closed")
def before_execution(ctx: HookContext) -> HookOutcome | None:
    """Note when the run begins. Settings that are wrong raise ``SettingsError``, which stops the run."""
    return _limited(ctx, _checked(project_guards_again(ctx)))


@hookimpl(priority=GUARD, mode="gate", on_failure="closed")
def before_step(ctx: HookContext) -> HookOutcome | None:
    """Hold the project's limits. Settings that are wrong raise ``SettingsError``, which stops the run."""
    return _limited(ctx, _checked(project_guards_again(ctx)))


# What is wrong with the settings the gates say; these and the audit hold what can be read.
@hookimpl(priority=CLEANUP, mode="gate")
def after_step(ctx: HookContext) -> HookOutcome | None:
    """Stop after an answer that ended for one of the project's finish reasons."""
    return _limited(ctx, project_guards(ctx)[0])


@hookimpl(priority=GUARD, mode="observe")
def after_execution(ctx: HookContext) -> None:
    """Forget when the run began."""
    _limited(ctx, project_guards(ctx)[0])


@hookimpl(specname="before_tool_use", priority=OBSERVE, mode="observe")
def audit_call(ctx: HookContext) -> None:
    """Write the call and its decision to the audit trails of the project."""
    _audit(ctx, project_guards_again(ctx)[0])


@hookimpl(specname="after_tool_use", priority=OBSERVE, mode="observe")
def audit_result(ctx: HookContext) -> None:
    """Write the call's result to the audit trails of the project that ask for results."""
    _audit(ctx, project_guards(ctx)[0])


def _checked(found: Found) -> list[ProjectGuards]:
    projects, wrong = found
    if wrong is not None:
        raise wrong
    return projects


async def _cancelled(ctx: HookContext) -> HookOutcome | None:
    for project in _checked(project_guards(ctx)):
        outcome = None if project.cancellation is None else await project.cancellation.handle(ctx)
        if outcome is not None:
            return outcome
    return None


def _limited(ctx: HookContext, projects: list[ProjectGuards]) -> HookOutcome | None:
    limits = [limit for project in projects for limit in project.run_limits if ctx.event in limit.events]
    signals = tuple(signal for limit in limits if (signal := limit.signal(ctx)) is not None)
    return HookOutcome.proceed(signals=signals) if signals else None


def _audit(ctx: HookContext, projects: list[ProjectGuards]) -> None:
    failed: Exception | None = None
    for project in projects:
        try:
            if project.audit is not None:
                project.audit.execute(ctx)
        except (AgentHooksError, OSError) as error:  # the other trails are written all the same
            failed = failed or error
    if failed is not None:
        raise failed
