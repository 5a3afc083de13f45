"""The benchmarks run, and print a ratio for every budget. How fast anything is, is not asserted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

RUN = Path(__file__).parent.parent / "benchmarks" / "run.py"

BUDGETS = {
    "event with no listener": 0.25,
    "5 sync hooks returning None, context given": 0.3,
    "context built + 5 sync hooks": 1.0,
    "5 sync hooks that each change something": 2.0,
    "5 async hooks without timeouts": 2.0,
    "5 async hooks with timeouts": 3.0,
    "runtime step with one tool call, no hooks": 0.5,
    "command handler, one JSON hook": 1.5,
    "import agent_hooks": 1.1,
    "import words, markers, plan and dispatch": 1.5,
    "import agent_hooks with the engine": 4.0,
    "agent-hooks run, nothing matches": 2.0,
    "agent-hooks run, deterministic guards decide": 3.5,
}


@pytest.fixture(scope="module")
def quick_run(tmp_path_factory):
    """What a quick run printed, and the rows it wrote."""
    file = tmp_path_factory.mktemp("benchmarks") / "rows.json"
    command = [sys.executable, str(RUN), "--quick", "--json", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout, json.loads(file.read_text(encoding="utf-8"))


@pytest.mark.parametrize("what", BUDGETS)
def test_every_budget_has_its_row(quick_run, what):
    printed, rows = quick_run
    (row,) = [row for row in rows if row["what"] == what]
    (line,) = [line for line in printed.splitlines() if line.startswith(f"{what}  ")]
    assert row["budget"] == BUDGETS[what]
    assert row["against"] in line
    assert f"{BUDGETS[what]:g}x" in line
    assert line.endswith(row["verdict"])
    if row["ratio"] is None:
        assert "is not there" in row["verdict"] or "is not installed" in row["verdict"], line
    else:
        assert f"{row['ratio']:.2f}x" in line
        assert row["ratio"] == row["ours"] / row["theirs"]
        assert row["verdict"] == ("ok" if row["ratio"] <= row["budget"] else "over")


def test_only_what_is_installed_apart_may_be_missing(quick_run):
    _, rows = quick_run
    missing = {row["what"] for row in rows if row["ratio"] is None}
    apart = {row["what"] for row in rows if row["against"].startswith("agent-framework-core's")}
    assert missing <= apart | {what for what in BUDGETS if what.startswith("agent-hooks run")}


def test_a_step_of_the_runtime_is_measured_whether_or_not_there_is_something_to_compare_it_with(quick_run):
    printed, rows = quick_run
    compared = [row for row in rows if row["against"].startswith("agent-framework-core's")]
    assert [row["against"].rpartition(" ")[2] for row in compared] == ["step", "step", "run"]
    for row in compared:
        assert isinstance(row["ours"], float)  # a difference of two times, which noise may turn below zero
        assert (row["theirs"] is None) == (row["ratio"] is None)
    if compared[0]["theirs"] is None:
        assert "pip install agent-framework-core" in printed
