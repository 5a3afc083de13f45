"""Measure every budget and print the ratios: ``python benchmarks/run.py [--quick] [--json FILE]``."""

from __future__ import annotations

import argparse
import json
import platform
import sys
from asyncio import Runner
from pathlib import Path
from tempfile import TemporaryDirectory

import events
import in_process
import installed
import processes
import results
import telemetry
from measure import fastest, table

import handlers
import runtime


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure every budget and print the ratios.")
    parser.add_argument("--quick", action="store_true", help="few rounds: shows that it runs, not how fast things are")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows to FILE, times in seconds")
    options = parser.parse_args()

    with Runner() as runner:
        seconds = fastest(in_process.sides(runner), *((2, 0.0002) if options.quick else (150, 0.002)))
        seconds |= in_process.per_hook(seconds)
        recorded, not_recorded = telemetry.sides()
        seconds |= fastest(recorded, *((1, 0.0002) if options.quick else (50, 0.005)))
        # After the rest: what agent-framework-core imports would be in the way of the garbage collector.
        runs, missing = runtime.sides(runner)
        seconds |= fastest(runs, *((1, 0.0002) if options.quick else (50, 0.01)))
        seconds |= runtime.per_step(seconds)
        seconds |= fastest(handlers.sides(runner), 1 if options.quick else 40, 0.0)
        with TemporaryDirectory() as folder:
            own, not_installed = installed.sides(runner, Path(folder))
            seconds |= fastest(own, *((1, 0.0002) if options.quick else (20, 0.01)))
            seconds |= installed.long_run(runner, Path(folder), *((300, 1) if options.quick else ())) | installed.TIMES
            seconds |= results.large_results(runner, Path(folder, "work"), *((1000, 1) if options.quick else ()))
    with TemporaryDirectory() as folder:
        starts, not_started = processes.sides(Path(folder))
        seconds |= fastest(starts, 1 if options.quick else 40, 0.0)
    with TemporaryDirectory() as folder:
        asked, not_asked, stop = events.sides(Path(folder))
        try:
            seconds |= fastest(asked, *((1, 0.0) if options.quick else (5, 1.0)))
        finally:
            stop()
    every_row = (
        *(*in_process.ROWS, *telemetry.ROWS, *runtime.ROWS, *installed.ROWS, *results.ROWS),
        *(*handlers.ROWS, *processes.ROWS, *events.ROWS),
    )
    rows = [
        row.measured(seconds, missing | not_recorded | not_installed | not_started | not_asked) for row in every_row
    ]
    if options.quick:  # a few rounds decide nothing
        rows = [row if row["ratio"] is None else {**row, "verdict": ""} for row in rows]

    print(f"{platform.python_implementation()} {platform.python_version()}, {platform.system()}, {sys.executable}")
    print(table(rows))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
