"""The events that the hosts' files wire, and those that they should: for ``status`` and ``doctor``."""

from __future__ import annotations

from shutil import which

from agent_hooks.errors import AgentHooksError

from . import files
from .cautions import cautions, untrusted
from .editors import HooksFile, PluginFile
from .entries import command, entries_of, seconds_of, version_of, wanted
from .hosts import WIRINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from .entries import Listeners
    from .hosts import Wiring
    from .records import Records


def editor_of(wiring: Wiring, path: str, events: Iterable[str], *, or_refuse: bool = False) -> HooksFile | PluginFile:
    """Return the editor of a host's file."""
    if wiring.shape != "plugin":
        return HooksFile(wiring, path, entries_of(wiring, path, events, or_refuse=or_refuse))
    from agent_hooks.wire.opencode import plugin_text

    return PluginFile(path, plugin_text(command(wiring), {event: seconds_of(wiring, event) for event in events}))


def version_here(wiring: Wiring) -> str:
    """Return the version of a host, an empty string if it is not on ``PATH``, or does not say."""
    program = next(filter(None, map(which, wiring.programs)), None)
    return version_of(program) if program else ""


def statuses(
    root: str, records: Records, listeners: Listeners | None, names: Iterable[str] = WIRINGS
) -> list[dict[str, Any]]:
    """Return the facts of each host that is here or wired, for the user, and for the project if it is wired there.

    ``listeners``: None if that cannot be known.
    """
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    for wiring in (WIRINGS[name] for name in names):
        for project in ("", root):
            path = wiring.user
            try:
                path = wiring.path(project)
                facts = _status(wiring, path, project or root, records, listeners) if path not in seen else None
            except (AgentHooksError, OSError) as error:
                facts = no_facts(wiring, path, problems=[str(error)])
            if facts is not None:
                facts["is_project"] = bool(project)
            if facts is not None and (facts["wired"] or facts["problems"] or (not project and wiring.is_here())):
                seen.add(facts["path"])
                found.append(facts)
    return found


def no_facts(wiring: Wiring, path: str = "", **facts: Any) -> dict[str, Any]:
    """Return the facts of a host that is not wired at ``path`` (default: the user's file), with some ``facts``."""
    empty: dict[str, Any] = {"wired": [], "missing": [], "unneeded": [], "problems": [], "cautions": []}
    names = {"host": wiring.name, "title": wiring.title, "path": path or wiring.path(), "is_project": False}
    return {**names, **empty, **facts}


def remedy(facts: Mapping[str, Any]) -> str:
    """Return the command that repairs the wiring, an empty string if nothing is wrong with it."""
    trust = " --trust" * any("does not trust" in problem for problem in facts["problems"])
    return f"agent-hooks install{' --project' * facts['is_project']} {facts['host']}{trust}" * bool(facts["problems"])


def _status(
    wiring: Wiring, path: str, root: str, records: Records, listeners: Listeners | None
) -> dict[str, Any] | None:
    data, record = files.read(path), records.read(path)
    if data is None and record is None:
        return no_facts(wiring, path)
    wired = editor_of(wiring, path, ()).wired(data)
    try:
        needed = wanted(wiring, listeners) if listeners is not None else tuple(wired)
    except AgentHooksError as error:  # the hooks cannot be loaded; the host asks them all the same
        return no_facts(wiring, path, wired=list(wired), problems=[str(error)])
    if record is not None and record.get("is_chosen"):
        needed = tuple(str(event) for event in record.get("events", ()))
    if not wired and record is None:
        return no_facts(wiring, path)
    missing = [event for event in needed if event not in wired]
    unneeded = [event for event in wired if event not in needed and not (listeners is None or listeners.broken)]
    problems = ["Its events are not those that the hooks here need."] if missing or unneeded else []
    right = (editor_of(wiring, path, needed, or_refuse=old) for old in (False, True))
    if not problems and not any(each.is_right(data or b"") for each in right):
        problems.append("Its command lines are not those that `install` writes now.")
    if wiring.name == "codex" and wired and untrusted(path):
        problems.append("Codex does not trust these hooks, so it runs none of them.")
    facts = {"missing": missing, "unneeded": unneeded, "problems": problems}
    told = list(cautions(wiring, path, root)) if wired else []
    return no_facts(wiring, path, wired=list(wired), cautions=told, **facts)
