"""Makes the guards of one settings file, from its validated settings as plain data."""

from __future__ import annotations

import os

from agent_hooks.sources.plugin_settings import plain_settings, validated
from agent_hooks.sources.settings_models import read_table
from agent_hooks.system.caching import cache, cached_property
from agent_hooks.system.visible import visible
from agent_hooks_guards.guards.base import SETTINGS_SOURCE

from .layers import ORDERS

# Without pydantic and without guards: a process that decides one call imports only those that its settings name.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from agent_hooks import HookContext, HookOutcome, StopSignal
    from agent_hooks.sources.plugin_settings import PluginTable
    from agent_hooks_guards.guards.audit import AuditTrail
    from agent_hooks_guards.guards.base import Guard, RunGuard
    from agent_hooks_guards.guards.cancellation import Cancellation
    from agent_hooks_guards.guards.command_rule import CommandRule
    from agent_hooks_guards.guards.limits import Starts

# The tables of the guards that hold without any settings, and of what is added to them.
SHARED_TABLES = ("shell", "paths", "secrets", "egress", "injection", "allow", "rules")

# By the table in a settings file: module and class.
_RULE_CLASSES = {
    "blocklist": ("blocklist", "ToolBlocklist"),
    "allowlist": ("allowlist", "ToolAllowlist"),
    "roles": ("roles", "RoleAccess"),
    "arguments": ("arguments", "ArgumentPattern"),
}
_LIMITS = ("max_steps", "max_tokens", "max_execution_time", "finish_reasons")
# The keys of ``plain_settings``.
_PLAIN: dict[str, Any] = {"max_steps": int, "max_tokens": int, "max_execution_time": float, "injection": {}, **ORDERS}


class FileGuards:
    """The guards of one settings file: rules and rate limits of tool calls, the audit trail, limits and cancellation
    of a run, each made when first needed; and its tables for the guards that all files share.

    ``settings``: as ``validate`` returns them. ``tables``: see ``SHARED_TABLES``. ``rank``: ``project``, ``user`` or
    ``managed``. ``origin``: the position of the whole table.
    """

    def __init__(self, table: PluginTable, settings: Mapping[str, Any]) -> None:
        self._table = table
        self._own = settings
        self.tables: Mapping[str, Any] = {name: settings[name] for name in SHARED_TABLES if name in settings}
        self.rank = table.source
        self.path = table.path
        self.origin = table.origin()

    @cached_property
    def rules(self) -> Sequence[tuple[Guard, str]]:
        """The rules about tool calls, each with its position in the file."""
        return (
            *(rule for name in _RULE_CLASSES if self._own.get(name) for rule in self._make_rules(name)),
            *self.command_rules,
        )

    def _make_rules(self, name: str) -> Iterator[tuple[Guard, str]]:
        from importlib import import_module

        module, of_rule = _RULE_CLASSES[name]
        make = getattr(import_module(f"agent_hooks_guards.guards.{module}"), of_rule)
        # Expressions of the user and the machine's owner need no RE2.
        source = self.rank if name == "arguments" else SETTINGS_SOURCE
        for number, rule in enumerate(self._own[name]):
            yield make(**rule, source=source), self._table.origin(name, number)

    @cached_property
    def command_rules(self) -> Sequence[tuple[CommandRule, str]]:
        """The rules that name a program, each with its position in the file."""
        if not self._own.get("commands"):
            return ()
        from agent_hooks_guards.guards.command_rule import CommandRule

        return tuple((CommandRule(**rule), self._table.origin("rules", at)) for at, rule in self._own["commands"])

    @cached_property
    def rate_limits(self) -> Sequence[tuple[Guard, str]]:
        """The rate limits, each with its position."""
        if not self._own.get("rate_limit"):
            return ()
        from agent_hooks.system.store import Store
        from agent_hooks_guards.guards.rate_limit import RateLimit

        # Each file counts for itself; in ASCII, because the store takes no other names.
        shared: dict[str, Any] = {"store": Store(), "name": f"settings {os.path.realpath(self.path)!a}"}
        return tuple(
            (RateLimit(**limit, **shared, source=SETTINGS_SOURCE), self._table.origin("rate_limit", number))
            for number, limit in enumerate(self._own["rate_limit"])
        )

    @cached_property
    def audit(self) -> AuditTrail | None:
        """The audit trail, if there is one."""
        given = self._own.get("audit")
        if given is None:
            return None
        from agent_hooks_guards.guards.audit import AuditTrail
        from agent_hooks_guards.guards.redaction import DEFAULT_FIELDS

        # A project may redact more fields, not fewer.
        always = DEFAULT_FIELDS if self.rank == "project" else ()
        return AuditTrail(**{**given, "redact": [*always, *given["redact"]]})

    @cached_property
    def run_limits(self) -> Sequence[RunGuard]:
        """The limits of a run."""
        limits, cost = {name: self._own.get(name) for name in _LIMITS}, self._own.get("cost")
        if cost is None and not any(each not in (None, []) for each in limits.values()):
            return ()
        from agent_hooks_guards.guards.limits import Price

        from .use_guards import UseGuards

        if cost is not None:
            prices = {name: Price(**each) for name, each in cost["prices"].items()}
            limits |= {"max_cost": cost["max"], "prices": prices}
        return UseGuards(**limits).limits(starts())

    @cached_property
    def cancellation(self) -> Cancellation | None:
        """The file that cancels runs, if one is named."""
        path = self._own.get("cancel_file")
        if path is None:
            return None
        from agent_hooks_guards.guards.cancellation import Cancellation

        return Cancellation(os.path.join(os.path.dirname(self.path), os.path.expanduser(path)))

    def signal(self, limit: RunGuard, ctx: HookContext) -> StopSignal | None:
        """Return the stop signal of one of the limits; for a project with its position."""
        signal = limit.signal(ctx)
        if signal is None or self.rank != "project":
            return signal
        return signal.replace(message=with_origin(signal.message, self.origin))


