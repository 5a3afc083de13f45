"""Makes the guards that settings files ask for."""

from __future__ import annotations

from agent_hooks_guards.guards.time_limit import Starts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from agent_hooks import HookContext, HookOutcome, StopSignal
    from agent_hooks.sources.plugin_settings import PluginTable
    from agent_hooks_guards.guards.audit import AuditTrail
    from agent_hooks_guards.guards.base import Guard, RunGuard
    from agent_hooks_guards.guards.cancellation import Cancellation

# The source of these rules: what they may write in a match is what the engine lets a project write.
SOURCE = "project"

# The settings of the guards that hold in any case.
STANDING = ("shell", "paths", "secrets", "egress", "injection", "allow", "rules")

# When the runs of this process began, kept apart from the limits: those are made anew when their file changes.
_STARTS = Starts()


class ProjectGuards:
    """The guards that one settings file asks for: rules and rate limits of tool calls, the audit trail, the limits of a
    run and its cancellation; and its settings for those that hold in any case. ``path``: which file it is.

    ``rules`` and ``rate_limits``: each with where it is written. ``origin``: where the whole table is.
    """

    def __init__(
        self,
        rules: Sequence[tuple[Guard, str]] = (),
        rate_limits: Sequence[tuple[Guard, str]] = (),
        audit: AuditTrail | None = None,
        run_limits: Sequence[RunGuard] = (),
        cancellation: Cancellation | None = None,
        standing: Mapping[str, Any] | None = None,
        rank: str = "project",
        path: str = "",
        origin: str = "",
    ) -> None:
        self.path = path
        self.rules = tuple(rules)
        self.rate_limits = tuple(rate_limits)
        self.audit = audit
        self.run_limits = tuple(run_limits)
        self.cancellation = cancellation
        # Its settings for the guards that hold in any case, and whose file it is: project, user, managed.
        self.standing = standing or {}
        self.rank = rank
        self.origin = origin

    def signal(self, limit: RunGuard, ctx: HookContext) -> StopSignal | None:
        """Return the stop signal of one of the limits; of a project's it says where that is written."""
        signal = limit.signal(ctx)
        if signal is None or self.rank != "project":
            return signal
        return signal.replace(message=with_origin(signal.message, self.origin))


def with_origin(reason: str, origin: str) -> str:
    """Return a reason that says where a project has written the rule: its words are not the plugin's."""
    from agent_hooks.system.visible import visible

    return f"{reason} [{visible(origin)}]"


def judge(ctx: HookContext, projects: Sequence[ProjectGuards]) -> HookOutcome | None:
    """Return the first deny of any of the projects, else one question for all asks, else None."""
    from agent_hooks_guards.guards.objection import joined

    asked: HookOutcome | None = None
    for each in projects:
        if each.audit is not None and (denied := each.audit.protect(ctx)) is not None:
            return denied
    # Rate limits come last, so that what another rule denied does not count.
    rules = [(*rule, each.rank) for each in projects for rule in each.rules]
    rate_limits = [(*limit, each.rank) for each in projects for limit in each.rate_limits]
    for guard, origin, rank in (*rules, *rate_limits):
        outcome = guard.execute(ctx)
        if outcome is None:
            continue
        if rank == "project":
            outcome = outcome.replace(reason=with_origin(outcome.reason, origin))
        if outcome.decision.is_blocking:
            return outcome
        asked = outcome if asked is None else asked.replace(reason=joined([asked.reason, outcome.reason]))
    return asked


