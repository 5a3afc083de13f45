"""``agent-hooks install``, ``uninstall`` and ``status``: for people, who decide what an agent may do."""

from __future__ import annotations

import os
import re
import sys
from difflib import unified_diff

from agent_hooks.cli.terminal import line_printer, print_json, prints_elsewhere
from agent_hooks.errors import AgentHooksError, SettingsError
from agent_hooks.formats.claude.fields import OR_REFUSE
from agent_hooks.system.by_hand import refuse_agents
from agent_hooks.system.paths import is_below
from agent_hooks.trust.project_files import project_root

from . import files
from .cautions import cautions, codex_config, codex_hashes, untrusted
from .editors import TrustedHashes
from .entries import Listeners, checked_events, events_of, heeds_on_failure, is_gate, stays_open, wanted
from .hosts import WIRINGS
from .records import Records
from .report import editor_of, remedy, statuses, version_here

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from .hosts import Wiring
    from .records import Change

_TRUST = "codex-trust"
# Where `uvx` and `pipx run` put environments that they remove again.
_IN_CACHE = re.compile(r"/(?:archive-v\d+|builds-v\d+|pipx/\.?cache|pip-run-[^/]*)/")


class _Run:
    """One command: where it works, and how it prints."""

    def __init__(self, *, project: bool = False, dry: bool = False) -> None:
        self.root = project_root(os.getcwd())
        self.project = self.root if project else ""
        self.dry = dry
        self.line = line_printer()
        self.records = Records()

    def each(self, names: Sequence[str], work: Callable[[Wiring], None]) -> int:
        """Do something for each host, those that share a file once; return 1 if one failed, else 0."""
        if not self.dry:
            refuse_agents(SettingsError)
        done: set[str] = set()
        failed = False
        for wiring in (WIRINGS[name] for name in dict.fromkeys(names)):
            try:
                path = wiring.path(self.project)
                if path not in done:
                    done.add(path)
                    self.line(f"{wiring.title}: {path}", "bold")
                    work(wiring)
            except (AgentHooksError, OSError) as error:
                self.line(f"  {error}", "bold red")
                failed = True
        return int(failed)

    def show(self, change: Change) -> None:
        """Print the difference that a change would make."""
        before, after = (
            (data or b"").decode("utf-8", "replace").splitlines(keepends=True) for data in (change.before, change.after)
        )
        for line in unified_diff(before, after, change.path, change.path):
            self.line(f"  {line}".rstrip("\r\n"))


def found_hosts() -> list[str]:
    """Return the names of the hosts that seem to be installed."""
    return [name for name, wiring in WIRINGS.items() if wiring.is_here()]


def install(names: Sequence[str], *, project: bool, events: Sequence[str], trust: bool, dry_run: bool) -> int:
    """Wire hosts and return the exit code. ``events``: these alone, by the hosts' names or ours."""
    run = _Run(project=project, dry=dry_run)
    listeners = Listeners(os.getcwd())

    def work(wiring: Wiring) -> None:
        with prints_elsewhere():
            chosen = checked_events(wiring, events) if events else wanted(wiring, listeners)
        if listeners.broken:
            path = wiring.path(run.project)
            wired = editor_of(wiring, path, ()).wired(files.read(path))
            chosen = checked_events(wiring, (*chosen, *(event for event in wired if event in events_of(wiring))))
            broken = ", ".join(sorted(listeners.broken))
            run.line(f"  Repair this, then install again, because its events are not known: {broken}", "yellow")
        _install(run, wiring, chosen, is_chosen=bool(events), trust=trust)

    return run.each(names, work)


def _install(run: _Run, wiring: Wiring, events: tuple[str, ...], *, is_chosen: bool, trust: bool) -> None:
    path = wiring.path(run.project)
    is_old = wiring.name == "claude-code" and not heeds_on_failure(version := version_here(wiring))
    editor = editor_of(wiring, path, events, or_refuse=is_old)
    facts = {"host": wiring.name, "project": run.project, "events": list(events), "is_chosen": is_chosen}
    if run.dry:
        change = run.records.installing(path, editor)
        run.show(change)
    else:
        with run.records.alone():
            change = run.records.installing(path, editor)
            run.records.apply(change, facts)
            if wiring.name == "codex":
                _trust(run, is_wished=trust)
    _tell(run, wiring, path, events, change)
    if is_old:
        run.line(f"  {version} ignores onFailure, so its gates end in{OR_REFUSE}; 2.1.295 and later heed it.", "yellow")