@cache
def starts() -> Starts:
    """Return when the runs of this process started. Limits are made anew when their file changes, this is not."""
    from agent_hooks_guards.guards.limits import Starts

    return Starts()


def with_origin(reason: str, origin: str) -> str:
    """Add the position of a rule to its reason: the words are not the plugin's, and whoever reads them finds it."""
    return f"{reason} [{visible(origin)}]"


def outcomes(ctx: HookContext, files: Sequence[FileGuards]) -> Iterator[HookOutcome | None]:
    """Yield the outcomes of the rules of ``files`` about a tool call."""
    for each in files:
        yield None if each.audit is None else each.audit.protect(ctx)
    rules = [rule for each in files for rule in each.rules]
    # Rate limits come last, so that calls that another rule denied do not count. One's own is no surprise.
    limits = [(limit, at if each.rank == "project" else "") for each in files for limit, at in each.rate_limits]
    for guard, origin in (*rules, *limits):
        outcome = guard.execute(ctx)
        if outcome is not None and origin:
            outcome = outcome.replace(reason=with_origin(outcome.reason, origin))
        yield outcome


def build(table: PluginTable) -> FileGuards:
    """Make the guards of one file's table. Raises ``SettingsError`` for wrong settings."""
    settings = validated(table, validate)
    # Whether a path is too wide depends on the folder and the home of this process.
    if any("path" in exception for exception in settings.get("allow", ())):
        settings = validate(table)
    return FileGuards(table, settings)


def validate(table: PluginTable) -> dict[str, Any]:
    """Return the keys in a table as plain data. Raises ``SettingsError`` for wrong settings.

    ``SHARED_TABLES`` are as written, with dates in ISO 8601; tables of the file's own guards have their defaults.
    """
    settings = plain_settings(table, _PLAIN)
    return modelled(table) if settings is None else settings


def modelled(table: PluginTable) -> dict[str, Any]:
    """Return what ``validate`` returns, by the pydantic model."""
    from .schema import GuardsSettings

    found = read_table(GuardsSettings, table)
    settings = found.model_dump(include={*SHARED_TABLES} - {"rules"}, exclude_unset=True)
    for exception in settings.get("allow", ()):
        if exception.get("until") is not None:
            exception["until"] = exception["until"].isoformat()
    if found.rules:
        from agent_hooks_guards.rules.indexing import as_given
        from agent_hooks_guards.rules.model import Rule

        settings["rules"] = [as_given(rule) for rule in found.rules if isinstance(rule, Rule)]
        settings["commands"] = [
            (number, rule.model_dump(exclude_none=True))
            for number, rule in enumerate(found.rules)
            if not isinstance(rule, Rule)
        ]
    settings |= found.model_dump(include=found.model_fields_set.difference(SHARED_TABLES))
    guards = FileGuards(table, settings)
    # What a guard refuses is wrong for every event, not only for those that it is asked about.
    _ = (guards.rules, guards.rate_limits, guards.audit, guards.run_limits, guards.cancellation)
    return settings
