"""Guards for agents: shell commands, paths, secrets, hosts; blocklist, allowlist, argument patterns, rate limit, roles,
audit trail; limits of a run's steps, tokens, time and cost, and its cancellation.

Installed, this module is a plugin that guards commands, files, secrets and hosts without any settings, and applies the
settings of the project and the folders above it, of the user, and of the machine's owner. Its classes are guards for
code: ``manager.register(ToolBlocklist(["shell"]))``; ``UseGuards`` gives an agent its limits.
"""

from __future__ import annotations

import sys

from agent_hooks import CLEANUP, GUARD, OBSERVE, HookOutcome, hookimpl
from agent_hooks.errors import AgentHooksError
from agent_hooks.system.caching import lru_cache

from .settings.project import has_settings, project_guards, project_guards_again

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from agent_hooks import ConfigFinding, HookContext
    from agent_hooks.sources.plugin_settings import PluginTable

    from .guards.allowlist import ToolAllowlist as ToolAllowlist
    from .guards.arguments import ArgumentPattern as ArgumentPattern
    from .guards.audit import AuditTrail as AuditTrail
    from .guards.blocklist import ToolBlocklist as ToolBlocklist
    from .guards.cancellation import Cancellation as Cancellation
    from .guards.egress import EgressGuard as EgressGuard
    from .guards.exceptions import RuleException as RuleException
    from .guards.injection import InjectionWarning as InjectionWarning
    from .guards.limits import CostLimit as CostLimit
    from .guards.limits import FinishReasonLimit as FinishReasonLimit
    from .guards.limits import Price as Price
    from .guards.limits import StepsLimit as StepsLimit
    from .guards.limits import TimeLimit as TimeLimit
    from .guards.limits import TokenLimit as TokenLimit
    from .guards.path import PathGuard as PathGuard
    from .guards.rate_limit import RateLimit as RateLimit
    from .guards.roles import RoleAccess as RoleAccess
    from .guards.secrets import SecretsGuard as SecretsGuard
    from .guards.shell import ShellGuard as ShellGuard
    from .settings.build import FileGuards
    from .settings.project import Found
    from .settings.schema import GuardsSettings as GuardsSettings
    from .settings.use_guards import UseGuards as UseGuards

__version__ = "0.1.0"

_MODULES = {
    "ArgumentPattern": "guards.arguments",
    "AuditTrail": "guards.audit",
    "Cancellation": "guards.cancellation",
    "CostLimit": "guards.limits",
    "EgressGuard": "guards.egress",
    "FinishReasonLimit": "guards.limits",
    "GuardsSettings": "settings.schema",
    "InjectionWarning": "guards.injection",
    "PathGuard": "guards.path",
    "Price": "guards.limits",
    "RateLimit": "guards.rate_limit",
    "RoleAccess": "guards.roles",
    "RuleException": "guards.exceptions",
    "SecretsGuard": "guards.secrets",
    "ShellGuard": "guards.shell",
    "StepsLimit": "guards.limits",
    "TimeLimit": "guards.limits",
    "TokenLimit": "guards.limits",
    "ToolAllowlist": "guards.allowlist",
    "ToolBlocklist": "guards.blocklist",
    "UseGuards": "settings.use_guards",
}

__all__ = sorted(_MODULES)  # noqa: PLE0605 - a list, built from the table above


def __getattr__(name: str) -> Any:
    # Where no project has settings, importing this plugin must cost next to nothing.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = f"{__name__}.{_MODULES[name]}"
    __import__(module)
    return getattr(sys.modules[module], name)


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
def agent_hooks_settings() -> dict[str, Any]:
    """Offer the table ``[guards]``."""
    return {"guards": _settings}


def _settings() -> Any:
    from .settings.schema import GuardsSettings

    return GuardsSettings


def _accepts(table: PluginTable) -> bool:
    from .settings.build import build

    return build(table) is not None  # it raises an error for wrong settings


_settings.accepts = _accepts  # type: ignore[attr-defined]


@hookimpl
def agent_hooks_explain(ctx: HookContext) -> list[str] | None:
    """Explain the effects of a command, the rules that they break, and how to let it through."""
    from .settings.guard_set import explanation

    return explanation(ctx, project_guards(ctx)[0])


@hookimpl
def agent_hooks_findings(directory: str) -> list[ConfigFinding]:
    """Report wrong settings, and exceptions that have ended."""
    from .settings.own_findings import findings

    return findings(directory)


@hookimpl(priority=GUARD, mode="gate", on_failure="closed")
def before_tool_use(ctx: HookContext) -> HookOutcome | None:
    """Judge the call by the rules of settings files and by the guards. Wrong settings raise ``SettingsError``, which
    denies the call.
    """
    files = _checked(project_guards(ctx))
    if files:
        from .guards.objection import settle

        return settle(_outcomes(ctx, files))
    return None if ctx.tool_call is None else _judging().judge(ctx, ctx.tool_call, files)


