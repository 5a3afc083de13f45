"""Makes the guards that a project's settings ask for."""

from __future__ import annotations

from .time_limit import Starts

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from agent_hooks import HookContext, HookOutcome

    from .audit import AuditTrail
    from .cancellation import Cancellation
    from .guard import Guard, RunGuard
    from .settings import GuardsSettings

# The source of these rules: what they may write in a match is what the engine lets a project write.
SOURCE = "project"

# The settings of the guards that hold in any case.
STANDING = ("shell", "paths", "secrets", "egress", "injection", "allow", "rules")

# When the runs of this process began, kept apart from the limits: those are made anew when their file changes.
_STARTS = Starts()


class ProjectGuards:
    """The guards that one settings file asks for: rules and rate limits of tool calls, the audit trail, the limits of a
    run and its cancellation; and what it says about those that hold in any case. ``path``: which file it is.
    """

    def __init__(
        self,
        rules: Sequence[Guard] = (),
        rate_limits: Sequence[Guard] = (),
        audit: AuditTrail | None = None,
        run_limits: Sequence[RunGuard] = (),
        cancellation: Cancellation | None = None,
        standing: Mapping[str, Any] | None = None,
        rank: str = "project",
        path: str = "",
    ) -> None:
        self.path = path
        self.rules = tuple(rules)
        self.rate_limits = tuple(rate_limits)
        self.audit = audit
        self.run_limits = tuple(run_limits)
        self.cancellation = cancellation
        # What it says about the guards that hold in any case, and whose file it is: project, user, managed.
        self.standing = standing or {}
        self.rank = rank


def judge(ctx: HookContext, projects: Sequence[ProjectGuards]) -> HookOutcome | None:
    """Return the first deny of any of the projects, else one question for all asks, else None."""
    asked: HookOutcome | None = None
    # Rate limits come last, so that what another rule denied does not count.
    rules = [rule for each in projects for rule in each.rules]
    rate_limits = [limit for each in projects for limit in each.rate_limits]
    for guard in (*rules, *rate_limits):
        outcome = guard.execute(ctx)
        if outcome is None:
            continue
        if outcome.decision.is_blocking:
            return outcome
        asked = outcome if asked is None else asked.replace(reason=f"{asked.reason}\n\n{outcome.reason}")
    return asked


def build(path: str, settings: GuardsSettings, rank: str = "project", at: str = "guards") -> ProjectGuards:
    """Return the guards for the settings of the file ``path``.

    ``rank``: whose file it is, ``project``, ``user`` or ``managed``; ``at``: where the settings are in it. Raises
    ``SettingsError`` where a project loosens, and for the name of a rule that is none.
    """
    tables = settings.model_dump(exclude=set(STANDING))
    standing = {name: given for name in STANDING if (given := _given(getattr(settings, name))) is not None}
    if standing:
        from .tightening import check_names, from_folder, refuse_loosening

        check_names(path, at, standing)
        if rank == "project":
            refuse_loosening(path, standing)
            standing = from_folder(path, standing)
    audit = None
    if tables["audit"] is not None:
        from .audit import AuditTrail

        audit = AuditTrail(**tables["audit"])
    run_limits, cancellation = _run_guards(path, tables)
    rate_limits = [*_rate_limits(path, tables)]
    return ProjectGuards([*_rules(tables)], rate_limits, audit, run_limits, cancellation, standing, rank, path)


def _given(setting: Any) -> Any:
    """What somebody wrote of a setting, without its defaults; None for nothing."""
    if not isinstance(setting, list):
        return None if setting is None else setting.model_dump(exclude_unset=True)
    # A rule is told as it is.
    return [each if hasattr(each, "id") else each.model_dump(exclude_unset=True) for each in setting] or None


def _rules(tables: Mapping[str, Any]) -> Iterator[Guard]:
    if tables["blocklist"]:
        from .blocklist import ToolBlocklist

        yield from (ToolBlocklist(**rule, source=SOURCE) for rule in tables["blocklist"])
    if tables["allowlist"]:
        from .allowlist import ToolAllowlist

        yield from (ToolAllowlist(**rule, source=SOURCE) for rule in tables["allowlist"])
    if tables["roles"]:
        from .roles import RoleAccess

        yield from (RoleAccess(**rule, source=SOURCE) for rule in tables["roles"])
    if tables["arguments"]:
        from .arguments import ArgumentPattern

        yield from (ArgumentPattern(**rule, source=SOURCE) for rule in tables["arguments"])


def _rate_limits(path: str, tables: Mapping[str, Any]) -> Iterator[Guard]:
    if tables["rate_limit"]:
        from os.path import realpath

        from agent_hooks.store import Store

        from .rate_limit import RateLimit

        store = Store()
        # Each file counts for itself; in ASCII, because a store keeps no name that is not text.
        name = f"settings {realpath(path)!a}"
        yield from (RateLimit(**rule, store=store, name=name, source=SOURCE) for rule in tables["rate_limit"])


def _run_guards(path: str, tables: Mapping[str, Any]) -> tuple[Sequence[RunGuard], Cancellation | None]:
    limits: dict[str, Any] = {
        name: tables[name] for name in ("max_steps", "max_tokens", "max_execution_time", "finish_reasons")
    }
    cost, cancel_file = tables["cost"], tables["cancel_file"]
    if cost is not None:
        from .cost import Price

        limits["max_cost"] = cost["max"]
        limits["prices"] = {model: Price(**price) for model, price in cost["prices"].items()}
    run_limits: Sequence[RunGuard] = ()
    if any(value not in (None, []) for value in limits.values()):
        from .use_guards import UseGuards

        run_limits = UseGuards(**limits).limits(_STARTS)
    cancellation = None
    if cancel_file is not None:
        from os.path import dirname, expanduser, join

        from .cancellation import Cancellation

        cancellation = Cancellation(join(dirname(path), expanduser(cancel_file)))
    return run_limits, cancellation
