"""A host is a table: one row per event says what the event is here, how the host is told no, and what else it takes."""

from __future__ import annotations

from agent_hooks.model.values import Value

TYPE_CHECKING = False


class Row(Value):
    """One event of a host.

    ``event``: its name here. ``refuse``: how the host is told no:

    - ``permission``: ``permissionDecision: deny``, the reason on stderr too, exit 2;
    - ``decision``: ``decision: block``, the reason on stderr too, exit 2;
    - ``exit``: the reason on stderr, exit 2, no JSON;
    - ``behavior``: the nested decision of a permission request, exit 0;
    - ``halt``: ``continue: false``, exit 0;
    - ``go_on``: as ``decision``, but the host reads it as "carry on working";
    - empty: it cannot be refused.

    ``takes``: further things the host reads: ``context``, ``message`` (systemMessage), ``stop`` (``continue: false``),
    ``interrupt``, ``ask``, ``allow``, ``rewrite`` (updatedInput with allow), ``result`` (updatedToolOutput).
    ``seconds``: the host's own limit for a command hook that sets none.
    """

    event: str
    refuse: str = ""
    takes: frozenset[str] = frozenset()
    seconds: float = 600.0


def row(event: str, refuse: str = "", takes: str = "", seconds: float = 600.0) -> Row:
    """Return a row; ``takes`` is words separated by blanks."""
    return Row(event=event, refuse=refuse, takes=frozenset(takes.split()), seconds=seconds)


# An event of a newer host: exit 2 with a reason is the one refusal that no version misreads.
UNKNOWN = row("on_host_event", "exit")