# Wrong settings have denied the call before it was made; the readable rest applies here.
@hookimpl(priority=GUARD, mode="transform", on_failure="closed")
def after_tool_use(ctx: HookContext) -> HookOutcome | None:
    """Redact secrets in the result; warn the model of instructions in it, where settings ask for that."""
    found: HookOutcome | None = _judging().clean(ctx, project_guards(ctx)[0])
    return found


@hookimpl(priority=GUARD, mode="transform", on_failure="closed")
def on_tool_error(ctx: HookContext) -> HookOutcome | None:
    """Redact secrets in the text of an error."""
    return after_tool_use(ctx)


# Before every other guard: the priority of ``Cancellation``, whose import would cost something.
@hookimpl(specname="before_execution", priority=250, mode="gate", on_failure="closed", when=has_settings)
async def cancel_execution(ctx: HookContext) -> HookOutcome | None:
    """Stop the run before it begins, if a ``cancel_file`` exists."""
    return await _cancelled(ctx)


@hookimpl(specname="before_step", priority=250, mode="gate", on_failure="closed", when=has_settings)
async def cancel_step(ctx: HookContext) -> HookOutcome | None:
    """Stop the run before its next step, if a ``cancel_file`` exists."""
    return await _cancelled(ctx)


@hookimpl(priority=GUARD, mode="gate", on_failure="closed", when=has_settings)
def before_execution(ctx: HookContext) -> HookOutcome | None:
    """Record when the run begins. Wrong settings raise ``SettingsError``, which stops the run."""
    return _limited(ctx, _checked(project_guards_again(ctx)))


@hookimpl(priority=GUARD, mode="gate", on_failure="closed", when=has_settings)
def before_step(ctx: HookContext) -> HookOutcome | None:
    """Apply the limits of settings files. Wrong settings raise ``SettingsError``, which stops the run."""
    return _limited(ctx, _checked(project_guards_again(ctx)))


# The gates report wrong settings; these and the audit apply the readable rest.
@hookimpl(priority=CLEANUP, mode="gate", when=has_settings)
def after_step(ctx: HookContext) -> HookOutcome | None:
    """Stop after an answer that ended for one of the ``finish_reasons``."""
    return _limited(ctx, project_guards(ctx)[0])


@hookimpl(priority=GUARD, mode="observe", when=has_settings)
def after_execution(ctx: HookContext) -> None:
    """Forget when the run began."""
    _limited(ctx, project_guards(ctx)[0])


@hookimpl(specname="before_tool_use", priority=OBSERVE, mode="observe", when=has_settings)
def audit_call(ctx: HookContext) -> None:
    """Write the call and its decision to the audit trails of settings files."""
    _audit(ctx, project_guards_again(ctx)[0])


@hookimpl(specname="after_tool_use", priority=OBSERVE, mode="observe", when=has_settings)
def audit_result(ctx: HookContext) -> None:
    """Write the call's result to the audit trails that ask for results."""
    _audit(ctx, project_guards_again(ctx)[0])


@lru_cache(maxsize=1)
def _judging() -> Any:
    """Return the module that judges, imported when first needed: an import statement takes a microsecond each time."""
    from .settings import guard_set

    return guard_set


def _outcomes(ctx: HookContext, files: list[FileGuards]) -> Iterator[HookOutcome | None]:
    from .settings.build import outcomes

    yield from outcomes(ctx, files)
    if ctx.tool_call is not None:
        yield _judging().judge(ctx, ctx.tool_call, files)


def _checked(found: Found) -> list[FileGuards]:
    files, wrong = found
    if wrong is not None:
        raise wrong
    return files


async def _cancelled(ctx: HookContext) -> HookOutcome | None:
    for each in _checked(project_guards(ctx)):
        outcome = None if each.cancellation is None else await each.cancellation.handle(ctx)
        if outcome is not None:
            return outcome
    return None


def _limited(ctx: HookContext, files: list[FileGuards]) -> HookOutcome | None:
    limits = [(each, limit) for each in files for limit in each.run_limits if ctx.event in limit.events]
    signals = tuple(signal for each, limit in limits if (signal := each.signal(limit, ctx)) is not None)
    return HookOutcome.proceed(signals=signals) if signals else None


def _audit(ctx: HookContext, files: list[FileGuards]) -> None:
    failed: Exception | None = None
    for each in files:
        try:
            if each.audit is not None:
                each.audit.execute(ctx)
        except (AgentHooksError, OSError) as error:  # the other trails are written all the same
            failed = failed or error
    if failed is not None:
        raise failed
