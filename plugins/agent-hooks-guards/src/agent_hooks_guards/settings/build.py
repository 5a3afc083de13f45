"""Makes the guards of one settings file."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import partial

from agent_hooks.system.store import Store
from agent_hooks.system.visible import visible
from agent_hooks_guards.guards.allowlist import ToolAllowlist
from agent_hooks_guards.guards.arguments import ArgumentPattern
from agent_hooks_guards.guards.audit import AuditTrail
from agent_hooks_guards.guards.base import SETTINGS_SOURCE
from agent_hooks_guards.guards.blocklist import ToolBlocklist
from agent_hooks_guards.guards.cancellation import Cancellation
from agent_hooks_guards.guards.limits import Price, Starts
from agent_hooks_guards.guards.rate_limit import RateLimit
from agent_hooks_guards.guards.redaction import DEFAULT_FIELDS
from agent_hooks_guards.guards.roles import RoleAccess

from .schema import read_settings
from .use_guards import UseGuards

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import Any

    from agent_hooks import HookContext, HookOutcome, StopSignal
    from agent_hooks.sources.plugin_settings import PluginTable
    from agent_hooks_guards.guards.base import Guard, RunGuard

# The tables of the guards that hold without any settings, and of what is added to them.
SHARED_TABLES = ("shell", "paths", "secrets", "egress", "injection", "allow", "rules")

# By the table in a settings file.
_RULE_CLASSES: dict[str, type[Guard]] = {
    "blocklist": ToolBlocklist,
    "allowlist": ToolAllowlist,
    "roles": RoleAccess,
    "arguments": ArgumentPattern,
}
# When the runs of this process started. Limits are made anew when their file changes, this is not.
_STARTS = Starts()


@dataclass(eq=False)
class FileGuards:
    """The guards of one settings file: rules and rate limits of tool calls, the audit trail, limits and cancellation
    of a run; and its tables for the guards that all files share.

    ``rules``, ``rate_limits``: each with its position in the file. ``tables``: see ``SHARED_TABLES``. ``rank``:
    ``project``, ``user`` or ``managed``. ``origin``: the position of the whole table.
    """

    rules: Sequence[tuple[Guard, str]] = ()
    rate_limits: Sequence[tuple[Guard, str]] = ()
    audit: AuditTrail | None = None
    run_limits: Sequence[RunGuard] = ()
    cancellation: Cancellation | None = None
    tables: Mapping[str, Any] = field(default_factory=dict)
    rank: str = "project"
    path: str = ""
    origin: str = ""

    def signal(self, limit: RunGuard, ctx: HookContext) -> StopSignal | None:
        """Return the stop signal of one of the limits; for a project with its position."""
        signal = limit.signal(ctx)
        if signal is None or self.rank != "project":
            return signal
        return signal.replace(message=with_origin(signal.message, self.origin))


def with_origin(reason: str, origin: str) -> str:
    """Add the position of a project's rule to its reason: the words are not the plugin's."""
    return f"{reason} [{visible(origin)}]"


def outcomes(ctx: HookContext, files: Sequence[FileGuards]) -> Iterator[HookOutcome | None]:
    """Yield the outcomes of the rules of ``files`` about a tool call."""
    for each in files:
        yield None if each.audit is None else each.audit.protect(ctx)
    # Rate limits come last, so that calls that another rule denied do not count.
    rules = [(*rule, each.rank) for each in files for rule in each.rules]
    rate_limits = [(*limit, each.rank) for each in files for limit in each.rate_limits]
    for guard, origin, rank in (*rules, *rate_limits):
        outcome = guard.execute(ctx)
        if outcome is not None and rank == "project":
            outcome = outcome.replace(reason=with_origin(outcome.reason, origin))
        yield outcome


def build(table: PluginTable) -> FileGuards:
    """Make the guards of one file's table. Raises ``SettingsError`` for wrong settings."""
    settings = read_settings(table)
    own = settings.model_dump(exclude=set(SHARED_TABLES))
    # As written, without defaults. Rules stay models.
    tables = settings.model_dump(include={*SHARED_TABLES} - {"rules"}, exclude_unset=True)
    # Each file counts for itself; in ASCII, because the store takes no other names.
    rate_limit = partial(RateLimit, store=Store(), name=f"settings {os.path.realpath(table.path)!a}")
    return FileGuards(
        tuple(rule for name, make in _RULE_CLASSES.items() for rule in _make_rules(table, own, name, make)),
        tuple(_make_rules(table, own, "rate_limit", rate_limit)),
        _make_audit(table.source, own["audit"]),
        _make_run_limits(own),
        _make_cancellation(table.path, own["cancel_file"]),
        {**tables, "rules": settings.rules} if settings.rules else tables,
        table.source,
        table.path,
        table.origin(),
    )


def _make_rules(
    table: PluginTable, own: Mapping[str, Any], name: str, make: Callable[..., Guard]
) -> Iterator[tuple[Guard, str]]:
    # Expressions of the user and the machine's owner need no RE2.
    source = table.source if name == "arguments" else SETTINGS_SOURCE
    for number, rule in enumerate(own[name]):
        yield make(**rule, source=source), table.origin(name, number)


def _make_audit(rank: str, given: dict[str, Any] | None) -> AuditTrail | None:
    if given is None:
        return None
    if rank == "project":  # it may redact more fields, not fewer
        given["redact"] = [*DEFAULT_FIELDS, *given["redact"]]
    return AuditTrail(**given)


def _make_run_limits(own: Mapping[str, Any]) -> Sequence[RunGuard]:
    limits = {name: own[name] for name in ("max_steps", "max_tokens", "max_execution_time", "finish_reasons")}
    if own["cost"] is not None:
        prices = {model: Price(**price) for model, price in own["cost"]["prices"].items()}
        limits |= {"max_cost": own["cost"]["max"], "prices": prices}
    return UseGuards(**limits).limits(_STARTS)


def _make_cancellation(path: str, cancel_file: str | None) -> Cancellation | None:
    if cancel_file is None:
        return None
    return Cancellation(os.path.join(os.path.dirname(path), os.path.expanduser(cancel_file)))
