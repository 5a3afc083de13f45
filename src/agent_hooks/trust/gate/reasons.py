"""What an agent is told when the gate denies: what was denied, why, and who can do it."""

from __future__ import annotations

from .paths import STARTUP, TABLE, WIRING

_WHY = "What an agent may do is decided by people, not by agents."
_BY_A_PERSON = "ask a person to do it in a terminal or an editor."
_SHOWN = 100  # characters of each end of a path


def _shown(path: str) -> str:
    """Return ``path`` short enough to be read: a longer one by its ends."""
    return path if len(path) <= 2 * _SHOWN else f"{path[:_SHOWN]}…{path[-_SHOWN:]}"


def for_own_command(what: str) -> str:
    """Say that no agent decides about itself; ``what`` begins a sentence."""
    return f"{what} is denied to agents. {_WHY} If it is needed, ask a person to do it in a terminal."


def for_file(path: str) -> str:
    """Say that ``path`` is not an agent's to write."""
    return (
        f"Writing, moving or removing {_shown(path)} is denied to agents: it holds hooks, or what decides about them. "
        f"{_WHY} If it is needed, {_BY_A_PERSON}"
    )


def for_folder(path: str) -> str:
    """Say that ``path`` is not an agent's to take away or replace, for what is in it."""
    return (
        f"Moving, removing or replacing {_shown(path)} is denied to agents: what holds hooks, or decides about them, "
        f"is in it. {_WHY} Name the files in it that are meant; for the whole, {_BY_A_PERSON}"
    )


def for_part(part: str, path: str, *, seen: bool) -> str:
    """Say that ``part`` of ``path`` is not; ``seen``: the call shows what would become of it."""
    if seen:
        return (
            f"This would change {part} in {_shown(path)}, which is denied to agents. {_WHY} The rest of the file may "
            f"be changed; for this part, {_BY_A_PERSON}"
        )
    rest = "table" if part == TABLE else "hooks" if part == WIRING else "lines" if part == STARTUP else "frontmatter"
    return (
        f"What this would make of {part} in {_shown(path)} cannot be seen, so it is denied to agents. {_WHY} To change "
        f"what is outside the {rest}, use a tool that edits or writes the file; to change the {rest}, {_BY_A_PERSON}"
    )


def for_conflict(path: str) -> str:
    """Say that ``path`` cannot be read, and which edit of it is not denied."""
    return (
        f"{_shown(path)} is no TOML, and this would not restore {TABLE} as it was trusted, so it is denied to agents. "
        f"{_WHY} An edit of all conflicts at once is let through if the file then is TOML with that table; else a "
        f"person resolves the table: {_BY_A_PERSON}"
    )


def for_too_long(limit: int) -> str:
    """Say that a command is too long to be looked through; ``limit``: in KiB."""
    return (
        f"This command is longer than {limit} KiB, which is too long to see what it changes, so it is denied. Put data "
        "into a file, with a tool that writes files."
    )


def for_unclear() -> str:
    """Say that a command names a protected file and cannot be read."""
    return (
        "This command names a file that holds hooks, or what decides about them, and seems to change it, which is "
        f"denied to agents. {_WHY} To read it, use cat or a tool that reads; to change it, {_BY_A_PERSON}"
    )


def for_environment(path: str) -> str:
    """Say that the environment at ``path`` is not an agent's to take away."""
    return (
        f"Moving, removing or replacing {_shown(path)} is denied to agents: the hooks run from the environment in it. "
        f"{_WHY} If it is needed, {_BY_A_PERSON}"
    )


def for_renewal(path: str) -> str:
    """Ask whether the environment at ``path``, which the hooks of a host run from, may be taken away."""
    return (
        f"This takes {_shown(path)} away, and a coding agent's hooks run from the environment in it: no gate decides "
        "until agent-hooks-core is installed there again. May it?"
    )


def for_distribution(name: str) -> str:
    """Say that the distribution ``name`` is not an agent's to uninstall."""
    return (
        f"Uninstalling {name} is denied to agents: the gate needs it. {_WHY} If it is meant for another environment, "
        f"name that one's interpreter; if it is needed here, {_BY_A_PERSON}"
    )


def for_another_copy(name: str) -> str:
    """Say that the distribution ``name`` is not an agent's to replace."""
    return (
        f"Replacing {name} by another copy is denied to agents: the gate runs it. {_WHY} To update it, install it from "
        f"the usual index; for another copy, {_BY_A_PERSON}"
    )


def for_namesake(name: str) -> str:
    """Say that the distribution ``name`` is somebody else's."""
    return (
        f"Installing {name} is denied to agents: it is another project's, and its package takes the place of the one "
        f"that decides here. {_WHY} Ours is called agent-hooks-core; if {name} is meant, ask a person to install it."
    )


def for_host(host: str) -> str:
    """Say that the coding agent ``host`` is not started without its hooks."""
    return (
        f"Starting {host} without its own hooks and settings is denied to agents. {_WHY} Start it without these "
        f"options and variables; if they are needed, {_BY_A_PERSON}"
    )


def for_process() -> str:
    """Say that no agent ends the processes of the gate."""
    return f"Ending the processes of agent-hooks is denied to agents. {_WHY} If it is needed, {_BY_A_PERSON}"
