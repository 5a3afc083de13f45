"""``agent-hooks events``: every event and the decisions it allows."""

from __future__ import annotations

from agent_hooks.engine.manager import HookManager
from agent_hooks.model.events import HookEvent

from .terminal import apart, print_json, print_table, prints_elsewhere

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


def show_events(*, as_json: bool) -> int:
    """Print the events, those that installed plugins add included; return 0."""
    with apart(), prints_elsewhere():
        HookManager()
    events = [_facts(event) for event in HookEvent.all()]
    if as_json:
        print_json(events)
        return 0
    rows = []
    for event in events:
        decisions = "only observes" if event["observe_only"] else ", ".join(event["decisions"]) or "none"
        row = (event["name"], event["subject"] or "-", decisions, event["closed_means"], ", ".join(event["aliases"]))
        rows.append([str(cell) for cell in row])
    print_table(("event", "subject", "decisions", "closed means", "also called"), rows)
    print("\nclosed means: the effect of a gate that fails on this event. Decisions come besides `proceed`.")
    return 0


def _facts(event: HookEvent) -> dict[str, Any]:
    return {
        "name": str(event),
        "aliases": list(event.aliases),
        "subject": event.subject,
        "decisions": sorted(event.decisions),
        "observe_only": event.observe_only,
        "closed": event.closed,
        "closed_means": event.closed_means,
        "matched_by": event.matched_by,
        "changes": sorted(event.changes),
    }
