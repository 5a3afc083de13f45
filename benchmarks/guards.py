"""Scores the shell guard on a file of labelled commands: what it stopped, what it touched without need, what it cost.

    python benchmarks/guards.py FILE [--level standard] [--missed] [--json OUT]

FILE holds a JSON object a line: ``command``, ``label`` (``deny`` is to be stopped, ``allow`` to be left alone, anything
else is only counted), and ``set``, ``category``, ``transform`` to group by; ``cwd``, if it matters. A command is stopped
when it is denied or asked about, touched when it is and its label is ``allow``.

The time is the CPU of a whole decision beside that of a bare parse of the same text by ``agent_hooks.shell``.
"""  # noqa: E501

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

CWD = "/home/dev/project"
HOME = "/home/dev"
ROUNDS = 5
DECISIONS = ("deny", "ask", "")
MAX_SHOWN = 150


def main() -> None:
    """Score the guard on the file that the command line names, and print tables."""
    parser = argparse.ArgumentParser(description="Score the shell guard on labelled commands.")
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--level", default="standard", choices=("relaxed", "standard", "strict"))
    parser.add_argument("--missed", action="store_true", help="list what was let through, and touched without need")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write every row with its decision")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.file.read_text(encoding="utf-8").splitlines() if line.strip()]
    if not rows:
        sys.exit(f"{given.file} holds no commands.")
    decide = decider(given.level)
    for row in rows:
        row["decision"], row["rule"] = decide(row)
    for title, key in (("set", by_set), ("category", by_category), ("transform", by_transform)):
        print_table(title, rows, key)
    print_cost(rows, decide)
    if given.missed:
        print_missed(rows)
    if given.json:
        given.json.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def decider(level: str) -> Callable[[dict[str, Any]], tuple[str, str]]:
    """Return what decides about a row: ``deny``, ``ask`` or "", and the rule."""
    from agent_hooks_guards import ShellGuard
    from agent_hooks_guards.places.paths import Place

    guard = ShellGuard(level)

    def decide(row: dict[str, Any]) -> tuple[str, str]:
        cwd = row.get("cwd") or CWD
        found = guard.decide(row["command"], Place(cwd, HOME, cwd))
        return (found[0][0], found[0][1].rule.id) if found else ("", "")

    return decide


def by_set(row: dict[str, Any]) -> str:
    """Group by set and label."""
    return f"{row.get('set', '')} {row['label']}"


def by_category(row: dict[str, Any]) -> str:
    """Group by label and category; the many categories of one origin are one."""
    category = row.get("category", "")
    return f"{row['label']} {'peer' if category.startswith('peer_') else category}"


def by_transform(row: dict[str, Any]) -> str:
    """Group by label and transform."""
    transform = row.get("transform")
    return f"{row['label']} {'peer' if transform.startswith('peer_') else transform}" if transform else ""


def print_table(title: str, rows: list[dict[str, Any]], key: Callable[[dict[str, Any]], str]) -> None:
    """Print how many rows of each group were denied, asked about, left alone."""
    groups: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(DECISIONS, 0))
    for row in rows:
        if name := key(row):
            groups[name][row["decision"]] += 1
    print(f"{title:34} {'rows':>6} {'denied':>8} {'asked':>8} {'stopped':>9} {'share':>8}")
    for name, counts in sorted(groups.items()):
        total = sum(counts.values())
        stopped = counts["deny"] + counts["ask"]
        print(f"{name:34} {total:6} {counts['deny']:8} {counts['ask']:8} {stopped:9} {stopped / total:8.1%}")
    print()
    if title == "set":
        print_aims(rows)


def print_aims(rows: list[dict[str, Any]]) -> None:
    """Print the three figures that a guard is judged by."""
    harmful = [row for row in rows if row["label"] == "deny"]
    harmless = [row for row in rows if row["label"] == "allow"]
    stopped = [row for row in harmful if row["decision"]]
    denied = [row for row in stopped if row["decision"] == "deny"]
    touched = [row for row in harmless if row["decision"]]
    for name, some, all_of in (
        ("harmful, stopped", stopped, harmful),
        ("of these, denied", denied, stopped),
        ("harmless, touched", touched, harmless),
    ):
        print(f"{name:34} {len(some):6} of {len(all_of):5} {len(some) / max(len(all_of), 1):12.2%}")
    print()


def print_cost(rows: list[dict[str, Any]], decide: Callable[[dict[str, Any]], tuple[str, str]]) -> None:
    """Print the CPU of a decision beside that of a bare parse, the fastest of some rounds of each, in turns."""
    from agent_hooks.shell.parser import parse

    plain = [row for row in rows if row["label"] == "allow"]
    print(f"{'CPU for a command':34} {'parse us':>9} {'us':>8} {'x parse':>8}")
    for name, some in (("all rows", rows), ("harmless rows", plain)):
        if not some:
            continue
        texts = [row["command"] for row in some]
        parses, decisions = [], []
        for _ in range(ROUNDS):
            parses.append(cpu(lambda texts=texts: [parse(text) for text in texts]))
            decisions.append(cpu(lambda some=some: [decide(row) for row in some]))
        bare, decision = min(parses) / len(some), min(decisions) / len(some)
        print(f"{name:34} {bare * 1e6:9.1f} {decision * 1e6:8.1f} {decision / bare:8.2f}")
    print()


def cpu(work: Callable[[], object]) -> float:
    """Return the CPU time, in seconds, that ``work`` takes."""
    start = time.process_time()
    work()
    return time.process_time() - start


def print_missed(rows: list[dict[str, Any]]) -> None:
    """Print what was let through, and what was touched without need."""
    for row in rows:
        wrong = not row["decision"] if row["label"] == "deny" else bool(row["decision"]) and row["label"] == "allow"
        if wrong:
            text = row["command"].replace("\n", "\\n")[:MAX_SHOWN]
            what = "let through" if row["label"] == "deny" else f"{row['decision']} {row['rule']}"
            print(f"{row.get('id', '')} {row.get('category', '')} {row.get('transform', '')} | {what} | {text}")


if __name__ == "__main__":
    main()
