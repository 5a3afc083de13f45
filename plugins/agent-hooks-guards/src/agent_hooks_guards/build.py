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
    """The guards that one settings file asks for, and its audit trail."""

    def __init__(self, guards: Sequence[Guard], audit: AuditTrail | None) -> None:
        self.guards = tuple(guards)
        self.audit = audit

    def judge(self, ctx: HookContext) -> HookOutcome | None:
        """Return the first deny, else one question for all asks, else None."""
        asked: HookOutcome | None = None
        for guard in self.guards:
            outcome = guard.execute(ctx)
            if outcome is None:
                continue
            if outcome.decision.is_blocking:
                return outcome
            asked = outcome if asked is None else asked.replace(reason=f"{asked.reason}\n\n{outcome.reason}")
        return asked


def build(tables: Mapping[str, Any]) -> ProjectGuards:
    """Return the guards for ``tables``: settings that were found right, as ``GuardsSettings.model_dump`` has them."""
    audit = None
    if tables["audit"] is not None:
        from .audit import AuditTrail

        audit = AuditTrail(**tables["audit"])
    return ProjectGuards([*_guards(tables)], audit)


def _guards(tables: Mapping[str, Any]) -> Iterator[Guard]:
    """The guards in the order they are asked: limits come last, so that what another rule denied does not count."""
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
    if tables["rate_limit"]:
        from agent_hooks.store import Store

        from .rate_limit import RateLimit

        store = Store()
        yield from (RateLimit(**rule, store=store, name="settings", source=SOURCE) for rule in tables["rate_limit"])
