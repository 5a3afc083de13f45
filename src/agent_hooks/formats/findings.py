"""What is wrong with configuration, or worth knowing about it: each with a place and a remedy."""

from __future__ import annotations

from hashlib import sha256

from agent_hooks.model.values import Value

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
        """Whether nothing is wrong: it only says what somebody may wonder about."""
        return self.kind == OWN_COMMAND

    @property
    def id(self) -> str:
        """Twelve hexadecimal digits that stay the same while the finding does, also when its line moves."""
        facts = repr((self.kind, self.path, self.event, self.matcher, self.message))
        return sha256(facts.encode("utf-8", "surrogatepass")).hexdigest()[:12]

    def __str__(self) -> str:
        where = f"{self.path}:{self.line}: " if self.line else f"{self.path}: " if self.path else ""
        return f"{where}{self.message} {self.remedy}".rstrip()
