"""The keys under ``hooks`` in TOML and frontmatter: our events, and those of Claude Code alone."""

from __future__ import annotations

from agent_hooks.model.events import HookEvent, find_event
from agent_hooks.model.values import Value

from .claude.event_names import EVENTS, IF_EVENTS
from .claude.matcher_rules import exact_names
from .entry_matches import all_of, condition

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .entry_matches import EntryMatch


class EventKey(Value):
    """A key under ``hooks``. ``is_claudes``: a name of Claude Code alone, whose matchers follow its rules."""

    name: str
    event: HookEvent
    is_claudes: bool = False

    @property
    def host_event(self) -> str:
        """Claude Code's name of an event without a name here."""
        return self.name if self.is_claudes and self.event is HookEvent.ON_HOST_EVENT else ""

    @property
    def is_gate(self) -> bool:
        """Whether a hook that cannot be honoured must block."""
        return EVENTS[self.name].gate if self.is_claudes else self.event.closed in ("deny", "stop")

    @property
    def knows_if(self) -> bool:
        """Whether Claude Code evaluates ``if`` on this event."""
        return self.event.matched_by == "tool" or self.name in IF_EVENTS

    def match(self, matcher: str | None, source: str) -> EntryMatch | None:
        """Return the predicate for ``matcher``. Raises ``RegistrationError``."""
        if not self.is_claudes:
            return condition("text", matcher, self.event.matched_by, source)
        at_event = condition("field", "host_event", self.host_event) if self.host_event else None
        return all_of(at_event, condition("matcher", matcher or "", self.name, source))

    def about(self, matcher: str | None = None) -> dict[str, Any]:
        """Return the fields of a finding about hooks that cannot run."""
        is_exact = self.event.matched_by == "tool" and exact_names(matcher or "", self.name) is not None
        if self.is_claudes and (self.host_event or not is_exact):
            matcher = self.host_event or None  # our match texts cannot express it
        return {"event": str(self.event), "matcher": matcher, "blocks": self.is_gate}


def event_key(name: str) -> EventKey | None:
    """Return the event of a key, None if there is no such event."""
    event = find_event(name)
    if event is not None:
        return EventKey(name=name, event=event)
    return EventKey(name=name, event=EVENTS[name].event, is_claudes=True) if name in EVENTS else None


def event_names() -> list[str]:
    """Return all names that ``event_key`` knows."""
    ours = [str(word) for event in HookEvent.all() for word in (event, *event.aliases)]
    return [*ours, *(name for name in EVENTS if name not in ours)]
