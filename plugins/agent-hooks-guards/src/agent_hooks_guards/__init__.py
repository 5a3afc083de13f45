"""Guards for agents: shell commands, paths, secrets, hosts; blocklist, allowlist, argument patterns, rate limit, roles,
audit trail; limits of a run's steps, tokens, time and cost, and its cancellation.

Installed, this module is a plugin that guards commands, files, secrets and hosts without any settings, and holds what
the settings of a project and of the folders above it, of the user and of who manages the machine say besides. Its
classes are guards for code: ``manager.register(ToolBlocklist(["shell"]))``; ``UseGuards`` gives an agent its limits.
"""

from __future__ import annotations

from agent_hooks import CLEANUP, GUARD, OBSERVE, HookOutcome, hookimpl
from agent_hooks.errors import AgentHooksError

from .settings.project import project_guards, project_guards_again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from agent_hooks import ConfigFinding, HookContext

    from .guards.allowlist import ToolAllowlist
    from .guards.arguments import ArgumentPattern
    from .guards.audit import AuditTrail
    from .guards.blocklist import ToolBlocklist
    from .guards.cancellation import Cancellation
    from .guards.cost import CostLimit, Price
    from .guards.egress import EgressGuard
    from .guards.injection import InjectionWarning
    from .guards.limits import FinishReasonLimit, StepsLimit, TokenLimit
    from .guards.path import PathGuard
    from .guards.rate_limit import RateLimit
    from .guards.roles import RoleAccess
    from .guards.secrets import SecretsGuard
    from .guards.shell import ShellGuard
    from .guards.time_limit import TimeLimit
    from .settings.build import ProjectGuards
    from .settings.exceptions import RuleException
    from .settings.model import GuardsSettings
    from .settings.project import Found
    from .settings.use_guards import UseGuards

__all__ = [
    "ArgumentPattern",
    "AuditTrail",
    "Cancellation",
    "CostLimit",
    "EgressGuard",
    "FinishReasonLimit",
    "GuardsSettings",
    "InjectionWarning",
    "PathGuard",
    "Price",
    "RateLimit",
    "RoleAccess",
    "RuleException",
    "SecretsGuard",
    "ShellGuard",
    "StepsLimit",
    "TimeLimit",
    "TokenLimit",
    "ToolAllowlist",
    "ToolBlocklist",
    "UseGuards",
]

__version__ = "0.1.0"

_MODULES = {
    "ArgumentPattern": "guards.arguments",
    "AuditTrail": "guards.audit",
    "Cancellation": "guards.cancellation",
    "CostLimit": "guards.cost",
    "EgressGuard": "guards.egress",
    "FinishReasonLimit": "guards.limits",
    "GuardsSettings": "settings.model",
    "InjectionWarning": "guards.injection",
    "PathGuard": "guards.path",
    "Price": "guards.cost",
    "RateLimit": "guards.rate_limit",
    "RoleAccess": "guards.roles",
    "RuleException": "settings.exceptions",
    "SecretsGuard": "guards.secrets",
    "ShellGuard": "guards.shell",
    "StepsLimit": "guards.limits",
    "TimeLimit": "guards.time_limit",
    "TokenLimit": "guards.limits",
    "ToolAllowlist": "guards.allowlist",
    "ToolBlocklist": "guards.blocklist",
    "UseGuards": "settings.use_guards",
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
    from .settings.use_guards import UseGuards

    return {"guards": UseGuards}


@hookimpl
def agent_hooks_commands() -> dict[str, Any]:
    """Offer ``agent-hooks rules`` and ``agent-hooks allow``."""
    from .settings.commands import allow_command, rules_command

    return {"allow": allow_command, "rules": rules_command}


@hookimpl
def agent_hooks_explain(ctx: HookContext) -> list[str] | None:
    """Tell what a command would run and touch, which rules that breaks, and how to let it through."""
    from .settings.standing import explanation

    return explanation(ctx, project_guards(ctx)[0])


@hookimpl
def agent_hooks_findings(directory: str) -> list[ConfigFinding]:
    """Tell which settings are wrong, and which exceptions have ended."""
    from .settings.own_findings import findings

    return findings(directory)


@hookimpl(priority=GUARD, mode="gate", on_failure="closed")
def before_tool_use(ctx: HookContext) -> HookOutcome | None:
    """Hold the standing guards and the project's rules. Settings that are wrong raise ``SettingsError``, which denies
    the call.
    """
    projects = _checked(project_guards(ctx))
    outcome = None
    if projects:
        from .settings.build import judge

        outcome = judge(ctx, projects)
        if outcome is not None and outcome.decision.is_blocking:
            return outcome
    return _worse(outcome, _standing(ctx, projects))


# Settings that are wrong have denied the call before it was made; what can be read of them holds here.
@hookimpl(priority=GUARD, mode="transform", on_failure="closed")
def after_tool_use(ctx: HookContext) -> HookOutcome | None:
    """Take secrets out of the result; warn the model of instructions in it, where settings ask for that."""
    from .settings.standing import clean

    return clean(ctx, project_guards(ctx)[0])


@hookimpl(priority=GUARD, mode="transform", on_failure="closed")
def on_tool_error(ctx: HookContext) -> HookOutcome | None:
    """Take secrets out of the text of an error."""
    from .settings.standing import clean

    return clean(ctx, project_guards(ctx)[0])


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
    _audit(ctx, project_guards_again(ctx)[0])


def _standing(ctx: HookContext, projects: list[ProjectGuards]) -> HookOutcome | None:
    """What the guards say that hold in any case."""
    call = ctx.tool_call
    if call is None:
        return None
    from .settings.standing import judge

    return judge(ctx, call, projects)


def _worse(first: HookOutcome | None, second: HookOutcome | None) -> HookOutcome | None:
    """The one that counts more; of two questions, both."""
    if first is None or second is None or second.decision.is_blocking:
        return first if second is None else second
    from .guards.objection import joined

    return first.replace(reason=joined([first.reason, second.reason]))


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
    limits = [(project, limit) for project in projects for limit in project.run_limits if ctx.event in limit.events]
    signals = tuple(signal for project, limit in limits if (signal := project.signal(limit, ctx)) is not None)
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
