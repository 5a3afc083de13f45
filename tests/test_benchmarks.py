"""The benchmarks run, and print a ratio for every budget. How fast anything is, is not asserted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tables import tables

TABLES = tables(__file__)

pytestmark = pytest.mark.full

RUN = Path(__file__).parent.parent / "benchmarks" / "run.py"

BUDGETS = TABLES["budgets"]
# The rows that need the guards, which these tests run without.
NEED_GUARDS = (
    *("agent-hooks run", "guards'", "building"),
    *("    and a shell", "    without the warm", "    against", "    as a"),
)


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
    if row["ratio"] is None:
        assert line.endswith(row["verdict"])
        assert "is not there" in row["verdict"] or "is not installed" in row["verdict"], line
    else:
        assert f"{row['ratio']:.2f}x" in line
        assert row["ratio"] == row["ours"] / row["theirs"]
        assert (row["verdict"], line.endswith(("ok", "over"))) == ("", False)  # a few rounds decide nothing


def test_only_what_is_installed_apart_may_be_missing(quick_run):
    _, rows = quick_run
    missing = {row["what"] for row in rows if row["ratio"] is None and not row["what"].startswith(NEED_GUARDS)}
    apart = {row["what"] for row in rows if row["against"].startswith("agent-framework-core's")}
    peers = {row["what"] for row in rows if row["what"].endswith("decides about it")}
    assert missing <= apart | peers


def test_a_step_of_the_runtime_is_measured_whether_or_not_there_is_something_to_compare_it_with(quick_run):
    printed, rows = quick_run
    compared = [row for row in rows if row["against"].startswith("agent-framework-core's")]
    assert [row["against"].rpartition(" ")[2] for row in compared] == ["step", "step", "run", *["step"] * 3]
    for row in compared[:3]:
        assert isinstance(row["ours"], float)  # a difference of two times, which noise may turn below zero
        assert (row["theirs"] is None) == (row["ratio"] is None)
    if compared[0]["theirs"] is None:
        assert "pip install agent-framework-core" in printed


@pytest.mark.skipif(sys.platform != "linux", reason="a warm process is started by hand elsewhere")
def test_sessions_at_the_same_time_get_each_answer_right_with_and_without_a_warm_process():
    done = subprocess.run(
        [sys.executable, str(RUN.parent / "load.py"), "8", "6"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("wrong 0, lost 0") == 2
    assert "answered by it " in done.stdout
