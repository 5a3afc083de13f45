"""Problems and notes about configuration, each with a place and a remedy."""

from __future__ import annotations

from hashlib import sha256

from agent_hooks.model.values import Value

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .entry import HookEntry


# The kind of the one about an entry that is our own command.
OWN_COMMAND = "own-command"
# The kind of the one about a pyproject.toml that is no TOML, and whose table holds as it was trusted.
RESTORED = "restored"


class ConfigFinding(Value):
    """Something about a file that somebody must see.

    ``kind``: one word for what it is (``unknown-event``, ``not-honoured``, ``unreadable``, ``untrusted``, ``changed``,
    ``ignored``…). ``path`` and ``line``: where (line 0: the file as a whole). ``message``: what is wrong, ``remedy``:
    what to do about it. ``event``: the event that the entry was for; ``blocks``: it denies on that event (on every
    event of gates if ``event`` is empty) until it is repaired, or ignored by the user. ``matcher``: which calls it
    would have been asked about. ``must_be_repaired``: something fails until it is repaired, also if it is ignored.
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
        """Whether it is only a note."""
        return self.kind == OWN_COMMAND

    @property
    def id(self) -> str:
        """Twelve hexadecimal digits that stay the same while the finding does, also when its line moves."""
        facts = repr((self.kind, self.path, self.event, self.matcher, self.message))
        return sha256(facts.encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}: " if self.line else f"{self.path}: " if self.path else ""
        return f"{where}{self.message} {self.remedy}".rstrip()


def not_honoured(
    entry: HookEntry, problem: str, remedy: str = "Repair or remove it.", *, kind: str = "not-honoured"
) -> ConfigFinding:
    """Return the finding about an entry that no hook can be made of; it blocks where the entry would have decided."""
    return ConfigFinding(
        kind=kind,
        path=entry.path,
        line=entry.line,
        message=f"This {entry.type} hook on {entry.host_event or entry.event!s} cannot be honoured: "
        f"{problem.rstrip('.')}.",
        remedy=remedy,
        event=str(entry.event),
        matcher=entry.host_event or _matcher_in_words(entry),
        blocks=entry.is_gate and entry.event.closed in ("deny", "stop") and not entry.is_async,
    )


def _matcher_in_words(entry: HookEntry) -> str | None:
    """Return the matcher if it means the same by our rules of match texts: a list of names does in every format."""
    from agent_hooks.formats.claude.matcher_rules import exact_names

    is_ours = entry.match is None or exact_names(entry.matcher or "", "") is not None
    return entry.matcher if is_ours and entry.event.matched_by == "tool" else None
