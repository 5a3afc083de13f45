"""Makes the guards that a project's settings ask for."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    from agent_hooks import HookContext, HookOutcome

    from .audit import AuditTrail
    from .guard import Guard

# The source of these rules: what they may write in a match is what the engine lets a project write.
SOURCE = "project"


class ProjectGuards:
    """The guards that one settings file asks for: its rules, its rate limits and its audit trail."""

    def __init__(self, rules: Sequence[Guard], limits: Sequence[Guard], audit: AuditTrail | None) -> None:
        self.rules = tuple(rules)
        self.limits = tuple(limits)
        self.audit = audit


def judge(ctx: HookContext, projects: Sequence[ProjectGuards]) -> HookOutcome | None:
    """Return the first deny of any of the projects, else one question for all asks, else None."""
    asked: HookOutcome | None = None
    # Limits come last, so that what another rule denied does not count.
    guards = [rule for each in projects for rule in each.rules] + [limit for each in projects for limit in each.limits]
    for guard in guards:
        outcome = guard.execute(ctx)
        if outcome is None:
            continue
        if outcome.decision.is_blocking:
            return outcome
        asked = outcome if asked is None else asked.replace(reason=f"{asked.reason}\n\n{outcome.reason}")
    return asked


def build(path: str, tables: Mapping[str, Any]) -> ProjectGuards:
    """Return the guards for ``tables``, the settings of the file ``path`` as ``GuardsSettings.model_dump`` has them."""
    audit = None
    if tables["audit"] is not None:
        from .audit import AuditTrail

        audit = AuditTrail(**tables["audit"])
    return ProjectGuards([*_rules(tables)], [*_limits(path, tables)], audit)


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


def _limits(path: str, tables: Mapping[str, Any]) -> Iterator[Guard]:
    if tables["rate_limit"]:
        from os.path import realpath

        from agent_hooks.store import Store

        from .rate_limit import RateLimit

        store = Store()
        # Each file counts for itself; in ASCII, because a store keeps no name that is not text.
        name = f"settings {realpath(path)!a}"
        yield from (RateLimit(**rule, store=store, name=name, source=SOURCE) for rule in tables["rate_limit"])
