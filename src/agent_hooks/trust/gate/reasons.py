"""The reasons that an agent is given when the gate denies: the subject of the denial, why, and the way out."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The protected part of a file, as a reason names it.
ALL = "all"
TABLE = "the table tool.agent_hooks"
FRONTMATTER = "the frontmatter with hooks"
WIRING = "the hooks of a coding agent"
STARTUP = "the settings that a coding agent starts with"

_WHY = "What an agent may do is decided by people, not by agents."
_BY_A_PERSON = "ask a person to do it in a terminal or an editor."
_SHOWN = 100  # characters of each end of a path

# By the kind of denial: the sentences before and after ``_WHY``. ``{0}`` is its subject, ``{1}`` a part of a file.
_REASONS = {
    "command": ("{0} is denied to agents.", "If it is needed, ask a person to do it in a terminal."),
    "file": (
        "Writing, moving or removing {0} is denied to agents: it holds hooks, or what decides about them.",
        f"If it is needed, {_BY_A_PERSON}",
    ),
    "folder": (
        "Moving, removing or replacing {0} is denied to agents: what holds hooks, or decides about them, is in it.",
        f"Name the files in it that are meant; for the whole, {_BY_A_PERSON}",
    ),
    "part": (
        "This would change {1} in {0}, which is denied to agents.",
        f"The rest of the file may be changed; for this part, {_BY_A_PERSON}",
    ),
    "unseen part": (
        "What this would make of {1} in {0} cannot be seen, so it is denied to agents.",
        f"To change the rest, use a tool that edits or writes the file; to change that part, {_BY_A_PERSON}",
    ),
    "conflict": (
        "{0} is no TOML, and this would not restore {1} as it was trusted, so it is denied to agents.",
        f"An edit of all conflicts at once may restore it as it was; else a person resolves the table: {_BY_A_PERSON}",
    ),
    "unclear": (
        "This names a file of hooks, or of what decides about them, and may change it, which is denied to agents.",
        f"To read it, use cat or a tool that reads; to change it, {_BY_A_PERSON}",
    ),
    "long": (
        "This command is longer than 128 KiB, which is too long to see its changes, so it is denied to agents.",
        f"Put data into a file, with a tool that writes files; for anything else, {_BY_A_PERSON}",
    ),
    "environment": (
        "Moving, removing or replacing {0} is denied to agents: the hooks run from the environment in it.",
        f"If it is needed, {_BY_A_PERSON}",
    ),
    "uninstall": (
        "Uninstalling {0} is denied to agents: the gate needs it.",
        f"If it is meant for another environment, name that one's interpreter; if it is needed here, {_BY_A_PERSON}",
    ),
    "copy": (
        "Installing {0} from there is denied to agents: it takes the place of a distribution that the gate runs.",
        f"To update it, install it from the usual index; for another copy, {_BY_A_PERSON}",
    ),
    "code": (
        "Adding code or settings to {0} is denied to agents: they may answer before its hooks do.",
        f"If they are needed, {_BY_A_PERSON}",
    ),
    "host": (
        "Starting {0} without its own hooks and settings is denied to agents.",
        f"Start it without these options and variables; if they are needed, {_BY_A_PERSON}",
    ),
}


def first(reasons: Iterable[str]) -> str:
    """Return the first of several reasons, an empty string if there is none."""
    return next((reason for reason in reasons if reason), "")


def denial(kind: str, subject: str = "", part: str = "") -> str:
    """Return the reason for a denial of ``kind``; a long path is shown by its ends."""
    shown = subject if len(subject) <= 2 * _SHOWN else f"{subject[:_SHOWN]}…{subject[-_SHOWN:]}"
    denied, remedy = _REASONS[kind]
    return f"{denied} {_WHY} {remedy}".replace("{0}", shown).replace("{1}", part)