def build(table: PluginTable) -> ProjectGuards:
    """Return the guards for the table of one file.

    Raises ``SettingsError`` for settings that are wrong, where a project loosens or names a file that is not for it,
    and for the name of a rule that is none.
    """
    from .model import read_settings

    settings = read_settings(table)
    rank = table.source
    if rank == "project":
        from .tightening import refuse_expressions, refuse_places

        refuse_places(table, settings)
        refuse_expressions(table, settings)
    tables = settings.model_dump(exclude=set(STANDING))
    standing = {name: given for name in STANDING if (given := _given(getattr(settings, name))) is not None}
    if standing:
        from .tightening import check_names, from_folder, refuse_loosening

        check_names(table, standing)
        if rank == "project":
            refuse_loosening(table, standing)
            standing = from_folder(table.path, standing)
    audit = None
    if tables["audit"] is not None:
        from agent_hooks_guards.guards.audit import AuditTrail
        from agent_hooks_guards.guards.redaction import DEFAULT_FIELDS

        if rank == "project":  # it may leave out more than by default, not less
            tables["audit"]["redact"] = [*DEFAULT_FIELDS, *tables["audit"]["redact"]]
        audit = AuditTrail(**tables["audit"])
    run_limits, cancellation = _run_guards(table.path, tables)
    return ProjectGuards(
        [*_rules(table, tables)],
        [*_rate_limits(table, tables)],
        audit,
        run_limits,
        cancellation,
        standing,
        rank,
        table.path,
        table.origin(),
    )


def _given(setting: Any) -> Any:
    """What somebody wrote of a setting, without its defaults; None for nothing."""
    if not isinstance(setting, list):
        return None if setting is None else setting.model_dump(exclude_unset=True)
    # A rule is told as it is.
    return [each if hasattr(each, "id") else each.model_dump(exclude_unset=True) for each in setting] or None


def _rules(table: PluginTable, tables: Mapping[str, Any]) -> Iterator[tuple[Guard, str]]:
    for name in ("blocklist", "allowlist", "roles", "arguments"):
        if not tables[name]:
            continue
        make = _rule_class(name)
        for number, rule in enumerate(tables[name]):
            # The expressions of the user and the machine's owner need no RE2.
            source = table.source if name == "arguments" else SOURCE
            yield make(**rule, source=source), table.origin(name, number)


def _rule_class(name: str) -> Any:
    if name == "blocklist":
        from agent_hooks_guards.guards.blocklist import ToolBlocklist

        return ToolBlocklist
    if name == "allowlist":
        from agent_hooks_guards.guards.allowlist import ToolAllowlist

        return ToolAllowlist
    if name == "roles":
        from agent_hooks_guards.guards.roles import RoleAccess

        return RoleAccess
    from agent_hooks_guards.guards.arguments import ArgumentPattern

    return ArgumentPattern


def _rate_limits(table: PluginTable, tables: Mapping[str, Any]) -> Iterator[tuple[Guard, str]]:
    if tables["rate_limit"]:
        from os.path import realpath

        from agent_hooks.system.store import Store
        from agent_hooks_guards.guards.rate_limit import RateLimit

        store = Store()
        # Each file counts for itself; in ASCII, because a store keeps no name that is not text.
        name = f"settings {realpath(table.path)!a}"
        for number, rule in enumerate(tables["rate_limit"]):
            limit = RateLimit(**rule, store=store, name=name, source=SOURCE)
            yield limit, table.origin("rate_limit", number)


def _run_guards(path: str, tables: Mapping[str, Any]) -> tuple[Sequence[RunGuard], Cancellation | None]:
    limits: dict[str, Any] = {
        name: tables[name] for name in ("max_steps", "max_tokens", "max_execution_time", "finish_reasons")
    }
    cost, cancel_file = tables["cost"], tables["cancel_file"]
    if cost is not None:
        from agent_hooks_guards.guards.cost import Price

        limits["max_cost"] = cost["max"]
        limits["prices"] = {model: Price(**price) for model, price in cost["prices"].items()}
    run_limits: Sequence[RunGuard] = ()
    if any(value not in (None, []) for value in limits.values()):
        from .use_guards import UseGuards

        run_limits = UseGuards(**limits).limits(_STARTS)
    cancellation = None
    if cancel_file is not None:
        from os.path import dirname, expanduser, join

        from agent_hooks_guards.guards.cancellation import Cancellation

        cancellation = Cancellation(join(dirname(path), expanduser(cancel_file)))
    return run_limits, cancellation