def _tell(run: _Run, wiring: Wiring, path: str, events: tuple[str, ...], change: Change) -> None:
    """Say what was done, and what has to be known."""
    verb = "already wired" if not change.is_needed else "to be wired" if run.dry else "wired"
    run.line(f"  {verb}: {', '.join(events)}", "green")
    gates = [event for event in events if is_gate(wiring, event, in_all=True) and not stays_open(wiring, event)]
    if gates and (wiring.closing is not None or os.name != "nt"):
        run.line(f"  closed where the command cannot start: {', '.join(gates)}")
    if run.dry:
        return
    if change.is_needed and (by_hand := editor_of(wiring, path, ()).wired(change.clean)):
        run.line(f"  replaced until `uninstall`, the lines that were written by hand: {', '.join(by_hand)}", "yellow")
    if change.before is not None and change.is_needed:
        run.line(f"  backup: {run.records.backup_of(path)}")
    if run.project and not wiring.is_private:
        problem = f"{wiring.title} has no file for a project that is not committed"
        run.line(f"  {problem}: leave {path} out of commits, its paths are yours.", "yellow")
    place = os.path.realpath(sys.prefix)
    if is_below(place, run.root):
        run.line(f"  The hooks run from {place}, which is in the project: what changes it may break them.", "yellow")
    elif _IN_CACHE.search(place):
        run.line(f"  The hooks run from {place}, which does not last: install agent-hooks-core as a tool.", "yellow")
    for caution in cautions(wiring, path, run.root):
        run.line(f"  {caution}", "yellow")
    if wiring.name == "codex" and not untrusted(path):
        return
    run.line(f"  {wiring.person}")


def _trust(run: _Run, *, is_wished: bool = False) -> None:
    """Let Codex trust our hooks in all files that are wired, if that is wished or was done before."""
    config = codex_config()
    earlier = run.records.read(config)
    if not is_wished and earlier is None:
        return
    files_of_codex = [record["path"] for record in run.records.all() if record["host"] == "codex"]
    hashes = {key: value for path in files_of_codex for key, value in codex_hashes(path).items()}
    editor = TrustedHashes(config, hashes, (earlier or {}).get("trusted", {}))
    if not hashes:
        run.records.undo(run.records.uninstalling(config, editor))
        return
    run.records.apply(run.records.installing(config, editor), {"host": _TRUST, "project": "", "trusted": hashes})
    run.line(f"  trusted in {config}")


# -- uninstall ---------------------------------------------------------------------------------------------------------


def uninstall(names: Sequence[str], *, project: bool, dry_run: bool) -> int:
    """Take the wiring of hosts out, and return the exit code."""
    run = _Run(project=project, dry=dry_run)

    def work(wiring: Wiring) -> None:
        path = wiring.path(run.project)
        with run.records.alone():
            change = run.records.uninstalling(path, editor_of(wiring, path, ()))
            if run.dry:
                run.show(change)
            else:
                folders = (run.records.read(path) or {}).get("folders", [])
                run.records.undo(change)
                if wiring.name == "codex":
                    _trust(run)
                    files.remove_folders(folders)
        if not change.is_needed:
            run.line("  was not wired")
        elif not run.dry:
            run.line("  removed: `install` had made it" if change.after is None else "  no longer wired")
            if by_hand := editor_of(wiring, path, ()).wired(change.after):
                run.line(f"  back again, as before `install`: {', '.join(by_hand)}", "yellow")

    return run.each(names, work)


# -- status ------------------------------------------------------------------------------------------------------------


def status(*, as_json: bool) -> int:
    """Print which hosts are wired, and for which events; return 1 if something is missing, else 0."""
    run = _Run()
    with prints_elsewhere():
        found = statuses(run.root, run.records, Listeners(os.getcwd()))
    is_fine = any(each["wired"] for each in found) and not any(each["problems"] for each in found)
    if as_json:
        print_json({"hosts": found, "is_fine": is_fine})
        return int(not is_fine)
    for each in found:
        run.line(f"{each['title']}: {each['path']}", "bold")
        run.line(f"  wired: {', '.join(each['wired']) or 'nothing'}", "green" if each["wired"] else "yellow")
        for title, key in (("missing", "missing"), ("no longer needed", "unneeded")):
            if each[key]:
                run.line(f"  {title}: {', '.join(each[key])}", "yellow")
        for problem in each["problems"]:
            run.line(f"  {problem}", "bold red")
        for caution in each["cautions"]:
            run.line(f"  {caution}", "yellow")
    if not found:
        run.line("No coding agent was found here.")
    if not is_fine:
        wrong = [each for each in found if each["problems"]]
        for command in map(remedy, wrong):
            run.line(f"To mend it: {command}")
        if not wrong:
            run.line("To wire them: agent-hooks install --all")
    return int(not is_fine)
