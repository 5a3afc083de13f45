"""Problems and notes about configuration, each with a location and a remedy."""

from __future__ import annotations

from agent_hooks.model.values import Value
from agent_hooks.system.digests import sha256_hex
from agent_hooks.system.visible import visible

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .entry import HookEntry


# The kind of a finding about an entry that is our own command.
OWN_COMMAND = "own-command"
# The kind of a finding about an invalid pyproject.toml whose trusted table still holds.
RESTORED = "restored"


class ConfigFinding(Value):
    """A problem of a configuration file, for the user.

    ``kind``: ``unknown-event``, ``not-honoured``, ``unreadable``, ``untrusted``, ``changed``, ``ignored``… ``path`` and
    ``line``: the location (line 0: the file as a whole). ``message`` and ``remedy``: sentences. ``event``: the event of
    the entry. ``matcher``: its matcher. ``blocks``: the finding denies on that event (on every event of gates if
    ``event`` is empty) until it is repaired or ignored by the user. ``must_be_repaired``: something fails until the
    repair, even if the finding is ignored.
    """

    kind: str
    path: str = ""
    line: int = 0
    message: str = ""
    remedy: str = ""
    event: str = ""
    matcher: str | None = None
    blocks: bool = False
    must_be_repaired: bool = False

    @property
    def is_note(self) -> bool:
        """Whether the finding is only a note."""
        return self.kind == OWN_COMMAND

    @property
    def id(self) -> str:
        """Twelve hexadecimal digits that identify the finding, independent of its line."""
        facts = repr((self.kind, self.path, self.event, self.matcher, self.message))
        return sha256_hex(facts.encode("utf-8", "surrogatepass"))[:12]

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}: " if self.line else f"{self.path}: " if self.path else ""
        return f"{visible(where)}{self.message} {self.remedy}".rstrip()


def not_honoured(
    entry: HookEntry, problem: str, remedy: str = "Repair or remove it.", *, kind: str = "not-honoured"
) -> ConfigFinding:
    """Return the finding about an entry without a valid hook; it blocks if the entry could have decided."""
    from agent_hooks.formats.claude.matcher_rules import exact_names

    # A matcher means the same as a match text of ours where that is so for every list of names.
    is_ours = entry.match is None or exact_names(entry.matcher or "", "") is not None
    matcher = entry.matcher if is_ours and entry.event.matched_by == "tool" else None
    return ConfigFinding(
        kind=kind,
        path=entry.path,
        line=entry.line,
        message=f"This {entry.type} hook on {entry.host_event or entry.event!s} cannot be honoured: "
        f"{problem.rstrip('.')}.",
        remedy=remedy,
        event=str(entry.event),
        matcher=entry.host_event or matcher,
        blocks=entry.is_gate and entry.event.closed in ("deny", "stop") and not entry.is_async,
    )
