"""The report of ``agent-hooks doctor`` on hosts: collected, and printed."""

from __future__ import annotations

from agent_hooks.cli.terminal import line_printer, print_records, shown_path
from agent_hooks.errors import AgentHooksError
from agent_hooks.trust.project_files import project_root

from .entries import Listeners
from .examination import examine, fire_gates
from .firing import HANG
from .hosts import WIRINGS
from .records import Records
from .report import no_facts, remedy, statuses

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any
_STYLES = {"wrong": "bold red", "beware": "yellow", "remedy": ""}


def reports(directory: str, hosts: Sequence[str], *, fire: bool, can_load: bool) -> list[dict[str, Any]]:
    """Return the facts of the files of ``hosts``, or of all that are wired: those of ``status``, and if there are
    ``hosts``, or ``fire``, all others. ``can_load``: whether hooks can be loaded in this process.
    """
    root, records = project_root(directory), Records()
    listeners = Listeners(directory, can_load=True) if can_load else None
    found: list[dict[str, Any]] = []
    for names in [[name] for name in hosts] or [[*WIRINGS]]:
        wired = [each for each in statuses(root, records, listeners, names) if each["wired"] or each["problems"]]
        found += wired or [no_facts(WIRINGS[name], problems=["It asks no hooks."]) for name in hosts and names]
    for each in found if hosts or fire else ():
        try:
            if each["wired"]:
                examine(each, root)
            each["remedy"] = remedy(each)
            if each["wired"]:
                fire_gates(each, directory, root, fire=fire)
        except (AgentHooksError, OSError) as error:
            each["problems"].append(f"This could not be examined: {error}")
    return found


def are_fine(found: Sequence[dict[str, Any]]) -> bool:
    """Whether there are hosts, and nothing is wrong with any."""
    return bool(found) and not any(each["problems"] for each in found)


def print_reports(found: Sequence[dict[str, Any]]) -> None:
    """Print the facts, the verdicts on events, and all that is wrong."""
    line = line_printer()
    for each in found:
        line(f"{each['title']}: {shown_path(each['path'])}", "bold")
        print_records(("", ""), _facts(each), indent=2)
        if trials := each.get("fired"):
            styles = ["green" if trial["is_right"] else "bold red" for trial in trials]
            print_records(("event", "fault", "verdict", "exit", "said"), map(_row, trials), indent=2, styles=styles)
            if any(trial["fault"] == HANG for trial in trials):
                line("  Simulated in a temporary project; hang: with a lower --timeout.", "dim")
        texts = {"wrong": each["problems"], "beware": each["cautions"], "remedy": filter(None, [each.get("remedy")])}
        advice = [(label, text) for label in texts for text in texts[label]]
        print_records(("", ""), advice, indent=2, styles=[_STYLES[label] for label, _ in advice])
        line("")
    if not found:
        line("No coding agent is wired: agent-hooks install --all", "bold red")


def _row(trial: dict[str, Any]) -> tuple[str, ...]:
    """Return the verdict on an event as a record."""
    code = "late" if trial["exit_code"] is None else str(trial["exit_code"])
    return trial["event"], trial["fault"], trial["verdict"], code, " ".join(trial["said"].split())


def _facts(each: dict[str, Any]) -> Iterator[tuple[str, str]]:
    yield "wired", ", ".join(each["wired"]) or "nothing"
    if "version" not in each:
        return
    for label, key in (("missing", "missing"), ("unneeded", "unneeded")):
        if each[key]:
            yield label, ", ".join(each[key])
    yield "version", each["version"] or "not found on PATH"
    if each["unasked"]:
        yield "not asked", ", ".join(each["unasked"])
    if not each["matchers"]:
        yield "matcher", "none: it asks about every tool"
    times = {(pair["host"], pair["ours"]) for pair in each["timeouts"].values()}
    yield "timeout", "; ".join(f"{theirs:g} s there, {ours:g} s here" for theirs, ours in sorted(times))
    yield "trust", each["trust"]
    yield "files", each["merging"]
    for file in each["files"]:
        others = f" and {file['others']} of others" if file["others"] else ""
        yield "file", f"{shown_path(file['path'])}: {file['ours']} of ours{others}"
    if "milliseconds" in each:
        yield "time", f"{each['milliseconds']} ms for a harmless event, the median of 5"
