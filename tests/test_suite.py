"""The tests do not depend on how busy the machine is."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = [ROOT, *sorted(path.parent for path in ROOT.glob("plugins/*/pyproject.toml"))]
SHORTEST_BOUND = 5.0  # seconds
# The bound of an elapsed time, and of a wait for what the test has caused.
ELAPSED = re.compile(r"(?:monotonic|perf_counter|process_time)\(\) - \w+ *<=? *([\d.]+)")
WAITED = re.compile(r"\b(?:acquire\(timeout=|eventually\(.*, |until = monotonic\(\) \+ )([\d.]+)\b")
PROGRAM = """
import sys
import pytest

pytest.main(["-c", sys.argv[1], "--rootdir", sys.argv[2], "--ignore-glob=*", "--collect-only", f"{sys.argv[2]}/tests"])
from hypothesis import settings
print("deadline:", settings(max_examples=1).deadline)
"""


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_generated_examples_have_no_deadline_by_the_clock(folder, monkeypatch):
    monkeypatch.delenv("CI", raising=False)  # where hypothesis has a profile of its own
    command = [sys.executable, "-c", PROGRAM, str(ROOT / "pyproject.toml"), str(folder)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.splitlines()[-1] == "deadline: None", done.stdout + done.stderr


def test_no_test_bounds_a_time_below_five_seconds():
    short = [
        f"{path.relative_to(ROOT)}: {found[0]}"
        for folder in FOLDERS
        for path in (folder / "tests").rglob("*.py")
        for bound in (ELAPSED, WAITED)
        for found in bound.finditer(path.read_text(encoding="utf-8"))
        if float(found[1]) < SHORTEST_BOUND
    ]
    assert short == []
