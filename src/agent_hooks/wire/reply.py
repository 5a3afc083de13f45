"""What a host has to be told at one event, settled but not yet in its words."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from .tables import Row


class Reply:
    """All that the answer to one event has to convey; nothing that the event does not take.

    ``event``: the host's name of it, and its ``row``. ``verdict``: ``deny`` (the form is ``row.refuse``; at ``go_on``
    it means another round), ``allow``, ``ask``, or empty for no opinion. ``reason``: why, for the model. ``stops``: why
    the run ends, empty if it does not. ``interrupts``: a denied permission request also ends the turn. ``args`` and
    ``request``: a new one, or None. ``result``: in a tuple, a new result in the shape of the host's own; empty if it
    stays. ``context``: for the model. ``message``: for people. ``aside``: for people too, but where the event has no
    message to them: on stderr, if nothing else reads it.
    """

    __slots__ = tuple("args aside context event interrupts message reason request result row stops verdict".split())

    def __init__(self, event: str, row: Row, verdict: str = "", reason: str = "") -> None:
        self.event = event
        self.row = row
        self.verdict = verdict
        self.reason = reason
        self.stops = ""
        self.interrupts = False
        self.args: Mapping[str, Any] | None = None
        self.request: Any = None
        self.result: tuple[Any, ...] = ()
        self.context = ""
        self.message = ""
        self.aside = ""

    @property
    def refuses(self) -> bool:
        """Whether this must not happen."""
        return self.verdict == "deny"
