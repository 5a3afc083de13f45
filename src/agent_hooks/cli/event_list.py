"""``agent-hooks events``: every event and the decisions it allows."""

from __future__ import annotations

from agent_hooks.engine.manager import HookManager
from agent_hooks.model.events import HookEvent
from agent_hooks.system.visible import visible

from .terminal import apart, console, print_json, prints_elsewhere

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
    from rich.table import Table
    from rich.text import Text

    table = Table(
        "event",
        "subject",
        "decisions",
        "closed means",
        "also called",
        box=None,
        padding=(0, 2, 0, 0),
        header_style="bold",
    )
    table.columns[0].no_wrap = True
    table.columns[-1].overflow = "fold"
    for event in events:
        decisions = "only observes" if event["observe_only"] else ", ".join(event["decisions"]) or "none"
        row = (event["name"], event["subject"] or "-", decisions, event["closed_means"], ", ".join(event["aliases"]))
        table.add_row(*(Text(visible(str(cell))) for cell in row))
    out = console()
    out.print(table)
    out.print()
    out.print("closed means: what happens when a gate on this event fails. Decisions come besides `proceed`.")
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
